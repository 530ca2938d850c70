"""Alpha within an evaluator group, between two groups, and between two groups under other picks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from judgebook.questions.agreement import analysis as agreement
from judgebook.questions.agreement.coincidences import terms
from judgebook.questions.agreement.items import first_annotations, matrix
from judgebook.questions.groups.effects import KEY
from judgebook.questions.groups.pick_ranges import value_range
from judgebook.statistics.intervals import Sampling, generator
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations


def alpha_within(annotations: Annotations, labels: Sequence[Label], sampling: Sampling) -> Results:
    """Alpha of the first two annotations per item within each group (Finch et al. 2024, Table 3), where an item was
    judged twice."""
    alphas = agreement.alpha_table(annotations, labels, sampling=sampling, first=2, alone=True)["alpha"]
    return Results(alpha=alphas[alphas["n"] > 0])


def alpha_between(picked: Annotations, labels: Sequence[Label], sampling: Sampling) -> Results:
    """Alpha between each pair of groups, models included, on the items that both judged.

    picked : one annotation per item and group.
    """
    parts = []
    for a, b in combinations(sorted(picked["group"].unique()), 2):
        of_pair = picked[picked["group"].isin([a, b])]
        kinds = sorted(of_pair["annotator_kind"].unique())
        parts.append(agreement.alpha_between(of_pair, labels, a, b, sampling=sampling, kinds=kinds, alone=True))
    alphas = collect(*parts)["alpha"]
    return Results(alpha=alphas[alphas["n"] > 0])


def alpha_ranges(
    annotations: Annotations, labels: Sequence[Label], group: str, group_b: str, *, seed: int, n_picks: int = 1_000
) -> Iterator[dict[str, Any]]:
    """Mean and range over picks of alpha between two groups, one annotation of each: rows of `alpha`.

    annotations : **all** annotations. Labels of which no item was judged by people of both groups are left out.
    """
    by_key = {(x.method, x.id): x for x in labels}
    of_pair = first_annotations(annotations[annotations["group"].isin([group, group_b])], first=None)
    for key, rows in of_pair.groupby(KEY, sort=False):
        wide = [matrix(rows[rows["group"] == g]) for g in (group, group_b)]
        shared, label = wide[0].index.intersection(wide[1].index), by_key[key[1:]]
        if shared.empty:
            continue
        rng = generator(seed, "alpha_over_picks", *key, group, group_b)
        values = _alphas([w.loc[shared].to_numpy() for w in wide], label, rng, n_picks)
        head = dict(zip(KEY, key, strict=True)) | {"statistic": "alpha", "level": METHODS[label.method].unit}
        head |= {"group": group, "group_b": group_b, "n": len(shared), "measurement": label.level}
        keys = {"raters": "one_each", "kind": "human", "over": "picks"}
        yield head | keys | value_range(values, "all values are equal")


def _alphas(values: list[np.ndarray], label: Label, rng: np.random.Generator, n: int) -> np.ndarray:
    """Alpha of n picks. values : for each of two groups (items, annotations), NaN behind the last annotation."""
    mirrored = METHODS[label.method].unit == "pair"
    distinct = np.unique(np.concatenate([v[np.isfinite(v)] for v in values]))
    kinds = np.unique(np.r_[distinct, -distinct]) if mirrored else distinct
    v, code = len(kinds), np.zeros((n, len(values[0])), dtype=int)
    for judged in values:
        m = np.isfinite(judged).sum(axis=1)
        chosen = np.floor(rng.random((n, len(judged))) * m).astype(int)
        code = code * v + np.searchsorted(kinds, judged[np.arange(len(judged)), chosen])
    weights = np.stack([np.bincount(row, minlength=v * v) for row in code])
    one = np.eye(v, dtype=int)
    t = terms((one[:, None] + one[None]).reshape(-1, v), kinds, label.level, mirrored=mirrored)
    with np.errstate(divide="ignore", invalid="ignore"):
        return t.measures(weights @ t.rows)["alpha"]
