"""Cells of tables that know their numbers: one text where people read it, a column for each number in CSV files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd

from judgebook.display.text import MISSING, interval, number, p_value, percent, span
from judgebook.study.results import ResultRows

#: names of the numbers of an interval, in columns of files
LOW, HIGH = "ci_low", "ci_high"
#: what headings call them
ENDS = {LOW: "low", HIGH: "high"}


class Cell:
    """What a cell shows, and its numbers at full precision by name; the name of the main one is empty.

    No `str`, which pandas would turn into plain text. Texts and cells are joined by `+`. texts : each number as it is
    shown on its own (two decimals where left out).
    """

    __slots__ = ("numbers", "text", "texts")

    def __init__(self, text: str, numbers: Mapping[str, float], texts: Mapping[str, str] | None = None):
        self.text, self.numbers = text, dict(numbers)
        self.texts = dict(texts) if texts else {name: number(v) for name, v in self.numbers.items()}

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def __add__(self, other: str | Cell) -> Cell:
        if not isinstance(other, str | Cell):
            return NotImplemented
        mine, theirs = self.numbers, other.numbers if isinstance(other, Cell) else {}
        if twice := mine.keys() & theirs.keys():
            raise ValueError(f"two numbers of one cell are named {', '.join(map(repr, sorted(twice)))}")
        texts = other.texts if isinstance(other, Cell) else {}
        return Cell(self.text + str(other), {**mine, **theirs}, {**self.texts, **texts})

    def __radd__(self, other: str) -> Cell:
        return Cell(other + self.text, self.numbers, self.texts) if isinstance(other, str) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self.text == str(other) if isinstance(other, str | Cell) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)


def of_interval(estimate: float, low: float, high: float, decimals: int = 2) -> Cell:
    """`0.46 [0.40, 0.51]`."""
    ends = {"": estimate, LOW: low, HIGH: high}
    return Cell(interval(estimate, low, high, decimals), ends, _texts(ends, decimals))


def marked(cell: Cell, mark: str) -> Cell:
    """The cell with a mark that its note explains, which the ends of its interval have on their own."""
    return Cell(f"{cell} {mark}", cell.numbers, {k: f"{text} {mark}" if k else text for k, text in cell.texts.items()})


def _texts(numbers: Mapping[str, float], decimals: int) -> dict[str, str]:
    return {name: number(v, decimals) for name, v in numbers.items()}


def intervals(rows: ResultRows, decimals: int = 2) -> pd.Series:
    """A cell for each row of results (estimate, ci_low, ci_high)."""
    ends = _numbers(rows[["estimate", "ci_low", "ci_high"]])
    return _series(rows.index, (of_interval(estimate, low, high, decimals) for estimate, low, high in ends))


def ranges(
    ends: pd.DataFrame, decimals: int = 2, *, brackets: bool = False, named: tuple[str, str] = ("low", "high")
) -> pd.Series:
    """`0.40 to 0.51`, or `[0.40, 0.51]`, for each row of two columns; missing where the lower end is."""

    def cell(low: float, high: float) -> Cell | None:
        text = f"[{number(low, decimals)}, {number(high, decimals)}]" if brackets else span((low, high), decimals)
        ends = dict(zip(named, (low, high), strict=True))
        return None if np.isnan(low) else Cell(text, ends, _texts(ends, decimals))

    return _series(ends.index, (cell(*v) for v in _numbers(ends)))


def numbers(values: pd.Series, decimals: int = 2, named: str = "") -> pd.Series:
    """`0.46` for each value, where decimals differ within a column; missing where it is."""
    return _each(values, lambda v: Cell(number(v, decimals), {named: v}, {named: number(v, decimals)}))


def percents(values: pd.Series, decimals: int = 0, named: str = "(%)") -> pd.Series:
    """`46%` for each share, in files as the number 46 of a column `… (%)`; missing where it is."""
    return _each(values, lambda v: Cell(percent(v, decimals), {named: 100 * v}, {named: number(100 * v, decimals)}))


def p_values(values: pd.Series) -> pd.Series:
    """`0.031` or `< 0.001` for each value; – where missing."""
    return _each(values, lambda v: Cell(p_value(v), {"": v}, {"": p_value(v)}), MISSING)


def in_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """`frame` with a column for each number of its cells: `Alpha`, `Alpha ci_low`, `Alpha ci_high`.

    Words beside cells in one column get a column of their own, `… (words)`.
    """
    out: dict[str, object] = {}
    for column in frame.columns:
        values = list(frame[column])
        names = dict.fromkeys(name for v in values if isinstance(v, Cell) for name in v.numbers)
        if not names:
            out[column] = frame[column]
            continue
        for name in names:
            numbers = [v.numbers.get(name, np.nan) if isinstance(v, Cell) else np.nan for v in values]
            out[f"{column} {name}".strip()] = np.array(numbers, dtype=float)
        words = [v if isinstance(v, str) else None for v in values]
        if any(words):
            out[f"{column} (words)"] = words
    return pd.DataFrame(out, index=frame.index)


def apart(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """`frame` with the texts of its cells in a column for each number, `Alpha`, `Alpha, low`, `Alpha, high`, as long as
    there are at most `most` columns; a column that has words beside cells stays as it is.

    A number that is missing is None where its cell is, so that the reason for it can be said.
    """
    columns: list[tuple[object, pd.Series]] = []
    for column in frame.columns:
        values = list(frame[column])
        names = dict.fromkeys(name for v in values if isinstance(v, Cell) for name in v.numbers)
        if len(names) < 2 or any(isinstance(v, str) for v in values):
            columns.append((column, frame[column]))
            continue
        for name in names:
            texts = [Cell(v.texts[name], {}) if isinstance(v, Cell) and name in v.texts else None for v in values]
            title = f"{column}, {ENDS.get(name, name)}" if name else column
            columns.append((title, pd.Series(texts, frame.index, dtype=object)))
    if len(columns) > most or len({title for title, _ in columns}) < len(columns):
        return frame
    return pd.DataFrame(dict(columns), index=frame.index)


def _numbers(frame: pd.DataFrame) -> Iterable[tuple[float, ...]]:
    return (tuple(row) for row in frame.to_numpy(dtype=float, na_value=np.nan))


def _each(values: pd.Series, cell: Callable[[float], Cell], missing: str | None = None) -> pd.Series:
    floats = (v for (v,) in _numbers(values.to_frame()))
    return _series(values.index, (missing if np.isnan(v) else cell(v) for v in floats))


def _series(index: pd.Index, cells: Iterable[Cell | str | None]) -> pd.Series:
    return pd.Series(list(cells), index, dtype=object)
