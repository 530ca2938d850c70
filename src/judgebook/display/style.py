"""The style of all figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from judgebook.display import marks
from judgebook.display.names import COLORS, DisplayNames

COLUMN, PAGE = 3.4, 7.0  # inches: a column and the full width of a two-column page
INK = "#222222"
#: columns by which pages choose panels
FACETS = ("method", "label", "group", "corpus")
#: dots per inch at which legends are measured: at 100, letters are narrower than at any other
LEGEND_DPI = 120
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.labelcolor": ".15",
    "text.color": ".15",
    "legend.title_fontsize": 9.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.8,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 4.8,
    "ytick.major.size": 4.8,
    "xtick.minor.size": 3.2,
    "ytick.minor.size": 3.2,
    "xtick.minor.width": 0.8,
    "ytick.minor.width": 0.8,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "axes.prop_cycle": mpl.cycler(color=COLORS),
    "figure.constrained_layout.use": False,  # but where asked for: see `lay_out`
    # a $ in a label's title or a system's name is a dollar: what data say is never read as mathematics
    "text.parse_math": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "helpers",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def set_style() -> None:
    """Use the project's style for every figure made from here on, whatever the user's own settings say."""
    mpl.rcdefaults()
    mpl.rcParams.update(STYLE)


set_style()  # entries of a legend are often made before the first figure: they would have another style than later ones


def subplots(rows: int = 1, cols: int = 1, *, width: float = PAGE, height: float = 3.0, **kwargs: Any) -> tuple:
    """`plt.subplots` in the project's style; `width` and `height` in inches."""
    set_style()
    return plt.subplots(rows, cols, figsize=(width, height), layout="constrained", **kwargs)


def tips(
    ax: Axes,
    texts: Iterable[str],
    x: Iterable[float],
    y: Iterable[float],
    *,
    x_to: Iterable[float] | None = None,
    y_to: Iterable[float] | None = None,
    of: Iterable[str] = (),
) -> None:
    """Texts that the SVG tells where a pointer rests on a mark, e.g. "Blender2, Quality: 3.42 [3.21, 3.63], n = 100".

    texts, x, y : one of each for a mark, in data coordinates. x_to, y_to : the opposite corner where a mark is a bar, a
    cell or an interval. Marks that are missing or outside of the axes have none. of : display name of whose mark each
    is; a page shows all of one system together, in all panels, and finds the names on axes and in legends.
    """
    x, y = (np.asarray(list(v), float) for v in (x, y))
    x_to, y_to = (v if to is None else np.asarray(list(to), float) for v, to in ((x, x_to), (y, y_to)))
    marks.remember(ax, texts, np.stack([x, y], 1), np.stack([x_to, y_to], 1), of)


def panel(ax: Axes, rows: pd.DataFrame, names: DisplayNames) -> None:
    """Note which method, label, group and run a panel is about, by which a page chooses panels; nothing that differs
    within it. rows : what it shows, with any of method, label, group and corpus."""
    values = {column: set(rows[column].dropna()) for column in FACETS if column in rows}
    one = {column: next(iter(found)) for column, found in values.items() if len(found) == 1}
    if "label" in one and "method" not in one:
        del one["label"]
    marks.about(ax, {kind.capitalize(): names.name(kind, v, one.get("method")) for kind, v in one.items()})


def log_axis(ax: Axes) -> None:
    """A logarithmic x axis with plain numbers: texts are not parsed as formulas, which 2 × 10¹ is."""
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))


def handle(name: str, color: str, marker: str, linewidth: float = 1.6, **kwargs: Any) -> mpl.lines.Line2D:
    """An entry of a legend: a line with a marker."""
    return mpl.lines.Line2D(
        [], [], color=color, marker=marker, markersize=4.5, linewidth=linewidth, label=name, **kwargs
    )


def legend_of(fig: Figure, handles: list) -> None:
    """One legend above the whole figure."""
    if handles:
        columns = legend_columns(handles, fig.get_figwidth())
        fig.legend(handles=handles, loc="outside upper left", ncols=columns)


def legend_columns(handles: Sequence[mpl.lines.Line2D], width: float) -> int:
    """As many columns of a legend, at most five, as fit into a width in inches."""
    texts, one, more = _legend_sizes(tuple(h.get_label() for h in handles))
    for columns in range(min(len(texts), 5), 1, -1):
        across = one + more * (columns - 1) + sum(part.max() for part in np.array_split(texts, columns))
        if across <= (width - 0.15) * LEGEND_DPI:  # space on both sides
            return columns
    return 1


@lru_cache(256)  # each figure asks up to five times, and others have the same legend
def _legend_sizes(labels: tuple[str, ...]) -> tuple[np.ndarray, float, float]:
    """Pixels of a legend's texts, of the rest of its first column, and of that of each further one."""
    set_style()
    trial = Figure(figsize=(PAGE, 1), dpi=LEGEND_DPI)
    made = trial.legend(handles=[mpl.lines.Line2D([], [], label=label) for label in labels])
    size = made.prop.get_size_in_points() * trial.dpi / 72
    texts = np.array([text.get_window_extent().width for text in made.get_texts()])
    one = made.get_window_extent().width - texts.max()
    return texts, one, (made.columnspacing + made.handlelength + made.handletextpad) * size


def legend(fig: Figure, names: DisplayNames, kind: str, keys: Sequence[str]) -> None:
    """One legend above the whole figure for groups, systems or methods."""
    legend_of(fig, [handle(names.name(kind, k), names.color(kind, k), names.marker(kind, k)) for k in keys])
