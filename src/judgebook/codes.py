"""Work on columns of text once for each distinct value, not once for each row."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

T = TypeVar("T")
#: columns of which `once_per_column` keeps what was told of them
_COLUMNS = 50_000
#: values at the beginning that show whether most of them differ
_SAMPLE = 10_000


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
    if len(values) > _SAMPLE and values.iloc[:_SAMPLE].nunique() > _SAMPLE / 2:
        code, texts = np.arange(len(values)), values.to_numpy(dtype=object)
        texts = np.where(values.isna(), None, texts)
    else:
        code, distinct = pd.factorize(values)
        texts = np.asarray(distinct, dtype=object)
    held = np.empty(len(texts) + 1, dtype=object)  # the last one is what -1, a missing value, means
    held[:-1] = [text if text is None else change(text) for text in texts]
    return pd.Series(held[code], values.index, dtype=object)


def rows(frame: pd.DataFrame, keep: pd.Series) -> pd.DataFrame:
    """The rows of a frame that are kept; the frame itself, which is no copy, where all are."""
    return frame if keep.all() else frame[keep]


def numbered(before: str, numbers: pd.Index) -> pd.api.extensions.ExtensionArray:
    """Texts that end in a number each."""
    digits = pa.array(numbers).cast(pa.large_string())
    lead, nothing = (pa.scalar(text, pa.large_string()) for text in (before, ""))
    return pd.array(pc.binary_join_element_wise(lead, digits, nothing), dtype="str")


def as_text(values: pd.Series) -> pd.Series:
    """`values` of type str; missing ones stay missing."""
    if values.dtype != object or not plain_texts(values):
        return values.astype("str") if values.notna().any() else pd.Series(None, values.index, dtype="str")
    code, distinct = pd.factorize(values)
    texts = pa.DictionaryArray.from_arrays(pa.array(code, mask=code < 0), pa.array(distinct, pa.large_string()))
    return pd.Series(pd.array(texts.cast(pa.large_string()), dtype="str"), values.index)


def numbers(values: pd.Series) -> pd.Series:
    """`values` as floating-point numbers, missing where they are none."""
    if not plain_texts(values):
        return pd.to_numeric(values, errors="coerce").astype("float64")
    code, distinct = pd.factorize(values)
    read = pd.to_numeric(pd.Series(distinct, dtype=object), errors="coerce").to_numpy("float64")
    return pd.Series(np.append(read, np.nan)[code], values.index)


def once_per_column(tell: Callable[[str, pd.Series], T]) -> Callable[[str, pd.Series], T]:
    """A function of a column's name and cells that is called once for each name and cells, whatever the index."""
    answers: dict[tuple[str, int, bytes], T] = {}

    @wraps(tell)
    def told(name: str, values: pd.Series) -> T:
        content = repr(values.tolist()).encode("utf-8", "backslashreplace")
        key = name, len(values), blake2b(content, digest_size=16).digest()
        if key not in answers:
            if len(answers) >= _COLUMNS:
                answers.clear()
            answers[key] = tell(name, values)
        return answers[key]

    return told
