"""Judgements by the item that they are of: what notebooks select from, in plain pandas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

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
