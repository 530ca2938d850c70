"""Correlation coefficients: many resamples at once, with ranks recomputed in each, and the influence of each item.

References: Kendall 1945, Biometrika 33, 239-251 (tau-b); Hoeffding 1948, Annals of Mathematical Statistics 19, 293-325
and van der Vaart 1998, Asymptotic Statistics, chapter 12 (projection of U-statistics); Fisher 1921, Metron 1, 3-32;
Alexander 1990, Bulletin of the Psychonomic Society 28, 335-336 (averages of correlations).
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan, sqrt

import numpy as np
from scipy.special import ndtri, stdtrit

COEFFICIENTS = ("pearson", "spearman", "kendall")
#: fewer items than this give no correlation
MIN_ITEMS = 3


def correlate(x: np.ndarray, y: np.ndarray, coefficient: str = "spearman") -> tuple[float, str]:
    """A correlation of two samples, and '' or why it is undefined (too few items, a constant side).

    Parameters
    ----------
    x, y : (n,) arrays
        Pairs with a missing value are left out.
    coefficient : one of COEFFICIENTS

    Raises
    ------
    ValueError
        For any other coefficient.

    Examples
    --------
    >>> x, y = np.arange(4.0), np.array([1.0, 3.0, 2.0, 4.0])
    >>> [round(correlate(x, y, name)[0], 3) for name in COEFFICIENTS]
    [0.8, 0.8, 0.667]
    >>> correlate(x, np.ones(4))
    (nan, 'one of the two sides is constant')
    """
    if coefficient not in COEFFICIENTS:
        raise ValueError(f"coefficient: expected one of {', '.join(COEFFICIENTS)}, found {coefficient!r}")
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    complete = np.isfinite(x) & np.isfinite(y)
    x, y = x[complete], y[complete]
    if len(x) < MIN_ITEMS:
        return nan, f"{len(x)} items have both scores, {MIN_ITEMS} are needed"
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return nan, "one of the two sides is constant"
    if coefficient == "kendall":
        from scipy.stats import kendalltau  # takes a second to import

        return float(kendalltau(x, y).statistic), ""
    return float(weighted_correlations(x, y[:, None], np.ones((1, len(x))), coefficient)[0, 0]), ""


def rounded(values: np.ndarray) -> np.ndarray:
    """Values to 40 binary digits (12 decimal ones) of the largest, so that those equal but for rounding errors tie.

    Ranks of computed values need this: the last bits of a mean or a standard score depend on the order in which its
    parts were added up.

    Parameters
    ----------
    values : array
        Missing and infinite ones stay as they are.

    Examples
    --------
    >>> values = np.array([0.1 + 0.2, 0.3, 2.0])
    >>> bool(values[0] == values[1]), bool(rounded(values)[0] == rounded(values)[1])
    (False, True)
    """
    values = np.asarray(values, dtype=float)
    largest = np.max(np.abs(values), where=np.isfinite(values), initial=0.0)
    if largest == 0:
        return values
    unit = 2.0 ** (np.ceil(np.log2(largest)) - 40)
    out: np.ndarray = np.round(values / unit) * unit
    return out


def _ranks(x: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Midranks within resamples. x : (n,) values; counts : (n, k) how often each occurs.

    Returns (n, k) midranks less their mean, and (k,) 12 times the sum of squared deviations of all ranks, which is n^3
    minus the cubes of the numbers of ties (Kendall 1945). All are whole numbers or halves, so that sums are exact.
    """
    _, codes, sizes = np.unique(x, return_inverse=True, return_counts=True)
    ties = counts[np.argsort(codes, kind="stable")]
    if len(sizes) < len(x):
        ties = np.add.reduceat(ties, np.concatenate([[0], np.cumsum(sizes)[:-1]]), axis=0)
    ranks = np.cumsum(ties, axis=0)
    n = ranks[-1].copy()
    squares = n**3 - np.einsum("vk,vk,vk->k", ties, ties, ties)
    ties += n  # (n + 1) / 2 is the mean of midranks, whatever the ties
    ties /= 2
    ranks -= ties
    return ranks[codes], squares


def weighted_correlations(x: np.ndarray, y: np.ndarray, counts: np.ndarray, coefficient: str) -> np.ndarray:
    """Correlation of x with each column of y within resamples.

    Parameters
    ----------
    x : (n,) array, or (n, j) for several at once
        NaN is missing, and left out pair by pair.
    y : (n, m) array
    counts : (k, n) array
        How often each item is drawn.
    coefficient : pearson, or spearman ranked anew in each resample

    Returns
    -------
    (k, m) array, or (k, j, m); NaN where a side is constant.
    """
    if x.ndim == 1:
        return weighted_correlations(x[:, None], y, counts, coefficient)[:, 0]
    kernel = _spearman if coefficient == "spearman" else _pearson
    out = np.full((len(counts), x.shape[1], y.shape[1]), nan)
    for left, rows in alike(np.isfinite(x)):
        for right, columns in alike(np.isfinite(y)):
            mask = left & right
            if mask.sum() >= MIN_ITEMS:
                c = counts if mask.all() else counts[:, mask]
                out[:, rows[:, None], columns] = kernel(x[np.ix_(mask, rows)], y[np.ix_(mask, columns)], c)
    clipped: np.ndarray = np.clip(out, -1, 1)
    return clipped


def alike(present: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each distinct column of a boolean matrix with the numbers of the columns equal to it."""
    groups: dict[bytes, list[int]] = {}
    for i, column in enumerate(present.T):
        groups.setdefault(column.tobytes(), []).append(i)
    return [(present[:, at[0]], np.array(at)) for at in groups.values()]


def _pearson(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """All sums over resamples in matrix products."""
    n = counts.sum(axis=1)[:, None]
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    products = (x[:, :, None] * y[:, None, :]).reshape(len(x), -1)
    mean_x, mean_y, xx, yy, xy = (counts @ v / n for v in (x, y, x * x, y * y, products))
    covariance = xy.reshape(len(counts), x.shape[1], -1) - mean_x[:, :, None] * mean_y[:, None, :]
    return _ratio(covariance, xx - mean_x**2, yy - mean_y**2, xx, yy)


def _spearman(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """With resamples as columns: what is done for each item is then done for all resamples in one piece of memory."""
    counts = np.ascontiguousarray(counts.T)
    n = counts.sum(axis=0)[:, None]
    (u, square_u), (v, square_v) = (zip(*(_ranks(column, counts) for column in side.T), strict=True) for side in (x, y))
    covariance = np.stack([[np.einsum("nk,nk->k", a, b) for b in v] for a in (rank * counts for rank in u)])
    variance_x, variance_y = (np.stack(square, axis=1) / 12 for square in (square_u, square_v))
    return _ratio(np.moveaxis(covariance, 2, 0), variance_x, variance_y, n**3, n**3)


def _ratio(
    covariance: np.ndarray, variance_x: np.ndarray, variance_y: np.ndarray, scale_x: np.ndarray, scale_y: np.ndarray
) -> np.ndarray:
    """(k, j, m) correlations from moments; NaN where a variance is nothing but rounding on its scale."""
    with np.errstate(divide="ignore", invalid="ignore"):
        flat = (variance_x <= 1e-12 * scale_x)[:, :, None] | (variance_y <= 1e-12 * scale_y)[:, None, :]
        return np.where(flat, nan, covariance / np.sqrt(variance_x[:, :, None] * variance_y[:, None, :]))


def moments(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n, 6 m): one, x, y, x², y², xy for each of the m columns of x, zeros where it is missing; centred for precision.

    Their sums over any rows give the correlations of these rows: `pearson_of_sums`.
    """
    present = np.isfinite(x).astype(float)
    v = np.nan_to_num(x - np.nanmean(x, axis=0))
    w = (y - y.mean())[:, None] * present
    return np.concatenate([present, v, w, v**2, w**2, v * w], axis=1)


def pearson_of_sums(sums: np.ndarray) -> np.ndarray:
    """(k, m): Pearson's r from (k, 6 m) column sums of `moments`; NaN where a side does not vary."""
    n, x, y, xx, yy, xy = np.split(sums, 6, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy = xx - x * x / n, yy - y * y / n
        defined = (vx > 1e-12 * xx) & (vy > 1e-12 * yy)
        return np.where(defined, (xy - x * y / n) / np.sqrt(vx * vy), nan)


def influence(x: np.ndarray, y: np.ndarray, coefficient: str = "spearman") -> tuple[float, np.ndarray]:
    """A correlation, and what each item contributes to its deviation: r - rho is about the mean of these.

    Parameters
    ----------
    x, y : (n,) arrays
        Without missing values, neither constant.
    coefficient : pearson or spearman

    Returns
    -------
    r, and (n,) values with mean 0. The sum of their squares over n squared estimates the variance of r; with clusters,
    that of their totals (see `clustered_se`). For Spearman they include what an item contributes through the ranks of
    the others, with midranks as grades, so that ties are allowed.

    References
    ----------
    Hoeffding 1948, example 5.7.

    Examples
    --------
    >>> r, contributions = influence(np.arange(4.0), np.array([1.0, 3.0, 2.0, 4.0]))
    >>> round(r, 3), contributions.round(3).tolist()
    (0.8, [0.6, -0.6, -0.6, 0.6])
    """
    if coefficient == "pearson":
        u, v = ((a - a.mean()) / a.std() for a in (x, y))
        r = float(np.mean(u * v))
        return r, u * v - r / 2 * (u**2 + v**2)
    n = len(x)
    (u, above_x), (v, above_y) = _grades(x), _grades(y)
    c, a, b = (np.mean(p * q) - 0.25 for p, q in ((u, v), (u, u), (v, v)))
    of_c = u * v + above_x(v) / n + above_y(u) / n
    of_a, of_b = u * u + 2 * above_x(u) / n, v * v + 2 * above_y(v) / n
    r = float(c / sqrt(a * b))
    of_c, of_a, of_b = (part - part.mean() for part in (of_c, of_a, of_b))
    return r, of_c / sqrt(a * b) - r / 2 * (of_a / a + of_b / b)


def _grades(x: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """(midrank - 1/2) / n of each value; and a function that adds up, for each value, what belongs to greater values,
    and half of what belongs to equal ones."""
    codes = np.unique(x, return_inverse=True)[1]
    times = np.bincount(codes)
    below = np.cumsum(times) - times

    def above(values: np.ndarray) -> np.ndarray:
        total = np.bincount(codes, values)
        sums: np.ndarray = (total.sum() - np.cumsum(total) + total / 2)[codes]
        return sums

    return (below + times / 2)[codes] / len(x), above


def clustered_se(contributions: np.ndarray, clusters: np.ndarray) -> float:
    """Standard error of a sum of centred contributions when whole clusters are independent; NaN with fewer than two.

    contributions : (n,), adding up to the deviation of a statistic; clusters : (n,) numbers from 0 without gaps.
    """
    totals = np.bincount(clusters, contributions)
    return sqrt(len(totals) / (len(totals) - 1) * np.sum(totals**2)) if len(totals) > 1 else nan


def fisher_interval(r: float, se: float, df: int, confidence: float = 0.95) -> tuple[float, float]:
    """Student's t interval of a correlation on Fisher's scale.

    Parameters
    ----------
    r, se : float
        The correlation and its standard error.
    df : int
        Degrees of freedom.

    Returns
    -------
    low and high; NaN where |r| is 1, the standard error is missing or there are no degrees of freedom.

    References
    ----------
    Fisher 1921.
    """
    if not (abs(r) < 1 - 1e-12 and np.isfinite(se) and df > 0):
        return nan, nan
    half = stdtrit(df, (1 + confidence) / 2) * se / (1 - r**2)
    low, high = np.tanh(np.arctanh(r) + np.array([-half, half]))
    return float(low), float(high)


def pearson_interval(r: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a correlation of n points on Fisher's scale (Fisher 1921); missing where n < 4 or |r| = 1.

    Examples
    --------
    >>> print("{:.3f} to {:.3f}".format(*pearson_interval(0.5, 28)))
    0.156 to 0.736
    """
    if n < 4 or not abs(r) < 1:
        return nan, nan
    z, half = np.arctanh(r), ndtri((1 + confidence) / 2) / np.sqrt(n - 3)
    return float(np.tanh(z - half)), float(np.tanh(z + half))


def spearman_interval(r: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of Spearman's correlation of n independent points on Fisher's scale, with variance (1 + r²/2) / (n − 3)
    (Bonett and Wright 2000, Psychometrika 65); missing where n < 4 or |r| = 1.

    Examples
    --------
    >>> print("{:.3f} to {:.3f}".format(*spearman_interval(0.5, 28)))
    0.133 to 0.747
    """
    if not n >= 4 or not abs(r) < 1:
        return nan, nan
    z, half = np.arctanh(r), ndtri((1 + confidence) / 2) * np.sqrt((1 + r**2 / 2) / (n - 3))
    return float(np.tanh(z - half)), float(np.tanh(z + half))
