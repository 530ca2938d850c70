"""Correlation coefficients: many resamples at once, ranked anew in each, and Kendall's tau-b with clusters.

What is done with metrics and human ratings is in `metric_correlation`.

References: Kendall 1945, Biometrika 33, 239-251 (tau-b); van der Vaart 1998, Asymptotic Statistics, chapter 12
(projection of U-statistics); Fisher 1921, Metron 1, 3-32; Alexander 1990, Bulletin of the Psychonomic Society 28,
335-336 (averages of correlations).
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan, sqrt

import numpy as np
from scipy import stats

COEFFICIENTS = ("pearson", "spearman", "kendall")
#: fewer items than this give no correlation
MIN_ITEMS = 3
#: numbers that one chunk may hold at once
CHUNK = 2_000_000


def correlate(x: np.ndarray, y: np.ndarray, coefficient: str = "spearman") -> tuple[float, str]:
    """A correlation of two samples, and '' or why it is undefined (too few items, a constant side).

    x, y : (n,); pairs with a missing value are left out. Checked against scipy's coefficients.
    """
    if coefficient not in COEFFICIENTS:
        raise ValueError(f"coefficient: expected one of {', '.join(COEFFICIENTS)}, found {coefficient!r}")
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if len(x) < MIN_ITEMS:
        return nan, f"{len(x)} items have both scores, {MIN_ITEMS} are needed"
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return nan, "one of the two sides is constant"
    if coefficient == "kendall":
        return float(stats.kendalltau(x, y).statistic), ""
    return float(weighted_correlations(x, y[:, None], np.ones((1, len(x))), coefficient)[0, 0]), ""


def weighted_ranks(x: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Midranks within resamples. x : (n,) values; counts : (k, n) how often each occurs. Returns (k, n), exact.

    Checked against `scipy.stats.rankdata` of the resample written out.
    """
    _, codes, sizes = np.unique(x, return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ties = np.add.reduceat(counts[:, order], starts, axis=1)
    return (np.cumsum(ties, axis=1) - (ties - 1) / 2)[:, codes]


def weighted_correlations(x: np.ndarray, y: np.ndarray, counts: np.ndarray, coefficient: str) -> np.ndarray:
    """Correlation of x with each column of y within resamples: Pearson, or Spearman ranked anew in each.

    x : (n,), y : (n, m), NaN missing, left out pair by pair; counts : (k, n), how often each item is drawn. Returns
    (k, m), NaN where a side is constant. Checked against scipy's coefficients of the resample written out.
    """
    one = _spearman if coefficient == "spearman" else _pearson
    out, present = np.full((len(counts), y.shape[1]), nan), np.isfinite(x)[:, None] & np.isfinite(y)
    for mask in np.unique(present, axis=1).T:  # columns that lack the same items share the work on x
        if mask.sum() >= MIN_ITEMS:
            columns = np.flatnonzero((present == mask[:, None]).all(axis=0))
            c = counts if mask.all() else counts[:, mask]
            out[:, columns] = one(x[mask], y[np.ix_(mask, columns)], c)
    return np.clip(out, -1, 1)


def _pearson(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """All sums over resamples in one matrix product."""
    n = counts.sum(axis=1)[:, None]
    x, y = (x - x.mean())[:, None], y - y.mean(axis=0)
    mean_x, mean_y, xx, yy, xy = (counts @ v / n for v in (x, y, x * x, y * y, x * y))
    return _ratio(xy - mean_x * mean_y, xx - mean_x**2, yy - mean_y**2, xx, yy)


def _spearman(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    n = counts.sum(axis=1)[:, None]
    middle = (n + 1) / 2  # the mean of midranks, whatever the ties
    u = weighted_ranks(x, counts) - middle
    weighted = counts * u
    uu, out = np.einsum("kn,kn->k", weighted, u), []
    for column in y.T:
        v = weighted_ranks(column, counts) - middle
        vv = np.einsum("kn,kn,kn->k", counts, v, v)
        out.append(_ratio(np.einsum("kn,kn->k", weighted, v), uu, vv, n[:, 0] ** 3, n[:, 0] ** 3))
    return np.stack(out, axis=1)


def _ratio(covariance, variance_x, variance_y, scale_x, scale_y) -> np.ndarray:
    """Correlation from moments; NaN where a variance is nothing but rounding on its scale."""
    with np.errstate(divide="ignore", invalid="ignore"):
        flat = (variance_x <= 1e-12 * scale_x) | (variance_y <= 1e-12 * scale_y)
        return np.where(flat, nan, covariance / np.sqrt(variance_x * variance_y))


def by_clusters(clusters: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """A statistic of item counts (k, n) as one of resampled clusters (k, j), within bounded memory.

    clusters : (n,) number of the cluster of each item, from 0.
    """
    n_clusters = int(clusters.max()) + 1

    def of_clusters(index: np.ndarray) -> np.ndarray:
        out = []
        for part in np.array_split(index, -(-len(index) * len(clusters) // CHUNK)):
            flat = (part + n_clusters * np.arange(len(part))[:, None]).ravel()
            drawn = np.bincount(flat, minlength=len(part) * n_clusters).reshape(len(part), n_clusters)
            out.append(statistic(drawn.astype(float)[:, clusters]))
        return np.concatenate(out)

    return of_clusters


def kendall(
    x: np.ndarray, y: np.ndarray, clusters: np.ndarray | None = None, confidence: float = 0.95
) -> tuple[float, float, float, str]:
    """Kendall's tau-b with a cluster-robust interval: estimate, low, high, and '' or why there is no interval.

    x, y : (n,) without missing values; clusters : (n,) numbers from 0, by default each item its own.

    tau-b is a ratio of averages over pairs. Each average is replaced by its projection on single items, their sum by
    cluster gives the variance, and the interval is Student's t on Fisher's scale. The bootstrap would take n squared
    operations a resample. Estimate checked against `scipy.stats.kendalltau`, interval against the bootstrap and by
    simulated coverage.
    """
    tau, reason = correlate(x, y, "kendall")
    if reason:
        return nan, nan, nan, reason
    n = len(x)
    clusters = np.arange(n) if clusters is None else clusters
    n_clusters = len(np.unique(clusters))
    if n_clusters < 3 or abs(tau) > 1 - 1e-12:
        return tau, nan, nan, "the association is perfect" if n_clusters >= 3 else "fewer than three clusters"
    a, b, c = _projections(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    influence = 2 * (a - a.mean()) / sqrt(b.mean() * c.mean())
    influence -= tau * ((b - b.mean()) / b.mean() + (c - c.mean()) / c.mean())
    totals = np.bincount(clusters, influence)
    se = sqrt(n_clusters / (n_clusters - 1) * np.sum(totals**2)) / n
    half = stats.t.ppf((1 + confidence) / 2, n_clusters - 1) * se / (1 - tau**2)
    low, high = np.tanh(np.arctanh(tau) + np.array([-half, half]))
    return tau, float(low), float(high), ""


def _projections(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(3, n): for each item the mean over others of sign(dx) sign(dy), of |sign(dx)| and of |sign(dy)|."""
    parts = []
    for at in np.array_split(np.arange(len(x)), -(-(len(x) ** 2) // CHUNK)):
        dx, dy = np.sign(x[at, None] - x), np.sign(y[at, None] - y)
        parts.append(np.stack([(dx * dy).sum(axis=1), (dx != 0).sum(axis=1), (dy != 0).sum(axis=1)]))
    return np.concatenate(parts, axis=1) / (len(x) - 1)


def fisher_mean(r: np.ndarray) -> tuple[float, int, int]:
    """Average of correlations on Fisher's scale: the mean, how many entered, how many with |r| = 1 were left out.

    Missing correlations are neither. |r| = 1 has no finite z; with nothing left the mean is missing (NaN). Checked
    against R's psych (`fisherz`, `fisherz2r`).
    """
    r = np.asarray(r, dtype=float)
    r = r[np.isfinite(r)]
    inside = r[np.abs(r) < 1 - 1e-12]
    mean = float(np.tanh(np.mean(np.arctanh(inside)))) if len(inside) else nan
    return mean, len(inside), len(r) - len(inside)
