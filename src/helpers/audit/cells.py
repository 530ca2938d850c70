"""Printed numbers with names, and patterns that select them.

A cell is named `element/panel/row/column`, e.g. `Table 3/free_run_1/a/overall`; a cell of another paper has the paper
and a colon before it. A pattern is such a name in which a part may be `*` (any), `a|b` (one of), `!a|b` (none of), and
may hold `{panel}`, `{row}`, `{column}`, `{element}`, which are filled in from another cell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import pandas as pd

from helpers.audit.ranges import Range, exactly, printed
from helpers.published import fits

PARTS = ("element", "panel", "row", "column")


@dataclass(frozen=True)
class Cell:
    """A printed number. text : as printed. decimals : printed, or dropped zeros added. exact : it was not rounded."""

    paper: str
    element: str
    panel: str
    row: str
    column: str
    text: str
    decimals: int
    exact: bool
    unit: str

    @cached_property
    def name(self) -> str:
        return "/".join((self.element, self.panel, self.row, self.column))

    @cached_property
    def id(self) -> str:
        return f"{self.paper}:{self.name}"

    @cached_property
    def range(self) -> Range:
        return exactly(self.text) if self.exact else printed(self.text, self.decimals)

    @cached_property
    def rounded(self) -> Range:
        """The range also where the unit says that such numbers are not rounded."""
        return printed(self.text, self.decimals)

    def fill(self, pattern: str) -> str:
        """The pattern with `{panel}` and the like replaced by this cell's."""
        for part in PARTS:
            pattern = pattern.replace(f"{{{part}}}", getattr(self, part))
        return pattern


class Printed:
    """The printed numbers of all papers.

    frame : columns of `published.load()`, in the order of print. exact : units whose numbers are never rounded.
    zeros_dropped : (paper, element) where trailing zeros are left out in print, so that a row has the decimals of its
    longest number.
    """

    def __init__(
        self, frame: pd.DataFrame, exact: Collection[str] = (), zeros_dropped: Collection[tuple[str, str]] = ()
    ):
        longest = frame.groupby(["paper", "element", "row"])["decimals"].transform("max")
        dropped = [pair in set(zeros_dropped) for pair in zip(frame["paper"], frame["element"], strict=True)]
        frame = frame.assign(decimals=longest.where(dropped, frame["decimals"]))
        columns = ["paper", *PARTS, "printed", "decimals", "unit"]
        self.cells = [
            Cell(*map(str, row[:6]), decimals=int(row[6]), exact=row[7] in exact, unit=row[7])
            for row in frame[columns].itertuples(index=False)
        ]
        self._by_element: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            self._by_element.setdefault((cell.paper, cell.element), []).append(cell)
        self.select = lru_cache(maxsize=None)(self._select)

    def _select(self, pattern: str, paper: str) -> tuple[Cell, ...]:
        """Cells that a pattern names, in the order of print; `paper` is meant where the pattern names none.

        Raises ValueError where the pattern has not four parts or nothing fits.
        """
        owner, _, name = pattern.rpartition(":")
        parts = name.split("/")
        if len(parts) != len(PARTS):
            raise ValueError(f"{pattern!r}: expected element/panel/row/column, found {len(parts)} parts")
        paper = owner or paper
        elements = [e for p, e in self._by_element if p == paper and fits(parts[0], e)]
        found = [
            cell
            for element in elements
            for cell in self._by_element[paper, element]
            if all(fits(part, getattr(cell, p)) for part, p in zip(parts[1:], PARTS[1:], strict=True))
        ]
        if not found:
            raise ValueError(f"{pattern!r}: {paper} prints no such number")
        return tuple(found)


def ids(cells: Iterable[Cell]) -> str:
    """Names of cells for a column of a frame, each once."""
    return "; ".join(dict.fromkeys(c.id for c in cells))
