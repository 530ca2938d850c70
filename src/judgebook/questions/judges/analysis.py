"""Can a model judge in place of people? The results of notebook 13.

From the weakest question to the one that matters: Does the judge agree with one person as another person does
(`agreement`)? Would the rates of systems, their differences and their order be the same? Each is compared with what
changes when one person replaces another, the least that any replacement can be expected to change. The alternative
annotator test is in `alternative_annotator`. Whether a judge may stand in is decided by a margin; where it may not, it
can still save human labels (`prediction_powered`).

Where no item has two judgements by people, these are taken as gold. Choices between two responses are in `choices`.

Everything resamples dialogues, as turns of one dialogue are not independent.

How much a judge's results differ, not how well it agrees, decides whether a judge may stand in for people: it may if
the change in every system's rate (in every difference of two systems) is smaller than a margin that the study sets: all
intervals of the change lie within it. As all must, no adjustment for their number is needed (intersection-union test).
It may not if one interval lies beyond the margin; otherwise the data do not decide.

References
----------
Berger 1982, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24, 295-300. Schuirmann 1987,
Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680 (two one-sided tests).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from math import nan
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.judges import agreement, choices
from judgebook.questions.judges.agreement import against_gold, judge_alpha
from judgebook.questions.judges.alternative_annotator import winning_rates
from judgebook.questions.judges.choices import JudgedPairs
from judgebook.questions.judges.items import CASE, JudgedItems, judged_items
from judgebook.questions.judges.prediction_powered import assisted
from judgebook.questions.performance import analysis
from judgebook.questions.performance.analysis import bradley_terry
from judgebook.statistics.intervals import Sampling
from judgebook.study import escape
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations
from judgebook.study.sections.data import Group


def analyse(
    annotations: Annotations,
    labels: Iterable[Label],
    *,
    sampling: Sampling,
    cost: float = 0.15,
    min_items: int = 30,
    margin: Mapping[str, float] = MappingProxyType({}),
    order_margin: float | None = None,
) -> Results:
    """All results of notebook 13, for every label and judge with items that the judge and people judged.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`.
    labels : iterable of Label
    cost, min_items
        Of the alternative annotator test, see `alternative_annotator.left_out`.
    margin
        See `replacement.decisions`.
    order_margin
        See `choices.both_orders`.
    """
    labels = list(labels)
    results = collect(row for items in judged_items(annotations, labels) for row in of_items(items, sampling))
    return collect(
        results,
        conclusions(results),
        of_choices(annotations, labels, sampling),
        winning_rates(annotations, labels, cost=cost, min_items=min_items),
        assisted(annotations, labels, sampling=sampling),
        choices.both_orders(annotations, confidence=sampling.confidence, margin=order_margin),
        decisions(results, margin),
    )


def of_items(items: JudgedItems, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Rows of one label and judge: `judge_items`, where items were left out because fewer people judged them
    (`items.judged_items`), alphas, or agreement with the one person, and systems' rates."""
    if items.share < 1:
        yield items.head | items.sizes | {"statistic": "judge_items", "estimate": items.share}
    if items.human.shape[1] == 1:
        yield from against_gold(agreement.of_items(items), sampling=sampling)
    else:
        yield from judge_alpha(items, sampling=sampling)
    yield from replacement(items, sampling=sampling)


def of_choices(annotations: Annotations, labels: Iterable[Label], sampling: Sampling) -> Results:
    """Of choices between two responses: agreement (with gold where each pair has one vote), position bias and the order
    of systems."""
    rows: list[dict[str, Any]] = []
    ranked: list[dict[str, Any]] = []
    for pairs in choices.judged_pairs(annotations, labels):
        rows += choices.agreement(pairs, sampling=sampling)
        if pairs.votes.shape[1] == 1:
            rows += against_gold(agreement.of_pairs(pairs), sampling=sampling)
        rows += choices.position_bias(pairs, sampling=sampling)
        ranked += orders(pairs)
    return collect(rows, ranked)


def judge_titles(groups: Mapping[str, Group], annotations: Annotations, titles: dict[str, str]) -> dict[str, str]:
    """Judge -> display name: that in `titles`, of the YAML's group that holds it alone, else its id."""
    judges = annotations.loc[annotations["annotator_kind"] != "human", "annotator"].unique()
    alone = {g.annotators[0]: g.title for g in groups.values() if len(g.annotators) == 1 and g.title}
    return escape.distinct({judge: (alone | titles).get(judge, judge) for judge in sorted(judges)})


#: what a judge is compared with: the other annotator
SECOND = "another person"
CONCLUSIONS = ("same", "opposite", "people only", "model only", "neither")


def replacement(items: JudgedItems, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Rates (means) of systems by people and by the judge, and how they change; dialogues resampled within systems.

    Yields, for each system, `judge_rate` by people (mean over them) and by the judge (`raters`) and `rate_change`:
    judge minus people (`by` model), and one person minus another (`by` another person, the first two positions; not of
    items with one judgement by people); for
    each pair of systems, `judge_contrast` (`raters`) and `contrast_change` (`by`), how much their difference changes: a
    judge that marks more of everything changes rates and leaves differences, and the order, as they are. Nothing of a
    label without a mean.
    """
    if items.label.unordered:
        return
    systems, h, j = sorted(set(items.system.tolist())), items.human, items.judge
    place = np.searchsorted(systems, items.system)[items.dialogue]
    sums = np.zeros((len(j), len(systems), 5))
    sums[np.arange(len(j)), place] = np.column_stack([np.ones(len(j)), j, h.mean(axis=1), h[:, 0], h[:, -1]])
    a, b = np.array(list(combinations(range(len(systems)), 2)), dtype=int).reshape(-1, 2).T

    def values(sums: np.ndarray) -> np.ndarray:
        n, *rates = np.moveaxis(sums.reshape(len(sums), len(systems), 5), 2, 0)
        model, people, first, second = (rate / n for rate in rates)
        columns = [model, people, model - people, first - second]
        return np.concatenate([*columns, *(c[:, a] - c[:, b] for c in columns)], axis=1)

    each = [{"system": s} for s in systems]
    two = [{"system": systems[i], "system_b": systems[k]} for i, k in zip(a, b, strict=True)]
    kinds = [("raters", "model"), ("raters", "people"), ("by", "model"), ("by", SECOND)]
    rows = []
    for who, rate, change in ((each, "judge_rate", "rate_change"), (two, "judge_contrast", "contrast_change")):
        for key, value in kinds:
            statistic = rate if key == "raters" else change
            rows += [{"statistic": statistic, key: value, **w} for w in who]
    n = dict(zip(systems, np.bincount(place, minlength=len(systems)), strict=True))
    intervals = items.resample(sums.reshape(len(j), -1), values, "replacement", sampling, items.system)
    for row, interval in zip(rows, intervals, strict=True):
        if h.shape[1] == 1 and row.get("by") == SECOND:
            continue
        size = sum(n[row[side]] for side in ("system", "system_b") if side in row)
        yield items.head | row | interval.row() | {"n": size}


def conclusions(results: Results) -> Iterator[dict[str, Any]]:
    """From the results of `replacement`: does the order of systems stay the same?

    Yields `judge_rank_correlation` (Kendall's tau-b of the systems' rates, judge with people; missing where a side is
    constant) and `judge_conclusions`, counts of pairs of systems by what people and judge say, a difference being one
    whose interval excludes 0: `same` sign, `opposite`, `people only`, `model only`, `neither`.
    """
    contrasts = results["judge_contrast"]
    contrasts = contrasts.assign(sign=(contrasts["ci_low"] > 0).astype(int) - (contrasts["ci_high"] < 0).astype(int))
    contrasts = dict(list(contrasts.groupby(CASE, sort=False)))
    for key, rates in results["judge_rate"].groupby(CASE, sort=False):
        head = dict(zip(CASE, key, strict=True)) | {"level": "system"}
        wide = rates.pivot_table(index="system", columns="raters", values="estimate", sort=False)
        varied = len(wide) > 1 and (np.ptp(wide.to_numpy(), axis=0) > 0).all()
        tau = float(wide["model"].corr(wide["people"], method="kendall")) if varied else nan
        note = None if varied else "fewer than two systems, or rates that are all equal"
        row = {"statistic": "judge_rank_correlation", "coefficient": "kendall"}
        yield {**head, **row, "estimate": tau, "note": note, "n": len(wide)}
        if key in contrasts:
            signs = contrasts[key].pivot_table(index=["system", "system_b"], columns="raters", values="sign")
            verdicts = [_conclusion(*pair) for pair in signs[["people", "model"]].to_numpy()]
            for name in CONCLUSIONS:
                row = {"statistic": "judge_conclusions", "verdict": name}
                yield {**head, **row, "n": len(verdicts), "estimate": float(verdicts.count(name))}


def _conclusion(people: float, model: float) -> str:
    if people and model:
        return "same" if people == model else "opposite"
    return "people only" if people else "model only" if model else "neither"


#: what iterations find of strengths: systems that differ in later digits are tied, on any processor
_DIGITS = 9


def orders(pairs: JudgedPairs) -> Iterator[dict[str, Any]]:
    """Does the judge put the systems in people's order, and the same one first?

    Yields `judge_rank_correlation` of strengths in Davidson's model (`kendall`) and of the scores that leaderboards
    print (`spearman_bradley_terry`: model of Bradley and Terry, ties as half wins), and `judge_first_system`: 1 where
    both have the same system first, of Bradley and Terry's scores; missing where one of them has no first system.
    """
    head = pairs.key | {"level": "system"}
    strengths, scores = [], []
    for rows in (pairs.people, pairs.theirs):
        strengths.append(analysis.point(rows).round(_DIGITS))
        scores.append(bradley_terry(rows).round(_DIGITS))
    wide = pd.DataFrame(dict(zip(("people", "judge"), strengths, strict=True)))
    n, exist = len(wide), bool(np.isfinite(wide.to_numpy()).all())
    row = {"statistic": "judge_rank_correlation", "coefficient": "kendall", "n": n}
    note = None if exist else f"by {'the judge' if wide['people'].notna().all() else 'people'}, {analysis.NONE}"
    yield head | row | {"estimate": wide.corr("kendall").iloc[0, 1] if exist and n > 1 else nan, "note": note}
    wide = pd.DataFrame(dict(zip(("people", "judge"), scores, strict=True)))
    # where scores do not exist, the library gives all systems the same one
    first = {side: values.idxmax() if values.max() > values.min() else None for side, values in wide.items()}
    complete = None not in first.values()
    note = None if complete else "scores do not exist, or all are equal"
    rho = wide["people"].corr(wide["judge"], method="spearman") if complete else nan
    shared = {"n": n, "note": note}
    row = {"statistic": "judge_rank_correlation", "coefficient": "spearman_bradley_terry"}
    yield {**head, **row, **shared, "estimate": float(rho)}
    same = float(first["people"] == first["judge"]) if complete else nan
    of = {"system": first["people"], "system_b": first["judge"]}
    yield {**head, "statistic": "judge_first_system", "estimate": same, **shared, **of}


#: what may be the same by judge and people -> the results that say how much it changes
CHANGES = {"rates": "rate_change", "differences": "contrast_change"}


def decisions(results: Results, margin: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """From the changes of rates and of differences (`of`), by label and judge.

    margin : label (`*`: all others) -> largest change that is harmless, in units of the label (rates: as shares).
    Without one, nothing is decided.

    Yields `judge_margin`, the smallest margin within which all changes are shown to lie, by the judge and by another
    person (`by`); missing where a change has no interval; and, where there is a margin, `judge_stands_in`: 1 where the
    judge may stand in, 0 where not, missing where that is not decided.
    """
    for of, statistic in CHANGES.items():
        for (*case, by), part in results[statistic].groupby([*CASE, "by"], sort=False):
            head = dict(zip(CASE, case, strict=True)) | {"level": "system", "of": of, "n": len(part)}
            low, high = part["ci_low"].to_numpy(), part["ci_high"].to_numpy()
            without = int(np.sum(~np.isfinite(low) | ~np.isfinite(high)))
            note = f"no interval for {without} of {len(part)} {of}" if without else None
            least = np.nan if without else float(np.maximum(-low, high).max())
            yield head | {"statistic": "judge_margin", "by": by, "estimate": least, "note": note}
            wanted = margin.get(head["label"], margin.get("*"))
            if by != "model" or wanted is None:
                continue
            verdict, row = nan, {"statistic": "judge_stands_in", "margin": wanted}
            if np.any((low > wanted) | (high < -wanted)):
                verdict, note = 0.0, None
            elif least <= wanted:
                verdict = 1.0
            why = "an interval contains the margin" if np.isnan(verdict) else None
            yield head | row | {"estimate": verdict, "note": note or why}
