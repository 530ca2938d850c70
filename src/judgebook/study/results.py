"""Results of an analysis: wide in memory, long on disk.

In memory, `Results` maps each statistic to a frame with one row per thing estimated and a named column for each of the
statistic's keys. `fold` makes the rows that are stored, where one column, `condition`, holds the keys; `unfold` is
its inverse. No other code reads or writes `condition`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import reduce, wraps
from operator import and_
from pathlib import Path
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeAlias

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq

from judgebook import codes
from judgebook.study import result_schema
from judgebook.study.result_schema import COLUMNS, IDS, REQUIRED, VALUES
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
                by_statistic.setdefault(statistic, []).append(framed(statistic, frame))
    # all frames of a statistic have the same columns and types
    return Results(
        {s: pd.concat(frames, ignore_index=True) if frames[1:] else frames[0] for s, frames in by_statistic.items()}
    )


def _by_statistic(part: Any) -> Iterable[tuple[str, pd.DataFrame]]:
    if isinstance(part, Results):
        return part.items()
    if isinstance(part, pd.DataFrame):
        groups = part.groupby("statistic", sort=False) if len(part) else ()
        return [(s, frame.drop(columns="statistic").dropna(axis=1, how="all")) for s, frame in groups]
    rows: dict[str, list[dict]] = {}
    for row in part:
        rows.setdefault(row["statistic"], []).append({k: v for k, v in row.items() if k != "statistic"})
    return [(s, pd.DataFrame(of_statistic)) for s, of_statistic in rows.items()]


def framed(statistic: str, frame: pd.DataFrame) -> ResultRows:
    """`frame` with exactly the columns of the statistic, each with its type."""
    wanted = columns(statistic)
    unknown = [c for c in frame if c not in wanted]
    if unknown:
        raise ValueError(f"{statistic}: columns {unknown} are not declared; it has {wanted}")
    spec = {c: Column(dtype=COLUMNS[c][0] if c in COLUMNS else "object", missing=True, doc="") for c in wanted}
    return conform(frame, spec)


def where(frame: pd.DataFrame, **keys: object) -> pd.DataFrame:
    """The rows in which each named column has the given value: None means missing, a list one of its items."""
    keep = np.ones(len(frame), dtype=bool)
    for name, value in keys.items():
        if value is None:
            keep &= frame[name].isna().to_numpy()
        else:
            values = list(value) if isinstance(value, list | tuple | set) else [value]
            keep &= frame[name].isin(values).to_numpy()
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
    rows = list(folded(results, study=study, notebook=notebook, own=own))
    if not rows:
        return conform(pd.DataFrame(columns=["statistic"]), _STORED, study=study, notebook=notebook)
    return pd.concat(rows, ignore_index=True)  # and what is said of all of them


def folded(
    results: Results, *, study: str, notebook: str, own: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[pd.DataFrame]:
    """As `fold`, statistic by statistic, and AT_ONCE rows at a time."""
    for statistic, whole in results.items():
        _check(statistic, whole)
        keys = list(result_schema.statistic(statistic).keys)
        for start in range(0, len(whole), AT_ONCE):
            frame = whole.iloc[start : start + AT_ONCE]
            rows = frame.drop(columns=keys).assign(statistic=statistic, condition=_conditions(frame[keys]))
            stored = conform(rows.dropna(axis=1, how="all"), _STORED, study=study, notebook=notebook)
            if own:
                stored.attrs[_OWN] = dict(own)
            yield stored


def _conditions(keys: pd.DataFrame) -> np.ndarray | None:
    """(rows,) the texts that keys are stored as; each combination of keys is put into words once."""
    if keys.columns.empty:
        return None
    code = np.zeros(len(keys), dtype=np.int64)
    for name in keys:
        of_key, values = pd.factorize(keys[name])
        # numbered anew after each key: there are at most as many codes as rows, and their products stay in 64 bits
        code = np.unique(code * (len(values) + 1) + of_key + 1, return_inverse=True)[1]
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    texts = [_condition(values) for values in keys.iloc[first].to_dict("records")]
    return np.array(texts, dtype=object)[place] if any(texts) else None


def _condition(keys: Mapping[str, object]) -> str | None:
    return ";".join(f"{k}={_text(keys[k])}" for k in sorted(keys) if not pd.isna(keys[k])) or None


def identities(statistic: str, rows: pd.DataFrame) -> pd.DataFrame:
    """(rows, identifiers and `condition`) what identifies rows of a statistic where they are stored, as texts, '' where
    a column is empty. rows : with any of `IDS` and the statistic's keys; without a column, its values are missing."""
    keys = list(result_schema.statistic(statistic).keys)
    named = rows.reindex(columns=[*IDS, *keys]).replace("", None)
    out = named[list(IDS)].assign(condition=_conditions(named[keys]))
    return out.astype(object).where(out.notna(), "")


def _text(value: object) -> str:
    """A value of a key as it is stored: `;` ends it, and is written as in an address."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text.replace("%", "%25").replace(";", "%3B") if _ODD.search(text) else text


def _value(text: str) -> str:
    return text.replace("%3B", ";").replace("%25", "%")


def read(
    path: Path, without: Collection[str] = (), only: Mapping[str, Mapping[str, Collection[str]]] = MappingProxyType({})
) -> Results:
    """`Results` from a file, or only part of them where there are many (such as a row for each pair of systems).

    without : statistics that are not read. only : statistic -> key -> values; rows with other values are not read.
    """
    statistic, condition = pc.field("statistic"), pc.coalesce(pc.field("condition"), pc.scalar(""))
    wanted = [~statistic.isin([*without])] if without else []
    for name, keys in only.items():
        for key, values in keys.items():
            has = pc.match_substring_regex(
                condition, f"(^|;){key}=({'|'.join(re.escape(_text(v)) for v in values)})(;|$)"
            )
            wanted.append((statistic != name) | has)
    filters = reduce(and_, wanted) if wanted else None
    # an earlier version may have stored fewer columns
    there = {*pq.read_schema(path).names}
    wanted_columns = ["statistic", "condition", *IDS, *(column for column in VALUES if column in there)]
    return unfold(pd.read_parquet(path, columns=wanted_columns, filters=filters))


def stored_counts(path: Path) -> dict[str, int]:
    """How many rows of each statistic a file holds, in its order."""
    stored = pd.read_parquet(path, columns=["statistic"])
    result_schema.met(stored.attrs.get(_OWN, {}))
    return {str(name): int(n) for name, n in stored["statistic"].value_counts(sort=False).items()}


def unfold(stored: pd.DataFrame) -> Results:
    """`Results` from rows that were stored."""
    out = {}
    result_schema.met(stored.attrs.get(_OWN, {}))
    for statistic, frame in stored.groupby("statistic", sort=False):
        declared = result_schema.statistic(statistic)
        place, conditions = pd.factorize(frame["condition"])  # -1 where there is none
        parsed = [*(dict(p.split("=", 1) for p in c.split(";") if p) for c in conditions), {}]
        keys = {
            k: pd.Series(
                codes.objects([declared.value(k, _value(p[k])) if k in p else None for p in parsed])[place], frame.index
            )
            for k in declared.keys
        }
        there = [column for column in (*IDS, *VALUES) if column in frame]
        out[statistic] = framed(statistic, frame[there].assign(**keys))
    return Results(out)


def _check(statistic: str, rows: ResultRows) -> None:
    (low, high), estimate = result_schema.statistic(statistic).range, rows["estimate"].to_numpy()
    outside = rows[(estimate < low - 1e-9) | (estimate > high + 1e-9)]
    if len(outside):
        raise ValueError(f"{statistic}: estimate outside [{low}, {high}]:\n{outside.dropna(axis=1).head()}")
    if (rows["ci_low"].to_numpy() > rows["ci_high"].to_numpy()).any():
        raise ValueError("an interval has ci_low > ci_high")
    names = [*IDS, *result_schema.statistic(statistic).keys]
    twice = rows.duplicated([c for c in names if rows[c].notna().any()] or names, keep=False)  # few are filled
    if twice.any():
        example = rows[twice].dropna(axis=1).head(4)
        raise ValueError(f"{twice.sum()} result rows share their identity, e.g.\n{example}")
