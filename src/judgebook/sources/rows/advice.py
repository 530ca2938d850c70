"""What to write in a YAML so that its files are read: with the columns of the file, and what its source says already.

Whoever finds a problem says what is odd (`Problem.kind`, `Problem.of`); the lines that mend it are made here, for all
problems of a kind together.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from judgebook.sources import places
from judgebook.sources.nature import NOTHING
from judgebook.sources.records import slug
from judgebook.sources.rows import numbers
from judgebook.study.labels import METHODS
from judgebook.study.params import Study
from judgebook.study.schema import Problem
from judgebook.study.source_shared import JudgementOptions

#: cells that a line names; of more, it says that there are others
_SHOWN = 8
#: characters of the id of a label that is made of its name
_LENGTH = 40
_ERROR = re.compile(r"#[A-Z/0!?]+[!?]?")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?|[0-9]{1,2}[-./][A-Za-zä]{3,9}\.?|[A-Za-zä]{3,9}[-./][0-9]{1,4}"
)


def advised(study: Study, problems: Iterable[Problem]) -> list[Problem]:
    """Problems with the names that files give our columns, and, where lines of YAML would mend them, with these.

    A problem of a file that several sources read keeps its hint: which of them is meant is not known.
    """
    sources = _sources(study)
    problems = _causes(list(problems), sources)
    alike: dict[tuple[str, ...], list[Problem]] = defaultdict(list)
    for p in problems:
        alike[_alike(p)].append(p)
    hints = {}
    for key, group in alike.items():
        source = sources.get(group[0].file)
        says = _SAYS.get(group[0].kind)
        hints[key] = says(study, source, group) if says and source is not None else ""
    return [
        replace(p, hint=hints[_alike(p)] or p.hint, called=_called(sources.get(p.file), p.column)) for p in problems
    ]


def _causes(problems: list[Problem], sources: dict[str, JudgementOptions]) -> list[Problem]:
    """Problems without the empty cells that follow from others: of a path or a file to be joined that leads nowhere."""
    others = [p for p in problems if not p.kind]
    columns, files = {p.column for p in others}, {p.file for p in others}

    def follows(problem: Problem) -> bool:
        source = sources.get(problem.file)
        called = _called(source, problem.column)
        joined = {join.name for join in getattr(source, "join", []) if join.file in files}
        return problem.kind == "empty" and (called in columns - {""} or called.partition(".")[0] in joined)

    return [p for p in problems if not follows(p)]


def _alike(problem: Problem) -> tuple[str, ...]:
    return problem.file, problem.column, problem.kind, problem.expected


def _sources(study: Study) -> dict[str, JudgementOptions]:
    """File -> the source that reads it."""
    beside = study.path.parent if study.path else None
    out: dict[str, list[JudgementOptions]] = defaultdict(list)
    for source in study.sources:
        if isinstance(source, JudgementOptions):
            for name in [*places.names(source, study.key, beside), *source.names()]:
                out[name] += [source] if source not in out[name] else []
    return {name: several[0] for name, several in out.items() if len(several) == 1}


def _called(source: Any, column: str) -> str:
    """What the file calls a column of ours: the columns of an id that is made of several."""
    names = [getattr(source, "columns", {}).get(column, "")] if source is not None else []
    names = getattr(source, "identify", {}).get(column) or names
    return ", ".join(names).replace("{row}", "")


def flow(values: Iterable[str]) -> str:
    """Texts as a list of a YAML has them."""
    texts = [json.dumps(text, ensure_ascii=False) for text in values]
    return ", ".join(texts[:_SHOWN]) + (", …" if len(texts) > _SHOWN else "")


def _missing(source: JudgementOptions, cells: Iterable[str]) -> str:
    """The line that makes cells missing values."""
    return f"`na_values: [{flow(dict.fromkeys([*source.na_values, *cells]))}]`"


def _empty(study: Study, source: JudgementOptions, group: list[Problem]) -> str:
    """Of rows without an id."""
    column = group[0].column
    drop = f'`drop: {{{column}: "is empty"}}`' if not source.drop else f'`{column}: "is empty"` under `drop`'
    ways = ["fill it in"]
    for join in getattr(source, "join", []):
        if _called(source, column).startswith(f"{join.name}."):
            ways = [f"add the records that {join.file} lacks (`join: {join.name}`)"]
    if names := [text for text in source.na_values if text]:
        rest = flow(text for text in source.na_values if not text)
        ways.append(
            f"write `na_values: [{rest}]` if {flow(names)} is a name here (where it is no score, too: rename it)"
        )
    if column == "annotator":
        ways.append("write `annotators: positions` in place of `annotator` under `columns` if nobody knows who judged")
    return ", ".join([*ways, f"or leave such rows out: {drop} under their source"])


def _off_the_scale(study: Study, source: JudgementOptions, group: list[Problem]) -> str:
    """Of numbers that the scale of their label does not have."""
    method, name, _ = group[0].of
    label = next((x for x in study.label_list(every=True) if (x.method, x.id) == (method, name)), None)
    cells = list(dict.fromkeys(p.of[2] for p in group))
    values = pd.to_numeric(pd.Series(cells), errors="coerce").dropna()
    if label is None or values.empty:
        return ""
    if label.categories or METHODS[method].unit == "pair":
        pair = METHODS[method].unit == "pair"
        ends = "1, 0 or -1" if pair else f"one from {label.scale[0]:g} to {label.scale[1]:g}"
        return (
            f"if this is an answer, write which number it means ({ends}), `values: {{{_mapped(cells)}}}`; if not, "
            f"{_missing(source, cells)} under the source"
        )
    low, high = min(label.scale[0], values.min()), max(label.scale[1], values.max())
    keys = [f"scale: [{low:g}, {high:g}]"] if [low, high] != list(label.scale) else []
    keys += ["integer: false"] if label.integer and (values % 1 != 0).any() else []
    return (
        f"if this is an answer, write `{', '.join(keys)}` for {name} under `labels`; if not, write "
        f"{_missing(source, cells)} under the source"
    )


def _mapped(cells: Iterable[str]) -> str:
    texts = [f"{json.dumps(text, ensure_ascii=False)}: …" for text in dict.fromkeys(cells)]
    return ", ".join(texts[:_SHOWN])


def _no_label(study: Study, source: JudgementOptions, group: list[Problem]) -> str:
    """Of labels that the YAML does not declare: how they are spelt in it, or their declarations."""
    of_method = [x.id for x in study.label_list() if x.method == group[0].of[0]]
    scores: dict[str, list[str]] = defaultdict(list)
    for p in group:
        scores[p.of[1]].append(p.of[2])
    ways, near = spelt(scores, of_method)
    new = [declared(name, f"scale: [{ends(scores[name])}]") for name in scores if name not in near]
    ways += [f"declare it under `labels`: `{'`, `'.join(new[:_SHOWN])}`"] if new else []
    return "; ".join([*ways, f"or leave it out: `drop: {{label: [{flow(scores)}]}}`"])


def spelt(names: Iterable[str], declared: Collection[str]) -> tuple[list[str], set[str]]:
    """What to write where names of a file are near those of declared labels, if any are; and which these are."""
    near = {name: close[0] for name in names if (close := _near(name, declared))}
    pairs = ", ".join(f"{_key(name)}: {id_}" for name, id_ in list(near.items())[:_SHOWN])
    return [f"write `label_names: {{{pairs}}}` under the source"] if near else [], set(near)


def _key(name: str) -> str:
    return (
        name
        if re.fullmatch(r"(?!(?:yes|no|on|off|true|false|null)$)[A-Za-z_][A-Za-z0-9_]*", name)
        else json.dumps(name, ensure_ascii=False)
    )


def declared(name: str, spec: str) -> str:
    """The lines that declare a label which the file calls `name`."""
    id_ = name if name == slug(name) else slug(name)[:_LENGTH].strip("_")
    spelt = f"` and, under the source, `label_names: {{{_key(name)}: {id_}}}" if id_ != name else ""
    return f"{id_}: {{{spec}}}{spelt}"


def ends(scores: Iterable[str]) -> str:
    """The ends of a scale as far as scores show them."""
    values = numbers.read(pd.Series(list(scores), dtype=object)).dropna()
    return f"{values.min():g}, {values.max():g}" if values.min() < values.max() else "smallest, largest"


def _near(name: str, names: Iterable[str]) -> list[str]:
    return [n for n in names if n.lower() == name.lower()] or difflib.get_close_matches(name, list(names), n=1)


def _no_number(study: Study, source: JudgementOptions, group: list[Problem]) -> str:
    """Of scores that are no numbers."""
    cells = list(dict.fromkeys(p.of[0] for p in group))
    if all(cell.strip().lower() in NOTHING for cell in cells):
        return f"if these mean that there is no score, write {_missing(source, cells)} under the source"
    if all(map(_ERROR.fullmatch, cells)):
        return "formulas failed: mend them in the spreadsheet, or write " + _missing(source, cells)
    if all(map(_DATE.fullmatch, cells)):
        return (
            "a spreadsheet makes dates of scores such as 4/5: format the column as text and enter them again, or write "
            f"{_missing(source, cells)} under the source"
        )
    add = "add to `values` of the source" if source.values else "write under the source"
    return (
        f"{add} which number each means, `values: {{{_mapped(cells)}}}`, or, where it is no answer, "
        f"{_missing(source, cells)}; to leave out a whole column of a table, use `skip_columns`"
    )


def _no_category(study: Study, source: JudgementOptions, group: list[Problem]) -> str:
    """Of answers that are none of their label's categories."""
    name, cells = group[0].of[0], list(dict.fromkeys(p.of[1] for p in group))
    label = next((x for x in study.label_list(every=True) if x.id == name and x.categories), None)
    every = [*(label.categories if label else []), *cells]
    return (
        f"if it is an answer, write `categories: [{flow(every)}]` for {name} under `labels`; if it is another spelling "
        f"of one, correct it in the file; if it is none, write {_missing(source, cells)} under the source"
    )


def _no_time(study: Study, source: JudgementOptions, group: list[Problem]) -> str:
    """Of durations, times and turns that are none."""
    column, cell = group[0].column, group[0].of[0]
    name = _called(source, column)
    said = re.fullmatch(r"(\D*)[0-9]+(\D*)", cell)
    if said and name and re.search(r"[^\W\d_]", said[1] + said[2]) and all(p.of[0].startswith(said[1]) for p in group):
        pattern = json.dumps(f"{said[1]}{{{column}}}{said[2]}", ensure_ascii=False)
        return f"write `patterns: {{{_key(name)}: {pattern}}}` in place of `{column}` under `columns`"
    if column == "turn":
        return ""
    how = {"seconds": "write seconds, 0:01:30 or 1m 30s", "completed_at": "write it as 2026-11-27 10:30:00"}
    return f"{how.get(column, 'correct it')} in the file, or leave `{column}` out of `columns`"


def _systems(study: Study, source: JudgementOptions, group: list[Problem]) -> str:
    """Of dialogues with two systems: mostly the id is that of what both replied to."""
    columns = getattr(source, "columns", {})
    parts = {}
    for side in ("", "_b"):
        dialogue = source.identify.get(f"dialogue{side}") or [columns.get(f"dialogue{side}")]  # type: ignore[call-overload]
        bound = f"{{system{side}}}" if f"system{side}" in getattr(source, "variables", ()) else None
        system = columns.get(f"system{side}", bound)
        if all(dialogue) and system and system not in dialogue:
            parts[f"dialogue{side}"] = [*dialogue, system]
    if "dialogue" not in parts:
        return ""
    lines = ", ".join(f"{ours}: [{flow(names)}]" for ours, names in parts.items())
    return (
        f"if both replied to the same prompt, write `identify: {{{lines}}}` under the source, without `dialogue` under "
        "`columns`; if not, give their dialogues different ids"
    )


_SAYS: dict[str, Callable[[Study, Any, list[Problem]], str]] = {
    "empty": _empty,
    "off the scale": _off_the_scale,
    "label": _no_label,
    "score": _no_number,
    "category": _no_category,
    "cell": _no_time,
    "systems": _systems,
}
