"""Cumulative-link (ordinal) and logistic mixed models with crossed random effects, fitted by the Laplace approximation.

No Python library fits these by likelihood: `statsmodels.OrderedModel` has no random effects, and its Bayesian mixed
models have no ordinal family. The factor with most levels is eliminated first, as in `reml`, its block being diagonal.

References: Agresti 2002, Categorical Data Analysis, section 7.2 (the model); Christensen 2019, `ordinal` (R), vignette
"Cumulative link mixed models" (Laplace approximation); Bates, Mächler, Bolker and Walker 2015, Journal of Statistical
Software 67(1) (spherical random effects).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from scipy import optimize
from scipy.special import expit, gammaincinv, log_expit

from judgebook.statistics import variance_shares

#: variance of the logistic distribution, which is the residual variance on the latent scale
LATENT_VARIANCE = pi**2 / 3
#: a Newton step longer than this is not taken: the search has not come near
_STEP = 0.05
#: smallest and largest log standard deviation that is tried; the smallest stands for 0
_LOG_SD = (log(1e-3), log(20.0))
#: largest standard deviation that counts as found: on the logit scale, effects as large have run away, as where a level
#: has two or three 0/1 scores, of which the Laplace approximation is poor
MOST_SD = 5.0
#: how near to 1 a factor's share is tried
_EDGE = 0.005
#: a first threshold, a coefficient or the logarithm of a distance between thresholds beyond this has run away: on the
#: logit scale, values so large cannot be distinguished
_FAR = 50.0
#: derivative of the log-likelihood that no longer matters, with up to a thousand scores: with more the likelihood is
#: that much steeper, and its sums are that much longer
_FLAT, _SCORES = 1e-2, 1000
#: logarithm of the largest distance between thresholds that is tried
_MOST_LOG_DISTANCE = 50.0
#: searches, each from the best point of the one before, as rounding can end one early
_SEARCHES = 3


@dataclass(frozen=True)
class OrdinalMixedFit:
    """A fitted model on the logit scale. All is NaN unless converged.

    thresholds : (k - 1,) between the k categories. coefficients : (p,). covariance : of both, thresholds first. sd :
    (f,) standard deviations of the factors. shares : (f + 1,) of the factors and, last, of the residual in the latent
    variance, with share_low and share_high the ends of their intervals (NaN where not asked for). effects : per factor
    the (levels,) conditional modes, shrunken towards 0; effect_se : their conditional standard errors; total_se : those
    of the effect with the common level of all scores. pooled, pooled_se : (levels,) effect minus the mean threshold of
    one factor, averaged over its variance, and the errors.
    """

    thresholds: np.ndarray
    coefficients: np.ndarray
    covariance: np.ndarray
    sd: np.ndarray
    shares: np.ndarray
    share_low: np.ndarray
    share_high: np.ndarray
    effects: list[np.ndarray]
    effect_se: list[np.ndarray]
    total_se: list[np.ndarray]
    log_likelihood: float
    converged: bool
    pooled: np.ndarray | None = None
    pooled_se: np.ndarray | None = None


#: of each score, at a linear predictor: what `_Model._parts` computes
_Parts = dict[str, np.ndarray]
#: diagonal of the main block, its border, and the Schur complement
_Solver = tuple[np.ndarray, np.ndarray, np.ndarray]


class _Model:
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
        # factor_of : of each of the m effects. outside, inside : cells of the border and of the (m, m) block to which
        # each score adds its weight, for all factors in one piece
        self.outside = np.concatenate([none, *(self.level * self.m + c for c in columns)])
        self.inside = np.concatenate([none, *(a * self.m + b for a in columns for b in columns)])
        self.factor_of = np.repeat(self.others, [sizes[i] for i in self.others]).astype(int)

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

    def _parts(self, eta: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]) -> _Parts:
        a, b = bounds[0] - eta, bounds[1] - eta
        upper, lower = expit(a), expit(b)
        fa, fb = upper * (1 - upper), lower * (1 - lower)
        # log P without cancellation: log expit(a) + log expit(-b) + log(1 - exp(b - a))
        log_p = log_expit(a) + log_expit(-b) + np.log(-np.expm1(np.minimum(b - a, -1e-12)))
        c = self.counts
        parts = {"log_p": c * log_p, "score": c * (upper + lower - 1), "weight": c * (fa + fb)}
        return parts | {"p": np.maximum(np.exp(log_p), 1e-300), "fa": fa, "fb": fb, "a": a, "b": b}

    def _solver(self, weight: np.ndarray, sd: np.ndarray) -> _Solver:
        """Diagonal of the main block, its border (levels, m), and the Schur complement (m, m) of H."""
        s, m, k, others = sd[self.main], self.m, self.level, sd[self.factor_of]
        d = 1 + s * s * np.bincount(k, weight, self.levels)
        n_others = len(self.others)
        border = np.bincount(self.outside, np.tile(weight, n_others), self.levels * m).reshape(self.levels, m)
        inner = np.bincount(self.inside, np.tile(weight, n_others**2), m * m).reshape(m, m)
        border, inner = s * others * border, np.outer(others, others) * inner
        return d, border, np.eye(m) + inner - border.T @ (border / d[:, None])

    def mode(self, thresholds: np.ndarray, beta: np.ndarray, sd: np.ndarray) -> tuple[float, _Parts, _Solver]:
        """The conditional mode by Newton's method with step halving, from the last one found."""
        s, fixed = sd[self.main], self.x @ beta
        edges = np.r_[-np.inf, thresholds, np.inf]
        bounds = edges[self.y + 1], edges[self.y]
        u, v = self.u

        def at(u: np.ndarray, v: np.ndarray) -> tuple[float, _Parts]:
            parts = self._parts(fixed + s * u[self.level] + self._across(v, sd), bounds)
            return float(parts["log_p"].sum() - (u @ u + v @ v) / 2), parts

        value, parts = at(u, v)
        for _ in range(100):
            g1 = s * np.bincount(self.level, parts["score"], self.levels) - u
            g2 = self._sums(parts["score"], sd) - v
            d, border, schur = solved = self._solver(parts["weight"], sd)
            dv = np.linalg.solve(schur, g2 - border.T @ (g1 / d))
            du = (g1 - border @ dv) / d
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
        value, parts, (d, border, schur) = self.mode(thresholds, beta, sd)
        s, k, (u, v) = sd[self.main], self.level, self.u
        # q : z_i' H^-1 z_i, by factor q_f : its part; t = z_i' H^-1 sum w' q z
        inverse = np.linalg.inv(schur)
        over = border @ inverse
        shrunk, quadratic = (s / d)[k], np.einsum("ij,ij->i", over, border)[k]
        by_factor = np.zeros((len(sd), self.n))
        by_factor[self.main] = (
            s * (s - sum(sd[j] * over[k, other] for j, other in self.columns) + shrunk * quadratic) / d[k]
        )
        for i, column in self.columns:
            inner = sum(sd[j] * inverse[other, column] for j, other in self.columns) - shrunk * over[k, column]
            by_factor[i] = sd[i] * inner
        q = by_factor.sum(axis=0)
        slope_a, slope_b = (parts[f] * (1 - 2 * expit(parts[x])) for f, x in (("fa", "a"), ("fb", "b")))
        bend = -self.counts * (slope_a + slope_b)  # derivative of the weight by eta
        c1, c2 = s * np.bincount(k, bend * q, self.levels), self._sums(bend * q, sd)
        r2 = inverse @ (c2 - border.T @ (c1 / d))
        r1 = (c1 - border @ r2) / d
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
        return -(value - _log_det(d, schur) / 2), -gradient

    def minimise(
        self, start: np.ndarray, of: variance_shares.Pinned | None = None, precision: float = 1e-10
    ) -> tuple[np.ndarray, float, bool]:
        """Parameters of largest likelihood, minus the log-likelihood, and whether the search settled.

        start : thresholds, coefficients, then log variances, or with `of` the free values they follow from.
        """
        first = self.k - 1 + self.p
        # with limits for all of them the first step would be as long as the slope
        limits = [(-np.inf, np.inf)] * first + [(2 * _LOG_SD[0], 2 * _LOG_SD[1])] * (len(start) - first)
        low, high = np.array(limits).T
        # a search that starts at the optimum may end elsewhere: minus log-likelihood, free values, parameters, slope
        best = (np.inf, start, np.empty(0), np.empty(0))
        flat, offset = _FLAT * max(1.0, np.sqrt(self.counts.sum() / _SCORES)), 0.0

        def objective(free: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal best
            logs, jacobian = of(free[first:]) if of else (free[first:], np.eye(len(free) - first))
            parameters = np.r_[free[:first], logs / 2]
            value, gradient = self.evaluate(parameters)
            slope = np.r_[gradient[:first], gradient[first:] @ jacobian / 2]
            if value < best[0]:
                best = (value, free.copy(), parameters, slope)
            return value - offset, slope

        # the search ends by changes relative to the value, which without an offset grows with the number of scores
        offset = objective(start)[0]
        settled = False
        for _ in range(_SEARCHES if np.isfinite(offset) else 0):
            optimize.minimize(
                objective,
                best[1],
                jac=True,
                method="L-BFGS-B",
                bounds=limits,
                options={"maxiter": 500, "maxfun": 1000, "ftol": precision, "gtol": 1e-4},
            )
            inside, near = (best[1] > low) & (best[1] < high), np.abs(best[1][:first]) < _FAR
            settled = bool(near.all() and np.abs(best[3][inside]).max(initial=0.0) < flat)
            if settled:
                break
        return best[2], float(best[0]), settled


def fit_ordinal_mixed(
    y: np.ndarray,
    x: np.ndarray,
    factors: Sequence[np.ndarray],
    *,
    counts: np.ndarray | None = None,
    confidence: float | None = None,
    interval: str = "profile",
    pooled: int | None = None,
) -> OrdinalMixedFit:
    """Maximum likelihood (Laplace) estimates of a cumulative logit model with crossed random effects.

    Parameters
    ----------
    y : (n,) int
        Categories 0, 1, …, k - 1, each of which occurs; with two of them the model is logistic.
    x : (n, p)
        Fixed effects without an intercept, which the thresholds take up.
    factors : sequence of (n,) int
        Levels 0, 1, … of each random effect, without gaps.
    counts : (n,), optional
        How many equal scores a row stands for.
    confidence : float, optional
        Of the intervals of shares of the latent variance; None leaves them out.
    interval : {"profile", "wald"}
        Profile intervals, or Wald intervals on the logit scale, at about a tenth of the time; where a variance is
        nearly 0 (`variance_shares.wald`) its share has a profile interval in any case.
    pooled : int, optional
        A factor whose level means are wanted with errors that account for its variance being estimated
        (`variance_shares.pool`); the other parameters are held.

    Raises
    ------
    ValueError
        Fewer than two categories, a category that does not occur, no factor, or fixed effects without full rank.

    Notes
    -----
    A standard deviation above MOST_SD counts as not converged. A higher coefficient means higher categories, as in
    `clmm`. Standard errors come from the Hessian, by central differences of the exact gradient.
    """
    y = np.asarray(y)
    n, p = x.shape
    if not len(factors) or len(np.unique(y)) < 2 or len(np.unique(y)) != y.max() + 1:
        raise ValueError("expected a factor, and two or more categories 0, 1, … without gaps")
    if p and np.linalg.matrix_rank(np.column_stack([np.ones(n), x])) < p + 1:
        raise ValueError("expected fixed effects of full rank that do not add up to an intercept")
    model, m = _Model(y, x, factors, counts), len(factors)
    below = np.cumsum(np.bincount(y, model.counts))[:-1] / model.counts.sum()
    thresholds = np.log(below / (1 - below))
    start = np.r_[thresholds[0], np.log(np.diff(thresholds)), np.zeros(p), np.zeros(m)]
    best, deviance, converged = model.minimise(start)
    if not converged or np.exp(best[-m:]).max() > MOST_SD:
        return _not_converged(model)
    best, deviance, free, inverse = _polished(model, best, deviance)
    thresholds, beta, sd = model.split(best)
    sd = np.where(sd <= 1.01 * np.exp(_LOG_SD[0]), 0.0, sd)
    shares = variance_shares.shares(sd**2, LATENT_VARIANCE)
    low, high = np.full((2, m + 1), np.nan)
    covariance, spread = _covariance(model, best, free, inverse)
    reach = np.r_[np.ones(len(thresholds)), np.abs(x).max(axis=0, initial=0.0)]
    if not np.all(np.sqrt(np.maximum(np.diag(covariance), 0.0)) * reach < _FAR):
        return _not_converged(model)  # the likelihood still rises, and is only too flat to tell: a predictor separates
    if confidence is not None:
        allowed = float(2 * gammaincinv(0.5, confidence))  # of chi-square with 1 df
        if interval == "wald":
            low, high = variance_shares.wald(2 * best[-m:], 4 * spread, LATENT_VARIANCE, confidence)
        for i in np.flatnonzero(np.isnan(low)):
            rise = _rise(model, int(i), best, deviance)
            low[i], high[i] = variance_shares.profile(float(shares[i]), rise, allowed, residual=i == m, edge=_EDGE)
    modes = _modes(model, best)
    numbers = (thresholds, beta, covariance, sd, shares, low, high, *modes, -deviance, True)
    if pooled is None:
        return OrdinalMixedFit(*numbers)

    def at_sd(value: float) -> tuple[float, np.ndarray, np.ndarray]:
        trial = best.copy()
        trial[len(best) - m + pooled] = log(max(value, 1e-3))
        thresholds, beta, sd = model.split(trial)
        highest, parts, solved = model.mode(thresholds, beta, sd)
        errors = _with_level(model, sd, parts["weight"], *solved, wanted=[pooled])[pooled]
        return highest - _log_det(solved[0], solved[2]) / 2, _effects(model, sd)[pooled] - thresholds.mean(), errors

    return OrdinalMixedFit(*numbers, *variance_shares.pool(at_sd, max(sd[pooled], float(np.max(modes[2][pooled])))))


def _rise(model: _Model, i: int, best: np.ndarray, least: float) -> Callable[[float], float]:
    """Share of part i -> least deviance with this share, less that of the best parameters."""
    first, m = model.k - 1 + model.p, len(model.factors)
    start = np.r_[best[:first], variance_shares.start(i, 2 * best[first:], LATENT_VARIANCE)]

    def rise(share: float) -> float:
        return 2 * (model.minimise(start, variance_shares.pinned(i, share, LATENT_VARIANCE, m), 1e-7)[1] - least)

    return rise


def _polished(model: _Model, best: np.ndarray, value: float) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Parameters one Newton step on, and minus their log-likelihood: where a search ends depends on the processor in
    the fifth digit. Also which parameters are free (not standard deviations of 0), and the inverse Hessian of these."""
    free = np.flatnonzero(
        np.r_[np.ones(model.k - 1 + model.p, bool), best[model.k - 1 + model.p :] > _LOG_SD[0] + 0.01]
    )
    step = 1e-4
    hessian = np.empty((len(free), len(free)))
    for row, i in enumerate(free):
        ahead, back = best.copy(), best.copy()
        ahead[i] += step
        back[i] -= step
        hessian[row] = (model.evaluate(ahead)[1] - model.evaluate(back)[1])[free] / (2 * step)
    inverse = np.linalg.inv((hessian + hessian.T) / 2)
    closer = best.copy()
    closer[free] -= inverse @ model.evaluate(best)[1][free]
    if np.abs(closer - best).max() < _STEP:
        new_value = model.evaluate(closer)[0]
        if new_value <= value + 1e-9 * abs(value):
            return closer, float(min(new_value, value)), free, inverse
    return best, value, free, inverse


def _covariance(
    model: _Model, best: np.ndarray, free: np.ndarray, inverse: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of thresholds and coefficients, from the inverse Hessian and the delta method; and of log standard
    deviations, NaN for those of 0."""
    cut, size = model.k - 1, model.k - 1 + model.p
    jacobian = np.eye(size)
    distances = np.exp(best[1:cut])
    jacobian[:cut, 0] = 1.0
    for j in range(1, cut):
        jacobian[j:cut, j] = distances[j - 1]
        jacobian[:j, j] = 0.0
    spread = np.full((len(best) - size,) * 2, np.nan)
    varying = free[free >= size] - size
    spread[np.ix_(varying, varying)] = inverse[np.flatnonzero(free >= size)][:, np.flatnonzero(free >= size)]
    return jacobian @ inverse[:size, :size] @ jacobian.T, spread


def _modes(model: _Model, best: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Conditional modes by factor, their errors given the thresholds, and those with the level of all scores."""
    thresholds, beta, sd = model.split(best)
    _, parts, (d, border, schur) = model.mode(thresholds, beta, sd)
    inverse, slope = np.linalg.inv(schur), border / d[:, None]
    alone = 1 / d + np.einsum("ij,ij->i", slope @ inverse, slope)
    variances = (alone if i == model.main else np.diag(inverse)[model.at(i)] for i in range(len(sd)))
    errors = [s * np.sqrt(variance) for s, variance in zip(sd, variances, strict=True)]
    totals = _with_level(model, sd, parts["weight"], d, border, schur, wanted=range(len(sd)))
    return _effects(model, sd), errors, [totals[i] for i in range(len(sd))]


def _effects(model: _Model, sd: np.ndarray) -> list[np.ndarray]:
    """Conditional modes by factor, those found last."""
    return [sd[i] * (model.u[0] if i == model.main else model.u[1][model.at(i)]) for i in range(len(sd))]


def _with_level(
    model: _Model,
    sd: np.ndarray,
    weight: np.ndarray,
    d: np.ndarray,
    border: np.ndarray,
    schur: np.ndarray,
    *,
    wanted: Iterable[int],
) -> dict[int, np.ndarray]:
    """Errors of the effects of the factors wanted with the level of all scores. d, border, schur : of `_solver`."""
    # the level is one more column, of which nothing is known beforehand
    s, sums = sd[model.main], sd[model.main] * np.bincount(model.level, weight, model.levels)
    column = np.r_[model._sums(weight, sd) - border.T @ (sums / d), weight.sum() - sums @ (sums / d)]
    joint = np.linalg.inv(np.block([[schur, column[:-1, None]], [column[None, :]]]))
    out = {}
    for i in wanted:
        if i == model.main:
            slope = np.column_stack([border, sums]) / d[:, None]
            variance = s**2 * (1 / d + np.einsum("ij,ij->i", slope @ joint, slope)) - 2 * s * slope @ joint[:, -1]
        else:
            at = model.at(i)
            variance = sd[i] ** 2 * np.diag(joint)[at] + 2 * sd[i] * joint[at, -1]
        out[i] = np.sqrt(variance + joint[-1, -1])
    return out


def _log_det(d: np.ndarray, schur: np.ndarray) -> float:
    """Of the Hessian whose main block is diagonal."""
    return float(np.log(d).sum() + np.linalg.slogdet(schur)[1])


def _not_converged(model: _Model) -> OrdinalMixedFit:
    size, m = model.k - 1 + model.p, len(model.factors)
    none, levels = np.full(m + 1, np.nan), [np.full(int(f.max()) + 1, np.nan) for f in model.factors]
    numbers = (np.full(model.k - 1, np.nan), np.full(model.p, np.nan), np.full((size, size), np.nan))
    return OrdinalMixedFit(*numbers, none[:-1], none, none, none, levels, levels, levels, np.nan, False)
