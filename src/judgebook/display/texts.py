"""The texts of a figure."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text


def texts_of(fig: Figure) -> Iterator[Text]:
    """All texts that a figure draws."""
    shared = (fig._suptitle, fig._supxlabel, fig._supylabel)
    texts = [*fig.texts, *(t for t in shared if t), *(t for legend in fig.legends for t in legend.get_texts())]
    for ax in (part for axes in fig.axes for part in (axes, *axes.child_axes)):
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
            yield from (label for label in (tick.label1, tick.label2) if label.get_visible() and label.get_text())
