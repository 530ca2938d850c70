"""Thresholds and correlations of a normal model that give printed shares: what the simulated techniques and moderation
are fitted with.

A mark is 1 where m + sqrt(c) z + sqrt(1 - c) e > 0, z being shared by the marks of one conversation or item and e its
own; z, e standard normal. Its expected rate is then the one asked for whatever c is, and c is the correlation between
the normal variables of two marks of a conversation. Expectations over z are taken by Gauss-Hermite quadrature.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
#: a rate printed as 0% or 100% is taken as this far from it
_EDGE = 0.005


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


def squared_share(rates: np.ndarray, c: float) -> float:
    """Expected x² / (x² + y²) of a conversation with x marks and y turns without (Smith et al. 2022, Table 1)."""
    n, k = len(rates), np.arange(len(rates) + 1)
    return float(count_distribution(rates, c) @ (k**2 / (k**2 + (n - k) ** 2)))


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
