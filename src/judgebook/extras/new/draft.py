"""A first YAML for a file of data, with what was guessed and why."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import string
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from judgebook import project
from judgebook.extras.new import exports, presets
from judgebook.extras.new.asking import reread
from judgebook.extras.new.asking.defaults import complete
from judgebook.extras.new.asking.doubts import Answer, Draft, in_order
from judgebook.extras.new.asking.terminal import carried
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.grids import shared
from judgebook.extras.new.nested.groups import NUMBERED
from judgebook.extras.new.nested.pairs import compared_pairs
from judgebook.extras.new.nested.records import guess_records
from judgebook.extras.new.several import json_of
from judgebook.extras.new.shapes import periods
from judgebook.extras.new.shapes.ranks import as_rows
from judgebook.extras.new.sides import tie_of
from judgebook.extras.new.spelling import JsonColumn, Shape, comment, declaration, distinct, flow, label_lines, quoted
from judgebook.extras.new.tables import nameless
from judgebook.extras.new.words import label_id, ranked, scale_text
from judgebook.sources.accounts import summaries
from judgebook.sources.adapters import abc_eval
from judgebook.sources.adapters.options.records import is_table
from judgebook.sources.files import COPIED, REPEATED, blocks_problem, in_blocks, lines_in_blocks, read_text
from judgebook.sources.formats import (
    WORKBOOKS,
    Records,
    Rows,
    filled_sheets,
    holds_lists,
    kind,
    read_records,
    read_table,
    scalar,
)
from judgebook.sources.in_words import counted
from judgebook.sources.nature import NAMES, plain
from judgebook.sources.rows.record_rows import unused
from judgebook.study import limits, params, paths
from judgebook.study.schema import DataError, Problem
from judgebook.study.source_shared import FileOptions

#: of the columns of two files of one kind, the share that both have at least
_ALIKE = 0.7
#: a scale with more steps than this is a slider
_SLIDER = 20


def new_yaml(name: str, data: Path, folder: Path | None = None) -> str:
    """The text of a YAML for the data file, with its open questions. See `drafted`."""
    return carried(drafted(name, data, folder))


def drafted(name: str, data: Path, folder: Path | None = None, given: dict[str, str] | None = None) -> Draft:
    """A YAML for the data file, with what was guessed and why as comments, and questions about what is in doubt.

    folder : where the YAML will stand (default: `params/`), because the file is named relative to it. given : our
    column -> the file's, where somebody said so.

    Raises ParamsError for a name that cannot be a study's key, DataError for a file that cannot be read or guessed.
    """
    out = Draft()
    out.text = "\n".join(_lines(name, data, folder or project.folder() / "params", out, given or {})) + "\n"
    same = beside(data)
    if same and not re.search(r"^\s+(- )?files?: .*[*{]", out.text, re.M):
        inside = same[0].parent == data.parent
        where = "its folder" if inside else "folders beside its own"
        how = (
            f"`adapter: records` and `file: {_common(data.name, same)}`" if inside else "name the folder of all of them"
        )
        others = Answer(f"they belong to it: {how}")
        many = f"{counted(len(same), 'other file')} in {where} {'have' if len(same) > 1 else 'has'}"
        out.ask("files", "Is the file the whole study?", "yes", others, evidence=f"{many} the same columns or keys")
    complete(out, given or {})
    reread.ask(out, (folder or project.folder() / "params") / f"{name}.yaml")
    out.questions = in_order(out.questions)
    return out


def beside(data: Path) -> list[Path]:
    """Files in the folder of the data that begin as they do: with nearly the same columns, or keys of an object. If
    there are none, those in folders beside this one, where each holds a file of this name and nothing else."""

    def begin(path: Path) -> set[str]:
        try:
            if is_table(path.name) and kind(path) not in WORKBOOKS:
                text = read_text(path, path.name)
                return {*re.split(r"[,;\t|]", text[: text.find("\n") + 1 or None].strip())}
            if kind(path) in (".json", ".jsonl"):
                text = read_text(path, path.name)
                content = json.loads(text if kind(path) == ".json" else text.strip().partition("\n")[0])
                first = content[0] if isinstance(content, list) and content else content
                return {*first} if isinstance(first, dict) else set()
        except (DataError, ValueError, OSError, RecursionError):
            return set()
        return set()

    columns = begin(data)

    def alike(files: Iterable[Path]) -> list[Path]:
        others = sorted(p for p in files if not (p.exists() and p.samefile(data)) and params.is_file(p))
        return [p for p in others[:200] if len(columns & (of := begin(p))) > _ALIKE * len(columns | of)]

    folder = data.parent if data.parent.name else data.parent.absolute()
    here = alike(p for p in data.parent.iterdir() if p.suffix == data.suffix)
    try:
        around = [p for p in folder.parent.iterdir() if p.is_dir() and p.name[0] != "."]
        only = all([p.name for p in other.iterdir()] == [data.name] for other in around)
    except OSError:  # of somebody else
        only = False
    if here or not only:
        return here
    held = data.read_bytes()
    return [p for p in alike(other / data.name for other in around) if p.read_bytes() != held]


def together(files: list[Path]) -> tuple[list[str], Path]:
    """What files of one folder, or of folders beside each other, are called, and where."""
    if len({path.parent for path in files}) == 1:
        return [path.name for path in files], files[0].parent
    return [f"{path.absolute().parent.name}/{path.name}" for path in files], files[-1].parent.parent


def absent(data: Path) -> Problem:
    """What is wrong with a path that is no file."""
    found, hint = "no such file", "check the path after --data"
    if re.match(r"\w{2,}:/", str(data)):  # `Path` leaves one slash of an address
        found, hint = "an address", "download the file, and name it after --data"
    elif os.path.isdir(data):
        found, hint = "a folder", "name one of its files"
    elif os.path.lexists(data):
        found, hint = "a pipe, a device or a broken link", "write the data to a file, and name it after --data"
    return Problem(str(data)[: limits.QUOTED], "", "", "a data file", found, hint)


def relative_to(data: Path, folder: Path | None) -> str:
    """The file as a YAML in the folder (default: `params/`) names it."""
    inside = data.resolve().is_relative_to(project.folder())
    beside_it = Path(os.path.relpath(data.resolve(), folder or project.folder() / "params"))
    return beside_it.as_posix() if inside else data.resolve().as_posix()


def _common(name: str, others: list[Path]) -> str:
    """A pattern for file names: {period} for a week or another period, else * for all after what they begin with."""
    names = [name, *(path.name for path in others)]
    pattern, unclear = periods.of_files(names)
    return quoted(pattern if pattern and not unclear else shared(names) + "*" + Path(name).suffix)


def _lines(name: str, data: Path, folder: Path, out: Draft, given: dict[str, str]) -> list[str]:
    """The lines of the YAML. See `drafted`."""
    if not name.isidentifier():
        raise params.ParamsError(
            f"{name[: limits.QUOTED]!r}: a study's name is its key: expected letters, digits and _"
        )
    if not params.is_file(data):
        raise DataError([absent(data)])
    file = relative_to(data, folder)
    head = ["# yaml-language-server: $schema=schema.json", f"title: {quoted(name.replace('_', ' ').capitalize())}"]
    if not is_table(data.name) and (kind(data) != ".parquet" or holds_lists(data, data.name)):
        return [*head, *_json_source(data, file, out, given)]
    try:
        cells, options = cells_of(data)
    except DataError:
        if kind(data) not in (".parquet", *WORKBOOKS) and lines_in_blocks(data):
            raise DataError([blocks_problem(data.name)]) from None
        raise
    if len(cells) > limits.GUESSED_ROWS:
        expected = f"at most {limits.GUESSED_ROWS:,} rows to guess from"
        hint = "describe an extract of the file, and name the whole file in the YAML"
        raise DataError([Problem(data.name, "", "", expected, f"{len(cells):,}", hint)])
    if options.get("header") == "none":
        guess = nameless(cells, given)
    else:
        table = is_table(data.name)
        export = presets.recognise(_rows(cells.head(presets.MOST)), data, table=table)
        read = _rows(cells) if export else None
        export = presets.recognise(read, data, table=table) if read else None
        if export and (lines := exports.nested_lines(export, file, options, out)):
            return [*head, *lines]
        guess = exports.guess_table(export, cells, data, file, given)
        shape = None if guess.labels or guess.sets else guess_records(_with_json(read or _rows(cells)), given)
        if shape and shape.in_json_column:
            return [*head, *_records(shape, file, options, out)]
    if cells.attrs.get(REPEATED) and guess.labels and "{system}" not in guess.scores:
        text = "What are the questions that the header repeats, numbered (1), (2), …?"
        others = Answer("other systems or labels: `{system}`, or a label each, for the number in `scores`")
        out.ask("item: repeated columns", text, "the same question about another item each time", others)
    if copied := cells.attrs.get(COPIED):
        guess.warnings.append(f"given several times with the same cells, so read once: {', '.join(copied)}")
    for column in [c for c in guess.score_columns if c in (copied or ())]:
        others = Answer("of another system or question, which got the same: rename the columns in the file")
        out.ask(f"label {column}", f"Why does the header give {column!r} several times?", "copies, read once", others)
    if in_blocks(cells) and (not guess.labels or guess.columns.get("dialogue") == "{row}"):
        raise DataError([blocks_problem(data.name)])
    return [*head, *_table(file, options, guess, out)]


_GUESSED = "# Guessed from names and values: please read it through. `check` describes how the data are understood."


def _rows(cells: pd.DataFrame) -> Records:
    """The rows of a table as records."""
    return Records(cells[[c for c in cells if c]].to_dict("records"), [f"row {i}" for i in cells.index])


def _not_too_wide(records: list[dict[str, Any]], name: str) -> None:
    """Raises DataError for records that share so few keys that the table of all of them would fill the memory."""
    keys = {key for record in records for key in record}
    empty = len(keys) * len(records) - sum(map(len, records))
    if len(keys) > limits.COLUMNS or empty > limits.FILLED_CELLS:
        hint = "give values of one kind one key in all records"
        raise DataError([Problem(name, "", "", "records with the same keys", f"{len(keys):,} different keys", hint)])


def _json_source(data: Path, file: str, out: Draft, given: dict[str, str]) -> list[str]:
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
    if export and (lines := exports.nested_lines(export, file, {}, out)):
        return lines
    flat = as_rows(read.records)
    if not read.single and flat and all(_flat(record) for record in flat):
        _not_too_wide(flat, data.name)
        cells = pd.DataFrame([{k: scalar(v) or "" for k, v in r.items() if k.strip()} for r in flat], dtype=object)
        rows = exports.guess_table(export, cells.fillna("").astype(str), data, file, given)
        if rows.labels or any(q.fact.startswith("label ") for q in rows.questions):
            return _table(file, {}, rows, out, records=True)
    compared = None if export or read.single else compared_pairs(read.records, given)
    if compared:
        return _table(file, {}, compared, out, records=True)
    opened = _with_json(read)
    shape = guess_records(opened if opened.records else read, given) or guess_records(read, given)
    if shape is None:
        left = unused(read, [])
        places = ", ".join(left)[:200] or "nothing"
        hint = "docs/own_data.md shows how to write the path by hand (`adapter: records`)"
        hint = NUMBERED if any(p.rpartition(".")[2].isdecimal() for p in left) else hint
        unnamed = any("" in p.split(".") for p in left) and isinstance(read.records[0], dict)
        hint = "a path cannot contain an empty key: give the key a name" if unnamed else hint
        raise DataError([Problem(data.name, "", "", "numbers or answers that look like judgements", places, hint)])
    return _records(shape, file, {}, out)


def _records(shape: Shape, file: str, options: dict[str, str], out: Draft) -> list[str]:
    """A source for records, by paths, and one more for each other place of scores."""
    shapes = [shape, *shape.more]
    out.unused(shape.unused)
    lines = [_GUESSED, *(comment(f"Note: {warning}.") for warning in dict.fromkeys(out.take(*shapes)))]
    lines += [f"method: {shape.method}", "sources:"]
    declared: list[str] = []
    for one in shapes:
        one.labels = {name: spec for name, spec in one.labels.items() if one is shape or name not in shape.labels}
        labels, spelt = label_lines(one.labels, compared=one.method == "comparative")
        lines += ["  - adapter: records", f"    file: {quoted(file)}"]
        lines += [f"    {line}" for line in [*(f"{key}: {value}" for key, value in options.items()), *one.source]]
        lines += [f"    label_names: {flow(spelt)}"] if spelt else []
        declared += labels if one.method == shape.method else [_of_method(line, one.method) for line in labels]
    lines += ["    " + comment(f"not used: {path}: {kind.says}") for path, kind in shape.unused.items()]
    return [*lines, "labels:", *declared]


def _of_method(line: str, method: str) -> str:
    """The line of a label's declaration, with its method."""
    if line.endswith("}"):
        return f"{line[:-1]}, method: {method}}}"
    return f"{line}\n    method: {method}" if line.endswith(":") else line


def _with_json(read: Records) -> Records:
    """The records with the JSON in their texts parsed; none where no key always holds objects or lists in a text."""
    texts: dict[tuple[str, ...], list[str]] = {}

    def each(value: Any, at: tuple[str, ...], change: Callable[[str, tuple[str, ...]], Any]) -> Any:
        if isinstance(value, dict):
            below = {k: each(v, (*at, str(k)), change) for k, v in value.items()}
            return {JsonColumn(k) if (*at, str(k)) in parsed else k: v for k, v in below.items()}
        if isinstance(value, list):
            return [each(v, (*at, ""), change) for v in value]
        return change(value, at) if isinstance(value, str) else value

    parsed: dict[tuple[str, ...], Any] = {}
    for record in read.records:
        each(record, (), lambda text, at: texts.setdefault(at, []).append(text.strip()))
    parsed |= {at: values for at, held in texts.items() if at and at[-1] and (values := json_of(held)) is not None}
    values_of = {at: iter(values) for at, values in parsed.items()}
    rows = [each(r, (), lambda text, at: next(values_of[at]) if at in parsed else text) for r in read.records]
    return Records(rows if parsed else [], read.where if parsed else [], read.single, read.repeated, read.sums)


def _flat(record: Any) -> bool:
    """Whether a record is a row: an object without objects or lists in it."""
    return isinstance(record, dict) and not any(isinstance(v, dict | list) for v in record.values())


def cells_of(data: Path) -> tuple[pd.DataFrame, dict[str, str]]:
    """The cells of a table as text, and the options that a YAML must give to read it so (as YAML)."""
    if kind(data) == ".parquet":
        return read_table(data, data.name, FileOptions()), {}
    options: dict[str, Any] = {}
    sheets: dict[str, Rows] = {}
    if kind(data) in WORKBOOKS:
        sheets = filled_sheets(data, data.name)
        options = {"sheet": next(iter(sheets))} if len(sheets) > 1 else {}
        rows = next(iter(sheets.values()), {})
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
        if delimiter == "\t" and _unquoted(read_text(data, data.name, options.get("encoding", "utf-8-sig"))):
            options["quoting"] = False
        rows = dict(
            enumerate(
                csv.reader(
                    io.StringIO(sample, newline=""),
                    delimiter=delimiter,
                    quoting=csv.QUOTE_MINIMAL if options.get("quoting", True) else csv.QUOTE_NONE,
                ),
                start=1,
            )
        )
    options |= _heads([(n, cells) for n, cells in rows.items() if any(c.strip() for c in cells)])
    first = next(iter(sheets.values()), None)
    cells = read_table(data, data.name, FileOptions(**options), sheet=first)
    summing = cells.loc[summaries.rows(cells)]
    if len(summing) and not summing.apply(lambda x: x.str.strip().str.fullmatch(summaries.WORD)).all().any():
        # not each of them has a name by which `drop` could leave it out
        options["skip_rows"] = [*options.get("skip_rows", []), *summing.index]
        cells = read_table(data, data.name, FileOptions(**options), sheet=first)
    if alike := _alike(sheets):
        parts = [read_table(data, data.name, FileOptions(**options), sheet=sheets[s]) for s in alike]
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


def _alike(sheets: dict[str, Rows]) -> list[str]:
    """Sheets of a workbook that all have the first row of the largest, as where each is a person's; of one, none."""
    heads = {sheet: next(filter(None, rows.values())) for sheet, rows in sheets.items()}
    same = [sheet for sheet, head in heads.items() if head == next(iter(heads.values()))]
    return same if len(same) > 1 else []


def _unquoted(text: str) -> bool:
    """Whether each line of a file of tabs is a row, some with a quotation mark that a reader of quotes would pair."""
    lines = [line for line in text.splitlines() if line.strip()]
    tabs = {line.count("\t") for line in lines}
    begun = [
        c for line in lines for c in line.split("\t") if c.startswith('"') and not re.fullmatch(r'"(?:[^"]|"")*"', c)
    ]
    return len(tabs) == 1 and bool(begun)


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
    if any(a and not b and _number(d) for a, b, d in zip(above, below, data, strict=False)):
        # SurveyMonkey: options below their question, which is named once, and nothing below what is no question
        options = [b for a, b in zip(above, below, strict=False) if b and not a]
        return bool(options) and not any(map(_number, [*above, *below]))
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
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if value == "none" or isinstance(value, int) else quoted(value)


def _table(file: str, options: dict[str, str], guess: Guess, out: Draft, *, records: bool = False) -> list[str]:
    """The sources for a table, or for records that are as flat as one, and the labels."""
    several = "sheet" in options and any(c in options["sheet"] for c in "*{")
    records = records or bool(guess.repeated or guess.join or guess.counted or guess.more) or several
    records = records or "{system}" in guess.identify
    lines = [*guess.comment, _GUESSED]
    lines += [comment(f"Note: {warning}.") for warning in out.take(guess)]
    method = "turn_rating" if "turn" in guess.columns or "{turn}" in guess.scores else "dialogue_rating"
    lines += [f"method: {'comparative' if guess.comparative else method}", "sources:"]
    ids = dict(
        zip(
            [*guess.labels, *guess.sets],
            distinct([*(x[0] for x in guess.labels.values()), *map(label_id, guess.sets)]),
            strict=True,
        )
    )
    alone = not (guess.sets or guess.lists) or any(label not in guess.lists for label in guess.labels)
    if alone:
        plain = replace(guess, drop=guess.drop | _others(guess)) if records else guess
        lines += _source(file, options, plain, _scores(guess, records=records), ids, records=records)
    for column in guess.lists:
        # one row for each element; a list is of several people, or of parts of what one judged
        place = "part" if "annotator" in guess.columns else "annotator"
        scores = [f"scores: {quoted(f'{column}:json.[{place}]')}", f"constants: {{label: {ids[column]}}}"]
        identify = [*(guess.identify or [guess.columns.get("dialogue", "{row}")]), "{part}"]
        metrics = guess.metrics if not alone and column == guess.lists[0] else []
        of_list = replace(guess, positions=False, metrics=metrics, values={}, judges=[])
        of_list = replace(of_list, identify=identify) if place == "part" else of_list
        lines += _source(file, options, of_list, scores, {}, records=True)
    for column, (divider, _) in guess.sets.items():
        # one row for each answer; a cell without any is a judgement that there is none
        scores = [
            f"scores: {quoted(f'{column}:split({divider}).[]' if divider else column)}",
            *(["empty: none"] if divider and "none" in guess.sets[column][1] else []),
            f"constants: {{label: {ids[column]}}}",
        ]
        lines += _source(file, options, guess, scores, {}, records=True)
    if guess.labels or not guess.sets:
        lines += ["    " + comment(f"not used: {column}: {why}") for column, why in guess.unused.items()]
    for two, (id_, *_) in guess.of_sides.values():
        for i, column in enumerate(two):
            scores = [f"scores: {quoted(column)}", f"constants: {{label: {quoted(id_)}}}"]
            lines += _source(file, options, _side(guess, second=bool(i)), scores, {}, records=True)
    labels = {name: _label(*one[1:], guess.categories.get(name)) for name, one in guess.labels.items()}
    labels |= {name: f"{labels[name][:-1]}, direction: {way}}}" for name, way in guess.ways.items()}
    declared = [line for n, spec in labels.items() for line in _declared(guess, ids, n, spec)]
    declared += [
        f"  {ids[c]}: {flow({'categories': answers, 'level': 'sets'})}" for c, (_, answers) in guess.sets.items()
    ]
    for name, (_, (id_, low, high, whole)) in guess.of_sides.items():
        declared += declaration(id_, f"{_label(low, high, whole)[:-1]}, method: dialogue_rating}}", name)
    return [*lines, "labels:" if declared else "labels: {}", *declared]


def _side(guess: Guess, *, second: bool) -> Guess:
    """One side of comparisons, as a rating of it is read."""
    columns = {k: c for k, c in guess.columns.items() if not k.endswith("_b") and k not in ("label", "score", "reason")}
    columns |= {k.removesuffix("_b"): c for k, c in guess.columns.items() if second and k.endswith("_b")}
    identify = guess.identify_b if second else guess.identify
    return replace(guess, columns=columns, identify=identify, identify_b=[], values={}, metrics=[], repeats="")


def _declared(guess: Guess, ids: dict[str, str], name: str, spec: str) -> list[str]:
    return declaration(ids[name], spec, guess.called.get(name, name), compared=guess.comparative)


def _others(guess: Guess) -> dict[str, str | list[str]]:
    """What names the columns that the pattern of scores fits, too, and that hold none, in a source of records."""
    scores = str(guess.scores)
    lists: dict[str, str | list[str]] = {"{label}": guess.lists} if guess.lists and "{label}" in scores else {}
    if "{system}" not in scores or scores == "{system}" or not guess.skip_columns:
        return lists
    matches = [paths.pattern(scores).fullmatch(column) for column in guess.skip_columns]
    return lists | {"{system}": [m["system"] for m in matches if m]}


def _scores(guess: Guess, *, records: bool) -> list[str]:
    """Where the scores of a table stand."""
    lines = [] if records else [f"layout: {guess.layout}" + _why(guess, "layout")]
    if records and guess.layout == "long":
        lines.append(f"scores: {quoted(guess.columns['score'])}" + _why(guess, "layout"))
    if guess.layout == "wide":
        lines.append(f"scores: {flow(guess.scores)}{_why(guess, 'scores')}")
    if records and guess.one_label and re.fullmatch(r"\{[a-z]+\}", str(guess.scores)):
        lines.append(f"drop: {flow({str(guess.scores): [*guess.columns.values(), *guess.skip_columns]})}")
    elif guess.skip_columns:
        lines.append(f"skip_columns: {flow(guess.skip_columns)}")
    lines += ['count: "{value}"'] if guess.counted else []
    constants = guess.constants | ({"label": guess.one_label} if guess.one_label else {})
    lines += [f"constants: {flow(constants)}"] if constants else []
    lines += guess.more
    lines += [f"first_turn: {guess.first_turn}"] if guess.first_turn else []
    lines += [f"values: {flow(guess.values)}"] if guess.values else []
    ties = {word: kind for word, side in guess.values.items() if side == 0 and (kind := tie_of(word))}
    return lines + ([f"ties: {flow(ties)}"] if ties and guess.comparative else [])


def _source(
    file: str, options: dict[str, str], guess: Guess, scores: list[str], ids: dict[str, str], *, records: bool
) -> list[str]:
    """One source: what the file is, where the scores stand, and what says whose and of what they are."""
    columns = {k: v for k, v in guess.columns.items() if not (records and guess.layout == "long" and k == "score")}
    lines = [f"file: {quoted(file)}", *(f"{key}: {value}" for key, value in options.items())]
    lines += ["columns:"] if columns else []
    lines += [f"  {ours}: {quoted(name)}{_why(guess, ours)}" for ours, name in columns.items()]
    if guess.identify:
        lines += ["identify:" + _why(guess, "identify"), f"  dialogue: {flow(guess.identify)}"]
    lines += ["identify:"] if guess.context and not guess.identify else []
    lines += [f"  context: {flow(guess.context)}"] if guess.context else []
    if guess.identify_b:
        lines.append(f"  dialogue_b: {flow(guess.identify_b)}")
    lines += scores
    lines += [f"patterns: {flow(guess.patterns)}"] if guess.patterns else []
    lines += guess.join
    lines += [f"drop: {flow(guess.drop)}"] if guess.drop else []
    lines += [f"repeats: {guess.repeats}"] if guess.repeats else []
    lines += [f"judges: {flow(dict.fromkeys(guess.judges, 'llm'))}"] if guess.judges else []
    if guess.positions:
        lines.append("annotators: positions" + _why(guess, "annotators"))
    lines.append(f"na_values: [{', '.join(quoted(v, always=True) for v in guess.na_values)}]")
    spelt = {name: id_ for name, id_ in ids.items() if name != id_ and name in guess.labels}
    lines += [f"label_names: {flow(spelt)}"] if spelt else []
    if guess.metrics:
        lines.append("# numbers that look like scores of automatic metrics; remove any that are not")
        lines.append(f"metrics: {flow({c: c for c in guess.metrics})}")
    if guess.sampling:
        lines.append(f"{guess.sampling[0]}: {quoted(guess.sampling[1])}" + _why(guess, "sampling"))
    return [f"  - adapter: {'records' if records else 'table'}", *(f"    {line}" for line in lines)]


def _label(low: float, high: float, whole: bool, categories: list[str] | None = None) -> str:
    if categories:
        return flow({"categories": categories} | ({"level": "ordinal"} if ranked(categories) else {}))
    # on a slider equal steps are meant to be equal; ranks of a hundred values would also be slow
    more = ", level: interval" if not whole or high - low > _SLIDER else ""
    more += "" if whole else ", integer: false"
    return f"{{scale: {scale_text(low, high)}{more}}}"


def _why(guess: Guess, key: str) -> str:
    return "  " + comment(guess.why[key]) if key in guess.why else ""
