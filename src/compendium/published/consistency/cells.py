"""Printed numbers as cells with names, and patterns that select them.

A cell is named `element/panel/row/column`, e.g. `Table 3/free_run_1/a/overall`; a cell of another paper has the paper
and a colon before it. A pattern is such a name in which a part may be `*` (any), `a|b` (one of), `!a|b` (none of), and
may hold `{panel}`, `{row}`, `{column}`, `{element}`, which are filled in from another cell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import pandas as pd

from compendium.published.consistency.ranges import Range, exactly, printed
from compendium.published.mapping import title
from compendium.published.numbers import PLACE, fits, parts_of


@dataclass(frozen=True)
class PrintedNumber:
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

    @property
    def place(self) -> dict[str, str]:
        """Paper and place, as the columns of frames name them."""
        return {part: getattr(self, part) for part in ("paper", *PLACE)}

    def fill(self, pattern: str) -> str:
        """The pattern with `{panel}` and the like replaced by this cell's."""
        for part in PLACE:
            pattern = pattern.replace(f"{{{part}}}", getattr(self, part))
        return pattern

    def said(self, part: str) -> str:
        """Its panel, row or column as readers know it."""
        return title(self.paper, getattr(self, part))

    def tell(self, sentence: str) -> str:
        """The sentence with `{panel}` and the like replaced by what readers know them as."""
        for part in PLACE:
            sentence = sentence.replace(f"{{{part}}}", self.element if part == "element" else self.said(part))
        return sentence

    @property
    def words(self) -> str:
        """Its place in words: `Table 3, First run, Overall`."""
        return ", ".join(dict.fromkeys([self.element, *(self.said(part) for part in ("panel", "row", "column"))]))


class Printed:
    """The printed numbers of all papers.

    Parameters
    ----------
    frame : DataFrame
        Columns of `numbers.load()`, in the order of print.
    exact : collection of str
        Units whose numbers are never rounded.
    zeros_dropped : collection of (paper, element)
        Where trailing zeros are left out in print, so that a row has the decimals of its longest number.
    """

    def __init__(
        self, frame: pd.DataFrame, exact: Collection[str] = (), zeros_dropped: Collection[tuple[str, str]] = ()
    ):
        longest = frame.groupby(["paper", "element", "row"])["decimals"].transform("max")
        dropped = [pair in zeros_dropped for pair in zip(frame["paper"], frame["element"], strict=True)]
        frame = frame.assign(decimals=longest.where(dropped, frame["decimals"]), exact=frame["unit"].isin(list(exact)))
        columns = ["paper", *PLACE, "printed", "decimals", "exact", "unit"]
        self.cells = [PrintedNumber(*row) for row in frame[columns].itertuples(index=False, name=None)]
        self._by_element: dict[tuple[str, str], list[PrintedNumber]] = {}
        for cell in self.cells:
            self._by_element.setdefault((cell.paper, cell.element), []).append(cell)
        self.select = lru_cache(maxsize=None)(self._select)

    def _select(self, pattern: str, paper: str) -> tuple[PrintedNumber, ...]:
        """Cells that a pattern names, in the order of print; `paper` is meant where the pattern names none.

        Raises ValueError where the pattern has not four parts or nothing fits.
        """
        owner, _, name = pattern.rpartition(":")
        wanted, paper = dict(zip(PLACE, parts_of(name), strict=True)), owner or paper
        named = tuple(
            cell
            for (p, element), cells in self._by_element.items()
            if p == paper and fits(wanted["element"], element)
            for cell in cells
            if all(fits(wanted[part], getattr(cell, part)) for part in PLACE[1:])
        )
        if not named:
            raise ValueError(f"{pattern!r}: {paper} prints no such number")
        return named


def ids(cells: Iterable[PrintedNumber]) -> str:
    """Names of cells for a column of a frame, each once."""
    return "; ".join(dict.fromkeys(c.id for c in cells))
