"""Linear mixed model with crossed random effects, fitted by restricted maximum likelihood.

`statsmodels.MixedLM` fits the same model, but keeps crossed effects in one dense group: 7 s for 479 ratings of 356
dialogues, infeasible for turns. Here the factor with the most levels is eliminated first, as its block is diagonal: 11
ms for the same data, and the cost of an evaluation does not grow with the number of ratings.

References: Patterson and Thompson 1971, Biometrika 58, 545-554 (restricted likelihood); Bates, Mächler, Bolker and
Walker 2015, Journal of Statistical Software 67(1), sections 3.3 and 5.1 (profiled deviance, profile intervals).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from scipy import optimize, stats

#: root of the largest ratio of a factor's variance to the residual one that is tried
LARGEST = 1e4


@dataclass(frozen=True)
class Fit:
    """A fitted model. All numbers are missing (NaN) where the optimiser did not converge.

    variances : (f,) of the factors; residual : of the error; coefficients : (p,) and their covariance (p, p); shares :
    (f,) of the factors in the total variance, share_low and share_high the ends of their profile intervals.
    """

    variances: np.ndarray
    residual: float
    coefficients: np.ndarray
    covariance: np.ndarray
    shares: np.ndarray
    share_low: np.ndarray
    share_high: np.ndarray
    converged: bool


class _Model:
    """The restricted deviance as a function of the variances of the factors over the residual variance.

    With ratios r and H = I + sum r Z Z', minus twice the restricted log-likelihood, profiled over the residual variance
    s2 = rss / (n - p), is (n - p) (log(2 pi s2) + 1) + log|H| + log|X'H^-1 X| (Patterson and Thompson 1971).
    """

    def __init__(self, y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray]):
        sizes = [int(f.max()) + 1 for f in factors]
        self.n, self.p = x.shape
        self.main = int(np.argmax(sizes))
        self.rest = [i for i in range(len(factors)) if i != self.main]
        w, rows = np.column_stack([x, y]), np.arange(self.n)
        indicators = [np.zeros((self.n, 0))]
        for i in self.rest:
            indicators.append(np.zeros((self.n, sizes[i])))
            indicators[-1][rows, factors[i]] = 1.0
        z = np.concatenate(indicators, axis=1)
        self.of = np.repeat(np.arange(len(self.rest)), [sizes[i] for i in self.rest])
        self.zz, self.zw, self.ww = z.T @ z, z.T @ w, w.T @ w
        # the main factor enters through sums over its levels; levels with as many scores enter alike
        counts = np.bincount(factors[self.main])
        self.sizes, group, self.multiplicity = np.unique(counts, return_inverse=True, return_counts=True)
        b, u = np.zeros((len(counts), z.shape[1])), np.zeros((len(counts), self.p + 1))
        np.add.at(b, factors[self.main], z)
        np.add.at(u, factors[self.main], w)
        parts = [(b[group == g], u[group == g]) for g in range(len(self.sizes))]
        self.bb = np.stack([b.T @ b for b, _ in parts])
        self.bw = np.stack([b.T @ u for b, u in parts])
        self.uu = np.stack([u.T @ u for _, u in parts])

    def solve(self, ratios: np.ndarray) -> tuple[float, float, np.ndarray, np.ndarray]:
        """Deviance, residual variance, coefficients, and their covariance over the residual variance."""
        r, s = ratios[self.main], np.sqrt(ratios[self.rest])[self.of]
        weight = r / (1 + r * self.sizes)  # Woodbury: what the main factor takes off a sum of squares
        schur = np.eye(len(s)) + s[:, None] * (self.zz - np.tensordot(weight, self.bb, 1)) * s
        v = s[:, None] * (self.zw - np.tensordot(weight, self.bw, 1))
        q = self.ww - np.tensordot(weight, self.uu, 1) - v.T @ np.linalg.solve(schur, v)
        inverse = np.linalg.inv(q[:-1, :-1])
        beta = inverse @ q[:-1, -1]
        residual = max(q[-1, -1] - q[:-1, -1] @ beta, 1e-300) / (self.n - self.p)
        log_h = self.multiplicity @ np.log1p(r * self.sizes) + np.linalg.slogdet(schur)[1]
        deviance = (self.n - self.p) * (np.log(2 * np.pi * residual) + 1) + log_h - np.linalg.slogdet(inverse)[1]
        return float(deviance), float(residual), beta, inverse

    def minimise(
        self, start: np.ndarray, fixed: int | None = None, share: float = 0.0
    ) -> tuple[np.ndarray, float, bool]:
        """Ratios of least deviance; with `fixed`, among those that give this factor that share of the variance."""
        free = [i for i in range(len(start)) if i != fixed]

        def ratios(roots: np.ndarray) -> np.ndarray:
            out = np.zeros(len(start))
            out[free] = np.square(roots)
            if fixed is not None:
                out[fixed] = share / (1 - share) * (1 + out.sum())
            return out

        if not free:
            at = ratios(np.zeros(0))
            return at, self.solve(at)[0], True
        found = optimize.minimize(
            lambda roots: self.solve(ratios(roots))[0],
            np.minimum(np.sqrt(start[free]) + 0.05, LARGEST),
            method="Nelder-Mead",
            bounds=[(0, LARGEST)] * len(free),
            options={"xatol": 1e-6, "fatol": 1e-8, "maxiter": 4_000},
        )
        return ratios(found.x), float(found.fun), bool(found.success)


def fit(y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray], confidence: float | None = 0.95) -> Fit:
    """REML estimates of y = x b + one random effect for each level of each factor + error.

    Parameters
    ----------
    y : (n,) scores
    x : (n, p) design of full column rank
    factors : (n,) numbers from 0 without gaps, one array per factor
    confidence : float or None
        Of the profile intervals of the factors' shares; None leaves them out.

    Raises
    ------
    ValueError
        No factor, a design without full rank, or no more scores than coefficients.

    Notes
    -----
    A variance at zero is an estimate, not a failure. The profile interval takes the deviance as chi-square with one
    degree of freedom, which is rough with a handful of levels: with 8 annotators it covered 94%, with 3 it covered
    92%.
    """
    n, p = x.shape
    if not len(factors) or n <= p or np.linalg.matrix_rank(x) < p:
        raise ValueError(f"expected a factor, a design of full rank and more than {p} scores; found {n} scores")
    model, m = _Model(y, x, factors), len(factors)
    ratios, deviance, converged = model.minimise(np.full(m, 0.5))
    ratios[ratios < 1e-9] = 0.0
    if not converged:
        none = np.full(m, nan)
        return Fit(none, nan, np.full(p, nan), np.full((p, p), nan), none, none, none, False)
    _, residual, beta, inverse = model.solve(ratios)
    shares, low, high = ratios / (1 + ratios.sum()), np.full(m, nan), np.full(m, nan)
    if confidence is not None:
        rise = deviance + stats.chi2.ppf(confidence, 1)
        for i in range(m):
            low[i], high[i] = _profile(model, ratios, i, shares[i], rise)
    return Fit(ratios * residual, residual, beta, residual * inverse, shares, low, high, True)


def _profile(model: _Model, ratios: np.ndarray, i: int, share: float, rise: float) -> tuple[float, float]:
    """Where the deviance, minimised over all else, has risen to `rise` on either side of the share."""

    def excess(s: float) -> float:
        return model.minimise(ratios, i, s)[1] - rise

    top = 1 - 1e-6
    low = 0.0 if excess(0.0) <= 0 else optimize.brentq(excess, 0.0, share, xtol=1e-4)
    high = 1.0 if excess(top) <= 0 else optimize.brentq(excess, share, top, xtol=1e-4)
    return float(low), float(high)
