"""The Laplace likelihood of cumulative-link mixed models with crossed random effects, its gradient and its maximum.

References: Christensen 2019, `ordinal` (R), vignette "Cumulative link mixed models" (Laplace approximation); Bates,
Mächler, Bolker and Walker 2015, Journal of Statistical Software 67(1) (spherical random effects).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import numpy as np
from scipy.linalg import lapack
from scipy.special import expit, log_expit

from judgebook.statistics import variance_shares
from judgebook.statistics.elimination import cholesky, cholesky_inverse
from judgebook.statistics.mixed_fits import Point, search

#: smallest and largest log standard deviation that is tried; the smallest stands for 0
LOG_SD = (log(1e-3), log(20.0))
#: a first threshold, a coefficient or the logarithm of a distance between thresholds beyond this has run away: on the
#: logit scale, values so large cannot be distinguished
FAR = 50.0
#: derivative of the log-likelihood that no longer matters, with up to a thousand scores: with more the likelihood is
#: that much steeper, and its sums are that much longer
_FLAT, _SCORES = 1e-2, 1000
#: logarithm of the largest distance between thresholds that is tried
_MOST_LOG_DISTANCE = 50.0
#: what one product of two entries of the border costs in multiplications of dense matrices
_PRODUCT = 100
#: of each score, at a linear predictor: what `LaplaceLikelihood._parts` computes
Parts = dict[str, np.ndarray]
#: diagonal of the main block, entries of its border, the Schur complement, and its factor (`cholesky`)
Solver = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]


class Border:
    """A matrix (levels, m) whose entries are in the same places each time; `entries` are its values there, in order.

    Few effects meet a level, as a rule: products of all pairs of entries in a row then cost less than dense ones.

    Parameters
    ----------
    places : (n,)
        Numbers of cells, row by row; any may occur more than once.
    """

    def __init__(self, places: np.ndarray, levels: int, m: int):
        self.levels, self.m = levels, m
        self.cells, self.of = np.unique(places, return_inverse=True)
        self.row, self.column = np.divmod(self.cells, max(m, 1))
        size = np.bincount(self.row, minlength=levels)
        self.sparse = _PRODUCT * float(size @ size) < levels * m**2
        if self.sparse:  # each entry with each of its row
            times = size[self.row]
            self.first = np.repeat(np.arange(len(self.cells)), times)
            begins = np.repeat((np.cumsum(size) - size)[self.row], times)
            self.second = np.arange(len(self.first)) - np.repeat(np.cumsum(times) - times, times) + begins
            self.target = self.column[self.first] * m + self.column[self.second]

    def sums(self, x: np.ndarray) -> np.ndarray:
        """(cells,) entries from what each of `places` adds."""
        return np.bincount(self.of, x, len(self.cells))

    def dense(self, entries: np.ndarray) -> np.ndarray:
        full = np.zeros((self.levels, self.m))
        full.flat[self.cells] = entries
        return full

    def times(self, entries: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(levels,) product with x (m,)."""
        return np.bincount(self.row, entries * x[self.column], self.levels)

    def transposed_times(self, entries: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(m,) product of x (levels,) with it."""
        return np.bincount(self.column, entries * x[self.row], self.m)

    def products(self, entries: np.ndarray, d: np.ndarray) -> np.ndarray:
        """(m, m) products of columns, each row over its d."""
        if not self.sparse:
            full = self.dense(entries)
            products: np.ndarray = full.T @ (full / d[:, None])
            return products
        over = entries / d[self.row]
        return np.bincount(self.target, entries[self.first] * over[self.second], self.m**2).reshape(self.m, self.m)

    def through(self, entries: np.ndarray, inner: np.ndarray) -> np.ndarray:
        """(cells,) of its product with a symmetric matrix (m, m), where it has entries itself."""
        if not self.sparse:
            through: np.ndarray = (self.dense(entries) @ inner).ravel()[self.cells]
            return through
        return np.bincount(self.first, entries[self.second] * inner.ravel()[self.target], len(self.cells))


class LaplaceLikelihood:
    """Laplace log-likelihood and gradient. Parameters: first threshold, log distances, coefficients, log sd.

    With eta = x b + sum of sd u (u standard normal), P(y <= k) = expit(threshold_k - eta). The mode u maximises
    sum log P - u'u / 2; the approximation is its maximum minus log|H| / 2, H = I + Z'WZ.
    """

    def __init__(self, y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray], counts: np.ndarray | None = None):
        self.k, (self.n, self.p) = int(y.max()) + 1, x.shape
        self.y, self.x, self.factors = y, x, factors
        self.counts = np.ones(self.n) if counts is None else np.asarray(counts, dtype=float)
        sizes = [int(f.max()) + 1 for f in factors]
        self.main = int(np.argmax(sizes))
        self.others = [i for i in range(len(factors)) if i != self.main]
        self.levels, self.level = sizes[self.main], factors[self.main]
        self.start = np.cumsum([0, *(sizes[i] for i in self.others)])
        self.m = int(self.start[-1])
        self.u = np.zeros(self.levels), np.zeros(self.m)
        # which of the m standardised effects each of the other factors adds to a score
        self.columns = [(i, self.start[place] + factors[i]) for place, i in enumerate(self.others)]
        columns = [column for _, column in self.columns]
        none = np.zeros(0, dtype=int)
        # where each score adds its weight to the border and to the (m, m) block, for all factors in one piece
        self.border = Border(np.concatenate([none, *(self.level * self.m + c for c in columns)]), self.levels, self.m)
        self.inside = np.concatenate([none, *(a * self.m + b for a in columns for b in columns)])

    def split(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cut = self.k - 1
        thresholds = parameters[0] + np.r_[0.0, np.cumsum(self._distances(parameters))]
        return thresholds, parameters[cut : cut + self.p], np.exp(parameters[cut + self.p :])

    def _distances(self, parameters: np.ndarray) -> np.ndarray:
        """Between thresholds; a search may try any, and beyond e^_MOST_LOG_DISTANCE no score lies there."""
        distances: np.ndarray = np.exp(np.minimum(parameters[1 : self.k - 1], _MOST_LOG_DISTANCE))
        return distances

    def at(self, i: int) -> slice:
        """Where the effects of a factor other than the main one are among the m."""
        place = self.others.index(i)
        return slice(self.start[place], self.start[place + 1])

    def _across(self, v: np.ndarray, sd: np.ndarray) -> np.ndarray:
        """(n,) effects of the other factors on each score, from their standardised effects (m,)."""
        return sum((sd[i] * v[c] for i, c in self.columns), np.zeros(self.n))

    def _sums(self, x: np.ndarray, sd: np.ndarray) -> np.ndarray:
        """(m,) sums of x (n,) over the scores of each level of the other factors, times standard deviations."""
        return sum((sd[i] * np.bincount(c, x, self.m) for i, c in self.columns), np.zeros(self.m))

    def _parts(self, eta: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]) -> Parts:
        a, b = bounds[0] - eta, bounds[1] - eta
        upper, lower = expit(a), expit(b)
        fa, fb = upper * (1 - upper), lower * (1 - lower)
        # log P without cancellation: log expit(a) + log expit(-b) + log(1 - exp(b - a))
        log_p = log_expit(a) + log_expit(-b) + np.log(-np.expm1(np.minimum(b - a, -1e-12)))
        c = self.counts
        parts = {"log_p": c * log_p, "score": c * (upper + lower - 1), "weight": c * (fa + fb)}
        return parts | {"p": np.maximum(np.exp(log_p), 1e-300), "fa": fa, "fb": fb, "a": a, "b": b}

    def _solver(self, weight: np.ndarray, sd: np.ndarray) -> Solver:
        """Diagonal of the main block, its border, the Schur complement (m, m) of H, and the factor of that."""
        s, m, others = sd[self.main], self.m, sd[self.others]
        d = 1 + s * s * np.bincount(self.level, weight, self.levels)
        border = self.border.sums(np.outer(s * others, weight).ravel())
        inner = np.bincount(self.inside, np.outer(np.outer(others, others), weight).ravel(), m * m).reshape(m, m)
        schur = inner - self.border.products(border, d)
        schur.flat[:: m + 1] += 1
        return d, border, schur, cholesky(schur)

    def mode(self, thresholds: np.ndarray, beta: np.ndarray, sd: np.ndarray) -> tuple[float, Parts, Solver]:
        """The conditional mode by Newton's method with step halving, from the last one found."""
        s, fixed = sd[self.main], self.x @ beta
        edges = np.r_[-np.inf, thresholds, np.inf]
        bounds = edges[self.y + 1], edges[self.y]
        u, v = self.u

        def at(u: np.ndarray, v: np.ndarray) -> tuple[float, Parts]:
            parts = self._parts(fixed + s * u[self.level] + self._across(v, sd), bounds)
            return float(parts["log_p"].sum() - (u @ u + v @ v) / 2), parts

        value, parts = at(u, v)
        for _ in range(100):
            g1 = s * np.bincount(self.level, parts["score"], self.levels) - u
            g2 = self._sums(parts["score"], sd) - v
            d, border, schur, factor = solved = self._solver(parts["weight"], sd)
            dv = _solved(schur, factor, g2 - self.border.transposed_times(border, g1 / d))
            du = (g1 - self.border.times(border, dv)) / d
            gain = float(g1 @ du + g2 @ dv)
            if gain < 1e-16 * (1 + abs(value)):
                break
            for _ in range(30):
                new, new_parts = at(u + du, v + dv)
                if new >= value - 1e-12 * abs(value):
                    break
                du, dv = du / 2, dv / 2
            else:
                break
            u, v, value, parts = u + du, v + dv, new, new_parts
        else:
            solved = self._solver(parts["weight"], sd)
        self.u = u, v
        return value, parts, solved

    def evaluate(self, parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the Laplace log-likelihood, and its gradient."""
        thresholds, beta, sd = self.split(parameters)
        value, parts, (d, border, schur, factor) = self.mode(thresholds, beta, sd)
        s, k, (u, v) = sd[self.main], self.level, self.u
        # q : z_i' H^-1 z_i, by factor q_f : its part; t = z_i' H^-1 sum w' q z
        inverse, log_det_schur = cholesky_inverse(schur, factor)
        through = self.border.through(border, inverse)
        shrunk, quadratic = (s / d)[k], np.bincount(self.border.row, through * border, self.levels)[k]
        over = through[self.border.of].reshape(len(self.others), self.n)  # of each score, by the other factors
        by_factor = np.zeros((len(sd), self.n))
        by_factor[self.main] = s * (s - sd[self.others] @ over + shrunk * quadratic) / d[k]
        for (i, column), across in zip(self.columns, over, strict=True):
            inner = sum(sd[j] * inverse[other, column] for j, other in self.columns) - shrunk * across
            by_factor[i] = sd[i] * inner
        q = by_factor.sum(axis=0)
        slope_a, slope_b = (parts[f] * (1 - 2 * expit(parts[x])) for f, x in (("fa", "a"), ("fb", "b")))
        bend = -self.counts * (slope_a + slope_b)  # derivative of the weight by eta
        c1, c2 = s * np.bincount(k, bend * q, self.levels), self._sums(bend * q, sd)
        r2 = inverse @ (c2 - self.border.transposed_times(border, c1 / d))
        r1 = (c1 - self.border.times(border, r2)) / d
        t_by = np.zeros_like(by_factor)
        lean = np.zeros_like(by_factor)
        t_by[self.main], lean[self.main] = s * r1[k], s * u[k]
        for i, column in self.columns:
            t_by[i], lean[i] = sd[i] * r2[column], sd[i] * v[column]
        t, g, w = t_by.sum(axis=0), parts["score"], parts["weight"]
        e = g - bend * q / 2 + w * t / 2
        d_sd = lean @ e - by_factor @ w - t_by @ g / 2
        p, c = parts["p"], self.counts
        up = c * (parts["fa"] / p - (slope_a * q + parts["fa"] * t) / 2)
        down = c * (-parts["fb"] / p - (slope_b * q + parts["fb"] * t) / 2)
        d_theta = np.bincount(self.y, up, self.k)[:-1] + np.bincount(self.y, down, self.k)[1:]
        tail = np.cumsum(d_theta[::-1])[::-1]  # a distance moves its threshold and all above
        d_distance = tail[1:] * self._distances(parameters)
        gradient = np.r_[tail[0], d_distance, self.x.T @ e, d_sd]
        return -(value - (np.log(d).sum() + log_det_schur) / 2), -gradient

    def by_sd(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """The deviance and its gradient by the parameters with standard deviations instead of their logarithms, of
        which it is an even function."""
        first = self.k - 1 + self.p
        sd, size = values[first:], np.maximum(np.abs(values[first:]), exp(LOG_SD[0]))
        value, gradient = self.evaluate(np.r_[values[:first], np.log(size)])
        return 2 * value, 2 * np.r_[gradient[:first], gradient[first:] * sd / size**2]

    def minimise(
        self, start: np.ndarray, of: variance_shares.Pinned | None = None, precision: float = 1e-10
    ) -> tuple[np.ndarray, float, bool]:
        """Parameters of largest likelihood, minus the log-likelihood, and whether the search settled.

        start : thresholds, coefficients, then log variances, or with `of` the free values they follow from.
        """
        first = self.k - 1 + self.p
        # with limits for all of them the first step would be as long as the slope
        limits = [(-np.inf, np.inf)] * first + [(2 * LOG_SD[0], 2 * LOG_SD[1])] * (len(start) - first)
        low, high = np.array(limits).T
        flat = _FLAT * max(1.0, np.sqrt(self.counts.sum() / _SCORES))

        def evaluate(free: np.ndarray) -> Point:
            logs, jacobian = of(free[first:]) if of else (free[first:], np.eye(len(free) - first))
            parameters = np.r_[free[:first], logs / 2]
            value, gradient = self.evaluate(parameters)
            return Point(value, free, parameters, np.r_[gradient[:first], gradient[first:] @ jacobian / 2])

        def settles(best: Point) -> bool:
            inside, near = (best.free > low) & (best.free < high), np.abs(best.free[:first]) < FAR
            return bool(near.all() and np.abs(best.slope[inside]).max(initial=0.0) < flat)

        best, settled = search(evaluate, start, limits, settles, precision=precision, gradient=1e-4, most_calls=1000)
        return best.parameters, float(best.value), settled


def _solved(schur: np.ndarray, factor: np.ndarray | None, side: np.ndarray) -> np.ndarray:
    """By Cholesky's method, in half the time of others, where there is a factor."""
    if factor is None:
        return np.linalg.solve(schur, side)
    solution: np.ndarray = lapack.dpotrs(factor, side, lower=True)[0] if len(side) else side
    return solution
