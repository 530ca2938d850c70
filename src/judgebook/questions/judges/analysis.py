"""Can a model judge in place of people? The results of notebook 13.

From the weakest question to the one that matters: Does the judge agree with one person as another person does
(`agreement`)? Would the rates of systems, their differences and their order be the same
(`replacement`)? Each is compared with what changes when one person replaces another, the least that any replacement can
be expected to change. The alternative annotator test is in `alternative_annotator`. Whether a judge may stand in is
decided by a margin; where it may not, it can still save human labels (`prediction_powered`).

Where no item has two judgements by people, these are taken as gold. Choices between two responses are in `choices`.

Everything resamples dialogues, as turns of one dialogue are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from judgebook.questions.judges import agreement, choices
from judgebook.questions.judges.agreement import against_gold, judge_alpha
from judgebook.questions.judges.alternative_annotator import winning_rates
from judgebook.questions.judges.items import JudgedItems, judged_items
from judgebook.questions.judges.prediction_powered import assisted
from judgebook.questions.judges.replacement import conclusions, decisions, orders, replacement
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
