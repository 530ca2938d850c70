"""Results of an analysis: wide in memory, long on disk; and how a statistic of one's own is held against what a stored
row can be.

In memory, `Results` maps each statistic to a frame with one row per thing estimated and a named column for each of the
statistic's keys. `fold` makes the rows that are stored, where one column, `condition`, holds the keys; `unfold` is
its inverse. No other code reads or writes `condition`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeAlias

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from judgebook import codes
from judgebook.errors import JudgebookError
from judgebook.study import result_schema
from judgebook.study.result_schema import COLUMNS, IDENTITY, IDS, REQUIRED, VALUES, Statistic
from judgebook.study.schema import Column, conform

#: the frame of a statistic, a row per thing estimated; `columns` says which columns it has
ResultRows: TypeAlias = pd.DataFrame
P = ParamSpec("P")
#: rows that are put into their stored form at once
AT_ONCE = 250_000
#: what a stored frame says of statistics that are not the project's, among its `attrs`
_OWN = "statistics"
#: what cannot stand in a value of a key as it is
_ODD = re.compile(";|%25|%3B")
#: columns that the frames of all statistics have
_SHARED = {name: Column(dtype=COLUMNS[name][0], missing=True, doc="") for name in (*IDS, *VALUES)}
_STORED = {name: Column(dtype=dtype, missing=name not in REQUIRED, doc=doc) for name, (dtype, doc) in COLUMNS.items()}


class Results(dict[str, ResultRows]):
    """Statistic -> frame with the columns of `columns(statistic)`; an absent statistic gives an empty frame."""

    def __missing__(self, statistic: str) -> ResultRows:
        return framed(statistic, pd.DataFrame())

    def select(self, statistic: str, **keys: object) -> ResultRows:
        """The rows of a statistic `where` columns have the given values."""
        return where(self[statistic], **keys)

    def part(self, **keys: object) -> Results:
        """The rows in which columns common to all statistics have the given values; cached, as views share them."""
        known = self.__dict__.setdefault("_parts", {})
        which = tuple(keys.items())
        if which not in known:
            known[which] = Results({statistic: where(rows, **keys) for statistic, rows in self.items()})
        return known[which]

    def __getstate__(self) -> None:
        """What follows from results is neither stored with them nor part of their digest."""


def once(function: Callable[Concatenate[Results, P], pd.DataFrame]) -> Callable[Concatenate[Results, P], pd.DataFrame]:
    """The same function, computed once as long as `results` holds the same frames; each caller gets a copy."""

    @wraps(function)
    def found(results: Results, /, *args: P.args, **kwargs: P.kwargs) -> pd.DataFrame:
        known = results.__dict__.setdefault("_once", {})
        which = function, *(tuple(a) if isinstance(a, list) else a for a in args), *kwargs.items()
        frames, value = known.get(which, (None, None))
        if frames is None or [*map(id, frames)] != [*map(id, results.values())]:
            value = function(results, *args, **kwargs)
            known[which] = tuple(results.values()), value
        return value.copy(deep=False)

    return found


def mark_primary(results: Results, **rows: ResultRows) -> Results:
    """`results`, in which `primary` says which rows reports answer with. rows : statistic -> these, with the index that
    they have there."""
    every = {statistic: results[statistic] for statistic in rows if len(results[statistic])}
    marked = {s: frame.assign(primary=frame.index.isin(rows[s].index)) for s, frame in every.items()}
    return Results(results | marked)


def columns(statistic: str) -> list[str]:
    """Columns of a statistic's frame: identifiers, its keys, values. Raises ValueError for an unknown statistic."""
    return [*IDS, *result_schema.statistic(statistic).keys, *VALUES]


def collect(*parts: Results | pd.DataFrame | Iterable[Mapping[str, Any]]) -> Results:
    """All of `parts` as one `Results`.

    parts : results, frames or rows with a column `statistic` and any of `columns(statistic)`. Order is kept within a
    statistic. Raises ValueError for a statistic or column that is not declared.
    """
    by_statistic: dict[str, list[pd.DataFrame]] = {}
    for part in parts:
        for statistic, frame in _by_statistic(part):
            if len(frame):
                by_statistic.setdefault(statistic, []).append(frame)
    # all frames of a statistic have the same columns and types
    return Results(
        {s: pd.concat(frames, ignore_index=True) if frames[1:] else frames[0] for s, frames in by_statistic.items()}
    )


def _by_statistic(part: Any) -> Iterable[tuple[str, pd.DataFrame]]:
    if isinstance(part, Results):
        return [(s, framed(s, frame)) for s, frame in part.items()]
    if isinstance(part, pd.DataFrame):
        return _divided(part) if len(part) else ()
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in part:
        rows.setdefault(row["statistic"], []).append(row)
    return _of_rows(rows)


def _of_rows(rows: Mapping[str, list[Mapping[str, Any]]]) -> Iterator[tuple[str, ResultRows]]:
    """The frame of each statistic, of its rows. As in `_divided`, columns that all have get their types once."""
    every = [row for of_statistic in rows.values() for row in of_statistic]
    has = {name for row in every for name in row}
    values = {name: [row.get(name) for row in every] for name in _SHARED if name in has}
    shared, start = conform(pd.DataFrame(values), _SHARED), 0
    for statistic, of_statistic in rows.items():
        frame, start = shared.iloc[start : start + len(of_statistic)], start + len(of_statistic)
        keys = dict.fromkeys(
            name for row in of_statistic for name in row if name not in _SHARED and name != "statistic"
        )
        yield statistic, _keyed(statistic, frame, {k: pd.Series([row.get(k) for row in of_statistic]) for k in keys})


def _divided(rows: pd.DataFrame) -> Iterator[tuple[str, ResultRows]]:
    """The frame of each statistic in `rows`. Columns that all have get their types once, as this takes as long for a
    few rows as for many."""
    shared = conform(rows[[name for name in rows if name in _SHARED]], _SHARED)
    keys = [name for name in rows if name not in _SHARED and name != "statistic"]
    code, statistics = pd.factorize(rows["statistic"])
    for i, statistic in enumerate(statistics):
        here = code == i
        frame, of_statistic = _rows(shared, here), _rows(rows[keys], here)
        yield statistic, _keyed(statistic, frame, {k: of_statistic[k] for k in keys if of_statistic[k].notna().any()})


def _keyed(statistic: str, shared: pd.DataFrame, keys: Mapping[str, pd.Series]) -> ResultRows:
    """The frame of a statistic, of the columns that all have and those of its `keys` that are filled."""
    _known(statistic, keys)
    frame = shared.set_axis(pd.RangeIndex(len(shared)))
    for i, key in enumerate(result_schema.statistic(statistic).keys, len(IDS)):
        values = keys[key].astype(object).array if key in keys else [None] * len(frame)
        frame.insert(i, key, pd.Series(values, frame.index, dtype=object))
    return frame


def framed(statistic: str, frame: pd.DataFrame) -> ResultRows:
    """`frame` with exactly the columns of the statistic, each with its type."""
    _known(statistic, frame)
    types = {c: COLUMNS[c][0] if c in COLUMNS else "object" for c in columns(statistic)}
    has = dict(zip(frame, frame.dtypes, strict=True))
    if [*has] == [*types] and frame.index.equals(pd.RangeIndex(len(frame))) and all(has[c] == types[c] for c in has):
        return frame.copy(deep=False)
    return conform(frame, {c: Column(dtype=dtype, missing=True, doc="") for c, dtype in types.items()})


def _known(statistic: str, names: Iterable[str]) -> None:
    wanted = columns(statistic)
    if unknown := [c for c in names if c not in wanted]:
        raise ValueError(f"{statistic}: columns {unknown} are not declared; it has {wanted}")


def where(frame: pd.DataFrame, **keys: object) -> pd.DataFrame:
    """The rows in which each named column has the given value: None means missing, a list one of its items."""
    keep = np.ones(len(frame), dtype=bool)
    for name, value in keys.items():
        if value is None:
            keep &= frame[name].isna().to_numpy()
        else:
            values = list(value) if isinstance(value, list | tuple | set) else [value]
            keep &= frame[name].isin(values).to_numpy()
    return _rows(frame, keep)


def _rows(frame: pd.DataFrame, keep: np.ndarray) -> pd.DataFrame:
    rows = np.flatnonzero(keep)
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:  # one after the other: a slice, which is not a copy
        return frame.iloc[rows[0] : rows[-1] + 1]
    return frame[keep]


def fold(results: Results, *, study: str, notebook: str, own: Mapping[str, Any] = MappingProxyType({})) -> pd.DataFrame:
    """The rows that are stored, with the columns of `result_schema.COLUMNS`.

    own : what `result_schema.described` says of statistics that are not the project's; `unfold` finds it with the rows.
    Raises ValueError where a value lies outside its statistic's range, an interval is upside down, or two rows share
    their identity.
    """
    if sum(map(len, results.values())) > AT_ONCE:
        return pd.concat(folded(results, study=study, notebook=notebook, own=own), ignore_index=True)
    stored = _stored(list(results.items()), study, notebook, own)
    if stored.duplicated([c for c in IDENTITY if stored[c].notna().any()] or IDENTITY).any():
        for statistic, rows in results.items():  # keys may tell apart what the texts that they are stored as do not
            _check_identities(statistic, rows)
    return stored


def folded(
    results: Results, *, study: str, notebook: str, own: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[pd.DataFrame]:
    """As `fold`, statistic by statistic, and AT_ONCE rows at a time."""
    for statistic, whole in results.items():
        _check_identities(statistic, whole)
        for start in range(0, len(whole), AT_ONCE):
            yield _stored([(statistic, whole.iloc[start : start + AT_ONCE])], study, notebook, own)


def _stored(parts: Iterable[tuple[str, ResultRows]], study: str, notebook: str, own: Mapping[str, Any]) -> pd.DataFrame:
    """Checked rows of statistics in their stored form, all of which get their types at once."""
    parts, rows = [(statistic, frame) for statistic, frame in parts if len(frame)], pd.DataFrame()
    for statistic, frame in parts:
        _check(statistic, frame)
    if parts:
        rows = pd.concat([frame[[*_SHARED]] for _, frame in parts], ignore_index=True)
        keys = [{key: frame[key].tolist() for key in result_schema.statistic(s).keys} for s, frame in parts]
        texts = [_conditions(of_keys, len(frame)) for of_keys, (_, frame) in zip(keys, parts, strict=True)]
        rows["condition"] = np.concatenate(texts)
    names = np.repeat(np.array([statistic for statistic, _ in parts], dtype=object), [len(f) for _, f in parts])
    stored = conform(rows.assign(statistic=names), _STORED, study=study, notebook=notebook)
    if own and parts:
        stored.attrs[_OWN] = dict(own)
    return stored


def _conditions(keys: Mapping[str, list[object]], n: int) -> np.ndarray:
    """(n,) the texts that keys are stored as; each combination of keys is put into words once."""
    rows = [*zip(*keys.values(), strict=True)] or [()] * n
    texts = {row: _condition(dict(zip(keys, row, strict=True))) for row in {*rows}}
    return codes.objects([texts[row] for row in rows])


def _condition(keys: Mapping[str, object]) -> str | None:
    return ";".join(f"{k}={_text(keys[k])}" for k in sorted(keys) if not pd.isna(keys[k])) or None


def identities(statistic: str, rows: pd.DataFrame) -> pd.DataFrame:
    """(rows, identifiers and `condition`) what identifies rows of a statistic where they are stored, as texts, '' where
    a column is empty. rows : with any of `IDS` and the statistic's keys; without a column, its values are missing."""
    keys, absent = result_schema.statistic(statistic).keys, list[object]([None] * len(rows))
    named = {c: [None if pd.isna(v) or v == "" else v for v in rows.get(c, absent)] for c in (*IDS, *keys)}
    texts = {c: named[c] for c in IDS} | {"condition": _conditions({key: named[key] for key in keys}, len(rows))}
    return pd.DataFrame({c: [v or "" for v in values] for c, values in texts.items()}, rows.index, dtype=object)


def _text(value: object) -> str:
    """A value of a key as it is stored: `;` ends it, and is written as in an address."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text.replace("%", "%25").replace(";", "%3B") if _ODD.search(text) else text


def _value(text: str) -> str:
    return text.replace("%3B", ";").replace("%25", "%")


def read(path: Path) -> Results:
    """`Results` from a file."""
    # an earlier version may have stored fewer columns
    there = {*pq.read_schema(path).names}
    wanted_columns = ["statistic", "condition", *IDS, *(column for column in VALUES if column in there)]
    return unfold(pd.read_parquet(path, columns=wanted_columns))


def stored_counts(path: Path) -> dict[str, int]:
    """How many rows of each statistic a file holds, in its order."""
    stored = pd.read_parquet(path, columns=["statistic"])
    result_schema.met(stored.attrs.get(_OWN, {}))
    return {str(name): int(n) for name, n in stored["statistic"].value_counts(sort=False).items()}


def unfold(stored: pd.DataFrame) -> Results:
    """`Results` from rows that were stored."""
    out = {}
    result_schema.met(stored.attrs.get(_OWN, {}))
    shared = conform(stored[[name for name in stored if name in _SHARED]], _SHARED)
    code, statistics = pd.factorize(stored["statistic"])
    for i, statistic in enumerate(statistics):
        here, declared = code == i, result_schema.statistic(statistic)
        place, conditions = pd.factorize(_rows(stored[["condition"]], here)["condition"])  # -1 where there is none
        parsed = [*(dict(p.split("=", 1) for p in c.split(";") if p) for c in conditions), {}]
        keys = {
            k: pd.Series(codes.objects([declared.value(k, _value(p[k])) if k in p else None for p in parsed])[place])
            for k in declared.keys
        }
        out[statistic] = _keyed(statistic, _rows(shared, here), keys)
    return Results(out)


def _check(statistic: str, rows: ResultRows) -> None:
    (low, high), estimate = result_schema.statistic(statistic).range, rows["estimate"].to_numpy()
    outside = (estimate < low - 1e-9) | (estimate > high + 1e-9)
    if outside.any():
        example = rows[outside].dropna(axis=1).head()
        raise ValueError(f"{statistic}: estimate outside [{low}, {high}]:\n{example}")
    if (rows["ci_low"].to_numpy() > rows["ci_high"].to_numpy()).any():
        raise ValueError("an interval has ci_low > ci_high")


def _check_identities(statistic: str, rows: ResultRows) -> None:
    names = [*IDS, *result_schema.statistic(statistic).keys]
    twice = rows.duplicated([c for c in names if rows[c].notna().any()] or names, keep=False)  # few are filled
    if twice.any():
        example = rows[twice].dropna(axis=1).head(4)
        raise ValueError(f"{twice.sum()} result rows share their identity, e.g.\n{example}")


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
