"""The texts of a figure, and a legend set anew."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text

#: letters in an inch
LETTERS = 12


def legends_anew(fig: Figure, width: float, scale: float = 1.0) -> int:
    """One legend above the figure, in as many columns as fit into a width in inches, in place of those it has; by how
    many lines it is taller. scale : of its type."""
    from judgebook.display.style import legend_columns, legend_of

    handles = [h for legend in fig.legends for h in legend.legend_handles]
    if not handles:
        return 0
    before = max(-(-len(legend.get_texts()) // max(legend._ncols, 1)) for legend in fig.legends)
    longest = int(width * LETTERS / scale) - 6  # letters, beside what is drawn
    for legend in list(fig.legends):
        for drawn, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            drawn.set_label(fill(text.get_text(), longest))  # a bar in a legend has lost its label
        legend.remove()
    legend_of(fig, handles, width=width)
    for text in fig.legends[0].get_texts():
        text.set_fontsize(text.get_fontsize() * scale)
    broken = sum(h.get_label().count("\n") for h in handles)
    return -(-len(handles) // max(legend_columns(handles, width), 1)) + broken - before


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
