"""One estimate per corpus, group, method and label: the loop that statistics of labels share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

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
