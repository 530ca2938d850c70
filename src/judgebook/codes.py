"""Work on columns of text once for each distinct value, not once for each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd


def plain_texts(values: pd.Series) -> bool:
    """Whether values are all text, or missing."""
    text = isinstance(values.dtype, pd.StringDtype)
    return text or (values.dtype == object and pd.api.types.infer_dtype(values) == "string")


def mapped(values: pd.Series, change: Callable[[str], Any]) -> pd.Series:
    """`values` of type object, with texts changed; all else stays, and what is missing.

    change : gives the same for the same text. It is called once for each, or for each row where not all are text.
    """
    if not plain_texts(values):
        if values.dtype != object:
            return values.astype(object)
        changed = [change(v) if isinstance(v, str) else v for v in values]
        return pd.Series(changed, values.index, dtype=object)
    code, distinct = pd.factorize(values)
    return _taken([change(text) for text in distinct], code, values.index)


def _taken(distinct: list[Any], code: np.ndarray, index: pd.Index) -> pd.Series:
    """The value of each code; None for -1."""
    held = np.empty(len(distinct) + 1, dtype=object)
    held[:-1] = distinct
    return pd.Series(held[code], index, dtype=object)


def numbers(values: pd.Series) -> pd.Series:
    """`values` as floating-point numbers, missing where they are none."""
    if not plain_texts(values):
        return pd.to_numeric(values, errors="coerce").astype("float64")
    code, distinct = pd.factorize(values)
    read = pd.to_numeric(pd.Series(distinct, dtype=object), errors="coerce").to_numpy("float64")
    return pd.Series(np.append(read, np.nan)[code], values.index)
