"""Cells of a file as our columns: mapped, divided by patterns, missing where they mean no value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from judgebook.sources import sampling
from judgebook.sources.adapters.options.records import Records
from judgebook.sources.rows import numbers
from judgebook.sources.rows.spelling import CELL, NAMED, SPELT, Spelling
from judgebook.study import limits
from judgebook.study.labels import Label
from judgebook.study.paths import Matcher
from judgebook.study.schema import KINDS, Problem
from judgebook.study.source_shared import OURS, JudgementOptions

TEXTS = ("user_text", "system_text", "reference")
#: column of `cells` that says where a row is from: no column of a file and no name of a pattern is called so
WHERE = "{.where}"
#: the same of the record that the row is in
WHERE_RECORD = "{.where_record}"


def cell_column(name: str) -> str:
    """The column of `base` and `marks` that holds a column of the file which only `keep` and `drop` need."""
    return f"_cell.{name}"


def spellings(source: JudgementOptions, labels: list[Label], spelling: Spelling) -> list[str]:
    """Labels, and items of composites, as the file may spell them."""
    items = [item for composite in source.composites.values() for item in composite.mean]
    names = dict.fromkeys([*items, *(label.id for label in labels), *source.label_names])
    return [*names, *(other for other, name in spelling.names.get("label", {}).items() if name in names)]


def respelt(source: JudgementOptions, cells: pd.DataFrame, spelling: Spelling) -> pd.DataFrame:
    """`cells` with the names of systems, annotators and labels as the study wants them."""
    columns, either = getattr(source, "columns", {}), getattr(source, "either", {})
    mapped_to = {ours: [columns[ours]] if ours in columns else [] for ours in NAMED}
    places = {ours: [f"{{{ours}}}", *mapped_to[ours], *either.get(ours, [])] for ours in NAMED}
    return spelling.cells(cells, places)


def mapped(source: JudgementOptions, cells: pd.DataFrame, columns: Mapping[Any, str]) -> pd.DataFrame:
    """Our columns as the YAML maps them, missing where the cell means no value; and `where` and `file`.

    columns : our column -> the column of `cells`.
    """
    out = pd.DataFrame({"corpus": "main", "system": "system"}, index=cells.index, dtype=object)
    for ours, value in source.constants.items():
        out[ours] = str(value)
    bound = {ours: f"{{{ours}}}" for ours in OURS if f"{{{ours}}}" in cells}
    for ours, column in {**bound, **columns}.items():
        out[ours] = cells[column] if ours in TEXTS else cells[column].str.strip()
    for ours in source.identify:
        out[ours] = cells[f"identify.{ours}"]
    for name in source.ruled:
        if name not in out and name in cells:
            out[cell_column(name)] = cells[name].fillna("")
    if "score" in out:
        blank = out["score"].astype(object)
        out["_blank"] = blank.where(blank.isin(source.na_values), None)
    held = [c for c in out if c[0] != "_"]
    out[held] = out[held].astype(object).where(~out[held].isin(source.na_values) & out[held].notna(), None)
    if "turn" in out:
        number = pd.to_numeric(out["turn"], errors="coerce") - source.first_turn
        out["turn"] = number.astype(object).where(number.notna(), out["turn"])
    if "annotator_kind" in out:
        kind = out["annotator_kind"].str.lower().replace({"code": "classifier"})
        out["annotator_kind"] = kind.where(kind.isin(KINDS), out["annotator_kind"])
    if "seconds" in out:
        out["seconds"] = out["seconds"].map(_seconds)
    out["where"], out["file"] = cells[WHERE], cells["{file}"]
    if CELL in cells:
        out[SPELT] = cells[CELL]
    if source.sampling:
        drawn = cells[source.sampling[1]].str.strip()
        out[sampling.CELL] = drawn.astype(object).where(~drawn.isin(source.na_values) & drawn.notna(), None)
    if "work_unit" in out:
        # the same number in two files is not the same work unit
        named = out["file"].astype("str") + ":" + out["work_unit"].astype("str")
        out["work_unit"] = named.where(out["work_unit"].notna(), None)
    return out


def first_given(source: Records, cells: pd.DataFrame, base: pd.DataFrame) -> pd.DataFrame:
    """`base` with the first value that is given of each of the lists of `either`; else what `base` has."""
    for ours, several in source.either.items():
        held = cells[several].astype(object).where(~cells[several].isin(source.na_values))
        first = held.bfill(axis=1).iloc[:, 0].str.strip()
        base[ours] = first.where(first.notna(), base.get(ours))
    return base


_CLOCK = re.compile(r"([0-9]+):([0-5][0-9]):([0-5][0-9](?:\.[0-9]+)?)")
_UNITS = re.compile(
    r"(?:([0-9]+) ?h(?:ours?|rs?)?,? ?)?(?:([0-9]+) ?m(?:in(?:utes?|s)?)?,? ?)?"
    r"(?:([0-9]+(?:\.[0-9]+)?) ?s(?:ec(?:ond)?s?)?)?"
)


def _seconds(text: str | None) -> str | None:
    """A duration such as 0:01:30 or 1m 30s in seconds; any other text as it is. 1:30 could be hours, too."""
    text = numbers.plain(text) if text else text
    parts = (_CLOCK.fullmatch(text) or _UNITS.fullmatch(text)) if text else None
    if not parts:
        return text
    return f"{sum(float(n or 0) * k for n, k in zip(parts.groups(), (3600, 60, 1), strict=True)):.10g}"


def with_patterns(source: JudgementOptions, cells: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """`cells` with a column `{name}` for every name that `patterns` find; problems of cells that do not fit."""
    problems, bound = [], {}
    for column, text in source.patterns.items():
        match = Matcher(text)
        held = cells[column].astype(object).where(cells[column].notna(), "").astype(str).str.strip()
        parts = held.map(match)
        for name in match.names:
            bound[f"{{{name}}}"] = parts.map(lambda p, name=name: p[name] if p else None)
        for i in cells.index[parts.isna() & ~held.isin(source.na_values)][: limits.PROBLEMS]:
            cell, hint = held[i], "change the pattern, or write a regular expression between slashes"
            if cell in match.ambiguous:
                short, long = match.ambiguous[cell]
                hint = f"it can be divided as {_ways(short)} or as {_ways(long)}: {hint}"
            place = cells.at[i, "{file}"], cells.at[i, WHERE], column
            problems.append(Problem(*place, f"a cell like {text!r}", repr(cell[:60]), hint))
    return cells.assign(**bound), problems


def _ways(parts: dict[str, str]) -> str:
    return " + ".join(repr(v) for v in parts.values())
