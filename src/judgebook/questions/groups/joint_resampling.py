"""What the published difference lacks: intervals that keep the dialogues groups share, and a value without its noise.

The published value is a mean of absolute differences, which exceeds zero even when groups do not differ. `resampled`
resamples sessions jointly over groups, because groups judge the same dialogues, and adds the difference corrected for
noise and the smallest margin within which two groups could be claimed equivalent. `resampled_two_way` resamples
annotators as well. What chance alone would give is in `permutation_null`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy import optimize, sparse
from scipy.special import chdtr, chndtr, stdtr, stdtrit

from judgebook.questions.groups.effects import (
    LabelScores,
    between_groups,
    pair_effects,
    session_annotator,
    split_cells,
    unit_sums,
)
from judgebook.statistics.clusters import jackknife_covariance
from judgebook.statistics.intervals import Interval, Replicates, Sampling, generator
from judgebook.statistics.resampling import replicate_sums, replicate_two_way

Rows = Iterator[dict[str, Any]]


def resampled(one: LabelScores, *, sampling: Sampling, margin: float = 0.2) -> Rows:
    """Effects and their differences between groups, with BCa intervals over sessions.

    Parameters
    ----------
    one : LabelScores
        With the session of each judgement; items weighted alike where they have several annotations.
    margin : float
        Differences of effect sizes within it are negligible.

    Returns
    -------
    Rows of effect_size and effect_difference (one per pair of systems), mean_absolute_effect, group_difference,
    group_difference_debiased and equivalence_margin. Of these, the intervals of the two means of absolute values cannot
    cover zero, and are for comparison only.

    Raises
    ------
    ValueError
        A session is not known.
    """
    if one.scores["session"].isna().any():
        raise ValueError("session: must be known for every annotation, because sessions are resampled")
    names, sums = one.sums("session")
    replicates = replicate_sums(
        sums.reshape(len(names), -1),
        _joint_statistic(one),
        unit="session",
        rng=sampling.stream("resampled_group_difference", "session", *one.key),
        n_resamples=sampling.n_resamples,
    )
    yield from _named(one, replicates.intervals(sampling.confidence), "session")
    yield from _beyond_noise(one, replicates, margin, sampling.confidence)


def _joint_statistic(one: LabelScores) -> Callable[[np.ndarray], np.ndarray]:
    def statistic(sums: np.ndarray) -> np.ndarray:
        effects = pair_effects(sums.reshape(len(sums), len(one.groups), len(one.systems), 3), one.effect)
        differences = between_groups(effects)
        parts = [effects, differences, np.abs(effects).mean(axis=-1), np.abs(differences).mean(axis=-1)]
        return np.concatenate([p.reshape(len(sums), -1) for p in parts], axis=1)

    return statistic


def _named(one: LabelScores, intervals: Sequence[Interval], unit: str) -> Rows:
    """Result rows of the intervals of `_joint_statistic`, or of its first parts."""
    of_pairs = {"mean_absolute_effect": "effect_size", "group_difference": "effect_difference"}
    names: list[tuple[dict[str, Any], str | None, str | None]] = []
    for mean, group, group_b in one.means:
        row = one.row(of_pairs[mean], group, group_b, resample=unit)
        names += [(row, *bots) for bots in combinations(one.systems, 2)]
    names += [(one.row(*mean, resample=unit), None, None) for mean in one.means]
    for (row, system, system_b), interval in zip(names[: len(intervals)], intervals, strict=True):
        yield row | {"system": system, "system_b": system_b} | interval.row()


def resampled_two_way(one: LabelScores, *, sampling: Sampling) -> Rows:
    """Effects and their differences between groups when annotators are resampled as well as sessions.

    Sessions are resampled, and annotators within their group, independently of each other; a judgement counts as often
    as the product of the two. These intervals cover other people of the same kind, those of `resampled` the same
    people. With few people (three, say) they are still too narrow.

    one : of judgements by known people. Returns rows of effect_size and effect_difference with
    percentile intervals.
    """
    replicates = two_way_sums(one, seed=sampling.seed, n_resamples=sampling.n_resamples)
    wanted = (len(one.groups) + len(one.group_pairs)) * comb(len(one.systems), 2)
    statistic = _joint_statistic(one)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate, values = (statistic(sums)[:, :wanted] for sums in (replicates.estimate[None], replicates.values))
    intervals = replace(replicates, estimate=estimate[0], values=values).intervals(sampling.confidence, "percentile")
    yield from _named(one, intervals, "session and annotator")


def two_way_sums(one: LabelScores, *, seed: int, n_resamples: int) -> Replicates:
    """The sums of each group and system, (groups * systems * 3), when sessions and annotators are resampled."""
    scores = one.scores.dropna(subset="score")
    names, sums = unit_sums(scores, session_annotator(scores), one.groups, one.systems)
    sessions, u, people, a = split_cells(names)
    # most are 0: one person judges few systems in a session
    rows = sparse.coo_array(sums.reshape(len(names), -1))
    (at, column), width = rows.coords, rows.shape[1]
    gave, of = np.unique(a[at] * width + column, return_inverse=True)  # what a person gave, and to which sum it adds
    by_person = sparse.csr_array((rows.data, (of, u[at])), shape=(len(gave), len(sessions)))
    total = sparse.csr_array((np.ones(len(gave)), (gave % width, np.arange(len(gave)))), shape=(width, len(gave)))
    return replicate_two_way(
        len(sessions),
        len(people),
        lambda w, v: (total @ ((by_person @ w.T) * v.T[gave // width])).T,
        rng=generator(seed, "two_way_group_difference", "session", *one.key),
        unit="session and annotator",
        strata=one.home(people),
        n_resamples=n_resamples,
        width=3 * len(names) + width,
    )


def _beyond_noise(one: LabelScores, replicates: Replicates, margin: float, confidence: float) -> Rows:
    """The noise-corrected difference and the equivalence margin of each pair of groups."""
    n_pairs, without = comb(len(one.systems), 2), replicates.leave_one_out()
    for k, pair in enumerate(one.group_pairs, len(one.groups)):
        at = slice(k * n_pairs, (k + 1) * n_pairs)
        covariance = jackknife_covariance(without[:, at])
        moments = replicates.estimate[at], np.diag(covariance), float(np.sum(covariance**2))
        yield from beyond_noise(one, pair, *moments, replicates.n_units, margin, confidence)


def beyond_noise(
    one: LabelScores,
    pair: tuple[str, str],
    differences: np.ndarray,
    variances: np.ndarray,
    squared: float,
    n_units: int,
    margin: float,
    confidence: float,
) -> Rows:
    """The same of one pair of groups, from differences of effects (pairs,) with their variances and the sum of the
    squared elements of their covariance."""
    square = mean_square_difference(differences, float(np.sum(variances)), squared, confidence)
    width, p = _equivalence(differences, np.sqrt(variances), margin, n_units - 1, 1 - confidence)
    defined = np.isfinite(square[0])
    note = None if defined else "an effect is undefined, on these data or without one session"
    shared = {"resample_unit": "session", "n_clusters": n_units, "note": note}
    kind = "noncentral_chi2" if defined else "not_estimable"
    for scale, values in (("square", square), ("root", np.sqrt(np.maximum(square, 0)))):
        row = one.row("group_difference_debiased", *pair, scale=scale, resample="session")
        ends = dict(zip(("estimate", "ci_low", "ci_high"), values, strict=True))
        yield row | shared | ends | {"ci_kind": kind}
    row = one.row("equivalence_margin", *pair, margin=margin, resample="session")
    yield row | shared | {"estimate": width, "p_value": p}


def mean_square_difference(
    differences: np.ndarray, noise: float, squared: float, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Mean squared difference over pairs of systems, minus what sampling adds to it, with its interval.

    Parameters
    ----------
    differences : (m,) array
    noise, squared : float
        Trace of the covariance of the differences, and the sum of its squared elements.

    Returns
    -------
    Estimate, lower and upper end; all NaN where an input is. The estimate is unbiased, hence negative where the
    differences are smaller than their noise; the ends are not below 0. The sum of squares over c is taken as noncentral
    chi-square with f degrees of freedom, where c and f match the first two moments at no difference. The upper end uses
    at least the noise itself: an estimate that happens to be smaller does not bound the truth more tightly.

    References
    ----------
    Satterthwaite 1946, Biometrics Bulletin 2, 110-114.
    """
    if not (np.all(np.isfinite(differences)) and np.isfinite(noise) and np.isfinite(squared)):
        return np.nan, np.nan, np.nan
    m = len(differences)
    q = float(differences @ differences)
    estimate = (q - noise) / m
    if noise <= 0:
        return estimate, np.nan, np.nan
    c = squared / noise
    f, tail = noise / c, (1 - confidence) / 2
    low = _noncentrality(q / c, f, 1 - tail) * c / m
    high = _noncentrality(max(q, noise) / c, f, tail) * c / m
    return estimate, low, high


def _noncentrality(x: float, f: float, level: float) -> float:
    """The noncentrality (0 or more) at which chi-square with f degrees of freedom is below x with probability level."""

    def excess(nc: float) -> float:
        return float(chndtr(x, f, nc) if nc > 0 else chdtr(f, x)) - level

    if excess(0.0) <= 0:
        return 0.0
    return float(optimize.brentq(excess, 0.0, x + 20 * np.sqrt(x + f) + 50))


def equivalence(
    differences: np.ndarray, covariance: np.ndarray, margin: float, df: float, alpha: float = 0.05
) -> tuple[float, float]:
    """Do all differences lie within ±margin? Two one-sided tests per difference, all of which must reject.

    Parameters
    ----------
    differences : (m,) array
    covariance : (m, m) array
        Of the differences.
    df : float
        Degrees of freedom of Student's t.

    Returns
    -------
    The smallest margin that could be claimed at `alpha`, and the p-value: the largest of all, which needs no adjustment
    (Berger 1982). NaN where an input is.

    Raises
    ------
    ValueError
        The margin is not above 0.

    References
    ----------
    Schuirmann 1987, J. Pharmacokinetics and Biopharmaceutics 15, 657-680; Berger 1982, Technometrics 24, 295-300.
    """
    return _equivalence(differences, np.sqrt(np.diag(covariance)), margin, df, alpha)


def _equivalence(
    differences: np.ndarray, errors: np.ndarray, margin: float, df: float, alpha: float
) -> tuple[float, float]:
    """The same from standard errors."""
    if not margin > 0:
        raise ValueError(f"margin: expected a number above 0, found {margin!r}")
    size = np.abs(differences)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stdtr(df, -((margin - size) / errors))
    return float(np.max(size + stdtrit(df, 1 - alpha) * errors)), float(np.max(p))
