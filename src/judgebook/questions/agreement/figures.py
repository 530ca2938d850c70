"""Figures of notebook 03."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from judgebook.display import plots
from judgebook.display.names import DisplayNames
from judgebook.display.plots import HOLLOW
from judgebook.display.text import Phrases, counted, listing, plural, span
from judgebook.display.views import Plot
from judgebook.questions.agreement.population import BOUNDS, primary
from judgebook.questions.agreement.tables import RELIABLE, TENTATIVE, over
from judgebook.study.results import Results

#: rows of a forest that fit on a page
FOREST_ROWS = 62
_PHRASES = Phrases(__package__)


def alphas(
    results: Results, names: DisplayNames, threshold: float = TENTATIVE, marks: Sequence[float] = ()
) -> Iterator[Plot]:
    """Forest plots of alpha, one per corpus: the main group, and where groups can be compared all groups.

    threshold : `iaa.threshold`, drawn as a line, with Krippendorff's second one if it is his first. marks : other
    values at which a line is drawn.
    """
    marks = sorted({threshold, *marks, *([RELIABLE] if threshold == TENTATIVE else [])})
    rows = primary(results)
    for i, corpus in enumerate(dict.fromkeys(rows["corpus"])):
        for name, whole in _figures(rows[rows["corpus"] == corpus]).items():
            for j, part in enumerate(_pages(names.sort(whole), FOREST_ROWS)):
                plot = _forest(part, names, marks, f"{name}_{i}" if i else name)
                plot = replace(plot, title=_alpha_title(part, threshold))
                yield replace(plot, name=f"{plot.name}_page{j + 1}") if j else plot


def _forest(part: pd.DataFrame, names: DisplayNames, marks: Sequence[float], name: str) -> Plot:
    interval = f"{names.ci} over {over(part)}"
    fig = plots.forest_figure(part, names, key=(interval, ""), xlabel="Krippendorff's alpha", reference=(0.0, *marks))
    for ax in fig.axes:
        for k, mark in enumerate(marks):
            close = k + 1 < len(marks) and marks[k + 1] - mark < 0.2  # two numbers would touch
            side = "right" if close else "left"
            over_axes = ax.get_xaxis_transform()
            place = {"transform": over_axes, "ha": side, "va": "bottom"}
            ax.text(mark, 1.0, f"{mark:g}", fontsize=7, color="0.4", **place)
    groups = listing(names.name("group", g) for g in dict.fromkeys(part["group"]))
    alt = f"Forest plot: alpha of {plural(len(part), 'label')} with intervals, by method, from"
    alt += f" {span(part['estimate'].dropna())}. Judged by {groups}."
    lines = listing(f"{mark:g}" for mark in marks)
    alt += f" Lines mark {lines}."
    caption = f"Krippendorff's alpha of each label, judged by {groups}. Points: estimates; lines: {interval}"
    caption += f"; {counted(part['n'], 'items')}. Vertical lines: 0, agreement by chance"
    caption += f", and {lines}."
    if set(marks) == {TENTATIVE, RELIABLE}:
        caption += " Krippendorff (2004) asks for 0.8, and for 0.667 where tentative conclusions will do."
    caption += " Hollow: exact bound (dashed), or no CI available." if part["ci_kind"].isin(HOLLOW).any() else ""
    return Plot(fig, name, alt, caption, subtitle="Krippendorff's alpha; 1: full agreement, 0: agreement by chance")


def _alpha_title(rows: pd.DataFrame, threshold: float) -> str:
    """On how many labels agreement is shown to be enough; empty where none has an interval of its own."""
    free = rows[~rows["ci_kind"].isin(BOUNDS) & rows["ci_low"].notna()]
    if free.empty:
        return ""
    sides = {"above": int((free["ci_low"] > threshold).sum()), "below": int((free["ci_high"] < threshold).sum())}
    n_labels = len(rows[["method", "label"]].drop_duplicates())
    return _PHRASES.say("alpha_title", n=len(rows), n_labels=n_labels, threshold=f"{threshold:g}", **sides)


def _pages(rows: pd.DataFrame, most: int) -> Iterator[pd.DataFrame]:
    """Sorted rows in parts of at most `most`, no label of a method in two."""
    size = rows.groupby(["method", "label"], sort=False).size()
    page = ((size.cumsum() - 1) // most).rename("page")
    at = rows[["method", "label"]].merge(page.reset_index(), on=["method", "label"], how="left")["page"].to_numpy()
    for number in dict.fromkeys(at):
        yield rows[at == number]


def main_group(rows: pd.DataFrame) -> str:
    """The group with most labels judged twice, of these the one with most items."""
    size = rows.groupby("group").agg(labels=("label", "size"), items=("n", "sum"))
    return size.sort_values(["labels", "items"], kind="stable").index[-1]


def _figures(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Rows of each figure of one corpus: `alpha`, and `alpha_groups` where only some methods allow a comparison."""
    groups = rows.groupby("method", sort=False)["group"].nunique()
    shared = rows["method"].isin(groups.index[groups > 1])
    if shared.all() or len(set(rows["group"])) == 1:
        return {"alpha": rows}
    return {"alpha": rows[rows["group"] == main_group(rows)]} | ({"alpha_groups": rows[shared]} if shared.any() else {})
