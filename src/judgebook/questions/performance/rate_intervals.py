"""Intervals of one rate or mean: of independent scores, and of scores in few clusters or with rare marks.

References
----------
Wilson 1927, JASA 22, 209-212. Korn and Graubard 1998, Survey Methodology 24, 193-201 (rare marks in clustered samples).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from judgebook.statistics.intervals import MIN_MINORITY

#: with fewer clusters than this there is no bootstrap
FEW_CLUSTERS = 10


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion of `n` independent trials; ValueError unless 0 <= successes <= n > 0."""
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"expected 0 <= successes <= n, n at least 1; found {successes} of {n}")
    low, high = wilson_of(successes / n, n, confidence)
    return float(low), float(high)


def wilson_of(
    share: np.ndarray | float, n: np.ndarray | float, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Wilson's score interval of a share of n trials, which need not be whole numbers. Arrays broadcast."""
    z = ndtri((1 + confidence) / 2)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.where(share == 0, 0.0, centre - half), np.where(share == 1, 1.0, centre + half)  # exact at the ends


def design_effect(n: np.ndarray, s: np.ndarray, q: np.ndarray) -> float:
    """Variance of the mean of clustered scores relative to that of independent scores.

    Linearised variance of a ratio, with the correction c / (c - 1) for c clusters; NaN with fewer than two clusters or
    without spread.

    Parameters
    ----------
    n, s, q : (clusters,)
        Number of scores, their sum, and their sum of squares; with sampling weights weighted ones, so that the ratio is
        Hájek's estimate and the effect that of clusters and of weights (Särndal et al. 1992, section 5.7).

    References
    ----------
    Cochran 1977, Sampling Techniques, eq. 9.15 with 2.46.
    """
    c, total = len(n), n.sum()
    spread = q.sum() - s.sum() ** 2 / total
    if c < 2 or total < 2 or spread <= 1e-12 * max(q.sum(), 1):
        return np.nan
    residual = s - n * s.sum() / total
    clustered = c / (c - 1) * np.sum(residual**2) / total**2
    return float(clustered / (spread / (total - 1) / total))


def few_interval(
    n: np.ndarray, s: np.ndarray, q: np.ndarray, unit: str, confidence: float = 0.95
) -> dict[str, Any] | None:
    """Interval of a mean from fewer than FEW_CLUSTERS clusters as columns of a result row, else None.

    n, s, q : as in `design_effect`. A bootstrap of few clusters is too narrow: this is Student's t with one degree of
    freedom fewer than clusters, on the linearised variance of `design_effect`.
    """
    c, total = len(n), n.sum()
    if c >= FEW_CLUSTERS:
        return None
    mean, deff = s.sum() / total, design_effect(n, s, q)
    row = {"estimate": mean, "ci_low": np.nan, "ci_high": np.nan, "ci_kind": "not_estimable"}
    row |= {"resample_unit": unit, "n_clusters": c, "n_undefined": 0, "note": f"one {unit}, or no spread"}
    if not np.isfinite(deff) or deff == 0:
        return row
    variance = deff * (q.sum() - s.sum() ** 2 / total) / (total - 1) / total
    half = stdtrit(c - 1, (1 + confidence) / 2) * np.sqrt(variance)
    return row | {"ci_low": mean - half, "ci_high": mean + half, "ci_kind": "t", "note": "few clusters: Student's t"}


def rare_bound(marks: float, n: int, n_clusters: int, deff: float, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a rate with few marks of one kind in a clustered sample: exact binomial with the effective number.

    With no mark, or with nothing but marks, the design effect is unknown; each cluster then counts as one trial, which
    is conservative, as a rate cannot exceed the share of clusters with the mark. With deff 1 and as many clusters as
    scores it is Clopper and Pearson's interval.

    Parameters
    ----------
    marks, n, n_clusters : number
        Marks among `n` scores in `n_clusters` clusters; no whole number where several annotations of an item differ.
    deff : float
        The design effect; below 1 counts as 1.

    References
    ----------
    Korn and Graubard 1998, section 2.
    """
    tail, effective = (1 - confidence) / 2, effective_trials(marks, n, n_clusters, deff, confidence)
    x = marks / n * effective
    low = betaincinv(x, effective - x + 1, tail) if marks > 0 else 0.0
    high = betaincinv(x + 1, effective - x, 1 - tail) if marks < n else 1.0
    return float(low), float(high)


def effective_trials(marks: float, n: int, n_clusters: int, deff: float, confidence: float = 0.95) -> float:
    """How many independent trials say as much as n clustered ones: arguments as for `rare_bound`."""
    if marks in (0, n) or n_clusters < 2 or not np.isfinite(deff):
        return float(n_clusters)
    tail = (1 - confidence) / 2
    ratio = stdtrit(n - 1, tail) / stdtrit(n_clusters - 1, tail)
    return float(min(n, n / max(deff, 1.0) * ratio**2))


def clustered_wilson(n: np.ndarray, s: np.ndarray, unit: str, confidence: float = 0.95) -> dict[str, Any]:
    """A share of clustered trials with Wilson's interval at their effective number, as columns of a result row.

    Holds for few trials and shares near 0 and 1, where a bootstrap says too little. Of independent trials it is
    Wilson's interval; where all trials have the same outcome, each cluster counts as one.

    Parameters
    ----------
    n, s : (clusters,)
        Trials and successes of each cluster, whole numbers; clusters without trials do not count.
    unit : str
        What a cluster is.

    Returns
    -------
    estimate, ci_low, ci_high, ci_kind, resample_unit, n_clusters, n (trials) and note. No interval, and the reason,
    without trials (the estimate is then missing), or with one cluster of several.

    References
    ----------
    Korn and Graubard 1998, section 2 (the effective number); Franco, Little, Louis and Slud 2019, Journal of Survey
    Statistics and Methodology 7, 334-364 (Wilson's interval with it).
    """
    n, s = n[n > 0], s[n > 0]
    trials, hits, c = int(n.sum()), float(s.sum()), len(n)
    row = {"resample_unit": unit, "n_clusters": c, "n": trials}
    if not trials or (c == 1 and trials > 1):
        note = f"all in one {unit}" if trials else "nothing to take a share of"
        return row | {"estimate": hits / trials if trials else np.nan, "ci_kind": "not_estimable", "note": note}
    effective = effective_trials(hits, trials, c, design_effect(n, s, s), confidence)
    low, high = wilson_of(hits / trials, effective, confidence)
    return row | {"estimate": hits / trials, "ci_low": float(low), "ci_high": float(high), "ci_kind": "wilson"}


def rare_interval(
    n: np.ndarray, s: np.ndarray, q: np.ndarray, unit: str, confidence: float = 0.95
) -> dict[str, Any] | None:
    """`rare_bound` as columns of a result row where fewer than MIN_MINORITY marks are of the rarer kind, else None.

    n, s, q : as in `design_effect`, of scores from 0 to 1.
    """
    marks, total = float(np.round(s.sum(), 9)), round(n.sum())
    if min(marks, total - marks) >= MIN_MINORITY:
        return None
    low, high = rare_bound(marks, total, len(n), design_effect(n, s, q), confidence)
    note = f"{marks:g} of {total}: too few of one kind for the bootstrap; exact binomial with the effective number"
    row = {"estimate": marks / total, "ci_low": low, "ci_high": high, "ci_kind": "exact_bound"}
    return row | {"resample_unit": unit, "n_clusters": len(n), "n_undefined": 0, "note": note}
