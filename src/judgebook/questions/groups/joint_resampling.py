"""What the published difference lacks: intervals that keep the dialogues groups share, and a value without its noise.

The published value is a mean of absolute differences, which exceeds zero even when groups do not differ. `resampled`
resamples sessions jointly over groups, because groups judge the same dialogues, and adds the difference corrected for
noise and the smallest margin within which two groups could be claimed equivalent. What chance alone would give is in
`permutation_null`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy import optimize
from scipy.special import chdtr, chndtr, stdtr, stdtrit

from judgebook.questions.groups.effects import LabelScores, between_groups, pair_effects
from judgebook.statistics.clusters import jackknife_covariance
from judgebook.statistics.intervals import Replicates, Sampling
from judgebook.statistics.resampling import grouped, replicate_sums

Rows = Iterator[dict[str, Any]]
#: sessions, or random groups of them, that are resampled where there are very many pairs of systems
MOST_UNITS = 200


def resampled(one: LabelScores, *, sampling: Sampling, margin: float = 0.2, of_pairs: bool = True) -> Rows:
    """Effects and their differences between groups, with BCa intervals over sessions.

    Parameters
    ----------
    one : LabelScores
        With the session of each judgement; items weighted alike where they have several annotations.
    margin : float
        Differences of effect sizes within it are negligible.
    of_pairs : bool
        Whether single pairs of systems have rows. If not, MOST_UNITS random groups of sessions are resampled where
        there are more sessions.

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
    rng, rows = sampling.stream("resampled_group_difference", "session", *one.key), sums.reshape(len(names), -1)
    rows = rows if of_pairs else grouped(rows, MOST_UNITS, rng)
    replicates = replicate_sums(rows, _joint_statistic(one), unit="session", rng=rng, n_resamples=sampling.n_resamples)
    yield from _named(one, replicates, sampling.confidence, of_pairs=of_pairs)
    yield from _beyond_noise(one, replicates, margin, sampling.confidence)


def _joint_statistic(one: LabelScores) -> Callable[[np.ndarray], np.ndarray]:
    def statistic(sums: np.ndarray) -> np.ndarray:
        effects = pair_effects(sums.reshape(len(sums), len(one.groups), len(one.systems), 3), one.effect)
        differences = between_groups(effects)
        parts = [effects, differences, np.abs(effects).mean(axis=-1), np.abs(differences).mean(axis=-1)]
        return np.concatenate([p.reshape(len(sums), -1) for p in parts], axis=1)

    return statistic


def _named(one: LabelScores, replicates: Replicates, confidence: float, *, of_pairs: bool) -> Rows:
    """Result rows of the intervals of `_joint_statistic`."""
    of_mean = {"mean_absolute_effect": "effect_size", "group_difference": "effect_difference"}
    names: list[tuple[dict[str, Any], str | None, str | None]] = []
    for mean, group, group_b in one.means if of_pairs else ():
        row = one.row(of_mean[mean], group, group_b, resample="session")
        names += [(row, *bots) for bots in combinations(one.systems, 2)]
    names += [(one.row(*mean, resample="session"), None, None) for mean in one.means]
    last, without = slice(-len(names), None), replicates.leave_one_out()
    estimate, values = replicates.estimate[last], replicates.values[:, last]
    replicates = replace(replicates, estimate=estimate, values=values, jackknife=without[:, last])
    for (row, system, system_b), interval in zip(names, replicates.intervals(confidence), strict=True):
        yield row | {"system": system, "system_b": system_b} | interval.row()


def _beyond_noise(one: LabelScores, replicates: Replicates, margin: float, confidence: float) -> Rows:
    """The noise-corrected difference and the equivalence margin of each pair of groups."""
    n_pairs, without = comb(len(one.systems), 2), replicates.leave_one_out()
    for k, pair in enumerate(one.group_pairs, len(one.groups)):
        at = slice(k * n_pairs, (k + 1) * n_pairs)
        differences, covariance = replicates.estimate[at], jackknife_covariance(without[:, at])
        noise, squared = float(np.sum(np.diag(covariance))), float(np.sum(covariance**2))
        square = mean_square_difference(differences, noise, squared, confidence)
        width, p = equivalence(differences, covariance, margin, replicates.n_units - 1, 1 - confidence)
        defined = np.isfinite(square[0])
        note = None if defined else "an effect is undefined, on these data or without one session"
        shared = {"resample_unit": "session", "n_clusters": replicates.n_units, "note": note}
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
    if not margin > 0:
        raise ValueError(f"margin: expected a number above 0, found {margin!r}")
    size, errors = np.abs(differences), np.sqrt(np.diag(covariance))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stdtr(df, -((margin - size) / errors))
    return float(np.max(size + stdtrit(df, 1 - alpha) * errors)), float(np.max(p))
