"""Looking at data: a first YAML for a table, and what a study's frames amount to."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import string
from pathlib import Path
from typing import Any

import pandas as pd

from judgebook import project
from judgebook.sources import build, json_text, sampling
from judgebook.sources.adapters import abc_eval
from judgebook.sources.adapters.options.records import is_table
from judgebook.sources.adapters.record_rows import unused
from judgebook.sources.files import blocks_problem, in_blocks, lines_in_blocks, read_text
from judgebook.sources.formats import (
    WORKBOOKS,
    Records,
    filled_sheets,
    kind,
    read_records,
    read_table,
    read_workbook,
    scalar,
)
from judgebook.sources.guessing import exports, presets
from judgebook.sources.guessing.columns import Guess
from judgebook.sources.guessing.grids import shared
from judgebook.sources.guessing.nested import NUMBERED, guess_records
from judgebook.sources.guessing.spelling import JsonColumn, Shape, comment, declaration, distinct, label_lines, quoted
from judgebook.sources.guessing.tables import nameless
from judgebook.sources.guessing.words import NAMES, plain
from judgebook.sources.in_words import directions, not_used, sentences
from judgebook.study import limits, params
from judgebook.study.schema import ITEM, DataError, Problem
from judgebook.study.source_shared import FileOptions

_FEW = 30
#: a scale with more steps than this is a slider
_SLIDER = 20


def new_yaml(name: str, data: Path, folder: Path | None = None) -> str:
    """The text of a YAML for the data file, with a comment where files beside it look the same.

    See `_new_yaml`.
    """
    text = _new_yaml(name, data, folder)
    line = next((n for n, one in enumerate(text.splitlines()) if one.startswith("sources:")), None)
    same = _beside(data)
    if line is None or not same or re.search(r"^\s+(- )?files?: .*[*{]", text, re.M):
        return text
    lines = text.splitlines()
    many, more = len(same) > 1, ", …" if same[3:] else ""
    said = f"{_counted(len(same), 'other file')} in its folder {'have' if many else 'has'} the same columns or keys "
    said += f"({', '.join(same[:3])}{more}) and {'are' if many else 'is'} not read"
    said += f": `adapter: records` reads several by `file: {_common(data.name, same)}`"
    lines.insert(line, comment(f"Unsure: {said}."))
    return "\n".join(lines) + "\n"


def _beside(data: Path) -> list[str]:
    """Files in the folder of the data that begin as they do: the same columns, or keys of an object."""

    def begin(path: Path) -> Any:
        try:
            if is_table(path.name) and kind(path) not in WORKBOOKS:
                return read_text(path, path.name).partition("\n")[0]
            if kind(path) == ".json":
                content = json.loads(read_text(path, path.name))
                return sorted(content) if isinstance(content, dict) else None
        except (DataError, ValueError, OSError):
            return None
        return None

    own = begin(data)
    others = sorted(p for p in data.parent.iterdir() if p != data and p.suffix == data.suffix and p.is_file())
    return [p.name for p in others[:200] if own and begin(p) == own]


def _common(name: str, others: list[str]) -> str:
    """A pattern for file names: what they begin with, and * for the rest."""
    return quoted(shared([name, *others]) + "*" + Path(name).suffix)


def _new_yaml(name: str, data: Path, folder: Path | None = None) -> str:
    """The text of a YAML for the data file, with what was guessed and why as comments.

    folder : where the YAML will stand (default: `params/`), because the file is named relative to it.

    Raises ParamsError for a name that cannot be a study's key, DataError for a file that cannot be read or guessed.
    """
    if not name.isidentifier():
        raise params.ParamsError(
            f"{name[: limits.QUOTED]!r}: a study's name is its key: expected letters, digits and _"
        )
    if not params.is_file(data):
        shown = str(data)[: limits.QUOTED]
        raise DataError([Problem(shown, "", "", "a data file", "no such file", "check the path after --data")])
    folder = folder or project.folder() / "params"
    inside = data.resolve().is_relative_to(project.folder())
    file = Path(os.path.relpath(data.resolve(), folder)).as_posix() if inside else data.resolve().as_posix()
    head = ["# yaml-language-server: $schema=schema.json", f"title: {quoted(name.replace('_', ' ').capitalize())}"]
    if not is_table(data.name) and (kind(data) != ".parquet" or _nested(data)):
        return "\n".join([*head, *_json_source(data, file)]) + "\n"
    try:
        cells, options = _cells(data)
    except DataError:
        if kind(data) not in (".parquet", *WORKBOOKS) and lines_in_blocks(data):
            raise DataError([blocks_problem(data.name)]) from None
        raise
    if options.get("header") == "none":
        found = nameless(cells)
    else:
        read = Records(cells[[c for c in cells if c]].to_dict("records"), [f"row {i}" for i in cells.index])
        export = presets.recognise(read, data, table=is_table(data.name))
        if export and (lines := exports.nested_lines(export, file, options)):
            return "\n".join([*head, *lines]) + "\n"
        found = exports.guess_table(export, cells, data, file)
        if not found.labels and (shape := guess_records(_with_json(read))) and shape.in_json_column:
            return "\n".join([*head, *_records(shape, file, options)]) + "\n"
    if in_blocks(cells) and (not found.labels or found.columns.get("dialogue") == "{row}"):
        raise DataError([blocks_problem(data.name)])
    return "\n".join([*head, *_table(file, options, found)]) + "\n"


_GUESSED = "# Guessed from names and values: please read it through. `check` describes how the data are understood."


def _json_source(data: Path, file: str) -> list[str]:
    """A source for JSON: a format we know, or the path to what looks like judgements."""
    read = read_records(data, data.name, FileOptions())
    content = read.records[0] if read.single else None
    if isinstance(content, dict):
        if set(content) & set(abc_eval.PARTS):
            return ["label_set: abc_eval", "sources:", f"  - {{adapter: abc_eval, files: [{quoted(file)}]}}"]
        turns = next(iter(content.values()), None)
        if isinstance(turns, list) and turns and isinstance(turns[0], dict) and "behaviors" in turns[0]:
            return ["label_set: abc_eval", "sources:", f"  - {{adapter: behaviors, file: {quoted(file)}}}"]
    export = presets.recognise(read, data, table=False)
    if export and (lines := exports.nested_lines(export, file, {})):
        return lines
    if not read.single and read.records and all(_flat(record) for record in read.records):
        cells = pd.DataFrame(
            [{k: scalar(v) or "" for k, v in r.items() if k.strip()} for r in read.records], dtype=object
        )
        rows = exports.guess_table(export, cells.fillna("").astype(str), data, file)
        if rows.labels:
            return _table(file, {}, rows, records=True)
    found = guess_records(read)
    if found is None:
        left = unused(read, [])
        places = ", ".join(left)[:200] or "nothing"
        hint = "docs/own_data.md shows how to write the path by hand (`adapter: records`)"
        hint = NUMBERED if any(p.rpartition(".")[2].isdecimal() for p in left) else hint
        unnamed = any("" in p.split(".") for p in left) and isinstance(read.records[0], dict)
        hint = "a path cannot contain an empty key: give the key a name" if unnamed else hint
        raise DataError([Problem(data.name, "", "", "numbers or answers that look like judgements", places, hint)])
    return _records(found, file, {})


def _records(found: Shape, file: str, options: dict[str, str]) -> list[str]:
    """A source for records, by paths."""
    labels, spelt = label_lines(found.labels, compared=found.method == "comparative")
    lines = [_GUESSED, *(comment(f"Unsure: {warning}.") for warning in found.warnings)]
    lines += [f"method: {found.method}", "sources:", "  - adapter: records", f"    file: {quoted(file)}"]
    lines += [f"    {key}: {value}" for key, value in options.items()]
    lines += [f"    {line}" for line in found.source]
    if spelt:
        lines.append("    label_names: {" + ", ".join(f"{quoted(n)}: {i}" for n, i in spelt.items()) + "}")
    lines += ["    " + comment(f"not used: {path}: {kind.says}") for path, kind in found.unused.items()]
    return [*lines, "labels:", *labels]


def _with_json(read: Records) -> Records:
    """The rows of a table with the JSON in its cells parsed; without rows if no column holds objects or lists."""
    cells = pd.DataFrame(read.records, dtype=object).fillna("")
    parsed = {JsonColumn(c): values for c in cells if (values := _parsed(cells[c])) is not None}
    rows = [{k: v for k, v in r.items() if k not in parsed} for r in read.records] if parsed else []
    for name, values in parsed.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    return Records(rows, read.where if rows else [])


def _parsed(cells: pd.Series) -> list[Any] | None:
    """What the cells of a column hold as JSON, None where a cell is empty; None where they hold anything else."""
    held = cells.str.strip()
    if not held[held != ""].str.startswith(("{", "[")).all() or (held == "").all():
        return None
    try:
        return [json_text.parse(text, "") if text else None for text in held]
    except (ValueError, DataError):
        return None


def _nested(data: Path) -> bool:
    return not all(map(_flat, read_records(data, data.name, FileOptions()).records))


def _flat(record: Any) -> bool:
    """Whether a record is a row: an object without objects or lists in it."""
    return isinstance(record, dict) and not any(isinstance(v, dict | list) for v in record.values())


def _cells(data: Path) -> tuple[pd.DataFrame, dict[str, str]]:
    """The cells of a table as text, and the options that a YAML must give to read it so (as YAML)."""
    if kind(data) == ".parquet":
        return read_table(data, data.name, FileOptions()), {}
    options: dict[str, Any] = {}
    alike: list[str] = []
    if kind(data) in WORKBOOKS:
        sheets = filled_sheets(data, data.name)
        alike = _alike(data, sheets)
        options = {"sheet": sheets[0]} if len(sheets) > 1 else {}
        rows = read_workbook(data, data.name, options.get("sheet"))
    else:
        try:
            sample = read_text(data, data.name)[:65536]
        except DataError:
            options["encoding"], sample = "cp1252", read_text(data, data.name, "cp1252")[:65536]
        if sample.lstrip()[:1] in ("{", "[") and _is_json(sample):
            hint = "name the file .json or .jsonl"
            raise DataError([Problem(data.name, "", "", "a table, as its name says", "JSON", hint)])
        usual = "\t" if kind(data) in (".tsv", ".txt", ".tab") else ","
        lines = [line for line in sample.splitlines()[:20] if line.strip()]
        delimiter = max((usual, ",", "\t", ";", "|"), key=lambda d: _columns(lines, d))
        options |= {"delimiter": delimiter} if delimiter != usual else {}
        rows = dict(enumerate(csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter), start=1))
    options |= _heads([(n, cells) for n, cells in rows.items() if any(c.strip() for c in cells)])
    cells = read_table(data, data.name, FileOptions(**options))
    if alike:
        parts = [read_table(data, data.name, FileOptions(**options | {"sheet": s})) for s in alike]
        named = any(plain(c) in NAMES["annotator"] for c in cells)
        options["sheet"] = "*" if named else "{annotator}"
        extra = {} if named else {"{annotator}": None}
        parts = [p.assign(**dict.fromkeys(extra, s)) for p, s in zip(parts, alike, strict=True)]
        cells = pd.concat(parts, ignore_index=True)
    if options.get("header") == "none":
        options["column_names"] = [
            f"column_{string.ascii_lowercase[i % 26]}{i // 26 or ''}" for i in range(len(cells.columns))
        ]
        cells.columns = options["column_names"]
    return cells, {key: _as_yaml(value) for key, value in options.items()}


def _alike(data: Path, sheets: list[str]) -> list[str]:
    """Sheets of a workbook that all have the first row of the largest, as where each is a person's; of one, none."""
    heads = {s: next((r for r in read_workbook(data, data.name, s).values() if r), []) for s in sheets}
    same = [s for s in sheets if heads[s] == heads[sheets[0]]]
    return same if len(same) > 1 else []


def _is_json(sample: str) -> bool:
    first = sample.lstrip().splitlines()[0].rstrip(",")
    try:
        return isinstance(json.loads(first), dict | list)
    except json.JSONDecodeError:
        return first.strip() in ("{", "[")


def _columns(lines: list[str], delimiter: str) -> int:
    """How many columns a delimiter makes, as far as rows agree."""
    counts = [len(next(csv.reader([line], delimiter=delimiter), [])) for line in lines]
    return min(counts[0], max(set(counts[1:]), key=counts[1:].count)) if len(counts) > 1 else counts[0]


def _heads(rows: list[tuple[int, list[str]]]) -> dict[str, Any]:
    """Rows above or below the header that are none of data, and whether there is a header at all."""
    if len(rows) < 3:
        return {}
    skip = [n for n, cells in rows[1:4] if any(c.startswith('{"ImportId"') for c in cells)]
    if skip:  # Qualtrics: names, questions, ids of its own
        return {"skip_rows": list(range(rows[1][0], skip[0] + 1))}
    if _two_headers([cells for _, cells in rows[:3]]):
        return {"header": 2}
    width = max(len(cells) for _, cells in rows[1:])
    titles = []
    for n, cells in rows[:3]:
        if sum(bool(c.strip()) for c in cells) > max(1, width // 4):
            break
        titles.append(n)
    if titles and width > 2:
        return {"skip_rows": titles}
    (_, head), body = rows[0], [cells for _, cells in rows[1:]]
    like = [i for i, c in enumerate(head) if c.strip() and (_number(c) or c in {r[i] for r in body if len(r) > i})]
    numbers = [i for i in like if _number(head[i]) and all(_number(r[i]) for r in body if len(r) > i and r[i].strip())]
    return {"header": "none"} if len(like) * 2 >= len(head) and (numbers or len(like) == len(head)) else {}


def _two_headers(rows: list[list[str]]) -> bool:
    """Whether the first two rows name the columns together: names that only both make different, above numbers."""
    above, below, data = ([c.strip() for c in cells] for cells in rows)
    given = [c for c in below if c]
    if len(given) < 4 or any(map(_number, [*above, *below])) or not any(map(_number, data)):
        return False
    twice = len(set(given)) < len(given) and sum(map(bool, above)) > 1
    names = [f"{a}_{b}" for a, b in zip(_filled(above), below, strict=False)]
    return twice and len(set(names)) == len(names)


def _filled(cells: list[str]) -> list[str]:
    """Cells with the empty ones as the one to their left."""
    out: list[str] = []
    for cell in cells:
        out.append(cell or (out[-1] if out else ""))
    return out


def _number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+([.,][0-9]+)?", text.strip()) is not None


def _as_yaml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return str(value) if value == "none" or isinstance(value, int) else quoted(value)


def _table(file: str, options: dict[str, str], found: Guess, *, records: bool = False) -> list[str]:
    """A source for a table, or for records that are as flat as one."""
    several = "sheet" in options and any(c in options["sheet"] for c in "*{")
    records = records or bool(found.repeated or found.join or found.counted) or several
    lines = [*found.comment, _GUESSED]
    lines += [comment(f"Unsure: {warning}.") for warning in found.warnings]
    method = "turn_rating" if "turn" in found.columns or "{turn}" in found.scores else "dialogue_rating"
    method = "comparative" if found.comparative else method
    adapter = "records" if records else "table"
    lines += [f"method: {method}", "sources:", f"  - adapter: {adapter}", f"    file: {quoted(file)}"]
    lines += [f"    {key}: {value}" for key, value in options.items()]
    columns = dict(found.columns)
    if not records:
        lines.append(f"    layout: {found.layout}" + _why(found, "layout"))
    elif found.layout == "long":
        lines.append(f"    scores: {quoted(columns.pop('score'))}" + _why(found, "layout"))
    lines += ["    columns:"] if columns else []
    lines += [f"      {ours}: {quoted(name)}{_why(found, ours)}" for ours, name in columns.items()]
    if found.identify:
        names = ", ".join(map(quoted, found.identify))
        lines += ["    identify:" + _why(found, "identify"), f"      dialogue: [{names}]"]
    if found.identify_b:
        lines.append(f"      dialogue_b: [{', '.join(map(quoted, found.identify_b))}]")
    if found.layout == "wide":
        lines.append(f"    scores: {quoted(found.scores)}{_why(found, 'scores')}")
    lines += [f"    skip_columns: {exports.flow(found.skip_columns)}"] if found.skip_columns else []
    lines += ['    count: "{value}"'] if found.counted else []
    lines += [f"    constants: {{label: {found.one_label}}}"] if found.one_label else []
    lines += [f"    first_turn: {found.first_turn}"] if found.first_turn else []
    if found.patterns:
        lines.append(
            "    patterns: {" + ", ".join(f"{quoted(c)}: {quoted(p)}" for c, p in found.patterns.items()) + "}"
        )
    lines += [f"    {line}" for line in found.join]
    lines += [f"    drop: {exports.flow(found.drop)}"] if found.drop else []
    if found.judges:
        lines.append("    judges: {" + ", ".join(f"{quoted(j)}: llm" for j in found.judges) + "}")
    if found.positions:
        lines.append("    annotators: positions" + _why(found, "annotators"))
    if found.values:
        lines.append("    values: {" + ", ".join(f"{quoted(word)}: {n:g}" for word, n in found.values.items()) + "}")
    lines.append(f"    na_values: [{', '.join(quoted(v, always=True) for v in found.na_values)}]")
    ids = dict(zip(found.labels, distinct(one[0] for one in found.labels.values()), strict=True))
    spelt = {name: id_ for name, id_ in ids.items() if name != id_}
    if spelt:
        lines.append("    label_names: {" + ", ".join(f"{quoted(n)}: {i}" for n, i in spelt.items()) + "}")
    if found.metrics:
        lines.append("    # numbers that look like scores of automatic metrics; remove any that are not")
        lines.append("    metrics: {" + ", ".join(f"{quoted(c)}: {quoted(c)}" for c in found.metrics) + "}")
    if found.sampling:
        lines.append(f"    {found.sampling[0]}: {quoted(found.sampling[1])}" + _why(found, "sampling"))
    lines += ["    " + comment(f"not used: {column}: {why}") for column, why in found.unused.items()]
    labels = {name: _label(*one[1:], found.categories.get(name)) for name, one in found.labels.items()}
    said = [line for n, spec in labels.items() for line in declaration(ids[n], spec, n, compared=found.comparative)]
    return [*lines, "labels:" if labels else "labels: {}", *said]


def _label(low: float, high: float, whole: bool, categories: list[str] | None = None) -> str:
    if categories:
        return f"{{categories: [{', '.join(map(quoted, categories))}], level: ordinal}}"
    # on a slider equal steps are meant to be equal; ranks of a hundred values would also be slow
    more = ", level: interval" if not whole or high - low > _SLIDER else ""
    more += "" if whole else ", integer: false"
    return f"{{scale: [{low:g}, {high:g}]{more}}}"


def _why(found: Guess, key: str) -> str:
    return "  " + comment(found.why[key]) if key in found.why else ""


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _judges(marks: pd.DataFrame) -> str:
    """How many people and models judged; where people are only positions, how many of these there are."""
    each = marks.drop_duplicates("annotator")
    human, known = each["annotator_kind"] == "human", each["annotator_known"].astype(bool)
    n_people, n_positions, n_models = (int(rows.sum()) for rows in (human & known, human & ~known, ~human))
    out = [_counted(n_people, "annotator")] if n_people else []
    out += [f"unknown people (up to {n_positions} per item)"] if n_positions else []
    return " and ".join([*out, *([_counted(n_models, "model")] if n_models else [])])


def _unnamed(study: params.Study, systems: list[str]) -> list[str]:
    """What no column of the data names, and what that means."""
    columns = [getattr(source, "columns", {}) for source in study.sources]
    out = ["nothing names the system: all dialogues count as one system's"] if list(systems) == ["system"] else []
    rows = any(c.get("dialogue") == "{row}" for c in columns)
    return [*out, "nothing names the dialogue: each row is treated as a separate dialogue"] if rows else out


def describe(study: params.Study, built: build.Built | None = None) -> list[str]:
    """What a study's data contain, one line per fact: sizes, labels with their scores, what was mended and dropped."""
    built = built or build.build(study)
    marks = built.frames["annotations"]
    sizes = built.profile
    lines = [
        f"{_counted(sizes['n_annotations'], 'annotation')} of {_counted(sizes['n_items'], 'item')} in "
        f"{_counted(sizes['n_dialogues'], 'dialogue')} of {_counted(len(sizes['systems']), 'system')} "
        f"by {_judges(marks)}"
    ]
    titles = {(label.method, label.id): label for label in study.label_list()}
    lines += directions(study, marks)
    for (method, label), rows in marks.groupby(["method", "label"], sort=False):
        items = len(rows.drop_duplicates(ITEM))
        low, high = rows["score"].min(), rows["score"].max()
        scale = titles[method, label].scale if (method, label) in titles else (low, high)
        lines.append(
            f"{method} {label}: {_counted(len(rows), 'score')} of {_counted(items, 'item')}, {low:g} to {high:g} on a "
            f"scale from {scale[0]:g} to {scale[1]:g}, mean {rows['score'].mean():.2f}"
        )
        if items < _FEW:
            lines.append(f"warning: only {_counted(items, 'item')} for {label}: intervals will be wide and imprecise")
    if drawn := sizes["sampling"]:
        ends = f"{drawn['low']:.3g} to {drawn['high']:.3g} (design effect {drawn['design_effect']:.2f})"
        lines.append(f"dialogues have sampling weights from {ends}, by `{'`, `'.join(drawn['by'])}`")
    by = ["file", "what", "action", "reason"]
    for row in built.frames["counts"].groupby(by, sort=False)["n"].sum().reset_index().itertuples():
        if row.what == sampling.NOT_USED:
            lines += [f"warning: not used from {row.file}: {row.reason}"] if row.action == "dropped" else []
        elif row.action in ("mended", "dropped"):
            lines.append(f"{row.action}: {row.n:,} {row.what} of {row.file}: {row.reason}")
    lines += [f"note: {note}" for note in [*built.notes, *_unnamed(study, sizes["systems"])]]
    lines += ["how the data are understood:", *(f"  {said}" for said in sentences(study, built.seen))]
    return lines + not_used(built.unused)
