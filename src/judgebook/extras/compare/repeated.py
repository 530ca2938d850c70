"""Do conclusions of two runs about pairs of systems agree, and how far do their scores vary (CV*)?

The coefficient of variation for small samples, CV*, has both corrections of Belz, Popović and Mille: the standard
deviation is divided by c4, its bias in samples of n from a normal distribution, and the coefficient is multiplied by
1 + 1/(4n). A coefficient of variation needs a scale that starts at 0, so values are counted from the low end of their
scale (Belz et al. 2022, section 3).

References: Belz, Popović and Mille 2022, Quantified reproducibility assessment of NLP results, ACL, 16-28; Belz 2022, A
metrological perspective on reproducibility in NLP, Computational Linguistics 48, 1125-1135; Sokal and Rohlf 1995,
Biometry, section 4.9 (the factor for small samples).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import gammaln, stdtr

#: means that differ by less, in units of the larger, are tied
TIE = 1e-12


def gaps(means: np.ndarray, jackknife: list[np.ndarray]) -> pd.DataFrame:
    """Differences between all pairs of systems in both runs, with p-values.

    Parameters
    ----------
    means : (2, systems) array
    jackknife : for each run a (clusters, systems) array
        The means without each cluster of that run.

    Returns
    -------
    DataFrame with a row per pair: i, j (places of the systems), and a_ and b_ estimate, error (jackknife standard
    error) and p (two-sided, Student's t with clusters − 1 degrees of freedom); missing where not estimable.

    References
    ----------
    Efron and Tibshirani 1993, eq. 11.5.
    """
    pairs = np.array(list(combinations(range(means.shape[1]), 2)), dtype=int).reshape(-1, 2)
    out = {"i": pairs[:, 0], "j": pairs[:, 1]}
    for run, (values, left) in zip("ab", zip(means, jackknife, strict=True), strict=True):
        difference = values[pairs[:, 0]] - values[pairs[:, 1]]
        scale = np.maximum(np.abs(values[pairs]).max(axis=1), 1e-300)
        difference = np.where(np.abs(difference) <= TIE * scale, 0.0, difference)
        c = len(left)
        error = np.full(len(pairs), np.nan)
        if c > 1:
            moved = left[:, pairs[:, 0]] - left[:, pairs[:, 1]]
            error = np.sqrt((c - 1) / c * np.sum((moved - moved.mean(axis=0)) ** 2, axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * stdtr(max(c - 1, 1), -np.abs(difference) / np.where(error > 0, error, np.nan))
        out |= {f"{run}_estimate": difference, f"{run}_error": error, f"{run}_p": p}
    return pd.DataFrame(out)


def changes(means: np.ndarray, jackknife: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """p-values of the hypotheses that the difference between two systems is the same in both runs.

    Parameters
    ----------
    means : (2, systems) array
    jackknife : (clusters, 2, systems) array
        The means of both runs without each cluster.
    groups : (clusters,) array
        Codes of clusters that took part in the same runs.

    Returns
    -------
    (pairs,) array in the order of `gaps`, two-sided, Student's t with clusters − groups degrees of freedom; NaN where
    not estimable.

    References
    ----------
    Wolter 2007, Introduction to Variance Estimation, section 4.5 (the jackknife in strata); Gelman and Stern 2006, The
    American Statistician 60, 328-331 (why differences are tested, not compared by their significance).
    """
    i, j = np.triu_indices(means.shape[1], 1)
    moved = np.subtract(*np.moveaxis(jackknife[..., i] - jackknife[..., j], 1, 0))
    codes, n = np.unique(groups, return_inverse=True, return_counts=True)[1:]
    degrees = len(codes) - len(n)
    if degrees < 1:
        return np.full(len(i), np.nan)
    centre = np.stack([moved[codes == k].mean(axis=0) for k in range(len(n))])
    error = np.sqrt(np.sum(((n - 1) / n)[codes, None] * (moved - centre[codes]) ** 2, axis=0))
    change = np.abs(np.subtract(*(means[:, i] - means[:, j])))
    with np.errstate(divide="ignore", invalid="ignore"):
        return 2 * stdtr(degrees, -change / np.where(error > 0, error, np.nan))


def counts(pairs: pd.DataFrame, alpha: float) -> dict[str, float]:
    """How the pairs of `gaps`, with `change_p` from `changes`, agree.

    Returns
    -------
    dict: pairs, with a difference in both runs; same, in the same order;
    significant at `alpha` without adjustment: same_sign, opposite, only_a, only_b; the same for all pairs and runs
    at once (Bonferroni): sure_opposite; tested, pairs with a p-value in both runs; changed, pairs whose difference
    is not the same in both runs, for all pairs at once.
    """
    a, b = (pairs[f"{run}_estimate"].to_numpy() for run in "ab")
    defined = np.isfinite(a) & np.isfinite(b)
    untied = defined & (a != 0) & (b != 0)
    p = pairs[["a_p", "b_p"]].to_numpy(float)
    tested = defined & np.isfinite(p).all(axis=1)
    rejected = (p < alpha) & tested[:, None]
    sure = (p < alpha / max(2 * tested.sum(), 1)) & tested[:, None]
    alike = a * b > 0
    out = {"pairs": untied, "same": untied & alike, "tested": tested}
    out |= {"same_sign": rejected.all(axis=1) & alike, "opposite": rejected.all(axis=1) & ~alike}
    out |= {"only_a": rejected[:, 0] & ~rejected[:, 1], "only_b": rejected[:, 1] & ~rejected[:, 0]}
    out["sure_opposite"] = sure.all(axis=1) & ~alike
    out["changed"] = tested & (pairs["change_p"].to_numpy() < alpha / max(tested.sum(), 1))
    return {name: int(rows.sum()) for name, rows in out.items()}


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
