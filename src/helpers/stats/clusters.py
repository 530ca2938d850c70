"""Covariance of means of scores clustered in one way, or in two that cross, such as by dialogue and by annotator.

Each cluster's influence on a mean is how much the mean changes without it (the jackknife, or CR3): linearised
contributions understate clusters that hold much of the weight. With two kinds of clusters the covariances by either are
added, and that by their intersections is subtracted.

References
----------
Bell and McCaffrey 2002, Survey Methodology 28, 169-181, and MacKinnon, Nielsen and Webb 2023, Journal of Applied
Econometrics 38, 671-694 (CR3). Cameron, Gelbach and Miller 2011, Journal of Business and
Economic Statistics 29, 238-249, eq. 2.11 (two ways); section 2.3 for the t distribution with the fewer clusters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

#: fewer degrees of freedom than this, by the effective number of clusters, allow no interval; two clusters have 1
LEAST_DF = 0.5
#: draws of `max_t` whose differences are held at once
_AT_ONCE = 256


def covariance(
    codes: np.ndarray,
    scores: np.ndarray,
    weights: np.ndarray,
    clusters: Sequence[np.ndarray],
    average: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted means of m samples, or averages of these, their covariance, and how many clusters each has.

    Parameters
    ----------
    codes : (n,)
        Which sample a score belongs to, 0 to m - 1.
    scores, weights : (n,)
        A score with weight 0.5 counts half.
    clusters : one or two (n,) arrays
        Which cluster a score belongs to. Samples may share clusters: the covariance of their means says how much.
    average : (q, m), optional
        Weights of the samples in each of q averages, which then take the place of the m samples.

    Returns
    -------
    (m,) means, (m, m) covariance, and (m,) number of clusters, of the kind that has fewer. A sample with one cluster
    has no variance (NaN). Of what the second kind of clusters adds to the covariance by the first, only the positive
    part is kept: no variance of a mean or a difference is then below that by the first kind alone.
    """
    m = int(codes.max()) + 1
    total = np.bincount(codes, weights, m)
    means = np.bincount(codes, weights * scores, m) / total
    share = weights / total[codes]
    contributions = share * (scores - means[codes])
    parts = [_by_cluster(codes, contributions, share, c, m, average) for c in clusters]
    cov, fewest = parts[0][0], np.min([n for _, n in parts], axis=0)
    if len(clusters) == 2:
        both = crossed(*clusters)
        cov = cov + _positive_part(parts[1][0] - _by_cluster(codes, contributions, share, both, m, average)[0])
    if average is not None:
        means, fewest = average @ means, np.where(average != 0, fewest, fewest.max()).min(axis=1)
    alone = fewest < 2
    cov[alone, :] = cov[:, alone] = np.nan
    return means, cov, fewest


def crossed(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n,) codes of the pairs of two (n,) arrays without missing values, from 0 in the order in which pairs appear."""
    (first, _), (second, names) = pd.factorize(one), pd.factorize(other)
    return pd.factorize(first.astype(np.int64) * len(names) + second)[0]


def effective_number(codes: np.ndarray, weights: np.ndarray, clusters: Sequence[np.ndarray]) -> np.ndarray:
    """(m,) number of equally large clusters that say as much as those of each sample, of the kind that has fewer.

    One over the sum of squared shares of a sample's weight. Degrees of freedom come from it: if a few annotators did
    most of the work, the variance between annotators is estimated from those few. Arguments as for `covariance`.

    References
    ----------
    Kish 1965, Survey Sampling, section 8.2. Carter, Schnepel and Steigerwald 2017, Asymptotic behavior of a t-test
    robust to cluster heterogeneity, Review of Economics and Statistics 99, 698-709.
    """
    m = int(codes.max()) + 1
    total = np.maximum(np.bincount(codes, weights, m), 1e-300)
    out = []
    for names in clusters:
        place = crossed(codes, names)
        owner = codes[np.unique(place, return_index=True)[1]]
        squares = np.bincount(owner, (np.bincount(place, weights) / total[owner]) ** 2, m)
        out.append(np.where(squares > 0, 1 / np.maximum(squares, 1e-300), 0.0))
    return np.min(out, axis=0)


def variances(
    codes: np.ndarray, scores: np.ndarray, weights: np.ndarray, clusters: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The diagonal of `covariance` for each sample by itself, in memory linear in the scores. Arguments as there.

    Returns (m,) means, variances and numbers of clusters of the kind that has fewer.
    """
    m = int(codes.max()) + 1
    total = np.bincount(codes, weights, m)
    means = np.bincount(codes, weights * scores, m) / total
    share = weights / total[codes]
    contributions = share * (scores - means[codes])

    def by(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        place = crossed(codes, names)
        owner = codes[np.unique(place, return_index=True)[1]]
        c = np.bincount(owner, minlength=m)
        influence = np.bincount(place, contributions) * left_out(np.bincount(place, share))
        return np.bincount(owner, influence**2, m) * np.maximum(c - 1, 0) / np.maximum(c, 1), c

    parts = [by(np.asarray(c)) for c in clusters]
    variance, fewest = parts[0][0], np.min([n for _, n in parts], axis=0)
    if len(clusters) == 2:
        both = crossed(*clusters)
        variance = variance + np.maximum(parts[1][0] - by(both)[0], 0)
    return means, np.where(fewest < 2, np.nan, variance), fewest


def sandwich(scores: np.ndarray, clusters: Sequence[np.ndarray]) -> tuple[np.ndarray, int]:
    """Covariance of a sum of (n, q) scores whose rows are clustered in one way or two, and the number of clusters.

    As `covariance`, for estimating equations: the middle of a sandwich. Of two kinds the fewer clusters are counted.
    """

    def by(names: np.ndarray) -> tuple[np.ndarray, int]:
        sums = np.zeros((names.max() + 1, scores.shape[1]))
        np.add.at(sums, names, scores)
        return sums.T @ sums * len(sums) / max(len(sums) - 1, 1), len(sums)

    parts = [by(pd.factorize(c)[0]) for c in clusters]
    cov = parts[0][0]
    if len(clusters) == 2:
        both = crossed(*clusters)
        cov = cov + _positive_part(parts[1][0] - by(both)[0])
    return cov, min(n for _, n in parts)


def left_out(share: np.ndarray) -> np.ndarray:
    """What turns contributions of clusters, which hold a share of their sample's weight, into changes without them.

    1 for a sample of one cluster, which has no variance anyway.
    """
    return 1 / np.where(share < 1 - 1e-12, 1 - share, 1.0)


def _by_cluster(
    codes: np.ndarray,
    contributions: np.ndarray,
    share: np.ndarray,
    clusters: np.ndarray,
    m: int,
    average: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(m, m) covariance by one kind of clusters, each sample with the factor (c - 1) / c, or that of averages; and (m,)
    the c of each sample."""
    names = pd.factorize(clusters)[0]
    cell, place = np.unique(names * m + codes, return_inverse=True)
    influence = np.bincount(place, contributions) * left_out(np.bincount(place, share))
    table = by_row(influence, cell, m, int(names.max()) + 1)
    c = np.bincount(cell % m, minlength=m)
    factor = np.sqrt(np.maximum(c - 1, 0) / np.maximum(c, 1))
    if average is not None:
        table = table @ sparse.csr_array((average * factor).T)
        return (table.T @ table).toarray(), c
    return (table.T @ table).toarray() * np.outer(factor, factor), c


def by_row(values: np.ndarray, cells: np.ndarray, m: int, n_rows: int) -> sparse.csr_array:
    """Sparse (n_rows, m) matrix from its values and their cells, row times m plus column, in ascending order."""
    starts = np.searchsorted(cells, np.arange(n_rows + 1) * m)
    return sparse.csr_array((values, cells % m, starts), shape=(n_rows, m))


def _positive_part(matrix: np.ndarray) -> np.ndarray:
    value, vector = np.linalg.eigh(matrix)
    return (vector * np.maximum(value, 0)) @ vector.T


def jackknife_covariance(values: np.ndarray) -> np.ndarray:
    """Covariance (m, m) of m statistics from their values (n, m) without one of n units each; NaN where one is
    undefined (Efron and Tibshirani 1993, An Introduction to the Bootstrap, eq. 11.5)."""
    n = len(values)
    centred = values - values.mean(axis=0)
    return (n - 1) / n * centred.T @ centred


def max_t(covariance: np.ndarray, df: float, rng: np.random.Generator, n_draws: int = 10_000) -> np.ndarray:
    """Draws of the largest absolute t over all pairs of m means without a difference: for simultaneous statements.

    covariance : (m, m) of the means; df : of its estimate. Returns (n_draws,), 0 where no difference varies. Of
    independent means with equal variances it is Tukey's studentised range over the square root of 2.
    """
    m, se = len(covariance), pair_errors(covariance)
    n_pairs = int(np.sum(se > 0))
    if not n_pairs:
        return np.zeros(n_draws)
    scale = np.full((m, m), np.inf)  # a difference that does not vary is never the largest
    scale[np.triu_indices(m, 1)] = np.where(se > 0, se, np.inf)
    value, vector = np.linalg.eigh(covariance)
    root = vector * np.sqrt(np.maximum(value, 0))  # a square root of the covariance
    out = []
    for size in (len(part) for part in np.array_split(np.arange(n_draws), max(1, n_draws * n_pairs // 4_000_000))):
        z = rng.standard_normal((size, m)) @ root.T
        largest = np.concatenate([_largest(z[at : at + _AT_ONCE].T, scale) for at in range(0, size, _AT_ONCE)])
        out.append(largest / np.sqrt(rng.chisquare(df, size) / df))
    return np.concatenate(out)


def _largest(z: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(k,) the largest |z_i - z_j| / scale_ij, i < j, of (m, k); pairs are gone through system by system, because all
    of them at once do not fit a processor's cache."""
    z, out = np.ascontiguousarray(z), np.zeros(z.shape[1])
    for i in range(len(z) - 1):
        gap = np.abs(z[i + 1 :] - z[i])
        gap /= scale[i, i + 1 :, None]
        np.maximum(out, gap.max(axis=0), out=out)
    return out


def pair_errors(covariance: np.ndarray) -> np.ndarray:
    """Standard errors of the differences of all pairs of means, in the order of `itertools.combinations`; 0 for a
    difference that does not vary."""
    i, j = np.triu_indices(len(covariance), 1)
    variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
    scale = np.maximum(covariance[i, i] + covariance[j, j], 1e-300)
    return np.sqrt(np.where(variance > 1e-12 * scale, variance, 0.0))
