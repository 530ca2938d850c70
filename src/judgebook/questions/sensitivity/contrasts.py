"""Tests of one system against another, on many draws and labels at once, from the sums in a `Panel`.

Arrays named p have the shape (draws, pairs of systems, labels).
"""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr

from judgebook.questions.sensitivity.panels import Panel
from judgebook.statistics.saddlepoint import coin_cdf

#: z, student, welch, sign: on items, as published; dialogue_welch: on one value per dialogue; session: permuted within
#: sessions
TESTS = ("z", "student", "welch", "sign", "dialogue_welch", "session")
WITHIN = ("session", "interactor")
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


def draw_p_values(
    data: Panel, test: str, weights: np.ndarray | None = None, within: str = "session"
) -> tuple[np.ndarray, np.ndarray]:
    """P-values and differences of every pair of systems and label, for many draws.

    Parameters
    ----------
    test : str
        One of TESTS; `session` is the normal approximation of `session_normal`.
    weights : ndarray, optional
        (draws, rows) or (pairs, draws, rows), how often a row is in a draw; by default all rows once.
    within : {"session", "interactor"}
        See `blocks`.

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
    if (test == "sign") != (data.unit == "pair") and test != "session":
        raise ValueError(f"test: {test!r} does not go with judgements of a {data.unit}")
    data = numbered(data.per_dialogue()) if test in ("dialogue_welch", "session") else data
    weights = np.ones((1, len(data.system))) if weights is None else np.asarray(weights, dtype=float)
    p, difference = [], []
    for i, (a, b) in enumerate(data.pairs):
        rows = np.flatnonzero(data.rows_of(a, b))
        w = (weights if weights.ndim == 2 else weights[i])[:, rows]
        part = data.take(rows)
        compared = _comparisons(part, w) if data.unit == "pair" else _two_samples(part, w, a, test, within)
        p.append(compared[0])
        difference.append(compared[1])
    return np.stack(p, axis=1), np.stack(difference, axis=1)


def _two_samples(part: Panel, w: np.ndarray, a: int, test: str, within: str) -> tuple[np.ndarray, np.ndarray]:
    left = part.system == a
    one, two = (tuple(w[:, s] @ m[s] for m in (part.n, part.total, part.squares)) for s in (left, ~left))
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = one[1] / one[0] - two[1] / two[0]
    if test == "session":
        return session_normal(part, w, a, within), difference
    if test == "z":
        return z_test(one[1], one[0], two[1], two[0]), difference
    return t_test(*one, *two, pooled=test == "student"), difference


def _comparisons(part: Panel, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wins, losses = (w @ ((sign * part.total > 0) * 1.0) for sign in (1, -1))
    judged = w @ part.n
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(judged > 0, sign_test(wins, losses), nan), (wins - losses) / judged


def blocks(part: Panel, within: str) -> np.ndarray:
    """(rows,) numbers of the blocks within which dialogues of two systems are exchangeable if the systems are equal.

    Where a session has both systems, its two dialogues are a block (`in_both`). Other dialogues, whose session has one
    of the two and a third system, are one block (`within="session"`), valid if systems are assigned to sessions at
    random; or one block per person (`"interactor"`), valid even if some people met one system more often, but those who
    met only one then do not count.
    """
    person, session = coded(_people(part, within)), coded(part.session)
    return np.where(in_both(part), person.max(initial=0) + 1 + session, person)


def in_both(part: Panel) -> np.ndarray:
    """(rows,) whether the session of a row has dialogues of both systems."""
    session, left = coded(part.session), part.system == part.system[:1]
    present = np.zeros((session.max(initial=-1) + 1, 2), dtype=bool)
    present[session, left.astype(int)] = True
    return (present[:, 0] & present[:, 1])[session]


def coded(names: np.ndarray) -> np.ndarray:
    """Names as numbers, in the order of their spelling; what is numbered already keeps its order."""
    return np.unique(names if names.dtype.kind in "iu" else names.astype(str), return_inverse=True)[1]


def numbered(data: Panel) -> Panel:
    """With sessions and people as numbers, in the order of their names: many times faster to compare."""
    who = None if data.interactor is None else coded(data.interactor)
    return replace(data, session=coded(data.session), interactor=who)


def _people(part: Panel, within: str) -> np.ndarray:
    """Who talked in each row; the same name for everyone with `within="session"`."""
    if within not in WITHIN:
        raise ValueError(f"within: expected one of {', '.join(WITHIN)}, found {within!r}")
    if within == "session":
        return np.zeros(len(part.system), dtype=int)
    if part.interactor is None:
        raise ValueError("within: 'interactor' needs to know who talked in each dialogue")
    return part.interactor


def session_normal(part: Panel, w: np.ndarray, a: int, within: str = "session") -> np.ndarray:
    """P-values of the session-blocked permutation test by the normal approximation, for many draws.

    Blocks are those of `blocks` among the rows drawn: if a draw has only one dialogue of a session, it counts among the
    others. The statistic is the sum of the first system's values minus its mean over rearrangements within blocks; its
    variance is that of drawing without replacement from each block. Adequate from about ten exchangeable dialogues; for
    the data themselves `system_tests.session_tests` permutes.

    Parameters
    ----------
    part : Panel
        The rows of two systems, one value per row (`Panel.per_dialogue`).
    w : (draws, rows)
        How often a row is in a draw.
    a : int
        The first system.

    Returns
    -------
    (draws, labels), missing where nothing can be exchanged.
    """
    left = part.system == a
    first, second = _sessions(part, left)
    in_pairs = np.minimum(w[:, first], w[:, second])
    rest = w.copy()
    rest[:, first] -= in_pairs  # no row is in two sessions
    rest[:, second] -= in_pairs
    group = pd.factorize(_people(part, within))[0]
    p = np.full((len(w), len(part.labels)), nan)
    judged = part.n > 0
    for pattern in patterns(judged):
        columns = np.flatnonzero((judged == pattern[:, None]).all(axis=0))
        v = np.where(pattern[:, None], part.total[:, columns], 0.0)
        single, paired = rest * pattern, in_pairs * (pattern[first] & pattern[second])
        alone = in_pairs * (pattern[first] ^ pattern[second])
        single[:, first] += alone * pattern[first]
        single[:, second] += alone * pattern[second]
        gap = v[first] - v[second]
        statistic, variance = paired @ gap / 2, paired @ gap**2 / 4  # both orders are equally likely
        add = _singles(single, v, left, group)
        statistic, variance = statistic + add[0], variance + add[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            p[:, columns] = np.where(variance > 1e-12, 2 * ndtr(-np.abs(statistic) / np.sqrt(variance)), nan)
    return p


def patterns(judged: np.ndarray) -> np.ndarray:
    """(patterns, rows) which rows were judged, by labels that differ in that: sorting columns takes long."""
    if (judged == judged[:, :1]).all():
        return judged[:, :1].T
    return np.unique(judged, axis=1).T


def _sessions(part: Panel, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of sessions with a dialogue of each system: of the first, of the second."""
    code = coded(part.session)
    rows = np.full((2, code.max(initial=-1) + 1), -1)
    for side, of_side in enumerate((left, ~left)):
        at = np.flatnonzero(of_side)[::-1]
        rows[side, code[at]] = at
    first, second = rows[:, (rows >= 0).all(axis=0)]
    return first, second


def _singles(w: np.ndarray, v: np.ndarray, left: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Statistic and variance from dialogues exchanged among their group: (draws, labels) each."""
    statistic, variance = np.zeros((len(w), v.shape[1])), np.zeros((len(w), v.shape[1]))
    for g in np.unique(group):
        rows = np.flatnonzero(group == g)
        c, x, on_left = w[:, rows], v[rows], left[rows]
        n, n1 = c.sum(axis=1)[:, None], c[:, on_left].sum(axis=1)[:, None]
        n2, total = n - n1, c @ x
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.maximum(c @ x**2 - total**2 / n, 0)
            usable = (n1 > 0) & (n2 > 0)
            statistic += np.where(usable, c[:, on_left] @ x[on_left] - n1 * total / n, 0.0)
            variance += np.where(usable, n1 * n2 / (n * (n - 1)) * spread, 0.0)
    return statistic, variance
