"""Quantiles and tails of the distributions that intervals and tests rest on, by `scipy.special`.

`scipy.stats` has the same ones, but takes half a second to import: for most notebooks that is as long as an analysis.
Arrays broadcast. Each is checked against its namesake in `scipy.stats`.
"""

from __future__ import annotations

import numpy as np
from scipy import special


def norm_ppf(p):
    """Quantile of the standard normal distribution. Checked against `scipy.stats.norm.ppf`."""
    return special.ndtri(p)


def t_ppf(p, df):
    """Quantile of Student's t. Checked against `scipy.stats.t.ppf`."""
    return special.stdtrit(df, p)


def t_sf(t, df):
    """Share of Student's t above `t`. Checked against `scipy.stats.t.sf`."""
    return special.stdtr(df, -np.asarray(t))


def beta_ppf(p, a, b):
    """Quantile of the beta distribution. Checked against `scipy.stats.beta.ppf`."""
    return special.betaincinv(a, b, p)


def chi2_cdf(x, df):
    """Share of chi-square below `x`. Checked against `scipy.stats.chi2.cdf`."""
    return special.chdtr(df, x)


def chi2_sf(x, df):
    """Share of chi-square above `x`. Checked against `scipy.stats.chi2.sf`."""
    return special.chdtrc(df, x)


def ncx2_cdf(x, df, noncentrality):
    """Share of noncentral chi-square below `x`. Checked against `scipy.stats.ncx2.cdf`."""
    return special.chndtr(x, df, noncentrality)


def f_sf(x, df1, df2):
    """Share of F above `x`. Checked against `scipy.stats.f.sf`."""
    return special.fdtrc(df1, df2, x)


def coin_cdf(k, n):
    """Probability of at most k heads in n throws of a fair coin. Checked against `scipy.stats.binom.cdf`."""
    k, n = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    return np.where(k < n, special.betainc(np.maximum(n - k, 1), k + 1, 0.5), 1.0)


def coin_ppf(p, n):
    """Smallest k with a probability of at least `p` of at most k heads in n throws of a fair coin.

    Checked against `scipy.stats.binom.ppf`.
    """
    k = np.maximum(np.ceil(special.bdtrik(p, np.maximum(n, 1), 0.5)), 0)
    fewer = np.maximum(k - 1, 0)  # the inverse may lie a rounding error above a whole number
    return np.where(coin_cdf(fewer, n) >= p, fewer, k)
