"""Alpha with annotators as a sample: its interval for other annotators, and its range when one is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import cells
from judgebook.questions.agreement.alpha import alpha_of, alpha_two_way, patterns_of
from judgebook.questions.agreement.coincidences import patterns_long, with_sampling
from judgebook.questions.agreement.items import cluster_unit, domain, first_annotations, item_weights
from judgebook.questions.agreement.population import (
    LEAST_EFFECTIVE,
    SAMPLE,
    TWO_WAY,
    UNKNOWN,
    effective_annotators,
    population,
)
from judgebook.questions.agreement.two_way import Judgements
from judgebook.statistics.intervals import Interval
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: what `resample` says of the range of alpha without any one annotator
ONE_OUT = "without one annotator"


def alpha_over_annotators(
    annotations: Annotations,
    labels: Iterable[Label],
    *,
    first: int | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
    kinds: Sequence[str] = ("human",),
) -> Results:
    """How alpha depends on who the annotators are, where all annotators of a label are known.

    first, unit : as for `analysis.alpha_table`, whose estimate this is.

    Returns two rows of alpha per corpus, group, method and label, distinguished by `resample`. `dialogue and annotator`
    (or `pair and annotator`, `context and annotator`): an interval for other dialogues and other annotators, from five
    effective annotators (`population`); with fewer, the note says how many there are. `without one annotator`: the
    range of alpha when any one person is left out (`ci_kind` is `range`).
    """
    return collect(_rows(first_annotations(annotations, first=first, kinds=kinds), labels, first, unit, confidence))


def _rows(
    chosen: Annotations, labels: Iterable[Label], first: int | None, unit: str | None, confidence: float
) -> Iterator[dict[str, Any]]:
    for cell, label, frame in cells(chosen, labels):
        several = frame[frame.groupby("item")["item"].transform("size") >= 2]
        if several.empty or population(several) == UNKNOWN:
            continue
        row: dict[str, Any] = {"statistic": "alpha", **cell, "level": METHODS[label.method].unit}
        row |= {"measurement": label.level, "raters": f"first{first}" if first else "all", "kind": "human"}
        row |= {"n": several["item"].nunique(), "n_annotators": several["annotator"].nunique()}
        over = cluster_unit(frame, label, unit)
        two_way, one_out = two_way_interval(several, label, over, confidence), _without_one(several, label)
        yield row | {"resample": f"{over}{TWO_WAY}"} | two_way.row()
        yield row | {"resample": ONE_OUT} | one_out.row() | {"estimate": two_way.estimate}


def two_way_interval(frame: Annotations, label: Label, unit: str, confidence: float) -> Interval:
    """The interval of alpha for other annotators. frame : of items judged twice, by known people."""
    scale_values = domain(frame["score"], label)
    values = np.unique(frame["score"] if scale_values is None else scale_values).astype(float)
    judged = judgements(frame, values, unit if unit != METHODS[label.method].unit else "item")
    mirrored = METHODS[label.method].unit == "pair"
    if population(frame) != SAMPLE:
        estimate = alpha_of(patterns_of(judged, values), label.level, mirrored=mirrored).estimate
        n, note = len(np.unique(judged.cluster)), few_annotators(frame)
        return Interval(estimate, np.nan, np.nan, "not_estimable", f"{unit}{TWO_WAY}", n, note=note)
    return alpha_two_way(judged, values, label.level, unit=unit, mirrored=mirrored, confidence=confidence)


def few_annotators(frame: Annotations) -> str:
    """Why nothing is said of other annotators."""
    return f"{effective_annotators(frame):.1f} effective annotators, of {LEAST_EFFECTIVE} needed"


def judgements(frame: Annotations, values: np.ndarray, cluster: str) -> Judgements:
    """One row per judgement in codes. values : of scores, ascending; cluster : the column of what is resampled."""
    item, annotator, cluster_of = (pd.factorize(frame[column])[0] for column in ("item", "annotator", cluster))
    weights = item_weights(frame)
    weight = None if weights is None else weights[item]
    return Judgements(item, annotator, cluster_of, np.searchsorted(values, frame["score"]), weight)


def _without_one(frame: Annotations, label: Label) -> Interval:
    """Smallest and largest alpha without any one annotator."""
    # one row per judgement: with many annotators the matrix is nearly empty, and slow to go through for each
    item, annotator = pd.factorize(frame["item"])[0], pd.factorize(frame["annotator"])[0]
    score, possible = frame["score"].to_numpy(), domain(frame["score"], label)
    values = np.unique(score) if possible is None else possible
    mirrored, n = METHODS[label.method].unit == "pair", int(item.max()) + 1
    rest = [
        patterns_long(item[others], score[others], n, values) for others in annotator != np.unique(annotator)[:, None]
    ]
    weights = item_weights(frame)
    without = [alpha_of(with_sampling(one, weights), label.level, mirrored=mirrored) for one in rest]
    estimates = np.array([a.estimate for a in without])
    if np.isnan(estimates).all():
        note = "no two people are left when one is left out"
        return Interval(np.nan, np.nan, np.nan, "not_estimable", ONE_OUT, 0, note=note)
    low, high, undefined = float(np.nanmin(estimates)), float(np.nanmax(estimates)), int(np.isnan(estimates).sum())
    note = f"smallest and largest of {len(estimates)}, from {min(a.n_items for a in without)} items or more"
    return Interval(np.nan, low, high, "range", ONE_OUT, len(estimates), undefined, note=note)
