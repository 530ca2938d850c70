"""Tables, figures and sentences of notebook 04, from result rows of `validity` and `label_ranks`.

Sentences speak of the signed correlation and its jackknife interval over people, which is the primary analysis.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from helpers import plotting, tables
from helpers.look import Look
from helpers.schema import read_condition
from helpers.targets import Targets
from helpers.values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY

TITLES = {DIALOGUE_QUALITY: "dialogue quality", COMPARATIVE_QUALITY: "comparative quality"}
ROWS = {DIALOGUE_QUALITY: "dialogues", COMPARATIVE_QUALITY: "pairs with a preferred dialogue"}
#: target -> statistic of the published fit and its name on an axis
FITS = {
    DIALOGUE_QUALITY: ("r2", "R² (linear, dialogue quality)"),
    COMPARATIVE_QUALITY: ("mcfadden_r2", "Pseudo-R² (logit, comparative quality)"),
}
#: heading -> statistic, with `r_bca` for r with its BCa interval; headings marked * carry their interval
COLUMNS = {
    "r*": "r",
    "With BCa*": "r_bca",
    "Rank*": "importance_rank",
    "Reliability": "repeat_reliability",
    "Corrected r*": "corrected_r",
}
PUBLISHED = {
    DIALOGUE_QUALITY: {"R²*": "r2", "F": "f_test", "p (F)": "f_test.p"},
    COMPARATIVE_QUALITY: {
        "Pseudo-R²*": "mcfadden_r2",
        "LLR": "llr",
        "p (LLR)": "llr.p",
        "Log-odds": "coefficient",
        "Firth": "firth_coefficient",
    },
}
WHY = {
    "Reliability": "Too few dialogues were judged twice.",
    "Corrected r": "No reliability above 0.",
    "Log-odds": "The likelihood has no maximum (separation).",
}
#: a correction by a reliability below this says more about the reliability than about r
FAINT = 0.1


def of_target(results: pd.DataFrame, target: str) -> pd.DataFrame:
    """The rows of one target; r with its BCa interval becomes the statistic r_bca."""
    keys = results["condition"].map(read_condition)
    here = results[[k.get("target") == target for k in keys]].copy()
    bca = here["condition"].map(lambda c: read_condition(c).get("kind") == "bca")
    here.loc[bca, "statistic"] = "r_bca"
    return here


def correlations(results: pd.DataFrame, target: str, statistic: str = "r") -> pd.DataFrame:
    """One row a label: signed r with its primary interval, or (r_bca) with the other; labels without r left out."""
    here = of_target(results, target)
    return here[(here["statistic"] == statistic) & here["estimate"].notna()]


def excludes_zero(rows: pd.DataFrame) -> pd.Series:
    """Whether each interval lies on one side of 0; not so where there is none."""
    return (rows["ci_low"] > 0) | (rows["ci_high"] < 0)


def table(results: pd.DataFrame, target: str, columns: dict[str, str], look: Look) -> pd.DataFrame:
    """Labels in the order of figures with the columns asked for (`COLUMNS`, `PUBLISHED`), people and rows."""
    here, index = of_target(results, target), ["method", "label"]
    first = look.sort(here[here["statistic"] == "r"]).set_index(index)
    out = first[["n_annotators", "n"]].rename(columns={"n_annotators": "Annotators", "n": "n"}).astype("Int64")
    for heading, spec in columns.items():
        statistic, _, part = spec.partition(".")
        rows = here[here["statistic"] == statistic].set_index(index)
        if rows.empty:
            continue
        if part == "p":
            out[heading] = rows["p_value"].map(tables.p_value)
        elif heading.endswith("*"):
            decimals = 0 if statistic == "importance_rank" else 2
            out[heading.removesuffix("*")] = tables.intervals(rows, decimals)
        else:
            out[heading] = rows["estimate"]
    return look.named(out.reset_index())


def reasons(results: pd.DataFrame, target: str, look: Look) -> str:
    """Labels without r or without an interval, and why; empty where there are none."""
    rows = of_target(results, target)
    rows = look.sort(rows[(rows["statistic"] == "r") & rows["ci_low"].isna()])
    lines = [f"- {_name(row, look)}: {tables.plain(row['note'])}" for _, row in rows.iterrows()]
    return "\n".join([f"No interval, or no correlation with {TITLES[target]}:", "", *lines]) if lines else ""


def forest(results: pd.DataFrame, target: str, look: Look) -> Figure:
    """Signed r of every label with both intervals."""
    rows, light = (correlations(results, target, s) for s in ("r", "r_bca"))
    key = ("jackknife over people", "BCa over people")
    ends = pd.concat([rows, light])[["estimate", "ci_low", "ci_high"]].abs().max().max()
    limit = min(1.0, np.ceil(10 * (ends if ends > 0 else 0.9) + 0.2) / 10)
    return plotting.forest_figure(
        rows, look, light=light, key=key, xlabel=f"r with {TITLES[target]}", xlim=(-limit, limit)
    )


def fit_figure(results: pd.DataFrame, look: Look) -> Figure:
    """The published fit, as Figure 2 of Finch et al. 2023: a panel and an axis of its own for each target."""
    found = {t: of_target(results, t) for t in FITS}
    found = {t: rows[(rows["statistic"] == FITS[t][0]) & rows["estimate"].notna()] for t, rows in found.items()}
    found = {t: rows for t, rows in found.items() if len(rows)}
    longest = max(len(rows) + 1.6 * rows["method"].nunique() for rows in found.values())
    width = plotting.PAGE if len(found) > 1 else 4.6
    fig, axes = plotting.subplots(1, len(found), width=width, height=0.6 + 0.165 * longest, squeeze=False)
    for ax, (target, rows) in zip(axes[0], found.items(), strict=True):
        top = np.nanmax(rows[["estimate", "ci_high"]].to_numpy(float))
        limits = (-0.01 * top, 1.05 * top) if top > 0 else (-0.01, 0.1)
        plotting.forest(rows, ax, look, xlabel=FITS[target][1], xlim=limits)
        ax.set_ylim(longest - 0.7, -0.7)
        ax.xaxis.set_major_locator(MaxNLocator(4))
    return fig


def alt(results: pd.DataFrame, target: str, look: Look) -> str:
    """Alt text of `forest`."""
    rows = correlations(results, target)
    best = rows.loc[rows["estimate"].abs().idxmax()]
    return (
        f"Forest plot: signed correlation of {len(rows)} labels with {TITLES[target]}, by method, with intervals; the"
        f" strongest is {_plain_name(best, look)} at {tables.number(best['estimate'])}."
    )


def verdict(results: pd.DataFrame, target: str, look: Look, confidence: float = 0.95) -> str:
    """How many labels are related to the target, which most strongly, and what chance alone would give."""
    rows = correlations(results, target)
    if rows.empty:
        return f"No label's correlation with {TITLES[target]} can be computed: see the reasons above."
    known = rows[rows["ci_low"].notna()]
    sure = known[excludes_zero(known)]
    what = f"**{TITLES[target].capitalize()}** ({int(rows['n'].max())} {ROWS[target]}"
    what += f" of {int(rows['n_clusters'].max())} {_unit(rows)}). "
    if known.empty:
        return what + f"No interval can be given for any of {_many(len(rows), 'label')}."
    text = what + f"Of {_many(len(known), 'label')} with an interval, {len(sure) or 'none'} {_have(len(sure))} one that"
    text += (
        f" excludes 0; if no label were related, {tables.number((1 - confidence) * len(known), 1)} would on average."
    )
    if len(sure):
        best = sure.loc[sure["estimate"].abs().sort_values(ascending=False).index[:3]]
        said = [
            f"{_name(r, look)} ({tables.interval(r['estimate'], r['ci_low'], r['ci_high'])})"
            for _, r in best.iterrows()
        ]
        text += f" The strongest: {'; '.join(said)}."
    return text


def by_method(results: pd.DataFrame, target: str, look: Look) -> str:
    """Median |r| of each method, and how many of its labels have an interval that excludes 0."""
    rows, lines = correlations(results, target), []
    for method, part in look.sort(rows).groupby("method", sort=False):
        sure = int(excludes_zero(part).sum())
        middle = tables.number(part["estimate"].abs().median())
        lines.append(
            f"- {tables.plain(look.name('method', method))}: median |r| {middle}; {sure} of {len(part)} exclude 0"
        )
    return "\n".join([f"With {TITLES[target]}:", "", *lines]) if lines else ""


def order(results: pd.DataFrame, target: str, look: Look) -> str:
    """How far the order of labels is settled."""
    rows = of_target(results, target)
    rows = rows[(rows["statistic"] == "importance_rank") & rows["ci_low"].notna()]
    if len(rows) < 2:
        return ""
    first, n = rows[rows["ci_low"] == 1], len(rows)
    wide = int((rows["ci_high"] - rows["ci_low"]).median()) + 1
    text = f"The order by |r| with {TITLES[target]} is loose: "
    text = text if wide > n / 3 else f"The order by |r| with {TITLES[target]}: "
    text += f"{_many(len(first), 'label')} of {n} could be the strongest, and half of all ranks could be any of {wide}"
    return text + " places or more (intervals that hold for all labels at once)."


def noise(results: pd.DataFrame, target: str, look: Look) -> str:
    """What the labels' unreliability hides; empty where nothing was judged twice."""
    rows = of_target(results, target).set_index(["method", "label"])
    reliable, corrected = (rows[rows["statistic"] == s]["estimate"] for s in ("repeat_reliability", "corrected_r"))
    both = pd.DataFrame({"reliability": reliable, "corrected": corrected}).dropna()
    both = both[both["reliability"] >= FAINT]
    if both.empty:
        return ""
    best = both["corrected"].abs().idxmax()
    row = rows[rows["statistic"] == "corrected_r"].loc[[best]].reset_index().iloc[0]
    text = f"Labels are noisy: one annotator's value of a {row['level']} has a median reliability of"
    text += f" {tables.number(both['reliability'].median())}. Corrected for that, the strongest relation with"
    text += f" {TITLES[target]} is {tables.interval(row['estimate'], row['ci_low'], row['ci_high'])}"
    return (
        text
        + f" ({_name(row, look)}). The rating of quality itself has error that nothing corrects: it was given once."
    )


def halo(results: pd.DataFrame, look: Look) -> str:
    """A warning for methods whose labels come from one person a dialogue; empty where there are none."""
    wide = results[results["statistic"].isin(["single_source_share", "label_intercorrelation"])]
    wide = wide.pivot_table(index="method", columns="statistic", values="estimate", sort=False)
    if "single_source_share" not in wide or "label_intercorrelation" not in wide:
        return ""
    same = wide[wide["single_source_share"] > 0.5]
    if same.empty:
        return ""
    said = [
        f"{look.name('method', m)} ({100 * r['single_source_share']:.0f} %; the labels' mean |r| with each other is"
        f" {tables.number(r['label_intercorrelation'])})"
        for m, r in same.iterrows()
    ]
    text = "**One person behind several labels.** All labels of a dialogue or pair come from one annotator in"
    text += f" {tables.listing(said)}."
    rest = wide.drop(same.index)
    if len(rest):
        values = [f"{look.name('method', m)} {tables.number(r['label_intercorrelation'])}" for m, r in rest.iterrows()]
        text += f" Elsewhere the mean |r| is {tables.listing(values)}."
    text += (
        " A label can then predict quality because its annotator liked the dialogue, not because of what it is named"
    )
    return text + " after: do not read such labels as separate causes."


def people(found: Targets) -> str:
    """Who predicts whose ratings: one sentence."""
    n = sorted(set(found.n_annotators.values()))
    who = (
        f"{n[0]} to {n[-1]} people a label"
        if len(n) > 1
        else f"{_many(n[0], 'person')} a label"
        if n
        else "raters not known"
    )
    who = who.replace("1 persons", "1 person").replace("persons", "people")
    return f"{who}; the targets are ratings by {found.n_interactors} interactors"


def _unit(rows: pd.DataFrame) -> str:
    unit = rows["resample_unit"].dropna()
    return f"{unit.iloc[0]}s" if len(unit) else "clusters"


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def _plain_name(row: pd.Series, look: Look) -> str:
    return f"{look.name('label', row['label'], row['method'])}, {look.name('method', row['method'])}"


def _name(row: pd.Series, look: Look) -> str:
    return tables.plain(_plain_name(row, look))
