"""Covariance of means of scores clustered in one way, or in two that cross, such as by dialogue and by annotator.

Each cluster's influence on a mean is how much the mean changes without it (the jackknife, or CR3): linearised
contributions understate clusters that hold much of the weight. With two kinds of clusters the covariances by either are
added, and that by their intersections is subtracted. What the second kind adds counts only where it is positive, for
each mean and each difference by itself (`Covariance`): the positive part of a whole matrix would make two systems less
certain the more others there are.

References
----------
Bell and McCaffrey 2002, Survey Methodology 28, 169-181, and MacKinnon, Nielsen and Webb 2023, Journal of Applied
Econometrics 38, 671-694 (CR3). Cameron, Gelbach and Miller 2011, Journal of Business and
Economic Statistics 29, 238-249, eq. 2.11 (two ways); section 2.3 for the t distribution with the fewer clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

#: fewer degrees of freedom than this, by the effective number of clusters, allow no interval. Of a mean of two clusters
#: with equal variances, t intervals cover 95% with equal shares (1 degree of freedom), 97.5% with shares of 67 and 33%
#: (0.79) and 98.1% with 70 and 30% (0.72); with more than 75% in one of any number of clusters, over 99%, as the same
#: cluster makes the mean and its error. Quantiles then exceed 25: nothing is said but that one cluster has most of it
#: (20,000 runs each, `benchmarks/levels/differences.py`)
LEAST_DF = 0.75


@dataclass(frozen=True)
class Covariance:
    """Covariance of m estimates clustered in one way or two; of many data sets at once, with leading dimensions.

    first : (…, m, m) by the first kind of clusters. added : (…, m, m), what the second kind adds to it, None without
    one. It is a difference of two matrices, and negative for some contrasts.
    """

    first: np.ndarray
    added: np.ndarray | None = None

    @property
    def variances(self) -> np.ndarray:
        """(…, m) of the estimates. None is below that by the first kind of clusters alone."""
        return self._sum(lambda part: np.diagonal(part, axis1=-2, axis2=-1))

    def pair_errors(self) -> np.ndarray:
        """(…, pairs) standard errors of the differences of all pairs, in the order of `itertools.combinations`; 0 for a
        difference that does not vary."""
        i, j = np.triu_indices(self.first.shape[-1], 1)
        variance = self._sum(lambda v: v[..., i, i] + v[..., j, j] - 2 * v[..., i, j])
        scale = np.maximum(self.variances[..., i] + self.variances[..., j], 1e-300)
        return np.sqrt(np.where(variance <= 1e-12 * scale, 0.0, variance))

    def only(self, some: np.ndarray) -> Covariance:
        """Of some of the estimates."""
        added = None if self.added is None else self.added[..., some[:, None], some]
        return Covariance(self.first[..., some[:, None], some], added)

    def _sum(self, variances: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Variances by the first kind of clusters, and of what the second adds the positive ones."""
        return variances(self.first) + (0.0 if self.added is None else np.maximum(variances(self.added), 0.0))


def clustered_covariance(
    codes: np.ndarray,
    scores: np.ndarray,
    weights: np.ndarray,
    clusters: Sequence[np.ndarray],
) -> tuple[np.ndarray, Covariance, np.ndarray]:
    """Weighted means of m samples, their covariance, and how many clusters each has.

    Parameters
    ----------
    codes : (n,)
        Which sample a score belongs to, 0 to m - 1.
    scores, weights : (n,)
        A score with weight 0.5 counts half.
    clusters : one or two (n,) arrays
        Which cluster a score belongs to. Samples may share clusters: the covariance of their means says how much.

    Returns
    -------
    (m,) means, their covariance, and (m,) number of clusters, of the kind that has fewer. A sample with one cluster has
    no variance (NaN).

    Examples
    --------
    >>> system, session = np.repeat([0, 1], 4), np.tile([0, 0, 1, 1], 2)
    >>> score = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    >>> means, covariance, sessions = clustered_covariance(system, score, np.ones(8), [session])
    >>> means.tolist(), covariance.variances.round(6).tolist(), sessions.tolist()
    ([0.75, 0.25], [0.0625, 0.0625], [2, 2])
    >>> covariance.pair_errors().tolist()  # both systems score half a point more in one of the sessions
    [0.0]
    """
    m = int(codes.max()) + 1
    total = np.bincount(codes, weights, m)
    means = np.bincount(codes, weights * scores, m) / total
    share = weights / total[codes]
    contributions = share * (scores - means[codes])
    parts = [_by_cluster(codes, contributions, share, c, m) for c in clusters]
    first, fewest, added = parts[0][0], np.min([n for _, n in parts], axis=0), None
    if len(clusters) == 2:
        intersections = crossed(*clusters)
        added = parts[1][0] - _by_cluster(codes, contributions, share, intersections, m)[0]
    alone = fewest < 2
    first[alone, :] = first[:, alone] = np.nan
    return means, Covariance(first, added), fewest


def crossed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(n,) codes of the pairs of two (n,) arrays without missing values, from 0 in the order in which pairs appear."""
    row, column = numbered(first), numbered(second)
    return numbered(row * (column.max(initial=-1) + 1) + column)


def numbered(values: np.ndarray) -> np.ndarray:
    """(n,) codes of values without missing ones, from 0 in the order in which they first appear."""
    values = np.asarray(values)
    if values.dtype.kind in "OU":
        seen: dict[object, int] = {}
        return np.array([seen.setdefault(value, len(seen)) for value in values.tolist()], dtype=np.int64)
    if values.dtype.kind in "iu" and len(values):
        low, span = values.min(), int(values.max()) - int(values.min()) + 1
        if span <= max(8 * len(values), 100_000):  # no need to sort: a place for each number between
            place = values.astype(np.int64) - int(low)
            first = np.full(span, len(values))
            first[place[::-1]] = np.arange(len(values))[::-1]  # of equal places the last one written stays
            code = np.empty(span, dtype=np.int64)
            present = np.flatnonzero(first < len(values))
            code[present[np.argsort(first[present])]] = np.arange(len(present))
            return code[place]
    _, first, place = np.unique(values, return_index=True, return_inverse=True)
    code = np.empty(len(first), dtype=np.int64)
    code[np.argsort(first)] = np.arange(len(first))
    return code[place]


def effective_number(codes: np.ndarray, weights: np.ndarray, clusters: Sequence[np.ndarray]) -> np.ndarray:
    """(m,) number of equally large clusters that say as much as those of each sample, of the kind that has fewer.

    One over the sum of squared shares of a sample's weight. Degrees of freedom come from it: if a few annotators did
    most of the work, the variance between annotators is estimated from those few. Arguments as for
    `clustered_covariance`.

    References
    ----------
    Kish 1965, Survey Sampling, section 8.2. Carter, Schnepel and Steigerwald 2017, Asymptotic behavior of a t-test
    robust to cluster heterogeneity, Review of Economics and Statistics 99, 698-709.

    Examples
    --------
    >>> people = np.array([0, 0, 0, 0, 1, 2])
    >>> effective_number(np.zeros(6, dtype=int), np.ones(6), [people]).round(6).tolist()
    [2.0]
    """
    m, out = int(codes.max()) + 1, []
    total = np.maximum(np.bincount(codes, weights, m), 1e-300)
    for names in clusters:
        place = crossed(codes, names)
        owner = codes[np.unique(place, return_index=True)[1]]
        squares = np.bincount(owner, (np.bincount(place, weights) / total[owner]) ** 2, m)
        out.append(np.where(squares > 0, 1 / np.maximum(squares, 1e-300), 0.0))  # 0 without scores
    fewest: np.ndarray = np.min(out, axis=0)
    return fewest


def pair_df(
    codes: np.ndarray, weights: np.ndarray, clusters: Sequence[np.ndarray], variances: np.ndarray
) -> np.ndarray:
    """Degrees of freedom of the differences of all pairs of samples, in the order of `itertools.combinations`.

    One less than the smaller of their effective numbers; Welch's where they share no cluster. Satterthwaite's, from the
    variances by either kind of clusters, would make intervals for other annotators shorter where these hardly differ.
    They are not used: with two annotators 95% intervals cover 89%, and with three to five they reject up to 1.5% at the
    level of 0.1% that many pairs need (`benchmarks/levels/differences.py`).

    variances : (m,) of the means. Other arguments as for `clustered_covariance`.
    """
    m, effective = len(variances), effective_number(codes, weights, clusters)
    shared = np.sum([_in_common(codes, c, m) for c in clusters], axis=0)
    i, j = np.triu_indices(m, 1)
    welch = _welch(variances[i], variances[j], effective[i], effective[j])
    return np.where(shared[i, j] > 0, np.minimum(effective[i], effective[j]) - 1, welch)


def _in_common(codes: np.ndarray, clusters: np.ndarray, m: int) -> np.ndarray:
    """(m, m) how many clusters each two samples share."""
    cells = np.unique(clusters.astype(np.int64) * m + codes)
    present = by_row(np.ones(len(cells)), cells, m, int(clusters.max()) + 1)
    shared: np.ndarray = (present.T @ present).toarray()
    return shared


def _welch(first: np.ndarray, second: np.ndarray, n_first: np.ndarray, n_second: np.ndarray) -> np.ndarray:
    """Welch's degrees of freedom of the difference of two independent means with these variances."""
    usable = (np.minimum(n_first, n_second) >= 2) & (first + second > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        df = (first + second) ** 2 / (first**2 / (n_first - 1) + second**2 / (n_second - 1))
    return np.where(usable, df, 0.0)


def clustered_variances(
    codes: np.ndarray, scores: np.ndarray, weights: np.ndarray, clusters: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The diagonal of `clustered_covariance` for each sample by itself, in memory linear in the scores.

    Arguments as there. Returns (m,) means, variances and numbers of clusters of the kind that has fewer.
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
        intersections = crossed(*clusters)
        variance = variance + np.maximum(parts[1][0] - by(intersections)[0], 0)
    return means, np.where(fewest < 2, np.nan, variance), fewest


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
) -> tuple[np.ndarray, np.ndarray]:
    """(m, m) covariance by one kind of clusters, each sample with the factor (c - 1) / c; and (m,) the c of each."""
    names = numbered(clusters)
    cell, place = np.unique(names * m + codes, return_inverse=True)
    influence = np.bincount(place, contributions) * left_out(np.bincount(place, share))
    table = by_row(influence, cell, m, int(names.max()) + 1)
    c = np.bincount(cell % m, minlength=m)
    factor = np.sqrt(np.maximum(c - 1, 0) / np.maximum(c, 1))
    return (table.T @ table).toarray() * np.outer(factor, factor), c


def by_row(values: np.ndarray, cells: np.ndarray, m: int, n_rows: int) -> sparse.csr_array:
    """Sparse (n_rows, m) matrix from its values and their cells, row times m plus column, in ascending order."""
    starts = np.searchsorted(cells, np.arange(n_rows + 1) * m)
    return sparse.csr_array((values, cells % m, starts), shape=(n_rows, m))


def jackknife_covariance(values: np.ndarray) -> np.ndarray:
    """Covariance (m, m) of m statistics from their values (n, m) without one of n units each; NaN where one is
    undefined (Efron and Tibshirani 1993, An Introduction to the Bootstrap, eq. 11.5)."""
    n = len(values)
    centred = values - values.mean(axis=0)
    covariance: np.ndarray = (n - 1) / n * centred.T @ centred
    return covariance
