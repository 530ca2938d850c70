"""The papers' printed numbers, and when a recomputed number counts as equal to a printed one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).resolve().parents[2] / "data" / "published"
COLUMNS = ("paper", "element", "panel", "row", "column", "value", "unit", "decimals", "note")


@cache
def _read() -> pd.DataFrame:
    frames = []
    for path in sorted(FOLDER.glob("*.csv")):
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if tuple(frame.columns) == COLUMNS:  # the others hold text, not numbers
            frames.append(frame.assign(file=path.name))
    out = pd.concat(frames, ignore_index=True)
    return out.assign(printed=out["value"], value=out["value"].astype(float), decimals=out["decimals"].astype(int))


def load(paper: str | None = None, element: str | None = None) -> pd.DataFrame:
    """Printed numbers, one a row: the columns of the CSVs, `printed` as text beside `value` as a number, and `file`.

    Rows with unit `bool` are check marks, not numbers, and stay out. Raises KeyError when nothing is left.
    """
    frame = _read()
    frame = frame[frame["unit"] != "bool"]
    for column, wanted in (("paper", paper), ("element", element)):
        if wanted is not None:
            frame = frame[frame[column] == wanted]
    if frame.empty:
        raise KeyError(f"data/published has no numbers for paper {paper!r}, element {element!r}")
    return frame.reset_index(drop=True)


def agrees(printed: pd.Series | float, decimals: pd.Series | int, reproduced: pd.Series | float) -> pd.Series | bool:
    """Whether the printed number is the reproduced one rounded to the printed decimals.

    The rule knows nothing of the values: the two differ by at most half a unit of the last printed decimal. Both
    ways of rounding an exact half are therefore accepted. A missing reproduced value agrees with nothing.
    """
    half = (
        0.5 * 10.0 ** -pd.Series(decimals).astype(float) if isinstance(decimals, pd.Series) else 0.5 * 10.0**-decimals
    )
    return abs(reproduced - printed) <= half + 1e-9
