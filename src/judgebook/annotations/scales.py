"""Intervals of means and of differences end where the scale does.

The truth lies within the scale, so an interval that is cut there holds it as often as before, and is shorter.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from judgebook.study.labels import METHODS, Label


def within_scale(rows: pd.DataFrame, labels: Iterable[Label], *, difference: bool = False) -> pd.DataFrame:
    """Result rows whose intervals are cut at the ends of their label's scale; those of labels not given are as before.

    rows : with `method`, `label`, `ci_low` and `ci_high`. difference : of two means, which is at most the length of the
    scale; of comparisons it is a mean itself.
    """
    ends = {}
    for x in labels:
        low, high = x.scale
        apart = difference and METHODS[x.method].unit != "pair"
        ends[x.method, x.id] = (low - high, high - low) if apart else (low, high)
    if rows.empty or not ends:
        return rows
    lowest, highest = (
        pd.Series([ends.get(key, (None, None))[i] for key in zip(rows["method"], rows["label"], strict=True)],
                  rows.index, dtype=float)
        for i in (0, 1)
    )  # fmt: skip
    return rows.assign(ci_low=rows["ci_low"].clip(lower=lowest), ci_high=rows["ci_high"].clip(upper=highest))
