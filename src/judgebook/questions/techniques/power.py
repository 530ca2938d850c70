"""How many conversations, and hours of work, a technique needs to distinguish two systems.

Whole conversations are resampled, one test is made at a size chosen in advance, and the time is that at which the test
has the stated power (`power_curve`), with the type I error rate of the same test.

Observed differences are too large where they were found, so hours are for differences shrunken towards 0 by the noise
of the technique (`shrinkage`, `shrunken`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special
from scipy.special import ndtri

from judgebook.statistics.intervals import exact_binomial

#: numbers of conversations whose power is simulated
SIZES = (4, 8, 16, 32, 64, 128, 256, 512)


@dataclass(frozen=True)
class Distribution:
    """Values of the conversations of one system, or of one pair of systems, each distinct value once.

    values, counts : (k,) the values, ascending, and how many conversations have them.
    """

    values: np.ndarray
    counts: np.ndarray

    @property
    def n(self) -> int:
        """How many values there are."""
        return round(self.counts.sum())

    @property
    def share(self) -> np.ndarray:
        """(k,) the share of each distinct value."""
        return self.counts / self.counts.sum()


def sample(values: np.ndarray) -> Distribution:
    """The distinct values of an array; those that differ by rounding only are one."""
    kinds, counts = np.unique(np.round(np.asarray(values, dtype=float), 9), return_counts=True)
    return Distribution(kinds, counts)


def mirrored(a: Distribution) -> Distribution:
    """What comparisons would give if the two systems were equal: each value as often with either sign."""
    kinds, where = np.unique(np.concatenate([a.values, -a.values]), return_inverse=True)
    return Distribution(kinds, np.bincount(where, np.tile(a.counts, 2)))


def pooled(a: Distribution, b: Distribution) -> Distribution:
    """What either system would give if both were equal: pooled with the same weight, counts scaled to whole numbers."""
    kinds, where = np.unique(np.concatenate([a.values, b.values]), return_inverse=True)
    return Distribution(kinds, np.bincount(where, np.concatenate([a.counts * b.n, b.counts * a.n])))


def shrinkage(pairs: Sequence[tuple[Distribution, Distribution | None]]) -> np.ndarray:
    """By how much the observed difference of each pair of samples should be multiplied, 0 to 1.

    Standardised differences of one technique are taken as normal with mean 0 around true ones that are normal with mean
    0: of d² on average the noise is the mean squared standard error, and the rest is the variance of true differences.
    A difference whose squared standard error is e is multiplied by variance / (variance + e).

    pairs : those of one technique; second None: values of comparisons against 0.

    References
    ----------
    Efron and Morris 1975, JASA 70, 311-319 (empirical Bayes, by moments).
    """
    d, error = np.array([_standardised(a, b) for a, b in pairs]).T
    variance = max(0.0, float(np.mean(d**2) - np.mean(error)))
    return variance / (variance + error)


def _standardised(a: Distribution, b: Distribution | None) -> tuple[float, float]:
    """A difference of means in standard deviations of single values, and its squared standard error."""
    mean, variance = _population(a)
    other, spread = (0.0, 0.0) if b is None else _population(b)
    sd = np.sqrt(variance if b is None else (variance + spread) / 2)
    if sd < 1e-12:  # all values are equal: what is known is only that there are n of them
        return float(np.sign(mean - other)), 1.0 / a.n
    return (mean - other) / sd, 1 / a.n + (0.0 if b is None else 1 / b.n)


def _population(a: Distribution) -> tuple[float, float]:
    mean = float(a.share @ a.values)
    return mean, float(a.share @ (a.values - mean) ** 2) * a.n / max(a.n - 1, 1)


def shrunken(a: Distribution, b: Distribution | None, factor: float) -> tuple[Distribution, Distribution | None]:
    """The samples with their difference of means multiplied by `factor`: each is mixed with the other, or comparisons
    with their mirror image. Sizes stay."""
    share = (1 - factor) / 2
    if b is None:
        return _mixed(a, Distribution(-a.values[::-1], a.counts[::-1]), share), None
    return _mixed(a, b, share), _mixed(b, a, share)


def _mixed(a: Distribution, b: Distribution, share: float) -> Distribution:
    kinds, where = np.unique(np.concatenate([a.values, b.values]), return_inverse=True)
    return Distribution(kinds, np.bincount(where, np.concatenate([(1 - share) * a.counts, share * a.n * b.share])))


@dataclass(frozen=True)
class Cost:
    """Seconds of work.

    unit : of judging one conversation or comparison, training included. sides : 1 for comparisons, 2 where systems are
    judged alone. conversation : of collecting a conversation, where finished ones are compared.
    """

    unit: float
    sides: int
    conversation: float = 0.0

    def hours(self, n: float) -> float:
        """Hours of n comparisons, or of n conversations per system.

        n comparisons of finished conversations need at least √n conversations of either system, as each pair of
        conversations is compared at most once (Appendix F).
        """
        return float(n * self.sides * self.unit + 2 * np.ceil(np.sqrt(n)) * self.conversation) / 3600


def _moments(a: Distribution, n: int, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(runs,) means and variances (ddof 1) of n conversations drawn with replacement."""
    drawn = rng.multinomial(n, a.share, size=runs)
    s, q = drawn @ a.values, drawn @ a.values**2
    mean = s / n
    return mean, np.maximum(q - n * mean**2, 0) / (n - 1)


def p_values(a: Distribution, b: Distribution | None, n: int, runs: int, rng: np.random.Generator) -> np.ndarray:
    """(runs,) two-sided p-values of simulated studies with n conversations (per system).

    b None: one-sample t test of a mean of 0; otherwise Welch's test. Where all values drawn are equal there is no
    variance to estimate: the p-value is then that of the sign test, 2 / 2^n, or 1 where there is no difference.
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
    p[~flat] = 2 * special.stdtr(df[~flat], -np.abs(difference[~flat]) / error[~flat])
    return p


def power_curve(
    a: Distribution, b: Distribution | None, sizes: Sequence[int], *, runs: int, alpha: float, rng: np.random.Generator
) -> pd.DataFrame:
    """How often studies find the difference between two systems, and how often they would if the systems were equal.

    Parameters
    ----------
    a, b : Distribution
        Values of conversations with either system; b None: a holds values of comparisons, 0 being a draw.
    sizes : sequence of int
        Numbers of comparisons, or of conversations per system.

    Returns
    -------
    DataFrame
        statistic (`technique_power`, `technique_false_positive`), conversations, estimate, and its exact interval over
        the simulated studies. For equal systems every comparison may as well have gone the other way (`mirrored`), or
        both systems have the pooled values (`pooled`).
    """
    equal = mirrored(a) if b is None else pooled(a, b)
    cases = {"technique_power": (a, b), "technique_false_positive": (equal, None if b is None else equal)}
    rows = []
    for statistic, (left, right) in cases.items():
        for n in sizes:
            hits = int(np.sum(p_values(left, right, n, runs, rng) < alpha))
            rows.append((statistic, n, hits / runs, *exact_binomial(hits, runs)))
    return pd.DataFrame(rows, columns=["statistic", "conversations", "estimate", "ci_low", "ci_high"])


def size_for(sizes: Sequence[int], reached: np.ndarray, power: float) -> float:
    """Number of conversations at which the power is first reached, interpolated on a log scale; NaN if it is not.

    reached : (k,) the power at each of `sizes`; a power that falls by chance counts as level.
    """
    n, p = np.asarray(sizes, dtype=float), np.maximum.accumulate(np.asarray(reached, dtype=float))
    if p[-1] < power:
        return float("nan")
    i = int(np.argmax(p >= power))
    if i == 0 or p[i] == p[i - 1]:
        return float(n[i])
    step = (power - p[i - 1]) / (p[i] - p[i - 1])
    return float(np.exp(np.log(n[i - 1]) + step * (np.log(n[i]) - np.log(n[i - 1]))))


def size_interval(
    a: Distribution,
    b: Distribution | None,
    power: float,
    alpha: float,
    *,
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float,
) -> tuple[float, float]:
    """Percentile interval of the number of conversations needed, because the observed difference is itself uncertain.

    Conversations are resampled; for each resample the size that a t test needs is that of Guenther's approximation,
    (z_{1 - α/2} + z_power)² s² / d² + z²_{1 - α/2} / 2, s² being the variance; for two samples, s² is the sum of both
    variances and the last term is halved. A resample without variance needs as many conversations as the sign test that
    `p_values` uses instead. The upper end is infinite where resamples without any difference are common.

    References
    ----------
    Guenther 1981, The American Statistician 35(4).
    """
    z_alpha = ndtri(1 - alpha / 2)
    z, extra = z_alpha + ndtri(power), z_alpha**2 / (2 if b is None else 4)
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
