"""Exports of annotation tools: recognised by what they hold, and described by the YAML files in `extras/new/presets`.

A preset says where judgements, people and items stand in what a tool writes, and what is left out. What was judged, and
on which scale, is found in the data. A run needs none of this: what comes of it is written into the study's YAML.
"""

from __future__ import annotations

import fnmatch
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field

from judgebook.extras.new.spelling import key_of_path
from judgebook.extras.new.words import TEXT, is_prose
from judgebook.sources import typed
from judgebook.sources.adapters.options.records import is_table
from judgebook.sources.formats import Records, read_records, scalar
from judgebook.sources.nature import NAMES, plain
from judgebook.sources.rows.record_rows import Look, leaves
from judgebook.study import paths, yaml_file
from judgebook.study.schema import ANNOTATIONS, DataError
from judgebook.study.source_shared import FileOptions
from judgebook.study.yaml_file import Strict

FOLDER = Path(__file__).parent / "presets"
_DATA = {".csv", ".tsv", ".json", ".jsonl"}
MOST = 2000


class Form(Strict):
    """One shape in which a tool writes. `a|b` is the first of several names that is there, `x.*` a key below `x` (or a
    column beginning so) whose name is usual for our column, `/x/` a column that the expression fits.

    has : paths or columns that lead to a value. keys : keys of a record, whatever they hold. name : expression for the
    name of the file. matches : path -> expression for all its values. source : keys of a source; without `scores`,
    these are guessed. own : columns of the tool itself. left_out, notes : what is not read, and what else to know.
    alone : what to say where nothing was judged. files : files that belong together -> further keys of their source;
    {names} stand for any text. scale : paths to the label and the ends of its scale. join : a file beside that
    describes the items. method : of the judgements, where the form says it. labels : path to the names of the labels,
    where other keys stand beside them. direction : 1 where a high score is good by definition, -1 where a low one is.
    options : paths to the numbers that stand for options, and to their words.
    machines : name of an annotator (* is any text) -> llm, classifier or human;
    people : path to the names of those who are people whatever they are called. In `identify`, <x> is the place that
    `columns` has for x.
    """

    has: list[str]
    keys: list[str] = Field([])
    name: str = ""
    matches: dict[str, str] = Field({})
    source: dict[str, Any] = Field({})
    own: list[str] = Field([])
    left_out: list[str] = Field([])
    notes: list[str] = Field([])
    alone: str = ""
    files: dict[str, dict[str, Any]] = Field({})
    scale: dict[str, str] = Field({})
    join: dict[str, str] = Field({})
    method: str = ""
    labels: str = ""
    direction: int = 0
    options: list[str] = Field([])
    machines: dict[str, str] = Field({})
    people: str = ""


class Tool(Strict):
    title: str
    documented: str
    forms: list[Form]


@dataclass
class Export:
    """A file that a tool wrote. table : its records are rows. offered : the lowest and highest answer to tick."""

    tool: Tool
    form: Form
    read: Records
    table: bool
    data: Path
    warnings: list[str] = field(default_factory=list)
    offered: tuple[float, ...] = ()

    @property
    def comment(self) -> list[str]:
        lines = [f"# Recognised: an export of {self.tool.title} ({self.tool.documented})."]
        lines += [f"# Left out: {'; '.join(self.form.left_out)}."] if self.form.left_out else []
        return lines + [f"# Note: {note}." for note in self.form.notes]

    def own(self, column: str) -> bool:
        """Whether a column is the tool's own: when, where, for how much."""
        return any(fnmatch.fnmatchcase(column, pattern) for pattern in self.form.own)

    @cached_property
    def join(self) -> dict[str, str]:
        """A file beside this one whose records the form's key belongs to, as a join of a source."""
        if not self.form.join:
            return {}
        key = self.form.join["key"]
        other = beside(self.data, set(values_at(self.read, self.form.join["by"], self.table)), key)
        return {"file": other.name, **self.form.join} if other else {}

    @cached_property
    def places(self) -> dict[str, list[str | None]]:
        """Path of every value of this file and of the joined one -> the values."""
        out = _places(self.read, self.table)
        if self.join:
            file = self.data.parent / self.join["file"]
            more = _places(read_records(file, file.name, FileOptions()), is_table(file.name))
            out |= {f"{self.join['name']}.{path}": held for path, held in more.items()}
        return out

    def source(self) -> dict[str, Any]:
        """The form's keys of a source, with what this file has of them."""
        form = self.form.source
        columns: dict[str, str] = {}
        for ours, wanted in form.get("columns", {}).items():
            name = self._first(ours, wanted, columns)
            columns |= {ours: name} if name and not (ours == "completed_at" and self._no_times(name)) else {}
        parts = {
            k: [columns.get(n[1:-1]) if n[0] == "<" else self._first("", n, {}) for n in v]
            for k, v in form.get("identify", {}).items()
        }
        if "dialogue" in parts:
            columns.pop("dialogue", None)
        out: dict[str, Any] = {}
        out["scores"] = [path for path in form.get("scores", []) if values_at(self.read, path, self.table)]
        out |= {"columns": columns, "identify": {ours: [n for n in names if n] for ours, names in parts.items()}}
        out["either"] = {ours: [p for p in many if self._one(p)] for ours, many in form.get("either", {}).items()}
        out |= {key: self._rules(form.get(key, {})) for key in ("keep", "drop")}
        return {**{k: v for k, v in out.items() if v}, **{k: v for k, v in form.items() if k not in out}}

    def _rules(self, rules: dict[str, Any]) -> dict[str, Any]:
        """Rules for rows whose column is there; of several values the codes or the words, as the file has them."""
        out: dict[str, Any] = {}
        for path, wanted in rules.items():
            seen = self._held(path)
            if isinstance(wanted, list):
                wanted = [v for v in wanted if v.isdecimal() == all(map(str.isdecimal, seen))]
            out |= {path: wanted} if seen else {}
        return out

    def _first(self, ours: str, wanted: str | list[str], taken: dict[str, str]) -> str | None:
        """The first of several places that this file has."""
        for one in [wanted] if isinstance(wanted, str) else wanted:
            if paths.ALONE.fullmatch(one):
                return one
            if one.endswith("*"):
                name = self._named(ours, one[:-1], taken)
            elif one[0] == "/":
                fits = re.compile(one[1:-1], re.I)
                name = next((path for path in self.places if fits.fullmatch(path.strip()) and self._held(path)), None)
            else:
                name = next((path for path in one.split("|") if self._held(path)), None)
            if name:
                return name
        return None

    def _no_times(self, path: str) -> bool:
        """Whether what stands at a path is no time that a source may hold."""
        return bool(typed.parsed(pd.Series(self._held(path)), ANNOTATIONS["completed_at"])[0].isna().any())

    def _one(self, path: str) -> bool:
        """Whether texts or numbers stand at a path, and nothing else."""
        walk, steps = Look(), paths.parse(path, table=self.table)
        values = [v for r in self.read.records[:MOST] for v, _, _ in walk.each(r, steps, "", {})]
        return paths.ALONE.fullmatch(path) is not None or (
            any(v not in (None, "") for v in values) and not any(isinstance(v, dict | list) for v in values)
        )

    def _held(self, path: str) -> list[str]:
        """What stands at a path of this file, or of the joined one."""
        if self.join and path.startswith(f"{self.join['name']}."):
            return [value for value in self.places.get(path, []) if value not in (None, "")]
        return values_at(self.read, path, self.table)

    def _named(self, ours: str, before: str, taken: dict[str, str]) -> str | None:
        """A key below a path (or a column that begins so) whose name is usual for a column of ours."""
        near = {}
        for path, held in self.places.items():
            rest = path[len(before) :]
            free = path.startswith(before) and path not in taken.values() and not self.own(path)
            if free and (self.table or not re.search(r"[.\[]", rest)):
                near[plain(rest)] = path, pd.Series(held, dtype=object).fillna("").astype(str)
        fits = (near[n][0] for n in NAMES[ours] if n in near and is_prose(near[n][1]) == (ours in TEXT))
        return next(fits, None)


def recognise(read: Records, data: Path, *, table: bool) -> Export | None:
    """The tool that wrote a file, by the form that asks most of it; None where none fits."""
    every = [yaml_file.read(path, Tool) for path in sorted(FOLDER.glob("*.yaml"))]
    matching = [(tool, form) for tool in every for form in tool.forms if fits(form, read, data, table)]
    best = max(matching, key=lambda one: len(one[1].has) + bool(one[1].name), default=None)
    return Export(*best, read, table, data) if best else None


def holds(form: Form, read: Records) -> bool:
    """Whether the records have the keys of a form."""
    first = read.records[0] if read.records else None
    return isinstance(first, dict) and all(key in first for key in form.keys)


def fits(form: Form, read: Records, data: Path, table: bool) -> bool:
    if (form.name and not re.fullmatch(form.name, data.name)) or not holds(form, read):
        return False
    if not all(any(values_at(read, path, table) for path in one.split("|")) for one in form.has):
        return False
    required = [(pattern, values_at(read, p, table)) for one, pattern in form.matches.items() for p in one.split("|")]
    if not all(re.fullmatch(pattern, value, re.I) for pattern, values in required for value in values):
        return False
    # a box for consent that everybody ticked is no label with an answer in each column
    return all(len(_ticked(read, path, table)) > 1 for path in form.matches if "{score}" in path)


def _ticked(read: Records, path: str, table: bool) -> set[str]:
    """The answers that have a column each, of which at least one record has a true one."""
    walk, steps = Look(), paths.parse(path, table=table)
    held = (one for r in read.records[:MOST] if isinstance(r, dict) for one in walk.each(r, steps, "", {}))
    return {env["score"] for value, _, env in held if str(value).lower() == "true"}


def values_at(read: Records, path: str, table: bool) -> list[str]:
    """What stands at a path in the first records: texts and numbers only."""
    walk, steps, records = Look(), paths.parse(path, table=table), read.records[:MOST]
    if table and not [*walk.each(records[0] if records else {}, steps[:1], "", {})]:  # rows have the same columns
        return []
    values = [v for r in records if isinstance(r, dict) for v, _, _ in walk.each(r, steps, "", {})]
    return [text for v in values if not isinstance(v, dict | list) and (text := scalar(v)) not in (None, "")]


def _places(read: Records, table: bool) -> dict[str, list[str | None]]:
    spelt = {place: [p if table or p == "[]" else key_of_path(p) for p in place] for place in leaves(read, most=MOST)}
    return {".".join(spelt[place]): held for place, held in leaves(read, most=MOST).items()}


def beside(data: Path, ids: set[str], key: str) -> Path | None:
    """Another file of the folder in which most ids stand under a key."""
    for path in sorted(data.resolve().parent.iterdir()):
        if path.suffix.lower() not in _DATA or path.name == data.name or not path.is_file():
            continue
        with suppress(DataError, OSError):  # a file that is not ours to read
            if key not in _beginning(path):
                continue
            values = set(values_at(read_records(path, path.name, FileOptions()), key, is_table(path.name)))
            if len(ids & values) * 2 > len(ids):
                return path
    return None


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(65536).decode("utf-8", "replace")
