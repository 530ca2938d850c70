"""Bootstrap intervals of many samples at once: what simulating the coverage of an interval is made of.

`resampling` makes one interval from many resamples. A simulation needs thousands of intervals, each from resamples of
its own sample; done one by one that takes minutes. Here all samples of a run go through the same steps as one array:

- `cluster_ends`: samples of n units drawn from a population of units, statistics of column sums (as `bootstrap_sums`);
- `pattern_ends`: samples given as counts of patterns, so that the cost does not grow with their size.

Fifty samples at a time share one set of resampling counts. Their intervals are each as they would be alone, hardly
depend on one another, and the set is drawn anew for the next fifty.

Checked against `resampling.bootstrap_sums` and `intervals.Replicates` sample by sample. References in `intervals`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

#: samples that share resampling counts
SHARED = 50
#: numbers a chunk of resamples may hold
CHUNK = 2_000_000

Statistic = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Ends:
    """An estimate, its BCa and its percentile interval for each of r samples; NaN where there is no interval.

    `jackknife` holds the leave-one-out values (r, j) where they were asked for.
    """

    estimate: np.ndarray
    bca: np.ndarray
    percentile: np.ndarray
    jackknife: np.ndarray | None = None


def _join(parts: Sequence[Ends]) -> Ends:
    """The samples of several `Ends`, one after the other."""
    kept = None if parts[0].jackknife is None else np.concatenate([p.jackknife for p in parts])
    columns = ("estimate", "bca", "percentile")
    return Ends(*(np.concatenate([getattr(p, c) for p in parts]) for c in columns), jackknife=kept)


def cluster_ends(
    rows: np.ndarray | Sequence[np.ndarray],
    drawn: np.ndarray | Sequence[np.ndarray],
    statistic: Statistic,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    keep_jackknife: bool = False,
) -> Ends:
    """Intervals of r samples of units drawn from a population.

    Parameters
    ----------
    rows : (N, q) array, or (N, r, q) where a unit's row differs between samples; or a list of them, one a population
        Additive quantities of each unit of the population.
    drawn : (r, n) array, or a list of them
        Which units each sample holds.
    statistic : callable
        Gets one (k, q) array of sums a population, returns (k,).
    n_resamples : resamples of each sample; its n units are drawn again with replacement.

    Checked against `resampling.bootstrap_sums` of each sample.
    """
    several = isinstance(rows, list | tuple)
    rows, drawn = (list(rows), list(drawn)) if several else ([rows], [drawn])
    q = sum(x.shape[-1] for x in rows)
    size = int(np.clip(CHUNK // (n_resamples * q), 1, SHARED))
    parts = []
    for start in range(0, len(drawn[0]), size):
        part = slice(start, min(start + size, len(drawn[0])))
        units = [_units(x, d[part], part) for x, d in zip(rows, drawn, strict=True)]
        parts.append(_cluster_chunk(units, statistic, n_resamples, rng, confidence, keep_jackknife))
    return _join(parts)


def _units(rows: np.ndarray, drawn: np.ndarray, part: slice) -> np.ndarray:
    """(q, n, r): the rows of the units in each sample of a chunk."""
    found = rows[drawn.T] if rows.ndim == 2 else rows[drawn.T, np.arange(part.start, part.stop)]
    return np.ascontiguousarray(np.moveaxis(found, -1, 0))


def _cluster_chunk(units, statistic, k: int, rng, confidence: float, keep: bool) -> Ends:
    r = units[0].shape[2]
    drawn = []
    for x in units:
        drawn.append(times(x.shape[1], k, rng) @ x)
    whole = [x.sum(axis=1, keepdims=True) for x in units]
    values = _call(statistic, drawn).reshape(k, r).T
    left_out = []
    for i, x in enumerate(units):
        sums = [np.broadcast_to(w, (len(w), *x.shape[1:])) for w in whole]
        sums[i] = whole[i] - x
        left_out.append(_call(statistic, sums).reshape(x.shape[1], r).T)
    influence = np.concatenate([_influence(j, np.ones_like(j)) for j in left_out], axis=1)
    estimate = _call(statistic, whole)
    ends = bca_ends(estimate, values, influence, None, confidence)
    return Ends(estimate, *ends, np.concatenate(left_out, axis=1) if keep else None)


def pattern_ends(
    counts: np.ndarray,
    rows: np.ndarray,
    statistic: Statistic,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> Ends:
    """Intervals of r samples given by how often each of p patterns occurs: counts (r, p), rows (p, q).

    Items are resampled; a resample of a sample of n items is a multinomial draw of n patterns. Samples that are alike
    have one interval.

    Checked against `resampling.bootstrap_sums` of each sample.
    """
    counts, place = np.unique(counts, axis=0, return_inverse=True)
    size = max(1, CHUNK // (n_resamples * (rows.shape[1] + rows.shape[0])))
    parts = []
    for start in range(0, len(counts), size):
        c = counts[start : start + size]
        n = c.sum(axis=1)
        drawn = rng.multinomial(n[:, None], (c / n[:, None])[:, None, :], size=(len(c), n_resamples))
        values = _call(statistic, [rows.T @ drawn.reshape(-1, len(rows)).T]).reshape(len(c), n_resamples)
        whole = c @ rows
        left_out = np.moveaxis(whole[:, None, :] - rows, -1, 0)
        jackknife = _call(statistic, [left_out]).reshape(len(c), len(rows))
        estimate, weights = _call(statistic, [whole.T]), c.astype(float)
        ends = bca_ends(estimate, values, _influence(jackknife, weights), weights, confidence)
        parts.append(Ends(estimate, *ends))
    found, place = _join(parts), place.reshape(-1)
    return Ends(found.estimate[place], found.bca[place], found.percentile[place])


def _call(statistic: Statistic, sums: Sequence[np.ndarray]) -> np.ndarray:
    """The statistic of sums (q, …), handed on as (…, q) with each quantity in one piece of memory, which is faster."""
    with np.errstate(divide="ignore", invalid="ignore"):  # undefined resamples are counted, not warned of
        return statistic(*(x.reshape(len(x), -1).T for x in sums))


def _influence(jackknife: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(r, j) influence of each unit: Efron and Tibshirani 1993, eq. 15.36, for one sample. NaN where undefined."""
    n = weights.sum(axis=1, keepdims=True)
    used = np.where(weights > 0, jackknife, 0.0)
    mean = np.sum(weights * used, axis=1, keepdims=True) / n
    return (n - 1) * np.where(weights > 0, mean - used, 0.0) / n


def bca_ends(
    estimate: np.ndarray,
    values: np.ndarray,
    influence: np.ndarray,
    weights: np.ndarray | None = None,
    confidence: float = 0.95,
) -> tuple[np.ndarray, np.ndarray]:
    """BCa and percentile ends, (r, 2) each, by the rules of `intervals.Replicates`.

    estimate : (r,); values : (r, k) resamples; influence : (r, j) see `_influence`; weights : (r, j), how many units
    an influence stands for. Where BCa is undefined its ends are the percentile's; where too many resamples are
    undefined, or all are equal, both are missing.

    Checked against `intervals.Replicates` of each sample.
    """
    weights = np.ones_like(influence) if weights is None else weights
    values = np.where(np.isfinite(values), values, np.nan)
    ordered, k, tail = np.sort(values, axis=1), values.shape[1], (1 - confidence) / 2  # undefined ones come last
    m = np.sum(np.isfinite(ordered), axis=1)
    last = np.take_along_axis(ordered, np.maximum(m - 1, 0)[:, None], axis=1)[:, 0]
    slack = 1e-12 * np.maximum(1.0, np.abs(estimate))
    none = ~np.isfinite(estimate) | (k - m > tail * k) | ~(last - ordered[:, 0] > slack)
    percentile = _quantiles(ordered, m, np.tile([tail, 1 - tail], (len(values), 1)))
    with np.errstate(invalid="ignore", divide="ignore"):
        fewer = np.sum(values < (estimate - slack)[:, None], axis=1)
        below = (fewer + np.sum(values <= (estimate + slack)[:, None], axis=1)) / (2 * m)
        second, third = (np.sum(weights * influence**e, axis=1) for e in (2, 3))
        a = np.where(second > 1e-24 * np.maximum(estimate**2, 1e-300), third / (6 * second**1.5), 0.0)
        z0 = ndtri(below)
        z = z0[:, None] + ndtri([tail, 1 - tail])
        levels = ndtr(z0[:, None] + z / (1 - a[:, None] * z))
        usable = np.isfinite(second) & (below > 0) & (below < 1) & np.all(1 - a[:, None] * z > 0, axis=1)
    bca = np.where(usable[:, None], _quantiles(ordered, m, np.where(usable[:, None], levels, tail)), percentile)
    return np.where(none[:, None], np.nan, bca), np.where(none[:, None], np.nan, percentile)


def _quantiles(ordered: np.ndarray, m: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Linear quantiles (numpy's default) of the first m values of each row."""
    place = levels * np.maximum(m - 1, 0)[:, None]
    low = np.floor(place).astype(int)
    high = np.minimum(low + 1, np.maximum(m - 1, 0)[:, None])
    a, b = (np.take_along_axis(ordered, i, axis=1) for i in (low, high))
    return a + (b - a) * (place - low)


def draws(n_units: int, n: int, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """(n_runs, n) units drawn with replacement: samples from a population in which each unit is equally likely.

    Checked by counting.
    """
    return rng.integers(0, n_units, (n_runs, n))


def times(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """(k, n): how often each of n units is in each of k resamples. Checked by counting."""
    drawn = rng.integers(0, n, (k, n)) + n * np.arange(k)[:, None]
    return np.bincount(drawn.ravel(), minlength=k * n).reshape(k, n).astype(float)


def spread(n_runs: int, n_parts: int) -> Iterator[int]:
    """How many runs each of several parts gets, adding up to `n_runs`. Checked by hand."""
    for i in range(n_parts):
        yield n_runs // n_parts + (i < n_runs % n_parts)
