"""Figures of notebook 18."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.annotations.periods import in_order
from judgebook.display import captions
from judgebook.display.many import MANY
from judgebook.display.names import BAD, NEUTRAL, DisplayNames
from judgebook.display.style import PAGE, handle, legend, legend_of, panel, subplots, tips
from judgebook.display.text import Phrases, told
from judgebook.display.views import Plot
from judgebook.questions.over_time.findings import named
from judgebook.study.results import ResultRows, Results

_PANEL = ["corpus", "group", "method", "label"]
#: panels of a figure
_PANELS = 8
#: names of periods below an axis
_TICKS = 4
#: letters in a line of a panel's title
_LETTERS = 44
_PHRASES = Phrases(__package__)


def means(results: Results, names: DisplayNames, false_alarms: float) -> Iterator[Plot]:
    """Means of systems over periods with intervals, a panel for each label; changes that stand out are marked."""
    rows = results["period_mean"]
    if rows.empty:
        return
    changed = named(results, "system_change", false_alarms)
    systems = sorted(rows["system"].unique(), key=lambda s: names.position("system", s))
    first = dict.fromkeys([*changed["system"], *systems])
    shown = sorted([*first][:MANY], key=lambda s: names.position("system", s))
    order = in_order(rows["period"])
    for number, (panels, fig, axes) in enumerate(_figures(rows[rows["system"].isin(shown)], names)):
        for ax, part in zip(axes, panels, strict=True):
            for at, system in enumerate(shown):
                of_system, color = part[part["system"] == system], names.color("system", system)
                shift = 0.4 * (at / max(len(shown) - 1, 1) - 0.5) if len(shown) > 1 else 0.0
                _line(ax, of_system, order, color, names.marker("system", system), names.name("system", system), shift)
            _mark(ax, _of(changed, part), order)
            ax.set_ylabel("Mean, rate or share won", fontsize=7)
        legend(fig, names, "system", shown)
        over = sorted({str(u) for u in rows["resample_unit"].dropna()})
        caption = f"Lines: means of systems in each period, {names.ci} over {' or '.join(over)}."
        caption += " Dotted: a change of a system, as told by annotators who judged before and after, stands out."
        note = captions.chosen(len(shown), len(systems), "systems that changed, or come first")
        alt = f"Means of {len(shown)} systems in {len(order)} periods, {order[0]} to {order[-1]}."
        title = _PHRASES.say("means_title", n=len(results["system_change"]), named=len(changed))
        unit = "Mean score of each system by period"
        yield Plot(fig, _stem("means", number), alt, captions.joined(caption, note), title, unit)


def severity(results: Results, names: DisplayNames, false_alarms: float) -> Iterator[Plot]:
    """Leniency of annotators over periods; those of whom a change stands out are coloured."""
    rows = results["period_severity"]
    if rows.empty:
        return
    changed = named(results, "annotator_change", false_alarms)
    order = in_order(rows["period"])
    for number, (panels, fig, axes) in enumerate(_figures(rows, names)):
        for ax, part in zip(axes, panels, strict=True):
            out = _of(changed, part)
            for annotator, line in part.groupby("annotator", sort=False):
                stands_out = annotator in set(out["annotator"])
                _line(ax, line, order, BAD if stands_out else NEUTRAL[0], "D" if stands_out else "o", annotator, 0.0,
                      bars=stands_out)  # fmt: skip
            _mark(ax, out, order)
            ax.axhline(0, color="#8A8A8A", linewidth=0.8, zorder=0)
            ax.set_ylabel("Leniency", fontsize=7)
        key = [handle("a change stands out", BAD, "D")] if len(changed) else []
        legend_of(fig, [handle("annotator", NEUTRAL[0], "o"), *key])
        caption = (
            "Lines: how much higher an annotator scores than the average of those who judged in the period, systems"
        )
        caption += (
            f" being equal. Bars: {names.ci} over items, of annotators of whom a change stands out; dotted: when."
        )
        alt = f"Leniency of {rows['annotator'].nunique()} annotators in {len(order)} periods."
        title = _PHRASES.say("severity_title", n=len(results["annotator_change"]), named=len(changed))
        unit = "Leniency of each annotator by period, in points of the label's scale"
        yield Plot(fig, _stem("severity", number), alt, caption, title, unit)


def _figures(rows: ResultRows, names: DisplayNames) -> Iterator[tuple[list[pd.DataFrame], object, list[Axes]]]:
    """Panels of each figure: a label's rows, and its axes with title and names of periods."""
    order = in_order(rows["period"])
    several = {kind for kind in ("corpus", "group") if len(set(rows[kind])) > 1}
    panels = [part for _, part in names.sort(rows).groupby(_PANEL, sort=False)]
    for start in range(0, len(panels), _PANELS):
        part = panels[start : start + _PANELS]
        columns = min(len(part), 2)
        down = -(-len(part) // columns)
        fig, axes = subplots(down, columns, squeeze=False, width=PAGE, height=1.7 * down + 0.7)
        for ax in axes.flat[len(part) :]:
            ax.set_visible(False)
        for ax, of_panel in zip(axes.flat, part, strict=False):
            _axis(ax, of_panel, order, names, several=several)
        yield part, fig, list(axes.flat[: len(part)])


def _axis(ax: Axes, rows: pd.DataFrame, order: Sequence[str], names: DisplayNames, *, several: set[str]) -> None:
    one = rows.iloc[0]
    where = "".join(f", {names.name(kind, one[kind])}" for kind in ("group", "corpus") if kind in several)
    ax.set_title(fill(names.distinct_label(one["label"], one["method"]) + where, _LETTERS), fontsize=8)
    step = -(-len(order) // _TICKS)
    at = range(0, len(order), step)
    ax.set_xticks(list(at), [order[i] for i in at], fontsize=6.5)
    ax.set_xlim(-0.5, len(order) - 0.5)
    ax.set_xlabel("Period", fontsize=7)
    panel(ax, rows, names)


def _line(
    ax: Axes, rows: pd.DataFrame, order: Sequence[str], color: str, marker: str, name: str, shift: float, *,
    bars: bool = True,
) -> None:  # fmt: skip
    """Estimates in the order of periods; a period without one interrupts the line."""
    rows = rows.set_index("period").reindex(order)
    x = np.arange(len(order)) + shift
    ax.plot(x, rows["estimate"], color=color, marker=marker, markersize=3, linewidth=1.2 if bars else 0.7)
    if bars:
        ax.vlines(x, rows["ci_low"], rows["ci_high"], color=color, linewidth=0.8)
    said = [told(f"{name}, {period}", row) for period, row in zip(order, rows.to_dict("records"), strict=True)]
    tips(ax, said, x, rows["estimate"])


def _of(changed: pd.DataFrame, part: pd.DataFrame) -> pd.DataFrame:
    return changed[(changed[_PANEL] == part[_PANEL].iloc[0]).all(axis=1)]


def _mark(ax: Axes, changed: pd.DataFrame, order: Sequence[str]) -> None:
    for period in changed["period"].unique():
        ax.axvline(list(order).index(period) - 0.5, color="#8A8A8A", linewidth=0.9, linestyle=":", zorder=0)


def _stem(name: str, number: int) -> str:
    return f"{name}_{number + 1}" if number else name
