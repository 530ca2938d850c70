"""Intervals and tests of thousands of data sets at once, to simulate coverage and size.

`statistics.resampling` computes one interval from many resamples; one by one, thousands would take minutes. Here all
samples go through the same steps as one array:

- `cluster_ends`: samples of n units drawn from a population of units, statistics of column sums (as `bootstrap_sums`);
- `pattern_ends`: samples given as counts of patterns, so that the cost does not grow with their size;
- `Clustered`: `statistics.clusters` for data sets of one design.

Up to fifty samples share one set of resampling counts. This leaves the distribution of each interval unchanged, and
makes intervals of the same fifty hardly dependent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import ndtr, ndtri

from judgebook.questions.operating_characteristics.monte_carlo import SimulationPlan
from judgebook.statistics.clusters import Covariance, crossed, effective_number, left_out
from judgebook.statistics.intervals import expansion

#: samples that share resampling counts
SHARED = 50
#: numbers in one chunk of resamples, at most
CHUNK = 2_000_000

Statistic = Callable[..., np.ndarray]


class Ends(NamedTuple):
    """Of each of r samples: estimate (r,), ends of the BCa and the percentile interval (r, 2; missing where there is no
    interval), and leave-one-out values (r, j)."""

    estimate: np.ndarray
    bca: np.ndarray
    percentile: np.ndarray
    jackknife: np.ndarray


def cluster_ends(
    rows: np.ndarray | Sequence[np.ndarray],
    drawn: np.ndarray | Sequence[np.ndarray],
    statistic: Statistic,
    plan: SimulationPlan,
    rng: np.random.Generator,
    *,
    expanded: bool = True,
) -> Ends:
    """Intervals of r samples of units drawn from a population.

    Parameters
    ----------
    rows : (N, q) array, or (N, r, q) where a unit's row differs between samples; or a list with one per population
        Additive quantities of each unit of the population.
    drawn : (r, n) array, or a list with one per population
        The units in each sample.
    statistic : callable
        Takes one (k, q) array of sums per population, returns (k,).
    expanded : bool
        False for intervals as published, without `intervals.expansion`.
    """
    of_populations = [rows] if isinstance(rows, np.ndarray) else list(rows)
    samples = [drawn] if isinstance(drawn, np.ndarray) else list(drawn)
    size = int(np.clip(CHUNK // (plan.n_resamples * sum(x.shape[-1] for x in of_populations)), 1, SHARED))
    parts = []
    for start in range(0, len(samples[0]), size):
        part = slice(start, min(start + size, len(samples[0])))
        units = [_units(x, d[part], part) for x, d in zip(of_populations, samples, strict=True)]
        parts.append(_cluster_chunk(units, statistic, plan, rng, expanded))
    return _joined(parts)


def _joined(parts: list[Ends]) -> Ends:
    return Ends(*map(np.concatenate, zip(*parts, strict=True)))


def _units(rows: np.ndarray, drawn: np.ndarray, part: slice) -> np.ndarray:
    """(q, n, r): the rows of the units in each sample of a chunk."""
    units = rows[drawn.T] if rows.ndim == 2 else rows[drawn.T, np.arange(part.start, part.stop)]
    return np.ascontiguousarray(np.moveaxis(units, -1, 0))


def _cluster_chunk(
    units: list[np.ndarray], statistic: Statistic, plan: SimulationPlan, rng: np.random.Generator, expanded: bool
) -> Ends:
    r = units[0].shape[2]
    resampled = [times(x.shape[1], plan.n_resamples, rng) @ x for x in units]
    whole = [x.sum(axis=1, keepdims=True) for x in units]
    values = _call(statistic, resampled).reshape(plan.n_resamples, r).T
    left_out = []
    for i, x in enumerate(units):
        sums = [np.broadcast_to(w, (len(w), *x.shape[1:])) for w in whole]
        sums[i] = whole[i] - x
        left_out.append(_call(statistic, sums).reshape(x.shape[1], r).T)
    influence = np.concatenate([_influence(j, np.ones_like(j)) for j in left_out], axis=1)
    estimate = _call(statistic, whole)
    n_units = sum(x.shape[1] for x in units)
    level = expansion(plan.confidence, n_units, len(units)) if expanded else plan.confidence
    ends = bca_ends(estimate, values, influence, np.ones_like(influence), level)
    return Ends(estimate, *ends, np.concatenate(left_out, axis=1))


def pattern_ends(
    counts: np.ndarray, rows: np.ndarray, statistic: Statistic, plan: SimulationPlan, rng: np.random.Generator,
    *, expanded: bool = True,
) -> Ends:  # fmt: skip
    """Intervals of r samples of items given by how often each of p patterns occurs: counts (r, p), rows (p, q).

    A resample of n items is a multinomial draw of n patterns. Equal samples have one interval. `expanded` as in
    `cluster_ends`.
    """
    counts, place = np.unique(counts, axis=0, return_inverse=True)
    size = max(1, CHUNK // (plan.n_resamples * (rows.shape[1] + rows.shape[0])))
    parts = []
    for start in range(0, len(counts), size):
        c = counts[start : start + size]
        n = c.sum(axis=1)
        drawn = rng.multinomial(n[:, None], (c / n[:, None])[:, None, :], size=(len(c), plan.n_resamples))
        values = _call(statistic, [rows.T @ drawn.reshape(-1, len(rows)).T]).reshape(len(c), plan.n_resamples)
        whole = c @ rows
        left_out = np.moveaxis(whole[:, None, :] - rows, -1, 0)
        jackknife = _call(statistic, [left_out]).reshape(len(c), len(rows))
        estimate, weights = _call(statistic, [whole.T]), c.astype(float)
        levels = [expansion(plan.confidence, k) if expanded else plan.confidence for k in n.tolist()]
        ends = bca_ends(estimate, values, _influence(jackknife, weights), weights, np.array(levels)[:, None])
        parts.append(Ends(estimate, *ends, jackknife))
    return Ends(*(values[place.reshape(-1)] for values in _joined(parts)))


def _call(statistic: Statistic, sums: Sequence[np.ndarray]) -> np.ndarray:
    """The statistic of sums (q, …), passed on as (…, q) with each quantity in one piece of memory, which is faster."""
    with np.errstate(divide="ignore", invalid="ignore"):  # undefined resamples are counted
        return statistic(*(x.reshape(len(x), -1).T for x in sums))


def _influence(jackknife: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(r, j) influence of each unit: Efron and Tibshirani 1993, eq. 15.36, for one sample. Missing where undefined."""
    n = weights.sum(axis=1, keepdims=True)
    used = np.where(weights > 0, jackknife, 0.0)
    mean = np.sum(weights * used, axis=1, keepdims=True) / n
    return (n - 1) * np.where(weights > 0, mean - used, 0.0) / n


def bca_ends(
    estimate: np.ndarray, values: np.ndarray, influence: np.ndarray, weights: np.ndarray, confidence: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of BCa and percentile intervals of many samples, by the rules of `intervals.Replicates`.

    Parameters
    ----------
    estimate : (r,) array
    values : (r, k) array
        Resamples, not finite where undefined.
    influence, weights : (r, j) arrays
        Influence of each unit (or pattern) on the estimate, and how many units it represents.
    confidence : float, or (r, 1) array

    Returns
    -------
    bca, percentile : (r, 2) arrays. Where BCa is undefined, its ends are those of the percentile interval; where too
    many resamples are undefined, or all are equal, both are missing.

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, equations 14.9, 14.10 and 14.14.
    """
    values = np.where(np.isfinite(values), values, np.nan)
    ordered, k = np.sort(values, axis=1), values.shape[1]  # undefined ones come last
    tail = np.broadcast_to((1 - np.asarray(confidence)) / 2, (len(values), 1))
    m = np.sum(np.isfinite(ordered), axis=1)
    last = np.take_along_axis(ordered, np.maximum(m - 1, 0)[:, None], axis=1)[:, 0]
    slack = 1e-12 * np.maximum(1.0, np.abs(estimate))
    none = ~np.isfinite(estimate) | (k - m > tail[:, 0] * k) | ~(last - ordered[:, 0] > slack)
    tails = np.concatenate([tail, 1 - tail], axis=1)
    percentile = _quantiles(ordered, m, tails)
    with np.errstate(invalid="ignore", divide="ignore"):
        fewer = np.sum(values < (estimate - slack)[:, None], axis=1)
        below = (fewer + np.sum(values <= (estimate + slack)[:, None], axis=1)) / (2 * m)
        second, third = (np.sum(weights * influence**e, axis=1) for e in (2, 3))
        a = np.where(second > 1e-24 * np.maximum(estimate**2, 1e-300), third / (6 * second**1.5), 0.0)
        z0 = ndtri(below)
        z = z0[:, None] + ndtri(tails)
        levels = ndtr(z0[:, None] + z / (1 - a[:, None] * z))
        usable = np.isfinite(second) & (below > 0) & (below < 1) & np.all(1 - a[:, None] * z > 0, axis=1)
    bca = np.where(usable[:, None], _quantiles(ordered, m, np.where(usable[:, None], levels, tails)), percentile)
    return np.where(none[:, None], np.nan, bca), np.where(none[:, None], np.nan, percentile)


def _quantiles(ordered: np.ndarray, m: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Quantiles of the first m values of each row, as `intervals.QUANTILES`."""
    place = np.clip(levels * (m + 1)[:, None] - 1, 0, np.maximum(m - 1, 0)[:, None])
    low = np.floor(place).astype(int)
    high = np.minimum(low + 1, np.maximum(m - 1, 0)[:, None])
    a, b = (np.take_along_axis(ordered, i, axis=1) for i in (low, high))
    return a + (b - a) * (place - low)


def times(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """(k, n): how often each of n units is in each of k resamples."""
    drawn = rng.integers(0, n, (k, n)) + n * np.arange(k)[:, None]
    return np.bincount(drawn.ravel(), minlength=k * n).reshape(k, n).astype(float)


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
