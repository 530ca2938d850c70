"""Means of few values on a scale, most of which lie at one of its ends: bounds that need nothing but the scale.

Of values that are mostly 0 with a few high ones, a small sample may hold none of the high ones. It then hardly varies,
and any test that estimates its variance, or exchanges its values with others, takes the difference from a system with
even values for certain. Here the mean of n values is bounded by that of n + 1, the last of which is an end of the
scale, with random weights (Gaffke 2005): those of a flat Dirichlet distribution. Of two values it is the interval of
Clopper and Pearson. That the bound holds for every distribution is not proven; no exception is known, and the worst of
those tried here are in `benchmarks/levels/tests.csv`. Two means are compared by drawing both (Fay, Proschan and
Brittain 2015); of two values it is Fisher's exact test, twice its smaller one-sided p-value.

References
----------
Gaffke 2005, Mathematical Methods of Statistics 14, 451-467. Learned-Miller and Thomas 2020, arXiv:1905.06208 (the same
bound). Fay, Proschan and Brittain 2015, Biometrics 71, 146-156. Kish 1965, Survey Sampling (effective number).
"""

from __future__ import annotations

import numpy as np

#: a system with more dialogues than this is not in question
MOST_VALUES = 20
#: values (their effective number) that must lie away from the end of the scale where most are, and the share of all
#: from which fewer do: with these, tests and intervals keep their level where 60% to 95% of values are 0
LEAST_AWAY, SHARE_AWAY = 3, 0.4
#: draws at least; the smallest p-value is 2 / (draws + 1)
DRAWS = 10_000
#: numbers that one chunk of draws may hold at once
_CHUNK = 2_000_000
#: note of a test or interval that rests on these bounds
BOUNDED = (
    f"bounds of means: of at most {MOST_VALUES} dialogues of a system, fewer than {LEAST_AWAY} lie away from one end"
    " of the scale"
)


def away(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(m,) effective number of values (n, m) that lie away from the nearer end of the scale, 0 where none do.

    Kish's, with distances from that end as weights.
    """
    end = np.where(values.mean(axis=0) - low <= high - values.mean(axis=0), low, high)
    distance = np.abs(values - end)
    squares = np.sum(distance**2, axis=0)
    return np.where(squares > 0, distance.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1.0), 0.0)


def at_one_end(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(m,) whether values (n, m) are too few, and too near to one end of the scale, to tell how much they vary.

    False where an end of the scale is not known (NaN).
    """
    n = len(values)
    bounded = np.isfinite(low) & np.isfinite(high)
    near: np.ndarray = away(values, low, high) < min(LEAST_AWAY, SHARE_AWAY * n)
    inside: np.ndarray = bounded & (n <= MOST_VALUES) & near
    return inside


def compare_bounded_means(
    first: np.ndarray,
    second: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    draws: int = DRAWS,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether two means differ, by bounds that hold for any distribution on the scale.

    Parameters
    ----------
    first, second : (n, m) and (k, m)
        Independent values of two systems, for m variables.
    low, high : (m,)
        Ends of the scale of each variable.

    Returns
    -------
    p_value : (m,) two-sided. ci_low, ci_high : (m,) of the difference of means, first less second.

    Examples
    --------
    >>> few, many = np.array([[0.0], [0.0], [0.1]]), np.tile([0.1, 0.2, 0.3], 20)[:, None]
    >>> ends = np.zeros(1), np.ones(1)
    >>> p, low, high = compare_bounded_means(few, many, *ends, rng=np.random.default_rng(1))
    >>> print(f"p = {p[0]:.2f}, {low[0]:.1f} to {high[0]:.1f}")
    p = 1.00, -0.2 to 0.5
    """
    draws, parts = max(draws, DRAWS), []
    size = max(1, _CHUNK // (len(first) + len(second) + 4 * first.shape[1]))
    for start in range(0, draws, size):
        k = min(size, draws - start)
        parts.append([end for values in (first, second) for end in _ends(values, low, high, rng, k)])
    least, most, other_least, other_most = (np.concatenate(p) for p in zip(*parts, strict=True))
    slack = 1e-9 * (high - low)
    reach = np.sum(most >= other_least - slack, axis=0), np.sum(other_most >= least - slack, axis=0)
    p = np.minimum(1.0, 2 * (1 + np.minimum(*reach)) / (draws + 1))
    tail = (1 - confidence) / 2
    return p, np.quantile(least - other_most, tail, axis=0), np.quantile(most - other_least, 1 - tail, axis=0)


def _ends(
    values: np.ndarray, low: np.ndarray, high: np.ndarray, rng: np.random.Generator, draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """(draws, m) means of the values and the lower, or the upper, end of the scale with random weights."""
    weight = rng.standard_exponential((draws, len(values) + 1))
    weight /= weight.sum(axis=1, keepdims=True)
    inside = weight[:, :-1] @ values
    return inside + weight[:, -1:] * low, inside + weight[:, -1:] * high
