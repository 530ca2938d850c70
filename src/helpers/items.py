"""Judgements by the item that they are of: what notebooks select from, in plain pandas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import one_side
from judgebook.statistics.intervals import generator

#: a label as one group of people judged it
CELL = ["corpus", "group", "method", "label"]


def by_people(judgements: pd.DataFrame) -> pd.DataFrame:
    """Judgements by people in the order of their source, with `item`: the turn, dialogue or pair judged on a label.

    judgements : `study.annotations()`, a row each. A comparison is the same item from either side: where the second
    dialogue comes first in the alphabet, sides are exchanged and the score is negated. Of several judgements of an item
    by one known person, the first counts.
    """
    rows = judgements[judgements["annotator_kind"] == "human"].sort_values("source_row", kind="stable")
    turned = rows["dialogue_b"].notna() & (rows["dialogue_b"] < rows["dialogue"]).fillna(False).astype(bool)
    sides = rows["dialogue"].where(~turned, rows["dialogue_b"]), rows["dialogue_b"].where(~turned, rows["dialogue"])
    rows = rows.assign(dialogue=sides[0], dialogue_b=sides[1], score=rows["score"].where(~turned, -rows["score"]))
    about = ["corpus", "method", "label", "dialogue", "turn", "dialogue_b"]
    rows["item"] = rows.groupby(about, dropna=False, sort=False).ngroup()
    again = rows["annotator_known"] & rows.duplicated(["item", "group", "annotator"])
    return rows[~again].reset_index(drop=True)


def one_each(judgements: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One random judgement of each item by a group, as the papers take; comparisons of two dialogues from one side.

    judgements : `study.annotations()`, a row each. Each judgement of an item is as likely as any other. Whoever is
    chosen for one item of a dialogue (or pair) and method is chosen for all of it that they judged.
    """
    about = ["group", "corpus", "method", "label", "dialogue", "turn", "dialogue_b"]
    a, b = judgements["dialogue"], judgements["dialogue_b"]
    turned = b.notna() & (b < a).fillna(False).astype(bool)
    rows = judgements.assign(dialogue=a.where(~turned, b), dialogue_b=b.where(~turned, a))
    of_person = [c for c in about if c not in ("label", "turn")] + ["annotator", "work_unit"]
    person = rows.groupby(of_person, dropna=False).ngroup().to_numpy()
    order = np.argsort(generator(seed, "pick", "0").random(len(rows))[person], kind="stable")
    first = np.zeros(len(rows), dtype=bool)
    first[order] = ~rows.iloc[order].duplicated(about).to_numpy()
    return one_side(judgements[first])


def each_label(
    rows: pd.DataFrame, labels: Iterable[Any], function: Callable[[pd.DataFrame, Any], Mapping[str, Any]]
) -> pd.DataFrame:
    """`function(rows of one label, label)` for every corpus, group, method and label: a row each, in their order.

    labels : the study's, with `id`, `method`, `level` and `title`.
    """
    parts = {key: part for key, part in rows.groupby(CELL, sort=True)}
    known = [(key, label) for label in labels for key in parts if key[2:] == (label.method, label.id)]
    found = [{**dict(zip(CELL, key, strict=True)), **function(parts[key], label)} for key, label in known]
    return pd.DataFrame(found, columns=None if found else [*CELL, "estimate", "ci_low", "ci_high", "n"])
