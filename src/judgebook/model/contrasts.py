"""What follows from estimated levels of systems and their covariance: differences, tiers, chances of being best.

Differences are simultaneous: their critical value is that of the largest of all studentised differences (a multivariate
t, Tukey's range where designs are balanced). Its normal part is drawn, with a fixed seed, and the part of the estimated
variance is integrated exactly. A first place is a statement of another kind: systems are taken as draws from a normal
distribution whose spread the data estimate, so that the best of many alike is not taken for better than it is.

References
----------
Hsu 1996, Multiple Comparisons, sections 5.1 and 7.1 (all differences at once). Hothorn, Bretz and Westfall 2008,
Biometrical Journal 50, 346-363 (with any covariance). Daniels 1999, Canadian Journal of Statistics 27, 567-578 (uniform
prior on the shrinkage). Morris 1983, Journal of the American Statistical Association 78, 47-55 (empirical Bayes).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import inf, nan

import numpy as np
from scipy.special import chdtr, chdtri, ndtri, stdtr

from judgebook.statistics.multiplicity import tiers

#: draws of the normal part, and of posterior orders
DRAWS = 40_000
#: points that stand for the distribution of the largest difference where variances are estimated
_POINTS = 500
#: points of the grids of shrinkage and of the scale of the covariance
_SHRINKAGE, _SCALES = 60, 40
#: differences that are held at once
_AT_ONCE = 2_000_000
#: halvings of the range in which a critical value is, and its end; what two values differ by at least
_HALVINGS, _END = 32, 1e3
_STEP = _END / 2**_HALVINGS


@dataclass(frozen=True)
class Differences:
    """Differences of systems, one per pair (i, j) with i < j in the order of the levels.

    first, second : (pairs,) places of the systems. estimate : of first less second. se, df : standard error and degrees
    of freedom (inf: the error is taken as known). low, high : simultaneous interval. p_value : of the pair alone;
    p_adjusted : of all pairs at once. decided : whether the interval excludes 0.
    """

    first: np.ndarray
    second: np.ndarray
    estimate: np.ndarray
    se: np.ndarray
    df: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray
    decided: np.ndarray


@dataclass(frozen=True)
class Levels:
    """Levels of systems, the higher the better.

    estimates : (s,); covariance : (s, s); df : (s, s) degrees of freedom of differences, and on the diagonal of single
    levels, inf where errors are taken as known, NaN where two systems cannot be compared.
    """

    estimates: np.ndarray
    covariance: np.ndarray
    df: np.ndarray
    seed: int = field(default=20261129, repr=False)

    def __len__(self) -> int:
        return len(self.estimates)

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        first, second = np.triu_indices(len(self), 1)
        return first, second

    @cached_property
    def errors(self) -> np.ndarray:
        """(pairs,) standard errors of differences."""
        return np.sqrt(np.maximum(of_pairs(self.covariance), 0.0))

    @cached_property
    def largest(self) -> np.ndarray:
        """(DRAWS,) sorted: the largest of all differences over their standard errors, where all levels are equal."""
        if not np.isfinite(self.covariance).all():
            return np.zeros(DRAWS)
        if len(self) == 2:
            return ndtri(0.5 + (np.arange(DRAWS) + 0.5) / (2 * DRAWS))
        values, vectors = np.linalg.eigh(_centred(self.covariance))
        z = self._drawn(self.seed) @ (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        i, j = self.pairs[0][known := self.errors > 0], self.pairs[1][known]
        out, step = np.zeros(DRAWS), max(1, _AT_ONCE // max(len(i), 1))
        for begin in range(0, DRAWS, step):
            part = z[begin : begin + step]
            out[begin : begin + step] = (np.abs(part[:, i] - part[:, j]) / self.errors[known]).max(axis=1, initial=0.0)
        return np.sort(out)

    def _drawn(self, seed: int) -> np.ndarray:
        """(DRAWS, s) standard normal numbers: those of the best system first, whatever order systems are in. With roots
        of matrices that are symmetric, results depend neither on that order nor on how eigenvectors are chosen."""
        return _normal(seed, len(self))[:, np.argsort(np.argsort(-self.estimates, kind="stable"))]

    def differences(self, confidence: float = 0.95) -> Differences:
        """Every difference, with simultaneous intervals. A pair without an error (NaN) is not decided."""
        i, j = self.pairs
        gap, se, df = self.estimates[i] - self.estimates[j], self.errors, self.df[i, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(gap) / se
        half = self.critical(df, confidence) * se
        alone = 2 * stdtr(np.where(np.isinf(df), 1e9, df), -t)
        p = np.maximum(tail(self.largest, t, df), alone)  # far out, draws are few
        return Differences(i, j, gap, se, df, gap - half, gap + half, alone, p, np.abs(gap) > half)

    def critical(self, df: np.ndarray, confidence: float = 0.95) -> np.ndarray:
        """Of each number of degrees of freedom the value that the largest studentised difference stays below, with this
        probability where all levels are equal."""
        out = np.full(len(df), np.nan)
        known, where = np.unique(df[~np.isnan(df)], return_inverse=True)
        if len(known) > 10:  # between a few, in the reciprocal: it is nearly linear there
            grid = 1 / np.linspace(1 / known[0], 1 / known[-1] if np.isfinite(known[-1]) else 0.0, 10).clip(1e-12)
            at = self.critical(grid, confidence)
            values = np.interp(-1 / known, -1 / grid, at)
        else:
            values, found = self._sought(known, confidence)
            rest = known[~found]
            low, high = np.zeros(len(rest)), np.full(len(rest), _END)
            for _ in range(_HALVINGS if len(rest) else 0):
                middle = (low + high) / 2
                above = tail(self.largest, middle, rest) > 1 - confidence
                low, high = np.where(above, middle, low), np.where(above, high, middle)
            values[~found] = high
        out[~np.isnan(df)] = values[where]
        return out

    def _sought(self, df: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """What halving comes to, in a fifth of its steps: by secants of the logarithms, from Student's quantile as
        expanded in 1 / df. And of each whether it is that: the chance passes 1 - confidence there."""
        level, known = 1 - confidence, self.largest[min(int(np.ceil(confidence * DRAWS)), DRAWS) - 1]
        with np.errstate(all="ignore"):  # what comes to nothing is not found
            before = np.log(known + (known**3 + known) / (4 * df))
            at = before + np.where(np.isinf(df), 0.0, 1e-3)
            above = np.log(tail(self.largest, np.exp(before), df) / level)
            for _ in range(4):
                now = np.log(tail(self.largest, np.exp(at), df) / level)
                step = np.where(now == above, 0.0, now * (at - before) / (now - above))
                before, above, at = at, now, at - step
            cell = np.ceil(np.exp(at) / _STEP).clip(1, 2**_HALVINGS - 1)
            found = tail(self.largest, (cell - 1) * _STEP, df) > level
            found &= tail(self.largest, cell * _STEP, df) <= level
        return cell * _STEP, found

    @cached_property
    def posterior(self) -> np.ndarray:
        """(DRAWS, s) levels drawn given the data, less their mean: systems as draws from a normal distribution.

        Given its variance and that of the estimates, levels are normal and shrunk towards their mean. The shrinkage of
        an average system has a uniform prior; the scale of the covariance is chi-square over its degrees of freedom
        (the median over pairs).
        """
        s, rng = len(self), np.random.default_rng(self.seed + 1)
        values, vectors = np.linalg.eigh(_centred(self.covariance))
        values, vectors = np.maximum(values[1:], 0.0), vectors[:, 1:]  # the first is the mean, which is not compared
        along = self.estimates @ vectors
        df = float(np.nanmedian(self.df[self.pairs])) if s > 1 else inf
        at = (np.arange(_SCALES) + 0.5) / _SCALES
        df = max(df, 1.0)  # with less, nothing is known of the scale, and quantiles are 0
        scale = np.ones(_SCALES) if np.isinf(df) else df / chdtri(df, at)
        kept = (np.arange(_SHRINKAGE) + 0.5) / _SHRINKAGE
        between = values.mean() * scale[:, None] * (1 - kept) / kept  # (scales, shrinkages) variance between systems
        total = between[..., None] + scale[:, None, None] * values
        log_density = -0.5 * (np.log(total) + along**2 / total).sum(axis=-1)
        weight = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        chance = np.cumsum((weight / weight.sum(axis=1, keepdims=True)).ravel())
        cell = np.minimum(np.searchsorted(chance, rng.random(DRAWS) * chance[-1]), chance.size - 1)
        of_scale, of_kept = np.divmod(cell, _SHRINKAGE)
        spread, own = between[of_scale, of_kept][:, None], scale[of_scale][:, None] * values
        share = spread / (spread + own)
        drawn = share * along + np.sqrt(share * own) * (self._drawn(self.seed + 2) @ vectors)
        return drawn @ vectors.T

    @cached_property
    def comparable(self) -> bool:
        """Whether any two systems can be compared."""
        return not np.isnan(self.df[self.pairs]).all()

    @cached_property
    def p_best(self) -> np.ndarray:
        """(s,) chance of each system to be the best; NaN without a covariance."""
        if not np.isfinite(self.covariance).all():
            return np.full(len(self), nan)
        return np.bincount(self.posterior.argmax(axis=1), minlength=len(self)) / DRAWS

    @cached_property
    def expected_rank(self) -> np.ndarray:
        """(s,) mean rank, 1 for the best; NaN without a covariance."""
        if not np.isfinite(self.covariance).all():
            return np.full(len(self), nan)
        return 1 + (-self.posterior).argsort(axis=1).argsort(axis=1).mean(axis=0)

    def tiers(self, confidence: float = 0.95) -> np.ndarray:
        """(s,) from 1, of systems that cannot be told from the highest in their tier (`multiplicity.tiers`)."""
        d = self.differences(confidence)
        apart = {frozenset(pair) for pair in np.stack([d.first, d.second], axis=1)[d.decided].tolist()}
        tier, order = np.zeros(len(self), dtype=int), np.argsort(-self.estimates, kind="stable")
        for number, systems in enumerate(tiers(order.tolist(), apart), start=1):
            tier[systems] = number
        return tier

    def reversed(self) -> Levels:
        """Where a low level is good."""
        return replace(self, estimates=-self.estimates)


@lru_cache(maxsize=2)  # for one number of systems, all seeds that there are
def _normal(seed: int, s: int) -> np.ndarray:
    """(DRAWS, s) standard normal numbers with the moments that they should have: quantiles vary by a third less."""
    z = np.random.default_rng(seed).standard_normal((DRAWS, s))
    z -= z.mean(axis=0)
    drawn: np.ndarray = z @ np.linalg.inv(np.linalg.cholesky(z.T @ z / DRAWS)).T
    return drawn


def tail(largest: np.ndarray, t: np.ndarray, df: np.ndarray) -> np.ndarray:
    """Chance that the largest of all differences over their estimated standard errors is beyond t.

    largest : (draws,) sorted, over the true ones. df : of each t; the estimated variance is chi-square over it. NaN
    where either is.
    """
    t, df = np.broadcast_arrays(np.asarray(t, dtype=float), np.asarray(df, dtype=float))
    out = np.where(np.isnan(t + df), np.nan, 1 - np.searchsorted(largest, t) / len(largest))
    estimated = np.isfinite(df) & (t > 0)
    every = len(largest) // _POINTS
    squares = largest[every // 2 :: every] ** 2 if every else largest**2
    rows = np.flatnonzero(estimated.ravel())
    flat_t, flat_df, flat = t.ravel(), df.ravel(), out.ravel()
    for part in np.array_split(rows, -(-len(rows) * len(squares) // _AT_ONCE)) if len(rows) else ():
        ratio = squares / flat_t[part, None] ** 2
        flat[part] = chdtr(flat_df[part, None], flat_df[part, None] * ratio).mean(axis=1)
    return flat.reshape(out.shape)


def of_pairs(covariance: np.ndarray) -> np.ndarray:
    """(pairs,) variances of differences."""
    (i, j), v = np.triu_indices(len(covariance), 1), np.diag(covariance)
    return v[i] + v[j] - 2 * covariance[i, j]


def _centred(covariance: np.ndarray) -> np.ndarray:
    """Of levels less their mean: what differences depend on."""
    half = covariance - covariance.mean(axis=0)
    return half - half.mean(axis=1, keepdims=True)
