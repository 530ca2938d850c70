"""Figures of notebook 09: correlations of metrics with people, what could be reached, and metrics among each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.figure import PAGE, handle, subplots
from helpers.look import COLORS
from helpers.plotting import heatmap

GIVEN, COMPUTED, CEILING, PERSON = COLORS[0], COLORS[1], COLORS[2], "#555555"


@dataclass(frozen=True)
class Panel:
    """One panel: a label of a data set, or the mean over its labels.

    metrics : metric, estimate, ci_low, ci_high, and `reduced`, the correlation with the mean of all annotators but one,
    averaged over who is left out. ceiling : estimate and ends (NaN where there is none); annotator : the correlation of
    the one left out.
    """

    title: str
    metrics: pd.DataFrame
    ceiling: tuple[float, float, float]
    annotator: float


def correlation_figure(
    panels: Sequence[Panel], order: Sequence[str], titles: dict[str, str], computed: Sequence[str], columns: int = 3
) -> Figure:
    """Metrics in rows, one panel a data set or label: correlation with its interval, the ceiling, the annotator left
    out, and below each metric's mark its correlation with the same reduced mean (small hollow diamond)."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    names = max(len(titles[m]) for m in order) * 0.06
    width = min(PAGE, names + 0.6 + (PAGE - names - 0.4) / 3 * max(columns, 1.4))
    fig, axes = subplots(
        rows, columns, width=width, height=rows * (0.135 * len(order) + 0.62) + 0.6, sharex=True, squeeze=False
    )
    limits = _limits(panels)
    for ax, panel in zip(axes.flat, panels, strict=False):
        _panel(ax, panel, order, computed, limits)
        first = ax in axes[:, 0]
        ax.set_yticks(range(len(order)), [titles[m] for m in order] if first else [])
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    for i, ax in enumerate(axes.flat[: len(panels)]):
        if i + columns >= len(panels):
            ax.set_xlabel("Spearman's ρ")
            ax.tick_params(labelbottom=True)
    has = {m for panel in panels for m in panel.metrics["metric"]}
    kinds = [("score in the data", GIVEN, set(order) - set(computed)), ("computed here", COMPUTED, set(computed))]
    keys = [handle(name, color, "o") for name, color, some in kinds if some & has]
    keys.append(handle("ceiling", CEILING, "", linestyle=(0, (4, 2))))
    keys.append(handle("annotator left out", PERSON, "", linestyle=":"))
    keys.append(handle("metric, on the same", PERSON, "D", linewidth=0, markerfacecolor="white"))
    fig.legend(handles=keys, loc="outside upper left", ncols=5 if width > 5.5 else 2)
    return fig


def _limits(panels: Sequence[Panel]) -> tuple[float, float]:
    values = [p.metrics[["estimate", "ci_low", "ci_high", "reduced"]].to_numpy(float).ravel() for p in panels]
    values += [np.array([p.annotator, *p.ceiling], dtype=float) for p in panels]
    all_ = np.concatenate(values)
    all_ = all_[np.isfinite(all_)]
    low, high = (min(0.0, all_.min()), max(0.2, all_.max())) if all_.size else (0.0, 1.0)
    return max(-1.03, low - 0.04), min(1.03, high + 0.04)


def _panel(ax: Axes, panel: Panel, order: Sequence[str], computed: Sequence[str], limits: tuple[float, float]) -> None:
    ceiling, low, high = panel.ceiling
    if np.isfinite(low):
        ax.axvspan(low, high, color=CEILING, alpha=0.13, linewidth=0)
    if np.isfinite(ceiling):
        ax.axvline(ceiling, color=CEILING, linewidth=1.2, linestyle=(0, (4, 2)))
    if np.isfinite(panel.annotator):
        ax.axvline(panel.annotator, color=PERSON, linewidth=1.2, linestyle=":")
    ax.axvline(0, color="#BBBBBB", linewidth=0.8, zorder=0)
    for row in panel.metrics.itertuples():
        y, color = list(order).index(row.metric), COMPUTED if row.metric in computed else GIVEN
        ax.plot([row.ci_low, row.ci_high], [y, y], color=color, linewidth=1.4)
        ax.plot(row.estimate, y, "o", color=color, markersize=3.4)
        ax.plot(row.reduced, y + 0.3, "D", color=PERSON, markersize=2.2, markerfacecolor="white", markeredgewidth=0.6)
    ax.set(xlim=limits, ylim=(len(order) - 0.3, -0.7))
    ax.set_title(shorten(panel.title, 40, placeholder="…"))
    ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    ax.spines["left"].set_visible(False)


def matrix_figure(matrix: pd.DataFrame) -> Figure:
    """Correlations of metrics among each other, values written in; in percent where there are many."""
    n = len(matrix)
    size, many = min(PAGE, 2.2 + 0.36 * n), n > 12
    fig, ax = subplots(width=size, height=size * 0.86)
    scale, name = (100, "Spearman's ρ (%)") if many else (1, "Spearman's ρ")
    heatmap(scale * matrix, ax, cmap="RdBu_r", vmin=-scale, vmax=scale, decimals=0 if many else 2, label=name)
    return fig
