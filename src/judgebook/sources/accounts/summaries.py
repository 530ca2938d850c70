"""Rows below the data of a table that sum them up: means, totals, a block of statistics. They are no judgements."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.sources.rows import numbers

#: attribute of a table that was read: the rows that sum up others
SUMS = "sums"
WORD = re.compile(
    r"(?:(?:grand |over)?(?:total|all)|sum|mean|average|avg|median|std|sd|st\.? ?dev\.?|standard deviation"
    r"|gesamt|durchschnitt|mittel(?:wert)?|summe|moyenne|media|promedio|平均|合计)[.:]?",
    re.I,
)
#: columns that may say what a row is, and rows at most that sum up others
_NAMING, _MOST = 3, 10
#: of the size of a mean, how far a rounded one may be off
_ROUNDED = 0.01


def rows(cells: pd.DataFrame) -> list[int]:
    """Rows at the end that sum up those above them, by their index.

    The first cell says so, and a cell that all others fill is empty, or numbers are the mean, median or sum of those
    above. Below an empty line, one such name is enough for all.

    cells : text. Its index is the row in the file, with gaps for empty lines.
    """
    names = [c for c in cells if c][:_NAMING]
    below = _block(cells)
    if len(below) and any(WORD.fullmatch(_first(row)) for row in below.to_numpy()):
        return list(below.index)
    said = codes.plain(cells[names].tail(_MOST)).apply(lambda x: x.str.strip().str.fullmatch(WORD)).any(axis=1)
    n = int(said[::-1].cummin().sum())
    if not n or len(cells) < 2 * n:
        return []
    last, above = (codes.plain(part) for part in (cells.tail(n), cells.head(len(cells) - n)))
    filled = [c for c in cells if c and above[c].str.strip().ne("").all()]
    empty = last[filled].apply(lambda x: x.str.strip().eq("")).any(axis=1)
    return list(last.index) if (empty | _computed(last, above)).all() else []


def _block(cells: pd.DataFrame) -> pd.DataFrame:
    """The few rows after the last empty line, where others stand above it."""
    gaps = np.flatnonzero(np.diff(cells.index) > 1)
    block = cells.iloc[gaps[-1] + 1 :] if len(gaps) else cells.iloc[:0]
    return block if len(block) <= min(_MOST, len(cells) - len(block)) else cells.iloc[:0]


def _first(row: list[str]) -> str:
    return next((cell.strip() for cell in row if cell.strip()), "")


def _computed(last: pd.DataFrame, above: pd.DataFrame) -> pd.Series:
    """Rows all of whose numbers are one statistic or another of those above them, and not all of them levels, too."""
    out = pd.Series(False, last.index)
    for i, row in last.iterrows():
        fits, levels = [], []
        for column in last:
            number, held = pd.to_numeric(row[column], errors="coerce"), numbers.read(above[column].str.strip())
            if pd.notna(number) and held.notna().any():
                statistics = (held.mean(), held.median(), held.sum(), held.std())
                fits.append(any(abs(number - s) <= _ROUNDED * abs(s) for s in statistics))
                levels.append(number in set(held))
        out[i] = bool(fits) and all(fits) and not all(levels)
    return out
