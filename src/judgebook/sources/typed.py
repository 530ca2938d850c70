"""Cells as the types of the schema: texts are text, numbers finite and in range, times in one zone."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from judgebook import codes
from judgebook.sources import json_text
from judgebook.sources.ids.naming import LONG
from judgebook.sources.reading import Reading
from judgebook.study import limits, schema
from judgebook.study.schema import Column, Problem, several

#: columns in which a number is no text
_TEXTS = ("user_text", "system_text", "reference", "reason")
#: columns that are no ids: their texts are kept as they are
_FREE = (*_TEXTS, "value", "text")
#: columns of plain values, as pandas names their kinds; of texts and of truths
_VALUES = {"string", "empty", "integer", "floating", "mixed-integer-float", "datetime64", "datetime"}
_PLAIN = {"text": {"string", "empty"}, "boolean": {"boolean", "empty"}}
#: how a time begins: a parser of dates also takes a bare year, `-1`, and `now` for the time of the run
_DATE = re.compile(r"\s*(?:[0-9]{4}([-/. ])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{8})(?![0-9])")
#: the end of a time that says its zone
_ZONE = r"(?::\d\d|[T ]\d\d(?:\d\d){0,2})(?:[.,]\d+)?\s*(?:[zZ]|[+-]\d\d(?::?\d\d)?)$"
_LOCAL = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}$"
#: what a time with a zone is counted and noted as
UTC = "time with a time zone, converted to UTC"


def _plain(value: Any, dtype: str) -> bool:
    """Whether a cell of the type may hold a value: no list, no object; a truth where it is asked for and nowhere else;
    no number where a text is.
    """
    if dtype == "boolean":
        return pd.api.types.is_scalar(value) and (pd.isna(value) or value in (True, False))
    if dtype == "text":
        return value is None or isinstance(value, str) or value is pd.NA or value != value  # NaN is missing
    return not isinstance(value, bool | dict | list | tuple | set | bytes)


def check(reading: Reading, file: str) -> None:
    """Move rows of a reading with cells that no column can hold to its problems; convert times with a zone to UTC.

    file : named for frames that do not say where a row is from.
    """
    for name, spec in schema.FRAMES.items():
        frame = getattr(reading, name) if name != "counts" else None
        if frame is None or not len(frame):
            continue
        bad = pd.Series(False, frame.index)
        for column in (c for c in spec if c in frame):
            kind = "text" if column in _TEXTS else spec[column].dtype
            if kind == "bool" or (frame[column].dtype not in (object, bool) and kind != "boolean"):
                continue
            if pd.api.types.infer_dtype(frame[column]) in _PLAIN.get(kind, _VALUES):
                continue
            odd = ~frame[column].map(lambda v, kind=kind: _plain(v, kind)).astype(bool)
            expected = {"str": "text", "boolean": "true or false"}.get(spec[column].dtype, "a number")

            def wrong(i: int, frame: pd.DataFrame = frame, column: str = column, expected: str = expected) -> Problem:
                value = frame.at[i, column]
                value = value.item() if isinstance(value, np.generic) else value
                content = json_text.kind(value)[: limits.QUOTED]
                return Problem(*_place(frame.loc[i], file), column, expected, content, "correct it in the file")

            reading.problems += several(frame.index[odd], wrong)
            bad |= odd
        if bad.any():
            setattr(reading, name, frame[~bad].reset_index(drop=True))
        _named(getattr(reading, name), spec)
    _to_utc(reading)


def _named(frame: pd.DataFrame, spec: Mapping[str, Column]) -> None:
    """Ids as texts without blanks around them, those with nothing in them missing, and 0 and 1 as truths; in place."""
    for column in (c for c in spec if c in frame and spec[c].dtype == "boolean"):
        frame[column] = frame[column].astype(object).map(bool, na_action="ignore")
    for column in (c for c in spec if c in frame and spec[c].dtype == "str" and c not in _TEXTS):
        cells = frame[column]
        plain = cells.dtype == object or pd.api.types.is_numeric_dtype(cells)
        if plain and pd.api.types.infer_dtype(cells) not in _PLAIN["text"]:
            frame[column] = cells = cells.map(str, na_action="ignore")
        ids = [v for v in codes.seen(cells) if isinstance(v, str)] if column not in _FREE else []
        plain = list(map(str.strip, ids)) == ids and "" not in ids
        odd = {} if plain else {v: id_ for v, id_ in zip(ids, map(_id, ids), strict=True) if id_ != v}
        if odd and codes.is_coded(cells):
            frame[column] = codes.mapped(cells, {v: odd.get(v, v) for v in ids}.get)
        elif odd:
            frame[column] = pd.Series([odd.get(v, v) for v in cells], frame.index, dtype=cells.dtype)


def _id(value: str) -> str | None:
    """An id without blanks around it, None for nothing; LONG, which Python takes for a blank, is kept."""
    return value if value.startswith(LONG) else value.strip() or None


def _place(row: pd.Series, file: str) -> tuple[str, str]:
    if "where" in row:
        return row["file"], row["where"]
    known = [
        f"{c} {row[c]}" for c in ("dialogue", "turn", "work_unit") if c in row and not isinstance(row[c], list | dict)
    ]
    return file, ", ".join(known)


def _to_utc(reading: Reading) -> None:
    """Count and note times with a zone; `parsed` converts them."""
    marks = reading.annotations
    if "completed_at" not in marks or not len(marks):
        return
    zoned = marks[_zoned(marks["completed_at"])]
    if zoned.empty:
        return
    for file, rows in zoned.groupby("file", sort=False):
        reading.counts.add(file, "annotations", "mended", UTC, len(rows))
    reading.notes.append(f"{len(zoned):,} judgements have a {UTC}")


def _zoned(times: pd.Series) -> pd.Series:
    """Which times, as texts, name a zone."""
    if _local(times):
        return pd.Series(False, times.index)
    text = times.map(lambda t: t if isinstance(t, str) else "")
    return text.str.strip().str.contains(_ZONE, regex=True).astype(bool)


def parsed(values: pd.Series, column: Column) -> tuple[pd.Series, str]:
    """`values` in a numeric or date type, missing where they are none or out of range; and what was expected."""
    if column.dtype.startswith("datetime"):
        return _times(values)
    if values.dtype == object and pd.api.types.infer_dtype(values) not in _VALUES:
        values = values.where(values.map(lambda v: _plain(v, column.dtype)), None)
    numbers = codes.numbers(values)
    numbers = numbers.where(numbers.abs() < math.inf)
    what, low, high = "a number", column.least, math.inf
    if column.dtype.lower().startswith("int"):
        numbers = numbers.where(numbers % 1 == 0)
        what, low, high = "a whole number", -limits.INT32 if low is None else low, limits.INT32
    elif low is None:
        return numbers, "a number"
    expected = f"{what} from {low:,.0f} to {high:,.0f}" if high < math.inf else f"{what}, {low:g} or more"
    return numbers.where((numbers >= low) & (numbers <= high)), expected


def _times(values: pd.Series) -> tuple[pd.Series, str]:
    local = values.isna().all() or _local(values)
    if local and (times := _quick_times(values)) is not None:
        return times, "a date and time (YYYY-MM-DD HH:MM:SS)"
    values = values if local else values.map(_dated)
    times = pd.to_datetime(values, errors="coerce", format="ISO8601", utc=True).dt.tz_localize(None)
    if local or not (zoned := _zoned(values)).any():
        return times, "a date and time (YYYY-MM-DD HH:MM:SS)"
    # a time without a zone cannot be put in order with those that have one
    return times.where(zoned | values.isna()), "a date and time with a time zone, as in other rows"


def _quick_times(values: pd.Series) -> pd.Series | None:
    """Times that Arrow reads at once, of those that `_local` lets pass; None where one may not exist."""
    if not isinstance(values.dtype, pd.StringDtype):
        return None
    texts = pa.array(values, from_pandas=True)
    try:
        times = texts.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
    # a year that pandas does not have
    return None if pc.any(pc.starts_with(texts, "0000")).as_py() else times.to_pandas().set_axis(values.index)


def _local(times: pd.Series) -> bool:
    """Whether all times are texts that say day, hour, minute and second and no zone, as most files have them."""
    if not codes.plain_texts(times):
        return False
    return bool(pc.all(pc.match_substring_regex(pa.array(times, from_pandas=True), _LOCAL)).as_py())


def _dated(value: Any) -> Any:
    """A value that may be a date: one of a date type, or the text of what begins with one; else None."""
    if isinstance(value, datetime):
        return value
    text = f"{value:.0f}" if isinstance(value, float) else str(value)
    return text if _DATE.match(text) else None
