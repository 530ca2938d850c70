"""Small multiples of lines with intervals."""

from __future__ import annotations

from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from judgebook.display.grid_plots import hue_styles
from judgebook.display.names import DisplayNames
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import told

DASHED = (0, (2, 1.5))


def line_panels(
    rows: pd.DataFrame,
    names: DisplayNames,
    xlabel: str,
    ylabel: str,
    reference: tuple[float, str] | None,
    *,
    sharey: bool = True,
) -> Figure:
    """Estimates over `x`, with intervals where there are any: a panel for each `panel`, a line for each `hue`.

    rows : also `x`, and display names as panel and hue. reference : where a dashed line is drawn, and what it is.
    """
    panels, hues = (list(rows[c].unique()) for c in ("panel", "hue"))
    n = min(len(panels), 4 if len(panels) > 6 or len(panels) == 4 else 3)
    lines = -(-len(panels) // n)
    size = {"width": min(PAGE, 4.4 + 2.1 * (n - 1)), "height": 1.9 * lines + 0.5}
    fig, axes = subplots(lines, n, squeeze=False, sharex=True, sharey=sharey, **size)
    ends = np.clip([rows["estimate"] - rows["ci_low"], rows["ci_high"] - rows["estimate"]], 0, None)
    rows = rows.assign(below=ends[0], above=ends[1], x=rows["x"].astype(float)).sort_values("x", kind="stable")
    styles = hue_styles(hues, names)
    for (panel, hue), part in rows.groupby(["panel", "hue"], sort=False):
        ax, (color, marker) = axes.flat[panels.index(panel)], styles[hue]
        style = {"color": color, "marker": marker, "markersize": 3.5, "linewidth": 1.3}
        shift = 0.09 * (hues.index(hue) - (len(hues) - 1) / 2) if part["below"].notna().any() else 0
        ax.errorbar(part["x"] + shift, part["estimate"], part[["below", "above"]].T, elinewidth=0.9, **style)
        who = ", ".join(str(p) for p in (panel, hue) if p)
        tooltips = [told(f"{who}, {xlabel.lower()} {row['x']:g}", row) for row in part.to_dict("records")]
        tips(ax, tooltips, part["x"] + shift, part["estimate"])
    for ax, panel in zip(axes.flat, panels, strict=False):
        ax.set_title(fill(panel, int(size["width"] / n / 0.1)))
        ax.set_xlabel(xlabel)
        ax.tick_params(labelbottom=True)
        ax.grid(axis="y")
        if reference:
            ax.axhline(reference[0], color=INK, linewidth=0.8, linestyle=DASHED)
    for ax in axes.flat[len(panels) :]:
        ax.axis("off")
    for ax in axes[:, 0] if sharey else axes.flat[: len(panels)]:
        ax.set_ylabel(ylabel)
    keys = [handle(hue, *styles[hue]) for hue in hues] if len(hues) > 1 else []
    legend_of(fig, [*keys, *([dashed(reference[1])] if reference else [])])
    return fig


def dashed(name: str) -> Line2D:
    """The entry of a legend for a dashed line."""
    return handle(name, INK, "", linewidth=0.8, linestyle=DASHED)
