"""The range of Fleiss' kappa that counts of agreeing annotators imply, where judgements are not available: Zhang et al.
2022, Table 5."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import minimize


def kappa_bounds(counts: np.ndarray, m: int) -> tuple[float, float]:
    """Smallest and largest Fleiss' kappa that numbers of agreeing annotators allow.

    Parameters
    ----------
    counts : (categories, m + 1) array
        Items whose most frequent category this is, with exactly k annotators: every item once. Columns below the
        smallest majority are 0.
    m : int
        Annotators of each item.

    Returns
    -------
    Smallest and largest kappa.

    Raises
    ------
    ValueError
        Without any item, and where k cannot be the largest number of annotators of an item.

    Notes
    -----
    The numbers do not say how often the other categories of an item were chosen: all ways to fill them are enumerated.
    Kappa is at least λ where P - P_e - λ (1 - P_e) is at least 0, P being agreement, linear in how often each way
    occurs, and P_e the sum of squared shares, convex in it. For λ < 1 the expression is concave: its maximum is found
    by convex optimisation; its minimum is attained where each cell is filled in one way throughout, and all such
    corners are enumerated.
    """
    ways, weights = _ways(counts, m)
    if not ways:
        raise ValueError("counts: expected at least one item")
    total = sum(weights)
    return _lowest(ways, weights, total, m), _highest(ways, weights, total, m)


def _ways(counts: np.ndarray, m: int) -> tuple[list[np.ndarray], list[float]]:
    """For every cell with items: (ways, categories) numbers of annotators that fill it, and its items."""
    n = counts.shape[0]
    all_ = np.array([c for c in itertools.product(range(m + 1), repeat=n) if sum(c) == m])
    ways, weights = [], []
    for j, k in itertools.product(range(n), range(m + 1)):
        if counts[j, k] > 0:
            ways.append(all_[(all_[:, j] == k) & (all_.max(axis=1) == k)])
            weights.append(float(counts[j, k]))
            if not len(ways[-1]):
                raise ValueError(f"counts: {k} of {m} annotators cannot be the most of {n} categories")
    return ways, weights


def _parts(way: np.ndarray, m: int) -> np.ndarray:
    """(ways, categories + 1) shares of the categories, and agreement, of an item filled so."""
    return np.column_stack([way / m, (way * (way - 1)).sum(axis=1) / (m * (m - 1))])


def _kappa_of(mean: np.ndarray) -> np.ndarray:
    expected = np.sum(mean[..., :-1] ** 2, axis=-1)
    return (mean[..., -1] - expected) / (1 - expected)


def _lowest(ways: list[np.ndarray], weights: list[float], total: float, m: int) -> float:
    corners = np.zeros((1, ways[0].shape[1] + 1))
    for way, weight in zip(ways, weights, strict=True):
        corners = (corners[:, None] + weight / total * _parts(way, m)[None]).reshape(-1, corners.shape[1])
        corners = np.unique(np.round(corners, 12), axis=0)
    return float(_kappa_of(corners).min())


def _highest(ways: list[np.ndarray], weights: list[float], total: float, m: int) -> float:
    """Largest kappa by Dinkelbach's steps: λ rises to the kappa at the maximum of the concave expression."""
    parts = [weight / total * _parts(way, m) for way, weight in zip(ways, weights, strict=True)]
    stacked, sizes = np.concatenate(parts), [len(p) for p in parts]
    ends = np.cumsum(sizes)
    rows = np.zeros((len(sizes), len(stacked)))
    for i, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        rows[i, end - size : end] = 1
    x, best = np.concatenate([np.full(s, 1 / s) for s in sizes]), -np.inf
    for _ in range(50):
        value = float(_kappa_of(x @ stacked))
        if value <= best + 1e-10:
            break
        best = value

        def less(y: np.ndarray, at: float = value) -> tuple[float, np.ndarray]:
            mean = y @ stacked
            gain = mean[-1] - (1 - at) * np.sum(mean[:-1] ** 2)
            slope = stacked[:, -1] - 2 * (1 - at) * stacked[:, :-1] @ mean[:-1]
            return -gain, -slope

        limits = {"type": "eq", "fun": lambda y: rows @ y - 1, "jac": lambda y: rows}
        optimum = minimize(  # type: ignore[call-overload] # the stubs know constraints of one value only
            less, x, jac=True, bounds=[(0, 1)] * len(x), constraints=[limits], options={"ftol": 1e-13, "maxiter": 300}
        )
        x = np.clip(optimum.x, 0, None)
        x = x / (rows.T @ (rows @ x))
    return best
