"""All subsets of predictors, the best of each size, what a search finds in noise, and how much of it holds for others.

A subset is a row of booleans. Where all 2^p subsets are listed, subset number c holds predictor i when bit i of c is
set.

Fit is R² for a linear model and McFadden's pseudo-R², 1 - lnL/lnL0, for a logit. The adjusted fit penalises the
number of predictors k: 1 - (1 - R²)(n - 1)/(n - k - 1) for a linear model, 1 - (lnL - k)/lnL0 for a logit (Ben-Akiva
and Lerman 1985, Discrete Choice Analysis, section 7.9, without counting the intercept). Both are 0 for the intercept
alone.

References
----------
Furnival and Wilson 1974, Regressions by leaps and bounds, Technometrics 16, 499-511 (all subsets by pivoting one
predictor at a time).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import nan

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from judgebook.statistics.intervals import Interval, jackknife_t
from judgebook.statistics.logit import fit_firth, null_log_likelihood, subset_log_likelihoods

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


def best_subset_losses(
    fitness: Fitness,
    clusters: np.ndarray,
    rng: np.random.Generator,
    only: Sequence[int],
    n_folds: int = 10,
    n_repeats: int = 5,
) -> np.ndarray:
    """(rows, sizes + 1) loss of each row under the best subset of each size in `only`, chosen and fitted without the
    cluster of that row: the mean over repeats; in the last column that of the training mean.

    Clusters are dealt into folds at random, `n_repeats` times, alike for all sizes. A row is missing where the
    complement of its fold never has two target values.
    """
    wanted = np.asarray(only, dtype=int)

    def best(part: Fitness) -> np.ndarray:
        return masks_of(_codes(part, wanted), part.p)

    return _held_out(fitness, clusters, rng, best, len(wanted), n_folds, n_repeats)


def fit_intervals(losses: np.ndarray, clusters: np.ndarray, unit: str, confidence: float) -> list[Interval]:
    """Held-out fits, 1 minus the losses (rows, m + 1) over those in the last column, with jackknife intervals over
    clusters of log(1 - fit), the fitted models held fixed. Missing where a logit was certain and wrong: it has no
    likelihood.

    They are for the fit that such a search reaches on average on samples of this size, not for that of one fitted
    model. With 54 sessions, 95% intervals cover it 92% to 96% of the time for linear models, 95% to 100% for logits
    (`benchmarks/levels/held_out_fits.csv`).
    """
    sums = _by_cluster(losses, clusters)
    total = sums.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = total[:-1] / total[-1]
        without = (total[:-1] - sums[:, :-1]) / (total[-1:] - sums[:, -1:])
        logs = np.log(ratio), np.log(without)
    intervals = [jackknife_t(e, w, unit, confidence, bounded=False) for e, w in zip(logs[0], logs[1].T, strict=True)]
    return [
        replace(
            of_log, estimate=1 - fit if fit < np.inf else nan, low=1 - np.exp(of_log.high), high=1 - np.exp(of_log.low)
        )
        for of_log, fit in zip(intervals, ratio, strict=True)
    ]


def fit_difference(a: np.ndarray, b: np.ndarray, clusters: np.ndarray, unit: str, confidence: float) -> Interval:
    """The fit of one search minus that of another on the same rows, with a jackknife interval over clusters. a, b :
    losses (rows, 2) as from `best_subset_losses`, of one size."""
    sums = _by_cluster(np.column_stack([a, b]), clusters)
    total = sums.sum(axis=0)

    def difference(of: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            gap: np.ndarray = of[..., 2] / of[..., 3] - of[..., 0] / of[..., 1]
        return gap

    return jackknife_t(float(difference(total)), difference(total - sums), unit, confidence, bounded=False)


def _by_cluster(losses: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """(clusters, m) sums of losses (rows, m) over the rows of each cluster, without rows that were never left out."""
    left_out = np.isfinite(losses[:, -1])
    code = np.unique(np.asarray(clusters).astype(str)[left_out], return_inverse=True)[1]
    sums = np.zeros((code.max(initial=-1) + 1, losses.shape[1]))
    np.add.at(sums, code, losses[left_out])
    return sums


def permuted_targets(y: np.ndarray, clusters: np.ndarray, rng: np.random.Generator, n: int) -> np.ndarray:
    """(rows, n) shuffled targets that keep those of one person together: people are put in random order and their
    targets laid end to end along the rows, person by person, so people may differ in how many they have."""
    code = np.unique(np.asarray(clusters).astype(str), return_inverse=True)[1]
    place = np.argsort(code, kind="stable")
    out = np.empty((len(y), n))
    for j in range(n):
        out[place, j] = y[np.argsort(rng.permutation(code.max() + 1)[code], kind="stable")]
    return out


def permuted_fits(fitness: Fitness, clusters: np.ndarray, rng: np.random.Generator, n: int) -> np.ndarray:
    """(n, p) fit of the best subset of each size under `n` shuffled targets."""
    targets = permuted_targets(fitness.y, clusters, rng, n)
    if fitness.family == "logit":
        return np.array([best_fits(Fitness(fitness.x, y, "logit")) for y in targets.T])
    out, size = np.empty((n, fitness.p)), sizes(fitness.p)
    for start in range(0, n, 16):  # all subsets of 16 targets at once: 8 MB for 16 predictors
        fits = all_r2(fitness.x, targets[:, start : start + 16])
        for k in range(1, fitness.p + 1):
            out[start : start + 16, k - 1] = fits[size == k].max(axis=0)
    return out


def best_fits(fitness: Fitness) -> np.ndarray:
    """Fit of the best subset of each size (p,)."""
    return fitness.fit(masks_of(_codes(fitness), fitness.p))


def _codes(fitness: Fitness, only: np.ndarray | None = None) -> np.ndarray:
    """The best subset of each size, or of those in `only`; a logit's from a shortlist, since all this is repeated."""
    if fitness.family == "logit":
        return shortlist(fitness.x, fitness.y, only=only)
    best = best_of_each_size(fitness.all(), fitness.p)[:, 0]
    return best if only is None else best[only - 1]


def chosen(fitness: Fitness) -> np.ndarray:
    """The subset with the highest adjusted fit, as booleans (p,); none where the intercept alone is best."""
    codes = np.r_[0, _codes(fitness)]
    masks = masks_of(codes, fitness.p)
    adjusted = fitness.adjusted(fitness.fit(masks), masks.sum(axis=1))
    mask: np.ndarray = masks[int(np.nanargmax(adjusted))]
    return mask


def row_losses(train: Fitness, x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Loss (rows,) of the model on a subset of predictors: squared error, or minus the log-likelihood. Without any
    predictor it is that of the training mean."""
    inside = _independent(train.x, np.flatnonzero(mask))
    if train.family == "ols":
        z = np.column_stack([np.ones(len(train.y)), train.x[:, inside]])
        slopes = np.linalg.lstsq(z, train.y, rcond=None)[0]
        squares: np.ndarray = (y - slopes[0] - x[:, inside] @ slopes[1:]) ** 2
        return squares
    if not len(inside):
        p = np.full(len(y), train.y.mean())
    else:
        slopes = fit_firth(train.x[:, inside], train.y, test=False).coefficients
        p = expit(slopes[0] + x[:, inside] @ slopes[1:])
    return -(xlogy(y, p) + xlog1py(1 - y, -p))


def _held_out(
    fitness: Fitness,
    clusters: np.ndarray,
    rng: np.random.Generator,
    masks_for: Callable[[Fitness], np.ndarray],
    n_masks: int,
    n_folds: int,
    n_repeats: int,
) -> np.ndarray:
    people, code = np.unique(np.asarray(clusters).astype(str), return_inverse=True)
    total, times = np.zeros((len(fitness.y), n_masks + 1)), np.zeros((len(fitness.y), 1))
    for _ in range(n_repeats):
        fold = rng.permutation(np.arange(len(people)) % n_folds)[code]
        for f in np.unique(fold):
            test, train = fold == f, fold != f
            if train.any() and np.ptp(fitness.y[train]) > 0:
                part = Fitness(fitness.x[train], fitness.y[train], fitness.family)
                masks = [*masks_for(part), np.zeros(part.p, dtype=bool)]
                total[test] += np.stack([row_losses(part, fitness.x[test], fitness.y[test], m) for m in masks], axis=1)
                times[test] += 1
    return np.where(times > 0, total / np.maximum(times, 1), nan)


def _independent(x: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """`columns` without those that, in these rows, are constant or a combination of the ones before."""
    centred = x[:, columns] - x[:, columns].mean(axis=0)
    diagonal = np.abs(np.diag(np.linalg.qr(centred, mode="r")))
    scale = np.sqrt(np.sum(x[:, columns] ** 2, axis=0)) + 1e-300
    # with fewer rows than columns some are always combinations of others
    if len(diagonal) == len(columns) and np.all(diagonal > 1e-9 * scale):
        return columns
    independent: list[int] = []
    for j in range(len(columns)):
        some = [*independent, j]
        if np.linalg.matrix_rank(centred[:, some] / scale[some], tol=1e-9) == len(some):
            independent.append(j)
    return columns[independent]
