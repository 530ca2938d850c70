"""Intervals of means end where the scale does.

The truth lies within the scale, so an interval that is cut there holds it as often as before, and is shorter.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from judgebook.study.labels import Label


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
