"""The only bootstrap.

Every interval names the unit that was resampled. Statistics are vectorised: they receive many resamples at once.
Which function to use depends on the statistic:

- `bootstrap_sums`: it depends on the data through sums over units (a rate, alpha, a difference of means). One row per
  unit, or one row per distinct pattern with `counts`, so that the cost does not grow with the number of units;
- `bootstrap_weights`: anything else, given how often each unit is drawn (a rank correlation, a regression);
- `replicate_two_way`: items and annotators are both samples.

Each sample, and each stratum of it, draws from a stream of its own in the order of the resamples. Results therefore do
not depend on how the work is cut into chunks nor on how many workers share it. Memory is bounded by CHUNK.

Resamples in which the statistic is undefined (not finite) are counted, and the interval is conditional on the others
and says so. If more are undefined than lie beyond one end of the interval, no interval is given.

Reference beyond those of `intervals`: Owen 2007, The pigeonhole bootstrap, Annals of Applied Statistics 1, 386-411.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judgebook.statistics.intervals import (  # noqa: F401
    MIN_MINORITY,
    Interval,
    Replicates,
    Sampling,
    exact_binomial,
    generator,
)

#: numbers that one chunk of resamples may hold at once (memory peaks at about 20 bytes for each)
CHUNK = 1_000_000

#: a sample of more units than MANY_UNITS is resampled as MOST_UNITS random groups of units, of sizes that differ by
#: one at most: a resample then costs the same however large the sample, and standard errors vary by 1/sqrt(2
#: MOST_UNITS), 1.4%
MANY_UNITS, MOST_UNITS = 5_000, 2_500

Statistic = Callable[..., np.ndarray]


def bootstrap_sums(
    rows: np.ndarray | Sequence[np.ndarray],
    statistic: Statistic,
    *,
    unit: str,
    rng: np.random.Generator,
    counts: np.ndarray | Sequence[np.ndarray] | None = None,
    strata: np.ndarray | Sequence[np.ndarray] | None = None,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    method: str = "bca",
    expanded: bool = True,
) -> Interval | list[Interval]:
    """Interval of a statistic that depends on the data through sums over the resampled units.

    Parameters
    ----------
    rows : (n, q) array, or a list of such arrays for independent samples
        One row of additive quantities per unit. With `counts`, one row per distinct pattern.
    statistic : callable
        Gets one (k, q) array of column sums a sample, returns (k,) or (k, m).
    unit : str
        What a row is: turn, dialogue, session, pair, …
    counts : (n,) array or list of arrays, optional
        How many units have this pattern. Resamples are then multinomial draws: the cost does not depend on their sum.
    strata : (n,) array or list of arrays, optional
        Units are resampled within strata.
    method : 'bca' or 'percentile'
    expanded : bool
        Quantiles of Student's t for few units (`intervals.expansion`); False for intervals as published.

    Returns
    -------
    Interval, or a list of m where the statistic returns (k, m).

    Notes
    -----
    The jackknife behind BCa is exact (of more than MANY_UNITS units it leaves out groups of them): total minus a row,
    weighted by `counts`; in strata the stratum is brought back to its size. With integer-valued rows all sums are
    exact, whatever the BLAS.

    Examples
    --------
    The rate of marks in 60 dialogues, every third of which has one:

    >>> rows = np.column_stack([np.arange(60) % 3 == 0, np.ones(60)])
    >>> rng = generator(1, "rate")
    >>> interval = bootstrap_sums(rows, lambda sums: sums[:, 0] / sums[:, 1], unit="dialogue", rng=rng)
    >>> print(f"{interval.estimate:.2f}, {interval.low:.1f} to {interval.high:.1f} ({interval.kind})")
    0.33, 0.2 to 0.5 (bca)
    """
    replicates = replicate_sums(
        rows, statistic, unit=unit, rng=rng, counts=counts, strata=strata, n_resamples=n_resamples
    )
    made = replicates.intervals(confidence, method, expanded=expanded)
    return made[0] if replicates.scalar else made


def ratio_interval(
    rows: np.ndarray,
    unit: str,
    rng: np.random.Generator,
    sampling: Sampling,
    counts: np.ndarray | None = None,
) -> Interval:
    """BCa interval of the sum of the first column of `rows` (n, 2) over that of the second: a share, or a mean.

    unit, counts : as in `bootstrap_sums`. rng : its stream of random numbers, in place of `sampling`'s seed.
    """
    replicates = replicate_sums(
        rows, lambda sums: sums[:, 0] / sums[:, 1], unit=unit, rng=rng, counts=counts, n_resamples=sampling.n_resamples
    )
    return replicates.interval(sampling.confidence)


def replicate_sums(
    rows: np.ndarray | Sequence[np.ndarray],
    statistic: Statistic,
    *,
    unit: str,
    rng: np.random.Generator,
    counts: np.ndarray | Sequence[np.ndarray] | None = None,
    strata: np.ndarray | Sequence[np.ndarray] | None = None,
    n_resamples: int = 10_000,
) -> Replicates:
    """The resampled and leave-one-out values behind `bootstrap_sums`, for callers that need more than an interval."""
    several = isinstance(rows, list | tuple)
    data = _aligned(several, rows, counts, strata)
    samples = [_Sums(r, c, s, child) for (r, c, s), child in zip(data, rng.spawn(len(data)), strict=True)]
    return _replicates(samples, statistic, unit, n_resamples, jackknife=True)


def bootstrap_weights(
    n: int,
    statistic: Statistic,
    *,
    unit: str,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    method: str = "bca",
    expanded: bool = True,
    width: int = 0,
) -> Interval | list[Interval]:
    """Interval of a statistic that is easiest to compute from how often each of n units is drawn.

    `statistic` gets a (k, n) array of whole numbers, as floats, and returns (k,) or (k, m). `width` says how many
    numbers it holds for each resample beyond that array, so that memory stays bounded. Everything else as
    `bootstrap_sums`, against which it was checked.
    """
    replicates = replicate_weights(
        n, statistic, unit=unit, rng=rng, n_resamples=n_resamples, width=width, jackknife=method == "bca"
    )
    made = replicates.intervals(confidence, method, expanded=expanded)
    return made[0] if replicates.scalar else made


def replicate_weights(
    n: int,
    statistic: Statistic,
    *,
    unit: str,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    width: int = 0,
    jackknife: bool = True,
) -> Replicates:
    """The resampled and leave-one-out values behind `bootstrap_weights`."""
    return _replicates([_Multiplicities(n, rng.spawn(1)[0], width)], statistic, unit, n_resamples, jackknife)


def replicate_two_way(
    n_items: int,
    n_annotators: int,
    statistic: Statistic,
    *,
    rng: np.random.Generator,
    unit: str,
    strata: np.ndarray | None = None,
    n_resamples: int = 10_000,
    width: int = 0,
) -> Replicates:
    """The resampled values when items and annotators are both resampled, independently of each other (Owen 2007).

    `statistic` gets (k, n_items) and (k, n_annotators) arrays: how often each item and each annotator is drawn. A
    judgement weighs as much as their product; where annotators are compared, copies of one annotator are no pair.
    `strata`, (n_annotators,): annotators are resampled within them. `width` as in `bootstrap_weights`.

    The variance is over- rather than underestimated (Owen 2007), so percentile intervals are somewhat wide and not
    expanded. There is no BCa: two crossed samples have no agreed jackknife.
    """
    items, annotators = rng.spawn(2)
    samples = [_Multiplicities(n_items, items, width), _Multiplicities(n_annotators, annotators, strata=strata)]
    return replace(_replicates(samples, statistic, unit, n_resamples, jackknife=False), n_samples=0)


def grouped(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Sums (most, q) of random groups of units (n, q), as `in_groups` makes them; the rows themselves if there are
    fewer."""
    if len(rows) <= most:
        return rows
    codes = in_groups(len(rows), most, rng)
    return np.stack([np.bincount(codes, column, most) for column in rows.T], axis=1)


def in_groups(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) the random group, 0 to most - 1, of each of n units; groups differ by one unit at most."""
    return rng.permutation(np.arange(n) % most)


class _Sums:
    """A sample whose resamples are column sums."""

    def __init__(
        self, rows: np.ndarray, counts: np.ndarray | None, strata: np.ndarray | None, rng: np.random.Generator
    ):
        rows = np.asarray(rows, dtype=float)
        rows = rows[:, None] if rows.ndim == 1 else rows
        if rows.ndim != 2 or not len(rows) or not np.all(np.isfinite(rows)):
            raise ValueError(f"rows: expected a non-empty (n, q) array of finite numbers, found shape {rows.shape}")
        self.units = len(rows) if counts is None else int(np.sum(counts))
        if counts is None and strata is None and len(rows) > MANY_UNITS:
            rows = grouped(rows, MOST_UNITS, rng.spawn(1)[0])
        weights = np.ones(len(rows)) if counts is None else np.asarray(counts, dtype=float)
        if weights.shape != (len(rows),) or np.any(weights < 0) or np.any(weights % 1) or not weights.any():
            raise ValueError("counts: expected one whole number of 0 or more per row, and not all 0")
        drawn = weights > 0
        self.rows, self.weights, self.counted = rows[drawn], weights[drawn], counts is not None
        self.strata = _codes(strata, len(rows))[drawn]
        self.parts = [(np.flatnonzero(self.strata == s), child) for s, child in _streams(self.strata, rng)]
        self.sums = np.stack([self.weights[i] @ self.rows[i] for i, _ in self.parts])
        self.n = np.array([self.weights[i].sum() for i, _ in self.parts])
        self.width = rows.size // rows.shape[1] + 8 * rows.shape[1]

    def whole(self) -> np.ndarray:
        sums: np.ndarray = self.sums.sum(axis=0, keepdims=True)
        return sums

    def draw(self, k: int) -> np.ndarray:
        parts = [_multiplicities(child, self.weights[i], k, self.counted) @ self.rows[i] for i, child in self.parts]
        return sum(parts, np.zeros(1))

    def without(self, part: np.ndarray) -> np.ndarray:
        """Totals without one unit of each row in `part`; a stratum is brought back to its size."""
        if len(self.n) == 1:
            rest: np.ndarray = self.whole() - self.rows[part]
            return rest
        s = self.strata[part]
        n, sums = self.n[s, None], self.sums[s]
        rest = (sums - self.rows[part]) * n / np.maximum(n - 1, 1)
        total: np.ndarray = self.whole() - sums + np.where(n > 1, rest, sums)
        return total


class _Multiplicities:
    """A sample whose resamples say how often each unit is drawn."""

    def __init__(self, n: int, rng: np.random.Generator, width: int = 0, strata: np.ndarray | None = None):
        if n < 1:
            raise ValueError(f"expected at least one unit in each sample, found {n}")
        self.weights, self.strata, self.width, self.units = np.ones(n), _codes(strata, n), 4 * n + width, n
        self.parts = [(np.flatnonzero(self.strata == s), child) for s, child in _streams(self.strata, rng)]

    def whole(self) -> np.ndarray:
        return self.weights[None]

    def draw(self, k: int) -> np.ndarray:
        out = np.empty((k, len(self.weights)))
        for units, child in self.parts:
            out[:, units] = _multiplicities(child, self.weights[units], k, counted=False)
        return out

    def without(self, part: np.ndarray) -> np.ndarray:
        weights: np.ndarray = 1.0 - (np.arange(len(self.weights)) == part[:, None])
        return weights


def _replicates(
    samples: Sequence[_Sums | _Multiplicities], statistic: Statistic, unit: str, n_resamples: int, jackknife: bool
) -> Replicates:
    width = sum(s.width for s in samples)
    whole, totals = [s.whole() for s in samples], dict[int, list[np.ndarray]]()
    estimate = _evaluate(statistic, whole)
    values = [_evaluate(statistic, [s.draw(len(k)) for s in samples]) for k in _chunks(n_resamples, width)]
    left_out, groups = list[np.ndarray](), list[np.ndarray]()
    for sample in samples:
        groups.append(sample.strata + (groups[-1].max() + 1 if groups else 0))
    for i, sample in enumerate(samples if jackknife else []):
        for part in _chunks(len(sample.weights), width):
            if len(part) not in totals:
                totals[len(part)] = [np.broadcast_to(w, (len(part), w.shape[1])) for w in whole]
            arguments = totals[len(part)].copy()
            arguments[i] = sample.without(part)
            left_out.append(_evaluate(statistic, arguments))
    return Replicates(
        estimate=estimate.reshape(-1),
        values=_columns(values),
        jackknife=_columns(left_out) if jackknife else None,
        weights=np.concatenate([s.weights for s in samples]) if jackknife else None,
        groups=np.concatenate(groups) if jackknife else None,
        unit=unit,
        n_units=int(sum(s.units for s in samples)),
        scalar=estimate.ndim == 1,
        n_samples=int(groups[-1].max()) + 1,
    )


def _evaluate(statistic: Statistic, arguments: list[np.ndarray]) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is an undefined resample: it is counted, not warned of
        out = np.asarray(statistic(*arguments), dtype=float)
    k = len(arguments[0])
    if out.ndim not in (1, 2) or len(out) != k:
        raise ValueError(f"statistic: expected shape ({k},) or ({k}, m), found {out.shape}")
    return out


def _multiplicities(rng: np.random.Generator, weights: np.ndarray, k: int, counted: bool) -> np.ndarray:
    """(k, n): how often each row is drawn in each resample."""
    if counted:
        total = int(weights.sum())
        return rng.multinomial(total, weights / total, size=k).astype(float)
    n = len(weights)
    drawn = rng.integers(0, n, size=(k, n))
    drawn += n * np.arange(k)[:, None]
    return np.bincount(drawn.ravel(), minlength=k * n).reshape(k, n).astype(float)


def _aligned(several: bool, *arguments: Any) -> list[tuple[Any, ...]]:
    """Arguments given once, or as a list with one entry a sample, as one tuple a sample."""
    if not several:
        return [arguments]
    n = len(arguments[0])
    return list(zip(*([None] * n if a is None else a for a in arguments), strict=True))


def _codes(strata: np.ndarray | None, n: int) -> np.ndarray:
    if strata is None:
        return np.zeros(n, dtype=np.int64)
    codes = np.unique(np.asarray(strata), return_inverse=True)[1]
    if codes.shape != (n,):
        raise ValueError(f"strata: expected one value for each of {n} units, found shape {codes.shape}")
    return codes


def _streams(codes: np.ndarray, rng: np.random.Generator) -> list[tuple[int, np.random.Generator]]:
    present = np.unique(codes)
    return list(zip(present.tolist(), rng.spawn(len(present)), strict=True))


def _columns(parts: list[np.ndarray]) -> np.ndarray:
    out = np.concatenate(parts)
    return out[:, None] if out.ndim == 1 else out


def _chunks(k: int, width: int) -> Iterator[np.ndarray]:
    """0 … k - 1 in runs, so that a run holding `width` numbers for each stays within CHUNK."""
    size = max(1, CHUNK // max(width, 1))
    for start in range(0, k, size):
        yield np.arange(start, min(start + size, k))
