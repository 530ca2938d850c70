"""Scores of systems that were compared, as leaderboards print them: the model of Bradley and Terry, ties as half wins.

Shown next to printed values. `davidson` says how ties are treated here, and gives intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, nan
from typing import Any

import pandas as pd

from judgebook.study.labels import METHODS
from judgebook.study.schema import CELL

#: iterations at most, and how near two in a row must be; strengths that exist take some hundreds
LIMIT, TOLERANCE = 100_000, 1e-10


def bradley_terry(comparisons: pd.DataFrame) -> pd.Series:
    """Scores that add up to 1, by system, of votes that all count alike; NaN where the iterations do not converge."""
    import evalica  # loads scipy.stats, which takes a second: the first page reads results of this folder, too

    winner = comparisons["score"].map({1.0: evalica.Winner.X, 0.0: evalica.Winner.Draw, -1.0: evalica.Winner.Y})
    sides = (comparisons["system"].tolist(), comparisons["system_b"].tolist(), winner.tolist())
    fitted = evalica.bradley_terry(*sides, tolerance=TOLERANCE, limit=LIMIT)
    scores = fitted.scores if fitted.iterations < LIMIT else fitted.scores * nan
    return scores / scores.sum()


def printed_scores(comparisons: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows of `bradley_terry`, one per label and system; n : pairs of responses the system was in."""
    for key, rows in comparisons.groupby(CELL, sort=False):
        pairs = rows.drop_duplicates(["dialogue", "dialogue_b", "turn"])
        n = pd.concat([pairs["system"], pairs["system_b"]]).value_counts()
        head = {**dict(zip(CELL, key, strict=True)), "level": METHODS[rows["method"].iloc[0]].unit}
        for system, score in bradley_terry(rows).sort_index().items():
            row = {"statistic": "bradley_terry", "system": system, "estimate": score, "n": int(n[system])}
            yield head | row | ({} if isfinite(score) else {"note": "the iterations did not converge"})
