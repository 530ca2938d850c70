"""The winner and the loser of a comparison, each by name."""

from __future__ import annotations

import pandas as pd

from judgebook.extras.new.columns import Guess
from judgebook.extras.new.words import is_prose
from judgebook.sources.nature import plain

_NAMES = (
    ("winner", "loser"),
    ("winningmodel", "losingmodel"),
    ("winnermodel", "losermodel"),
    ("chosenmodel", "rejectedmodel"),
)


def and_losers(out: Guess, cells: pd.DataFrame) -> bool:
    """Whether two columns name who won and who lost: the first is the winner of every comparison."""
    columns = {plain(c): c for c in cells}
    for won, lost in _NAMES:
        if not {won, lost} <= set(columns):
            continue
        winner, loser = columns[won], columns[lost]
        names = {*cells[winner].str.strip()} & {*cells[loser].str.strip()}
        if is_prose(cells[winner]) or not names or (cells[winner] == cells[loser]).any():
            continue
        for ours in ("system", "system_b", "label", "score"):
            out.columns.pop(ours, None)
        out.columns |= {"system": winner, "system_b": loser}
        out.scores, out.one_label, out.score_columns = winner, "better", [winner, loser]
        out.more = ["# who won is the first of each pair"]
        out.labels["better"] = ("better", -1, 1, True)
        out.ways["better"] = 1
        return True
    return False
