"""The answers of a study as one picture, for a message: 1,200 pixels wide, as high as the text needs."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import matplotlib.image as mpl_image
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from judgebook.display.saving import drawing
from judgebook.display.style import INK, set_style

#: inches, and pixels to an inch: 1,200 across
WIDTH, DPI = 8.0, 150
MARGIN, FIGURE = 0.35, 5.6
_GREY, _WARN, _WARN_PAPER = "#59636E", "#7A3E00", "#FFF3E0"
#: mean width of a character in parts of the size of type, by weight
_CHARACTER = {"normal": 0.585, "bold": 0.66}


@dataclass(frozen=True)
class _Line:
    """size : of type in points. after : what stands below it, in lines."""

    text: str
    size: float
    weight: str = "normal"
    color: str = INK
    after: float = 0.0
    box: bool = False

    @property
    def height(self) -> float:
        """Inches."""
        return self.size * (1.35 + self.after) / 72


def picture(
    title: str,
    whom: str,
    before: Sequence[str],
    answers: Sequence[tuple[str, str, str]],
    figure: bytes,
    foot: str,
    *,
    simulated: bool,
) -> bytes:
    """A PNG. whom : for whom the answers hold. before : what to know before them. answers : question, verdict and the
    rest of the answer. All is plain text. figure : of the first answer, a PNG; empty where there is none."""
    drawn = mpl_image.imread(io.BytesIO(figure), format="png") if figure else None
    high = FIGURE * drawn.shape[0] / drawn.shape[1] if drawn is not None else 0.0
    head = [*_head(title, whom, simulated=simulated), *_warned(before)]
    above = [*head, *_answer(*answers[0])]
    below = [line for answer in answers[1:] for line in _answer(*answer)] + list(_set(foot, 7.5, color=_GREY))
    height = sum(line.height for line in (*above, *below)) + high + 2 * MARGIN + 0.15
    set_style()
    fig = plt.figure(figsize=(WIDTH, height), facecolor="white")
    y = _write(fig, above, height - MARGIN)
    if drawn is not None:
        ax = fig.add_axes((MARGIN / WIDTH, (y - high) / height, FIGURE / WIDTH, high / height))
        ax.imshow(drawn, aspect="auto")
        ax.axis("off")
    _write(fig, below, y - high - 0.15)
    alt = " ".join([title, whom, *before, *(part for answer in answers for part in answer)])
    return drawing(fig, "png", name="summary", alt=alt, simulated=False, dpi=DPI)


def _head(title: str, whom: str, *, simulated: bool) -> Iterator[_Line]:
    if simulated:
        warning = "Simulated data: nothing here is about real people or systems."
        yield _Line(warning, 9.5, "bold", _WARN, 0.9, box=True)
    yield from _set(title, 14, "bold", after=0.35)
    yield from _set(whom, 9, color=_GREY, after=0.7)


def _warned(before: Sequence[str]) -> Iterator[_Line]:
    for i, line in enumerate(before):
        yield from _set(line, 9, color=_WARN, after=0.7 if i == len(before) - 1 else 0.15)


def _answer(question: str, verdict: str, rest: str) -> Iterator[_Line]:
    yield from _set(question, 9, color=_GREY)
    yield from _set(verdict, 10, "bold", after=0 if rest else 0.7)
    yield from _set(rest, 9.5, after=0.7)


def _set(text: str, size: float, weight: str = "normal", *, color: str = INK, after: float = 0.0) -> Iterator[_Line]:
    """Text in lines of the picture's width."""
    width = int((WIDTH - 2 * MARGIN) * 72 / (_CHARACTER[weight] * size))
    lines = [line for part in text.splitlines() for line in wrap(part, width)]
    for i, line in enumerate(lines):
        yield _Line(line, size, weight, color, after if i == len(lines) - 1 else 0.0)


def _write(fig: Figure, lines: Sequence[_Line], y: float) -> float:
    """Write lines downwards from `y` inches above the lower edge; returns where the next one would stand."""
    high = fig.get_figheight()
    for line in lines:
        box: dict[str, Any] = {"facecolor": _WARN_PAPER, "edgecolor": _WARN, "boxstyle": "square,pad=0.4"}
        place = {"x": (MARGIN + 0.06 * line.box) / WIDTH, "y": (y - 0.05 * line.box) / high, "va": "top"}
        style = {"fontsize": line.size, "fontweight": line.weight, "color": line.color}
        fig.text(s=line.text, **place, **style, parse_math=False, bbox=box if line.box else None)
        y -= line.height
    return y
