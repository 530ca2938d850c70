"""Where raw files are looked for, and reading them with errors that say what to do.

A name in a YAML is looked for in the folder of that YAML, then in `data/raw`, `$COMPENDIUM_RAW` and `../shared/data`,
there first in the folder named for the study. Nothing here writes.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.sources.places import candidates, find
from helpers.sources.registry import fetch_hint
from helpers.study import params
from helpers.study.labels import Label
from helpers.study.schema import DataError, Problem


class Files:
    """Opens the raw files of one study: called with a name, it returns the path, or raises DataError.

    names : what the source says it reads. A name outside it is a mistake of the adapter (the pipeline hashes exactly
        the declared files), so that it raises ValueError.
    labels : what the study declares, for formats whose own words do not say what a label is.
    hint : how an absent file is made; default: how it is fetched.
    """

    def __init__(
        self,
        study: str,
        names: Iterable[str],
        beside: Path | None = None,
        labels: Iterable[Label] = (),
        hint: str = "",
    ):
        self.study, self.names, self.beside, self.labels, self.hint = study, set(names), beside, list(labels), hint

    def __call__(self, name: str) -> Path:
        if name not in self.names:
            raise ValueError(f"{name!r} is not among the files the source declares: {sorted(self.names)}")
        path = find(name, self.study, self.beside)
        if path is None:
            raise DataError([self._absent(name)])
        return path

    def _absent(self, name: str) -> Problem:
        places = ", ".join(dict.fromkeys(_shown(p.parent) for p in candidates(name, self.study, self.beside)))
        hint = (
            self.hint
            or fetch_hint(self.study, name)
            or f"put the file at {_shown(params.ROOT / 'data' / 'raw' / self.study)}"
        )
        return Problem(name, "", "", f"the file in one of {places}", "no such file", hint)


def _shown(path: Path) -> str:
    """A path as a reader of the project would write it."""
    try:
        return path.relative_to(params.ROOT).as_posix() or "."
    except ValueError:
        return os.path.relpath(path, params.ROOT) if path.is_relative_to(params.ROOT.parent) else str(path)


def read_text(path: Path, name: str, encoding: str = "utf-8-sig") -> str:
    """The file's text, without a byte order mark. Raises DataError for another encoding or an empty file."""
    data = path.read_bytes()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{data[error.start]:02x}, which is not"
        hint = "save the file as UTF-8, or name its encoding in the YAML where the adapter has that option"
        raise DataError([Problem(name, f"line {line}", "", f"text in {encoding}", found, hint)]) from None
    if not text.strip():
        raise DataError([Problem(name, "", "", "data", "an empty file", "fetch or export it again")])
    return text


def read_json(path: Path, name: str, expect: type = dict) -> Any:
    """The file's JSON. Raises DataError with line and column where it breaks off, or when it is not an `expect`."""
    try:
        value = json.loads(read_text(path, name))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, character {error.colno}"
        hint = "the file may be truncated: fetch it again"
        raise DataError([Problem(name, place, "", "JSON", error.msg, hint)]) from None
    if not isinstance(value, expect):
        kinds = {dict: "an object {…}", list: "a list […]"}
        raise DataError([Problem(name, "line 1", "", kinds.get(expect, expect.__name__), type(value).__name__)])
    return value


def read_csv(
    path: Path,
    name: str,
    *,
    header: bool = True,
    delimiter: str = ",",
    quoting: bool = True,
    encoding: str = "utf-8-sig",
    columns: Collection[str] = (),
) -> pd.DataFrame:
    """The file as text cells; an empty cell is an empty string, empty lines are passed over.

    columns : those that must be there.

    The index is the row in the file as a spreadsheet counts it: 1-based, header included. Without a header columns are
    numbered from 0. Raises DataError for an unclosed quote, no rows, an absent column, a name given to two columns, or
    rows whose number of cells differs (all of them are reported).
    """
    text = read_text(path, name, encoding)
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    options = {"strict": True} if quoting else {"quoting": csv.QUOTE_NONE}
    reader, rows, n = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **options), {}, 0
    try:
        for n, cells in enumerate(reader, start=1):
            if cells:
                rows[n] = cells
    except csv.Error as error:
        hint = "is a quote left open? `quoting: false` reads quotes as text"
        problem = Problem(name, f"row {n + 1} (line {reader.line_num})", "", "well-formed cells", str(error), hint)
        raise DataError([problem]) from None
    names = rows.pop(next(iter(rows))) if header else [str(i) for i in range(len(next(iter(rows.values()))))]
    _check_cells(name, names, rows)
    absent = ", ".join(c for c in columns if c not in names)
    if absent:
        found = f"columns {', '.join(names)}"[:200]
        raise DataError([Problem(name, "row 1", absent, f"columns {', '.join(columns)}", found)])
    return pd.DataFrame(list(rows.values()), index=list(rows), columns=names, dtype=str)


def _check_cells(name: str, columns: list[str], rows: dict[int, list[str]]) -> None:
    named = [c for c in columns if c]
    problems = [
        Problem(name, "row 1", c, "a column name given once", f"{named.count(c)} columns of that name", "rename one")
        for c in dict.fromkeys(named)
        if named.count(c) > 1
    ]
    problems += [
        Problem(name, f"row {n}", "", f"{len(columns)} cells", str(len(cells)), "check delimiter and quoting")
        for n, cells in rows.items()
        if len(cells) != len(columns)
    ]
    if not rows:
        problems.append(Problem(name, "", "", "rows of data", "a header only", "fetch or export the file again"))
    if problems:
        raise DataError(problems)
