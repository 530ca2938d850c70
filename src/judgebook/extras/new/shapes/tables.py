"""Which shape a table has, of those that say more than a score in a cell."""

from __future__ import annotations

import pandas as pd

from judgebook.extras.new.columns import Guess
from judgebook.extras.new.shapes import errors, items, options, ranks
from judgebook.extras.new.shapes.options import Options
from judgebook.extras.new.shapes.ranks import Ranks


def side_by_side(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> Options | Ranks | None:
    """Three or more systems side by side in each row, of which some were chosen, or all ranked."""
    found = options.find(cells) or ranks.find(out, cells, numeric)
    out.shown = found.columns if found else []
    return found


def shown_again(beside: Options | Ranks | None, cells: pd.DataFrame) -> pd.Series | None:
    """What says which options a row shows, or the options in whatever order, where the same are there several times."""
    if not isinstance(beside, Options):
        return None
    shown = items.shown(cells, beside.options)
    told = [c for c in cells if c and c not in beside.columns and items.tells(cells[c], shown)]
    return cells[told[0]] if told else shown if shown.duplicated().any() else None


def read(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series], beside: Options | Ranks | None) -> bool:
    """Whether the table has one of the shapes; then `out` says how it is read."""
    if errors.marked(out, cells):
        return True
    if beside:
        beside.read(out, cells)
        return True
    return ranks.ranked(out, cells, numeric)
