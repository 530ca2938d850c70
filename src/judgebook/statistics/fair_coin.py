"""The binomial distribution of fair coin throws, for sign tests; several times as fast as `scipy.stats.binom`."""

from __future__ import annotations

import numpy as np
from scipy import special


def coin_cdf(k: np.ndarray | float, n: np.ndarray | float) -> np.ndarray:
    """Probability of at most k heads in n throws of a fair coin.

    Examples
    --------
    >>> float(coin_cdf(2, 10).round(4))
    0.0547
    """
    k, n = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    return np.where(k < n, special.betainc(np.maximum(n - k, 1), k + 1, 0.5), 1.0)


def coin_ppf(p: np.ndarray | float, n: np.ndarray | float) -> np.ndarray:
    """Smallest k with a probability of at least `p` of at most k heads in n throws of a fair coin.

    Examples
    --------
    >>> float(coin_ppf(0.975, 10))
    8.0
    """
    k = np.maximum(np.ceil(special.bdtrik(p, np.maximum(n, 1), 0.5)), 0)
    fewer = np.maximum(k - 1, 0)  # the inverse may lie a rounding error above a whole number
    return np.where(coin_cdf(fewer, n) >= p, fewer, k)
