"""Logistic regression where separation has to be faced: fits, the supremum of the likelihood, Firth's estimate.

Labels are often rare, and samples of pairs small. Then a predictor can separate the two answers (all pairs in which it
is positive were chosen): the likelihood has no maximum, coefficients grow without end, and software reports whatever
the last iteration held. Here the supremum of the log-likelihood is found instead, the fit is flagged and has no
coefficient; Firth's penalised estimate, which always exists, is reported as well.

References: Albert and Anderson 1984, On the existence of maximum likelihood estimates in logistic regression models,
Biometrika 71, 1-10; Geyer 2009, Likelihood inference in exponential families and directions of recession, Electronic
Journal of Statistics 3, 259-289; Firth 1993, Bias reduction of maximum likelihood estimates, Biometrika 80, 27-38;
Heinze and Schemper 2002, A solution to the problem of separation in logistic regression, Statistics in Medicine 21,
2409-2419; McFadden 1974, Conditional logit analysis of qualitative choice behavior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.special import chdtrc, expit, xlogy

#: a margin in the linear programme counts from here on; predictors are scaled to a largest value of 1
MARGIN = 1e-6
#: one step of Newton's method moves no log-odds further
LONG_STEP = 5.0
#: steps at most; few are needed but where the answers are all but separated, with log-odds in the hundreds
STEPS = 1000
#: times a step is halved at most; one a million times shorter is lost in rounding
HALVINGS = 20
#: steps after which each must improve the likelihood, or is halved: those that are quick need not be held back
QUICK = 25
#: predictors this near to a combination of others (smallest over largest singular value) have no coefficients: they
#: would depend on how a processor rounds
COLLINEAR = 1e-8
#: squared length of a step, in standard errors and relative to the log-likelihood, that no longer matters; and for each
#: row what rounding may leave of it
NEGLIGIBLE, ROUNDING = 1e-9, 1e-15
#: steps after which a fit that has not converged is no quick proof that nothing is separated
FEW_STEPS = 20
#: subsets whose fitted values are held at once
CHUNK = 4096
#: numbers that fitted values, or matrices, of subsets fitted at one time may hold
AT_ONCE = 4_000_000


@dataclass(frozen=True)
class LogitFit:
    """A logistic regression with an intercept.

    log_likelihood : its maximum, or its supremum where there is none; separation : 'none', 'quasi' or 'complete';
    coefficients : (p + 1,), intercept first, missing (NaN) under separation and where predictors are collinear.
    converged : whether the iterations reached the maximum; if not, the log-likelihood is a bound from below.
    """

    log_likelihood: float
    log_likelihood_null: float
    separation: str
    coefficients: np.ndarray
    n: int
    k: int
    converged: bool = True

    @property
    def mcfadden(self) -> float:
        """1 - lnL / lnL0 (McFadden 1974)."""
        return 1 - self.log_likelihood / self.log_likelihood_null

    @property
    def llr(self) -> float:
        """Likelihood ratio statistic against the intercept alone."""
        return 2 * (self.log_likelihood - self.log_likelihood_null)

    @property
    def p_value(self) -> float:
        """Chi-squared p-value of `llr` with k degrees of freedom; rows are taken as independent."""
        return float(chdtrc(self.k, self.llr))


@dataclass(frozen=True)
class FirthFit:
    """coefficients : (p + 1,), intercept first; p_values : (p + 1,), by the penalised likelihood ratio.

    All are missing where the iterations did not reach the maximum.
    """

    coefficients: np.ndarray
    p_values: np.ndarray
    penalised_log_likelihood: float


def null_log_likelihood(y: np.ndarray) -> float:
    """Log-likelihood of the intercept alone: n times the negative entropy of the answers."""
    p = np.mean(y)
    return float(len(y) * (xlogy(p, p) + xlogy(1 - p, 1 - p)))


def fit_logit(x: np.ndarray, y: np.ndarray) -> LogitFit:
    """Logistic regression of answers y (n,), 0 or 1, on predictors x (n, p).

    Under complete separation the supremum of the log-likelihood is 0. Under quasi-complete separation rows that a
    direction of recession separates add nothing in the limit; the supremum is the maximum over the rows that are left
    (Geyer 2009, section 3).

    Raises ValueError where y has one value only.

    Examples
    --------
    >>> x, y = np.repeat([[0.0], [1.0]], 4, axis=0), np.array([0, 0, 0, 1, 0, 1, 1, 1])
    >>> model = fit_logit(x, y)
    >>> model.coefficients.round(4).tolist(), round(model.mcfadden, 4)
    ([-1.0986, 2.1972], 0.1887)
    >>> fit_logit(np.arange(4.0)[:, None], np.array([0, 0, 1, 1])).separation
    'complete'
    """
    x, y = _checked(x, y)
    everything = np.ones((1, x.shape[1]), dtype=bool)
    value, separated = subset_log_likelihoods(x, y, everything)
    kind = "none" if not separated[0] else "complete" if value[0] == 0 else "quasi"
    coefficients, converged = np.full(x.shape[1] + 1, np.nan), True
    centred, scale = _scaled(x)
    z = np.column_stack([np.ones(len(y)), centred])
    if kind == "none" and not _collinear(z):
        basis, back = np.linalg.qr(z)
        (highest,), (maximum,), (converged,) = _newton(basis, y, np.ones((1, z.shape[1]), dtype=bool))
        value[0] = max(value[0], highest)
        if converged:
            beta = np.linalg.solve(back, maximum)
            slopes = beta[1:] / scale
            coefficients = np.r_[beta[0] - slopes @ x.mean(axis=0), slopes]
    head = (float(value[0]), null_log_likelihood(y), kind, coefficients, len(y), x.shape[1])
    return LogitFit(*head, bool(converged))


def _collinear(z: np.ndarray) -> bool:
    sizes = np.linalg.svd(z, compute_uv=False)
    return bool(len(z) < z.shape[1] or sizes[-1] <= COLLINEAR * sizes[0])


def _recession(x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """A direction along which the likelihood never falls and somewhere rises: separation; None where there is none.

    x (n, p) without intercept, y (n,). Returns (p + 1,), intercept first. By linear programming: the largest sum of
    margins with no margin negative, coefficients between -1 and 1 (after Albert and Anderson 1984). Mostly a fit shows
    sooner that there is none, see `_overlaps`.
    """
    z = np.column_stack([np.ones(len(y)), _scaled(x)[0]])
    if _overlaps(z, y):
        return None
    signed = np.where(y[:, None] > 0.5, z, -z)
    for method in ("highs", "highs-ipm"):
        program = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(y)), bounds=(-1, 1), method=method)
        if program.status == 0:
            return program.x if np.max(signed @ program.x) > MARGIN else None
    return None  # both failed, so nothing shows separation; the fit says whether it converged


def _overlaps(z: np.ndarray, y: np.ndarray) -> bool:
    """Whether Newton's method finds a maximum whose residuals r prove that no direction d separates.

    At a maximum z'r = 0. The sum of r (z d) over rows is that of |r| times the margin of d: with no margin negative and
    one above MARGIN it exceeds min |r| MARGIN, but it cannot exceed the sum of |z'r| when |d| <= 1. Several times
    faster than the linear programme, which decides where this shows nothing.
    """
    if not len(y):
        return False
    (beta,), _ = _climb(z, y, np.ones((1, z.shape[1]), dtype=bool), FEW_STEPS)
    residual = y - expit(z @ beta)
    return bool(np.abs(residual @ z).sum() <= np.abs(residual).min() * MARGIN)


def subset_log_likelihoods(x: np.ndarray, y: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Largest (or, under separation, supremal) log-likelihood of the logit on each subset of predictors.

    Parameters
    ----------
    x : (n, p) predictors, y : (n,) answers 0 or 1, masks : (m, p) booleans, the predictors of each subset.

    Returns
    -------
    (m,) log-likelihoods and (m,) booleans: is the subset separated? Where iterations do not converge (`fit` says so)
    the log-likelihood is the largest that they reached.

    Notes
    -----
    All subsets are fitted together by Newton's method. Separation is passed on to larger subsets, so a linear programme
    on the union of the predictors clears all at once; where it does not, the subsets are split by one predictor in the
    direction found.
    """
    x, y = _checked(x, y)
    masks = np.asarray(masks, dtype=bool)
    value, separated = np.zeros(len(masks)), np.zeros(len(masks), dtype=bool)
    stack = [(np.arange(len(y)), np.arange(len(masks)), False)]
    while stack:
        rows, which, flag = stack.pop()
        if not len(which):
            continue
        union = np.flatnonzero(masks[which].any(axis=0))
        direction = _recession(x[np.ix_(rows, union)], y[rows])
        if direction is None:
            value[which], separated[which] = _fit_all(x[rows], y[rows], masks[which]), flag
            continue
        shared = np.flatnonzero(masks[which].all(axis=0))
        within = _recession(x[np.ix_(rows, shared)], y[rows])
        if within is not None:  # every subset is separated: the rows it separates add nothing in the limit
            z = np.column_stack([np.ones(len(rows)), _scaled(x[np.ix_(rows, shared)])[0]])
            left = rows[np.abs(z @ within) <= MARGIN]
            separated[which] = True
            if len(left):
                stack.append((left, which, True))
            continue
        free = np.setdiff1d(union, shared)
        size = np.abs(direction[1:])[np.isin(union, free)]
        has = masks[which, free[np.argmax(size)]]
        stack += [(rows, which[has], flag), (rows, which[~has], flag)]
    return value, separated


def fit_firth(x: np.ndarray, y: np.ndarray, *, test: bool = True) -> FirthFit:
    """Firth's penalised logistic regression: the likelihood times the root of the information's determinant.

    x (n, p), y (n,). Finite even under separation; in a saturated two-by-two table it adds 1/2 to each cell. The
    p-values compare penalised likelihoods with and without the coefficient, the rest profiled out (Heinze and Schemper
    2002); without `test` they are missing and the work of them saved.

    Raises ValueError for collinear predictors.

    Examples
    --------
    >>> fit_firth(np.arange(1.0, 5.0)[:, None], np.array([0, 0, 1, 1])).coefficients.round(3).tolist()
    [-3.275, 1.31]
    """
    x, y = _checked(x, y)
    scale = _scaled(x)[1]
    centre = x.mean(axis=0)
    z = np.column_stack([np.ones(len(y)), (x - centre) / scale])
    if _collinear(z):
        raise ValueError("x: the predictors are collinear, or one is constant; Firth's estimate is not unique")
    # the estimate is the same in any basis, and an orthonormal one keeps the information regular
    basis, back = np.linalg.qr(z)
    maximum, top = _firth_newton(basis, y, np.ones(z.shape[1], dtype=bool))
    beta = np.linalg.solve(back, maximum)
    p = np.full(len(beta), np.nan)
    if test:  # that of the intercept needs it on the predictors' own scale
        unscaled = np.column_stack([np.ones(len(y)), x / scale])
        p = np.array([_firth_drop(unscaled if j == 0 else z, y, j, top) for j in range(len(beta))])
    slopes = beta[1:] / scale
    # the determinant is that of the predictors as given
    log_scale = np.sum(np.log(scale)) + np.sum(np.log(np.abs(np.diag(back))))
    return FirthFit(np.r_[beta[0] - slopes @ centre, slopes], p, top + log_scale)


def _checked(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.ndim != 2 or len(x) != len(y) or not np.all(np.isfinite(x)):
        raise ValueError(f"x: expected finite numbers, one row per answer ({len(y)}), found shape {x.shape}")
    if set(np.unique(y)) != {0.0, 1.0}:
        raise ValueError(f"y: expected both 0 and 1, found {np.unique(y)[:5].tolist()}")
    return x, y


def _scaled(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predictors centred and divided by their largest absolute value, and that value (1 for a constant)."""
    if x.shape[0] == 0 or x.shape[1] == 0:
        return x, np.ones(x.shape[1])
    centred = x - x.mean(axis=0)
    largest = np.abs(centred).max(axis=0)
    varies = largest > 1e-12 * np.abs(x).max(axis=0)
    scale = np.where(varies, largest, 1.0)
    return np.where(varies, centred / scale, 0.0), scale


def _fit_all(x: np.ndarray, y: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Largest log-likelihood of each subset, none of which is separated."""
    z = np.column_stack([np.ones(len(y)), _scaled(x)[0]])
    full = np.column_stack([np.ones(len(masks), dtype=bool), masks])
    value = np.empty(len(masks))
    size = max(1, min(CHUNK, AT_ONCE // max(len(z), z.shape[1] ** 2)))
    for start in range(0, len(masks), size):
        part = slice(start, start + size)
        value[part] = _newton(z, y, full[part])[0]
    return value


def _newton(z: np.ndarray, y: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Newton's method for many subsets of the columns of z at once: log-likelihoods (m,), coefficients (m, q), and
    whether these converged (m,)."""
    beta, converged = _climb(z, y, masks, STEPS)
    return _log_likelihoods(beta @ z.T, y), beta, converged


def _log_likelihoods(eta: np.ndarray, y: np.ndarray) -> np.ndarray:
    value: np.ndarray = eta @ y - np.logaddexp(0, eta).sum(axis=1)
    return value


def _climb(z: np.ndarray, y: np.ndarray, masks: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (m, q) after Newton's method, and whether they converged within so many steps (m,)."""
    q = z.shape[1]
    pairs = (z[:, :, None] * z[:, None, :]).reshape(len(z), q * q)
    square = masks[:, :, None] & masks[:, None, :]
    # a ridge far below rounding of the fit keeps collinear subsets solvable; it does not move the maximum
    idle = np.where(masks, 1e-10 * len(z), 1.0)[:, :, None] * np.eye(q)
    beta, active = np.zeros(masks.shape), np.arange(len(masks))
    for number in range(steps):
        eta = beta[active] @ z.T
        p = expit(eta)
        gradient = ((y - p) @ z) * masks[active]
        information = ((p * (1 - p)) @ pairs).reshape(-1, q, q) * square[active] + idle[active]
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        decrement = np.sum(gradient * step, axis=1)
        long = np.abs(step).sum(axis=1) > LONG_STEP
        step[long] *= _shortened(np.abs(step[long] @ z.T).max(axis=1, initial=0.0))[:, None]
        if number >= QUICK:
            step *= _uphill(eta, step @ z.T, y)[:, None]
        beta[active] += step
        active = active[decrement > max(NEGLIGIBLE, ROUNDING * len(z))]
        if not len(active):
            break
    return beta, ~np.isin(np.arange(len(masks)), active)


def _uphill(eta: np.ndarray, change: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Factors (m,) by which steps are halved until no log-likelihood falls; eta, change : (m, n) log-odds."""
    value, factor = _log_likelihoods(eta, y), np.ones(len(eta))
    for _ in range(HALVINGS):
        worse = _log_likelihoods(eta + factor[:, None] * change, y) < value - 1e-12 * np.maximum(1.0, np.abs(value))
        if not worse.any():
            break
        factor[worse] /= 2
    return factor


def _shortened(change: np.ndarray) -> np.ndarray:
    """Factor that keeps one step from moving a log-odds by more than LONG_STEP: Newton's method cannot then
    overshoot."""
    factor: np.ndarray = np.minimum(1.0, LONG_STEP / np.maximum(change, LONG_STEP))
    return factor


def _firth_newton(z: np.ndarray, y: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float]:
    """Maximise lnL + log det(information) / 2 over the `free` coefficients, the others held at 0 (Firth 1993).

    Both are missing where the iterations end away from the maximum.
    """
    beta = np.zeros(z.shape[1])
    value, score, information = _penalised(z, y, beta)
    for _ in range(STEPS):
        step = np.zeros(z.shape[1])
        step[free] = np.linalg.solve(information[np.ix_(free, free)], score[free])
        step *= _shortened(np.abs(z @ step).max(initial=0.0))
        if np.max(np.abs(step), initial=0.0) <= 1e-10 * max(1.0, np.max(np.abs(beta))):
            return beta, value
        slack = 1e-12 * max(1.0, abs(value))
        for halving in range(HALVINGS):
            after = _penalised(z, y, beta + step / 2**halving)
            # the information is not quite minus the second derivative: full steps can go to and fro about the maximum
            if after[0] >= value - slack and after[1] @ step >= -score @ step / 2:
                break
        else:
            # no part of the step improves on rounding; its length in standard errors says how far the maximum is
            near = score @ step <= NEGLIGIBLE * max(1.0, abs(value))
            return (beta, value) if near else (np.full(z.shape[1], np.nan), np.nan)
        beta, (value, score, information) = beta + step / 2**halving, after
    return np.full(z.shape[1], np.nan), np.nan


def _penalised(z: np.ndarray, y: np.ndarray, beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Penalised log-likelihood, modified score X'(y - p + h(1/2 - p)), information X'WX (Heinze and Schemper, eq.
    2)."""
    eta = z @ beta
    p = expit(eta)
    w = p * (1 - p)
    information = z.T @ (z * w[:, None])
    sign, log_det = np.linalg.slogdet(information)
    if sign <= 0:  # so far out that all answers are certain
        return -np.inf, np.zeros(len(beta)), information
    h = w * np.einsum("ij,ij->i", z @ np.linalg.inv(information), z)
    value = eta @ y - np.logaddexp(0, eta).sum() + log_det / 2
    return float(value), z.T @ (y - p + h * (0.5 - p)), information


def _firth_drop(z: np.ndarray, y: np.ndarray, j: int, top: float) -> float:
    # with its column last, the coefficient is 0 in the orthonormal basis where it is 0 in the given one
    order = np.r_[np.delete(np.arange(z.shape[1]), j), j]
    lower = _firth_newton(np.linalg.qr(z[:, order])[0], y, np.arange(len(order)) < len(order) - 1)[1]
    return float(chdtrc(1, np.maximum(0.0, 2 * (top - lower))))


def signed_root(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Signed root of McFadden's R² of a logit on one predictor, for many weightings of the rows at once.

    Parameters
    ----------
    x, y : (n,) arrays
        y is 0 or 1.
    weights : (k, n) array
        Not negative: how often a row is in a resample.

    Returns
    -------
    (k,) roots of 1 - lnL/lnL0 with the sign of the slope; missing where x or y has one value only, and where the
    iterations do not converge. Under separation, which with one predictor is a matter of ranges, lnL is its supremum.
    """
    x, y = (np.asarray(v, dtype=float) for v in (x, y))
    size = max(1, AT_ONCE // max(len(x), 1))
    parts = [weights[start : start + size] for start in range(0, len(weights), size)]
    return np.concatenate([_signed_root(x, y, np.asarray(part, dtype=float)) for part in parts])


def _signed_root(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """`signed_root` of weightings that fit into memory together."""
    n, ones = weights.sum(axis=1), weights @ y
    share = np.where(n > 0, ones / np.maximum(n, 1), 0.0)
    null = n * (xlogy(share, share) + xlogy(1 - share, 1 - share))
    inside = weights > 0
    low, high = [], []
    for answer in (0, 1):
        answered = inside & (y == answer)
        low.append(np.where(answered, x, np.inf).min(axis=1))
        high.append(np.where(answered, x, -np.inf).max(axis=1))
    defined = (null < 0) & (np.minimum(*low) < np.maximum(*high))
    up, down = (high[0] <= low[1]) & defined, (high[1] <= low[0]) & defined
    sign, value = np.zeros(len(n)), np.full(len(n), np.nan)
    for apart, edge, direction in ((up, high[0], 1.0), (down, high[1], -1.0)):
        if apart.any():  # only rows at the value both answers share still count
            tied = weights[apart] * (x == edge[apart, None])
            m, t = tied.sum(axis=1), tied @ y
            value[apart] = xlogy(t, t / np.maximum(m, 1)) + xlogy(m - t, (m - t) / np.maximum(m, 1))
            sign[apart] = direction
    plain = defined & ~up & ~down
    if plain.any():
        value[plain], slope = _weighted_newton(x, y, weights[plain])
        sign[plain] = np.sign(slope)
    with np.errstate(invalid="ignore", divide="ignore"):
        root: np.ndarray = sign * np.sqrt(np.maximum(0.0, 1 - value / null))
    return root


def _weighted_newton(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihood (k,) and slope (k,) of a one-predictor logit under each weighting, none of which is separated;
    missing where they do not converge."""
    x = (x - x.mean()) / np.abs(x - x.mean()).max()
    moments = np.column_stack([np.ones_like(x), x, x**2])
    total = weights @ (moments[:, :2] * y[:, None])
    a, b = np.zeros(len(weights)), np.zeros(len(weights))
    active = np.arange(len(weights))
    for _ in range(STEPS):
        w = weights[active]
        p = expit(a[active, None] + b[active, None] * x)
        g = total[active] - (w * p) @ moments[:, :2]
        h = (w * (p * (1 - p))) @ moments
        det = np.maximum(h[:, 0] * h[:, 2] - h[:, 1] ** 2, 1e-14 * h[:, 0] * h[:, 2] + 1e-300)
        da = (h[:, 2] * g[:, 0] - h[:, 1] * g[:, 1]) / det
        db = (h[:, 0] * g[:, 1] - h[:, 1] * g[:, 0]) / det
        decrement = g[:, 0] * da + g[:, 1] * db
        damp = _shortened(np.abs(da) + np.abs(db))
        a[active] += damp * da
        b[active] += damp * db
        active = active[decrement > max(NEGLIGIBLE, ROUNDING * len(x))]
        if not len(active):
            break
    eta = a[:, None] + b[:, None] * x
    value = a * total[:, 0] + b * total[:, 1] - np.einsum("kn,kn->k", weights, np.logaddexp(0, eta))
    value[active] = b[active] = np.nan
    return value, b
