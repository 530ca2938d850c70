"""Linear mixed model with crossed random effects, fitted by restricted maximum likelihood.

`statsmodels.MixedLM` fits the same model, but keeps crossed effects in one dense group, which is infeasible for turns.
Here the factor with the most levels is eliminated first, as its block is diagonal, and the cost of an evaluation does
not grow with the number of ratings. Where each annotator meets few of the others, most of them are eliminated next
(`elimination`). The gradient is exact.

References: Patterson and Thompson 1971, Biometrika 58, 545-554 (restricted likelihood); Bates, Mächler, Bolker and
Walker 2015, Journal of Statistical Software 67(1), section 3.3 (profiled deviance); Searle, Casella and McCulloch 1992,
Variance Components, sections 7.4 and 7.6 (predicted effects and their errors, gradient).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log, log2, nan, pi
from typing import Any

import numpy as np
from scipy import optimize, sparse

from judgebook.statistics.elimination import Elimination

#: logarithms of the smallest and largest ratio of a factor's variance to the residual one that are tried
LIMITS = (log(1e-10), log(1e8))
#: below, a ratio may be 0 but for noise, or a search may have ended there by mistake
_SMALL = 1e-3
#: derivative of the deviance by a log ratio that no longer matters, with up to a hundred levels: with more the deviance
#: is that much steeper, and its sums are that much longer
FLAT, LEVELS = 1e-2, 100
#: searches, each from the best point of the one before, as rounding can end one early
SEARCHES = 3
#: levels of the main factor whose errors are found together
_PIECE = 512
#: up to this many entries dense matrices take less time than sparse ones
_DENSE = 2**17


@dataclass(frozen=True, kw_only=True)
class LinearMixedFit:
    """A fitted model. All numbers are missing (NaN) where the optimiser did not converge.

    variances : (f,) of the factors; residual : of the error; shares : (f + 1,) of the factors and, last, of the
    residual in the total variance; coefficients : (p,) and their covariance (p, p). effects : per factor the (levels,)
    predicted effects, shrunken towards 0 (BLUPs); effect_se : their errors, which take the variances as known.
    """

    variances: np.ndarray
    residual: float
    shares: np.ndarray
    coefficients: np.ndarray
    covariance: np.ndarray
    effects: list[np.ndarray]
    effect_se: list[np.ndarray]
    converged: bool


@dataclass(frozen=True)
class Solution:
    """At given ratios: deviance, its gradient by the log ratios, residual variance, and of the mixed-model equations
    (standardised effects of all factors but the main one, then coefficients) the solution and the entries of the
    inverse that are among those of the matrix."""

    deviance: float
    gradient: np.ndarray
    residual: float
    values: np.ndarray
    inverse: np.ndarray


class RestrictedDeviance:
    """The restricted deviance as a function of the variances of the factors over the residual variance.

    With ratios r and H = I + sum r Z Z', minus twice the restricted log-likelihood, profiled over the residual variance
    s2 = rss / (n - p), is (n - p) (log(2 pi s2) + 1) + log|H| + log|X'H^-1 X| (Patterson and Thompson 1971). Effects
    are standardised by the root of their ratio, so that a variance of 0 needs no case of its own.
    """

    def __init__(self, y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray]):
        self.levels = [int(f.max()) + 1 for f in factors]
        self.n, self.p = x.shape
        self.main = int(np.argmax(self.levels))
        self.rest = [i for i in range(len(factors)) if i != self.main]
        sizes = [self.levels[i] for i in self.rest]
        self.m = sum(sizes)
        starts = np.cumsum([0, *sizes]).tolist()
        self.blocks = [slice(*ends) for ends in pairwise(starts)]  # columns of each factor but the main one
        columns: Any = _columns([start + factors[i] for i, start in zip(self.rest, starts, strict=False)], [*x.T, y])
        # the main factor enters through sums over its levels; levels with as many scores enter alike
        main = factors[self.main]
        self.counts, self.totals = np.bincount(main), np.bincount(main, y)
        order = (np.ones(self.n), np.argsort(main, kind="stable"), np.cumsum(np.r_[0, self.counts]))
        sums = sparse.csr_array(order, shape=(len(self.counts), self.n)) @ columns
        self.sizes, group, self.multiplicity = np.unique(self.counts, return_inverse=True, return_counts=True)
        if columns.shape[0] * columns.shape[1] <= _DENSE:
            columns, sums = columns.toarray(), sums.toarray()
        self.sums = sums
        # two effects meet where they are on scores of the same level of the main factor
        self.equations = equations = Elimination(np.abs(sums).T @ np.abs(sums), self.p + 1)
        rows, cols = equations.rows, equations.columns
        self.gram = equations.entries(columns.T @ columns)
        by_size = (sums[group == g] for g in range(len(self.sizes)))
        self.by_size = np.stack([equations.entries(b.T @ b) for b in by_size])
        self.diagonal = np.flatnonzero(rows == cols)
        self.twice = np.where(rows == cols, 1.0, 2.0)
        # the factor of each row and of each entry
        self.of = np.repeat(np.arange(len(sizes) + 1), [*sizes, self.p + 1])
        self.of_entry = self.of[rows] * (len(sizes) + 1) + self.of[cols]

    def solve(self, ratios: np.ndarray) -> Solution:
        """The solution at given ratios. It is asked for thousands of times, of matrices so small that what counts is
        how many calls of NumPy there are."""
        r, d, s = ratios[self.main], 1 + ratios[self.main] * self.sizes, np.ones(len(ratios))
        s[:-1] = np.sqrt(ratios[self.rest])
        scale = np.outer(s, s).ravel()[self.of_entry]
        # Woodbury: what the main factor takes off sums of squares, and its derivative
        off, slope = np.stack([r / d, r / d**2]) @ self.by_size
        a = (self.gram - off) * scale
        a[self.diagonal[: self.m]] += 1.0
        log_det, values, inverse = self.equations.solve(a)
        free, left, k = self.n - self.p, np.append(-values, 1.0), self.m + self.p
        residual = max(a[-1] - a[-k - 1 : -1] @ values, 1e-300) / free
        log_det += self.multiplicity @ np.log(d)
        gradient = np.zeros(len(ratios))
        shrinkage, squares = 1 - inverse[self.diagonal], values**2
        for block, i in zip(self.blocks, self.rest, strict=True):
            gradient[i] = shrinkage[block].sum() - squares[block].sum() / residual
        around = inverse + left[self.equations.rows] * left[self.equations.columns] / residual
        gradient[self.main] = self.multiplicity @ (1 - 1 / d) - (slope * scale * self.twice) @ around
        deviance = free * (log(2 * pi * residual) + 1) + log_det
        return Solution(float(deviance), gradient, float(residual), values, inverse)

    def minimise(self, start: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Log ratios of least deviance, the deviance, and whether the search settled."""
        flat = FLAT * max(1.0, np.sqrt(max(self.levels) / LEVELS))

        def evaluate(logs: np.ndarray) -> _Point:
            solution = self.solve(np.exp(logs))
            return _Point(solution.deviance, logs, solution.gradient)

        def settles(best: _Point) -> bool:
            inside = (best.logs > LIMITS[0]) & (best.logs < LIMITS[1])
            # without a residual the ratios have no optimum
            endless = best.logs.max(initial=-np.inf) > LIMITS[1] - 5
            return bool(np.abs(best.slope[inside]).max(initial=0.0) < flat or endless)

        best, settled = _search(evaluate, start.copy(), settles)
        return best.logs, best.value, settled

    def effects(self, ratios: np.ndarray, at: Solution) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Of each factor the predicted effects and their errors."""
        out: list[tuple[np.ndarray, np.ndarray]] = [self._main_effects(ratios, at)] * len(ratios)
        variance = at.inverse[self.diagonal]
        for block, i in zip(self.blocks, self.rest, strict=True):
            out[i] = np.sqrt(ratios[i]) * at.values[block], ratios[i] * variance[block]
        errors = [np.sqrt(at.residual * np.maximum(variance, 0)) for _, variance in out]
        return [effects for effects, _ in out], errors

    def with_coefficients(self, at: Solution) -> np.ndarray:
        """(p, m + p) rows of the inverse."""
        out = np.zeros((self.p, self.m + self.p))
        for i in range(self.p):
            end = self.diagonal[self.m + i] + 1
            out[i, : self.m + i + 1] = at.inverse[end - self.m - i - 1 : end]
        out[:, self.m :] += np.tril(out[:, self.m :], -1).T
        return out

    def _main_effects(self, ratios: np.ndarray, at: Solution) -> tuple[np.ndarray, np.ndarray]:
        """Effects of the main factor and their variances, by back-substitution."""
        r, s = ratios[self.main], np.append(np.sqrt(ratios[self.rest]), 1.0)
        shrink, scale = r / (1 + r * self.counts), np.outer(s, s).ravel()[self.of_entry]
        inverse, by = self.equations.matrix(at.inverse * scale), s[self.of]
        value = shrink * (self.totals - self.sums @ (by * np.append(at.values, 0.0)))
        pieces = (self.sums[i : i + _PIECE] for i in range(0, len(shrink), _PIECE))
        squares = np.concatenate([((piece @ inverse) * piece).sum(axis=1) for piece in pieces])
        return value, shrink + shrink**2 * squares


@dataclass(frozen=True)
class _Point:
    """A point that a search has tried: the deviance, log ratios, and the slope of the deviance by them."""

    value: float
    logs: np.ndarray
    slope: np.ndarray


def _search(
    evaluate: Callable[[np.ndarray], _Point], start: np.ndarray, settles: Callable[[_Point], bool]
) -> tuple[_Point, bool]:
    """The lowest point tried, and whether it settles the search. settles : whether a point is an optimum."""
    # a search that starts at the optimum may end elsewhere; without an offset, changes relative to the value would grow
    # with the number of scores
    best = evaluate(start)
    offset, settled = best.value, False

    def objective(logs: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        point = evaluate(logs.copy())
        if point.value < best.value:
            best = point
        return point.value - offset, point.slope.copy()

    for _ in range(SEARCHES if np.isfinite(offset) else 0):
        optimize.minimize(
            objective,
            best.logs,
            jac=True,
            method="L-BFGS-B",
            bounds=[LIMITS] * len(start),
            options={"maxiter": 500, "maxfun": 15_000, "ftol": 1e-12, "gtol": 1e-6},
        )
        if settled := settles(best):
            break
    return best, settled


def _columns(levels: Sequence[np.ndarray], dense: Sequence[np.ndarray]) -> sparse.csr_array:
    """(n, levels and dense columns) a 1 at each score's levels, and the columns that all scores have."""
    n, m = len(dense[0]), 1 + max((int(level.max()) for level in levels), default=-1)
    at = np.column_stack([*levels, *(np.full(n, m + i) for i in range(len(dense)))])
    values = np.column_stack([*(np.ones(n) for _ in levels), *dense])
    return sparse.csr_array((values.ravel(), at.ravel(), np.arange(0, at.size + 1, at.shape[1])))


def fit_linear_mixed(y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray]) -> LinearMixedFit:
    """REML estimates of y = x b + one random effect for each level of each factor + error.

    Parameters
    ----------
    y : (n,) scores
    x : (n, p) design of full column rank
    factors : (n,) numbers from 0 without gaps, one array per factor

    Raises
    ------
    ValueError
        No factor, a design without full rank, or no more scores than coefficients.

    Notes
    -----
    A variance at zero is an estimate, not a failure.

    Examples
    --------
    Four annotators with three scores each:

    >>> y = np.array([1.0, 2, 3, 3, 4, 5, 5, 6, 7, 2, 3, 4])
    >>> model = fit_linear_mixed(y, np.ones((12, 1)), [np.repeat(np.arange(4), 3)])
    >>> model.variances.round(3).tolist(), round(model.residual, 3), model.shares.round(3).tolist()
    ([2.583], 1.0, [0.721, 0.279])
    """
    n, p = x.shape
    if not len(factors) or n <= p or np.linalg.matrix_rank(x) < p:
        raise ValueError(f"expected a factor, a design of full rank and more than {p} scores; found {n} scores")
    # sums of squares of scores that are large, small, or far from 0 would be lost in rounding: what least squares
    # explains and the scale are taken off, the latter as a power of two, which changes no digit
    scale = _power(y)
    plain = np.linalg.lstsq(x, y / scale, rcond=None)[0]
    rest = y / scale - x @ plain
    finer = _power(rest)
    return _scaled(_fit(rest / finer, x, factors), plain / finer, scale * finer)


def _power(values: np.ndarray) -> float:
    """The power of two next to the largest absolute value; 1 where all are 0."""
    largest = float(np.abs(values).max(initial=0.0))
    return 2.0 ** round(log2(largest)) if largest > 0 else 1.0


def _scaled(fitted: LinearMixedFit, plain: np.ndarray, scale: float) -> LinearMixedFit:
    """A fit of (y / scale - x plain) as that of y."""
    sums: dict[str, Any] = {"coefficients": scale * (fitted.coefficients + plain)}
    sums |= {name: [scale * part for part in getattr(fitted, name)] for name in ("effects", "effect_se")}
    squares = {name: scale**2 * getattr(fitted, name) for name in ("variances", "residual", "covariance")}
    return replace(fitted, **sums, **squares)


def _fit(y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray]) -> LinearMixedFit:
    (_, p), model, m = x.shape, RestrictedDeviance(y, x, factors), len(factors)
    logs, deviance, converged = _away_from_zero(model, *model.minimise(np.full(m, log(0.5))))
    if not converged:
        none, levels = np.full(m + 1, nan), [np.full(k, nan) for k in model.levels]
        return LinearMixedFit(
            variances=none[:-1],
            residual=nan,
            coefficients=np.full(p, nan),
            covariance=np.full((p, p), nan),
            shares=none,
            effects=levels,
            effect_se=levels,
            converged=False,
        )
    ratios = _without_noise(model, np.exp(logs), deviance)
    at = model.solve(ratios)
    parts = np.append(ratios, 1.0)
    effects, errors = model.effects(ratios, at)
    return LinearMixedFit(
        variances=ratios * at.residual,
        residual=at.residual,
        coefficients=at.values[model.m :],
        covariance=at.residual * model.with_coefficients(at)[:, model.m :],
        shares=parts / parts.sum(),
        effects=effects,
        effect_se=errors,
        converged=True,
    )


def best_ratios(model: RestrictedDeviance) -> np.ndarray:
    """(f,) ratios of least restricted deviance; raises ValueError where the search does not settle."""
    logs, deviance, converged = _away_from_zero(model, *model.minimise(np.full(len(model.levels), log(0.5))))
    if not converged:
        raise ValueError("the restricted likelihood did not converge")
    return _without_noise(model, np.exp(logs), deviance)


def _away_from_zero(
    model: RestrictedDeviance, logs: np.ndarray, deviance: float, converged: bool
) -> tuple[np.ndarray, float, bool]:
    """What `minimise` found, or better: by logarithms all slopes vanish towards variances of 0, and a first step that
    is too long ends there, although the deviance falls with these variances."""
    for _ in logs:
        falls = (logs < log(_SMALL)) & (model.solve(np.exp(logs)).gradient < 0)
        again = model.minimise(np.where(falls, log(10 * _SMALL), logs)) if falls.any() else (logs, deviance, converged)
        if not again[1] < deviance - 1e-6:
            break
        logs, deviance, converged = again
    return logs, deviance, converged


def _without_noise(model: RestrictedDeviance, ratios: np.ndarray, deviance: float) -> np.ndarray:
    """Ratios with those set to 0 that are small and do not lower the deviance, which grows with n."""
    for i in np.flatnonzero((ratios > 0) & (ratios < _SMALL)):
        trial = np.where(np.arange(len(ratios)) == i, 0.0, ratios)
        if (lowest := model.solve(trial).deviance) <= deviance + 1e-9 * model.n:
            ratios, deviance = trial, min(lowest, deviance)
    return ratios
