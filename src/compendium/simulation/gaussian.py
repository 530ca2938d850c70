"""Probabilities of categories cut from two correlated normal variables: the population side of the simulation.

Every judgement of the simulated study is an ordered category cut from a normal variable, so that all its population
values follow from the probability that two such variables fall into two categories.

Techniques and moderation are fitted to printed shares. A mark is 1 where m + sqrt(c) z + sqrt(1 - c) e > 0, z being
shared by the marks of one conversation or item and e its own; z, e standard normal. Its expected rate is then the one
asked for whatever c is, and c is the correlation between the normal variables of two marks of a conversation.
Expectations over z are taken by Gauss-Hermite quadrature.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

_LEGENDRE_NODES, _LEGENDRE_WEIGHTS = np.polynomial.legendre.leggauss(32)
#: of expectations over a standard normal variable
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
#: a rate printed as 0% or 100% is taken as this far from it
_EDGE = 0.005


def bivariate_cdf(h: np.ndarray, k: np.ndarray, r: float | np.ndarray) -> np.ndarray:
    """P(X <= h, Y <= k) for standard normal X, Y with correlation r, elementwise over broadcast arrays.

    Plackett's identity dP/dr = density, integrated from independence over theta = arcsin(r) by 32-point Gauss-Legendre
    (Drezner and Wesolowsky 1990, On the computation of the bivariate normal integral, J. Stat. Comput. Simul. 35).
    Good to 1e-8 for abs(r) <= 0.95.
    """
    h, k, r = (np.asarray(x, dtype=float)[..., None] for x in np.broadcast_arrays(h, k, r))
    end = np.arcsin(r)
    theta = end * (_LEGENDRE_NODES + 1) / 2
    exponent = (h * h - 2 * h * k * np.sin(theta) + k * k) / (2 * np.cos(theta) ** 2)
    integral = (np.exp(-exponent) * _LEGENDRE_WEIGHTS).sum(-1) * end[..., 0] / 2
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


def threshold(rate: np.ndarray | float) -> np.ndarray:
    """m of marks with this expected rate."""
    return ndtri(np.clip(rate, _EDGE, 1 - _EDGE))


def count_distribution(rates: np.ndarray, c: float) -> np.ndarray:
    """Distribution of the number of marks among turns with these expected rates: (turns + 1,) probabilities.

    rates : (turns,) expected rates; c : correlation of the normal variables of two turns, 0 <= c < 1.
    """
    m = threshold(np.asarray(rates, dtype=float))
    marked = ndtr((m + np.sqrt(c) * NODES[:, None]) / np.sqrt(1 - c))
    distribution = np.ones((len(NODES), 1))
    for p in marked.T[:, :, None]:
        none = np.zeros_like(p)
        distribution = np.hstack([distribution * (1 - p), none]) + np.hstack([none, distribution * p])
    return WEIGHTS @ distribution


def winner_share(rates: np.ndarray, c: float, needed: int) -> float:
    """Expected share of conversations with at least `needed` marks."""
    return float(count_distribution(rates, c)[needed:].sum())


def correlation(rates: np.ndarray, needed: int, aim: float, low: float, high: float, n: int) -> float:
    """c at which `winner_share` is `aim`.

    Where none in [low, high] gives it: `low` if its share lies within a standard error of the aim, a share of n
    conversations, so that noise in print is not read as dependence; else the end that comes nearest.
    """

    def excess(c: float) -> float:
        return winner_share(rates, c, needed) - aim

    ends = excess(low), excess(high)
    if ends[0] * ends[1] <= 0:
        return float(brentq(excess, low, high, xtol=1e-6))
    noise = np.sqrt(aim * (1 - aim) / n)
    return low if abs(ends[0]) <= max(noise, abs(ends[1])) else high


def rating_mean(location: float, cuts: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of ratings 1, 2, … cut from a normal variable with this mean and variance 1."""
    edges = np.concatenate([[0.0], ndtr(np.asarray(cuts) - location), [1.0]])
    p, score = np.diff(edges), np.arange(1, len(edges))
    mean = p @ score
    return float(mean), float(np.sqrt(p @ score**2 - mean**2))


def location(mean: float, cuts: np.ndarray) -> float:
    """The location at which `rating_mean` is `mean`."""
    return float(brentq(lambda m: rating_mean(m, cuts)[0] - mean, -8, 8, xtol=1e-10))
