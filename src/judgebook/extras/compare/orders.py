"""Do two runs put systems in the same order, and do their conclusions about pairs of systems agree?

The share of pairs in the same order compares means, whose order is partly chance where systems are close. Its interval
is therefore about the *true* order: with simultaneous confidence, pairs that differ significantly in both runs with the
same sign are in the same true order, those with opposite signs are not, and all others are open. Resampling would not
do: it adds noise a second time and breaks up order that is there.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import stdtr

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
    dict: pairs, with a difference in both runs; ties, those without one in a run; same, in the same order;
    significant at `alpha` without adjustment: same_sign, opposite, only_a, only_b, neither; the same for all pairs and
    runs at once (Bonferroni): sure_same, sure_opposite; tested, pairs with a p-value in both runs; changed, pairs whose
    difference is not the same in both runs, for all pairs at once.
    """
    a, b = (pairs[f"{run}_estimate"].to_numpy() for run in "ab")
    defined = np.isfinite(a) & np.isfinite(b)
    tied = defined & ((a == 0) | (b == 0))
    untied = defined & ~tied
    p = pairs[["a_p", "b_p"]].to_numpy(float)
    tested = defined & np.isfinite(p).all(axis=1)
    rejected = (p < alpha) & tested[:, None]
    sure = (p < alpha / max(2 * tested.sum(), 1)) & tested[:, None]
    alike = a * b > 0
    out = {"pairs": untied, "ties": tied, "same": untied & alike, "tested": tested}
    out |= {"same_sign": rejected.all(axis=1) & alike, "opposite": rejected.all(axis=1) & ~alike}
    out |= {"only_a": rejected[:, 0] & ~rejected[:, 1], "only_b": rejected[:, 1] & ~rejected[:, 0]}
    out["neither"] = tested & ~rejected.any(axis=1)
    out |= {"sure_same": sure.all(axis=1) & alike, "sure_opposite": sure.all(axis=1) & ~alike}
    out["changed"] = tested & (pairs["change_p"].to_numpy() < alpha / max(tested.sum(), 1))
    return {name: int(rows.sum()) for name, rows in out.items()}


def agreement(counted: dict[str, float]) -> tuple[float, float, float]:
    """Share of pairs in the same order, ties left out, and its interval (see the module); NaN where there is none."""
    if not counted["pairs"]:
        return np.nan, np.nan, np.nan
    share = counted["same"] / counted["pairs"]
    if counted["tested"] < counted["pairs"]:
        return share, np.nan, np.nan
    low, high = counted["sure_same"] / counted["pairs"], 1 - counted["sure_opposite"] / counted["pairs"]
    return share, min(low, share), max(high, share)
