"""In which order systems stand, in every notebook, and how parts of a study are named."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgebook.annotations.scores import sampling_weights, sides, weighted
from judgebook.annotations.summary import evaluated, evaluations
from judgebook.codes import distinct
from judgebook.codes import rows as rows_of
from judgebook.display.names import DisplayNames
from judgebook.questions.performance import analysis, leading
from judgebook.questions.performance.analysis import chosen
from judgebook.questions.performance.fitted import BLOCK, standardised
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.study.labels import METHODS
from judgebook.study.params import Study
from judgebook.study.results import Results
from judgebook.study.schema import Annotations
from judgebook.study.store import Run

NO_RESULTS = Results()


def part_names(rows: pd.DataFrame, names: DisplayNames) -> pd.Series:
    """What distinguishes the parts of one figure: the corpus and the group, whichever differ."""
    group = pd.Series([names.name("group", g) for g in rows["group"]], index=rows.index, dtype=object)
    if len(set(rows["corpus"])) == 1:
        return group
    corpus = pd.Series([names.name("corpus", c) for c in rows["corpus"]], index=rows.index, dtype=object)
    return corpus + ", " + group if len(set(rows["group"])) > 1 else corpus


def best_first(names: DisplayNames, run: Run) -> DisplayNames:
    """`names` with systems in the order of `by_score`: what a notebook shows."""
    return in_order(names, run.study, run.read("annotations"))


def in_order(
    names: DisplayNames, study: Study, annotations: Annotations, results: Results = NO_RESULTS
) -> DisplayNames:
    """`names` with systems in the order of the fit in `results` of notebook 07, of `by_score` where it has none;
    colours, and the order of analyses, stay as they are."""
    return names.in_order("system", by_fit(results, annotations) or by_score(study, annotations))


def by_fit(results: Results, annotations: Annotations) -> list[str]:
    """Ids of the ranked systems from best to worst as the first leader board has them: by the overall order of the main
    evaluation, by its only label or, without either, by its first label with a direction. Empty without a fit."""
    if not results:
        return []
    parts = evaluations(evaluated(annotations))
    rows = leading.order(results, parts)
    rows = rows if len(rows) else leading.rankings(results, parts)
    first = rows.groupby([*leading.PART, "label"], sort=False, dropna=False).ngroup() == 0
    return list(rows.loc[first, "system"])


def by_score(study: Study, annotations: Annotations) -> list[str]:
    """Ids of the ranked systems from best to worst, by plain means, for notebooks that are drawn before there is a fit,
    which takes too long to be made in each: by the overall mean of the main evaluation or, without one, by its first
    label with a direction.

    annotations : of the study, all or those of the evaluation. Empty where nothing orders systems.
    """
    everybody, labels = evaluated(annotations), study.label_list()
    people = of_those_who_passed(everybody, labels, study.control_system, study.quality_control)
    judged = chosen(people, study.unranked_systems, labels)
    judged = rows_of(judged, ~judged[["system", "system_b"]].isin(list(study.unranked_systems)).any(axis=1))
    signs, wanted = {(x.method, x.id): x.direction for x in labels}, study.performance.overall
    for corpus, group, method in evaluations(everybody):
        part = judged[(judged[BLOCK] == [corpus, method, group]).all(axis=1)]
        signed = [(rows, signs.get((method, label), 0)) for label, rows in part.groupby("label", sort=False)]
        signed = [(rows, sign) for rows, sign in signed if sign]
        entering = [(rows, sign) for rows, sign in signed if wanted == "all" or rows["label"].iloc[0] in wanted]
        scores = list(_standardised(entering, distinct(part["system"], part["system_b"])))
        if len(scores) < 2:
            scores = [s for s in (_scores(*one) for one in signed) if len(s) > 1][:1]
        if scores:
            means = pd.concat(scores, axis=1).mean(axis=1).sort_index()
            return list(means.index[np.argsort(-means.to_numpy(), kind="stable")])
    return []


def _standardised(signed: list[tuple[Annotations, int]], systems: set[str]) -> Iterator[pd.Series]:
    """Means of each label that varies and has all systems, at least two, in standard deviations of its items."""
    for rows, sign in signed:
        one = standardised(system_scores(rows), sign)
        if one is not None and distinct(one["system"]) == systems and len(systems) > 1:
            yield _means(one)


def _scores(rows: Annotations, sign: int) -> pd.Series:
    """Strengths of systems that were compared, or win rates where these do not exist, and means of others; more is
    better."""
    if rows["system_b"].notna().all():
        strengths = analysis.point(rows, sampling_weights(rows))
        if strengths.notna().all():
            return sign * strengths
    return sign * _means(system_scores(rows))


def system_scores(rows: Annotations) -> pd.DataFrame:
    """A row per annotation and judged system, with `weight`; a comparison gives two, ties worth a half."""
    if METHODS[rows["method"].iloc[0]].unit != "pair":
        return weighted(rows)
    either_side = weighted(sides(rows))
    return either_side.assign(score=(either_side["score"] + 1) / 2)


def _means(scores: pd.DataFrame) -> pd.Series:
    totals = scores.assign(sum=scores["score"] * scores["weight"]).groupby("system")[["sum", "weight"]].sum()
    return totals["sum"] / totals["weight"]
