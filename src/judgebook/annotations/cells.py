"""Estimates per corpus, group, method and label: the loop that makes them, and what is done to their rows.

P-values are adjusted within families of tests. Intervals end where the scale does: the truth lies within it, so an
interval that is cut there holds it as often as before, and is shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.statistics.multiplicity import adjust_p_values
from judgebook.study.labels import Label
from judgebook.study.schema import CELL, Annotations

__all__ = ["cells", "in_turn", "parts"]


def parts(
    frame: pd.DataFrame, keys: Sequence[str], *, sort: bool = True
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each combination of values of `keys` that occurs: the values by the name of their column, and its rows.

    sort : by the values, or in order of first appearance. Rows with a missing key are left out.
    """
    for key, part in frame.groupby(list(keys), sort=sort):
        yield dict(zip(keys, key, strict=True)), part


def in_turn(frame: pd.DataFrame, keys: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """As `frame.groupby(keys, sort=False)`, with the rows of one part at a time: pandas holds a second copy of all. A
    part that is all is no copy."""
    groups = frame.groupby(list(keys)).indices
    for key, at in sorted(groups.items(), key=lambda group: group[1][0]):
        yield key, frame if len(at) == len(frame) else frame.iloc[at]


def cells(chosen: Annotations, labels: Iterable[Label]) -> Iterator[tuple[dict[str, Any], Label, Annotations]]:
    """Each corpus, group, method and label with annotations, in the order of the labels: keys, label, its rows.

    Raises ValueError for a label that `labels` does not declare.
    """
    order = {(label.method, label.id): label for label in labels}
    unknown = sorted({*chosen[["method", "label"]].drop_duplicates().itertuples(index=False, name=None)} - set(order))
    if unknown:
        raise ValueError(f"labels: expected every (method, label) of the annotations, missing {unknown}")
    groups = chosen.groupby(CELL, sort=True).indices  # not its rows, which would be a second copy of all
    place = {key: i for i, key in enumerate(order)}
    for key in sorted(groups, key=lambda k: (k[0], k[1], place[k[2], k[3]])):
        yield dict(zip(CELL, key, strict=True)), order[key[2], key[3]], chosen.iloc[groups[key]]


def adjust_rows(rows: pd.DataFrame, by: Sequence[str], name: str) -> pd.DataFrame:
    """Result rows with `p_adjusted` and `family` filled in.

    Holm's adjustment. by : columns whose values set families apart. name : what the family is, for readers. Rows
    without a p-value keep none.
    """
    out = rows.assign(p_adjusted=np.nan, family=f"{name}, holm")
    groups = rows.groupby(list(by), dropna=False, sort=False).indices.values()
    place = out.columns.get_loc("p_adjusted")
    for at in groups:
        out.iloc[at, place] = adjust_p_values(rows["p_value"].to_numpy(float)[at], "holm")
    return out


def within_scale(rows: pd.DataFrame, labels: Iterable[Label]) -> pd.DataFrame:
    """Result rows whose intervals are cut at the ends of their label's scale; those of labels not given are as before.

    rows : with `method`, `label`, `ci_low` and `ci_high`.
    """
    ends = {(x.method, x.id): x.scale for x in labels}
    if rows.empty or not ends:
        return rows
    lowest, highest = (
        pd.Series([ends.get(key, (None, None))[i] for key in zip(rows["method"], rows["label"], strict=True)],
                  rows.index, dtype=float)
        for i in (0, 1)
    )  # fmt: skip
    return rows.assign(ci_low=rows["ci_low"].clip(lower=lowest), ci_high=rows["ci_high"].clip(upper=highest))
