"""The form of a figure for phones: the same axes below each other, laid out anew at a column's width."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec, GridSpecBase
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from judgebook.display.layouts import kept_ticks

#: inches: of a narrow figure, and of axes that can still be read
WIDTH, LEAST = 3.4, 1.1
#: letters of a title in an inch
_LETTERS = 12
#: points: letters that are 9 pixels high where a narrow figure fills a phone of 390 pixels
LETTERS = 6.2
#: letters in a line of the name of a row
_LONG = 18
#: `gid` of numbers above an axis that may stand a line higher where they would touch others
MAY_RISE = "may-rise"
#: of the value beside a row, which joins the row's name where there is no room, and of a heading within axes
BESIDE, HEADING = "beside", "heading"
#: inches between panels that come to stand below each other, with numbers below the upper one
_BETWEEN = 0.22


def narrow(fig: Figure, *, below: float = 0.0) -> bool:
    """Lay a figure out at WIDTH, in place, panels below each other; whether it can be read so.

    Figures of several grids of panels, and those that are narrow anyway, stay as they are. below : inches kept free at
    the bottom. Of a figure that cannot be read so, the layout is lost: save what is needed before.
    """
    from judgebook.display.style import lay_out  # which saves narrow figures

    if fig.subfigs or fig.get_figwidth() <= WIDTH:
        return False
    placed = [ax for ax in fig.axes if ax.get_visible() and ax.get_subplotspec() is not None]
    height = fig.get_figheight()
    if len({(ax.get_gridspec(), ax.get_subplotspec().colspan.start) for ax in placed}) > 1:
        if not _stackable(placed):
            return False
        placed, more = _stack(fig, placed)
        height += more
    height += 0.17 * legends_anew(fig, WIDTH)
    for text in (fig._supxlabel, fig._suptitle):
        if text is not None:
            text.set_text(fill(text.get_text(), int(WIDTH * _LETTERS)))
    for text in texts_of(fig):
        text.set_fontsize(max(text.get_fontsize(), LETTERS))
    for ax in fig.axes:
        if isinstance(ax.xaxis.get_major_locator(), MaxNLocator):
            ax.xaxis.get_major_locator().set_params(nbins=4)
        getattr(ax, "_colorbar_info", {}).update(shrink=0.9)
    _values_with_names(placed)
    _break_names(placed)

    def placed_anew() -> None:
        fig.set_size_inches(WIDTH, height)
        fig.set_layout_engine("constrained", rect=(0, below / height, 1, 1 - below / height))
        with warnings.catch_warnings():  # where there is no room, which is seen below
            warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
            lay_out(fig)

    placed_anew()
    if more := _fitted(fig):
        height += more
        placed_anew()
    if (sunk := _sunk(fig, below)) > 0:
        height, below = height + sunk, below + sunk
        placed_anew()
    return min(ax.get_position().width for ax in placed) * WIDTH >= LEAST and _readable(fig)


def legends_anew(fig: Figure, width: float, scale: float = 1.0) -> int:
    """One legend above the figure, in as many columns as fit into a width in inches, in place of those it has; by how
    many lines it is taller. scale : of its type."""
    from judgebook.display.style import legend_columns, legend_of

    handles = [h for legend in fig.legends for h in legend.legend_handles]
    if not handles:
        return 0
    before = max(-(-len(legend.get_texts()) // max(legend._ncols, 1)) for legend in fig.legends)
    longest = int(width * _LETTERS / scale) - 6  # letters, beside what is drawn
    for legend in list(fig.legends):
        for drawn, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            drawn.set_label(fill(text.get_text(), longest))  # a bar in a legend has lost its label
        legend.remove()
    legend_of(fig, handles, width=width)
    for text in fig.legends[0].get_texts():
        text.set_fontsize(text.get_fontsize() * scale)
    broken = sum(h.get_label().count("\n") for h in handles)
    return -(-len(handles) // max(legend_columns(handles, width), 1)) + broken - before


def _stackable(placed: list[Axes]) -> bool:
    """Whether each of the axes has a cell of its own, in the same grid or in grids of one column beside each other."""
    cells = [(ax.get_subplotspec().rowspan, ax.get_subplotspec().colspan) for ax in placed]
    single = all(len(rows) == len(columns) == 1 for rows, columns in cells)
    grids = {ax.get_gridspec() for ax in placed}
    return single and (len(grids) == 1 or all(grid.ncols == 1 for grid in grids))


def _stack(fig: Figure, placed: list[Axes]) -> tuple[list[Axes], float]:
    """Put the panels of a grid below each other, each with the names and numbers it shared with others; the panels, and
    by how many inches the figure grows.

    Line by line; where panels of a line have the same title, column by column, as columns are then named at their head.
    """
    lines: dict[tuple[GridSpecBase, int], list[Axes]] = {}
    columns: dict[tuple[GridSpecBase, int], list[Axes]] = {}
    for ax in placed:
        if not ax.axison and not ax.has_data() and not ax.texts:
            ax.remove()
            continue
        grid, cell = ax.get_gridspec(), ax.get_subplotspec()
        lines.setdefault((grid, cell.rowspan.start), []).append(ax)
        columns.setdefault((grid, cell.colspan.start), []).append(ax)
    inches = {ax: ax.get_position().height * fig.get_figheight() for line in lines.values() for ax in line}
    taken: dict[GridSpecBase, float] = {}
    for (part, _), line in lines.items():
        taken[part] = taken.get(part, 0.0) + max(inches[ax] for ax in line) + _BETWEEN
    before = max(taken.values())
    for line in lines.values():
        for ax in line[1:]:
            _named_like(ax.yaxis, line[0].yaxis)
    for column in columns.values():
        for ax in column[:-1]:
            _named_like(ax.xaxis, column[-1].xaxis)
    titles = [[ax.get_title(loc="left") or ax.get_title() for ax in line] for line in lines.values()]
    alike = any(len(set(line)) < len(line) for line in titles if all(line))
    stacked = [ax for part in (columns if alike else lines).values() for ax in part]
    for ax in stacked:
        ax.tick_params(labelbottom=True, labelleft=True)
    grid = GridSpec(len(stacked), 1, figure=fig, height_ratios=[inches[ax] for ax in stacked])
    for i, ax in enumerate(stacked):
        ax.set_subplotspec(grid[i])
    heads = sum(0.16 * ax.get_title(loc).count("\n") for ax in stacked for loc in ("left", "center"))
    return stacked, sum(inches.values()) + (_BETWEEN + 0.16) * len(stacked) + heads - before


def _named_like(axis: Axis, other: Axis) -> None:
    """Give an axis the names of categories that stand at another one for both."""
    names = [label.get_text() for label in other.get_ticklabels()]
    mine = any(label.get_text() for label in axis.get_ticklabels())
    if any(names) and not mine and axis.get_view_interval().tolist() == other.get_view_interval().tolist():
        first = other.get_ticklabels()[0]
        axis.set_ticks(other.get_ticklocs(), names, rotation=first.get_rotation(), ha=first.get_ha(), va=first.get_va())


def _values_with_names(placed: list[Axes]) -> None:
    """Put the values that stand beside the axes behind the names of their rows."""
    for ax in placed:
        values = {text.get_position()[1]: text for text in ax.texts if text.get_gid() == BESIDE}
        if values:
            names = [label.get_text() for label in ax.get_yticklabels()]
            told = [f"{n}: {values[y].get_text()}" for y, n in zip(ax.get_yticks(), names, strict=True)]
            ax.set_yticks(ax.get_yticks(), told)
        for text in values.values():
            text.remove()


def _break_names(placed: list[Axes]) -> None:
    """Break long names at the y axes."""
    for ax in placed:
        labels = list(_tick_labels(ax.yaxis))
        if max((len(label.get_text()) for label in labels), default=0) > _LONG and not labels[0].get_rotation():
            names = [fill(label.get_text(), _LONG, break_long_words=False) for label in ax.get_yticklabels()]
            ax.set_yticks(ax.get_yticks(), names)


def _lacking(ax: Axes) -> float:
    """The inches that rows with broken names lack."""
    boxes = sorted((label.get_window_extent() for label in _broken(ax)), key=lambda box: box.y0)
    lines = [after.y0 + after.y1 - box.y0 - box.y1 for box, after in pairwise(boxes)]
    lack = max(box.height for box in boxes) + 2 - min(lines) / 2 if lines else 0.0
    return max(0.0, 1.1 * lack * len(boxes) / ax.get_figure(root=True).dpi)


def _sunk(fig: Figure, below: float) -> float:
    """By how many inches the name of a colour bar reaches into what is kept free below."""
    bars = [ax for ax in fig.axes if hasattr(ax, "_colorbar_info")]
    return max((below + 0.02 - ax.get_tightbbox().y0 / fig.dpi for ax in bars), default=0.0)


def _heightened(lacking: dict[Axes, float]) -> None:
    """Give panels below each other the inches that they lack, each its own."""
    rows = [ax for ax in lacking if ax.get_subplotspec() is not None]
    grids = {ax.get_gridspec() for ax in rows}
    if len(grids) == 1 and len(rows) > 1 and any(lacking.values()):
        inches = {ax.get_subplotspec().rowspan.start: _inches(ax) + lacking[ax] for ax in rows}
        grid = grids.pop()
        grid.set_height_ratios([inches.get(i, 0.01) for i in range(grid.nrows)])


def _inches(ax: Axes) -> float:
    return ax.get_position().height * ax.get_figure(root=True).get_figheight()


def _broken(ax: Axes) -> list[Text]:
    labels = list(_tick_labels(ax.yaxis)) if ax.axison else []
    return labels if any("\n" in label.get_text() for label in labels) and not labels[0].get_rotation() else []


def _fitted(fig: Figure) -> float:
    """Break titles of panels and axes to the room they have, and raise what may rise; the inches that takes."""
    lacking = {ax: _lacking(ax) for ax in fig.axes}
    more = 0.12 * _raised(fig) + sum(lacking.values())
    _heightened(lacking)
    for ax in fig.axes:
        more += 0.0 if isinstance(ax.xaxis.get_major_locator(), MaxNLocator) else _turned(ax)
        box = ax.get_position()
        middle = (box.x0 + box.x1) / 2
        room = {ax._left_title: 1 - box.x0, ax.title: 1 - box.x0, ax.xaxis.label: 2 * min(middle, 1 - middle)}
        room |= {text: box.width for text in ax.texts if text.get_gid() == HEADING}
        for text, share in room.items():
            letters = max(int(share * WIDTH * _LETTERS), 12)
            broken = "\n".join(fill(line, letters) for line in text.get_text().splitlines())
            more += 0.14 * max(broken.count("\n") - text.get_text().count("\n"), 0)
            text.set_text(broken)
    return more


def _raised(fig: Figure) -> bool:
    """Lift those of the texts that may rise which touch the next one to the right; whether any did."""
    renderer = fig.canvas.get_renderer()
    texts = [text for text in texts_of(fig) if text.get_gid() == MAY_RISE]
    boxes = sorted(((text.get_window_extent(renderer), text) for text in texts), key=lambda pair: pair[0].x0)
    touching = [a for (box, a), (after, b) in pairwise(boxes) if a.axes is b.axes and box.x1 > after.x0 - 2]
    for text in touching:
        text.set_transform(text.get_transform() + ScaledTranslation(0, 9 / 72, fig.dpi_scale_trans))
    return bool(touching)


def _turned(ax: Axes) -> float:
    """Turn the names below an axis where they touch; the inches that takes."""
    labels = list(_tick_labels(ax.xaxis)) if ax.axison else []
    if len(labels) < 2 or labels[0].get_rotation() == 90:
        return 0.0
    boxes = [label.get_window_extent() for label in labels]
    if all(box.x1 < after.x0 for box, after in pairwise(boxes)):  # slanted names would touch where columns are narrow
        return 0.0
    names = [label.get_text().replace("\n", " ") for label in labels]
    if len(names) == len(ax.get_xticks()):
        ax.set_xticks(ax.get_xticks(), names, rotation=90, ha="center", va="top", rotation_mode="default")
    return 0.065 * max(map(len, names))


def _readable(fig: Figure) -> bool:
    """Whether no text is cut and no two overlap."""
    with kept_ticks():
        fig.draw_without_rendering()  # places the texts of legends
    renderer = fig.canvas.get_renderer()
    boxes = np.array([text.get_window_extent(renderer).extents for text in dict.fromkeys(texts_of(fig))])
    if not len(boxes):
        return True
    low, high = boxes[:, :2] + 1, boxes[:, 2:] - 1  # a pixel may be shared
    inside = (low >= 0).all() and (high <= fig.bbox.extents[2:]).all()
    overlap = (np.maximum(low[:, None], low[None]) < np.minimum(high[:, None], high[None])).all(axis=2)
    return bool(inside and not (overlap & ~np.eye(len(boxes), dtype=bool)).any())


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
