"""Which annotators stand out? The results of notebook 15, for those who supervise annotators.

Each corpus and group is looked at on its own, since who is unusual depends on who the others are. Five indicators say
how an annotator differs (`INDICATORS`); those who differ more than the spread of the others allows are named by one
rule, whose rate of false alarms is chosen beforehand (`annotators.false_alarms`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.summary import with_means
from judgebook.execution.tasks import run
from judgebook.questions.annotators import consensus, indicators, outliers
from judgebook.questions.collection import costs
from judgebook.statistics.intervals import generator
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: indicator -> on which side annotators are unusual in a way that matters
INDICATORS = {"severity": "both", "disagreement": "high", "answers": "both", "speed": "low", "drift": "both"}
_CELL = ["corpus", "group"]


def analyse(
    annotations: Annotations,
    work_units: pd.DataFrame,
    labels: Sequence[Label],
    *,
    false_alarms: float,
    confidence: float,
    seed: int,
) -> Results:
    """All results of notebook 15.

    Parameters
    ----------
    annotations : DataFrame
        Of the evaluation itself, by people.

    Returns
    -------
    Results: `annotator_severity`, `annotator_agreement`, `annotator_answers`, `annotator_speed`, `annotator_drift`,
    `consensus_changed`, `consensus_rate`; `annotator_z`, the value of each indicator by which annotators are compared,
    with p-values.
    """
    people = annotations[(annotations["annotator_kind"] == "human") & annotations["annotator_known"]]
    by_key = {(x.method, x.id): x for x in labels}
    pieces, heads = [], []
    for (corpus, group), of_group in people.groupby(_CELL, sort=False):
        for method, rows in of_group.groupby("method", sort=False):
            heads.append({"corpus": corpus, "group": group, "method": method, "level": METHODS[method].unit})
            rng = generator(seed, "annotators", corpus, group, method)
            pieces.append((rows, by_key, confidence, rng))
    cells = run(_of_method, pieces, doing="annotators, method")
    rows = [head | row for head, (own_rows, _) in zip(heads, cells, strict=True) for row in own_rows]
    z = [(h, indicator, v) for h, (_, values) in zip(heads, cells, strict=True) for indicator, v in values.items()]
    timed = work_units[work_units["corpus"].isin(set(people["corpus"]))]
    times = costs.minutes(timed, people) if len(people) else timed.iloc[:0]
    for (corpus, group), of_group in times.groupby(_CELL, sort=False):
        speeds, values = indicators.speed(of_group[of_group["method"] != costs.COLLECTION], confidence)
        head = {"corpus": corpus, "group": group}
        rows += [head | row for row in speeds]
        z.append((head, "speed", values))
    return collect(rows, named(z, false_alarms))


def _of_method(
    rows: Annotations,
    labels: Mapping[tuple[str, str], Label],
    confidence: float,
    rng: np.random.Generator,
) -> tuple[list[dict[str, Any]], dict[str, pd.Series]]:
    """Rows and z values of one corpus, group and method."""
    z: dict[str, pd.Series] = {}
    of_indicators, z["answers"] = indicators.answers(rows, rng)
    turned, pairwise = indicators.oriented(rows), rows["dialogue_b"].notna().any()
    with_order = with_means(turned, labels.values())
    if len(with_order):
        agreements, z["disagreement"] = indicators.disagreement(with_order)
        of_indicators += agreements
    if len(with_order) and not pairwise:
        better = indicators.towards_better(with_order, labels)
        severities, z["severity"] = indicators.severity(better, confidence)
        drifts, z["drift"] = indicators.drift(better, confidence)
        of_indicators += severities + drifts
    for (method, label), of_label in turned.groupby(["method", "label"], sort=False):
        one = labels[method, label]
        if one.binary or one.level == "nominal" or pairwise:
            of_indicators += [{"label": label} | row for row in consensus.consensus(of_label, one)]
    return of_indicators, z


def named(z: Sequence[tuple[dict[str, Any], str, pd.Series]], false_alarms: float) -> Iterator[dict[str, Any]]:
    """`annotator_z` of every annotator and indicator, with p-values adjusted within the corpus and group.

    Parameters
    ----------
    z : (head, indicator, (annotators,) z values)
        head : corpus, group and, where there is one, method.
    false_alarms : float
        Annotators whose adjusted p-value is lower are named.

    Notes
    -----
    `outliers.esd` adjusts for the number of annotators, Bonferroni's factor for that of indicators and methods: if all
    annotators of a group come from one normal distribution, the chance that any of them is named is at most
    `false_alarms`.
    """
    tests: dict[tuple[str, str], list[tuple[dict[str, Any], str, pd.Series, np.ndarray]]] = {}
    for head, indicator, values in z:
        p = outliers.esd(values.to_numpy(float), INDICATORS[indicator])
        if np.isfinite(p).any():
            tests.setdefault((head["corpus"], head["group"]), []).append((head, indicator, values, p))
    for family in tests.values():
        for head, indicator, values, p in family:
            for name, value, one in zip(values.index, values, p, strict=True):
                if not np.isfinite(value):
                    continue
                row = {"statistic": "annotator_z", "indicator": indicator, "annotator": name, "estimate": value}
                row |= {"p_value": one, "p_adjusted": min(1.0, one * len(family)), "n_annotators": len(values)}
                yield head | row | {"family": f"annotators and {len(family)} indicators, bonferroni"}


def flagged(results: Results, false_alarms: float) -> pd.DataFrame:
    """The rows of `annotator_z` that name an annotator, most conspicuous first."""
    rows = results["annotator_z"]
    return rows[rows["p_adjusted"] < false_alarms].sort_values("p_adjusted", kind="stable")
