"""What marks of a figure tell of themselves: invisible rectangles over them, with a text, and a number for whose it is.

Rectangles of their own, since a backend leaves out or merges marks as it likes, and a point is hard to hit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text

from judgebook.study import escape


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


#: what a pointer must hit to be told a value, in points: small marks get a larger place
TARGET = 7.0
#: points to the left of a name in a legend in which its mark is
_KEY = 22.0


@dataclass(frozen=True)
class _Marks:
    """Marks of one kind in `ax`, which is not held: it would hold its figure, for good. near, far : opposite corners,
    (n, 2). whose : a name for each, or none at all."""

    ax: ReferenceType[Axes]
    texts: list[str]
    near: np.ndarray
    far: np.ndarray
    whose: list[str]


_TOLD: WeakKeyDictionary[Figure, list[_Marks]] = WeakKeyDictionary()
#: axes -> what they are about, heading of a table's column -> value
_ABOUT: WeakKeyDictionary[Axes, dict[str, str]] = WeakKeyDictionary()
#: classes of a panel and of the names at its left, which may be those of its neighbours, too
PANEL, NAMES = "panel", "names"


def remember(ax: Axes, texts: Iterable[str], near: np.ndarray, far: np.ndarray, of: Iterable[str]) -> None:
    """What `style.tips` is told, until the figure is saved."""
    figure = ax.get_figure(root=True)
    _TOLD.setdefault(figure, []).append(_Marks(ref(ax), list(texts), near, far, list(of)))


def about(ax: Axes, of: Mapping[str, str]) -> None:
    """What `style.panel` is told of axes."""
    _ABOUT[ax] = dict(of)


def marked_panels(fig: Figure) -> None:
    """Make the panels of a figure recognisable in the SVG that is about to be written."""
    for i, ax in enumerate(ax for ax in fig.axes if ax in _ABOUT):
        ax.set_gid(f"{PANEL}-{i}")
        ax.yaxis.set_gid(f"{NAMES}-{i}")


def _with_panels(fig: Figure, text: str) -> str:
    """An SVG whose panels say what they are about."""
    panels = [_ABOUT[ax] for ax in fig.axes if ax in _ABOUT]
    for i, of in enumerate(panels):
        said = "".join(f' data-{heading.lower()}="{escape.html(value)}"' for heading, value in of.items())
        text = text.replace(f' id="{PANEL}-{i}"', f' class="{PANEL}"{said}')
        text = text.replace(f' id="{NAMES}-{i}"', f' class="{NAMES}"')
    return text


def with_tips(fig: Figure, svg: bytes, named: list[str]) -> bytes:
    """The SVG with a titled, invisible rectangle over each mark that `style.tips` was told of, and without ids that
    nobody refers to.

    Whose marks have a class of their own, a number: names come from data. Names on axes and in legends have it, too,
    and the axes that such marks are in are framed. named : as `names` has it.
    """
    text = _with_panels(fig, svg.decode("utf-8"))
    used = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", text))
    used = {name for pair in used for name in pair if name}
    text = re.sub(r' id="([^"]+)"', lambda m: m[0] if m[1] in used else "", text)
    tips = _told(fig)
    numbers = _numbers(tips)
    boxes = [box for marks in tips for box in _boxes(fig, marks, numbers)]
    if boxes:
        more = [*_frames(fig, tips), *named] if len(numbers) > 1 else []
        group = '<g class="tips" fill="none" stroke="none" pointer-events="all">\n'
        text = text.replace("</svg>", group + "\n".join([*more, *boxes]) + "\n</g>\n</svg>")
    return text.encode("utf-8")


def _told(fig: Figure) -> list[_Marks]:
    return [marks for marks in _TOLD.get(fig, ()) if marks.ax()]


def _numbers(tips: list[_Marks]) -> dict[str, int]:
    """Whose marks there are, each with a number."""
    return {name: i for i, name in enumerate(dict.fromkeys(name for marks in tips for name in marks.whose))}


def _boxes(fig: Figure, marks: _Marks, numbers: dict[str, int]) -> Iterator[str]:
    points, ax = 72 / fig.dpi, marks.ax()
    if ax is None:
        return
    frame = ax.bbox.extents * points
    with np.errstate(invalid="ignore"):
        ends = np.stack([ax.transData.transform(corner) * points for corner in (marks.near, marks.far)])
    low, high = ends.min(axis=0), ends.max(axis=0)
    inside = (high >= frame[:2] - 1).all(axis=1) & (low <= frame[2:] + 1).all(axis=1)
    low, high = np.clip(low, frame[:2], frame[2:]), np.clip(high, frame[:2], frame[2:])
    short = np.clip(TARGET - (high - low), 0, None) / 2
    low, high = low - short, high + short
    for i in np.flatnonzero(inside):
        kind = f"s{numbers[marks.whose[i]]}" if marks.whose and len(numbers) > 1 else ""
        yield _rect(fig, np.concatenate([low[i], high[i]]), kind, marks.texts[i])


def _frames(fig: Figure, tips: list[_Marks]) -> Iterator[str]:
    """The axes in which marks are somebody's."""
    for ax in dict.fromkeys(marks.ax() for marks in tips if marks.whose):
        if ax is not None:
            yield _rect(fig, ax.bbox.extents * 72 / fig.dpi, "frame")


def names(fig: Figure) -> list[str]:
    """The names of those whose marks there are, on axes and, with their mark, in legends: a rectangle each.

    For a figure that was last drawn at its own resolution: an SVG is drawn at another, with texts at other pixels.
    """
    numbers = _numbers(_told(fig))
    out: list[str] = []
    if len(numbers) < 2:
        return out
    renderer = fig.canvas.get_renderer()
    legends = {text for legend in fig.legends for text in legend.get_texts()}
    for text in texts_of(fig):
        name = " ".join(text.get_text().split())
        if name in numbers:
            box = text.get_window_extent(renderer).extents * 72 / fig.dpi
            box[0] -= _KEY if text in legends else 0
            out.append(_rect(fig, box, f"s{numbers[name]}", name))
    return out


def _rect(fig: Figure, box: np.ndarray, kind: str, title: str = "") -> str:
    """A rectangle; box : left, bottom, right and top in points from the lower left corner."""
    left, bottom, right, top = box
    y = 72 * fig.get_figheight() - top
    place = f'x="{left:.1f}" y="{y:.1f}" width="{right - left:.1f}" height="{top - bottom:.1f}"'
    about = f' class="{kind}"' if kind else ""
    return f"<rect{about} {place}><title>{escape.html(title)}</title></rect>" if title else f"<rect{about} {place}/>"
