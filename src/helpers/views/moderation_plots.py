"""Figures of notebook 12."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from helpers import plotting
from helpers.figure import PAGE, handle, legend_of, subplots
from helpers.look import COLORS, MARKERS
from helpers.moderation import OUTCOMES

#: outcomes from good to bad for the system, and categories from bad to good
SHADES = {"wins": "#0072B2", "tied": "#9CC3E0", "unrelated": "#D9D9D9", "loses": "#D55E00"}
CATEGORIES = ("#D55E00", "#D9D9D9", "#0072B2")
#: intervals: name -> (legend, line width, opacity)
INTERVALS = {
    "n": ("all judgements independent", 2.6, 0.45),
    "context": ("prompts resampled", 1.8, 1.0),
    "items": ("judgements of an item copies", 0.9, 1.0),
}


def category_figure(rows: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    """Shares of the categories by annotator (Figure 2). rows : with annotator, score. names : score -> title."""
    wide = rows.pivot_table(index="annotator", columns="score", values="estimate", sort=False)
    wide = wide[[s for s in names if s in wide]].sort_index()
    fig, ax = subplots(width=4.8, height=0.9 + 0.24 * len(wide))
    plotting.stacked(wide, ax, colors=[CATEGORIES[list(names).index(s)] for s in wide])
    legend_of(fig, [handle(names[s], CATEGORIES[list(names).index(s)], "s", linewidth=0) for s in wide])
    return fig


def agreement_figure(rows: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    """Items by the most frequent category and the number of annotators who chose it, a mark a definition.

    rows : `agreement_count` rows with score, annotators, definition, and `printed` ones where there are any.
    """
    definitions = list(dict.fromkeys(rows["definition"]))
    fig, axes = subplots(1, len(names), width=PAGE, height=2.1, sharey=True, squeeze=False)
    for ax, (score, title) in zip(axes[0], names.items(), strict=True):
        here = rows[rows["score"] == score]
        for i, definition in enumerate(definitions):
            part = here[here["definition"] == definition].sort_values("annotators")
            x = part["annotators"].astype(int) + 0.1 * (i - (len(definitions) - 1) / 2)
            ax.plot(x, part["estimate"], color=COLORS[i], marker=MARKERS[i], markersize=4, linewidth=1.0)
        ax.set(title=title, xlabel="Annotators who agree")
        ax.set_xticks(sorted(rows["annotators"].astype(int).unique()))
        ax.grid(axis="y")
    axes[0, 0].set_ylabel("Items")
    legend_of(fig, [handle(d, COLORS[i], MARKERS[i]) for i, d in enumerate(definitions)])
    return fig


def outcome_figure(rows: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    """Shares of the outcomes as stacked bars, and each with its intervals (Table 6, Figure 3).

    rows : `moderation_share` rows with outcome, interval and `line`. names : value of `line` -> title, in order.
    """
    first = rows.drop_duplicates(["line", "outcome"])
    wide = first.pivot_table(index="line", columns="outcome", values="estimate").reindex(list(names))[list(OUTCOMES)]
    wide.index = list(names.values())
    height = 1.0 + 0.34 * len(names)
    fig, axes = subplots(1, 5, width=PAGE, height=height, width_ratios=[2.4, 1, 1, 1, 1])
    plotting.stacked(wide, axes[0], colors=[SHADES[o] for o in OUTCOMES], xlabel="Share of judgements")
    kinds = [k for k in INTERVALS if (rows["interval"] == k).any()]
    for ax, outcome in zip(axes[1:], OUTCOMES, strict=True):
        here = rows[rows["outcome"] == outcome]
        for kind in kinds:
            part = here[here["interval"] == kind].set_index("line").reindex(list(names))
            y = np.arange(len(names)) + 0.2 * (kinds.index(kind) - (len(kinds) - 1) / 2)
            _, width, alpha = INTERVALS[kind]
            ax.hlines(y, part["ci_low"], part["ci_high"], color=_dark(SHADES[outcome]), linewidth=width, alpha=alpha)
            ax.plot(part["estimate"], y, "o", color=_dark(SHADES[outcome]), markersize=2.5)
        ax.set(title=outcome, ylim=(len(names) - 0.4, -0.6), yticks=[])
        ax.xaxis.set_major_formatter(lambda v, _: f"{100 * v:.0f}")
        ax.set_xlabel("%")
        ax.grid(axis="x")
        ax.spines["left"].set_visible(False)
    legend_of(
        fig, [handle(INTERVALS[k][0], "#555555", "", linewidth=INTERVALS[k][1], alpha=INTERVALS[k][2]) for k in kinds]
    )
    return fig


def _dark(color: str) -> str:
    """A shade that can be seen as a thin line."""
    return {"#D9D9D9": "#7F7F7F", "#9CC3E0": "#56B4E9"}.get(color, color)
