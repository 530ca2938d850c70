"""Which shape a table has, of those that say more than a score in a cell."""

from __future__ import annotations

import pandas as pd

from judgebook.extras.new.columns import Guess
from judgebook.extras.new.shapes import errors, options, ranks


def read(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> bool:
    """Whether the table has one of the shapes; then `out` says how it is read."""
    return errors.marked(out, cells) or options.chosen(out, cells) or ranks.ranked(out, cells, numeric)
