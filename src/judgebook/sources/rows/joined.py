"""Records of further files, joined to those of the first by a key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from judgebook.sources.adapters.options.records import Join, Records
from judgebook.sources.files import Files
from judgebook.sources.formats import Records as Read
from judgebook.sources.formats import read_records
from judgebook.sources.places import wild
from judgebook.sources.reading import Counts
from judgebook.sources.rows import record_rows
from judgebook.sources.rows.record_rows import Walk
from judgebook.sources.rows.scoring import State
from judgebook.study import paths
from judgebook.study.paths import ALONE, Step
from judgebook.study.schema import DataError, Problem


def paths_of(source: Records) -> dict[str, tuple[str | None, list[Step]]]:
    """Paths of values that belong to a score -> the join they lead into, and their steps there."""
    return {path: source.steps(path) for path in source.looked_up() if not ALONE.fullmatch(path)}


class Joins:
    """The joined files of a source: each file of the source has those with the same {names}.

    every : those that were read.
    """

    def __init__(self, source: Records, open_file: Files, counts: Counts):
        self.source, self.open_file, self.counts = source, open_file, counts
        self._read: dict[tuple[str, ...], Joined] = {}
        self._absent: list[Problem] = []

    @property
    def every(self) -> list[Joined]:
        return list(self._read.values())

    def of(self, name: str, named: Mapping[str, str]) -> dict[str, Joined]:
        """The joined files of the file `name` by the name of the join. named : what the {names} stand for in its name.

        One that is absent is left out, for `check` to report.
        """
        out = {}
        for join in self.source.join:
            file = paths.fill(join.file, dict(named))
            if file is None:  # the name of the first file is already reported
                continue
            files = [f for f in self.open_file.fitting(file) if not wild(join.file) or f in self.open_file.names]
            if not files:
                hint = f"add the file; `{join.file}` names it"
                self._absent.append(Problem(name, "", f"join: {join.name}", f"the file {file}", "no such file", hint))
                continue
            key = (join.name, *files)
            if key not in self._read:
                self._read[key] = Joined(self.source, join, files, self.open_file, self.counts)
            out[join.name] = self._read[key]
        return out

    def check(self) -> None:
        """Raise DataError with the files that are absent."""
        if self._absent:
            raise DataError(self._absent)

    def notes(self) -> list[str]:
        """What is not matched: scores without a record, and files that belong to no file of the source."""
        out = [note for joined in self.every for note in joined.notes()]
        read = {name for joined in self.every for name in joined.reads}
        for join in self.source.join:
            left = [f for f in self.open_file.fitting(join.file) if f not in read]
            out += [f"{f} belongs to no file {self.source.file}: not read" for f in left]
        return out


class Joined:
    """The records of a joined file, or of several as one, by their key.

    of : key -> record. reads : name of the file -> what it holds.
    """

    def __init__(self, source: Records, join: Join, files: list[str], open_file: Files, counts: Counts):
        self.name, self.by = join.name, join.by
        self.reads = {file: read_records(open_file(file), file, join, counts) for file in files}
        self.walks = {file: Walk(file, {}) for file in files}
        self.n_found = self.n_missed = 0
        self.of: dict[str, Any] = {}
        self._file_of: dict[str, str] = {}
        self._used_keys: set[str] = set()
        every = (*paths_of(source).values(), *map(source.steps, source.scores))
        key = join.key or join.by
        steps = paths.parse(key, table=flat(next(iter(self.reads.values()))))
        self._used = [*(inner for name, inner in every if name == join.name), steps]
        self._problems: list[Problem] = []
        self._by_key(steps, key)
        if not self.of:
            none = Problem(files[0], "", key, "records with a key", "none", f"`join: {join.name}` in the YAML names it")
            self._problems.append(self.missed(steps, key, f"join: {join.name}") or none)

    def _by_key(self, steps: list[Step], key: str) -> None:
        hint = "each record of a joined file needs a key of its own"
        first: dict[str, str] = {}
        for file, read in self.reads.items():
            for record, where in zip(read.records, read.where, strict=True):
                value, _ = self.walks[file].value(record, steps, where, {}, key)
                if value is None:
                    continue
                if value in self.of:
                    other = f"{self._file_of[value]}, " if self._file_of[value] != file else ""
                    again = f"{value!r} again (first {other}{first[value]})"
                    self.walks[file].report(where, key, "a key given once", again, hint)
                    continue
                self.of[value], self._file_of[value], first[value] = record, file, where

    @property
    def problems(self) -> list[Problem]:
        return [*self._problems, *(problem for walk in self.walks.values() for problem in walk.problems)]

    def missed(self, steps: list[Step], path: str, place: str) -> Problem | None:
        """What is wrong with a path that leads nowhere; nothing where it leads to a value in the first record."""
        file, read = next(iter(self.reads.items()))
        return self.walks[file].missed(read, steps, path, place)

    def find(self, key: str | None) -> Any:
        record = self.of.get(key) if key is not None else None
        self._used_keys |= {key} if record is not None and key is not None else set()
        self.n_found += record is not None
        self.n_missed += record is None
        return record

    def count(self, state: State) -> None:
        """Count the records that belong to a score, and the others."""
        used = Counter(self._file_of[key] for key in self._used_keys)
        for file, read in self.reads.items():
            left = len(read.records) - used[file]
            state.counts.add(file, state.of_rows(file), "kept", n=used[file])
            state.counts.add(file, state.of_rows(file), "dropped", "belong to no score", left)

    def notes(self) -> list[str]:
        files = ", ".join(self.reads)
        if not self.n_found and self.of:
            keys = ", ".join(list(self.of)[:3])
            hint = f"its keys are {keys}, …: `by` and `key` of `join: {self.name}` say where keys stand in both files"
            self._problems.append(Problem(files, "", self.by, "records that belong to the first file", "none", hint))
        if self.n_missed:
            return [f"{self.n_missed:,} scores have no record in {files}, {self.n_found:,} have one"]
        return []

    def unused(self) -> dict[str, dict[str, pd.Series]]:
        return {file: unused(read, self._used, {}) for file, read in self.reads.items()}


def flat(read: Read) -> bool:
    """Whether records are rows of a table: all their values are text."""
    return bool(read.where) and read.where[0].startswith("row ")


def unused(read: Read, used: list[list[Step]], known: Mapping[str, Iterable[str]]) -> dict[str, pd.Series]:
    """Places of values that no steps lead to -> the values."""
    cut = [steps[: _operation(steps)] if flat(read) else steps for steps in used]
    return {path: pd.Series(values, dtype=object) for path, values in record_rows.unused(read, cut, known).items()}


def _operation(steps: list[Step]) -> int:
    return next((i for i, s in enumerate(steps) if s.kind in ("json", "nth", "ranking", "split")), len(steps))
