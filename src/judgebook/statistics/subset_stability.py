"""What a search for the best subset finds in noise, and how much of it generalises to people left out.

Used by `coverage`: held-out fit, shuffled targets, and the subset chosen on part of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nan

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from judgebook.statistics.intervals import Interval, jackknife_t
from judgebook.statistics.logit import fit_firth
from judgebook.statistics.subsets import Fitness, all_r2, best_of_each_size, masks_of, shortlist, sizes


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
