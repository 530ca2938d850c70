"""Do annotators agree? The results of notebook 03 as we would defend them; those as published are computed there.

Alpha, resampling dialogues, because turns of one dialogue are not independent; reported with prevalence and specific
agreement, because alpha of a rare label is low even where raw agreement is high. A comparison counts in both
orientations, as in the original files; resampling keeps the two together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.cells import cells
from judgebook.questions.agreement import gwet
from judgebook.questions.agreement.alpha import alpha_intervals, alpha_of
from judgebook.questions.agreement.coincidences import Patterns, patterns_long, with_sampling
from judgebook.questions.agreement.items import (
    cluster_unit,
    domain,
    first_annotations,
    item_weights,
    scale_values,
)
from judgebook.questions.agreement.kappa_icc import COEFFICIENTS, Ratings, kappas
from judgebook.questions.agreement.over_annotators import alpha_over_annotators, judgements
from judgebook.questions.agreement.population import SAMPLE, population, with_primary, without_others
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows, Results, collect
from judgebook.study.schema import Annotations

#: how intervals are resampled unless a study says otherwise
DEFAULT = Sampling(n_resamples=10_000, confidence=0.95, seed=1)


def analyse(
    annotations: Annotations,
    labels: Sequence[Label],
    *,
    sampling: Sampling,
    first: int | None,
    people_resamples: int,
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
    people_resamples : int
        Bootstrap resamples of the kappas of two people.
    unit : str, optional
        What the study wants resampled (`bootstrap.unit`).
    people : {"auto", "sample", "fixed"}
        `inference.annotators`. fixed: no interval is for other annotators; else from five effective annotators among
        those who judged items twice, as the interval does not hold with fewer.
    """
    others = alpha_over_annotators(annotations, labels, first=first, unit=unit, confidence=sampling.confidence)
    results = collect(
        alpha_table(annotations, labels, sampling=sampling, first=first, unit=unit),
        others["alpha"].assign(statistic="alpha"),
        kappas(annotations, labels, sampling=replace(sampling, n_resamples=people_resamples)),
    )
    return with_primary(without_others(results) if people == "fixed" else results)


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
        Columns of `schema.ANNOTATIONS`. Where `sampling_weight` differs, alpha, Gwet's coefficient and the measures
        behind them are weighted; kappas and intraclass correlations are not.
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
    positive_agreement, negative_agreement; those of
    `kappa_icc.COEFFICIENTS`. Where an interval or an estimate is missing, `note` says why.

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
    pick: np.random.Generator | None = None,
    kinds: Sequence[str] = ("human",),
    alone: bool = False,
) -> Results:
    """Agreement between two evaluator groups: one annotation by each of every item that both judged.

    pick : where a group judged an item more than once, one annotation is drawn from this generator; None: the first in
    source order. Pass annotations with one per item and group to use a pick of your own.

    Returns results as `alpha_table` (which see for the other arguments), with `group_b`, and `raters` of `one_each`.
    Raises ValueError unless both groups have annotations.
    """
    missing = sorted({group, group_b} - set(annotations["group"]))
    if missing or group == group_b:
        group_names = sorted(set(annotations["group"]))
        raise ValueError(f"group, group_b: expected two of {', '.join(group_names)}, found {group!r} and {group_b!r}")
    ours = annotations[annotations["group"].isin([group, group_b])]
    if pick is not None:
        ours = ours.iloc[pick.permutation(len(ours))].reset_index(drop=True).assign(source_row=np.arange(len(ours)))
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
            out += _gwet(frame, several, label, keys, unit, behind["raw_agreement"], names, sampling)
            alpha = alpha_of(item_patterns, label.level, mirrored=mirrored)
            out.append({"statistic": "observed_disagreement", **measurement, "estimate": alpha.observed})
            out.append({"statistic": "expected_disagreement", **measurement, "estimate": alpha.expected})
            ratings = Ratings(several, label)
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


def _gwet(
    frame: Annotations,
    several: Annotations,
    label: Label,
    keys: dict[str, str],
    unit: str,
    raw: Interval,
    names: tuple[str, ...],
    sampling: Sampling,
) -> Iterator[dict[str, Any]]:
    """Gwet's coefficient, for these annotators and, where they are a sample, for others."""
    level, values = METHODS[label.method].unit, scale_values(frame["score"], label)
    intervals = gwet.intervals(
        judgements(frame, values, "item" if unit == level else unit),
        values,
        label.level,
        raw,
        unit=unit,
        rng=sampling.stream(*names, "gwet"),
        mirrored=level == "pair",
        others=population(several) == SAMPLE,
        n_resamples=sampling.n_resamples,
        confidence=sampling.confidence,
    )
    weights = gwet.WEIGHTS["nominal" if len(values) == 2 else label.level]
    for over, interval in intervals.items():
        yield {"statistic": "ac", "weights": weights, **keys, "resample": over, **interval.row()}
