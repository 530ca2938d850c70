"""The form of a figure for phones: the same axes below each other, laid out anew at a column's width."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

#: inches: of a narrow figure, and of axes that can still be read
WIDTH, LEAST = 3.4, 1.2
#: letters of a title in an inch
_LETTERS = 12


def narrow(fig: Figure, *, below: float = 0.0) -> bool:
    """Lay a figure out at WIDTH, in place; whether it can be read so.

    Figures with axes beside each other, and those that are narrow anyway, stay as they are. below : inches kept free
    at the bottom. Of a figure that cannot be read so, the layout is lost: save what is needed before.
    """
    from judgebook.display.style import lay_out, legend_columns, legend_of  # which saves narrow figures

    placed = [ax for ax in fig.axes if ax.get_visible() and ax.get_subplotspec() is not None]
    columns = {ax.get_subplotspec().colspan.start for ax in placed}
    if len(columns) != 1 or fig.get_figwidth() < 1.2 * WIDTH:
        return False
    handles = [h for legend in fig.legends for h in legend.legend_handles]
    before = -(-len(handles) // max(legend_columns(handles, fig.get_figwidth()), 1)) if handles else 0
    for legend in list(fig.legends):
        for drawn, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            drawn.set_label(text.get_text())  # which a bar in a legend has lost
        legend.remove()
    legend_of(fig, handles, width=WIDTH)
    after = -(-len(handles) // max(legend_columns(handles, WIDTH), 1)) if handles else 0
    height = fig.get_figheight() + 0.17 * (after - before)
    fig.set_size_inches(WIDTH, height)
    shared = (fig._supxlabel, fig._suptitle)
    for text in (*shared, *(t for ax in placed for t in (ax.title, ax._left_title, ax.xaxis.label))):
        if text is not None:
            text.set_text(fill(text.get_text(), int(WIDTH * _LETTERS)))
    for ax in placed:
        if isinstance(ax.xaxis.get_major_locator(), MaxNLocator):
            ax.xaxis.get_major_locator().set_params(nbins=4)
    fig.set_layout_engine("constrained", rect=(0, below / height, 1, 1 - below / height))
    lay_out(fig)
    return min(ax.get_position().width for ax in placed) * WIDTH >= LEAST and _readable(fig)


def _readable(fig: Figure) -> bool:
    """Whether no text is cut and no two overlap."""
    fig.draw_without_rendering()  # places the texts of legends
    renderer = fig.canvas.get_renderer()
    boxes = np.array([text.get_window_extent(renderer).extents for text in dict.fromkeys(_texts(fig))])
    if not len(boxes):
        return True
    low, high = boxes[:, :2] + 1, boxes[:, 2:] - 1  # a pixel may be shared
    inside = (low >= 0).all() and (high <= fig.bbox.extents[2:]).all()
    overlap = (np.maximum(low[:, None], low[None]) < np.minimum(high[:, None], high[None])).all(axis=2)
    return bool(inside and not (overlap & ~np.eye(len(boxes), dtype=bool)).any())


def _texts(fig: Figure) -> Iterator[Text]:
    shared = (fig._suptitle, fig._supxlabel, fig._supylabel)
    texts = [*fig.texts, *(t for t in shared if t), *(t for legend in fig.legends for t in legend.get_texts())]
    for ax in fig.axes:
        if ax.get_visible():
            texts += [*ax.texts, ax.title, ax._left_title, ax._right_title]
            if ax.axison:
                for axis in (ax.xaxis, ax.yaxis):
                    texts += [axis.label, *_tick_labels(axis)]
    yield from (t for t in texts if t.get_visible() and t.get_text().strip())


def _tick_labels(axis: Axis) -> Iterator[Text]:
    """Labels of the ticks that are drawn: those within the axis' limits."""
    if axis.get_visible():
        for tick in axis._update_ticks():
            yield from (tick.label1, tick.label2)
