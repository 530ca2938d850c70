"""`stats.clusters` for thousands of data sets of one design at once, to simulate coverage and size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from helpers.stats.clusters import crossed, effective_number, left_out

#: draws of the largest t, shared by all data sets of a chunk
N_DRAWS = 4000


class Clustered:
    """Means of samples and their covariance, as `clusters.covariance`, for many score vectors of one design.

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

    def covariance(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(k, m) means and (k, m, m) covariances of (k, n) scores."""
        means = scores @ self.to_means
        contributions = (scores - means[:, self.codes]) * self.share
        out = self.kinds[0].covariance(contributions)
        if self.both is not None:
            more = self.kinds[1].covariance(contributions) - self.both.covariance(contributions)
            value, vector = np.linalg.eigh(more)
            out = out + (vector * np.maximum(value, 0)[:, None, :]) @ vector.transpose(0, 2, 1)
        alone = self.fewest < 2
        out[:, alone] = out[:, :, alone] = np.nan
        return means, out


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


def pair_errors(covariance: np.ndarray) -> np.ndarray:
    """(k, pairs): `clusters.pair_errors` of (k, m, m) covariances."""
    i, j = np.triu_indices(covariance.shape[1], 1)
    scale = covariance[:, i, i] + covariance[:, j, j]
    variance = scale - 2 * covariance[:, i, j]
    return np.sqrt(np.where(variance > 1e-12 * np.maximum(scale, 1e-300), variance, 0.0))


def any_apart(
    means: np.ndarray, covariance: np.ndarray, df: float, confidence: float, rng: np.random.Generator
) -> np.ndarray:
    """(k,): whether any two systems differ by the simultaneous comparisons of `ranking.rank_intervals`.

    Where no system differs in truth, rank intervals contain all ranks unless this is so. means : (k, m). covariance :
    (k, m, m). Missing (NaN) where a covariance is.
    """
    out = np.full(len(means), np.nan)
    m = means.shape[1]
    i, j = np.triu_indices(m, 1)
    known = np.flatnonzero(np.isfinite(covariance).all(axis=(1, 2)))
    for at in np.array_split(known, max(1, len(known) * N_DRAWS * len(i) // 20_000_000)):
        if not len(at):
            continue
        value, vector = np.linalg.eigh(covariance[at])
        root = vector * np.sqrt(np.maximum(value, 0))[:, None, :]
        draws = rng.standard_normal((N_DRAWS, m))
        scale = np.sqrt(rng.chisquare(df, N_DRAWS) / df)
        se = pair_errors(covariance[at])
        safe = np.where(se > 0, se, np.inf)
        t = np.abs(means[at][:, i] - means[at][:, j]) / safe
        for k, one in enumerate(at):  # one by one, and pair by pair in one piece of memory: many times as fast
            z = np.ascontiguousarray((draws @ root[k].T).T)
            largest = np.max(np.abs(z[i] - z[j]) / safe[k][:, None], axis=0) / scale
            if se[k].any():
                out[one] = np.any(t[k] > np.quantile(largest, confidence))
    return out
