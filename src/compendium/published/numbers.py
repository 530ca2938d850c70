"""The papers' printed numbers, patterns that select them, and when a recomputed number is equal to a printed one.

A printed number has a place: `element/panel/row/column`, e.g. `Table 3/free_run_1/a/overall`. A pattern is such a place
in which `*` in a part stands for any text, `a|b` for one of several, and `!a|b` for none of them.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import overload

import pandas as pd

from judgebook import project

FOLDER = project.ROOT / "data" / "published"
COLUMNS = ("paper", "element", "panel", "row", "column", "value", "unit", "decimals", "note")
PLACE = ["element", "panel", "row", "column"]
#: identifies a printed number
KEY = ["paper", *PLACE]


@cache
def _read(folder: Path) -> pd.DataFrame:
    frames = []
    for path in sorted(folder.glob("*.csv")):
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if tuple(frame.columns) == COLUMNS:  # the others hold text, not numbers
            frames.append(frame.assign(file=path.name))
    out = pd.concat(frames, ignore_index=True)
    return out.assign(printed=out["value"], value=out["value"].astype(float), decimals=out["decimals"].astype(int))


def load(paper: str | None = None, element: str | None = None, folder: Path = FOLDER) -> pd.DataFrame:
    """Printed numbers, one per row: the columns of the CSVs, `printed` as text and `value` as a number, and `file`.

    Rows with unit `bool` are check marks, not numbers, and stay out. Raises KeyError when nothing is left.
    """
    frame = _read(folder)
    frame = frame[frame["unit"] != "bool"]
    for column, wanted in (("paper", paper), ("element", element)):
        if wanted is not None:
            frame = frame[frame[column] == wanted]
    if frame.empty:
        raise KeyError(f"data/published has no numbers for paper {paper!r}, element {element!r}")
    return frame.reset_index(drop=True)


def labels(name: str, folder: Path = FOLDER) -> pd.DataFrame:
    """A file of text facts, such as what a paper says of its labels: one row an item, all columns as text."""
    return pd.read_csv(folder / name, dtype=str, keep_default_na=False)


def fits(part: str, value: str) -> bool:
    """Whether a value is what one part of a pattern asks for."""
    if part.startswith("!"):
        return not fits(part[1:], value)
    return any(fnmatchcase(value, p) for p in part.split("|"))


def parts_of(pattern: str) -> list[str]:
    """The four parts of a pattern. Raises ValueError where it has not four."""
    parts = pattern.split("/")
    if len(parts) != len(PLACE):
        raise ValueError(f"{pattern!r}: expected element/panel/row/column, found {len(parts)} parts")
    return parts


def select(printed: pd.DataFrame, paper: str, pattern: str) -> pd.DataFrame:
    """The numbers of a paper that a pattern names. Raises ValueError where it has not four parts or names nothing."""
    rows = printed[printed["paper"] == paper]
    for column, part in zip(PLACE, parts_of(pattern), strict=True):
        if part != "*":
            rows = rows[rows[column].isin([v for v in rows[column].unique() if fits(part, v)])]
    if rows.empty:
        raise ValueError(f"{paper}: {pattern!r}: the paper prints no such number")
    return rows


@overload
def tolerance(decimals: int) -> float: ...
@overload
def tolerance(decimals: pd.Series) -> pd.Series: ...
def tolerance(decimals: pd.Series | int) -> pd.Series | float:
    """Half a unit of the last printed decimal: how far the number that was rounded may lie from the printed one."""
    return 0.5 * 10.0 ** -(decimals.astype(float) if isinstance(decimals, pd.Series) else decimals)


def agrees(printed: pd.Series | float, decimals: pd.Series | int, reproduced: pd.Series | float) -> pd.Series | bool:
    """Whether the printed number is the reproduced one rounded to the printed decimals.

    The rule knows nothing of the values: the two differ by at most half a unit of the last printed decimal. Both
    ways of rounding an exact half are therefore accepted. A missing reproduced value agrees with nothing.
    """
    return abs(reproduced - printed) <= tolerance(decimals) + 1e-9
