"""Figures of notebook 15."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions
from judgebook.display.names import BAD, NEUTRAL, DisplayNames
from judgebook.display.style import PAGE, handle, legend_of, panel, subplots, tips
from judgebook.display.text import Phrases, interval, plural, span
from judgebook.display.views import Plot
from judgebook.questions.annotators.analysis import flagged
from judgebook.questions.annotators.tables import worded
from judgebook.study.results import Results

#: annotators in one panel
MOST = 22
#: panels of a figure
PANELS = 4
_GROUP = ["corpus", "group"]
_PHRASES = Phrases(__package__)


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
    panels = [of_panel for _, of_panel in rows.groupby([*_GROUP, "method"], sort=False)]
    panels.sort(key=len, reverse=True)
    for start in range(0, len(panels), PANELS):
        part = panels[start : start + PANELS]
        height = max(min(len(of_panel), MOST) for of_panel in part) * 0.15 + 1.1
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
        shown, total = sum(min(len(p), MOST) for p in part), sum(map(len, part))
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
    people = len(rows[[*_GROUP, "annotator"]].drop_duplicates())
    return _PHRASES.say("severity_title", n=len(rows), off=off, people=people)


def _named_in(out: pd.DataFrame, row: pd.Series) -> set[str]:
    """Annotators of the corpus and group who are named for any indicator."""
    return set(out.loc[(out["corpus"] == row["corpus"]) & (out["group"] == row["group"]), "annotator"])


def _caterpillar(ax: Axes, of_panel: pd.DataFrame, out: set[str], names: DisplayNames) -> None:
    far = of_panel["estimate"].abs() + np.where(of_panel["annotator"].isin(out), np.inf, 0.0)
    of_panel = of_panel.loc[far.sort_values(ascending=False, kind="stable").index[:MOST]].sort_values(
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
