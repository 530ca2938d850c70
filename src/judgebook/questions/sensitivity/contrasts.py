"""Tests of one system against another, on many draws and labels at once, from the sums in a `Panel`.

Arrays named p have the shape (draws, pairs of systems, labels).
"""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr

from judgebook.questions.sensitivity.panels import Panel
from judgebook.statistics.saddlepoint import coin_cdf

#: as published: z, student, sign, on items; beside them Welch's t on items, and on one value per dialogue
TESTS = ("z", "student", "welch", "sign", "dialogue_welch")
#: the levels of Finch et al. 2023, Table 5
ALPHAS = (0.01, 0.05, 0.1)


def z_test(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> np.ndarray:
    """Two-sided p-value of the two-proportion z test, pooled variance. Arrays broadcast.

    1 where all items of both samples are marked, or none; missing where a sample is empty. Items are taken as
    independent: with turns of the same dialogue, type I error is inflated.
    """
    x1, n1, x2, n2 = (np.asarray(v, dtype=float) for v in (x1, n1, x2, n2))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (x1 + x2) / (n1 + n2)
        variance = share * (1 - share) * (1 / n1 + 1 / n2)
        z = (x1 / n1 - x2 / n2) / np.sqrt(variance)
        p = 2 * ndtr(-np.abs(z))
        return np.where((n1 > 0) & (n2 > 0), np.where(variance > 1e-300, p, 1.0), nan)


def t_test(
    n1: ArrayLike, s1: ArrayLike, q1: ArrayLike, n2: ArrayLike, s2: ArrayLike, q2: ArrayLike, *, pooled: bool
) -> np.ndarray:
    """Two-sided p-value of Student's t (`pooled`) or Welch's, from sizes, sums and sums of squares. Arrays broadcast.

    1 where neither sample varies and the means are equal, 0 where neither varies and they differ; missing with fewer
    than two items in a sample.
    """
    n1, s1, q1, n2, s2, q2 = (np.asarray(v, dtype=float) for v in (n1, s1, q1, n2, s2, q2))
    with np.errstate(invalid="ignore", divide="ignore"):
        m1, m2 = s1 / n1, s2 / n2
        v1, v2 = (np.maximum(q - n * m * m, 0) for n, m, q in ((n1, m1, q1), (n2, m2, q2)))
        scale = np.maximum(np.maximum(q1, q2), 1e-300)
        v1, v2 = (np.where(v > 1e-13 * scale, v / (n - 1), 0.0) for v, n in ((v1, n1), (v2, n2)))
        if pooled:
            df = n1 + n2 - 2
            variance = ((n1 - 1) * v1 + (n2 - 1) * v2) / df * (1 / n1 + 1 / n2)
        else:
            a, b = v1 / n1, v2 / n2
            variance, df = a + b, (a + b) ** 2 / (a**2 / (n1 - 1) + b**2 / (n2 - 1))
        p = 2 * stdtr(df, -np.abs(m1 - m2) / np.sqrt(variance))
        constant = np.where(np.abs(m1 - m2) <= 1e-12 * np.sqrt(scale), 1.0, 0.0)
        return np.where((n1 > 1) & (n2 > 1), np.where(variance > 0, p, constant), nan)


def sign_test(wins: ArrayLike, losses: ArrayLike) -> np.ndarray:
    """Two-sided exact p-value of the sign test without ties; 1 without any win or loss. Arrays broadcast.

    Conservative, because few p-values are possible.
    """
    wins, losses = np.asarray(wins), np.asarray(losses)
    return np.minimum(1.0, 2 * coin_cdf(np.minimum(wins, losses), wins + losses))


def draw_p_values(data: Panel, test: str, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """P-values and differences of every pair of systems and label, for many draws.

    Parameters
    ----------
    test : str
        One of TESTS.
    weights : ndarray, optional
        (draws, rows), how often a row is in a draw; by default all rows once.

    Returns
    -------
    p, difference : (draws, pairs, labels)
        The difference is that of means (shares, for marks), first minus second system; for comparisons wins minus
        losses as a share of all.

    Raises
    ------
    ValueError
        An unknown test, or one that does not fit the panel's unit.
    """
    if test not in TESTS:
        raise ValueError(f"test: expected one of {', '.join(TESTS)}, found {test!r}")
    if (test == "sign") != (data.unit == "pair"):
        raise ValueError(f"test: {test!r} does not go with judgements of a {data.unit}")
    data = data.per_dialogue() if test == "dialogue_welch" else data
    weights = np.ones((1, len(data.system))) if weights is None else np.asarray(weights, dtype=float)
    p, difference = [], []
    for a, b in data.pairs:
        rows = np.flatnonzero(data.rows_of(a, b))
        part, w = data.take(rows), weights[:, rows]
        compared = _comparisons(part, w) if data.unit == "pair" else _two_samples(part, w, a, test)
        p.append(compared[0])
        difference.append(compared[1])
    return np.stack(p, axis=1), np.stack(difference, axis=1)


def _two_samples(part: Panel, w: np.ndarray, a: int, test: str) -> tuple[np.ndarray, np.ndarray]:
    left = part.system == a
    one, two = (tuple(w[:, s] @ m[s] for m in (part.n, part.total, part.squares)) for s in (left, ~left))
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = one[1] / one[0] - two[1] / two[0]
    if test == "z":
        return z_test(one[1], one[0], two[1], two[0]), difference
    return t_test(*one, *two, pooled=test == "student"), difference


def _comparisons(part: Panel, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wins, losses = (w @ ((sign * part.total > 0) * 1.0) for sign in (1, -1))
    judged = w @ part.n
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(judged > 0, sign_test(wins, losses), nan), (wins - losses) / judged
