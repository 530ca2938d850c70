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

import pandas as pd

from judgebook.questions.judges import choices
from judgebook.questions.judges.agreement import detection, judge_alpha
from judgebook.questions.judges.alternative_annotator import winning_rates
from judgebook.questions.judges.assisted import assisted
from judgebook.questions.judges.items import LABEL, JudgedItems, judged_items
from judgebook.questions.judges.replacement import conclusions, decisions, replacement
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect


def analyse(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    seed: int,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
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
    labels, boot = list(labels), {"seed": seed, "n_resamples": n_resamples, "confidence": confidence}
    kernels = (compared, detection, judge_alpha, replacement)
    results = collect(
        r for items in judged_items(annotations, labels) for kernel in kernels for r in kernel(items, **boot)
    )
    for statistic in {"positive_agreement", "negative_agreement"} & set(results):
        rows = results[statistic]  # people compared with each other come once per judge
        repeated = rows["metric"].isna() & rows.duplicated([*LABEL, "against"])
        results[statistic] = rows[~repeated]
    tests = winning_rates(annotations, labels, cost=cost, min_items=min_items)
    results = collect(
        results, conclusions(results), chosen(annotations, labels, **boot), tests,
        assisted(annotations, labels, half_width=half_width, **boot),
    )  # fmt: skip
    return collect(results, decisions(results, margin))


def compared(items: JudgedItems, **_: object) -> Iterator[dict]:
    """`judge_items`, where items were left out because fewer people judged them (`items.judged_items`)."""
    if items.share < 1:
        yield items.head | items.sizes | {"statistic": "judge_items", "estimate": items.share}


def chosen(annotations: pd.DataFrame, labels: Iterable[Label], **boot) -> Results:
    """Of choices between two responses: agreement, position bias and the order of systems (`choices`)."""
    all_pairs = list(choices.judged_pairs(annotations, labels))
    kernels = (choices.agreement, choices.position_bias)
    return collect(
        [row for pairs in all_pairs for kernel in kernels for row in kernel(pairs, **boot)],
        [row for pairs in all_pairs for row in choices.orders(pairs)],
    )


def judge_titles(groups: dict, annotations: pd.DataFrame, titles: dict[str, str]) -> dict[str, str]:
    """Judge -> display name: that in `titles`, of the YAML's group that holds it alone, else its id."""
    judges = annotations.loc[annotations["annotator_kind"] != "human", "annotator"].unique()
    alone = {g.annotators[0]: g.title for g in groups.values() if len(g.annotators) == 1 and g.title}
    return {judge: (alone | titles).get(judge, judge) for judge in sorted(judges)}
