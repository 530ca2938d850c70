"""Tables and sentences of notebook 06, from result rows of `coverage` and the frame of `label_selection`.

Sentences speak of cross-validated fits at equal numbers of labels and of half-samples, which are the primary analysis.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.schema import read_condition
from helpers.values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY

TITLES = {DIALOGUE_QUALITY: "dialogue quality", COMPARATIVE_QUALITY: "comparative quality"}
ROWS = {DIALOGUE_QUALITY: "dialogues", COMPARATIVE_QUALITY: "pairs"}
#: target -> statistic of the fit, and its name on an axis
FITS = {
    DIALOGUE_QUALITY: ("r2", "R²,\ndialogue quality"),
    COMPARATIVE_QUALITY: ("mcfadden_r2", "Pseudo-R²,\ncomparative quality"),
}
#: criterion -> heading and decimals of its value
CRITERIA = {
    "agreement": ("Agreement", 2),
    "importance": ("Importance", 2),
    "sensitivity": ("Sensitivity", 0),
    "distinctness": ("Distinctness", 2),
    "cost": ("Cost", 2),
}
#: why a value of a criterion may be missing
WHY = {
    "Agreement": "Too few of its items were judged twice.",
    "Importance": "No interval can be given.",
    "Sensitivity": "No two systems can be compared.",
    "Distinctness": "Not a predictor, or without variation.",
    "Cost": "Not timed.",
}


def unfold(results: pd.DataFrame) -> pd.DataFrame:
    """Result rows with target, kind and k of their condition as columns."""
    known = {text: read_condition(text) for text in results["condition"].dropna().unique()}
    keys = pd.DataFrame([known.get(text, {}) for text in results["condition"]], index=results.index)
    keys = keys.reindex(columns=["target", "kind", "k"])
    return results.join(keys.assign(k=pd.to_numeric(keys["k"])))


def path(rows: pd.DataFrame, target: str) -> pd.DataFrame:
    """The published path of each method: method, k, label added, fit, adjusted, gain, and the best fit of the size."""
    here, index = rows[rows["target"] == target], ["method", "k"]
    steps = here[here["kind"] == "stepwise"]
    fit = FITS[target][0]
    parts = {"fit": fit, "adjusted": f"adjusted_{fit}", "gain": "smallest_gain"}
    out = steps[steps["statistic"] == fit].set_index(index)[["label"]]
    for name, statistic in parts.items():
        out[name] = steps[steps["statistic"] == statistic].set_index(index)["estimate"]
    best = here[(here["kind"] == "best_subset") & (here["statistic"] == fit)]
    out["best"] = best.set_index(index)["estimate"] if len(best) else np.nan
    return out.reset_index().astype({"k": int}).sort_values(index, ignore_index=True)


def chosen(rows: pd.DataFrame, target: str) -> pd.DataFrame:
    """The best subset with the highest adjusted fit of each method: method, k, fit, adjusted, labels, close, n."""
    here = rows[(rows["target"] == target) & (rows["kind"] == "best_subset")]
    fit, out = FITS[target][0], []
    for method, part in here.groupby("method", sort=False):
        adjusted = part[part["statistic"] == f"adjusted_{fit}"].set_index("k")["estimate"]
        k = adjusted.idxmax()
        inside = part[(part["statistic"] == "selected") & (part["k"] == k)]["label"].tolist()
        value = part[(part["statistic"] == fit) & (part["k"] == k)].iloc[0]
        close = part.loc[part["statistic"] == "close_subsets", "estimate"].iloc[0]
        out.append({"method": method, "k": int(k), "fit": value["estimate"], "adjusted": adjusted[k],
                    "labels": inside, "close": int(close), "n": int(value["n"])})  # fmt: skip
    return pd.DataFrame(out, columns=["method", "k", "fit", "adjusted", "labels", "close", "n"])


def model_table(rows: pd.DataFrame, target: str, look: Look) -> pd.DataFrame:
    """The model each method ends with: paper's path and exact search, and how many subsets are nearly as good."""
    best, steps = chosen(rows, target).set_index("method"), path(rows, target)
    out = []
    for method in sorted(best.index, key=lambda m: look.position("method", m)):
        row, walk = best.loc[method], steps[steps["method"] == method].set_index("k")
        last = int(walk["adjusted"].idxmax())
        inside = walk.loc[walk.index <= last, "label"]
        names = [look.name("label", label, method) for label in row["labels"]]
        out.append({"method": method, "n": row["n"], "Labels": row["k"], "Fit": row["fit"], "Adjusted": row["adjusted"],
                    "Best subset": ", ".join(names), "Path ends alike": set(inside) == set(row["labels"]),
                    "Subsets within .01": row["close"]})  # fmt: skip
    return look.named(pd.DataFrame(out)) if out else pd.DataFrame()


def stability_table(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Share of half-samples that select each label, by target."""
    here = rows[rows["statistic"] == "selection_frequency"]
    wide = here.set_index(["method", "label", "target"])["estimate"].unstack("target")  # noqa: PD010
    heads = {t: title.capitalize() for t, title in TITLES.items() if t in wide}
    return look.named(look.sort(wide[list(heads)].rename(columns=heads).rename_axis(columns=None).reset_index()))


def equal_size(rows: pd.DataFrame, target: str) -> pd.DataFrame:
    """At the largest number of labels that all methods have: method, k, common, cross_validated, permuted_p95, n."""
    here = rows[(rows["target"] == target) & rows["kind"].isin(["common", "cross_validated", "permuted_p95"])]
    if here.empty:
        return pd.DataFrame(columns=["method", "k", "common", "cross_validated", "permuted_p95", "n"])
    k = here.groupby("method")["k"].max().min()
    wide = here[here["k"] == k].set_index(["method", "kind"])["estimate"].unstack()  # noqa: PD010
    n = here.groupby("method")["n"].first()
    return wide.assign(k=int(k), n=n).rename_axis(columns=None).reset_index()


def best_size(rows: pd.DataFrame, target: str) -> pd.DataFrame:
    """The highest cross-validated fit of each method over sizes, and the size: method, k, estimate."""
    here = rows[(rows["target"] == target) & (rows["kind"] == "cross_validated")].dropna(subset=["estimate"])
    top = here.loc[here.groupby("method")["estimate"].idxmax()] if len(here) else here
    return top[["method", "k", "estimate"]].astype({"k": int})


def verdict(rows: pd.DataFrame, target: str, look: Look) -> str:
    """How much each method explains on people it has not seen, and what the same data seem to say."""
    table, top = equal_size(rows, target), best_size(rows, target).set_index("method")
    if table.empty:
        return f"Methods cannot be compared for {TITLES[target]}: see the reasons above."
    table = table.sort_values("cross_validated", ascending=False, kind="stable")
    name = "R²" if target == DIALOGUE_QUALITY else "pseudo-R²"
    said = [
        f"{tables.plain(look.name('method', r.method))} {tables.number(r.cross_validated)}"
        f" ({tables.number(r.common)} on the same data, where noise reaches {tables.number(r.permuted_p95)})"
        for r in table.itertuples()
    ]
    k, n = int(table["k"].iloc[0]), int(table["n"].iloc[0])
    text = f"**{TITLES[target].capitalize()}** ({n} {ROWS[target]}, {_many(k, 'label')} each). Cross-validated {name}:"
    text += f" {'; '.join(said)}. There is no interval: differences of a few hundredths say nothing."
    if len(top):
        best = top["estimate"].idxmax()
        if top.at[best, "estimate"] > 0:
            text += f" The best size on other people is {_many(int(top.at[best, 'k']), 'label')} of"
            text += f" {tables.plain(look.name('method', best))} ({tables.number(top.at[best, 'estimate'])})."
        else:
            text += " No method predicts other people better than their mean does."
    empty = table[table["common"] <= table["permuted_p95"]]
    if len(empty):
        names = tables.listing(look.name("method", m) for m in empty["method"])
        text += (
            f" {names} fit{'s' if len(empty) == 1 else ''} no better than {'it does' if len(empty) == 1 else 'they do'}"
        )
        text += " a shuffled target."
    return text


def stable(rows: pd.DataFrame, look: Look, share: float = 0.8) -> str:
    """Labels that most half-samples select, by target; and what a useless label reaches."""
    here = rows[(rows["statistic"] == "selection_frequency") & rows["estimate"].notna()]
    lines = []
    for target in [t for t in TITLES if (here["target"] == t).any()]:
        part = look.sort(here[(here["target"] == target) & (here["estimate"] >= share)])
        names = [
            f"{look.name('label', r.label, r.method)} ({look.name('method', r.method)})" for r in part.itertuples()
        ]
        total = int((here["target"] == target).sum())
        lines.append(
            f"- {TITLES[target]}: {len(part) or 'none'} of {total}" + (f": {tables.listing(names)}" if names else "")
        )
    first = (
        f"Selected in at least {100 * share:.0f} % of half-samples of the people (a useless label in about a third):"
    )
    return "\n".join([first, "", *lines]) if lines else ""


def beside(rows: pd.DataFrame, look: Look, named: Sequence[str]) -> str:
    """What Section 7.4 of Finch et al. 2023 says in words, and what is found here; empty without those behaviours.

    named : behaviours that the section calls distinct. The rest is drawn (Figure 3) or printed in bold (Table 4).
    """
    chosen_again = rows[(rows["statistic"] == "selection_frequency") & (rows["method"] == "behavior")]
    chosen_again = chosen_again[chosen_again["estimate"].notna()]
    if not chosen_again["label"].isin(named).any():
        return ""
    names = tables.listing(look.name("label", label, "behavior") for label in named)
    first = "Figure 3 is drawn, not printed, and which labels are kept is shown in bold type (Table 4), which the text"
    first += (
        " does not carry: no value can be held against ours. In words, Section 7.4 says that behaviours cover quality"
    )
    first += f" better than the other methods, and calls {len(named)} of them distinct: {names}. Here:"
    lines = []
    for target in [t for t in TITLES if (chosen_again["target"] == t).any()]:
        share = chosen_again[chosen_again["target"] == target].set_index("label")["estimate"]
        inside = share.index.isin(named)
        least = look.name("label", share[inside].idxmin(), "behavior") if inside.any() else ""
        text = f"- {TITLES[target]}: {_most(rows, target, look)}"
        text += f"half-samples select those named in a median of {_percent(share[inside].median())}"
        text += f" (fewest: {least}, {_percent(share[inside].min())})"
        lines.append(
            text + (f", the other behaviours in {_percent(share[~inside].median())}" if not inside.all() else "")
        )
    return "\n".join([first, "", *lines])


def _most(rows: pd.DataFrame, target: str, look: Look) -> str:
    """Which method explains most on people left out, at equal size; empty where methods cannot be compared."""
    table = equal_size(rows, target)
    if len(table) < 2:
        return ""
    top = table.loc[table["cross_validated"].idxmax(), "method"]
    return f"on people left out {look.name('method', top)} explains most at equal size; "


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def near(rows: pd.DataFrame, look: Look) -> str:
    """How many subsets are about as good as the best one."""
    said = []
    for target in TITLES:
        found = chosen(rows, target)
        if len(found) and found["close"].max() > 1:
            row = found.loc[found["close"].idxmax()]
            said.append(f"{row['close']:,} of {look.name('method', row['method'])} for {TITLES[target]}")
    if not said:
        return ""
    text = "Which subset is best says little by itself. Within .01 of the highest adjusted fit are as many as"
    return f"{text} {tables.listing(said)}."


def excluded(rows: pd.DataFrame, look: Look) -> str:
    """Methods and labels that could not be used, and why; empty where there are none."""
    lines = []
    for row in rows[rows["kind"] == "excluded"].drop_duplicates(["method", "label", "target", "note"]).itertuples():
        name = look.name("method", row.method)
        name += f", {look.name('label', row.label, row.method)}" if isinstance(row.label, str) else ""
        lines.append(f"- {tables.plain(name)} ({TITLES[row.target]}): {tables.plain(row.note)}")
    return "\n".join(["Left out:", "", *lines]) if lines else ""


def monte_carlo(n_permutations: int, n_halves: int) -> str:
    """How precise what rests on chance is."""
    half = 100 * 1.96 * np.sqrt(0.25 / n_halves)
    low, high = (100 * (0.95 + side * 1.96 * np.sqrt(0.95 * 0.05 / n_permutations)) for side in (-1, 1))
    text = f"Chance in the method itself: a share of {n_halves} half-samples is within {half:.0f} points of what more"
    text += f" would give; the 95 % point of {n_permutations} shuffles is one between the {low:.0f} and the"
    return text + f" {min(high, 100):.0f} % point."


def kept_table(selection_rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """How many labels of each method each threshold keeps, all of them, and all but each."""
    here = selection_rows[selection_rows["statistic"] == "n_kept"]
    names = here["condition"].map(lambda c: read_condition(c)["criterion"])
    wide = here.assign(c=names).set_index(["method", "c"])["estimate"].unstack("c").astype("Int64")  # noqa: PD010
    heads = {name: CRITERIA[name][0] if name in CRITERIA else name.capitalize() for name in dict.fromkeys(names)}
    out = wide[list(heads)].rename(columns=heads).rename_axis(columns=None)
    out.insert(0, "Labels", here.groupby("method")["n"].first().astype("Int64"))
    return look.named(look.sort(out.reset_index()))


def selection_table(selected: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Values of the criteria and whether the label is kept."""
    out = look.sort(selected)[["method", "label", *CRITERIA, "kept"]].astype({"sensitivity": "Int64"})
    return look.named(out.rename(columns={c: head for c, (head, _) in CRITERIA.items()} | {"kept": "Kept"}))


def kept(selected: pd.DataFrame, look: Look, applied: dict[str, float]) -> str:
    """What is kept, and which threshold decides."""
    mine, total = look.sort(selected[selected["kept"]]), len(selected)
    limits = tables.listing(_threshold(c, v) for c, v in applied.items())
    text = f"{len(mine)} of {_many(total, 'label')} reach{'es' if len(mine) == 1 else ''} every threshold"
    text += f" ({limits})" if applied else " (none is set)"
    parts = []
    for method, part in mine.groupby("method", sort=False):
        names = tables.listing(look.name("label", label, method) for label in part["label"])
        parts.append(f"{tables.plain(look.name('method', method))}: {names}")
    text += f": {'; '.join(parts)}." if parts else "."
    dropped = {c: int((~selected[f"{c}_met"]).sum()) for c in applied}
    if dropped:
        strictest = max(dropped, key=lambda c: dropped[c])
        text += f" The threshold on {strictest} alone drops {dropped[strictest]}."
    return text + " The thresholds are choices; the table shows what each keeps."


def _threshold(criterion: str, limit: float) -> str:
    return {
        "agreement": f"alpha of {limit:g} or more",
        "importance": "an interval of r that excludes 0",
        "sensitivity": f"{_many(int(limit), 'pair')} of systems or more",
        "distinctness": f"{100 * limit:.0f} % of half-samples or more",
        "cost": f"at most {limit:g} a label",
    }[criterion]


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def selection_alt(selected: pd.DataFrame) -> str:
    """Alt text of `coverage_plots.selection_figure`."""
    n = int(selected["kept"].sum())
    return f"Matrix: for each of {len(selected)} labels, which thresholds it reaches; {n} reach all of them."


def minutes(rows: pd.DataFrame, look: Look) -> str:
    """How long the labels kept take; empty where nothing is kept or timed."""
    said = [
        f"{tables.plain(look.name('method', r.method))} {tables.number(r.estimate, 1)} minutes a {r.level}"
        for r in rows.itertuples()
    ]
    return f"The tasks of the labels kept take, in the median: {'; '.join(said)}." if said else ""
