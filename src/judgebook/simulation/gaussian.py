"""Probabilities of categories cut from two correlated normal variables: the population side of the simulation.

Every judgement of the simulated study is an ordered category cut from a normal variable, so that all its population
values follow from the probability that two such variables fall into two categories.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)


def bivariate_cdf(h: np.ndarray, k: np.ndarray, r: float | np.ndarray) -> np.ndarray:
    """P(X <= h, Y <= k) for standard normal X, Y with correlation r, elementwise over broadcast arrays.

    Plackett's identity dP/dr = density, integrated from independence over theta = arcsin(r) by 32-point Gauss-Legendre
    (Drezner and Wesolowsky 1990, On the computation of the bivariate normal integral, J. Stat. Comput. Simul. 35).
    Good to 1e-8 for abs(r) <= 0.95.
    """
    h, k, r = (np.asarray(x, dtype=float)[..., None] for x in np.broadcast_arrays(h, k, r))
    end = np.arcsin(r)
    theta = end * (_NODES + 1) / 2
    exponent = (h * h - 2 * h * k * np.sin(theta) + k * k) / (2 * np.cos(theta) ** 2)
    integral = (np.exp(-exponent) * _WEIGHTS).sum(-1) * end[..., 0] / 2
    return ndtr(h[..., 0]) * ndtr(k[..., 0]) + integral / (2 * np.pi)


def marginal(cuts: np.ndarray) -> np.ndarray:
    """Probability of each category of a standard normal cut at `cuts` (..., c - 1): array (..., c)."""
    cdf = ndtr(cuts)
    edge = np.zeros((*cdf.shape[:-1], 1))
    return np.diff(np.concatenate([edge, cdf, edge + 1], axis=-1))


def joint(cuts_a: np.ndarray, cuts_b: np.ndarray, r: float | np.ndarray) -> np.ndarray:
    """Joint probabilities of two categorised standard normals with correlation r.

    cuts_a : (..., a - 1) and cuts_b : (..., b - 1) ascending cuts; leading axes broadcast, also with `r`. Returns
    (..., a, b).
    """
    cuts_a, cuts_b = np.asarray(cuts_a, dtype=float), np.asarray(cuts_b, dtype=float)
    lead = np.broadcast_shapes(cuts_a.shape[:-1], cuts_b.shape[:-1], np.shape(r))
    cuts_a = np.broadcast_to(cuts_a, (*lead, cuts_a.shape[-1]))
    cuts_b = np.broadcast_to(cuts_b, (*lead, cuts_b.shape[-1]))
    grid = np.zeros((*lead, cuts_a.shape[-1] + 2, cuts_b.shape[-1] + 2))
    inner = bivariate_cdf(cuts_a[..., :, None], cuts_b[..., None, :], np.asarray(r)[..., None, None])
    grid[..., 1:-1, 1:-1] = inner
    grid[..., -1, 1:-1], grid[..., 1:-1, -1] = ndtr(cuts_b), ndtr(cuts_a)
    grid[..., -1, -1] = 1
    return np.diff(np.diff(grid, axis=-2), axis=-1)


def ordinal_alpha(table: np.ndarray) -> float:
    """Krippendorff's alpha, ordinal level, of an infinite number of units with two values each.

    table : (c, c) joint probabilities of the two values. The observed coincidences are its symmetric part; distances
    follow from the marginal, as in Krippendorff 2011, Computing Krippendorff's alpha-reliability, section on ordinal
    data. Missing where only one category can occur.
    """
    o = (table + table.T) / 2
    n = o.sum(0)
    below = np.cumsum(n) - n / 2
    d = (below[:, None] - below[None, :]) ** 2
    expected = (n[:, None] * n[None, :] * d).sum()
    return float(1 - (o * d).sum() / expected) if expected > 0 else float("nan")
