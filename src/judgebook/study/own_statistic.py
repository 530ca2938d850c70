"""Rows of a statistic of one's own, held against what a stored row can be: all that is wrong is told at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from judgebook.errors import JudgebookError
from judgebook.study import result_schema
from judgebook.study.result_schema import COLUMNS, IDS, VALUES, Statistic
from judgebook.study.results import ResultRows, framed

_NAME = re.compile(r"[a-z][a-z0-9_]*")
#: what a column of results holds, in words, by its dtype
_HOLDS = {"str": "text", "float64": "numbers", "Int64": "whole numbers", "boolean": "true or false"}
#: kinds of keys, and how pandas calls values of one kind
_KINDS: dict[str, type] = {"string": str, "integer": int, "floating": float}


class StatisticError(JudgebookError, ValueError):
    """A statistic that cannot be stored; the message names all that is wrong, and says what to write."""


def checked(
    name: str, frame: pd.DataFrame, *, title: str, keys: Sequence[str], range: tuple[float, float]
) -> ResultRows:
    """The rows as results have them; from then on the statistic is one of this process (`result_schema.statistic`).

    Arguments are those of `Run.save_statistic`. Raises StatisticError.
    """
    problems = [*_declaration(name, title, keys, range)]
    if not isinstance(frame, pd.DataFrame):
        problems.append(f"expected a pandas DataFrame, found {type(frame).__name__}")
    else:
        problems += _columns(frame, keys if _are_names(keys) else ())
    if not problems:
        problems = [*_values(frame, keys, range)]
    if problems:
        several = f"{len(problems)} problems: " if len(problems) > 1 else ""
        raise StatisticError(f"save_statistic({name!r}): {several}{'; '.join(problems)}")
    types = {key: _KINDS[_kind(frame[key])] for key in keys}
    result_schema.declare(name, Statistic(title, tuple(keys), tuple(map(float, range)), types))  # type: ignore[arg-type]
    return framed(name, frame.astype({c: object for c in frame if frame[c].dtype == "category"}))


def _declaration(name: Any, title: Any, keys: Any, range: Any) -> Iterator[str]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"name: expected lower-case letters, digits and _, found {name!r}"
    elif name in result_schema.statistics():
        yield f"name: {name!r} is a statistic of the project: choose another, such as 'my_{name}'"
    if not isinstance(title, str) or not title.strip():
        yield f"title: expected a few words for readers, found {title!r}"
    if not _are_names(keys):
        yield f"keys: expected a list of names in lower-case letters, digits and _, found {keys!r}"
    else:
        for key in (key for key in keys if key in COLUMNS):
            yield f"keys: {key!r} is a column of all results: leave it out"
    ends = range if isinstance(range, list | tuple) else ()
    if not (len(ends) == 2 and all(pd.api.types.is_number(end) for end in ends) and ends[0] < ends[1]):
        yield f"range: expected the smallest and the largest value, such as (0, 1), found {range!r}"


def _are_names(keys: Any) -> bool:
    return isinstance(keys, list | tuple) and all(isinstance(key, str) and _NAME.fullmatch(key) for key in keys)


def _columns(frame: pd.DataFrame, keys: Sequence[str]) -> Iterator[str]:
    if any(frame.index.names):
        names = ", ".join(repr(n) for n in frame.index.names)
        yield f"expected {names} as a column, found it in the index: write frame.reset_index()"
    there = [*frame.columns, *frame.index.names]
    for column in dict.fromkeys(c for c in frame.columns if list(frame.columns).count(c) > 1):
        yield f"expected one column {column!r}, found several"
    unknown = [c for c in frame.columns if c not in (*IDS, *VALUES, *keys)]
    if "estimate" not in there:
        numbers = [c for c in unknown if pd.api.types.is_float_dtype(frame[c])]
        rename = f": write frame.rename(columns={{{numbers[0]!r}: 'estimate'}})" if len(numbers) == 1 else ""
        yield f"expected a column 'estimate' with the values, found {', '.join(map(str, frame.columns))}{rename}"
        unknown = [c for c in unknown if [c] != numbers]
    for key in (key for key in keys if key not in there):
        near = difflib.get_close_matches(key, map(str, frame.columns), n=1)
        yield f"keys: no column {key!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    for column in unknown:
        if column in COLUMNS:
            yield f"column {column!r} is filled in when the rows are stored: leave it out"
            continue
        near = difflib.get_close_matches(str(column), [*IDS, *VALUES], n=1)
        hint = f"did you mean {near[0]!r}? Else name" if near else "name"
        yield f"column {column!r} is none of results: {hint} it in keys=[…] where it tells rows apart, or drop it"


def _values(frame: pd.DataFrame, keys: Sequence[str], range: tuple[float, float]) -> Iterator[str]:
    wrong = [c for c in frame.columns if c in COLUMNS and not _fits(frame[c], COLUMNS[c][0])]
    for column in wrong:
        dtype = COLUMNS[column][0]
        value = _first(frame[column], lambda v, dtype=dtype: not _fits(pd.Series([v]), dtype))
        write = f": write frame[{column!r}].astype(str)" if dtype == "str" else ""
        yield f"column {column!r}: expected {_HOLDS[dtype]}, found {value}{write}"
    odd = [problem for key in keys for problem in _key(key, frame[key])]
    yield from odd
    if not {"estimate", "ci_low", "ci_high"} & {*wrong}:
        yield from _numbers(frame.reset_index(drop=True), range)
    names = [c for c in frame.columns if c in (*IDS, *keys)]
    if odd or {*wrong} & {*names}:  # what they hold may be nothing that can be compared
        return
    twice = frame.reset_index(drop=True).duplicated(names, keep=False) if names else pd.Series([len(frame) > 1])
    if twice.any():
        rows = [*twice[twice].index[:2]] if names else [0, 1]
        same = f"the same {', '.join(names)}" if names else "nothing that tells them apart"
        yield f"rows {rows[0]} and {rows[1]} have {same}: name what tells them apart in keys=[…]"


def _numbers(frame: pd.DataFrame, range: tuple[float, float]) -> Iterator[str]:
    values = frame["estimate"].astype(float)
    for row in values.index[(values < range[0]) | (values > range[1])][:1]:
        yield f"row {row}: expected an estimate from {range[0]:g} to {range[1]:g}, found {values[row]:g}"
    why = frame[[c for c in ("note", "n_undefined") if c in frame]].notna().any(axis=1)
    for row in values.index[values.isna() & ~why][:1]:
        yield f"row {row}: the estimate is missing: say why in a column 'note', or leave the row out"
    if "ci_low" in frame and "ci_high" in frame:
        low, high = frame["ci_low"].astype(float), frame["ci_high"].astype(float)
        for row in values.index[low > high][:1]:
            yield f"row {row}: expected ci_low <= ci_high, found {low[row]:g} and {high[row]:g}"


def _key(key: str, values: pd.Series) -> Iterator[str]:
    """What is wrong with the values of a key, which are stored as text and come back as they were."""
    kind = _kind(values)
    if kind not in _KINDS:
        yield f"column {key!r}: expected text or numbers, found {kind}: write frame[{key!r}].astype(str)"
    elif kind == "string" and (odd := _first(values, lambda v: ";" in v)):
        yield f"column {key!r}: expected text without `;`, found {odd}"
    elif kind == "floating" and (odd := _first(values, lambda v: float(f"{v:g}") != v)):
        yield f"column {key!r}: expected at most six digits, found {odd}: round it, or write its values as text"


def _kind(values: pd.Series) -> str:
    """What pandas calls the values of a column that are there; `string` where none is."""
    kind = pd.api.types.infer_dtype(values.astype(object) if values.dtype == "category" else values, skipna=True)
    return "string" if kind == "empty" else kind


def _fits(values: pd.Series, dtype: str) -> bool:
    kinds = {
        "str": ("string", "empty"),
        "float64": ("floating", "integer", "mixed-integer-float", "empty"),
        "Int64": ("integer", "empty"),
        "boolean": ("boolean", "empty"),
    }
    kind = _kind(values) if values.notna().any() else "empty"
    if dtype == "Int64" and kind == "floating":  # with a missing value, pandas makes numbers of whole ones
        return bool((values.dropna() % 1 == 0).all())
    return kind in kinds[dtype]


def _first(values: pd.Series, wrong: Any) -> str:
    """The first value of which `wrong` is true, with its row; empty where there is none."""
    there = [(row, value) for row, value in enumerate(values) if pd.notna(value) and wrong(value)]
    return f"{there[0][1]!r} in row {there[0][0]}" if there else ""
