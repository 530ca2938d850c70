"""Does it matter who evaluates? The results of notebook 08.

What Finch, Finch and Choi 2024 published is computed in the notebook: for each pair of evaluator groups, the mean over
pairs of systems of the absolute difference of effect sizes, from one annotation per item and group. As we would defend
it: the same difference compared with its distribution when judgements, or annotators, are permuted; corrected for
noise; tested for equivalence; and its range when one annotator is left out. This uses all annotations, each item
counting once.

The published value is a mean of absolute differences, which exceeds zero even when groups do not differ. `resampled`
resamples sessions jointly over groups, because groups judge the same dialogues, and adds the difference corrected for
noise and the smallest margin within which two groups could be claimed equivalent. What chance alone would give is in
`permutation_null`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize
from scipy.special import chdtr, chndtr, stdtr, stdtrit

from judgebook.annotations.cells import adjust_rows, parts
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import evaluated, with_means
from judgebook.questions.agreement import analysis as agreement
from judgebook.questions.groups.claims import extremes, robustness
from judgebook.questions.groups.effects import (
    KEY,
    MANY_PAIRS,
    MOST_RESAMPLES,
    LabelScores,
    between_groups,
    for_each_label,
    n_pairs,
    pair_effects,
    without_one_annotator,
)
from judgebook.questions.groups.permutation_null import permutation_null
from judgebook.questions.groups.question import GroupEffects
from judgebook.statistics.clusters import jackknife_covariance
from judgebook.statistics.intervals import Replicates, Sampling
from judgebook.statistics.resampling import grouped, replicate_sums
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows, Results, collect
from judgebook.study.schema import Annotations, unordered

#: identifies a difference between groups
PAIR = [*KEY, "group", "group_b"]
#: what qualifies a difference: statistic, values of its keys, names of its columns in `differences`
_QUALIFIED: tuple[tuple[str, dict[str, str | None], dict[str, str]], ...] = (
    ("group_difference_null", {"exchange": "judgement", "point": "mean"}, {"estimate": "null_mean"}),
    ("group_difference_null", {"exchange": "judgement", "point": "q95"}, {"estimate": "null_q95"}),
    ("group_difference_test", {"exchange": "judgement"}, {"estimate": "tested", "p_value": "p"}),
    ("group_difference_test", {"exchange": "judgement"}, {"p_adjusted": "p_adjusted"}),
)
_QUALIFIED_PRIMARY: tuple[tuple[str, dict[str, str | None], dict[str, str]], ...] = (
    ("group_difference_test", {"exchange": "annotator"}, {"p_adjusted": "p_people"}),
    ("group_difference_debiased", {"scale": "root"}, {"estimate": "debiased"}),
    ("group_difference_debiased", {"scale": "root"}, {"ci_low": "debiased_low", "ci_high": "debiased_high"}),
    ("equivalence_margin", {}, {"estimate": "margin", "p_adjusted": "p_margin"}),
    ("group_difference", {"over": "people"}, {"ci_low": "without_low", "ci_high": "without_high"}),
)
#: verdicts on a difference between groups
DIFFERS, EQUIVALENT, BOTH = "different", "equivalent", "different, within the margin"
UNDECIDED, UNTESTED = "inconclusive", "no test"
#: of two groups on a pair of systems, as columns of `counted`; contrary: opposite, or different in size
VERDICTS = ["same", "undecided", "contrary"]


def analyse(
    annotations: Annotations,
    labels: Sequence[Label],
    options: GroupEffects,
    *,
    sampling: Sampling,
    pick_seed: int,
    permute_seed: int,
) -> Results:
    """All results of notebook 08.

    Parameters
    ----------
    annotations : DataFrame
        Of `comparable`. Of labels without order only alphas are computed: they have no mean.
    labels : sequence of Label
    options : GroupEffects
        Margin, and numbers of permutations and resamples.
    pick_seed, permute_seed : int
        Of the pick of one annotation per item, which agreement between groups is about; of permutations.
    """
    every, annotations = annotations, with_means(annotations, labels)
    picked, among = (next(picks(rows, 1, pick_seed)) for rows in (annotations, every))
    people = comparable(annotations[annotations["annotator_known"] & (annotations["annotator_kind"] == "human")])
    many = n_pairs(annotations) > MANY_PAIRS
    fewer = replace(sampling, n_resamples=min(sampling.n_resamples, MOST_RESAMPLES)) if many else sampling
    over_sessions = partial(resampled, sampling=fewer, margin=options.margin, of_pairs=not many)
    exchanged = partial(permutation_null, seed=permute_seed, n_permutations=options.n_permutations)
    results = collect(
        for_each_label(over_sessions, annotations, per_item=True),
        for_each_label(exchanged, annotations, per_item=True),
        for_each_label(partial(exchanged, exchange="annotator"), annotations, per_item=True),
        for_each_label(without_one_annotator, people, per_item=True),
        alpha_within(every, labels, sampling),
        alpha_between(among, labels, sampling),
        robustness(picked, sampling=sampling, objective=options.objective, people_resamples=options.people_resamples),
        extremes(annotations, labels, sampling=sampling),
        group_counts(every),
    )
    return adjusted(collect(results, conclusions(results, options.margin)))


def adjusted(results: Results) -> Results:
    """Tests of difference and of equivalence with Holm's p-values over all labels and pairs of groups of a method."""
    families: dict[str, list[str]] = {"group_difference_test": ["exchange", "scope", "pick"], "equivalence_margin": []}
    for statistic, keys in families.items():
        frame = results[statistic]
        by = ["corpus", "method", *keys]
        tested = frame.groupby(by, dropna=False)["p_value"].transform("count") > 0
        done = adjust_rows(frame[tested], by, "labels and pairs of groups of a method")
        results |= collect(pd.concat([frame[~tested], done]).assign(statistic=statistic))
    return results


def differences(results: Results, confidence: float, **variant: str) -> ResultRows:
    """One row per label and two groups: the difference, with its interval over sessions, and what qualifies it.

    Parameters
    ----------
    results : Results
    confidence : float
        1 minus the level of the tests.
    variant
        `scope` and `pick` of the values as published; none: the primary analysis.

    Returns
    -------
    DataFrame with PAIR, n, n_annotators, estimate, ci_low, ci_high, null_mean, null_q95, exceeds (whether the tested
    difference exceeds null_q95; missing without a test), p, p_adjusted; for the primary analysis also p_people,
    debiased, debiased_low, debiased_high, margin, p_margin, without_low, without_high, verdict.
    """
    chosen: dict[str, str | None] = {"scope": None, "pick": None, **variant}
    primary = chosen["pick"] is None
    resample = "session" if primary else "score"
    out = results.select("group_difference", resample=resample, **chosen).set_index(PAIR)
    out = out[["level", "n", "n_annotators", "estimate", "ci_low", "ci_high"]]
    qualified = [(statistic, keys | chosen, columns) for statistic, keys, columns in _QUALIFIED]
    for statistic, keys, columns in (*qualified, *(_QUALIFIED_PRIMARY if primary else ())):
        out = out.join(results.select(statistic, **keys).set_index(PAIR)[list(columns)].rename(columns=columns))
    exceeds = (out["tested"] > out["null_q95"]).astype("boolean")
    out["exceeds"] = exceeds.where(out["null_q95"].notna() & out["tested"].notna())
    if primary:
        p_values = zip(out["p_adjusted"], out["p_margin"], strict=True)
        out["verdict"] = [verdict(p, q, 1 - confidence) for p, q in p_values]
    return out.reset_index()


def verdict(p_difference: float, p_equivalence: float, level: float) -> str:
    """What both tests say together, at a level below which a p-value is significant."""
    if np.isnan(p_difference) and np.isnan(p_equivalence):
        return UNTESTED
    differs, same = p_difference < level, p_equivalence < level
    return BOTH if differs and same else DIFFERS if differs else EQUIVALENT if same else UNDECIDED


def comparable(annotations: Annotations) -> Annotations:
    """Judgements of labels that two groups or more judged, each on two systems or more; no pilots, no gold units.

    Where no session is known, each dialogue (each pair, for comparisons) is a session.
    """
    main = evaluated(annotations)
    sides = pd.concat([main, main.dropna(subset=["system_b"]).assign(system=lambda f: f["system_b"])])
    systems = sides.groupby([*KEY, "group"])["system"].nunique()
    systems = systems[systems >= 2]
    enough = systems.index[(systems.groupby(KEY).transform("size") >= 2).to_numpy()]
    compared = main[pd.MultiIndex.from_frame(main[[*KEY, "group"]]).isin(enough)]
    ends = unordered(compared)
    alone = ends["low"].astype(str) + "\x1f" + ends["high"].fillna("").astype(str)
    return compared.assign(session=compared["session"].astype(object).where(compared["session"].notna(), alone))


def group_counts(annotations: Annotations) -> Iterator[dict[str, Any]]:
    """Dialogues (pairs) evaluated once or twice, those evaluated twice, and by whom, as Table 2 of Finch et al. 2024
    counts them, which leaves out what was judged more than twice: rows of `count`.

    `evaluators` is over all methods, `evaluators_of_method` within one; neither exists where annotators are positions.
    """
    who = ["corpus", "group", "annotator_kind"]
    for (corpus, group, kind), part in annotations.groupby(who, sort=False):
        head = {"statistic": "count", "corpus": corpus, "group": group, "kind": kind}
        if part["annotator_known"].all():
            yield head | {"what": "evaluators", "estimate": part["annotator"].nunique()}
        for method, of_method in part.groupby("method", sort=False):
            items = of_method.groupby(["label", "dialogue", "turn", "dialogue_b"], dropna=False).size()
            times = items.groupby(["dialogue", "dialogue_b"], dropna=False).max()
            counts = {"evaluated": (times <= 2).sum(), "doubly_annotated": (times == 2).sum()}
            if of_method["annotator_known"].all():
                counts["evaluators_of_method"] = of_method["annotator"].nunique()
            place = {"method": method, "level": METHODS[method].unit}
            yield from (head | place | {"what": what, "estimate": n} for what, n in counts.items())


def alpha_within(annotations: Annotations, labels: Sequence[Label], sampling: Sampling) -> Results:
    """Alpha of the first two annotations per item within each group (Finch et al. 2024, Table 3), where an item was
    judged twice."""
    alphas = agreement.alpha_table(annotations, labels, sampling=sampling, first=2, alone=True)["alpha"]
    return Results(alpha=alphas[alphas["n"] > 0])


def alpha_between(picked: Annotations, labels: Sequence[Label], sampling: Sampling) -> Results:
    """Alpha between each pair of groups, models included, on the items that both judged.

    picked : one annotation per item and group.
    """
    parts = []
    for a, b in combinations(sorted(picked["group"].unique()), 2):
        of_pair = picked[picked["group"].isin([a, b])]
        kinds = sorted(of_pair["annotator_kind"].unique())
        parts.append(agreement.alpha_between(of_pair, labels, a, b, sampling=sampling, kinds=kinds, alone=True))
    alphas = collect(*parts)["alpha"]
    return Results(alpha=alphas[alphas["n"] > 0])


def conclusions(results: Results, margin: float) -> Iterator[dict[str, Any]]:
    """Of how many pairs of systems two groups conclude the same: rows of `conclusion_count`, by label and two groups.

    Parameters
    ----------
    results : Results
        With `effect_size` and `effect_difference`.
    margin : float
        Differences of effect sizes within it are negligible.

    Returns
    -------
    Rows by `of` and `verdict`. *sign*: both groups find the same system better, or opposite ones; undecided where an
    interval includes 0. *size*: the interval of the difference lies within ±margin (same), excludes 0 and does not
    (different), or neither (undecided).
    """
    sizes, index = results["effect_size"], [*KEY, "level", "effect", "resample"]
    sizes = sizes.assign(sign=(sizes["ci_low"] > 0).astype(float) - (sizes["ci_high"] < 0))
    # unstack, because pivot_table leaves out a group whose signs are all missing
    signs = sizes.set_index([*index, "system", "system_b", "group"])["sign"].unstack("group")  # noqa: PD010
    for key, part in signs.groupby(level=index, sort=False):
        for a, b in combinations(part.columns, 2):
            verdicts = (part[a] * part[b]).dropna().map({1.0: "same", -1.0: "opposite", 0.0: "undecided"})
            head = dict(zip(index, key, strict=True)) | {"of": "sign", "group": a, "group_b": b}
            yield from _counted(head, verdicts, "opposite")
    differences = results["effect_difference"]
    low, high = differences["ci_low"], differences["ci_high"]
    same = (low > -margin) & (high < margin)
    verdict = np.select([same, ~same & ((low > 0) | (high < 0))], ["same", "different"], "undecided")
    for key, part in parts(differences.assign(verdict=verdict), [*KEY, "level", "group", "group_b"], sort=False):
        yield from _counted(key | {"of": "size", "margin": margin}, part["verdict"], "different")


def _counted(head: dict[str, Any], verdicts: pd.Series, contrary: str) -> Iterator[dict[str, Any]]:
    for verdict in ("same", contrary, "undecided"):
        counts = {"estimate": float((verdicts == verdict).sum()), "n": len(verdicts)}
        yield head | {"statistic": "conclusion_count", "verdict": verdict} | counts


def counted(results: Results, of: str) -> pd.DataFrame:
    """Pairs of systems by what two groups conclude, sign or size, over labels and pairs of groups: a row a method, a
    column for each of VERDICTS."""
    rows = results.select("conclusion_count", of=of)
    rows = rows.replace({"verdict": {"opposite": "contrary", "different": "contrary"}})
    counts = rows.pivot_table("estimate", "method", "verdict", "sum").reindex(columns=VERDICTS)
    return counts[counts.sum(axis=1) > 0]


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
