"""Strengths of systems that were compared in pairs, by votes alone: to put systems in order, and as leaderboards print
them. What is concluded from votes follows from `fitted`, in whose model answers and tastes are random.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.codes import distinct
from judgebook.model.comparisons import Comparisons, fit
from judgebook.study.labels import METHODS
from judgebook.study.schema import SYSTEM_CELL

#: strengths are of the systems of one label in one corpus and group
CELL = SYSTEM_CELL[:-1]
#: iterations of the model of Bradley and Terry at most, and how near two in a row must be; strengths that exist take
#: some hundreds
_LIMIT, _TOLERANCE = 100_000, 1e-10
NONE = "one group of systems never wins against the others: strengths do not exist"


def point(comparisons: pd.DataFrame, weight: np.ndarray | None = None) -> pd.Series:
    """Strengths in Davidson's model by system, without intervals, of all votes as if each were of its own context.

    NaN where they do not exist. weight : of votes.
    """
    systems, score = sorted(distinct(comparisons["system"], comparisons["system_b"])), comparisons["score"]
    one, other = (pd.Index(systems).get_indexer(comparisons[side]) for side in ("system", "system_b"))
    each = np.arange(len(comparisons))
    found = fit(Comparisons(tuple(systems), one, other, score.to_numpy(float), each, weight=weight))
    return pd.Series(nan if found.note else found.levels.estimates, systems)


def bradley_terry(comparisons: pd.DataFrame) -> pd.Series:
    """Scores as leaderboards print them, by the model of Bradley and Terry with ties as half wins: they add up to 1.

    By system, of votes that all count alike; NaN where the iterations do not converge.
    """
    import evalica  # loads scipy.stats, which takes a second: the first page reads results of this folder, too

    winner = comparisons["score"].map({1.0: evalica.Winner.X, 0.0: evalica.Winner.Draw, -1.0: evalica.Winner.Y})
    sides = (comparisons["system"].tolist(), comparisons["system_b"].tolist(), winner.tolist())
    fitted = evalica.bradley_terry(*sides, tolerance=_TOLERANCE, limit=_LIMIT)
    scores = fitted.scores if fitted.iterations < _LIMIT else fitted.scores * nan
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
