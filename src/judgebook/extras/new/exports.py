"""The YAML of an export that a preset recognises: its keys with what the file has of them, labels found in the data."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from judgebook.extras.new.asking.doubts import Answer, Draft, Question
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.grids import shared
from judgebook.extras.new.judged import nothing
from judgebook.extras.new.nested.records import guess_records
from judgebook.extras.new.presets import FOLDER, Export, Tool, beside, fits, holds, values_at
from judgebook.extras.new.shapes import places
from judgebook.extras.new.sides import side_of
from judgebook.extras.new.spelling import Shape, comment, declared, flow, label_lines, quoted
from judgebook.extras.new.tables import guess
from judgebook.extras.new.words import looks_like_model, ranked
from judgebook.sources import filters, json_text
from judgebook.sources.adapters.options.records import Records as RecordSource
from judgebook.sources.adapters.records import cells_of
from judgebook.sources.formats import Records, read_records
from judgebook.sources.in_words import counted
from judgebook.sources.nature import nature
from judgebook.sources.places import wildcards
from judgebook.sources.rows.cells import WHERE
from judgebook.study import paths, yaml_file
from judgebook.study.labels import Label
from judgebook.study.schema import DataError, Problem
from judgebook.study.source_shared import FileOptions

_LONG = 90
#: a time in the name of a file, which differs between files of one kind
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+-]*[0-9]")


def guess_table(export: Export | None, cells: pd.DataFrame, data: Path, file: str, given: dict[str, str]) -> Guess:
    """What the columns of a table mean: those of the tool as its preset says, the others as they look.

    file : the data as the YAML names it. given : our column -> the file's, where somebody said so.
    """
    if export is None:
        out = guess(cells, given)
    else:
        source = export.source()
        if "{row}" in source["columns"].values():
            cells = cells.assign(**{"{row}": cells.index.astype(str)})
        rules = source.get("drop", {})
        remaining = filters.dropped({c: cells[c] for c in rules}, {}, rules, cells.index)[0].isna()
        of_tool = [c for c in cells if export.own(c) and c not in {*source["columns"].values(), *rules}]
        codes = [v for v in source.get("na_values", []) if cells.isin([v]).any().any()]
        read = cells.loc[remaining, [c for c in cells if c not in of_tool]]
        steps = {v: n for v, n in source.get("values", {}).items() if read.isin([v]).any().any()}
        read = read.replace({v: f"{n:g}" for v, n in steps.items()})
        out = guess(read, source["columns"] | given, codes)
        if not out.labels and "dialogue" not in given:  # what the tool numbers may be two that are compared
            pairs = guess(read, {k: v for k, v in source["columns"].items() if k != "dialogue"} | given, codes)
            out = pairs if pairs.comparative else out
        if steps:
            out.values |= steps
            how = Answer("answers without an order: delete `values`, and declare labels with `categories`")
            out.ask("level of the answers", f"Are {', '.join(steps)} steps of a scale?", "yes (`values`)", how)
        out.drop, out.comment = rules, export.comment
        if named := ", ".join(c for c in of_tool if c):
            out.unused = {named: f"of {export.tool.title} itself"} | out.unused
        if "repeats" in source:
            keys = {c for c in (*out.columns.values(), *out.patterns) if c in cells} - {
                source["columns"].get("completed_at")
            }
            _repeated(out, source, cells[remaining].duplicated(list(keys - {out.columns.get("work_unit")})))
            out.repeats = source.get("repeats", "")
        if export.form.alone and not out.labels:
            raise DataError([Problem(data.name, "", "", "judgements", export.form.alone, "")])
    out.why |= dict.fromkeys(given, "as answered")
    if "annotator" in out.columns and out.columns["annotator"] in cells:
        _with_status(out, set(cells[out.columns["annotator"]]), data, PurePosixPath(file).parent)
    return out


def _repeated(out: Guess | Shape, source: dict[str, Any], again: pd.Series) -> None:
    """Keeps `repeats` of the form where somebody judged an item more than once."""
    if not again.any():
        source.pop("repeats", None)
    elif "repeats" in source:
        n = counted(int(again.sum()), "judgement")
        text = f"Which judgement counts, of {n} of an item that the same person had judged before?"
        how = [Answer(f"the {x}" if x != "mean" else "their mean", {"sources.*.repeats": x}) for x in ("first", "mean")]
        out.ask("item: judged again", text, "the last (`repeats`)", *how)


def _with_status(out: Guess, people: set[str], data: Path, folder: PurePosixPath) -> None:
    """Joins Prolific's export of the same participants to a survey, leaving out those who did not finish."""
    prolific = yaml_file.read(FOLDER / "prolific.yaml", Tool)
    form = prolific.forms[0]
    status = beside(data, people, form.source["columns"]["annotator"])
    if status is None or not fits(form, read := read_records(status, status.name, FileOptions()), status, True):
        return
    (rules,) = Export(prolific, form, read, True, status).source()["drop"].items()
    file, by = (folder / status.name).as_posix(), out.columns["annotator"]
    key = form.source["columns"]["annotator"]
    out.join = [f"join: [{flow({'file': file, 'name': 'prolific', 'by': by, 'key': key})}]"]
    out.drop = {**out.drop, f"prolific.{rules[0]}": rules[1]}
    sentence = f"Recognised in its folder: {status.name}, of Prolific. Left out: {form.left_out[0]}."
    out.comment = [*out.comment, comment(sentence)]


def nested_lines(export: Export, file: str, options: dict[str, str], draft: Draft) -> list[str]:
    """The YAML below the title of an export whose preset says where the scores are; else nothing.

    file : the data as the YAML names it. options : how its cells are read. draft : takes the questions.

    Raises DataError where there are none that can be read.
    """
    form, source = export.form, export.source()
    if not (form.source.get("scores") or form.files):
        return []
    files = _files(export)
    if form.source.get("scores"):
        asked = _at_places(export, source) if export.table else []
        shape = _shape(export, source, files) if "scores" in source else Shape()
        shape.questions += asked
        if not shape.labels:
            doubts = [f"{q.fact.removeprefix('label ')} ({q.evidence or q.assumed})" for q in shape.questions]
            warnings = "; ".join([*export.warnings, *shape.warnings, *doubts]) or "none"
            expected = f"scores of {export.tool.title} at {' or '.join(form.source['scores'])}"
            hint = "docs/own_data.md shows how to write the path by hand (`adapter: records`)"
            raise DataError([Problem(export.data.name, "", "", expected, warnings, hint)])
        source |= {"scores": source["scores"][0]} if len(source["scores"]) == 1 else {}
        for join in source.get("join", []):
            join["file"] = (PurePosixPath(file).parent / join["file"]).as_posix()
        lines = [line for key, value in source.items() if value for line in _entry(key, value)]
    else:
        every = [read.records[0] for pattern in files for read in files[pattern].values()]
        merged = {key: value for record in every for key, value in record.items()}
        shape = guess_records(Records([merged], [""], single=True)) or Shape()
        lines = [line for line in shape.source if not line.startswith("judges")]
    if not shape.labels:
        return []
    labels, spelt = label_lines(shape.labels, compared=(form.method or shape.method) == "comparative")
    lines += [f"label_names: {flow(spelt)}"] if spelt else []
    out = [*export.comment, *(comment(f"Note: {w}.") for w in [*export.warnings, *draft.take(shape)])]
    out += [f"method: {form.method or shape.method}", "sources:"]
    for pattern in files:
        above = PurePosixPath(file).parents[pattern.count("/")]
        more = [f"{k}: {flow(v)}" for k, v in form.files.get(pattern, {}).items()]
        out += ["  - adapter: records", f"    file: {quoted((above / pattern).as_posix())}"]
        out += [f"    {line}" for line in [*(f"{k}: {v}" for k, v in options.items()), *lines, *more]]
    return [*out, "labels:", *labels]


def _at_places(export: Export, source: dict[str, Any]) -> list[Question]:
    """Complete the paths of boxes to tick: their number of an answer (`option_3`), and the place of the item that a
    label is of (`quality_1`); questions."""
    path = next((p for p in source.get("scores", []) if p.endswith("{label}.{score}")), "")
    fits = paths.pattern(path, greedy=True)
    held = [m for c in export.read.records[0] if path and (m := fits.fullmatch(c))]
    options = {m["score"] for m in held}
    start = shared(sorted(options)).rstrip("0123456789") if len(options) > 1 else ""
    if not start or not all(o.removeprefix(start).isdecimal() for o in options):
        start = ""
    if options and all(o.removeprefix(start).isdecimal() for o in options):  # each that was offered has a column
        numbers = [float(o.removeprefix(start)) for o in options]
        export.offered = min(numbers), max(numbers)
    named = [re.fullmatch(r"(.*?[^0-9_. -])([_. -]*)([0-9]+)", m["label"]) for m in held]
    at_place = sorted({m[3] for m in named if m}, key=int)
    labels, dividers = {m[1] for m in named if m}, {m[2] for m in named if m}
    crossed = len(at_place) > 1 == len(dividers) and len({m[0] for m in named if m}) == len(labels) * len(at_place)
    source["scores"] = [p.replace("{score}", start + "{score}") if p == path else p for p in source["scores"]]
    if not crossed or not all(named):
        return []
    cells = pd.DataFrame(export.read.records).astype(str)
    at = places.roles(places.shown(cells, at_place))
    divider = min(dividers)
    if not at and (not divider or len(labels) < 2):
        return []
    source["scores"] = [p.replace("{label}", f"{{label}}{divider}{{i}}") for p in source["scores"]]
    columns = source["columns"]
    row = "HITId" if "HITId" in cells and not re.fullmatch(r"Input\..*", columns["dialogue"]) else columns["dialogue"]
    row = "HITId" if json_text.listed(cells[row].iloc[0]) is not None else row
    if system := at.get("system"):
        columns |= {"system": system, "context": at.get("dialogue", row)}
        source["identify"] = {"dialogue": [columns["context"], system]}
    else:
        source["identify"] = {"dialogue": [at["dialogue"]] if "dialogue" in at else [row, "{i}"]}
    columns |= {"system_text": at["system_text"]} if "system_text" in at else {}
    columns.pop("dialogue")
    text = f"What are the numbers {', '.join(at_place)} after {', '.join(sorted(labels))}?"
    how = Answer(f"parts of the names of labels: write `{path}` and declare these")
    return [] if at else [Question("item: places", text, "places of items in a row", (how,))]


def _entry(key: str, value: Any) -> list[str]:
    """A key of YAML with its value: on one line, or a line for each of many."""
    if isinstance(value, dict) and len(flow(value)) > _LONG:
        return [f"{key}:", *(f"  {quoted(k)}: {flow(v)}" for k, v in value.items())]
    return [f"{key}: {flow(value)}"]


def _files(export: Export) -> dict[str, dict[str, Records]]:
    """Files that belong together, as the source names them -> the files that are there."""
    suffix = "".join(export.data.suffixes)
    out: dict[str, dict[str, Records]] = {}
    for name in export.form.files:
        pattern = name.replace("<suffix>", suffix).replace("<name>", _TIME.sub("*", export.data.name))
        folder = export.data.resolve().parents[pattern.count("/")]
        matching = sorted(path for path in folder.glob(wildcards(pattern)) if path.is_file())
        read = {path.relative_to(folder).as_posix(): read_records(path, path.name, FileOptions()) for path in matching}
        strange = [name for name, one in read.items() if not holds(export.form, one)]
        if strange and wildcards(pattern) != pattern:
            export.warnings.append(
                f"{', '.join(strange)}: fits {pattern!r} by name, but not in content: move it elsewhere"
            )
        out |= {pattern: {n: r for n, r in read.items() if n not in strange}} if read else {}
    return out or {export.data.name: {export.data.name: export.read}}


def _shape(export: Export, source: dict[str, Any], files: dict[str, dict[str, Records]]) -> Shape:
    """What was judged, on which scales, and how an item is known; completes the source."""
    out = Shape()
    columns = source.setdefault("columns", {})
    if "annotator" not in {*columns, *source.get("either", {}), *paths.names(source["scores"][0])}:
        source["annotators"] = "positions"
    source |= {"join": [dict(export.join)]} if any(p.startswith("item.") for p in columns.values()) else {}
    if export.form.method == "comparative" and not {"system", "system_b"} <= columns.keys():
        places = ", ".join(export.places)[:200]
        hint = "name them so in the file, e.g. `model_a` and `model_b` beside what was shown"
        raise DataError([Problem(export.data.name, "", "", "keys that name both systems of a pair", places, hint)])
    parts = _cells(export, source, files, out)
    if not parts:
        return out
    cells = _remaining(source, parts)
    if "system" not in {*columns, *export.form.source.get("identify", {})}:
        read = source["scores"][0].partition(".")[0]
        out.rivals[""] = [p for p in export.places if p not in columns.values() and not p.startswith(read)][:8]
    elif {"dialogue", "system"} <= set(columns) and (
        cells.groupby(columns["dialogue"])[columns["system"]].nunique().gt(1).any()
    ):
        columns["context"] = columns.pop("dialogue")
        source["identify"] = {"dialogue": [columns["context"], columns["system"]]}
    who = columns.get("annotator", "{annotator}")
    _judges(export, source, list(cells[who].dropna().unique()) if who in cells else [], out)
    _labels(export, source, cells, out)
    if asked := nothing.labels(out):
        every = _cells(export, source | {"empty": nothing.NOTHING}, files, Shape(), asked)
        nothing.ask(out, source, asked, _remaining(source, every))
    item = [c for ours, c in columns.items() if ours in ("annotator", "dialogue", "context", "system", "turn", "label")]
    item = ["_path", *(c for c in item if c in cells)]
    _repeated(out, source, cells.drop_duplicates([*item, "{.where_record}"]).duplicated(item))
    out.method = "turn_rating" if "turn" in columns else "dialogue_rating"
    out.method = "comparative" if "dialogue_b" in columns else out.method
    return out


def _judges(export: Export, source: dict[str, Any], annotators: list[str], out: Shape) -> None:
    """Annotators that are no people: by the form, else those that are called like language models."""
    people = set(values_at(export.read, export.form.people, export.table)) if export.form.people else set()
    kinds = {
        name: next((kind for pattern, kind in export.form.machines.items() if fnmatch.fnmatchcase(name, pattern)), "")
        or ("llm" if looks_like_model(name) else "human")
        for name in annotators
        if name not in people
    }
    source |= {"judges": found} if (found := {name: kind for name, kind in kinds.items() if kind != "human"}) else {}
    if models := sum(kind == "llm" for kind in found.values()):
        out.judged_by_models(models)
    if programs := [name for name, kind in found.items() if kind != "llm"]:
        out.warnings.append(f"treated as programs, neither people nor models: {', '.join(programs)} (`judges`)")


def _cells(
    export: Export,
    source: dict[str, Any],
    files: dict[str, dict[str, Records]],
    shape: Shape,
    labels: Iterable[Label] = (),
) -> list[pd.DataFrame]:
    """One row per score, path by path; `shape` asks about lists."""
    out = []
    for pattern, records in files.items():
        folder = export.data.resolve().parents[pattern.count("/")]
        for path in source["scores"]:
            model = RecordSource.model_validate({"adapter": "records", "file": pattern, **source, "scores": [path]})
            for name, read in records.items():
                cells, odd = cells_of(model, name, read, folder, labels)
                lists = [problem for problem in odd if problem.found.startswith("a list")]
                if lists and not export.form.labels:
                    what = "one value is a list (at" if len(lists) == 1 else f"{len(lists)} values are lists (first at"
                    how = Answer("judgements: add a separate source whose path ends in .[]")
                    text = f"What are lists at {path}?"
                    shape.ask(f"labels at {path}", text, "left out", how, evidence=f"{what} {lists[0].where})")
                if len(cells):
                    out.append(cells.assign(_place=name + cells[WHERE], _path=path))
    return out


def _labels(export: Export, source: dict[str, Any], cells: pd.DataFrame, out: Shape) -> None:
    """The labels of the scores; what is text, or no answer of a known kind, is left out and said."""
    stated = [values_at(export.read, path, export.table) for path in export.form.scale.values()]
    ends = dict(zip(stated[0], zip(*stated[1:], strict=True), strict=True)) if len(set(map(len, stated))) == 1 else {}
    name = source["columns"].get("label", "{label}")
    label = cells[name] if name in cells else pd.Series(source.get("constants", {}).get("label"), cells.index)
    if export.form.labels:
        label = label[label.isin(values_at(export.read, export.form.labels, export.table))]
        cells = cells.loc[label.index]
    score = cells["{score}"].map(lambda text: source.get("values", {}).get(text, text))
    score = score[~score.isin(source.get("na_values", [""])) & score.notna()]
    for one, held in score.groupby(label[score.index], sort=False):
        held = held.astype(str)
        if export.form.method == "comparative":
            out.labels[one] = "{scale: [-1, 1]}"
            continue
        if "dialogue_b" in source["columns"]:
            sides = {word: side_of(word) for word in held.unique() if word not in ("1", "0", "-1")}
            if None in sides.values():
                how = Answer("`values` says which side each answer means")
                text = f"Which side won by {flow(sorted(sides))} in {one!r}?"
                out.ask(f"label {one}", text, "not known, so it is left out", how)
                continue
            source["values"] = {**source.get("values", {}), **sides}
            out.labels[one] = "{scale: [-1, 1]}"
            continue
        seems, rows = nature("score", held), cells.loc[held.index]
        # of answers that stand in a list, or are keys, what is above them is the same for one question
        inner = rows["_path"].str.endswith(("[]", "{score}"))
        above = rows["_place"].str.replace(r"(?:\.(?:(?!:::)[^.\[])*|\[[0-9]+\]|:::[^:]*)$", "", regex=True)
        several = rows["_place"].where(~inner, above).duplicated().any()
        ends_so = [place.endswith(answer) for place, answer in zip(rows["_place"], held, strict=True)]
        keys = rows["_path"].str.endswith("{score}") & ~pd.Series(ends_so, held.index)
        if (words := _options(export, out)) and set(held) <= set(words):
            out.labels[one] = _in_words(source, words, several=bool(several), out=out)
        elif several and seems.kind == "words" and not keys.any():
            out.labels[one] = f"{{categories: {flow(sorted(held.unique()))}, level: sets}}"
        elif several and keys.any():
            path = rows["_path"].iloc[0].replace("{label}", one).replace("{score}", "{label}")
            how = Answer(f"judgements: {path!r} as `scores` reads them")
            out.ask(f"label {one}", f"What is {one!r}, which holds several questions?", "left out", how)
        elif several or not (seems.kind == "words" or pd.to_numeric(held, errors="coerce").notna().all()):
            what = "several answers at once" if several else seems.says
            out.ask(f"label {one}", f"Does {one!r} hold judgements?", "no, it is left out", evidence=what)
        else:
            out.labels[one] = declared(out, list(held), one, tuple(map(float, ends.get(one, export.offered))))
            known = set(cells.loc[held.index, "{score}"]) <= set(source.get("values", {}))
            if (way := export.form.direction) and (known or not source.get("values")):
                out.labels[one] = f"{out.labels[one][:-1]}, direction: {way}}}"


def _remaining(source: dict[str, Any], parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Scores that `keep` and `drop` leave."""
    cells = pd.concat(parts, ignore_index=True)
    rules = source.get("keep", {}), source.get("drop", {})
    return cells[filters.dropped({c: cells[c] for r in rules for c in r}, *rules, cells.index)[0].isna()]


def _options(export: Export, out: Shape) -> dict[str, str]:
    """Numbers that stand for options -> their words; nothing where the words are the numbers."""
    if not export.form.options:
        return {}
    numbers, words = (values_at(export.read, path, export.table) for path in export.form.options)
    if len(numbers) != len(words) or not all(map(str.isdecimal, numbers)) or numbers == words:
        return {}
    pairs = list(dict.fromkeys(zip(numbers, words, strict=True)))
    if len(dict(pairs)) < len(pairs):
        out.warnings.append("a number stands for different options in different tasks, and is read as it is")
        return {}
    return dict(pairs)


def _in_words(source: dict[str, Any], words: dict[str, str], *, several: bool, out: Shape) -> str:
    """The declaration of a label whose answers are numbers that stand for words, which `values` then maps."""
    ordered = ranked(list(words.values()))
    answers = ordered or list(words.values())
    level = "sets" if several else "ordinal" if ordered else "nominal"
    code = {word: 2**i if several else i + bool(ordered) for i, word in enumerate(answers)}
    source["values"] = {number: code[word] for number, word in words.items()}
    if level == "nominal":
        how = Answer("one order: list `categories` from the lowest up and add `level: ordinal`")
        out.ask("level of the answers", "Have the answers an order?", "none", how)
    return f"{{categories: {flow(answers)}, level: {level}}}"
