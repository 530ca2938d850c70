"""Estimates with intervals: BCa, percentile and exact binomial intervals, and the reason given where there is none.

Resamples of n units vary less than samples do, by a factor of n - 1 to n, and their quantiles are those of the normal
distribution rather than Student's t. Bootstrap intervals are expanded by both, which matters for few clusters.

Intervals that hold at every look: confidence sequences of the mean of values on a bounded scale.

An interval at 95% misses in 5% of studies if data are looked at once. One that is made anew each week from all data so
far misses sooner or later in far more. A confidence sequence contains the mean at all looks together with at least its
confidence, whenever one looks or stops, and however few the values. What it contains is the mean, over the values so
far, of what each was expected to be given those before: values need not come from one distribution.

The empirical-Bernstein sequence of Howard et al. (Theorem 4), with their gamma-exponential mixture (Proposition 9) as
its boundary. The price is width: about twice that of Student's t interval after a hundred values or more.

References
----------
Howard, Ramdas, McAuliffe and Sekhon 2021, Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of
Statistics 49, 1055-1080. Efron 1987, Better bootstrap confidence intervals, JASA 82, 171-185; Efron and Tibshirani
1993, An Introduction to the Bootstrap, chapters 14 and 15; Hesterberg 2015, What teachers should know about the
bootstrap, The American Statistician 69, 371-386, section 4 (expansion); Clopper and Pearson 1934, Biometrika 26,
404-413.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Final

import numpy as np
from scipy.special import betaincinv, gammainc, gammaln, ndtr, ndtri, stdtrit

#: the BCa interval of a binary label is not given with fewer marks of the rarer kind
MIN_MINORITY = 20
#: places of quantiles among k resamples: at level p the value at p (k + 1), below which lies p of the distribution on
#: average, however few the resamples (Davison and Hinkley 1997, Bootstrap Methods and their Application, section 2.2);
#: numpy's default would narrow intervals from 400 resamples by half a percentage point of coverage
QUANTILES: Final = "weibull"
#: an interval over clusters is not given with fewer
MIN_CLUSTERS = 5


def generator(seed: int, *names: str) -> np.random.Generator:
    """A stream of random numbers of its own for each `(seed, names)`, the same on every machine.

    Give every label and method its stream, so that a result does not depend on what was computed before it.

    Examples
    --------
    >>> generator(1, "demo", "quality").integers(100, size=3).tolist()
    [7, 16, 36]
    """
    digest = hashlib.blake2b("\x1f".join(names).encode(), digest_size=16).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, "<u4").tolist()])


@dataclass(frozen=True)
class Sampling:
    """How intervals are resampled: `n_resamples` times, at the level `confidence`, from streams of `seed`.

    Examples
    --------
    >>> Sampling(n_resamples=2000, confidence=0.95, seed=1).stream("demo", "quality").integers(100, size=3).tolist()
    [7, 16, 36]
    """

    n_resamples: int
    confidence: float
    seed: int

    def stream(self, *names: str) -> np.random.Generator:
        """The random numbers of `names`, independent of those of other names (`generator`)."""
        return generator(self.seed, *names)


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval.

    `kind` is bca, percentile, exact_bound or not_estimable (low and high are then missing and `note` says why); `unit`
    names what was resampled and `n_units` counts it; `n_undefined` of `n_resamples` resamples left the statistic
    undefined. `percentile` is the plain percentile interval, `standard_error` the standard deviation of the resamples.
    """

    estimate: float
    low: float
    high: float
    kind: str
    unit: str
    n_units: int
    n_undefined: int = 0
    n_resamples: int = 0
    note: str = ""
    percentile: tuple[float, float] = (nan, nan)
    standard_error: float = nan

    def row(self) -> dict[str, object]:
        """The columns of a result row that an interval fills."""
        return {
            "estimate": self.estimate,
            "ci_low": self.low,
            "ci_high": self.high,
            "ci_kind": self.kind,
            "resample_unit": self.unit,
            "n_clusters": self.n_units,
            "n_undefined": self.n_undefined,
            "note": self.note or None,
        }


@dataclass(frozen=True)
class Replicates:
    """What intervals are made from, for m statistics of the same resamples.

    estimate : (m,); values : (k, m), one row per resample; jackknife : (j, m), the statistics without one unit, or
    None; weights : (j,), how many units a jackknife row stands for; groups : (j,), the sample or stratum of that unit;
    scalar : whether the statistic gave one value per resample, not m; n_samples : number of samples and strata, 0
    where two samples cross.
    """

    estimate: np.ndarray
    values: np.ndarray
    jackknife: np.ndarray | None
    weights: np.ndarray | None
    groups: np.ndarray | None
    unit: str
    n_units: int
    scalar: bool
    n_samples: int

    def leave_one_out(self) -> np.ndarray:
        """`jackknife`; ValueError where it was not asked for."""
        if self.jackknife is None:
            raise ValueError("the statistics without one unit were not computed")
        return self.jackknife

    def interval(self, confidence: float = 0.95, method: str = "bca", *, expanded: bool = True) -> Interval:
        """The Interval of the only statistic; ValueError where there are several."""
        (only,) = self.intervals(confidence, method, expanded=expanded)
        return only

    def intervals(self, confidence: float = 0.95, method: str = "bca", *, expanded: bool = True) -> list[Interval]:
        """One Interval per statistic.

        expanded : False for intervals as published, which take normal quantiles (`expansion`).
        """
        if method not in ("bca", "percentile"):
            raise ValueError(f"method: expected 'bca' or 'percentile', found {method!r}")
        if not 0 < confidence < 1:
            raise ValueError(f"confidence: expected a number between 0 and 1, found {confidence!r}")
        level = expansion(confidence, self.n_units, self.n_samples) if expanded and self.n_samples else confidence
        return [self._interval(i, level, method) for i in range(len(self.estimate))]

    def jackknife_interval(self, i: int, confidence: float = 0.95, *, bounded: bool = True) -> Interval:
        """The interval of the i-th statistic from its leave-one-out values, for few clusters: see `jackknife_t`.

        Raises ValueError without leave-one-out values.
        """
        if self.jackknife is None:
            raise ValueError("jackknife: expected leave-one-out values, found none")
        values, estimate = self.jackknife[:, i], float(self.estimate[i])
        return jackknife_t(estimate, values, self.unit, confidence, bounded=bounded, groups=self.groups)

    def _interval(self, i: int, confidence: float, method: str) -> Interval:
        estimate, values, k = float(self.estimate[i]), self.values[:, i], len(self.values)
        defined = values[np.isfinite(values)]
        missing, tail = k - len(defined), (1 - confidence) / 2

        def refuse(reason: str) -> Interval:
            return Interval(estimate, nan, nan, "not_estimable", self.unit, self.n_units, missing, k, reason)

        if not math.isfinite(estimate):
            return refuse("the statistic is undefined on these data")
        if missing > tail * k:
            return refuse(f"undefined in {missing} of {k} resamples, more than lie beyond one end of the interval")
        if np.ptp(defined) <= 1e-12 * max(1.0, abs(estimate)):
            return refuse("every resample gives the same value")
        levels: Sequence[float] = ()
        reason = ""
        if method == "bca" and self.jackknife is not None:
            levels, reason = _bca_levels(estimate, defined, self.jackknife[:, i], confidence, self.weights, self.groups)
        low, high, *bca = np.quantile(defined, [tail, 1 - tail, *levels], method=QUANTILES).tolist()
        percentile, kind = (low, high), "percentile"
        notes = [f"the interval leaves out {missing} of {k} resamples in which it is undefined"] if missing else []
        if reason:
            notes.append(f"percentile, because {reason}")
        if bca:
            (low, high), kind = bca, "bca"
            if min(levels[0], 1 - levels[1]) * len(defined) < 1:
                notes.append("an end of the interval is the outermost resample")
        spread = float(np.std(defined, ddof=1))
        return Interval(
            estimate, low, high, kind, self.unit, self.n_units, missing, k, "; ".join(notes), percentile, spread
        )


def expansion(confidence: float, n_units: int, n_samples: int = 1) -> float:
    """The level whose normal quantiles are those of Student's t times the square root of n / df, df = n - samples.

    n_units : resampled units in all. n_samples : independent samples, or strata, they lie in. With as many samples as
    units nothing varies, and the level stays as it is. The level is below 1: with two or three units the ends are the
    outermost resamples. Hesterberg 2015, section 4.1.
    """
    df = n_units - n_samples
    if df < 1:
        return confidence
    return min(float(1 - 2 * ndtr(np.sqrt(n_units / df) * stdtrit(df, (1 - confidence) / 2))), 1 - 1e-9)


def acceleration(jackknife: np.ndarray, weights: np.ndarray | None = None, groups: np.ndarray | None = None) -> float:
    """The acceleration of the BCa interval from leave-one-out values.

    jackknife : (j,) the statistic without one unit. weights : (j,) units a value stands for. groups : (j,) sample or
    stratum of the unit; groups of one unit have no influence. Efron and Tibshirani 1993, eqs 14.15 and, for several
    samples, 15.36. Without any spread the acceleration is 0.
    """
    weights = np.ones(len(jackknife)) if weights is None else np.asarray(weights, dtype=float)
    groups = np.zeros(len(jackknife), dtype=int) if groups is None else np.asarray(groups)
    codes = np.unique(groups, return_inverse=True)[1]
    n = np.bincount(codes, weights)
    mean = np.bincount(codes, weights * jackknife) / n
    u = np.where(n > 1, n - 1, 0)[codes] * (mean[codes] - jackknife) / n[codes]
    second, third = np.sum(weights * u**2), np.sum(weights * u**3)
    rounding = np.sum(weights) * (1e-12 * np.max(np.abs(jackknife))) ** 2
    return float(third / (6 * second**1.5)) if second > rounding else 0.0


def _bca_levels(
    estimate: float,
    defined: np.ndarray,
    jackknife: np.ndarray,
    confidence: float,
    weights: np.ndarray | None,
    groups: np.ndarray | None,
) -> tuple[Sequence[float], str]:
    """Levels of the BCa ends among the resamples, or none and the reason."""
    if not np.all(np.isfinite(jackknife)):
        return (), "leaving out one unit can make the statistic undefined"
    slack = 1e-12 * max(1.0, abs(estimate))  # ties up to rounding count half on either side
    below = (np.mean(defined < estimate - slack) + np.mean(defined <= estimate + slack)) / 2
    if not 0 < below < 1:
        return (), "the estimate lies outside all resamples"
    z0, a = ndtri(below), acceleration(jackknife, weights, groups)
    z = z0 + ndtri(np.array([(1 - confidence) / 2, (1 + confidence) / 2]))
    if np.any(1 - a * z <= 0):
        return (), "the acceleration is too large for the BCa transformation"
    return ndtr(z0 + z / (1 - a * z)).tolist(), ""  # Efron 1987; Efron and Tibshirani 1993, eq. 14.10


def jackknife_t(
    estimate: float,
    jackknife: np.ndarray,
    unit: str,
    confidence: float = 0.95,
    *,
    bounded: bool = True,
    groups: np.ndarray | None = None,
) -> Interval:
    """Student's t interval from leave-one-out values, for few clusters.

    Parameters
    ----------
    estimate : float
    jackknife : (c,) array
        The statistic without each cluster.
    unit : str
        What a cluster is.
    bounded : bool
        The statistic lies between -1 and 1 and is transformed to Fisher's z.
    groups : (c,) array, optional
        The sample or stratum of each cluster; one of a single cluster adds no variance.

    Returns
    -------
    Interval with as many degrees of freedom as clusters less strata. Not estimable with fewer than MIN_CLUSTERS
    clusters, where a leave-one-out value is undefined, or where a bounded statistic is at its bound.

    References
    ----------
    Tukey 1958, Annals of Mathematical Statistics 29, 614; Efron and Tibshirani 1993, eq. 11.5 (the standard error);
    Wolter 2007, Introduction to Variance Estimation, section 4.5 (strata).

    Examples
    --------
    >>> interval = jackknife_t(0.5, np.array([0.40, 0.50, 0.55, 0.45, 0.60]), "session")
    >>> print(f"{interval.low:.3f} to {interval.high:.3f}")
    0.021 to 0.792
    >>> jackknife_t(0.5, np.array([0.4, 0.6]), "session").note
    '2 clusters (session) are too few for an interval; 5 are needed'
    """
    z, values, c = float(estimate), np.asarray(jackknife, dtype=float), len(jackknife)

    def refuse(reason: str) -> Interval:
        return Interval(z, nan, nan, "not_estimable", unit, c, int(np.sum(~np.isfinite(values))), 0, reason)

    if not np.isfinite(z):
        return refuse("the statistic is undefined on these data")
    if c < MIN_CLUSTERS or (groups is not None and c <= len(np.unique(groups))):
        return refuse(f"{c} clusters ({unit}) are too few for an interval; {MIN_CLUSTERS} are needed")
    if not np.all(np.isfinite(values)):
        return refuse(f"undefined without one {unit}")
    if bounded and max(abs(z), np.abs(values).max()) >= 1 - 1e-12:
        return refuse("the statistic is at its bound")
    there, back = (np.arctanh, np.tanh) if bounded else (np.asarray, float)
    moved = there(values)
    codes = np.zeros(c, dtype=int) if groups is None else np.unique(groups, return_inverse=True)[1]
    n = np.bincount(codes)
    centred = moved - (np.bincount(codes, moved) / n)[codes]
    error = np.sqrt(np.sum(((n - 1) / n)[codes] * centred**2))
    half = stdtrit(c - len(n), (1 + confidence) / 2) * error
    low, high = (float(back(there(z) + side)) for side in (-half, half))
    return Interval(z, low, high, "jackknife_t", unit, c, standard_error=float(error))


def exact_binomial(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Exact (Clopper and Pearson 1934) interval of a proportion, each tail at most (1 - confidence) / 2.

    Neither number need be whole: with clustered units pass the effective ones (Korn and Graubard 1998, Survey
    Methodology 24, 193-201). Raises ValueError unless 0 <= successes <= n and n > 0.

    Examples
    --------
    >>> low, high = exact_binomial(3, 10)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.067 to 0.652
    """
    if not 0 <= successes <= n or n <= 0:
        raise ValueError(f"expected 0 <= successes <= n and n above 0; found {successes} of {n}")
    tail = (1 - confidence) / 2
    low = betaincinv(successes, n - successes + 1, tail) if successes > 0 else 0.0
    high = betaincinv(successes + 1, n - successes, 1 - tail) if successes < n else 1.0
    return float(low), float(high)


#: sum of squared deviations, on a scale from 0 to 1, at which the sequence is narrowest: two hundred values with a
#: standard deviation of 0.16. It has to be chosen before the data are seen, and any choice is valid
NARROWEST = 5.0
_HALVINGS = 60


def confidence_sequence(
    values: np.ndarray, low: float, high: float, *, looks: np.ndarray | None = None, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of the mean at each look; they hold at all looks together.

    Parameters
    ----------
    values : (…, n)
        In the order in which they became known, none missing; of many data sets at once with leading dimensions. Each
        is compared with the mean of those before: an order that depends on the values themselves is not valid.
    low, high : float
        Ends of the scale.
    looks : (k,), optional
        After how many values one looks, each from 1 to n; default: after each.

    Returns
    -------
    ci_low, ci_high : (…, k), within the scale.

    Raises ValueError for values that are missing or outside the scale.

    References
    ----------
    Howard et al. 2021, Theorem 4: for values from 0 to 1, each tail with half the error.

    Examples
    --------
    >>> low, high = confidence_sequence(np.tile([0.4, 0.6], 100), 0.0, 1.0, looks=np.array([2, 20, 200]))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.24, 0.46], [1.0, 0.76, 0.54])
    """
    x = np.asarray(values, dtype=float)
    if not (np.isfinite(x).all() and (x >= low).all() and (x <= high).all()):
        raise ValueError(f"values: expected numbers from {low:g} to {high:g}, found {x.min():g} to {x.max():g}")
    x = (x - low) / (high - low)
    count = np.arange(1, x.shape[-1] + 1)
    mean = np.cumsum(x, axis=-1) / count
    before = np.concatenate([np.full_like(mean[..., :1], 0.5), mean[..., :-1]], axis=-1)
    spread = np.cumsum((x - before) ** 2, axis=-1)
    at = count - 1 if looks is None else np.asarray(looks) - 1
    half = mixture_boundary(spread[..., at], (1 - confidence) / 2) / count[at]
    ends = np.clip([mean[..., at] - half, mean[..., at] + half], 0.0, 1.0)
    return low + (high - low) * ends[0], low + (high - low) * ends[1]


def mixture_boundary(v: np.ndarray, alpha: float, *, scale: float = 1.0, narrowest: float = NARROWEST) -> np.ndarray:
    """(…) what a sub-exponential process with intrinsic time v ever exceeds with probability alpha at most.

    scale : of the process. narrowest : the intrinsic time at which the boundary is lowest.

    References
    ----------
    Howard et al. 2021, Proposition 9; its parameter is their approximation for one-sided normal mixtures.
    """
    v = np.asarray(v, dtype=float)
    log_odds = 2 * np.log(1 / (2 * alpha))
    rho = narrowest / (log_odds + np.log1p(log_odds))
    target = np.log(1 / alpha)
    most = np.ones_like(v)
    while (low := log_mixture(most, v, rho, scale) < target).any():
        most = np.where(low, 2 * most, most)
    least = np.zeros_like(v)
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        below = log_mixture(middle, v, rho, scale) < target
        least, most = np.where(below, middle, least), np.where(below, most, middle)
    return most


def log_mixture(s: np.ndarray, v: np.ndarray, rho: float, scale: float) -> np.ndarray:
    """(…) logarithm of the gamma-exponential mixture of a process that is s at intrinsic time v (Howard et al. 2021,
    Proposition 9)."""
    a, b = rho / scale**2, (v + rho) / scale**2
    x = b + s / scale
    first = a * np.log(a) - gammaln(a) - np.log(gammainc(a, a))
    out: np.ndarray = first + gammaln(b) + np.log(gammainc(b, x)) - b * np.log(x) + s / scale + v / scale**2
    return out
