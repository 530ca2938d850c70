"""How a table goes onto paper: in which type and on which side of the sheet all of its columns fit.

The page of a printed report is as wide as A4 and Letter allow. A browser breaks cells at spaces and after hyphens, so a
column needs the width of its longest word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from helpers.report.prose import words

#: points between the margins: the narrower of A4 and Letter, upright and lying
UPRIGHT, LYING = 520.0, 715.0
#: sizes of type in points: the usual one, the smallest upright, the smallest of all
USUAL, SMALL, SMALLEST = 8.5, 6.5, 4.5
#: a character, and what is left between two columns, in parts of the size of type; DejaVu Sans, a wide face, bold
_CHARACTER, _GAP = 0.72, 0.8


@dataclass(frozen=True)
class Fit:
    """size : of type in points. lying : on a sheet turned by 90°. broken : words break, as nothing else would fit."""

    size: float
    lying: bool = False
    broken: bool = False


def fit(table: str) -> Fit:
    """How a table, given as clean HTML, fits on a page."""
    rows = [re.findall(r"<t[dh][ >].*?</t[dh]>", row, re.DOTALL) for row in table.split("<tr")[1:]]
    longest: dict[int, int] = {}
    for row in rows:
        for i, cell in enumerate(row):
            parts = re.split(r"[\s-]", words(cell))
            longest[i] = max(longest.get(i, 1), *map(len, parts))
    needed = sum(_CHARACTER * n + _GAP for n in longest.values()) or 1.0
    if (upright := UPRIGHT / needed) >= SMALL:
        return Fit(min(USUAL, _down(upright)))
    lying = LYING / needed
    return Fit(max(SMALLEST, min(USUAL, _down(lying))), lying=True, broken=lying < SMALLEST)


def _down(size: float) -> float:
    return int(10 * size) / 10
