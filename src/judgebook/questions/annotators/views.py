"""What notebook 15 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions, cells
from judgebook.display.names import BAD, NEUTRAL, DisplayNames
from judgebook.display.style import PAGE, handle, legend_of, panel, subplots, tips
from judgebook.display.tables import intervals
from judgebook.display.text import Phrases, interval, plural, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.annotators.analysis import flagged
from judgebook.questions.annotators.indicators import MIN_VALUES
from judgebook.study.results import Results

#: annotators in one panel
IN_PANEL = 22
#: panels of a figure
PANELS = 4
#: annotators in the table of all
MOST = 40
_WHO = ["corpus", "group", "annotator"]
_CELL = ["corpus", "group", "method", "annotator"]
_PHRASES = Phrases(__package__)
SOURCES = {"mean": "Annotations", "dawid_skene": "Dawid–Skene"}
TITLES = {
    "severity": "Leniency", "disagreement": "Disagreement", "answers": "Variety of answers", "speed": "Time taken",
    "drift": "Drift",
}  # fmt: skip
#: indicator -> what a low and a high value mean
MEANING = {
    "severity": ("gives less favourable scores, or fewer marks", "gives more favourable scores, or more marks"),
    "disagreement": ("agrees more than the others", "disagrees with the others"),
    "answers": ("gives less varied answers than the others", "gives more varied answers than the others"),
    "speed": ("is faster than the others", "is slower than the others"),
    "drift": (
        "gives less favourable scores, or fewer marks, over time",
        "gives more favourable scores, or more marks, over time",
    ),
}
#: what z is divided by, for readers: see `indicators`
SCALE = (
    "For leniency and time taken, z is in standard deviations of these estimates across annotators. For the other"
    " indicators, it is in the standard deviations expected by chance if annotators neither differed nor drifted."
)


def worded(text: str, names: DisplayNames) -> str:
    """A text about leniency; where no label has a direction, no score is favourable, only higher or lower."""
    if any(label.direction for label in names.labels.values()):
        return text
    return text.replace("more favourable", "higher").replace("less favourable", "lower")


def title(names: DisplayNames, row: pd.Series, *, several: bool) -> str:
    """What a panel is about: the method, the group, and the corpus where there are several."""
    parts = [names.name("method", row["method"])]
    parts += [names.name("group", row["group"])] if row["group"] != "all" else []
    parts += [names.name("corpus", row["corpus"])] if several else []
    return ", ".join(parts)


def severity(results: Results, names: DisplayNames, false_alarms: float) -> Iterator[Plot]:
    """Leniency of annotators over all labels, with intervals: a panel for each method and group."""
    rows = results["annotator_severity"]
    rows = rows[rows["ci_low"].notna()]
    if rows.empty:
        return
    several = len(set(rows["corpus"])) > 1
    out = flagged(results, false_alarms)
    panels = [of_panel for _, of_panel in rows.groupby(["corpus", "group", "method"], sort=False)]
    panels.sort(key=len, reverse=True)
    for start in range(0, len(panels), PANELS):
        part = panels[start : start + PANELS]
        height = max(min(len(of_panel), IN_PANEL) for of_panel in part) * 0.15 + 1.1
        rest = -(-len(part) // 2)
        fig, axes = subplots(rest, min(len(part), 2), squeeze=False, width=PAGE, height=rest * height + 0.4)
        for ax in axes.flat[len(part) :]:
            ax.set_visible(False)
        for ax, of_panel in zip(axes.flat, part, strict=False):
            _caterpillar(ax, of_panel, _named_in(out, of_panel.iloc[0]), names)
            ax.set_title(title(names, of_panel.iloc[0], several=several))
            panel(ax, of_panel, names)
        stand_out = any(len(_named_in(out, of_panel.iloc[0])) for of_panel in part)
        key = [handle("flagged (any indicator)", BAD, "D")] if stand_out else []
        legend_of(fig, [handle(names.ci, NEUTRAL[1], "o"), *key])
        shown, total = sum(min(len(p), IN_PANEL) for p in part), sum(map(len, part))
        caption = "Leniency of annotators (for marks: how readily they are given) over all labels, adjusted for what"
        caption += " was judged and shrunk towards 0, in standard deviations of scores."
        caption += f" Lines: {names.ci}. Annotators appear under pseudonyms."
        note = captions.chosen(shown, total, "estimates that are furthest from 0 or of flagged annotators")
        alt = f"Leniency of annotators, {plural(total, 'estimate')}: {span(pd.concat(part)['estimate'])}"
        alt += " standard deviations."
        name = "severity" if start == 0 else f"severity_{start // PANELS + 1}"
        unit = "Leniency over all labels, in standard deviations of scores, shrunk towards 0"
        yield Plot(fig, name, alt, captions.joined(caption, note), severity_title(pd.concat(part)), unit)


def severity_title(rows: pd.DataFrame) -> str:
    """Of how many annotators (or estimates, where methods have one each) the interval excludes 0."""
    off = int(((rows["ci_low"] > 0) | (rows["ci_high"] < 0)).sum())
    people = len(rows[_WHO].drop_duplicates())
    return _PHRASES.say("severity_title", n=len(rows), off=off, people=people)


def _named_in(out: pd.DataFrame, row: pd.Series) -> set[str]:
    """Annotators of the corpus and group who are named for any indicator."""
    return set(out.loc[(out["corpus"] == row["corpus"]) & (out["group"] == row["group"]), "annotator"])


def _caterpillar(ax: Axes, of_panel: pd.DataFrame, out: set[str], names: DisplayNames) -> None:
    far = of_panel["estimate"].abs() + np.where(of_panel["annotator"].isin(out), np.inf, 0.0)
    of_panel = of_panel.loc[far.sort_values(ascending=False, kind="stable").index[:IN_PANEL]].sort_values(
        "estimate", kind="stable"
    )
    y = np.arange(len(of_panel))
    bad = of_panel["annotator"].isin(out).to_numpy()
    colors = np.where(bad, BAD, NEUTRAL[1])
    ax.hlines(y, of_panel["ci_low"], of_panel["ci_high"], colors=list(colors), linewidth=0.9)
    for marker, marked, color in (("o", ~bad, NEUTRAL[1]), ("D", bad, BAD)):
        ax.plot(of_panel["estimate"][marked], y[marked], marker, color=color, markersize=3)
    tooltips = [f"{r.annotator}: {interval(r.estimate, r.ci_low, r.ci_high)}" for r in of_panel.itertuples()]
    tips(ax, tooltips, of_panel["estimate"], y)
    ax.axvline(0, color="#8A8A8A", linewidth=0.8, zorder=0)
    marks = all(label.binary for (m, _), label in names.labels.items() if m == of_panel["method"].iloc[0])
    less, more = ("fewer marks", "more marks") if marks else ("less favourable", "more favourable")
    ax.set(yticks=y, ylim=(-0.8, len(of_panel) - 0.2), xlabel=worded(f"← {less}       {more} →", names))
    ax.set_yticklabels(of_panel["annotator"], fontsize=7)
    ax.tick_params(axis="y", length=0)


def named(results: Results, names: DisplayNames, false_alarms: float) -> Table | None:
    """Who is flagged, and why."""
    rows = flagged(results, false_alarms)
    if rows.empty:
        return None
    out = rows[["corpus", "group", "method"]].assign(
        Annotator=rows["annotator"],
        Indicator=[TITLES[i] for i in rows["indicator"]],
        Finding=[
            worded(MEANING[i][int(v > 0)], names) for i, v in zip(rows["indicator"], rows["estimate"], strict=True)
        ],
    )
    out["z"], out["Adjusted p"] = rows["estimate"], cells.p_values(rows["p_adjusted"])
    caption = f"Annotators outside the spread of the others. {SCALE} The p-values (generalised ESD test) compare z with"
    caption += " those of the other annotators, not with 0. They are adjusted for all annotators and indicators of the"
    caption += " group."
    return Table(names.named(out), "named", caption, {"z": 1}, {"Method": "Over all methods."})


def everyone(results: Results, names: DisplayNames) -> Table | None:
    """Each annotator by method: leniency, drift, agreement, answers and time; the most unusual values first."""
    answers = results["annotator_answers"]
    if answers.empty:
        return None
    out = answers[[*_CELL, "n"]].rename(columns={"n": "Scores"})
    key, who = pd.MultiIndex.from_frame(out[_CELL]), pd.MultiIndex.from_frame(out[_WHO])
    severity = results["annotator_severity"]
    for heading, rows in {
        "Leniency": severity[severity["estimate"].notna()],
        "Drift": results["annotator_drift"],
    }.items():
        if len(rows):
            out[heading] = intervals(rows).set_axis(pd.MultiIndex.from_frame(rows[_CELL])).reindex(key).to_numpy()
    out["r with others"] = results["annotator_agreement"].set_index(_CELL)["estimate"].reindex(key).to_numpy()
    out["Most frequent answer, %"] = 100 * answers["estimate"]
    out["Time"] = results["annotator_speed"].set_index(_WHO)["estimate"].reindex(who).to_numpy()
    far = results["annotator_z"].assign(z=-results["annotator_z"]["estimate"].abs()).groupby(_WHO)[["p_adjusted", "z"]]
    order = far.min().reindex(who).reset_index(drop=True).sort_values(["p_adjusted", "z"], kind="stable").index
    total, out = len(out), out.iloc[order].head(MOST)
    out = out.dropna(axis=1, how="all").rename(columns={"annotator": "Annotator"})
    caption = worded(
        "Leniency: in standard deviations of scores; positive: more favourable scores, or more marks.", names
    )
    caption += " Drift: change in leniency from the first to the last dialogue. r with others: correlation with their"
    caption += f" mean. Time: relative to what is usual for the task. Intervals: {names.ci}."
    if total > MOST:
        caption += f" Shown: the {MOST} of {total} rows with the most unusual values; the stored results contain all."
    decimals = {"Most frequent answer, %": 0}
    why = dict.fromkeys(out.columns, "Too few judgements, or none that the statistic can use.")
    return Table(names.named(out), "everyone", caption, decimals, why)


def consensus(results: Results, names: DisplayNames) -> Table | None:
    """Rates of systems by the mean of annotations and by consensus labels."""
    rows = results["consensus_rate"]
    if rows.empty:
        return None
    keys = ["corpus", "group", "method", "label", "system"]
    wide = rows.set_index([*keys, "source"])["estimate"].unstack()  # noqa: PD010
    wide = wide[[s for s in SOURCES if s in wide]].rename(columns=SOURCES).reset_index()
    sizes = rows.drop_duplicates(keys).set_index(keys)["n"]
    wide["Items"] = sizes.reindex(pd.MultiIndex.from_frame(wide[keys])).to_numpy()
    if len(set(wide["corpus"])) == 1:
        wide = wide.drop(columns="corpus")
    caption = "Rates of marks, or of comparisons won minus lost, from all annotations and from consensus labels, for"
    caption += " items judged more than once."
    why = {"Dawid–Skene": "The likelihood did not converge."}
    return Table(names.named(names.sort(wide)), "consensus", caption, 3, why)


#: annotators whom the headline lists, rather than counting them by reason
LISTED = 3


def findings(results: Results, names: DisplayNames, false_alarms: float) -> Iterator[Prose]:
    """Who lies outside the spread of the others, or why this cannot be said; consensus labels."""
    yield Prose(
        _PHRASES.say("headline", **facts(results, names, false_alarms), false_alarms=false_alarms, least=MIN_VALUES)
    )
    yield Prose(_PHRASES.say("consensus", **_consensus(results)))


def facts(results: Results, names: DisplayNames, false_alarms: float) -> dict[str, Any]:
    """How many annotators were compared, who was named and why, how many for each reason, and who could not be
    compared."""
    z, out = results["annotator_z"], flagged(results, false_alarms)
    people = results["annotator_answers"].drop_duplicates(_WHO)
    compared = z.drop_duplicates(_WHO)
    several = len(set(people["corpus"])) > 1
    shown, reasons = [], Counter[str]()
    for (corpus, group, name), of_method in out.groupby(_WHO, sort=False):
        where_ = [names.name("group", group)] if group != "all" else []
        where_ += [names.name("corpus", corpus)] if several else []
        why = [
            worded(MEANING[i][int(v > 0)], names) + (f" ({names.name('method', m)})" if pd.notna(m) else "")
            for i, v, m in zip(of_method["indicator"], of_method["estimate"], of_method["method"], strict=True)
        ]
        reasons.update(set(why))
        shown.append({"name": name, "where": ", ".join(where_), "why": list(dict.fromkeys(why))})
    groups = people.groupby(["corpus", "group"]).size()
    n_compared = compared.groupby(["corpus", "group"]).size().reindex(groups.index, fill_value=0)
    few = [
        {"group": names.name("group", g) if g != "all" else names.name("corpus", c), "n": int(groups[c, g])}
        for c, g in n_compared.index[n_compared == 0]
    ]
    return {
        "n": len(compared), "shown": shown[:LISTED], "named": len(shown), "few": few,
        "reasons": sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0])),
        "groups": int((n_compared > 0).sum()),
        "indicators": [TITLES[i].lower() for i in TITLES if i in set(z["indicator"])],
    }  # fmt: skip


def _consensus(results: Results) -> dict[str, Any]:
    """Largest and median change of rates by consensus `labels` (0 where none has rates because they have no order), how
    many of `pairs` of systems change their order, and the largest `share` of items that change."""
    moves = []
    for _, rows in results["consensus_rate"].groupby(["corpus", "group", "method", "label"], sort=False):
        rates = rows.set_index(["system", "source"])["estimate"].unstack()  # noqa: PD010
        if "dawid_skene" in rates:
            before, after = (rates[source].to_numpy() for source in ("mean", "dawid_skene"))
            upper = np.triu_indices(len(rates), 1)
            turned = [np.sign(x[:, None] - x)[upper] for x in (before, after)]
            moves.append((np.abs(after - before).max(), np.sum(turned[0] * turned[1] < 0), len(upper[0])))
    tried = results["consensus_changed"]
    estimated = tried.loc[tried["estimate"].notna(), "estimate"]
    changed = [largest for largest, _, _ in moves]
    return {
        "labels": len(moves), "largest": max(changed, default=0.0), "median": float(np.median(changed or [0.0])),
        "turned": int(sum(turned for _, turned, _ in moves)), "pairs": sum(n for _, _, n in moves),
        "share": estimated.max() if len(estimated) else None, "tried": len(tried),
        "why": sorted(set(tried["note"].dropna()))[:3],
    }  # fmt: skip
