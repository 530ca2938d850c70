"""Figures of a comparison of two runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display.grid_plots import grid_figure, interval_keys, intervals
from judgebook.display.names import NEUTRAL, DisplayNames
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, interval, number, span
from judgebook.display.views import Plot
from judgebook.extras.compare.analysis import CLEARLY, RUNS, STANDARDISED, Comparison
from judgebook.extras.compare.tables import label_name, ordered, over

_PHRASES = Phrases(__package__)
#: panels of a figure; more go to the next
PANELS = 8
#: systems that a legend can name, and that a figure can list
FEW, MANY = 12, 25


def against(runs: Comparison, names: DisplayNames) -> Iterator[Plot]:
    """System means in the second run against those in the first, with intervals, a panel per label."""
    labels = _deciding(runs)
    few = len(runs.systems) <= FEW
    for k, first in enumerate(range(0, len(labels), PANELS)):
        page = labels.iloc[first : first + PANELS]
        columns = min(4 if len(page) > 4 else len(page), len(page))
        rows = -(-len(page) // columns)
        size = {"width": PAGE if columns > 2 else 3.4 * columns, "height": 2.1 * rows + (1.3 if few else 0.8)}
        fig, axes = subplots(rows, columns, squeeze=False, **size)
        for ax, row in zip(axes.flat, page.to_dict("records"), strict=False):
            wide = _wide(runs, row)
            _panel(ax, wide, names, few)
            tips(ax, _told(wide, runs, names), wide["estimate_A"], wide["estimate_B"])
            r = f"r = {number(row['r'])}" if np.isfinite(row["r"]) else "r undefined"
            ax.set_title(f"{fill(label_name(row, names), 22)}\n{r}", fontsize=7.5)
        for ax in list(axes.flat)[len(page) :]:
            ax.axis("off")
        shown = dict.fromkeys(_best_first(runs, names)["system"]) if few else ()
        keys = [handle(names.name("system", s), *_style(names, s, few), linewidth=0) for s in shown]
        legend_of(fig, [*keys, handle("equal means", INK, "", linewidth=0.7, linestyle="--")])
        what = "standardised score" if runs.primary == STANDARDISED else "score"
        fig.supxlabel(f"Mean {what}: {runs.a.title}", fontsize=8)
        fig.supylabel(f"Mean {what}: {runs.b.title}", fontsize=8)
        alt = f"Scatter plots: means of {len(runs.systems)} systems in {runs.b.title} against {runs.a.title}, a panel"
        alt += " per label" + (f"; r from {span(page['r'].dropna())}." if page["r"].notna().any() else ".")
        caption = f"Points are systems: mean {what} in each run; lines are {runs.confidence:.0%} CIs over {over(page)}."
        caption += " On the dashed line both runs have the same mean. r is Pearson's correlation."
        title, unit = against_title(runs), f"Mean {what} of each system, {runs.b.title} against {runs.a.title}"
        yield Plot(fig, f"against_{k}" if k else "against", alt, caption, title, unit)


def against_title(runs: Comparison) -> str:
    """On how many labels the order of system means is clearly repeated."""
    rows = runs.deciding
    clearly = int((rows["verdict"] == CLEARLY).sum())
    return _PHRASES.say("against_title", n=len(rows), clearly=clearly, identical=runs.identical)


def _panel(ax: Axes, wide: pd.DataFrame, names: DisplayNames, few: bool) -> None:
    for system, row in wide.iterrows():
        color, marker = _style(names, system, few)
        ends = {run: [row[f"ci_low_{run}"], row[f"ci_high_{run}"]] for run in RUNS}
        ax.plot(ends["A"], [row["estimate_B"]] * 2, color=color, linewidth=0.9, alpha=0.8)
        ax.plot([row["estimate_A"]] * 2, ends["B"], color=color, linewidth=0.9, alpha=0.8)
        ax.plot(row["estimate_A"], row["estimate_B"], marker, color=color, markersize=4)
    low, high = (f([*ax.get_xlim(), *ax.get_ylim()]) for f in (min, max))
    ax.plot([low, high], [low, high], color=INK, linewidth=0.7, linestyle="--", zorder=0)
    ax.set(xlim=(low, high), ylim=(low, high))
    ax.locator_params(nbins=4)
    ax.set_box_aspect(1)


def _style(names: DisplayNames, system: str, few: bool) -> tuple[str, str]:
    return (names.color("system", system), names.marker("system", system)) if few else (NEUTRAL[0], "o")


def _told(wide: pd.DataFrame, comparison: Comparison, names: DisplayNames) -> Iterator[str]:
    """What a pointer is told of each system."""
    for system, row in wide.iterrows():
        runs = zip(RUNS, (comparison.a.title, comparison.b.title), strict=True)
        ends = [f"{t} {interval(*(row[f'{c}_{run}'] for c in ('estimate', 'ci_low', 'ci_high')))}" for run, t in runs]
        yield f"{names.name('system', system)}: {', '.join(ends)}"


def _wide(runs: Comparison, row: dict) -> pd.DataFrame:
    """A row per system with the mean and interval in each run."""
    keys = ["scores", "method", "label"]
    rows = runs.means[(runs.means[keys] == [row[k] for k in keys]).all(axis=1)]
    wide = rows.pivot_table(
        index="system", columns="run", values=["estimate", "ci_low", "ci_high"], dropna=False, sort=False
    )
    return wide.set_axis([f"{what}_{run}" for what, run in wide.columns], axis=1)


def _deciding(runs: Comparison) -> pd.DataFrame:
    """Labels of the scores that decide, their mean first."""
    rows = ordered(runs)
    return rows[rows["scores"] == runs.primary]


def means(runs: Comparison, names: DisplayNames) -> Iterator[Plot]:
    """Means of every system in both runs, a panel per label; none where a page cannot list the systems."""
    labels, n = _deciding(runs), len(runs.systems)
    panels = 4 * max(1, int(8.4 / (0.28 * n + 0.6)))
    for k, first in enumerate(range(0, len(labels) if n <= MANY else 0, panels)):
        page = labels.iloc[first : first + panels]
        keys = ["scores", "method", "label"]
        rows = page[keys].merge(_best_first(runs, names), on=keys)
        rows = rows.assign(
            panel=[label_name(row, names) for row in rows[keys].to_dict("records")],
            block=[names.name("system", s) for s in rows["system"]],
            hue=rows["run"].map(dict(zip(RUNS, (runs.a.title, runs.b.title), strict=True))),
            ci_kind=np.where(rows["ci_low"].isna(), "not_estimable", "jackknife_t"),
        )
        what = "Mean standardised score" if runs.primary == STANDARDISED else "Mean score"
        fig = grid_figure(rows, intervals, xlabel=what, keys=interval_keys(f"CI over {over(page)}", None, rows))
        alt = f"{what} of {rows['system'].nunique()} systems in {runs.a.title} and {runs.b.title} with CIs, by label."
        caption = f"{what} of each system in both runs; lines are {runs.confidence:.0%} CIs over {over(page)}."
        unit = f"{what} of each system, in both runs"
        yield Plot(fig, f"means_{k}" if k else "means", alt, caption, means_title(runs), unit)


def _best_first(runs: Comparison, names: DisplayNames) -> pd.DataFrame:
    """System means in the order of systems in figures."""
    return runs.means.sort_values("system", key=lambda s: s.map(partial(names.position, "system")), kind="stable")


def means_title(runs: Comparison) -> str:
    """How many pairs of systems differ significantly in the same direction in both runs."""
    counted = runs.deciding[["tested", "same_sign", "opposite"]].sum().astype(int)
    return _PHRASES.say("means_title", identical=runs.identical, **counted.to_dict())
