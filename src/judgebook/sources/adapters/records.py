"""Records: JSON, JSON Lines or tables, nested or flat, by paths in the YAML (`options.records`).

Every path to scores is walked through every record; each score becomes a row, with what the path's names stand for and
the values of the other paths at the same place. From there on it is a long table (`judgements`).
"""

from __future__ import annotations

import fnmatch
import glob
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.sources import sampling
from judgebook.sources.adapters.options.records import SCORE, Records, prefixes
from judgebook.sources.files import Files
from judgebook.sources.formats import Records as Read
from judgebook.sources.formats import read_records, scalar
from judgebook.sources.places import matcher
from judgebook.sources.reading import Counts, Reading
from judgebook.sources.rows import record_rows, unmarked
from judgebook.sources.rows.cells import (
    SUMMING,
    WHERE,
    WHERE_RECORD,
    first_given,
    mapped,
    respelt,
    simple,
    spellings,
    twice_named,
    with_patterns,
)
from judgebook.sources.rows.joined import Joins, flat, paths_of, unused
from judgebook.sources.rows.judgements import finish
from judgebook.sources.rows.marked_errors import summed
from judgebook.sources.rows.options import chosen, compared
from judgebook.sources.rows.record_rows import Walk, of_each
from judgebook.sources.rows.scoring import BLANK, State
from judgebook.sources.rows.sheets import Sheet, sheets
from judgebook.sources.rows.table_cells import identified
from judgebook.study import paths
from judgebook.study.labels import Label
from judgebook.study.paths import ALONE
from judgebook.study.schema import DataError, Problem
from judgebook.study.source_shared import OURS

ROW, FILE = "{row}", "{file}"
#: of `cells`, besides those of rows.cells: names that no path and no pattern can have
NUMBER, POSITIONAL, PATH, ENV = "{.record}", "{.positional}", "{.path}", "{.env}"
#: whether nothing was marked, which is the answer `empty`
NOTHING = "{.nothing}"
#: leads the names of columns with values that nothing uses, and that may say how dialogues were drawn
_DRAWN = "{.drawn}"
#: a number of judgements above this is none
_MOST = 1_000_000


def read(source: Records, open_file: Files) -> Reading:
    """One annotation per score. Missing scores are dropped and counted, with the reason the YAML gives."""
    state = State()
    of_files = _of_files(source, open_file, state)
    problems = of_files.problems
    cells = of_files.plain
    if cells is None:
        cells = pd.DataFrame(of_files.rows, dtype=object).drop(columns=[PATH, ENV], errors="ignore")
    # names that only paths bind which lead nowhere
    cells = cells.assign(**{f"{{{name}}}": None for name in source.variables if f"{{{name}}}" not in cells})
    if source.chosen:
        cells = chosen(source, cells, problems)
    if source.count:
        cells = _counted(source, cells, problems)
    _without_scores(state, of_files.records, cells)
    positional = cells.pop(POSITIONAL)
    cells, odd = with_patterns(source, cells)
    problems += odd
    cells, made = identified(respelt(source, cells, open_file.spelling), source.identify)
    if "score" in source.constants:
        cells = cells.drop(columns=SCORE)
    base = open_file.spelling.frame(first_given(source, cells, mapped(source, cells, source.columns)))
    if of_files.plain is not None:
        base["_row"] = cells[NUMBER]
    base["_record"], base["_positional"], base["_place"] = cells[NUMBER], positional, cells[WHERE_RECORD]
    if problems and base[["label", "dialogue"]].isna().all().any():
        raise DataError(problems)
    parts = base
    if source.errors is not None:
        cells, base = summed(source, cells, base, problems)
    base["_item"] = base.index
    base["_nothing"], base["_summing"] = cells.get(NOTHING, False), cells[SUMMING]
    marks = compared(source, base) if source.pairs else base.copy()
    state.problems += problems
    if source.errors is not None or source.pairs:
        _count_parts(state, source, parts, marks)
    reading = finish(source, source.file, cells, base, marks, open_file.labels, state)
    reading.unused, reading.notes, reading.made = (
        _not_skipped(source, of_files.unused, of_files.led),
        of_files.notes,
        made,
    )
    drawn = {c.removeprefix(_DRAWN): cells[c] for c in cells if c.startswith(_DRAWN)}
    reading.dialogue_facts = sampling.facts(base, drawn)
    return reading


@dataclass
class _OfFiles:
    """What the files of a source hold.

    rows : one for each score. plain : the same as a frame with coded columns, where `_File.plain` can make one.
    records : file and place of every record. unused : file -> path that the YAML does not name -> its values. led :
    joined file -> how paths into it begin.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    plain: pd.DataFrame | None = None
    records: list[tuple[str, str]] = field(default_factory=list)
    unused: dict[str, dict[str, pd.Series]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    led: dict[str, str] = field(default_factory=dict)


def _of_files(source: Records, open_file: Files, state: State) -> _OfFiles:
    """Read all files and what is joined to them. Raises DataError where no score is found."""
    labels = {"label": spellings(source, open_file.labels, open_file.spelling)}
    joins = Joins(source, open_file, state.counts)
    out = _OfFiles()
    readers: list[_File] = []
    for name in open_file.fitting(source.file):
        for sheet in sheets(source, open_file(name), name):
            content = read_records(open_file(name), name, sheet.options, state.counts, sheet=sheet.rows)
            readers.append(_File(source, name, content, labels, joins, sheet))
    joins.check()
    if len(readers) == 1 and simple(source, open_file.labels, open_file.spelling):
        out.plain = readers[0].plain(out.unused)
        if out.plain is not None:
            return out
    for reader, rows in zip(readers, _rows(source, readers, open_file.labels), strict=True):
        unused_ = reader.unused()
        out.records += [(reader.name, reader.place(n)) for n in range(len(reader.read.where))]
        drawn = reader.drawn(unused_)
        out.rows += [row | {_DRAWN + path: values[row[NUMBER]] for path, values in drawn.items()} for row in rows]
        out.unused.setdefault(reader.name, {}).update(unused_)
    _check(readers)
    out.problems += [problem for reader in readers for problem in reader.problems]
    out.notes += joins.notes()
    for join in joins.every:
        out.problems += join.problems
        join.count(state)
        out.unused |= join.unused()
        out.led |= dict.fromkeys(join.reads, f"{join.name}.")
    if not out.rows:
        none = "no record that the paths of `scores` fit"
        problem = Problem(source.file, "", "", "at least one score", none, "check `scores`")
        raise DataError(out.problems or [problem])
    return out


def _not_skipped(
    source: Records, unused: dict[str, dict[str, pd.Series]], led: Mapping[str, str]
) -> dict[str, dict[str, pd.Series]]:
    """Of what is not used, what `skip_columns` does not name. led : joined file -> how paths into it begin."""
    out = {}
    for file, columns in unused.items():
        names = {column: led.get(file, "") + column for column in columns}
        skipped = {
            n
            for pattern in source.skip_columns
            for n in fnmatch.filter(names.values(), glob.escape(pattern).replace("[*]", "*"))
        }
        out[file] = {column: values for column, values in columns.items() if names[column] not in skipped}
    return {file: columns for file, columns in out.items() if columns}


def _rows(source: Records, readers: list[_File], labels: Iterable[Label]) -> list[list[dict[str, Any]]]:
    """The rows of each file, with those of judgements in which nothing was marked."""
    rows = [reader.rows() for reader in readers]
    if source.empty is None:
        return rows
    marked: dict[str, set[str]] = {}
    answers = unmarked.spelt(source, labels)
    for reader, of_file in zip(readers, rows, strict=True):
        for level, names in reader.marked(of_file, answers).items():
            marked.setdefault(level, set()).update(names)
    for reader, of_file in zip(readers, rows, strict=True):
        of_file += reader.unmarked(marked)
        of_file.sort(key=lambda row: row[NUMBER])
    return rows


def _without_scores(state: State, held: list[tuple[str, str]], cells: pd.DataFrame) -> None:
    """Count records that have no place for a score. held : file and place of every record."""
    if not held:
        return
    having = set(cells[[FILE, WHERE_RECORD]].drop_duplicates().itertuples(index=False, name=None))
    for file, where in (record for record in held if record not in having):
        state.counts.add(file, state.of_rows(file), "dropped", BLANK, where=[where])


def _count_parts(state: State, source: Records, parts: pd.DataFrame, marks: pd.DataFrame) -> None:
    """Count what several records make a score of, and the records that no score is named for.

    parts : errors that are summed, or options that are compared. marks : what they were made into.
    """
    what = "options" if source.pairs else "rows of errors"
    state.count(parts, "read", what=what)
    state.count(parts, "dropped", "compared two by two" if source.pairs else "their weights are summed", what=what)
    places = set(marks[["file", "_place"]].itertuples(index=False, name=None))
    rest = parts.drop_duplicates(["file", "_place"])
    rest = rest[[place not in places for place in rest[["file", "_place"]].itertuples(index=False, name=None)]]
    used = pd.Series(True, rest.index)
    if source.pairs:
        used = rest["dialogue"].isin({*marks["dialogue"], *marks["dialogue_b"]})
    for file, rows in rest.groupby("file", sort=False):
        state.counts.add(file, state.of_rows(file), "kept", "", int(used[rows.index].sum()))
        none = rows[~used[rows.index]]
        state.counts.add(file, state.of_rows(file), "dropped", "nothing to compare", len(none), where=none["where"])


def _counted(source: Records, cells: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    """Every row as many times as it was judged so."""
    column = str(source.count)
    held = cells[column].map(lambda text: "0" if text is None or text in source.na_values else text)
    number = pd.to_numeric(held, errors="coerce")
    odd = number.isna() | (number % 1 != 0) | ~number.between(0, _MOST)
    for i in cells.index[odd]:
        place = cells.at[i, FILE], cells.at[i, WHERE], column
        problems.append(Problem(*place, "a number of judgements", repr(held[i]), "`count` in the YAML names it"))
    if number[~odd].sum() > 10 * _MOST:
        hint = "`count` in the YAML names it: is it a number of judgements?"
        raise DataError([Problem(source.file, "", column, "numbers of judgements", f"{number.sum():,.0f}", hint)])
    return cells.loc[cells.index.repeat(number.where(~odd, 0).astype(int))].reset_index(drop=True)


def cells_of(
    source: Records, name: str, read: Read, folder: Path, labels: Iterable[Label] = ()
) -> tuple[pd.DataFrame, list[Problem]]:
    """The scores of one file and what the source's paths lead to, for guessing the labels; problems.

    What `either` chooses stands in columns called {label}, {score} and so on. labels : those that may have `empty`.
    """
    file = _File(source, name, read, {}, Joins(source, Files("", source.names(), folder), Counts()))
    (rows,) = _rows(source, [file], labels)
    cells = pd.DataFrame(rows, dtype=object)
    first = first_given(source, cells, pd.DataFrame(index=cells.index)) if len(cells) else cells
    return cells.assign(**{f"{{{ours}}}": first[ours] for ours in source.either if len(cells)}), file.problems


class _File:
    """The scores of one file."""

    def __init__(
        self,
        source: Records,
        name: str,
        read: Read,
        known: dict,
        joins: Joins,
        sheet: Sheet | None = None,
    ):
        self.source, self.name, self.read = source, name, read
        self.paths = paths_of(source)
        columns = [steps[0].text for join, steps in self.paths.values() if join is None] if flat(read) else []
        if source.chosen:  # options may identify what they were chosen from
            columns = [c for c in columns if c not in {p for many in source.identify.values() for p in many}]
        of_label = self.paths.get(source.columns.get("label", ""), (None, []))[1]
        self.walk = Walk(name, known, columns, source.empty, prefixes(of_label))
        self.problems = self.walk.problems
        self.problems += twice_named(name, source.scores, read.repeated, known.get("label", ()))
        self.scores = [(path, *source.steps(path)) for path in source.scores]
        self.named = matcher(source.file)(name) if paths.names(source.file) else {}
        if self.named is None:
            self.problems.append(
                Problem(name, "", "file", f"a name like {source.file!r} that fits in one way", "another")
            )
            self.named = {}
        self._of_sheet = sheet.where if sheet else ""
        self.named = {**self.named, **(sheet.named if sheet else {})}
        self.joins = joins.of(name, self.named)
        self.there: set[str] = set()
        self.units = unmarked.Units(source)
        who = source.columns.get("annotator", "{annotator}")
        #: paths in which the annotator is a place in a list
        self._positional = {
            path
            for path, _, steps in self.scores
            if any(s.kind == "list" and s.name and who == f"{{{s.name}}}" for s in steps)
        }

    def place(self, n: int) -> str:
        """Where the record with this number is."""
        return self._of_sheet + self.read.where[n]

    def rows(self) -> list[dict[str, Any]]:
        """One row per score: cells by path, names as {name}."""
        out: list[dict[str, Any]] = []
        for n, (record, where) in enumerate(zip(self.read.records, self.read.where, strict=True)):
            env: dict[str, Any] = dict(self.named or {})
            joined = self._join(record, where, env)
            for path, join, steps in self.scores:
                root = joined.get(join) if join else record
                for value, place, names in self.walk.each(root, steps, where, env):
                    self.there.add(path)
                    if isinstance(value, dict | list):
                        hint = "write the path on to what is in it: .[] for each of a list, .{label} for the keys"
                        self.walk.report(
                            place, path, "a score", "an object {…}" if isinstance(value, dict) else "a list […]", hint
                        )
                        continue
                    text = scalar(value)
                    if "score" in names and self.source.value_used:
                        names = {**names, "value": text}
                        text = names["score"]
                    elif (
                        "score" in names
                    ):  # the key is the answer where its value is true; any other value is itself one
                        if text is None or text.strip().lower() in ("", "false"):
                            continue
                        text = names["score"] if text.strip().lower() == "true" else text
                    out.append(self._row(record, joined, path, place, names, n, None if text is None else text.strip()))
        return out

    def plain(self, unused_: dict[str, dict[str, pd.Series]]) -> pd.DataFrame | None:
        """As `rows`, column by column, where all records have the same keys and paths are keys of them; None elsewhere.

        unused_ : takes up what is not used. The records are gone afterwards, since so many may be here.
        """
        records, taken = self.read.records, self.walk.taken
        if self.read.single or self.read.sums or not records or self.problems:
            return None
        keys = tuple(records[0]) if isinstance(records[0], dict) else ()
        steps_of = [*(steps for _, _, steps in self.scores), *(steps for _, steps in self.paths.values())]
        if any(len(steps) != 1 or steps[0].kind != "key" for steps in steps_of):
            return None
        used = {path: steps[0].text for path, (_, steps) in self.paths.items()}
        if not {*used.values()} <= {*keys} or any(type(r) is not dict or tuple(r) != keys for r in records):
            return None
        found: list[tuple[str, str | None]] = []
        for _, _, steps in self.scores:
            text = steps[0].text
            match = paths.Matcher(text, self.walk.known) if paths.placeholders(text) else None
            fits = (
                {key: match(key) for key in keys if key not in taken} if match else {k: {} for k in keys if k == text}
            )
            if (match and match.ambiguous) or not any(named is not None for named in fits.values()):
                return None
            found += [(key, named.get("label")) for key, named in fits.items() if named is not None]
        index, columns = pd.RangeIndex(len(records)), {}
        for key in keys:
            values = [record[key] for record in records]
            kinds = {*map(type, values)}
            if kinds & {dict, list}:
                return None
            texts = values if kinds == {str} else [*map(scalar, values)]
            code, distinct = pd.factorize(codes.objects(texts))
            columns[key] = codes.coded(code, distinct, index)
        left = {key: codes.decoded(columns[key]) for key in keys if key not in {*used.values(), *(k for k, _ in found)}}
        left = {path: v for path, v in left.items() if path not in OURS or path not in self.source.columns}
        unused_[self.name] = left
        where = pd.Series([self.place(n) for n in index], dtype="str")
        drawn = {_DRAWN + path: left[path] for path in left if sampling.key_for(path, left[path])}
        records.clear()
        row = np.repeat(np.arange(len(index)), len(found))
        held = {
            WHERE_RECORD: where,
            ROW: pd.Series(codes.numbered("", index + 1)),
            **{path: columns[key] for path, key in used.items()},
            **drawn,
        }
        out = pd.DataFrame({path: values.take(row).array for path, values in held.items()})
        of = np.tile(np.arange(len(found)), len(index))
        if found[0][1] is not None:
            code, ids = pd.factorize(codes.objects([label for _, label in found]))
            out["{label}"] = codes.coded(code[of], ids, out.index)
        out[SCORE] = codes.interleaved([codes.mapped(columns[key], str.strip) for key, _ in found])
        ends = pd.Series([f", {record_rows.short(key)}" for key, _ in found], dtype="str")
        out[WHERE] = out[WHERE_RECORD] + ends.take(of).set_axis(out.index)
        out[FILE], out[NUMBER] = codes.constant(self.name, out.index), row
        return out.assign(**{SUMMING: False, POSITIONAL: False, "{value}": out[SCORE]})

    def marked(self, rows: list[dict[str, Any]], answers: Mapping[str, str]) -> dict[str, set[str]]:
        """Level of `unmarked.Units` -> labels with scores there. answers : spelling -> id of labels with `empty`."""
        name = self.source.columns.get("label", "{label}")
        for n, (record, where) in enumerate(zip(self.read.records, self.read.where, strict=True)):
            self.units.enter(self.walk, record, n, where, dict(self.named or {}))
        for row in rows:
            label = row[name] if name in row else str(self.source.constants.get("label"))
            if label in answers:
                self.units.mark(row[PATH], row[NUMBER], row[ENV], label)
        return self.units.marked()

    def unmarked(self, marked: Mapping[str, set[str]]) -> list[dict[str, Any]]:
        """Rows for labels that were not marked where others were asked for them."""
        name = self.source.columns.get("label", "{label}")
        out = []
        for unit, label in self.units.without(marked):
            record = self.read.records[unit.record]
            env = unit.env | ({"label": label} if name == "{label}" else {})
            joined = self._join(record, unit.place, env)
            row = self._row(record, joined, unit.path, unit.place, env, unit.record, self.source.empty)
            out.append(row | {NOTHING: True} | ({name: label} if name in row else {}))
        return out

    def _join(self, record: Any, where: str, env: dict[str, Any]) -> dict[str, Any]:
        """Records of joined files that belong to the whole record; the others are found score by score."""
        out = {}
        for join in self.joins.values():
            if not ALONE.fullmatch(join.by) and not any(
                s.iterates or paths.placeholders(s.text) for s in self.paths[join.by][1]
            ):
                key, there = self.walk.value(record, self.paths[join.by][1], where, env, join.by)
                self.there |= {join.by} if there else set()
                out[join.name] = join.find(key)
        return out

    def _row(
        self, record: Any, joined: dict[str, Any], path: str, place: str, env: dict[str, Any], n: int, text: str | None
    ) -> dict[str, Any]:
        env = {"value": text, **env}
        row = {f"{{{name}}}": value for name, value in env.items() if name[0] != "@"}
        row |= {WHERE_RECORD: self.place(n), SUMMING: self.read.where[n] in self.read.sums}
        inside, place = place, self._of_sheet + place
        row |= {ROW: str(n + 1), FILE: self.name, SCORE: text, WHERE: place, NUMBER: n}
        for name, join in self.joins.items():
            if name not in joined:
                on = join.by
                key = (
                    env.get(on[1:-1])
                    if ALONE.fullmatch(on)
                    else self.walk.value(record, self.paths[on][1], place, env, on)[0]
                )
                self.there.add(on)
                joined = {**joined, name: join.find(key)}
        for other, (into, steps) in self.paths.items():
            root = joined.get(into) if into else record
            row[other], there = self.walk.value(root, steps, place, env, other)
            if there:
                self.there.add(other)
        row |= {POSITIONAL: path in self._positional}
        if self.source.empty is not None:
            row |= {PATH: path, ENV: env, NOTHING: inside in self.walk.nothing}
        return row

    def unused(self) -> dict[str, pd.Series]:
        """Paths that the YAML does not name -> their values."""
        used = [steps for join, steps in self.paths.values() if join is None]
        used += [steps for _, join, steps in self.scores if join is None]
        out = unused(self.read, used, self.walk.known)
        return {path: values for path, values in out.items() if path not in OURS or path not in self.source.columns}

    def drawn(self, left: Mapping[str, pd.Series]) -> dict[str, list[str | None]]:
        """Of the paths in `left`, those that may say how dialogues were drawn -> the value of every record."""
        wanted = [path for path, values in left.items() if sampling.key_for(path, values)]
        return of_each(self.read, wanted) if wanted else {}


def _check(readers: list[_File]) -> None:
    """Paths that lead nowhere in any of the files: a problem of the first; keys that hold now this, now that."""
    first = readers[0]
    for reader in readers:
        reader.walk.mixed()
    there = {path for reader in readers for path in reader.there}
    named = first.source.looked_up() | {path: "scores" for path in first.source.scores}
    for path, place in named.items():
        if path in there or ALONE.fullmatch(path):
            continue
        join, steps = first.source.steps(path)
        missed = first.joins[join].missed if join in first.joins else partial(first.walk.missed, first.read)
        if (problem := missed(steps, path, place)) is not None:  # None: no score was found from which to look
            first.problems.append(problem)
