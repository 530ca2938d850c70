"""The coefficient of variation for small samples, CV*: how far repeated measurements of one thing lie apart.

Both corrections of Belz, Popović and Mille are used: the standard deviation is divided by c4, its bias in samples of n
from a normal distribution, and the coefficient is multiplied by 1 + 1/(4n). A coefficient of variation needs a scale
that starts at 0, so values are counted from the low end of their scale (Belz et al. 2022, section 3).

References: Belz, Popović and Mille 2022, Quantified reproducibility assessment of NLP results, ACL, 16-28; Belz 2022, A
metrological perspective on reproducibility in NLP, Computational Linguistics 48, 1125-1135; Sokal and Rohlf 1995,
Biometry, section 4.9 (the factor for small samples).
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln


def cv_star(values: np.ndarray) -> np.ndarray:
    """CV* in percent over the last axis.

    Parameters
    ----------
    values : (…, n) array
        Measurements of the same thing on a scale that starts at 0.

    Returns
    -------
    (…) array; NaN with fewer than two measurements, a missing one, or a mean that is not above 0.
    """
    x = np.asarray(values, dtype=float)
    n = x.shape[-1]
    if n < 2:
        return np.full(x.shape[:-1], np.nan)
    mean = x.mean(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = factor(n) * x.std(axis=-1, ddof=1) / mean
    return np.where(mean > 0, out, np.nan)


def factor(n: int) -> float:
    """What turns standard deviation over mean of n measurements into CV* in percent."""
    c4 = np.sqrt(2 / (n - 1)) * np.exp(gammaln(n / 2) - gammaln((n - 1) / 2))
    return float(100 * (1 + 1 / (4 * n)) / c4)


def relative_difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(a − b) / (a + b), the hyperbolic tangent of half the logarithm of a / b; NaN unless a + b is above 0.

    CV* of two measurements is `of_two` times its absolute value. Fisher's transformation of it is half the log ratio.
    """
    total = a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, (a - b) / total, np.nan)


def of_two(difference: np.ndarray | float) -> np.ndarray | float:
    """CV* of two measurements from their `relative_difference`: |a − b| / √2 over (a + b) / 2, corrected."""
    return factor(2) * np.sqrt(2) * np.abs(difference)


def folded(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of |d| from those of d: from 0 where the interval of d includes 0."""
    ends = np.abs([low, high])
    return np.where((low <= 0) & (high >= 0), 0.0, ends.min(axis=0)), ends.max(axis=0)
