"""Hours of work until a result, and results in parts of equal working time (Smith et al. 2022, appendices E and F)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from judgebook.questions.techniques.sittings import OVERALL


def ratings(rows: pd.DataFrame, *, linear: bool) -> np.ndarray:
    """Ratings one by one, as a test takes them: 1, -1 and 0 where two systems are compared, else 1 and 0, or values.

    rows : counts of conversations. linear : whether marks are the ratings, or conversations.
    """
    two = bool(rows["system_b"].notna().all())
    won, lost, n = (int(rows[c].sum()) for c in ("won", "lost", "n"))
    if linear and (two or (won == rows["total"].sum() and won + lost == n)):
        return np.repeat([1.0, -1.0, 0.0] if two else [1.0, 0.0, 0.0], [won, lost, n - won - lost])
    return np.asarray(np.sign(rows["won"] - rows["lost"]) if two else rows["value"], dtype=float)


def after_each_rating(a: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    """(runs, k) p-values of the test after 1, 2, … ratings, in the orders of the rows.

    a : (runs, k) 1, -1 and 0 where two systems are compared: two-sided binomial test of wins and losses. b : of another
    system, where systems are rated one at a time: Student's t test of independent samples.
    """
    if b is None:
        won, lost = (np.cumsum(np.sign(a) == sign, axis=1) for sign in (1, -1))
        return np.asarray(2 * special.bdtr(np.minimum(won, lost), won + lost, 0.5))
    n = np.arange(1, a.shape[1] + 1)
    (s, q), (t, r) = ((np.cumsum(x, axis=1), np.cumsum(x * x, axis=1)) for x in (a, b))
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (q - s * s / n + r - t * t / n) / (2 * n - 2)  # the variance of both samples
        p = 2 * special.stdtr(2 * n - 2, -np.abs(s - t) / np.sqrt(2 * n * within))
    return np.where(within > 1e-9, p, 1.0)


def first_significant(
    rng: np.random.Generator, samples: list[np.ndarray], runs: int, most: int, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """(runs,) ratings (of either system) until the test is first significant, `most` + 1 where it never is; and the
    same if both systems were equal.

    samples : ratings of the comparisons, or of either system, drawn with replacement. Equal systems would win as often
    as lose, or both have the pooled ratings, with equal weight.
    """
    pooled = samples if len(samples) > 1 else [samples[0], -samples[0]]
    found = []
    for of_sides in ([[x] for x in samples], [pooled] * len(samples)):
        drawn = []
        for parts in of_sides:
            values, share = np.concatenate(parts), np.concatenate([np.full(len(x), 1 / len(x)) for x in parts])
            order = np.argsort(values, kind="stable")
            drawn.append(rng.choice(values[order], size=(runs, most), p=share[order] / len(parts)))
        crossed = after_each_rating(*drawn) < alpha
        found.append(np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1, most + 1))
    return found[0], found[1]


def parts_of_time(rows: pd.DataFrame, minutes: float) -> pd.DataFrame:
    """Judgements in order of time, with `part`, that of equal working time in which each was begun; the last part,
    which is not full, is left out.

    rows : seconds, completed_at, source_row.
    """
    timed = rows.sort_values(["completed_at", "source_row"], kind="stable")
    ends, each = timed["seconds"].cumsum(), 60 * minutes
    timed = timed.assign(part=(ends - timed["seconds"]) // each)
    return timed[timed["part"] < ends.max() // each]


def with_overall(chunks: list[dict[str, Any]], minutes: float) -> pd.DataFrame:
    """Rows of `chunk_sd`, of parts of so many minutes, with their means over labels where there are several."""
    few = "fewer than two full parts"
    rows = pd.DataFrame(chunks, columns=None if chunks else ["label", "estimate"]).assign(note=few)
    if len(set(rows["label"])) > 1:
        key = ["technique", "corpus", "group", "system", "system_b", "of"]
        means = rows.groupby(key, sort=False, as_index=False).agg(estimate=("estimate", "mean"), n=("n", "sum"))
        means = means.assign(label=OVERALL, note=f"{few} of every label")
        rows = pd.concat([rows, means], ignore_index=True)
    return rows.assign(note=rows["note"].where(rows["estimate"].isna(), None), minutes=minutes)
