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
) -> dict[str, Any]:
    """Estimate and BCa interval of a statistic of units that are drawn with replacement.

    statistic : from (k, kinds) arrays, how often each kind of unit is in each of k resamples, to (k,) values.
    times : (kinds,) how often each kind of unit is in the data. Units that are alike are of one kind: a resample costs
    as much as there are kinds. at_once : resamples that `statistic` gets at once.

    Returns columns of results. Resamples in which the statistic is undefined are left out and counted. Without any
    spread, or with more undefined resamples than lie beyond an end, the interval is missing and `note` says why.
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, eqs 14.10 and 14.15.
    """
    times = np.asarray(times, dtype=float)
    n, estimate, tail = int(times.sum()), float(statistic(times[None])[0]), (1 - confidence) / 2
    drawn = np.random.default_rng(seed).multinomial(n, times / n, size=n_resamples).astype(float)
    values = np.concatenate([statistic(drawn[i : i + at_once]) for i in range(0, n_resamples, at_once)])
    defined, missing = values[np.isfinite(values)], int(np.sum(~np.isfinite(values)))
    row = {"estimate": estimate, "ci_low": np.nan, "ci_high": np.nan, "ci_kind": "not_estimable", "note": None}
    row |= {"n_clusters": n, "n_undefined": missing}
    if not np.isfinite(estimate) or missing > tail * n_resamples or np.ptp(defined) <= 1e-12 * max(1, abs(estimate)):
        few = f"undefined in {missing} of {n_resamples} resamples" if missing else "every resample gives the same value"
        return row | {"note": few if np.isfinite(estimate) else "the statistic is undefined on these data"}
    left_out = times - np.eye(len(times))  # without one unit of each kind
    without = np.concatenate([statistic(left_out[i : i + at_once]) for i in range(0, len(times), at_once)])
    influence = times @ without / n - without
    slack = 1e-12 * max(1, abs(estimate))  # ties up to rounding count half on either side
    bias = stats.norm.ppf((np.mean(defined < estimate - slack) + np.mean(defined <= estimate + slack)) / 2)
    acceleration = times @ influence**3 / (6 * (times @ influence**2) ** 1.5)
    z = bias + stats.norm.ppf([tail, 1 - tail])
    levels = stats.norm.cdf(bias + z / (1 - acceleration * z))
    if not np.isfinite(levels).all():
        return row | {"note": "the estimate lies outside all resamples, or needs every unit"}
    low, high = np.quantile(defined, levels, method="weibull")
    return row | {"ci_low": low, "ci_high": high, "ci_kind": "bca"}
