"""All subsets of predictors, and backward elimination with a beam: the search behind coverage.

A subset is a row of booleans. Where all 2^p subsets are listed, subset number c holds predictor i when bit i of c is
set.

Fit is R² for a linear model and McFadden's pseudo-R², 1 - lnL/lnL0, for a logit. The adjusted fit penalises the
number of predictors k: 1 - (1 - R²)(n - 1)/(n - k - 1) for a linear model, 1 - (lnL - k)/lnL0 for a logit (Ben-Akiva
and Lerman 1985, Discrete Choice Analysis, section 7.9, without counting the intercept). Both are 0 for the intercept
alone.

References: Furnival and Wilson 1974, Regressions by leaps and bounds, Technometrics 16, 499-511 (all subsets by
pivoting one predictor at a time); Finch et al. 2023, section 7.4 (beam search).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from judgebook.statistics.logit import null_log_likelihood, subset_log_likelihoods

FAMILIES = ("ols", "logit")
#: all subsets are gone through up to this many predictors
MAX_EXACT = 20
#: a predictor with less than this share of its variance left is taken as a combination of the others
COLLINEAR = 1e-10
#: numbers in the matrices of the subsets that are fitted at one time
CHUNK = 1_000_000


def all_r2(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """R² of the linear model on every subset of predictors, exactly.

    Parameters
    ----------
    x : (n, p) predictors, p at most 20. One that is constant, or a combination of others in the subset, adds nothing.
    y : (n,) target, or (n, t) several targets.

    Returns
    -------
    (2^p,) or (2^p, t). Missing (NaN) for a constant target.

    Notes
    -----
    Works on the matrix of cross-products: each predictor in turn is left out of all subsets so far, and pivoted into a
    copy of them. That is about a dozen multiplications per subset, whatever n is.

    Examples
    --------
    >>> x, y = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0]]), np.array([1.0, 2.0, 2.0, 4.0])
    >>> all_r2(x, y).round(4).tolist()  # no predictor, the first, the second, both
    [0.0, 0.8526, 0.4737, 0.9474]
    """
    x, targets = np.asarray(x, dtype=float), np.asarray(y, dtype=float).reshape(len(x), -1)
    p = x.shape[1]
    if p > MAX_EXACT:
        raise ValueError(f"x: expected at most {MAX_EXACT} predictors, found {p}; 2^{p} subsets are too many")
    x, targets = _unit(x), _unit(targets)
    among, with_y = (x.T @ x)[None], (x.T @ targets)[None]
    left = np.ones((1, targets.shape[1]))
    for _ in range(p):
        pivot = among[:, 0, 0]
        inverse = np.where(pivot > COLLINEAR, 1 / np.maximum(pivot, COLLINEAR), 0.0)
        row, target = among[:, 0, 1:], with_y[:, 0]
        share = row * inverse[:, None]
        rest, rest_y = among[:, 1:, 1:], with_y[:, 1:]
        among = np.concatenate([rest, rest - share[:, :, None] * row[:, None, :]])
        with_y = np.concatenate([rest_y, rest_y - share[:, :, None] * target[:, None, :]])
        left = np.concatenate([left, left - target**2 * inverse[:, None]])
    r2 = np.where(np.any(targets != 0, axis=0), 1 - left, np.nan)
    return r2[:, 0] if np.ndim(y) == 1 else r2


def masks_of(codes: np.ndarray, p: int) -> np.ndarray:
    """Subset numbers (m,) as booleans (m, p)."""
    return (np.asarray(codes)[:, None] >> np.arange(p)) & 1 > 0


def sizes(p: int) -> np.ndarray:
    """How many predictors each of the 2^p subsets holds."""
    size = np.zeros(1, dtype=np.int64)
    for _ in range(p):
        size = np.concatenate([size, size + 1])
    return size


@dataclass(frozen=True)
class Fitness:
    """How well subsets of the predictors x (n, p) predict y (n,), by a linear model ('ols') or a logit ('logit')."""

    x: np.ndarray
    y: np.ndarray
    family: str

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ValueError(f"family: expected one of {', '.join(FAMILIES)}, found {self.family!r}")

    @property
    def p(self) -> int:
        """How many predictors there are."""
        return int(self.x.shape[1])

    def fit(self, masks: np.ndarray) -> np.ndarray:
        """R² or McFadden's pseudo-R² (m,) of the subsets (m, p). For a logit under separation: from the supremum."""
        if self.family == "logit":
            return 1 - subset_log_likelihoods(self.x, self.y, masks)[0] / null_log_likelihood(self.y)
        x, y = _unit(self.x), _unit(self.y[:, None])[:, 0]
        among, with_y, out = x.T @ x, x.T @ y, np.empty(len(masks))
        size = max(1, CHUNK // self.p**2)
        for part in (slice(start, start + size) for start in range(0, len(masks), size)):
            inside = masks[part]
            square = inside[:, :, None] & inside[:, None, :]
            ridge = np.where(inside, COLLINEAR**1.5, 1.0)[:, :, None] * np.eye(self.p)
            target = with_y * inside
            slopes = np.linalg.solve(among * square + ridge, target[:, :, None])[:, :, 0]
            out[part] = np.sum(slopes * target, axis=1)
        return out

    def all(self) -> np.ndarray:
        """The fit of each of the 2^p subsets."""
        if self.family == "ols":
            return all_r2(self.x, self.y)
        if self.p > MAX_EXACT:
            raise ValueError(f"x: expected at most {MAX_EXACT} predictors, found {self.p}")
        return self.fit(masks_of(np.arange(2**self.p), self.p))

    def adjusted(self, fit: np.ndarray, k: np.ndarray | int) -> np.ndarray:
        """Adjusted fit of models with k predictors; missing where a linear model has no degree of freedom left."""
        fit, k, n = np.asarray(fit, dtype=float), np.asarray(k), len(self.y)
        if self.family == "logit":
            return fit + k / null_log_likelihood(self.y)
        free = n - k - 1
        return np.where(free > 0, 1 - (1 - fit) * (n - 1) / np.where(free > 0, free, 1), np.nan)


def best_of_each_size(fit: np.ndarray, p: int, keep: int = 1) -> np.ndarray:
    """Numbers of the best subsets of each size 1 … p: (p, keep), best first; -1 where a size has fewer.

    fit : (2^p,). Ties go to the smaller number.
    """
    out = np.full((p, keep), -1)
    for k, codes in enumerate(_by_size(p)[1:]):
        value = fit[codes]
        if len(codes) > keep:  # those at least as good as the last one kept, however many tie
            codes = codes[value >= np.partition(value, -keep)[-keep]]
        order = np.argsort(-fit[codes], kind="stable")[:keep]
        out[k, : len(order)] = codes[order]
    return out


@lru_cache(maxsize=4)
def _by_size(p: int) -> list[np.ndarray]:
    size = sizes(p)
    return [np.flatnonzero(size == k) for k in range(p + 1)]


def shortlist(x: np.ndarray, y: np.ndarray, keep: int = 5, only: np.ndarray | None = None) -> np.ndarray:
    """The best logit of each size 1 … p (or of the sizes in `only`), searched among `keep` candidates a size: subset
    numbers (p,).

    Candidates are the best by linear R² of the 0/1 answers, which is the score statistic of the logit against no effect
    divided by n. Much faster than all 2^p logits, and nearly always the same; not a proof. For repeated runs (samples,
    folds, permutations).
    """
    candidates = best_of_each_size(all_r2(x, y), x.shape[1], keep)
    candidates = candidates if only is None else candidates[only - 1]
    fit = np.full(candidates.shape, -np.inf)
    listed = candidates >= 0
    fit[listed] = Fitness(x, y, "logit").fit(masks_of(candidates[listed], x.shape[1]))
    best: np.ndarray = candidates[np.arange(len(candidates)), np.argmax(fit, axis=1)]
    return best


def _unit(x: np.ndarray) -> np.ndarray:
    """Columns centred and scaled to length 1; a constant column becomes 0."""
    centred = x - x.mean(axis=0)
    length = np.sqrt(np.sum(centred**2, axis=0))
    live = length > 1e-12 * np.sqrt(len(x)) * np.maximum(1e-300, np.abs(x).max(axis=0))
    return np.where(live, centred / np.where(live, length, 1.0), 0.0)
