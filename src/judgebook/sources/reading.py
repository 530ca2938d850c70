"""What an adapter hands over: raw frames, and counts of what was read, kept, mended and dropped, by reason.

An adapter is a function `read(source, open_file) -> Reading`. `source` is its model from `adapters.options`;
`open_file(name)` gives the path of a raw file the source declares (`sources.files.Files`). It delivers annotators and
work units by the ids of the source: `sources.build` replaces them by pseudonyms, and checks everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from judgebook.study.labels import Label
from judgebook.study.schema import COUNTS, Problem

OpenFile = Callable[[str], Path]
ACTIONS = ("read", "kept", "mended", "dropped")
#: places that a count names
PLACES = 3
SEPARATOR = "; "


class Counts:
    """Counts what became of the units of a file. `mended` and `dropped` need a reason, `read` and `kept` have none."""

    def __init__(self) -> None:
        self._n: Counter[tuple[str | None, ...]] = Counter()
        self._where: dict[tuple[str | None, ...], str] = {}

    def add(
        self,
        file: str,
        what: str,
        action: str,
        reason: str = "",
        n: int = 1,
        *,
        corpus: str | None = None,
        missing: tuple[str | None, ...] = (None, None, None, None),
        where: Iterable[str] = (),
    ) -> None:
        """Add `n` units of `what` (annotations, dialogues, work units, …) to which `action` happened.

        missing : of scores that are missing, their method, label, system and, of comparisons, the other system.
        where : places of the units in the file, of which the first are noted.
        """
        if action not in ACTIONS:
            raise ValueError(f"action: expected one of {', '.join(ACTIONS)}, found {action!r}")
        if (action in ("mended", "dropped")) != bool(reason):
            raise ValueError(f"{action} {what}: a reason is needed for mended and dropped, and only there")
        if n:
            key = (corpus, file, what, action, reason, *missing)
            self._n[key] += int(n)
            self._where[key] = first_places([self._where.get(key, ""), *_distinct(where)])

    def has(self, file: str, what: str) -> bool:
        """Whether units of `what` were counted in the file."""
        return any(key[1:3] == (file, what) for key in self._n)

    def add_kept(self, file: str, corpus: str | None = None, **n: int) -> None:
        """Add units that were read and kept: what (`_` for a space) -> number."""
        for what, number in n.items():
            for action in ("read", "kept"):
                self.add(file, what.replace("_", " "), action, n=number, corpus=corpus)

    def frame(self) -> pd.DataFrame:
        """One row per count, columns of `schema.COUNTS`."""
        rows = [(*key, self._where[key] or None, n) for key, n in self._n.items()]
        return pd.DataFrame(rows, columns=list(COUNTS))


def _distinct(where: Iterable[str]) -> list[str]:
    """The first places that differ."""
    out: dict[str, None] = {}
    for place in where:
        out[place] = None
        if len(out) == PLACES:
            break
    return list(out)


def first_places(texts: Iterable[str | None]) -> str:
    """The first of all places that texts name, each once: of `row 17; row 31` and `row 9`, `row 9; row 17; row 31`."""
    every = {place for text in texts if text for place in text.split(SEPARATOR)}
    return SEPARATOR.join(sorted(every, key=_by_number)[:PLACES])


def _by_number(place: str) -> tuple[str, int]:
    """In the order of a file: `row 9` before `row 17`."""
    before, _, number = place.rpartition(" ")
    return (before, int(number)) if number.isdecimal() else (place, 0)


@dataclass
class Reading:
    """Frames of one source, with the columns of `study.schema` without `study`.

    annotations : columns of ANNOTATIONS; absent ones are filled in: corpus `main`, group `all`, annotator_known True,
        annotator_kind `human`, nullable ones null. Rows are in the order of the source. Annotators are raw ids
        (`pos0`… with annotator_known False where only a position is known; a model's name where it is no person). Two
        more columns name the place for messages: `file`, `where` (e.g. "row 12").
    dialogues, metric_scores, screening, work_units, dialogue_facts : as in the schema; corpus and group are filled in
        likewise.
    messages : of transcripts, each message or row of the file: file, where, number of the record, its turn (the row of
        `dialogues`, -1 for none) and why it is in none (`left`). Their `dialogues` may lack corpus and system, which
        `rows.transcripts` takes from judgements.
    counts : see `Counts`.
    labels : labels that the source brings with it and no YAML need declare.
    made : our column -> ids that `identify` joined -> their checksums, which `table_cells.alike` puts in their place
        where other sources have checksums; empty where this one has.
    unused : file -> column (or path) that nothing in the YAML names -> its cells.
    notes : what `check` says of the source, one line each.
    problems : what the adapter found wrong and could read past; what it could not read past it raises as DataError.
    """

    annotations: pd.DataFrame
    dialogues: pd.DataFrame | None = None
    metric_scores: pd.DataFrame | None = None
    screening: pd.DataFrame | None = None
    work_units: pd.DataFrame | None = None
    dialogue_facts: pd.DataFrame | None = None
    messages: pd.DataFrame | None = None
    counts: Counts = field(default_factory=Counts)
    problems: list[Problem] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    made: dict[str, dict[str, str]] = field(default_factory=dict)
    unused: dict[str, dict[str, pd.Series]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
