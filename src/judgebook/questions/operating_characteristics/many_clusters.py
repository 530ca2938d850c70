"""`statistics.clusters` for thousands of data sets of one design at once, to simulate coverage and size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from judgebook.statistics.clusters import Covariance, crossed, effective_number, left_out
from judgebook.statistics.multiplicity import simultaneous_t


class Clustered:
    """Means of samples and their covariance, as `clusters.clustered_covariance`, for many score vectors of one design.

    Parameters
    ----------
    codes, weights : (n,)
        Which sample a score belongs to, and how much it counts.
    clusters : one or two (n,) arrays
    """

    def __init__(self, codes: np.ndarray, weights: np.ndarray, clusters: Sequence[np.ndarray]):
        n, m = len(codes), int(codes.max()) + 1
        self.codes, self.share = codes, weights / np.bincount(codes, weights, m)[codes]
        self.to_means = sparse.csr_array((self.share, (np.arange(n), codes)), shape=(n, m))
        kinds = [pd.factorize(np.asarray(c))[0] for c in clusters]
        self.kinds = [_Kind(codes, self.share, c, m) for c in kinds]
        self.both = None
        if len(kinds) == 2:
            self.both = _Kind(codes, self.share, crossed(*kinds), m)
        self.fewest = np.min([k.n_clusters for k in self.kinds], axis=0)
        self.df = effective_number(codes, weights, kinds) - 1

    def covariance(self, scores: np.ndarray) -> tuple[np.ndarray, Covariance]:
        """(k, m) means and the covariance, of (k, m, m) parts, of (k, n) scores."""
        means = scores @ self.to_means
        contributions = (scores - means[:, self.codes]) * self.share
        first, added = self.kinds[0].covariance(contributions), None
        if self.both is not None:
            added = self.kinds[1].covariance(contributions) - self.both.covariance(contributions)
        alone = self.fewest < 2
        first[:, alone] = first[:, :, alone] = np.nan
        return means, Covariance(first, added)


class _Kind:
    """One kind of clusters: influence on each mean by cluster and sample."""

    def __init__(self, codes: np.ndarray, share: np.ndarray, clusters: np.ndarray, m: int):
        cell, names = pd.factorize(clusters.astype(np.int64) * m + codes)
        self.m, self.cluster, self.sample = m, names // m, names % m
        factor = left_out(np.bincount(cell, share))[cell]
        self.to_cells = sparse.csr_array((factor, (np.arange(len(codes)), cell)))
        self.n_clusters = np.bincount(self.sample, minlength=m)
        self.factor = np.sqrt(np.maximum(self.n_clusters - 1, 0) / np.maximum(self.n_clusters, 1))
        self.nested = len(names) == clusters.max() + 1  # each cluster has one sample: no covariances

    def covariance(self, contributions: np.ndarray) -> np.ndarray:
        sums, k = contributions @ self.to_cells, len(contributions)
        out = np.zeros((k, self.m, self.m))
        if self.nested:
            to_samples = sparse.csr_array((np.ones(len(self.sample)), (np.arange(len(self.sample)), self.sample)),
                                          shape=(len(self.sample), self.m))  # fmt: skip
            out[:, range(self.m), range(self.m)] = sums**2 @ to_samples
        else:
            table = np.zeros((k, int(self.cluster.max()) + 1, self.m))
            table[:, self.cluster, self.sample] = sums
            out = table.transpose(0, 2, 1) @ table
        return out * np.outer(self.factor, self.factor)


def any_apart(means: np.ndarray, covariance: Covariance, df: np.ndarray | float, confidence: float) -> np.ndarray:
    """(k,): whether any two systems differ by the simultaneous comparisons of `ranking.rank_intervals`.

    Where no system differs in truth, rank intervals contain all ranks unless this is so. means : (k, m). covariance :
    of (k, m, m) parts. df : of each pair. Missing (NaN) where a covariance is, or where nothing varies.
    """
    i, j = np.triu_indices(means.shape[1], 1)
    se = covariance.pair_errors()
    t = np.abs(means[:, i] - means[:, j]) / np.where(se > 0, se, np.inf)
    apart = np.any(t > simultaneous_t(df, len(i), confidence), axis=1)
    return np.where(np.isfinite(se).all(axis=1) & (se > 0).any(axis=1), apart, np.nan)
