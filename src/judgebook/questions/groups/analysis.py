"""Does it matter who evaluates? The results of notebook 08.

What Finch, Finch and Choi 2024 published is computed in the notebook: for each pair of evaluator groups, the mean over
pairs of systems of the absolute difference of effect sizes, from one annotation per item and group. As we would defend
it: the same difference compared with its distribution when judgements, or annotators, are permuted; corrected for
noise; tested for equivalence; and its range when one annotator is left out. This uses all annotations, each item
counting once; the range over picks of one annotation per item shows what using one would mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.families import adjust_rows
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import evaluated, with_means
from judgebook.questions.groups.alphas import alpha_between, alpha_within
from judgebook.questions.groups.conclusions import conclusions
from judgebook.questions.groups.effects import (
    KEY,
    MANY_PAIRS,
    for_each_label,
    n_pairs,
    without_one_annotator,
)
from judgebook.questions.groups.extremes import extremes
from judgebook.questions.groups.joint_resampling import resampled, resampled_two_way
from judgebook.questions.groups.many_pairs import many_pairs
from judgebook.questions.groups.permutation_null import permutation_null
from judgebook.questions.groups.pick_ranges import effect_ranges
from judgebook.questions.groups.question import GroupEffects
from judgebook.questions.groups.robustness import robustness
from judgebook.statistics.intervals import Sampling
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
    ("group_difference", {"over": "picks", "scope": None}, {"ci_low": "picks_low", "ci_high": "picks_high"}),
)
#: verdicts on a difference between groups
DIFFERS, EQUIVALENT, BOTH = "different", "equivalent", "different, within the margin"
UNDECIDED, UNTESTED = "inconclusive", "no test"


def study_pick(annotations: Annotations, seed: int) -> Annotations:
    """The study's own pick of one annotation per item and group, for the values as published."""
    return next(picks(annotations, 1, seed))


def analyse(
    annotations: Annotations,
    labels: Sequence[Label],
    options: GroupEffects,
    *,
    sampling: Sampling,
    pick_seed: int,
    permute_seed: int,
    keep: Callable[[pd.DataFrame, str], object] = lambda frame, name: None,
) -> Results:
    """All results of notebook 08.

    Parameters
    ----------
    annotations : DataFrame
        Of `comparable`. Of labels without order only alphas are computed: they have no mean.
    labels : sequence of Label
    options : GroupEffects
        Margin, and numbers of permutations, picks and resamples.
    pick_seed, permute_seed : int
        Of the pick of one annotation per item; of permutations and of the picks to range over.
    keep : callable
        Is given the effects of all pairs of systems where these are very many (`many_pairs`), and a name.
    """
    exchanged = partial(permutation_null, seed=permute_seed, n_permutations=options.n_permutations)
    with_people = replace(sampling, n_resamples=options.people_resamples)
    every, annotations = annotations, with_means(annotations, labels)
    picked = study_pick(annotations, pick_seed)
    people = comparable(annotations[annotations["annotator_known"] & (annotations["annotator_kind"] == "human")])
    many = n_pairs(annotations) > MANY_PAIRS
    if many:
        effects = many_pairs(
            annotations,
            people,
            keep,
            sampling=sampling,
            margin=options.margin,
            people_resamples=options.people_resamples,
        )
    else:
        over_sessions = partial(resampled, sampling=sampling, margin=options.margin)
        effects = collect(
            for_each_label(over_sessions, annotations, per_item=True),
            for_each_label(partial(resampled_two_way, sampling=with_people), people, per_item=True),
        )
    ranges = partial(effect_ranges, seed=permute_seed, n_picks=options.n_picks)
    results = collect(
        effects,
        for_each_label(exchanged, annotations, per_item=True),
        for_each_label(partial(exchanged, exchange="annotator"), annotations, per_item=True),
        for_each_label(without_one_annotator, people, per_item=True),
        for_each_label(ranges, annotations),
        alpha_within(every, labels, sampling),
        alpha_between(picked if every is annotations else study_pick(every, pick_seed), labels, sampling),
        robustness(picked, sampling=sampling, objective=options.objective, people_resamples=options.people_resamples),
        extremes(annotations, labels, sampling=sampling, people_resamples=options.people_resamples),
        group_counts(every),
    )
    if not many:
        results = collect(results, conclusions(results, options.margin))
    return adjusted(results)


def analyse_with_frames(*args: Any, **kwargs: Any) -> tuple[Results, dict[str, pd.DataFrame]]:
    """Results, and what `keep` of `analyse` is given, by name."""
    frames: dict[str, pd.DataFrame] = {}
    return analyse(*args, **kwargs, keep=lambda frame, name: frames.update({name: frame})), frames


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
    debiased, debiased_low, debiased_high, margin, p_margin, without_low, without_high, picks_low, picks_high, verdict.
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
