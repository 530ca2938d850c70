"""Can a model judge in place of people? The results of notebook 13.

From the weakest question to the one that matters: Does the judge mark what people mark, and agree with one person as
another person does (`agreement`)? Would the rates of systems, their differences and their order be the same
(`replacement`)? Each is compared with what changes when one person replaces another, the least that any replacement can
be expected to change. The alternative annotator test is in `alternative_annotator`. Whether a judge may stand in is
decided by a margin; where it may not, it can still save human labels (`assisted`).

Everything resamples dialogues, as turns of one dialogue are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from judgebook.questions.judges import choices
from judgebook.questions.judges.agreement import detection, judge_alpha
from judgebook.questions.judges.alternative_annotator import winning_rates
from judgebook.questions.judges.assisted import assisted
from judgebook.questions.judges.items import LABEL, JudgedItems, judged_items
from judgebook.questions.judges.replacement import conclusions, decisions, replacement
from judgebook.statistics.intervals import Sampling
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
    half_width: Mapping[str, float] = MappingProxyType({}),
) -> Results:
    """All results of notebook 13, for every label and judge with items that the judge and at least two people judged
    (`assisted`: one person).

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`.
    labels : iterable of Label
    cost, min_items
        Of the alternative annotator test, see `alternative_annotator.left_out`.
    margin
        See `replacement.decisions`.
    half_width
        See `assisted.assisted`.
    """
    labels = list(labels)
    results = collect(row for items in judged_items(annotations, labels) for row in of_items(items, sampling))
    for statistic in {"positive_agreement", "negative_agreement"} & set(results):
        rows = results[statistic]  # people compared with each other come once per judge
        repeated = rows["metric"].isna() & rows.duplicated([*LABEL, "against"])
        results[statistic] = rows[~repeated]
    tests = winning_rates(annotations, labels, cost=cost, min_items=min_items)
    results = collect(
        results,
        conclusions(results),
        of_choices(annotations, labels, sampling),
        tests,
        assisted(annotations, labels, sampling=sampling, half_width=half_width),
    )
    return collect(results, decisions(results, margin))


def of_items(items: JudgedItems, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Rows of one label and judge: `judge_items`, where items were left out because fewer people judged them
    (`items.judged_items`), detection, alphas, and systems' rates."""
    if items.share < 1:
        yield items.head | items.sizes | {"statistic": "judge_items", "estimate": items.share}
    yield from detection(items, sampling=sampling)
    yield from judge_alpha(items, sampling=sampling)
    yield from replacement(items, sampling=sampling)


def of_choices(annotations: Annotations, labels: Iterable[Label], sampling: Sampling) -> Results:
    """Of choices between two responses: agreement, position bias and the order of systems (`choices`)."""
    rows: list[dict[str, Any]] = []
    orders: list[dict[str, Any]] = []
    for pairs in choices.judged_pairs(annotations, labels):
        rows += choices.agreement(pairs, sampling=sampling)
        rows += choices.position_bias(pairs, sampling=sampling)
        orders += choices.orders(pairs)
    return collect(rows, orders)


def judge_titles(groups: Mapping[str, Group], annotations: Annotations, titles: dict[str, str]) -> dict[str, str]:
    """Judge -> display name: that in `titles`, of the YAML's group that holds it alone, else its id."""
    judges = annotations.loc[annotations["annotator_kind"] != "human", "annotator"].unique()
    alone = {g.annotators[0]: g.title for g in groups.values() if len(g.annotators) == 1 and g.title}
    return {judge: (alone | titles).get(judge, judge) for judge in sorted(judges)}
