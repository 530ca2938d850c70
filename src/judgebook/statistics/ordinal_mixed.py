"""Cumulative-link (ordinal) and logistic mixed models with crossed random effects, fitted by the Laplace approximation.

No Python library fits these by likelihood: `statsmodels.OrderedModel` has no random effects, and its Bayesian mixed
models have no ordinal family. The factor with most levels is eliminated first, as in `reml`, its block being diagonal.

References: Agresti 2002, Categorical Data Analysis, section 7.2 (the model); Christensen 2019, `ordinal` (R), vignette
"Cumulative link mixed models" (Laplace approximation); Bates, Mächler, Bolker and Walker 2015, Journal of Statistical
Software 67(1) (spherical random effects).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan, pi

import numpy as np
from scipy.special import gammaincinv

from judgebook.statistics import variance_shares
from judgebook.statistics.laplace import FAR, LOG_SD, LaplaceLikelihood
from judgebook.statistics.mixed_fits import MixedFit, PinnedSearch

#: variance of the logistic distribution, which is the residual variance on the latent scale
LATENT_VARIANCE = pi**2 / 3
#: a Newton step longer than this is not taken: the search has not come near
_STEP = 0.05
#: largest standard deviation that counts as found: on the logit scale, effects as large have run away, as where a level
#: has two or three 0/1 scores, of which the Laplace approximation is poor
MOST_SD = 5.0
#: how near to 1 a factor's share is tried
_EDGE = 0.005


@dataclass(frozen=True, kw_only=True)
class OrdinalMixedFit(MixedFit):
    """A fitted model on the logit scale; see `MixedFit` for the other numbers.

    thresholds : (k - 1,) between the k categories. coefficients : (p,). covariance : of both, thresholds first. sd :
    (f,) standard deviations of the factors. Shares are of the latent variance; effects are conditional modes.
    """

    thresholds: np.ndarray
    coefficients: np.ndarray
    covariance: np.ndarray
    sd: np.ndarray
    log_likelihood: float


def fit_ordinal_mixed(
    y: np.ndarray,
    x: np.ndarray,
    factors: Sequence[np.ndarray],
    *,
    counts: np.ndarray | None = None,
    confidence: float | None = None,
    interval: str = "profile",
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
    model, m = LaplaceLikelihood(y, x, factors, counts), len(factors)
    below = np.cumsum(np.bincount(y, model.counts))[:-1] / model.counts.sum()
    thresholds = np.log(below / (1 - below))
    start = np.r_[thresholds[0], np.log(np.diff(thresholds)), np.zeros(p), np.zeros(m)]
    best, deviance, converged = model.minimise(start)
    if not converged or np.exp(best[-m:]).max() > MOST_SD:
        return _not_converged(model)
    best, deviance, free, inverse = _polished(model, best, deviance)
    thresholds, beta, sd = model.split(best)
    sd = np.where(sd <= 1.01 * np.exp(LOG_SD[0]), 0.0, sd)
    shares = variance_shares.shares(sd**2, LATENT_VARIANCE)
    low, high = np.full((2, m + 1), np.nan)
    covariance, spread = _covariance(model, best, free, inverse)
    reach = np.r_[np.ones(len(thresholds)), np.abs(x).max(axis=0, initial=0.0)]
    if not np.all(np.sqrt(np.maximum(np.diag(covariance), 0.0)) * reach < FAR):
        return _not_converged(model)  # the likelihood still rises, and is only too flat to tell: a predictor separates
    if confidence is not None:
        wald = 4 * spread if interval == "wald" else None
        low, high = _share_intervals(model, best, deviance, shares, wald, confidence)
    effects, errors = _modes(model, best)
    return OrdinalMixedFit(
        thresholds=thresholds,
        coefficients=beta,
        covariance=covariance,
        sd=sd,
        log_likelihood=-deviance,
        shares=shares,
        share_low=low,
        share_high=high,
        effects=effects,
        effect_se=errors,
        converged=True,
    )


def _share_intervals(
    model: LaplaceLikelihood,
    best: np.ndarray,
    deviance: float,
    shares: np.ndarray,
    wald: np.ndarray | None,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Low and high ends of the intervals of all shares. wald : the covariance of the logarithms of the variances, where
    intervals from it are wanted; a share without one has a profile interval."""
    m, quick = len(shares) - 1, None
    low, high = np.full((2, m + 1), np.nan)
    if wald is not None:
        low, high = variance_shares.wald(2 * best[-m:], wald, LATENT_VARIANCE, confidence)
    allowed = float(2 * gammaincinv(0.5, confidence))  # of chi-square with 1 df
    for i in np.flatnonzero(np.isnan(low)):
        quick = quick or PinnedSearch(model.by_sd, np.r_[best[:-m], np.exp(best[-m:])], m, LATENT_VARIANCE)
        rise = _rise(model, quick, int(i), best, deviance)
        low[i], high[i] = variance_shares.profile(float(shares[i]), rise, allowed, residual=i == m, edge=_EDGE)
    return low, high


def _rise(
    model: LaplaceLikelihood, quick: PinnedSearch, i: int, best: np.ndarray, least: float
) -> Callable[[float], float]:
    """Share of part i -> least deviance with this share, less that of the best parameters."""
    first, m = model.k - 1 + model.p, len(model.factors)
    start = np.r_[best[:first], variance_shares.start(i, 2 * best[first:], LATENT_VARIANCE)]

    def rise(share: float) -> float:
        value = quick.least(i, share)
        if isnan(value):
            value = 2 * model.minimise(start, variance_shares.pinned(i, share, LATENT_VARIANCE, m), 1e-7)[1]
        return value - 2 * least

    return rise


def _polished(
    model: LaplaceLikelihood, best: np.ndarray, value: float
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Parameters one Newton step on, and minus their log-likelihood: where a search ends depends on the processor in
    the fifth digit. Also which parameters are free (not standard deviations of 0), and the inverse Hessian of these."""
    free = np.flatnonzero(np.r_[np.ones(model.k - 1 + model.p, bool), best[model.k - 1 + model.p :] > LOG_SD[0] + 0.01])
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
    model: LaplaceLikelihood, best: np.ndarray, free: np.ndarray, inverse: np.ndarray
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


def _modes(model: LaplaceLikelihood, best: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Conditional modes by factor, and their errors given the thresholds."""
    thresholds, beta, sd = model.split(best)
    d, entries, schur, _ = model.mode(thresholds, beta, sd)[2]
    border = model.border.dense(entries)
    inverse, slope = np.linalg.inv(schur), border / d[:, None]
    alone = 1 / d + np.einsum("ij,ij->i", slope @ inverse, slope)
    variances = (alone if i == model.main else np.diag(inverse)[model.at(i)] for i in range(len(sd)))
    errors = [s * np.sqrt(variance) for s, variance in zip(sd, variances, strict=True)]
    modes = [s * (model.u[0] if i == model.main else model.u[1][model.at(i)]) for i, s in enumerate(sd)]
    return modes, errors


def _not_converged(model: LaplaceLikelihood) -> OrdinalMixedFit:
    size, m = model.k - 1 + model.p, len(model.factors)
    none, levels = np.full(m + 1, np.nan), [np.full(int(f.max()) + 1, np.nan) for f in model.factors]
    return OrdinalMixedFit(
        thresholds=np.full(model.k - 1, np.nan),
        coefficients=np.full(model.p, np.nan),
        covariance=np.full((size, size), np.nan),
        sd=none[:-1],
        log_likelihood=np.nan,
        shares=none,
        share_low=none,
        share_high=none,
        effects=levels,
        effect_se=levels,
        converged=False,
    )
