"""The order in which all figures and tables of a study name its systems: that of the leader board."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgebook.annotations.scores import sampling_weights
from judgebook.annotations.summary import evaluated, evaluations
from judgebook.display.names import DisplayNames
from judgebook.questions.performance import davidson
from judgebook.questions.performance.analysis import chosen
from judgebook.questions.performance.overall import standardised
from judgebook.questions.performance.ranking import BLOCK, system_scores
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.study.params import Study
from judgebook.study.schema import Annotations
from judgebook.study.store import Run


def best_first(names: DisplayNames, run: Run) -> DisplayNames:
    """`names` with systems in the order of `by_score`: what a notebook shows."""
    return in_order(names, run.study, run.read("annotations"))


def in_order(names: DisplayNames, study: Study, annotations: Annotations) -> DisplayNames:
    """`names` with systems in the order of `by_score`; colours, and the order of analyses, stay as they are."""
    return names.in_order("system", by_score(study, annotations))


def by_score(study: Study, annotations: Annotations) -> list[str]:
    """Ids of the ranked systems from best to worst, as the first leader board of notebook 07 has them: by the overall
    mean of the main evaluation or, without one, by its first label with a direction.

    annotations : of the study, all or those of the evaluation. Empty where nothing orders systems.
    """
    everybody, labels = evaluated(annotations), study.label_list()
    people = of_those_who_passed(everybody, labels, study.control_system, study.quality_control)
    judged = chosen(people, study.unranked_systems, labels)
    judged = judged[~judged[["system", "system_b"]].isin(list(study.unranked_systems)).any(axis=1)]
    signs, wanted = {(x.method, x.id): x.direction for x in labels}, study.performance.overall
    for corpus, group, method in evaluations(everybody):
        part = judged[(judged[BLOCK] == [corpus, method, group]).all(axis=1)]
        signed = [(rows, signs.get((method, label), 0)) for label, rows in part.groupby("label", sort=False)]
        signed = [(rows, sign) for rows, sign in signed if sign]
        entering = [(rows, sign) for rows, sign in signed if wanted == "all" or rows["label"].iloc[0] in wanted]
        scores = list(_standardised(entering, {*part["system"], *part["system_b"].dropna()}))
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
        if one is not None and set(one["system"]) == systems and len(systems) > 1:
            yield _means(one)


def _scores(rows: Annotations, sign: int) -> pd.Series:
    """Strengths of systems that were compared, or win rates where these do not exist, and means of others; more is
    better."""
    if rows["system_b"].notna().all():
        strengths = davidson.point(rows, sampling_weights(rows))
        if strengths.notna().all():
            return sign * strengths
    return sign * _means(system_scores(rows))


def _means(scores: pd.DataFrame) -> pd.Series:
    totals = scores.assign(sum=scores["score"] * scores["weight"]).groupby("system")[["sum", "weight"]].sum()
    return totals["sum"] / totals["weight"]
