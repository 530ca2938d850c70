"""How a table goes onto a printed sheet: in which type, and on which side of it, all of its columns fit.

The page of a printed report is as wide as A4 and Letter allow. A column needs the width of its widest cell or, where
cells may break, of its longest word: a browser breaks them at spaces and after hyphens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgebook.report.prose import words

#: points between the margins: the narrower of A4 and Letter, upright and lying
UPRIGHT, LYING = 520.0, 715.0
#: sizes of type in points: the usual one, the smallest upright, the smallest of all
USUAL, SMALL, SMALLEST = 8.5, 6.5, 4.5
#: in parts of the size of type: a character of a cell and of a heading in DejaVu Sans, a wide face, and what is left
#: between two columns
_CHARACTER, _BOLD, _GAP = 0.64, 0.72, 0.8


@dataclass(frozen=True)
class Fit:
    """size : of type in points. whole : cells do not break. lying : on a sheet turned by 90°. broken : words break, as
    nothing else would fit."""

    size: float
    whole: bool = False
    lying: bool = False
    broken: bool = False

    @property
    def classes(self) -> str:
        return " ".join(name for name in ("whole", "lying", "broken") if getattr(self, name))


def fit(table: str) -> Fit:
    """How a table, given as clean HTML, fits on a page."""
    whole, broken = _needed(table)
    if (size := UPRIGHT / whole) >= SMALL:
        return Fit(_down(size), whole=True)
    if (size := UPRIGHT / broken) >= SMALL:
        return Fit(_down(size))
    if (size := LYING / whole) >= SMALL:
        return Fit(_down(size), whole=True, lying=True)
    size = LYING / broken
    return Fit(max(SMALLEST, _down(size)), lying=True, broken=size < SMALLEST)


def _needed(table: str) -> tuple[float, float]:
    """Width of a table in parts of the size of type: as on the screen, and with cells that break."""
    wholes: dict[int, float] = {}
    breaks: dict[int, float] = {}
    for row in table.split("<tr")[1:]:
        for i, cell in enumerate(re.findall(r"<t[dh][ >].*?</t[dh]>", row, re.DOTALL)):
            text = words(cell)
            character = _BOLD if cell.startswith("<th") else _CHARACTER
            longest = character * max(map(len, re.split(r"[\s-]", text))) + _GAP
            whole = character * len(text) + _GAP if "nowrap" in cell.partition(">")[0] else longest
            breaks[i], wholes[i] = max(breaks.get(i, 1), longest), max(wholes.get(i, 1), whole)
    return sum(wholes.values()) or 1, sum(breaks.values()) or 1


def _down(size: float) -> float:
    return min(USUAL, int(10 * size) / 10)
