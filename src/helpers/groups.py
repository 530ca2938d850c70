"""What may be concluded about evaluator groups: beside the published difference, what chance alone would give.

The published value is a mean of absolute differences: above zero even when groups do not differ, and no interval of
resampled values says so. `resampled` resamples sessions jointly over groups, as groups judge the same dialogues, and
adds the difference without its noise and the smallest margin within which two groups count as equivalent.
`conclusions` counts for how many pairs of systems two groups conclude the same, the opposite, or nothing. What chance
alone would give is in `group_null`.

References: Schuirmann 1987, J. Pharmacokinetics and Biopharmaceutics 15, 657-680 (two one-sided tests); Berger 1982,
Technometrics 24, 295-300 (all of several equivalences: the largest p); Satterthwaite 1946, Biometrics Bulletin 2,
110-114; Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11 (jackknife).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
from scipy import optimize

from helpers.distributions import chi2_cdf, ncx2_cdf, t_ppf, t_sf
from helpers.effects import ANALYSIS, Analysis, analyses, pair_effects, unit_sums
from helpers.rates import require_unit
from helpers.resampling import Interval, Replicates, bootstrap_two_way, generator, replicate_sums


def resampled(
    annotations: pd.DataFrame,
    *,
    seed: int,
    unit: str = "session",
    margin: float = 0.2,
    effect: str | None = None,
    groups: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Effects, their differences between groups, the debiased difference and equivalence, from joint resamples.

    Parameters
    ----------
    annotations : frame
        One annotation an item and group, with the column `unit`.
    unit : str
        What is resampled, with all that any group said about it. `annotator` is resampled within its group.
    margin : float
        Differences of effect sizes within it do not matter.

    Returns
    -------
    Result rows `effect_size`, `effect_difference` (each pair of systems), `mean_absolute_effect`, `group_difference`
    (BCa), `group_difference_debiased` and `equivalence_margin`.

    Raises
    ------
    ValueError
        The column `unit` is absent or has gaps.

    Notes
    -----
    Of these, `effect_difference` can be zero in truth and has an interval that can cover it; the intervals of the two
    means of absolute values cannot, and stand here for comparison only. Checked by simulated coverage, and against the
    published values for the point estimates.
    """
    require_unit(annotations, unit)
    out = []
    for one in analyses(annotations, effect, groups, systems):
        names, sums = unit_sums(one.scores, one.scores[unit].to_numpy(), one.groups, one.systems)
        strata = None
        if unit == "annotator":
            strata = one.scores.drop_duplicates("annotator").set_index("annotator")["group"].reindex(names).to_numpy()
        found = replicate_sums(
            sums.reshape(len(names), -1),
            _joint_statistic(one),
            unit=unit,
            rng=generator(seed, "resampled_group_difference", unit, *one.key),
            strata=strata,
            n_resamples=n_resamples,
        )
        out += _named_rows(one, found.intervals(confidence), unit)
        out += _beyond_noise(one, found, unit, margin, confidence)
    return pd.DataFrame(out)


def _joint_statistic(one: Analysis) -> Callable[[np.ndarray], np.ndarray]:
    i, j = np.array(list(combinations(range(len(one.groups)), 2)), dtype=int).reshape(-1, 2).T

    def statistic(sums: np.ndarray) -> np.ndarray:
        effects = pair_effects(sums.reshape(len(sums), len(one.groups), len(one.systems), 3), one.effect)
        differences = effects[:, i] - effects[:, j]
        parts = [effects, differences, np.abs(effects).mean(axis=-1), np.abs(differences).mean(axis=-1)]
        return np.concatenate([p.reshape(len(sums), -1) for p in parts], axis=1)

    return statistic


def _named_rows(one: Analysis, found: Sequence[Interval], unit: str) -> list[dict]:
    """Result rows of the intervals of `_joint_statistic`, or of its first parts."""
    pairs, bots = list(combinations(one.groups, 2)), list(combinations(one.systems, 2))
    names = [("effect_size", g, None, *b) for g in one.groups for b in bots]
    names += [("effect_difference", *g, *b) for g in pairs for b in bots]
    names += [("mean_absolute_effect", g, None, None, None) for g in one.groups]
    names += [("group_difference", *g, None, None) for g in pairs]
    return [
        {**one.row(*name[:3], resample=unit), "system": name[3], "system_b": name[4], **interval.row()}
        for name, interval in zip(names[: len(found)], found, strict=True)
    ]


def resampled_two_way(
    annotations: pd.DataFrame,
    *,
    seed: int,
    unit: str = "session",
    effect: str | None = None,
    groups: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    n_resamples: int = 2_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Effects and their differences between groups when other people might have judged other sessions.

    Units are resampled as in `resampled`, and annotators within their group, independently of each other; a judgement
    counts as often as the product says. The intervals speak of people like these, where those of `resampled` speak of
    these people. From few people (three, say) they are too narrow still: people who were never asked cannot be drawn.

    annotations : one annotation an item and group, `annotator` being people. unit : as in `resampled`.

    Returns result rows `effect_size` and `effect_difference`, percentile intervals. Checked by simulated coverage with
    people who differ, where sessions alone do not cover.
    """
    require_unit(annotations, unit)
    out = []
    for one in analyses(annotations, effect, groups, systems):
        scores = one.scores.dropna(subset="score")
        cell = scores[unit].astype(str) + "\x1f" + scores["annotator"].astype(str)
        names, sums = unit_sums(scores, cell.to_numpy(), one.groups, one.systems)
        parts = [name.rsplit("\x1f", 1) for name in names]  # a unit may be a pair of dialogues, joined the same way
        units, u = np.unique([p[0] for p in parts], return_inverse=True)
        people, a = np.unique([p[1] for p in parts], return_inverse=True)
        home = scores.drop_duplicates("annotator").set_index("annotator")["group"].loc[people].to_numpy(str)
        effects, rows = _joint_statistic(one), sums.reshape(len(names), -1)
        wanted = len(one.groups) * (len(one.groups) + 1) // 2 * comb(len(one.systems), 2)
        both = f"{unit} and annotator"
        found = bootstrap_two_way(
            len(units),
            len(people),
            lambda w, v: effects((w[:, u] * v[:, a]) @ rows)[:, :wanted],  # noqa: B023 (called before the loop goes on)
            rng=generator(seed, "two_way_group_difference", unit, *one.key),
            unit=both,
            strata=home,
            n_resamples=n_resamples,
            confidence=confidence,
            width=3 * len(names) + rows.shape[1],
        )
        out += _named_rows(one, found, both)
    return pd.DataFrame(out)


def _beyond_noise(one: Analysis, found: Replicates, unit: str, margin: float, confidence: float) -> list[dict]:
    """The debiased difference and the equivalence margin of each two groups."""
    n_bots = comb(len(one.systems), 2)
    start, out = len(one.groups) * n_bots, []
    for k, pair in enumerate(combinations(one.groups, 2)):
        at = slice(start + k * n_bots, start + (k + 1) * n_bots)
        differences, covariance = found.estimate[at], jackknife_covariance(found, at)
        square, low, high = mean_square_difference(differences, covariance, confidence)
        df = found.n_units - len(np.unique(found.groups))
        width, p = equivalence(differences, covariance, margin, df, 1 - confidence)
        reason = None if np.isfinite(square) else "an effect is undefined, on these data or without one of their units"
        shared = {"resample_unit": unit, "n_clusters": found.n_units, "note": reason}
        interval = {**shared, "ci_kind": "noncentral_chi2" if reason is None else "not_estimable"}
        row = one.row("group_difference_debiased", *pair, scale="square", resample=unit)
        out.append({**row, **interval, "estimate": square, "ci_low": low, "ci_high": high})
        row = one.row("group_difference_debiased", *pair, scale="root", resample=unit)
        root = dict(zip(("estimate", "ci_low", "ci_high"), np.sqrt(np.maximum([square, low, high], 0)), strict=True))
        out.append({**row, **interval, **root})
        row = one.row("equivalence_margin", *pair, margin=margin, resample=unit)
        out.append({**row, **shared, "estimate": width, "p_value": p})
    return out


def jackknife_covariance(found: Replicates, at: slice) -> np.ndarray:
    """Covariance (m, m) of m of the statistics, from the values with one unit left out.

    Efron and Tibshirani 1993, eq. 11.5; within each sample or stratum where there are several. Missing (NaN) where a
    value is undefined without some unit. Checked against the variance of a mean, which it equals.
    """
    total = np.zeros((at.stop - at.start,) * 2)
    for group in np.unique(found.groups):
        inside = found.groups == group
        values, weights = found.jackknife[inside, at], found.weights[inside]
        n = weights.sum()
        centred = values - weights @ values / n
        total += (n - 1) / n * (weights[:, None] * centred).T @ centred
    return total


def mean_square_difference(
    differences: np.ndarray, covariance: np.ndarray, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Mean squared difference over pairs of systems, less what sampling adds to it; with its interval.

    differences : (m,) estimates; covariance : (m, m) theirs. The estimate is unbiased, hence negative where the
    differences are smaller than their noise. The ends are not below 0: the sum of squares over c is taken as noncentral
    chi-square with f degrees of freedom, c and f matching the first two moments at no difference (Satterthwaite 1946).
    The upper end uses at least the noise itself: an estimate that happens to be smaller does not bound the truth more
    tightly. All three are missing (NaN) where an input is.

    No library has this. Checked by hand for one difference and by simulated bias and coverage.
    """
    if not (np.all(np.isfinite(differences)) and np.all(np.isfinite(covariance))):
        return np.nan, np.nan, np.nan
    m, noise = len(differences), np.trace(covariance)
    q = float(differences @ differences)
    estimate = (q - noise) / m
    if noise <= 0:
        return estimate, np.nan, np.nan
    c = np.sum(covariance**2) / noise
    f, tail = noise / c, (1 - confidence) / 2
    low = _noncentrality(q / c, f, 1 - tail) * c / m
    high = _noncentrality(max(q, noise) / c, f, tail) * c / m
    return estimate, low, high


def _noncentrality(x: float, f: float, level: float) -> float:
    """The noncentrality (0 or more) at which chi-square with f degrees of freedom is below x with probability level."""

    def excess(nc: float) -> float:
        return float(ncx2_cdf(x, f, nc) if nc > 0 else chi2_cdf(x, f)) - level

    if excess(0.0) <= 0:
        return 0.0
    return float(optimize.brentq(excess, 0.0, x + 20 * np.sqrt(x + f) + 50))


def equivalence(
    differences: np.ndarray, covariance: np.ndarray, margin: float, df: float, alpha: float = 0.05
) -> tuple[float, float]:
    """Do all differences lie within ± margin? The smallest margin that could be claimed at `alpha`, and the p-value.

    differences : (m,), covariance : (m, m), df : degrees of freedom of Student's t. Two one-sided tests a difference;
    the claim needs all of them, so that the largest p-value is the p-value of the claim and needs no correction (Berger
    1982). Missing (NaN) where an input is. Checked against `pingouin.tost`.
    """
    if not margin > 0:
        raise ValueError(f"margin: expected a number above 0, found {margin!r}")
    se, size = np.sqrt(np.diag(covariance)), np.abs(differences)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = t_sf((margin - size) / se, df)
    return float(np.max(size + t_ppf(1 - alpha, df) * se)), float(np.max(p))


def conclusions(results: pd.DataFrame) -> pd.DataFrame:
    """For how many pairs of systems two groups conclude the same, the opposite, or at least one concludes nothing.

    results : rows `effect_size` with intervals, of one kind of resampling. A group concludes that one system is better
    where the interval excludes 0. Returns result rows `conclusion_count` with `verdict=same|opposite|undecided`.
    Checked by hand.
    """
    rows = results[results["statistic"] == "effect_size"]
    sign = (rows["ci_low"] > 0).astype(int) - (rows["ci_high"] < 0).astype(int)
    keys = [*ANALYSIS, "level", "condition"]
    table = rows.assign(sign=sign).pivot_table(
        index=[*keys, "system", "system_b"], columns="group", values="sign", sort=False
    )
    out = []
    for key, part in table.groupby(level=keys, sort=False):
        for a, b in combinations(part.columns, 2):
            product = (part[a] * part[b]).dropna()
            head = {**dict(zip(keys, key, strict=True)), "statistic": "conclusion_count", "group": a, "group_b": b}
            for verdict, value in (("same", 1), ("opposite", -1), ("undecided", 0)):
                count = float((product == value).sum())
                condition = f"{head['condition']};verdict={verdict}"
                out.append({**head, "condition": condition, "estimate": count, "n": len(product)})
    return pd.DataFrame(out)
