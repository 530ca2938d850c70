"""Adjusted p-values of result rows, within named families of tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgebook.statistics.multiplicity import adjust_p_values


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
