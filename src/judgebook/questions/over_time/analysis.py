"""What has changed over time? The results of notebook 18.

Means of systems in each period, who and what there was, and which changes of systems and annotators from one period to
the next are more than chance. Means change with the systems, with those who judge, and with the items;
changes of systems are therefore told by annotators who judged in both periods (`changes`).

References
----------
Dunn 1961, Multiple comparisons among means, Journal of the American Statistical Association 56, 52-64 (Bonferroni's
inequality, over all changes that might be named in a corpus and group).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations import population
from judgebook.annotations.cells import cells, within_scale
from judgebook.annotations.periods import in_order, periods
from judgebook.questions.over_time.changes import Boundary
from judgebook.questions.over_time.question import OverTime
from judgebook.questions.performance import rates
from judgebook.questions.performance.analysis import by_unit, chosen, interval_unit, ranking_unit
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows, Results, collect
from judgebook.study.schema import SYSTEM_CELL, Annotations

_PLACE = ["corpus", "group"]


def analyse(
    annotations: Annotations,
    labels: Sequence[Label],
    options: OverTime,
    unranked: Collection[str] = (),
    *,
    inference: str = "auto",
    sampling: Sampling,
) -> Results:
    """All results of notebook 18.

    annotations : of the evaluation itself. unranked : systems that are not ranked. inference : of `populations`.

    Returns `Results`: `period_mean`, `period_count`, and from each period to the next `annotator_change`,
    `system_change` (p-values adjusted within the corpus and group) and `unseparated`.
    """
    judged = chosen(annotations, unranked, labels)
    judged = judged.assign(period=periods(judged, options.every or "week"))
    judged = judged[judged["period"].notna()]
    rated = judged[judged["dialogue_b"].isna()]
    order = {place: in_order(part["period"]) for place, part in judged.groupby(_PLACE, sort=False)}
    return collect(
        means(judged, labels, inference=inference, sampling=sampling),
        (row for place, part in judged.groupby(_PLACE, sort=False) for row in composition(part, order[place])),
        (row for place, part in rated.groupby(_PLACE, sort=False) for row in
         changes(part, labels, order[place], options, sampling.confidence)),
    )  # fmt: skip


def means(
    judged: Annotations, labels: Iterable[Label], *, inference: str, sampling: Sampling
) -> ResultRows | Iterator[dict[str, Any]]:
    """`period_mean` of every system, for the population of annotators that notebook 07 has; of comparisons the share
    won."""
    declared = population.declared(judged, population.populations(judged, inference))
    key, pieces = [*SYSTEM_CELL, "period"], []
    for unit, part in by_unit(declared, None):
        for period, rows in part.groupby("period", sort=False):
            wide = rates.with_annotators(rows, unit=unit, confidence=sampling.confidence)
            narrow = rates.clustered(rows, unit=unit, sampling=sampling)
            pieces += [made.assign(period=period) for made in (wide, narrow) if len(made)]
    if not pieces:
        return iter(())
    both = pd.concat(pieces, ignore_index=True)
    both = both[both["statistic"].isin(["rate", "mean"]) | (both["outcome"] == "win")].drop_duplicates(key)
    return within_scale(both, labels).assign(statistic="period_mean").drop(columns=["interval", "outcome"])


def composition(judged: Annotations, order: Sequence[str]) -> Iterator[dict[str, Any]]:
    """`period_count` of one corpus and group: judgements, items, systems and annotators, and how many of the latter two
    are new since the period before, or gone."""
    head = {**dict(zip(_PLACE, judged[_PLACE].iloc[0], strict=True)), "statistic": "period_count"}
    before: dict[str, set[str]] = {}
    for period in order:
        rows = judged[judged["period"] == period]
        members = {"systems": {*rows["system"], *rows["system_b"].dropna()}}
        if rows["annotator_known"].all():
            members["annotators"] = set(rows["annotator"])
        counts = {"judgements": len(rows), "items": len(rows[["dialogue", "dialogue_b"]].drop_duplicates())}
        counts |= {what: len(names) for what, names in members.items()}
        for what in (what for what in members if what in before):
            counts |= {
                f"{what} new": len(members[what] - before[what]),
                f"{what} gone": len(before[what] - members[what]),
            }
        yield from ({**head, "period": period, "what": what, "estimate": n} for what, n in counts.items())
        before = members


def changes(
    rated: Annotations, labels: Sequence[Label], order: Sequence[str], options: OverTime, confidence: float
) -> Iterator[dict[str, Any]]:
    """`annotator_change`, `system_change` and `unseparated` of one corpus and group."""
    at: list[tuple[Mapping[str, Any], Boundary]] = []
    for cell, label, rows in cells(rated, labels):
        scores = rows[rows["annotator_known"]]
        unit = ranking_unit(scores)  # what systems share, else what holds several dialogues of one, else the dialogue
        unit = interval_unit(scores) if unit in ("dialogue", "pair") else unit
        scores = scores.assign(unit=scores[unit])
        for before, period in pairwise(order):
            part = scores[scores["period"].isin([before, period])]
            if rows.loc[rows["period"].isin([before, period]), "period"].nunique() == 2:
                head = {**cell, "level": METHODS[label.method].unit, "before": before, "period": period}
                late = part.assign(late=part["period"] == period)
                at.append((head, Boundary(late, options.min_items, identified=len(scores) == len(rows))))
    m = sum(boundary.n_tests for _, boundary in at)
    for of_boundary, boundary in at:
        boundary.test(options.false_alarms / max(m, 1))
        yield from _rows(of_boundary, boundary, m, confidence)


def _rows(head: Mapping[str, Any], boundary: Boundary, m: int, confidence: float) -> Iterator[dict[str, Any]]:
    family = {"family": f"{m} changes that might be named, bonferroni"}
    for kind, tested in (("annotator", boundary.annotators), ("system", boundary.systems)):
        for name, contrast in tested.items():
            row = contrast.row(confidence)
            if np.isfinite(p := row["p_value"]):
                row |= {"p_adjusted": min(1.0, m * p), "n_annotators": len(boundary.common), "resample_unit": "item"}
                yield {"statistic": f"{kind}_change", **head, kind: name, **row, **family}
    if boundary.why:
        yield {"statistic": "unseparated", **head, "estimate": len(boundary.common), "note": boundary.why}
