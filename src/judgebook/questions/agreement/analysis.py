"""Do annotators agree? The results of notebook 03 as we would defend them; those as published are computed there.

Alpha, resampling dialogues, because turns of one dialogue are not independent; reported with prevalence and specific
agreement, because alpha of a rare label is low even where raw agreement is high. A comparison counts in both
orientations, as in the original files; resampling keeps the two together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import cells
from judgebook.questions.agreement.alpha import Judgements, alpha_intervals, alpha_of, alpha_two_way, patterns_of
from judgebook.questions.agreement.coefficients import COEFFICIENTS, Ratings, kappas
from judgebook.questions.agreement.coincidences import Patterns, patterns_long, with_sampling
from judgebook.questions.agreement.items import (
    LEAST_EFFECTIVE,
    SAMPLE,
    TWO_WAY,
    UNKNOWN,
    cluster_unit,
    domain,
    effective_annotators,
    first_annotations,
    item_weights,
    judged,
    population,
    without_others,
)
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows, Results, collect, mark_primary
from judgebook.study.schema import Annotations

#: how intervals are resampled unless a study says otherwise
DEFAULT = Sampling(n_resamples=10_000, confidence=0.95, seed=1)


def analyse(
    annotations: Annotations,
    labels: Sequence[Label],
    *,
    sampling: Sampling,
    first: int | None,
    unit: str | None = None,
    people: str = "auto",
) -> Results:
    """What notebook 03 says of a study: alpha with its intervals, and the measures behind it.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`.
    labels : sequence of Label
    first : int or None
        Annotations used per item; None: all.
    unit : str, optional
        What the study wants resampled (`bootstrap.unit`).
    people : {"auto", "sample", "fixed"}
        `inference.annotators`. fixed: no interval is for other annotators; else from five effective annotators among
        those who judged items twice, as the interval does not hold with fewer.
    """
    results = collect(
        alpha_table(annotations, labels, sampling=sampling, first=first, unit=unit),
        alpha_over_annotators(annotations, labels, first=first, unit=unit, confidence=sampling.confidence),
        kappas(annotations, labels),
    )
    results = without_others(results) if people == "fixed" else results
    return mark_primary(results, alpha=judged(results))


def alpha_table(
    annotations: Annotations,
    labels: Iterable[Label],
    *,
    sampling: Sampling = DEFAULT,
    first: int | None = 2,
    kinds: Sequence[str] = ("human",),
    alone: bool = False,
    unit: str | None = None,
) -> Results:
    """Agreement within each corpus, evaluator group, method and label.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`. Where `sampling_weight` differs, alpha, the measures behind it and Gwet's
        coefficient are weighted; kappas and intraclass correlations are not.
    labels : iterable of Label
        Gives each label its level of measurement.
    first : int or None
        Annotations used per item, in source order; None: all.
    kinds : sequence of str
        Kinds of annotators that enter: human, llm, classifier.
    alone : bool
        Alpha without the other measures, in a fraction of the time.
    unit : str, optional
        Resampled in place of dialogues and pairs: session or context; turn: items.

    Returns
    -------
    Results: alpha, observed_disagreement, expected_disagreement, raw_agreement; for labels of two values prevalence,
    positive_agreement, negative_agreement; those of `coefficients.COEFFICIENTS`. Where an interval or an estimate is
    missing, `note` says why.

    References
    ----------
    Finch, Finch and Choi 2023, Figure 1; Finch, Finch and Choi 2024, Table 3.
    """
    chosen = first_annotations(annotations, first=first, kinds=kinds)
    keys = {"raters": "all" if first is None else f"first{first}", "kind": "+".join(kinds)}
    return collect(
        {**cell, **row}
        for cell, label, frame in cells(chosen, labels)
        for row in _rows(frame, label, keys, cluster_unit(frame, label, unit), (*cell.values(),), sampling, alone)
    )


def alpha_between(
    annotations: Annotations,
    labels: Iterable[Label],
    group: str,
    group_b: str,
    *,
    sampling: Sampling = DEFAULT,
    kinds: Sequence[str] = ("human",),
    alone: bool = False,
) -> Results:
    """Agreement between two evaluator groups: one annotation by each of every item that both judged.

    Where a group judged an item more than once, the first annotation in source order counts. Pass annotations with one
    per item and group to use a pick of your own.

    Returns results as `alpha_table` (which see for the other arguments), with `group_b`, and `raters` of `one_each`.
    Raises ValueError unless both groups have annotations.
    """
    missing = sorted({group, group_b} - set(annotations["group"]))
    if missing or group == group_b:
        group_names = sorted(set(annotations["group"]))
        raise ValueError(f"group, group_b: expected two of {', '.join(group_names)}, found {group!r} and {group_b!r}")
    ours = annotations[annotations["group"].isin([group, group_b])]
    chosen = first_annotations(ours, first=1, kinds=kinds)
    chosen = chosen.assign(position=(chosen["group"] == group_b).astype(int), group=group)
    keys = {"raters": "one_each", "kind": "+".join(kinds)}
    return collect(
        {**cell, "group_b": group_b, **row}
        for cell, label, frame in cells(chosen, labels)
        for row in _rows(frame, label, keys, cluster_unit(frame, label), (*cell.values(), group_b), sampling, alone)
    )


def plain_alphas(annotations: Annotations, labels: Iterable[Label], *, first: int | None = None) -> ResultRows:
    """Alpha without intervals, equal to that of `alpha_table`: one row per corpus, group, method and label judged
    twice.

    first : annotations by people used per item; None: all.
    """
    chosen = first_annotations(annotations, first=first)
    rows = []
    for cell, label, frame in cells(chosen[chosen.duplicated(["item", "group"], keep=False)], labels):
        unit = METHODS[label.method].unit
        mirrored = unit == "pair"
        values = domain(frame["score"], label) if mirrored else None
        item = pd.factorize(frame["item"])[0]
        item_patterns = patterns_long(item, frame["score"].to_numpy(), int(item.max()) + 1, values)
        alpha = alpha_of(with_sampling(item_patterns, item_weights(frame)), label.level, mirrored=mirrored)
        keys = {"measurement": label.level, "raters": f"first{first}" if first else "all", "kind": "human"}
        rows.append(
            {"statistic": "alpha", **cell, "level": unit, **keys, "estimate": alpha.estimate, "n": alpha.n_items}
        )
    return collect(rows)["alpha"]


def _rows(
    frame: Annotations,
    label: Label,
    keys: dict[str, str],
    unit: str,
    names: tuple[str, ...],
    sampling: Sampling,
    alone: bool,
) -> list[dict[str, Any]]:
    """Rows of one label. frame : its annotations, from `first_annotations`; names : what its streams are called."""
    level = METHODS[label.method].unit
    mirrored = level == "pair"
    item = pd.factorize(frame["item"])[0]
    item_patterns = patterns_long(item, frame["score"].to_numpy(), int(item.max()) + 1, domain(frame["score"], label))
    item_patterns = with_sampling(item_patterns, item_weights(frame))
    by_item = frame.groupby(pd.Series(item, frame.index))
    several = frame[item_patterns.index[item] >= 0]
    behind = alpha_intervals(
        item_patterns,
        label.level,
        unit=unit,
        rng=sampling.stream(*names, unit),
        clusters=None if unit == level else by_item[unit].first().to_numpy(),
        mirrored=mirrored,
        n_resamples=sampling.n_resamples,
        confidence=sampling.confidence,
        expanded=unit != "turn",  # over turns as published
    )
    measurement = {"measurement": label.level, **keys}
    out: list[dict[str, Any]] = [{"statistic": "alpha", **measurement, "resample": unit, **behind["alpha"].row()}]
    if not alone:
        measures = [m for m in behind if m != "alpha" and (label.binary or m == "raw_agreement")]
        out += [{"statistic": m, **keys, **behind[m].row()} for m in measures]
        if item_patterns.n_items:
            alpha = alpha_of(item_patterns, label.level, mirrored=mirrored)
            out.append({"statistic": "observed_disagreement", **measurement, "estimate": alpha.observed})
            out.append({"statistic": "expected_disagreement", **measurement, "estimate": alpha.expected})
            ratings = Ratings(frame, label)
            out += [{"statistic": c.statistic, **keys, **row} for c in COEFFICIENTS for row in c.rows(ratings)]
            if mirrored:
                stored = alpha_of(_as_stored(item, frame), label.level)
                out.append({"statistic": "alpha", **measurement, "orientation": "stored", "estimate": stored.estimate})
    n_annotators = several["annotator"].nunique()
    common = {"level": level, "n": item_patterns.n_items, "n_annotators": n_annotators, "seed": sampling.seed}
    return [common | row for row in out]


def _as_stored(item: np.ndarray, frame: Annotations) -> Patterns:
    """Comparisons each in one orientation, that in which the pair is met first, as other software takes them."""
    turned = frame.groupby("item")["turned"].transform("first")
    item_patterns = patterns_long(item, frame["score"].where(~turned, -frame["score"]).to_numpy(), int(item.max()) + 1)
    return with_sampling(item_patterns, item_weights(frame))


def alpha_over_annotators(
    annotations: Annotations,
    labels: Iterable[Label],
    *,
    first: int | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
) -> Results:
    """Alpha with intervals for other dialogues and other annotators, of labels whose annotators are all known.

    first, unit : as for `alpha_table`, whose estimate this is. `resample` is `dialogue and annotator` (or `pair and
    annotator`, `context and annotator`). With fewer than five effective annotators (`population`) there is no interval,
    and the note says how many there are.
    """
    rows = []
    for cell, label, frame in cells(first_annotations(annotations, first=first), labels):
        several = frame[frame.groupby("item")["item"].transform("size") >= 2]
        if several.empty or population(several) == UNKNOWN:
            continue
        over = cluster_unit(frame, label, unit)
        row: dict[str, Any] = {"statistic": "alpha", **cell, "level": METHODS[label.method].unit}
        row |= {"measurement": label.level, "raters": f"first{first}" if first else "all", "kind": "human"}
        row |= {"n": several["item"].nunique(), "n_annotators": several["annotator"].nunique()}
        rows.append(row | {"resample": f"{over}{TWO_WAY}"} | _over_annotators(several, label, over, confidence).row())
    return collect(rows)


def _over_annotators(frame: Annotations, label: Label, unit: str, confidence: float) -> Interval:
    """frame : annotations of items judged twice, by known people."""
    possible, level = domain(frame["score"], label), METHODS[label.method].unit
    values = np.unique(frame["score"] if possible is None else possible).astype(float)
    columns = "item", "annotator", "item" if unit == level else unit
    item, annotator, cluster = (pd.factorize(frame[column])[0] for column in columns)
    weights = item_weights(frame)
    codes = np.searchsorted(values, frame["score"])
    rows = Judgements(item, annotator, cluster, codes, None if weights is None else weights[item])
    if population(frame) == SAMPLE:
        how: dict[str, Any] = {"unit": unit, "mirrored": level == "pair", "confidence": confidence}
        return alpha_two_way(rows, values, label.level, **how)
    estimate = alpha_of(patterns_of(rows, values), label.level, mirrored=level == "pair").estimate
    few = f"{effective_annotators(frame):.1f} effective annotators, of {LEAST_EFFECTIVE} needed"
    return Interval(estimate, np.nan, np.nan, "not_estimable", f"{unit}{TWO_WAY}", len(np.unique(cluster)), note=few)
