"""Profile intervals of the shares that random effects and the residual have in the variance of a mixed model.

A model has m variances, as logarithms, and a residual variance known on the model's scale (`base`: 1 for variances
over the residual one, pi^2 / 3 on the logit scale). A share is pinned to a value, and the likelihood maximised over
what is left free.

References
----------
Bates, Mächler, Bolker and Walker 2015, Journal of Statistical Software 67(1), section 5.1 (profile intervals).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy import optimize
from scipy.special import expit, logit, logsumexp, ndtri

#: free values -> (m,) log variances, and their derivatives (m, free)
Pinned = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
#: standard error of a log variance above which a Wald interval says little
VAGUE = 1.5
#: nearer to 0 or 1 an end of an interval is not looked for
_NEAR = 1e-4
#: of the ends of an interval, on the logit scale
_PRECISION = 0.01


def shares(variances: np.ndarray, base: float) -> np.ndarray:
    """(m + 1,) shares of the variances and, last, of the residual."""
    parts = np.r_[variances, base]
    divided: np.ndarray = parts / parts.sum()
    return divided


def pinned(i: int, share: float, base: float, m: int) -> Pinned:
    """How m log variances follow from free values if part i (m: the residual) has a given share of the total.

    A share of a factor leaves the m - 1 other log variances free; a share of the residual leaves m values free, which
    say how the rest is divided.
    """
    if i == m:
        total = np.log(base) + np.log1p(-share) - np.log(share) if share < 1 else -np.inf

        def of_rest(free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            # what scipy's logsumexp and softmax give, of few numbers in a tenth of their time
            sizes = np.exp(free - free.max())
            whole = sizes.sum()
            return total + free - free.max() - np.log(whole), np.eye(m) - sizes / whole

        return of_rest
    others = np.array([j for j in range(m) if j != i], dtype=int)
    odds = np.log(share) - np.log1p(-share) if share > 0 else -np.inf

    def of_others(free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes = np.exp(free)
        total = base + sizes.sum()
        logs, jacobian = np.empty(m), np.zeros((m, m - 1))
        logs[others], logs[i] = free, odds + np.log(total)
        jacobian[others, np.arange(m - 1)], jacobian[i] = 1.0, sizes / total
        return logs, jacobian

    return of_others


def start(i: int, logs: np.ndarray, base: float) -> np.ndarray:
    """Where the search for the free values of `pinned` starts, given log variances. None starts near a variance of 0,
    where the likelihood is flat on the scale of logarithms."""
    free = logs - logsumexp(logs) if i == len(logs) else np.delete(logs, i)
    begin: np.ndarray = np.maximum(free, np.log(0.01 if i == len(logs) else 0.01 * base))
    return begin


def profile(
    share: float, rise: Callable[[float], float], allowed: float, *, residual: bool = False, edge: float = 1e-6
) -> tuple[float, float]:
    """Ends of a profile interval: where the deviance, minimised over all else, has risen by `allowed`.

    Parameters
    ----------
    share : float
        The estimate.
    rise : callable
        Share -> rise of the least deviance with this share over the least of all.
    allowed : float
        Quantile of the chi-square distribution with one degree of freedom.
    residual : bool
        A share of 0 is tried as `edge` and one of 1 exactly, for a factor's share the reverse, because the likelihood
        has no value where the residual has no share.

    Notes
    -----
    The root of the rise is nearly linear in the logit of the share, so that few values are needed.
    """
    rise, (first, last) = cache(rise), (edge, 1.0) if residual else (0.0, 1 - edge)
    ends = []
    for limit, end in ((first, 0.0), (last, 1.0)):
        ends.append(end if abs(share - end) <= edge else _end(share, rise, allowed, limit, end))
    return ends[0], ends[1]


def _end(share: float, rise: Callable[[float], float], allowed: float, limit: float, end: float) -> float:
    """One end; `end` where all shares up to `limit` are inside the interval."""
    sign, farthest = (1.0 if end else -1.0), logit(1 - _NEAR)
    inside, step = logit(np.clip(share, _NEAR, 1 - _NEAR)), 1.0

    def excess(at: float) -> float:
        return float(np.sqrt(max(rise(float(expit(at))), 0.0)) - np.sqrt(allowed))

    if excess(inside) > 0:  # the search fails near the estimate: nothing can be excluded
        return end
    while abs(inside + sign * step) < farthest:
        if excess(inside + sign * step) > 0:
            low, high = sorted((inside, inside + sign * step))
            return float(expit(optimize.brentq(excess, low, high, xtol=_PRECISION)))
        inside, step = inside + sign * step, 2 * step
    if rise(limit) <= allowed:
        return end
    edge = sign * farthest
    if excess(edge) <= 0:
        return float(expit(edge))
    low, high = sorted((inside, edge))
    return float(expit(optimize.brentq(excess, low, high, xtol=_PRECISION)))


def wald(logs: np.ndarray, covariance: np.ndarray, base: float, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """(m + 1,) lower and upper ends of Wald intervals of shares, on the logit scale.

    logs : (m,) log variances; covariance : (m, m) of them, NaN for a variance of 0. A share whose variance is 0 or has
    a standard error above VAGUE has no interval, because the likelihood is not normal there.
    """
    m = len(logs)
    positive = np.nan_to_num(np.diag(covariance), nan=-1.0) > 0
    parts = shares(np.where(positive, np.exp(logs), 0.0), base)
    # logit(share) = log v - log(sum of the others): its derivatives by the log variances
    slopes = -np.where(np.eye(m + 1, m, dtype=bool), 0.0, parts[:m]) / (1 - parts)[:, None] + np.eye(m + 1, m)
    used = np.ix_(positive, positive)
    variance = np.einsum("ij,ij->i", slopes[:, positive] @ covariance[used], slopes[:, positive])
    error = np.sqrt(np.where(variance > 0, variance, np.nan))  # not positive: no maximum in all directions
    error[:m][~positive | (np.nan_to_num(np.diag(covariance)) > VAGUE**2)] = np.nan
    half = ndtri((1 + confidence) / 2) * error
    with np.errstate(divide="ignore"):
        return expit(logit(parts) - half), expit(logit(parts) + half)
