"""Work on columns of text once for each distinct value, not once for each row.

A coded column is a categorical one whose categories are texts, as objects, in any order: a number for each row. The
rows of a plain table are held so from the file to the frames on disk.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable
from functools import cached_property, partial, wraps
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

T = TypeVar("T")
#: columns of which `once_per_column` keeps what was told of them
_COLUMNS = 50_000
#: rows of columns of which `texts_of` keeps the texts: some 200 MB of them
_ROWS = 2_000_000
#: values at the beginning that show whether most of them differ
_SAMPLE = 10_000


def is_coded(values: pd.Series) -> bool:
    """Whether values are coded."""
    return isinstance(values.dtype, pd.CategoricalDtype)


def coded(code: np.ndarray, texts: Any, index: pd.Index) -> pd.Series:
    """A coded column. code : (rows,) place in `texts` of each, -1 where it is missing. texts : each text once."""
    categories = pd.Index(np.asarray(texts, dtype=object), dtype=object)
    return pd.Series(pd.Categorical.from_codes(code, categories), index)


def constant(text: str, index: pd.Index) -> pd.Series:
    """A coded column that holds one text."""
    return coded(np.zeros(len(index), np.int8), [text], index)


def decoded(values: pd.Series) -> pd.Series:
    """Coded values as objects, None where they are missing; others as they are."""
    if not is_coded(values):
        return values
    texts = np.array([*values.cat.categories, None], dtype=object)
    return pd.Series(texts[values.cat.codes], values.index, dtype=object)


def interleaved(many: list[pd.Series]) -> pd.Series:
    """The values of columns row by row; coded where one is."""
    if not any(map(is_coded, many)):
        return pd.Series(np.column_stack([column.to_numpy() for column in many]).ravel(), dtype=object)
    texts: dict[Any, int] = {}
    parts = []
    for code, distinct in map(factorized, many):
        places = [texts.setdefault(text, len(texts)) for text in distinct]
        parts.append(np.array([*places, -1], dtype=np.int32)[code])
    every = np.column_stack(parts).ravel()
    return coded(every, np.array(list(texts), dtype=object), pd.RangeIndex(len(every)))


def distinct(*many: pd.Series) -> set[Any]:
    """The values that occur in columns, without missing ones; no object is made for each row."""
    return {value for column in many for value in seen(column)}


def seen(values: pd.Series) -> list[Any]:
    """The values of a column, each once as it first appears, without missing ones."""
    if not is_coded(values):
        return list(values.dropna().unique())
    code = pd.unique(values.cat.codes.to_numpy())
    return list(np.asarray(values.cat.categories, dtype=object)[code[code >= 0]])


def columns(frame: pd.DataFrame) -> list[Any]:
    """The coded columns of a frame."""
    return [column for column, dtype in frame.dtypes.items() if isinstance(dtype, pd.CategoricalDtype)]


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with coded columns as objects."""
    return frame.assign(**{c: decoded(frame[c]) for c in columns(frame)})


def texts(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with coded columns as texts, of type str."""
    return frame.assign(**{c: as_text(frame[c]) for c in columns(frame)})


def plain_texts(values: pd.Series) -> bool:
    """Whether values are all text, or missing."""
    if is_coded(values):
        return True
    text = isinstance(values.dtype, pd.StringDtype)
    return text or (values.dtype == object and pd.api.types.infer_dtype(values) == "string")


def mapped(values: pd.Series, change: Callable[[str], Any]) -> pd.Series:
    """`values` of type object, with texts changed; all else stays, and what is missing. Coded ones stay coded where
    texts become texts.

    change : gives the same for the same text. It is called once for each, or for each row where not all are text.
    """
    if not plain_texts(values):
        if values.dtype != object:
            return values.astype(object)
        changed = [change(v) if isinstance(v, str) else v for v in values]
        return pd.Series(changed, values.index, dtype=object)
    if is_coded(values):
        return _recoded(values, change)
    if len(values) > _SAMPLE and values.iloc[:_SAMPLE].nunique() > _SAMPLE / 2:
        code, texts = np.arange(len(values)), values.to_numpy(dtype=object)
        texts = np.where(values.isna(), None, texts)
    else:
        code, distinct = pd.factorize(values)
        texts = np.asarray(distinct, dtype=object)
    held = np.empty(len(texts) + 1, dtype=object)  # the last one is what -1, a missing value, means
    held[:-1] = [text if text is None else change(text) for text in texts]
    return pd.Series(held[code], values.index, dtype=object)


def _recoded(values: pd.Series, change: Callable[[str], Any]) -> pd.Series:
    new = [change(text) for text in values.cat.categories]
    if all(map(operator.is_, new, values.cat.categories)):
        return values
    if not all(text is None or isinstance(text, str) for text in new):
        return pd.Series(np.array([*new, None], dtype=object)[values.cat.codes], values.index, dtype=object)
    code, texts = pd.factorize(np.array(new, dtype=object))
    return coded(np.append(code, -1)[values.cat.codes], texts, values.index)


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
    if not is_coded(values) and (values.dtype != object or not plain_texts(values)):
        return values.astype("str") if values.notna().any() else pd.Series(None, values.index, dtype="str")
    code, distinct = factorized(values)
    texts = pa.DictionaryArray.from_arrays(pa.array(code, mask=code < 0), pa.array(distinct, pa.large_string()))
    return pd.Series(pd.array(texts.cast(pa.large_string()), dtype="str"), values.index)


def factorized(values: pd.Series | Texts) -> tuple[np.ndarray, Any]:
    """The place of each text among the distinct ones, -1 where it is missing; and the distinct ones (of coded values,
    also those that no row has)."""
    found = texts_of(values)
    return found.code, found.distinct


class Texts:
    """The texts of a column.

    code : (rows,) place of each among the distinct ones, -1 where it is missing. distinct : each once, as they appear.
    """

    def __init__(self, code: np.ndarray, distinct: np.ndarray):
        self.code, self.distinct = code, distinct

    @cached_property
    def n(self) -> dict[str, int]:
        """Text -> its rows."""
        return dict(zip(self.distinct, np.bincount(self.code[self.code >= 0]).tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def stripped(self) -> Texts:
        """The same without blanks around them."""
        return self.changed(lambda text: text.strip() if isinstance(text, str) else text)

    def changed(self, change: Callable[[Any], Any]) -> Texts:
        """The same with each distinct text changed; those that become alike are one."""
        places: dict[Any, int] = {}
        new = [places.setdefault(change(text), len(places)) for text in self.distinct]
        if len(places) == len(new) and [*places] == [*self.distinct]:
            return self
        return Texts(np.array([*new, -1])[self.code], objects([*places]))

    def rows(self, keep: Callable[[Any], bool]) -> np.ndarray:
        """Which rows hold a text that is to be kept."""
        return np.array([*map(keep, self.distinct), False], dtype=bool)[self.code]

    def only(self, rows: np.ndarray) -> Texts:
        """Some of the rows."""
        code = self.code[rows]
        kept, place = np.unique(code[code >= 0]), np.full(len(self.distinct) + 1, -1)
        place[kept] = np.arange(len(kept))
        return Texts(place[code], self.distinct[kept])

    @cached_property
    def numbers(self) -> np.ndarray:
        """Each distinct text as a number; missing where it is none."""
        return np.asarray(pd.to_numeric(self.distinct, errors="coerce"), dtype=float)

    @cached_property
    def digest(self) -> bytes:
        content = repr([*self.distinct]).encode("utf-8", "backslashreplace")
        return blake2b(self.code.astype(np.int64).tobytes() + content, digest_size=16).digest()


def objects(values: list[Any]) -> np.ndarray:
    """Values as they are, in an array."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


#: identity of a column's data -> the data, while they are there, and their texts
_told: dict[int, tuple[weakref.ref[pa.ChunkedArray], Texts]] = {}


def texts_of(values: pd.Series | Texts) -> Texts:
    """The texts of a column. Those of one that is not coded are told once while it is there, whatever frame has it."""
    if isinstance(values, Texts):
        return values
    if is_coded(values):
        return Texts(values.cat.codes.to_numpy(), np.asarray(values.cat.categories, dtype=object))
    if not isinstance(values.dtype, pd.StringDtype) or values.dtype.storage != "pyarrow":
        code, distinct = pd.factorize(values)
        return Texts(code, np.asarray(distinct, dtype=object))
    data = values.array.__arrow_array__()
    kept = _told.get(id(data))
    if kept is None or kept[0]() is not data:
        if (len(_told) + 1) * len(data) > _ROWS:
            _told.clear()
        coded = data.combine_chunks().dictionary_encode()
        code = coded.indices.fill_null(-1).to_numpy()
        gone = partial(_told.pop, id(data))
        kept = weakref.ref(data, gone), Texts(code, coded.dictionary.to_numpy(zero_copy_only=False))
        _told[id(data)] = kept
    return kept[1]


def numbers(values: pd.Series) -> pd.Series:
    """`values` as floating-point numbers, missing where they are none."""
    if not plain_texts(values):
        return pd.to_numeric(values, errors="coerce").astype("float64")
    code, distinct = factorized(values)
    read = pd.to_numeric(pd.Series(distinct, dtype=object), errors="coerce").to_numpy("float64")
    return pd.Series(np.append(read, np.nan)[code], values.index)


def once_per_column(tell: Callable[[str, pd.Series | Texts], T]) -> Callable[[str, pd.Series | Texts], T]:
    """A function of a column's name and cells that is called once for each name and cells, whatever the index."""
    answers: dict[tuple[str, int, bytes], T] = {}

    @wraps(tell)
    def told(name: str, values: pd.Series | Texts) -> T:
        key = name, len(values), texts_of(values).digest
        if key not in answers:
            if len(answers) >= _COLUMNS:
                answers.clear()
            answers[key] = tell(name, values)
        return answers[key]

    return told
