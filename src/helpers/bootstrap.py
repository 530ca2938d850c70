"""The bootstrap interval of the papers: bias-corrected and accelerated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats


def bca(
    statistic: Callable[[np.ndarray], np.ndarray],
    times: np.ndarray,
    n_resamples: int,
    seed: int,
    confidence: float = 0.95,
    at_once: int = 500,
    sample: np.ndarray | None = None,
) -> dict[str, Any]:
    """Estimate and BCa interval of a statistic of units that are drawn with replacement.

    statistic : from (k, kinds) arrays, how often each kind of unit is in each of k resamples, to (k,) values.
    times : (kinds,) how often each kind of unit is in the data. Units that are alike are of one kind: a resample costs
    as much as there are kinds. at_once : resamples that `statistic` gets at once. sample : (kinds,) from 0, the sample
    that units belong to, where several are drawn independently.

    Returns columns of results. Resamples in which the statistic is undefined are left out and counted. Without any
    spread, or with more undefined resamples than lie beyond an end, the interval is missing and `note` says why.
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 14.
    """
    times, sample = np.asarray(times, dtype=float), np.zeros(len(times), dtype=int) if sample is None else sample
    drawn = resampled(times, sample, n_resamples, seed)
    estimate, tail = float(statistic(times[None])[0]), (1 - confidence) / 2
    values = np.concatenate([statistic(drawn[i : i + at_once]) for i in range(0, n_resamples, at_once)])
    missing = n_resamples - len(defined := values[np.isfinite(values)])
    row = {"estimate": estimate, "n_clusters": round(times.sum()), "n_undefined": missing, "note": None}
    row |= {"ci_low": np.nan, "ci_high": np.nan, "ci_kind": "not_estimable"}
    if not np.isfinite(estimate) or missing > tail * n_resamples or np.ptp(defined) <= 1e-12 * max(1, abs(estimate)):
        few = f"undefined in {missing} of {n_resamples} resamples" if missing else "every resample gives the same value"
        return row | {"note": few if np.isfinite(estimate) else "the statistic is undefined on these data"}
    influence = influences(statistic, times, sample, at_once)
    levels = bca_levels(estimate, defined, influence, times, tail)
    if not np.isfinite(levels).all():
        return row | {"note": "the estimate lies outside all resamples, or needs every unit"}
    low, high = np.quantile(defined, levels, method="weibull")
    return row | {"ci_low": low, "ci_high": high, "ci_kind": "bca"}


def resampled(times: np.ndarray, sample: np.ndarray, n_resamples: int, seed: int) -> np.ndarray:
    """(n_resamples, kinds) how often units are drawn, as many of each sample as it has."""
    rng, drawn = np.random.default_rng(seed), np.empty((n_resamples, len(times)))
    for mine in (sample == i for i in np.unique(sample)):
        n = times[mine].sum()
        drawn[:, mine] = rng.multinomial(round(n), times[mine] / n, size=n_resamples)
    return drawn


def influences(
    statistic: Callable[[np.ndarray], np.ndarray], times: np.ndarray, sample: np.ndarray, at_once: int
) -> np.ndarray:
    """(kinds,) how far a unit of each kind moves the statistic, from the statistic without it."""
    kinds, n = np.arange(len(times)), np.bincount(sample, times)
    left_out = (times - (kinds == kinds[i : i + at_once, None]) for i in range(0, len(times), at_once))
    without = np.concatenate([statistic(rows) for rows in left_out])
    mean, share = np.bincount(sample, times * without) / n, (n - 1) / n
    return np.asarray(share[sample] * (mean[sample] - without))


def bca_levels(
    estimate: float, resampled: np.ndarray, influence: np.ndarray, times: np.ndarray, tail: float
) -> np.ndarray:
    """Which quantiles of the resampled values are the ends of the BCa interval; NaN where the transformation fails.

    influence : of leaving out a unit of each kind; times : how often each kind is in the data. Efron and Tibshirani
    1993, eqs 14.10, 14.15 and, for several samples, 15.36.
    """
    slack = 1e-12 * max(1, abs(estimate))  # ties up to rounding count half on either side
    bias = stats.norm.ppf((np.mean(resampled < estimate - slack) + np.mean(resampled <= estimate + slack)) / 2)
    acceleration = times @ influence**3 / (6 * (times @ influence**2) ** 1.5)
    z = bias + stats.norm.ppf([tail, 1 - tail])
    return np.asarray(stats.norm.cdf(bias + z / (1 - acceleration * z)))
