"""Cells of a file as our columns: mapped, divided by patterns, missing where they mean no value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pandas as pd

from judgebook import codes
from judgebook.sources import sampling
from judgebook.sources.adapters.options.records import Records
from judgebook.sources.adapters.options.table import Table
from judgebook.sources.foreign import child
from judgebook.sources.rows import numbers
from judgebook.sources.rows.spelling import CELL, NAMED, SPELT, Spelling
from judgebook.study import paths
from judgebook.study.labels import Label
from judgebook.study.paths import Matcher
from judgebook.study.schema import KINDS, Problem, several
from judgebook.study.source_shared import OURS, JudgementOptions

TEXTS = ("user_text", "system_text", "system_text_b", "reference")
#: columns of which most texts differ
_AS_READ = (*TEXTS, "completed_at")
#: column of `cells` that says where a row is from: no column of a file and no name of a pattern is called so
WHERE = "{.where}"
#: the same of the record that the row is in
WHERE_RECORD = "{.where_record}"
#: number of that record, where the cells are of a table
RECORD = "{.record_number}"
#: whether it is a row that sums up others
SUMMING = "{.summing}"


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
    whole = codes.is_coded(cells["{file}"])
    out = pd.DataFrame(index=cells.index)
    for ours, value in {"corpus": "main", "system": "system", **source.constants}.items():
        out[ours] = (
            codes.constant(str(value), cells.index) if whole else pd.Series(str(value), cells.index, dtype=object)
        )
    bound = {ours: f"{{{ours}}}" for ours in OURS if f"{{{ours}}}" in cells}
    for ours, column in {**bound, **columns}.items():
        values = codes.as_text(cells[column]) if ours in _AS_READ and codes.is_coded(cells[column]) else cells[column]
        if ours == "completed_at" and isinstance(values.dtype, pd.StringDtype):
            out[ours] = values.str.strip()  # most differ
        else:
            out[ours] = codes.mapped(values, str if ours in TEXTS else str.strip)
    for ours in source.identify:
        out[ours] = cells[f"identify.{ours}"]
    for name in source.ruled:
        if name not in out and name in cells:
            out[cell_column(name)] = cells[name].fillna("")
    no_value = set(source.na_values)
    if "score" in out:
        out["_blank"] = codes.mapped(out["score"], lambda text: text if text in no_value else None)
    for name in (c for c in out if c[0] != "_"):
        empty = out[name].isin(no_value)
        if name == "completed_at":
            out[name] = out[name].where(~empty, None)
        elif empty.any():
            out[name] = codes.mapped(out[name], lambda text: None if text in no_value else text)
        elif out[name].dtype != object and not codes.is_coded(out[name]):
            out[name] = codes.mapped(out[name], str)
    if "turn" in out:
        turn = codes.decoded(out["turn"])
        number = pd.to_numeric(turn, errors="coerce") - source.first_turn
        out["turn"] = number.astype(object).where(number.notna(), turn)
    if "annotator_kind" in out:
        kind = out["annotator_kind"].str.lower().replace({"code": "classifier"})
        out["annotator_kind"] = kind.where(kind.isin(KINDS), out["annotator_kind"])
    if "seconds" in out:
        out["seconds"] = codes.mapped(out["seconds"], _seconds)
    out["where"], out["file"] = cells[WHERE], cells["{file}"]
    if CELL in cells:
        out[SPELT] = cells[CELL]
    if source.sampling:
        out[sampling.CELL] = codes.mapped(
            cells[source.sampling[1]], lambda cell: None if (text := cell.strip()) in no_value else text
        )
    if "work_unit" in out:
        # the same number in two files is not the same work unit
        if codes.is_coded(out["work_unit"]):
            file = out["file"].iloc[0]
            out["work_unit"] = codes.mapped(out["work_unit"], lambda unit: f"{file}:{unit}")
        else:
            named = out["file"].astype("str") + ":" + out["work_unit"].astype("str")
            out["work_unit"] = named.where(out["work_unit"].notna(), None)
    return out


def first_given(source: Records, cells: pd.DataFrame, base: pd.DataFrame) -> pd.DataFrame:
    """`base` with the first value that is given of each of the lists of `either`; else what `base` has."""
    for ours, names in source.either.items():
        held = cells[names].astype(object).where(~cells[names].isin(source.na_values))
        first = held.bfill(axis=1).iloc[:, 0].str.strip()
        base[ours] = first.where(first.notna(), base.get(ours))
    return base


_CLOCK = re.compile(r"([0-9]+):([0-5][0-9]):([0-5][0-9](?:\.[0-9]+)?)")
_UNITS = re.compile(
    r"(?:([0-9]+) ?h(?:ours?|rs?)?,? ?)?(?:([0-9]+) ?m(?:in(?:utes?|s)?)?,? ?)?"
    r"(?:([0-9]+(?:\.[0-9]+)?) ?s(?:ec(?:ond)?s?)?)?"
)


def _seconds(text: str) -> str:
    """A duration such as 0:01:30 or 1m 30s in seconds; any other text as it is. 1:30 could be hours, too."""
    text = numbers.plain(text)
    parts = (_CLOCK.fullmatch(text) or _UNITS.fullmatch(text)) if text else None
    if not parts:
        return text
    return f"{sum(float(n or 0) * k for n, k in zip(parts.groups(), (3600, 60, 1), strict=True)):.10g}"


def with_patterns(source: JudgementOptions, cells: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """`cells` with a column `{name}` for every name that `patterns` find; problems of cells that do not fit."""
    problems, bound = list[Problem](), {}
    for column, text in source.patterns.items():
        match = Matcher(text)
        held = cells[column].astype(object).where(cells[column].notna(), "").astype(str).str.strip()
        if match.expression is None:
            parts = held.map(match)
        else:
            parts = child.of_texts("matches", match.expression, held, ", ".join(cells["{file}"].unique()), column)
        for name in match.names:
            bound[f"{{{name}}}"] = parts.map(lambda p, name=name: p[name] if p else None)

        def wrong(i: Any, column: str = column, held: pd.Series = held, match: Matcher = match) -> Problem:
            place, hint = (cells.at[i, "{file}"], cells.at[i, WHERE], column), "or write a regular expression"
            ways = " or ".join(map(_ways, match.ambiguous.get(held[i], ())))
            content = repr(held[i][:60]) + (f", which can be divided as {ways}" if ways else "")
            return Problem(
                *place,
                f"a cell like {source.patterns[column]!r}",
                content,
                f"change the pattern, {hint} between slashes",
            )

        problems += several(cells.index[parts.isna() & ~held.isin(source.na_values)], wrong)
    return cells.assign(**bound), problems


def simple(source: Table | Records, labels: Iterable[Label], spelling: Spelling) -> bool:
    """Whether rows stay coded: nothing of the YAML makes new texts of those of several columns or rows."""
    sides = {"dialogue_b", "system_b", "annotator_kind"} & {*source.columns, *source.constants}
    changed = [source.identify, source.patterns, source.composites, source.judges, spelling.names]
    asks = [source.ruled, source.sampling, source.repeats != "error", source.annotators == "positions"]
    scores = [source.scores] if isinstance(source.scores, str) else source.scores
    named = {name for path in scores for name in paths.placeholders(path)} - {"label"}
    if isinstance(source, Records):
        changed += [source.either, source.join, source.count, source.chosen, source.pairs, source.value_used]
        named |= paths.names(source.file) | paths.names(source.sheet or "")
        asks += [source.errors is not None, source.empty is not None]
    else:
        changed.append(source.repeat)
    return not (sides or any(changed) or any(asks) or named or any(label.level == "sets" for label in labels))


def twice_named(file: str, scores: Iterable[str], repeated: Iterable[str], labels: Collection[str]) -> list[Problem]:
    """Columns whose number would become a part of an id: the header names them alike, and a pattern cannot tell why.

    repeated : columns that were numbered. labels : as the file spells them.
    """
    out = []
    for column in repeated:
        number = column[column.rindex(" (") :]
        fits = (paths.pattern(text, greedy=True).fullmatch(column) for text in scores)
        parts = {(name, text, len(m.groupdict())) for m in fits if m for name, text in m.groupdict().items()}
        ended = [(name, n) for name, text, n in parts if text.endswith(number) and text not in labels]
        odd = [name for name, n in ended if name != "label" or n > 1]  # a label alone is one that is not declared
        if odd:
            hint = "the header repeats the name: give its number a name in `scores`, e.g. `{label} ({i})`, or rename it"
            out.append(Problem(file, "row 1", column, f"a name that says one {odd[0]}", "a repeated name", hint))
    return out


def _ways(parts: dict[str, str]) -> str:
    return " + ".join(repr(v) for v in parts.values())
