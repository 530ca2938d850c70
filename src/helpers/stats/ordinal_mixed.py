"""Cumulative-link (ordinal) and logistic mixed models with crossed random effects, fitted by the Laplace approximation.

No Python library fits these by likelihood: `statsmodels.OrderedModel` has no random effects, and its Bayesian mixed
models have no ordinal family. The factor with most levels is eliminated first, as in `reml`, its block being diagonal.

References: Agresti 2002, Categorical Data Analysis, section 7.2 (the model); Christensen 2019, `ordinal` (R), vignette
"Cumulative link mixed models" (Laplace approximation); Bates, Mächler, Bolker and Walker 2015, Journal of Statistical
Software 67(1) (spherical random effects).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from scipy import optimize, stats
from scipy.special import expit, log_expit

#: variance of the logistic distribution, which is the residual variance on the latent scale
LATENT_VARIANCE = pi**2 / 3
#: smallest and largest log standard deviation that is tried; the smallest stands for 0
_LOG_SD = (log(1e-3), log(20.0))


@dataclass(frozen=True)
class Fit:
    """A fitted model on the logit scale.

    thresholds : (k - 1,) between the k categories. coefficients : (p,). covariance : of both, thresholds first.
    sd : (f,) standard deviations of the factors. shares : (f,) of the factors in the latent variance, with share_low
    and share_high the ends of their profile intervals (NaN where not asked for). effects : per factor the (levels,)
    conditional modes, shrunken towards 0; effect_se : their conditional standard errors. All is NaN unless converged.
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
    log_likelihood: float
    converged: bool


class _Model:
    """Laplace log-likelihood and gradient. Parameters: first threshold, log distances, coefficients, log sd.

    With eta = x b + sum of sd u (u standard normal), P(y <= k) = expit(threshold_k - eta). The mode u maximises
    sum log P - u'u / 2; the approximation is its maximum minus log|H| / 2, H = I + Z'WZ.
    """

    def __init__(self, y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray]):
        self.k, (self.n, self.p) = int(y.max()) + 1, x.shape
        self.y, self.x, self.factors = y, x, factors
        sizes = [int(f.max()) + 1 for f in factors]
        self.main = int(np.argmax(sizes))
        self.others = [i for i in range(len(factors)) if i != self.main]
        self.levels, self.level = sizes[self.main], factors[self.main]
        self.start = np.cumsum([0, *(sizes[i] for i in self.others)])
        self.m = int(self.start[-1])
        self.u = np.zeros(self.levels), np.zeros(self.m)
        self.rows = np.arange(self.n)

    def split(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cut = self.k - 1
        thresholds = parameters[0] + np.r_[0.0, np.cumsum(np.exp(parameters[1:cut]))]
        return thresholds, parameters[cut : cut + self.p], np.exp(parameters[cut + self.p :])

    def _design(self, sd: np.ndarray) -> np.ndarray:
        """(n, m) columns of the other factors, times their standard deviations."""
        z = np.zeros((self.n, self.m))
        for place, i in enumerate(self.others):
            z[self.rows, self.start[place] + self.factors[i]] = sd[i]
        return z

    def _parts(self, eta: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]) -> dict[str, np.ndarray]:
        a, b = bounds[0] - eta, bounds[1] - eta
        upper, lower = expit(a), expit(b)
        fa, fb = upper * (1 - upper), lower * (1 - lower)
        # log P without cancellation: log expit(a) + log expit(-b) + log(1 - exp(b - a))
        log_p = log_expit(a) + log_expit(-b) + np.log(-np.expm1(np.minimum(b - a, -1e-12)))
        return {"log_p": log_p, "score": upper + lower - 1, "weight": fa + fb, "fa": fa, "fb": fb, "a": a, "b": b}

    def _solver(self, weight: np.ndarray, z: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonal of the main block, its border (levels, m), and the Schur complement (m, m) of H."""
        d = 1 + s * s * np.bincount(self.level, weight, self.levels)
        border = np.zeros((self.levels, self.m))
        np.add.at(border, self.level, (s * weight)[:, None] * z)
        return d, border, np.eye(self.m) + z.T @ (weight[:, None] * z) - border.T @ (border / d[:, None])

    def mode(self, thresholds: np.ndarray, beta: np.ndarray, sd: np.ndarray) -> tuple:
        """The conditional mode by Newton's method with step halving, from the last one found."""
        s, z, fixed = sd[self.main], self._design(sd), self.x @ beta
        edges = np.r_[-np.inf, thresholds, np.inf]
        bounds = edges[self.y + 1], edges[self.y]
        u, v = self.u

        def at(u: np.ndarray, v: np.ndarray) -> tuple[float, dict]:
            parts = self._parts(fixed + s * u[self.level] + z @ v, bounds)
            return float(parts["log_p"].sum() - (u @ u + v @ v) / 2), parts

        value, parts = at(u, v)
        for _ in range(100):
            g1 = s * np.bincount(self.level, parts["score"], self.levels) - u
            g2 = z.T @ parts["score"] - v
            d, border, schur = self._solver(parts["weight"], z, s)
            dv = np.linalg.solve(schur, g2 - border.T @ (g1 / d))
            du = (g1 - border @ dv) / d
            gain = float(g1 @ du + g2 @ dv)
            if gain < 1e-16 * (1 + abs(value)):
                break
            for _ in range(30):
                new, found = at(u + du, v + dv)
                if new >= value - 1e-12 * abs(value):
                    break
                du, dv = du / 2, dv / 2
            else:
                break
            u, v, value, parts = u + du, v + dv, new, found
        self.u = u, v
        return value, parts, z, self._solver(parts["weight"], z, s)

    def evaluate(self, parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the Laplace log-likelihood, and its gradient."""
        thresholds, beta, sd = self.split(parameters)
        value, parts, z, (d, border, schur) = self.mode(thresholds, beta, sd)
        s, k, (u, v) = sd[self.main], self.level, self.u
        log_det = np.log(d).sum() + np.linalg.slogdet(schur)[1]
        # q : z_i' H^-1 z_i, by factor q_f : its part; t = z_i' H^-1 sum w' q z
        rest = z - (s / d[k])[:, None] * border[k]
        inner = np.linalg.solve(schur, rest.T).T
        outer = (s - np.einsum("ij,ij->i", border[k], inner)) / d[k]
        by_factor = np.zeros((len(sd), self.n))
        by_factor[self.main] = s * outer
        for place, i in enumerate(self.others):
            column = self.start[place] + self.factors[i]
            by_factor[i] = z[self.rows, column] * inner[self.rows, column]
        q = by_factor.sum(axis=0)
        slope_a, slope_b = (parts[f] * (1 - 2 * expit(parts[x])) for f, x in (("fa", "a"), ("fb", "b")))
        bend = -(slope_a + slope_b)  # derivative of the weight by eta
        c1, c2 = s * np.bincount(k, bend * q, self.levels), z.T @ (bend * q)
        r2 = np.linalg.solve(schur, c2 - border.T @ (c1 / d))
        r1 = (c1 - border @ r2) / d
        t_by = np.zeros_like(by_factor)
        lean = np.zeros_like(by_factor)
        t_by[self.main], lean[self.main] = s * r1[k], s * u[k]
        for place, i in enumerate(self.others):
            column = self.start[place] + self.factors[i]
            t_by[i], lean[i] = sd[i] * r2[column], sd[i] * v[column]
        t, g, w = t_by.sum(axis=0), parts["score"], parts["weight"]
        e = g - bend * q / 2 + w * t / 2
        d_sd = lean @ e - by_factor @ w - t_by @ g / 2
        p = np.exp(parts["log_p"])
        up = parts["fa"] / p - (slope_a * q + parts["fa"] * t) / 2
        down = -parts["fb"] / p - (slope_b * q + parts["fb"] * t) / 2
        d_theta = np.bincount(self.y, up, self.k)[:-1] + np.bincount(self.y, down, self.k)[1:]
        tail = np.cumsum(d_theta[::-1])[::-1]  # a distance moves its threshold and all above
        d_distance = tail[1:] * np.exp(parameters[1 : self.k - 1])
        gradient = np.r_[tail[0], d_distance, self.x.T @ e, d_sd]
        return -(value - log_det / 2), -gradient

    def minimise(self, start: np.ndarray, fixed: dict[int, float] | None = None) -> tuple[np.ndarray, float, bool]:
        """Parameters of largest likelihood; `fixed` holds log standard deviations of factors, by factor."""
        first = self.k - 1 + self.p
        limits: list[tuple] = [(None, None)] * first + [_LOG_SD] * len(self.factors)
        begin = start.copy()
        for factor, value in (fixed or {}).items():
            limits[first + factor], begin[first + factor] = (value, value), value
        options = {"maxiter": 500, "maxfun": 1000, "ftol": 1e-13, "gtol": 1e-6}
        found = optimize.minimize(self.evaluate, begin, jac=True, method="L-BFGS-B", bounds=limits, options=options)
        free = [i for i, (low, high) in enumerate(limits) if low is None or (low < found.x[i] < high)]
        settled = bool(np.abs(found.jac[free]).max(initial=0.0) < 1e-2)
        return found.x, float(found.fun), settled


def fit(y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray], *, confidence: float | None = None) -> Fit:
    """Maximum likelihood (Laplace) estimates of a cumulative logit model with crossed random effects.

    Parameters
    ----------
    y : (n,) int
        Categories 0, 1, …, k - 1, each of which occurs; with two of them the model is logistic.
    x : (n, p)
        Fixed effects without an intercept, which the thresholds take up.
    factors : sequence of (n,) int
        Levels 0, 1, … of each random effect, without gaps.
    confidence : float, optional
        Of the profile intervals of the factors' shares of the latent variance; None leaves them out.

    Raises
    ------
    ValueError
        Fewer than two categories, a category that does not occur, no factor, or fixed effects without full rank.

    Notes
    -----
    A higher coefficient means higher categories, as in `clmm`. Standard errors come from the Hessian, by central
    differences of the exact gradient.
    """
    y = np.asarray(y)
    n, p = x.shape
    if not len(factors) or len(np.unique(y)) < 2 or len(np.unique(y)) != y.max() + 1:
        raise ValueError("expected a factor, and two or more categories 0, 1, … without gaps")
    if p and np.linalg.matrix_rank(np.column_stack([np.ones(n), x])) < p + 1:
        raise ValueError("expected fixed effects of full rank that do not add up to an intercept")
    model = _Model(y, x, factors)
    shares = np.cumsum(np.bincount(y))[:-1] / n
    thresholds = np.log(shares / (1 - shares))
    start = np.r_[thresholds[0], np.log(np.diff(thresholds)), np.zeros(p), np.zeros(len(factors))]
    best, deviance, converged = model.minimise(start)
    if not converged:
        return _not_converged(model)
    thresholds, beta, sd = model.split(best)
    sd = np.where(sd <= 1.01 * np.exp(_LOG_SD[0]), 0.0, sd)
    low = high = np.full(len(sd), np.nan)
    if confidence is not None:
        ends = [_profile(model, best, i, deviance + stats.chi2.ppf(confidence, 1) / 2) for i in range(len(sd))]
        low, high = np.array(ends).T
    covariance = _covariance(model, best)
    effects, errors = _modes(model, best)
    return Fit(thresholds, beta, covariance, sd, _shares(sd), low, high, effects, errors, -deviance, True)


def _shares(sd: np.ndarray) -> np.ndarray:
    return sd**2 / (np.sum(sd**2) + LATENT_VARIANCE)


def _covariance(model: _Model, best: np.ndarray) -> np.ndarray:
    """Covariance of thresholds and coefficients, from the inverse Hessian and the delta method."""
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
    cut, size = model.k - 1, model.k - 1 + model.p
    jacobian = np.eye(size)
    distances = np.exp(best[1:cut])
    jacobian[:cut, 0] = 1.0
    for j in range(1, cut):
        jacobian[j:cut, j] = distances[j - 1]
        jacobian[:j, j] = 0.0
    return jacobian @ inverse[:size, :size] @ jacobian.T


def _modes(model: _Model, best: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    thresholds, beta, sd = model.split(best)
    _, _, _, (d, border, schur) = model.mode(thresholds, beta, sd)
    inverse = np.linalg.inv(schur)
    scaled = border / d[:, None]
    variance = 1 / d + np.einsum("ij,jk,ik->i", scaled, inverse, scaled)
    effects, errors = [np.empty(0)] * len(sd), [np.empty(0)] * len(sd)
    effects[model.main] = sd[model.main] * model.u[0]
    errors[model.main] = sd[model.main] * np.sqrt(variance)
    for place, i in enumerate(model.others):
        own = slice(model.start[place], model.start[place + 1])
        effects[i], errors[i] = sd[i] * model.u[1][own], sd[i] * np.sqrt(np.diag(inverse)[own])
    return effects, errors


def _profile(model: _Model, best: np.ndarray, i: int, rise: float) -> tuple[float, float]:
    """Ends of the share of factor i where the deviance, minimised over all else, has risen to `rise`."""
    first = model.k - 1 + model.p
    known: dict[float, tuple[float, float]] = {}

    def excess(value: float) -> float:
        if value not in known:
            x, fun, _ = model.minimise(best, {i: value})
            known[value] = fun - rise, float(_shares(np.exp(x[first:]))[i])
        return known[value][0]

    at, ends = best[first + i], []
    for limit in _LOG_SD:
        if excess(limit) <= 0:
            ends.append(0.0 if limit == _LOG_SD[0] else 1.0)
            continue
        root = optimize.brentq(excess, min(limit, at), max(limit, at), xtol=1e-3)
        nearest = min(known, key=lambda v: abs(v - root))
        ends.append(known[nearest][1])
    return ends[0], ends[1]


def _not_converged(model: _Model) -> Fit:
    size, m = model.k - 1 + model.p, len(model.factors)
    none = np.full(m, np.nan)
    empty = [np.full(int(f.max()) + 1, np.nan) for f in model.factors]
    return Fit(
        np.full(model.k - 1, np.nan),
        np.full(model.p, np.nan),
        np.full((size, size), np.nan),
        none,
        none,
        none,
        none,
        empty,
        empty,
        np.nan,
        False,
    )
