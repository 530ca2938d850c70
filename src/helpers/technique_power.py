"""How long people must work until a technique tells two systems apart (Smith et al. 2022, section 4.4.3, Appendix F).

As published: ratings come in one by one, each is taken as independent, and the time is that at which the test is
significant for the first time (`first_crossing`; the paper gives no formula, this is how we read it). Testing after
every rating finds a difference sooner or later where there is none, so that the share of equal systems told apart
stands beside it. As we would defend it: whole conversations are resampled, one test is made at a size chosen in
advance, and the time is that at which four studies in five would find the difference (`power_curve`), beside how often
the same test errs between equal systems.

A difference that was observed is taken as the true one. After a choice for significance it is too large, and the hours
too few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from helpers.distributions import coin_cdf, coin_ppf, norm_ppf


@dataclass(frozen=True)
class Sample:
    """Values of the conversations of one system, or of one pair of systems, each distinct value once.

    values, counts : (k,) the values, ascending, and how many conversations have them.
    """

    values: np.ndarray
    counts: np.ndarray

    @property
    def n(self) -> int:
        """How many values there are. Checked by hand."""
        return int(self.counts.sum())

    @property
    def share(self) -> np.ndarray:
        """The share of each distinct value. Checked by hand."""
        return self.counts / self.counts.sum()

    @property
    def mean(self) -> float:
        """The mean of the values. Checked by hand."""
        return float(self.share @ self.values)


def sample(values: np.ndarray) -> Sample:
    """The distinct values; those that rounding tells apart are one. Checked by hand."""
    kinds, counts = np.unique(np.round(np.asarray(values, dtype=float), 9), return_counts=True)
    return Sample(kinds, counts)


def mirrored(a: Sample) -> Sample:
    """As many values of either sign: the pair of systems, were they equal. Checked by hand."""
    values = np.concatenate([a.values, -a.values])
    kinds, where = np.unique(values, return_inverse=True)
    return Sample(kinds, np.bincount(where, np.tile(a.counts, 2)))


def pooled(a: Sample, b: Sample) -> Sample:
    """Either system as often: both, were they equal. Counts are scaled to whole numbers. Checked by hand."""
    kinds, where = np.unique(np.concatenate([a.values, b.values]), return_inverse=True)
    return Sample(kinds, np.bincount(where, np.concatenate([a.counts * b.n, b.counts * a.n])))


@dataclass(frozen=True)
class Cost:
    """Seconds of one conversation or comparison, training included; and where finished conversations are compared,
    seconds of collecting one.

    `unit` counts once for a comparison, twice (one a system) where systems are judged apart.
    """

    unit: float
    sides: int
    conversation: float = 0.0

    def hours(self, n: np.ndarray | float) -> np.ndarray:
        """Hours for n units (a system, where systems are judged apart).

        n comparisons of finished conversations need at least the root of n conversations of either system, as each
        pair of conversations is compared at most once (Appendix F).

        Checked by hand.
        """
        n = np.asarray(n, dtype=float)
        return (n * self.sides * self.unit + 2 * np.ceil(np.sqrt(n)) * self.conversation) / 3600


def _moments(a: Sample, n: int, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(runs,) means and variances (ddof 1) of n conversations drawn with replacement."""
    drawn = rng.multinomial(n, a.share, size=runs)
    s, q = drawn @ a.values, drawn @ a.values**2
    mean = s / n
    return mean, np.maximum(q - n * mean**2, 0) / (n - 1)


def p_values(a: Sample, b: Sample | None, n: int, runs: int, rng: np.random.Generator) -> np.ndarray:
    """(runs,) two-sided p-values of `runs` studies with n conversations (of either system).

    b None: one sample t test of a mean of 0. Else Welch's test. Where all values drawn are equal there is no spread to
    estimate: the p-value is then that of the sign test, 2 / 2^n, or 1 where the values do not differ from each other
    and from 0. Checked against `scipy.stats.ttest_1samp` and `ttest_ind`.
    """
    mean, variance = _moments(a, n, runs, rng)
    if b is None:
        difference, error, df = mean, np.sqrt(variance / n), np.full(runs, n - 1.0)
    else:
        other, spread = _moments(b, n, runs, rng)
        difference, error = mean - other, np.sqrt((variance + spread) / n)
        with np.errstate(invalid="ignore", divide="ignore"):
            df = (n - 1) * (variance + spread) ** 2 / (variance**2 + spread**2)
    flat = error < 1e-12
    p = np.where(np.abs(difference) < 1e-12, 1.0, min(1.0, 2.0 ** (1 - n)))
    t = np.abs(difference[~flat]) / error[~flat]
    p[~flat] = 2 * special.stdtr(df[~flat], -t)
    return p


def power_curve(
    a: Sample, b: Sample | None, sizes: Sequence[int], *, runs: int, alpha: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Share of studies that find the difference, by conversations, and share that err where systems are equal.

    b None: values of comparisons, 0 being a draw. Returns n, power, false_positive, and their exact intervals over
    `runs` runs (`power_low`, …). Equal systems: every comparison may as well have gone the other way (`mirrored`), or
    both systems have the pooled values (`pooled`). Checked by simulation and against the power of the t test in
    `statsmodels`.
    """
    equal = mirrored(a) if b is None else pooled(a, b)
    cases = {"power": (a, b), "false_positive": (equal, None if b is None else equal)}
    out = pd.DataFrame({"n": list(sizes)})
    for name, (left, right) in cases.items():
        hits = np.array([np.sum(p_values(left, right, n, runs, rng) < alpha) for n in sizes])
        out[name] = hits / runs
        out[f"{name}_low"], out[f"{name}_high"] = exact_ends(hits, runs)
    return out


def exact_ends(hits: np.ndarray, runs: int, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the exact (Clopper and Pearson 1934) interval of many proportions at once.

    Checked against `resampling.exact_binomial`.
    """
    tail, hits = (1 - confidence) / 2, np.asarray(hits, dtype=float)
    low = special.betaincinv(np.maximum(hits, 1), runs - hits + 1, tail)
    high = special.betaincinv(hits + 1, np.maximum(runs - hits, 1), 1 - tail)
    return np.where(hits > 0, low, 0.0), np.where(hits < runs, high, 1.0)


def size_for(curve: pd.DataFrame, power: float) -> float:
    """Conversations at which the power is first reached, between the sizes tried by their logarithm; NaN where it is
    not reached. A curve that falls by chance is taken as level.

    Checked by hand.
    """
    n, p = curve["n"].to_numpy(float), np.maximum.accumulate(curve["power"].to_numpy(float))
    if p[-1] < power:
        return float("nan")
    i = int(np.argmax(p >= power))
    if i == 0 or p[i] == p[i - 1]:
        return float(n[i])
    step = (power - p[i - 1]) / (p[i] - p[i - 1])
    return float(np.exp(np.log(n[i - 1]) + step * (np.log(n[i]) - np.log(n[i - 1]))))


def size_interval(
    a: Sample,
    b: Sample | None,
    power: float,
    alpha: float,
    *,
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float,
) -> tuple[float, float]:
    """Percentile interval of the conversations needed, as the observed difference is itself uncertain.

    Conversations are resampled; of each resample the size that a t test needs is taken in Guenther's approximation
    (1981, The American Statistician 35(4)), (z_{1 - α/2} + z_power)² s² / d² + z²_{1 - α/2} / 2, s² being the variance;
    of two samples, s² is the sum of both variances and the last term is halved. A resample without spread needs as many
    conversations as the sign test that `p_values` falls back on. The upper end is infinite where resamples without any
    difference are common. Checked against `statsmodels`' sample size of the t test.
    """
    z_alpha = norm_ppf(1 - alpha / 2)
    z, extra = z_alpha + norm_ppf(power), z_alpha**2 / (2 if b is None else 4)
    mean, variance = _moments(a, a.n, n_resamples, rng)
    if b is not None:
        other, spread = _moments(b, b.n, n_resamples, rng)
        mean, variance = mean - other, variance + spread
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(np.abs(mean) < 1e-12, np.inf, z**2 * variance / mean**2 + extra)
    needed = np.where((variance < 1e-12) & np.isfinite(needed), 1 - np.log2(alpha), needed)
    tail = (1 - confidence) / 2
    low, high = np.quantile(needed, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def critical_wins(n: int, alpha: float) -> np.ndarray:
    """(n + 1,) fewest wins among 0, …, n decided ratings that the two-sided binomial test calls significant.

    More than the ratings where no number of wins is. Checked against `scipy.stats.binomtest`.
    """
    sizes = np.arange(n + 1)
    k = sizes - coin_ppf(alpha / 2, sizes) + 1  # P(X >= k) = P(X <= n - k) <= alpha / 2
    k = np.where(2 * coin_cdf(sizes - k, sizes) < alpha, k, k + 1)
    return np.where(sizes > 0, k, 1)


def first_crossing(
    a: Sample, b: Sample | None, most: int, *, runs: int, alpha: float, rng: np.random.Generator
) -> np.ndarray:
    """(runs,) ratings (of either system) after which the test is first significant; `most` + 1 where it never is.

    a, b : single ratings, not conversations. b None: comparisons; the two-sided binomial test of wins and losses, ties
    counting as ratings only. Else Student's t test of two independent samples. Smith et al. 2022, Appendix F. Checked
    rating by rating against scipy.
    """
    if b is None:
        drawn = _drawn(a, (runs, most), rng)
        won, lost = np.cumsum(drawn > 0, axis=1), np.cumsum(drawn < 0, axis=1)
        crossed = np.maximum(won, lost) >= critical_wins(most, alpha)[won + lost]
    else:
        n = np.arange(1, most + 1)
        (s, q), (s_b, q_b) = ((np.cumsum(x, axis=1), np.cumsum(x * x, axis=1)) for x in _both(a, b, (runs, most), rng))
        with np.errstate(divide="ignore", invalid="ignore"):
            within = (q - s * s / n + q_b - s_b * s_b / n) / (2 * n - 2)
            squared = (s - s_b) ** 2 / (2 * n * within)  # t² of two samples of n each
            crossed = (squared > special.stdtrit(2.0 * n - 2, 1 - alpha / 2) ** 2) & (within > 1e-9)
    return np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1, most + 1)


def _both(a: Sample, b: Sample, shape: tuple[int, int], rng: np.random.Generator) -> list[np.ndarray]:
    return [_drawn(x, shape, rng) for x in (a, b)]


def _drawn(a: Sample, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Values drawn with replacement."""
    place = np.searchsorted(np.cumsum(a.share)[:-1], rng.random(shape), side="right")
    return a.values[place]


def chunks(seconds: np.ndarray, minutes: float) -> np.ndarray:
    """Number of the chunk of equal working time that each unit belongs to, units in the order they were done.

    A unit belongs to the chunk in which its work began. The last chunk, which is not full, is -1. Checked by hand.
    """
    ends = np.cumsum(seconds)
    started = np.floor((ends - seconds) / (60 * minutes)).astype(int)
    return np.where(started < int(ends[-1] // (60 * minutes)), started, -1) if len(ends) else started
