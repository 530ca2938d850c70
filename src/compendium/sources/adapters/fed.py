"""Conversations rated as a whole and at some of their turns (FED: Mehri & Eskenazi 2020, arXiv 2006.12719).

A file is a list of records `{context, response, system, annotations: {criterion: [ratings]}}`. Some records with a
`response` judge one turn; the record without one that follows them judges the whole conversation, of which their
contexts are beginnings. Lines of a context start with `User: ` or `System: `. Places in a list of ratings are not
people. Instead of a number a rating may be `N/A (reason)`.
"""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from compendium.sources.adapters.options.fed import Fed
from compendium.sources.tables import criteria
from judgebook.sources.files import read_csv, read_json
from judgebook.sources.reading import Counts, OpenFile, Reading
from judgebook.sources.records import Checked, slug

_MARKS = ["annotator", "system", "dialogue", "turn", "method", "label", "score", "where"]
_TEXTS = ["dialogue", "system", "turn", "user_text", "system_text"]
_FACTS = ["dialogue", "turn", "key", "value", "text"]
_SCORES = ["dialogue", "turn", "metric", "score"]
_KEYS = ["fed_index", "level", "system"]


def read(source: Fed, open_file: OpenFile) -> Reading:
    """Turn ratings (`turn_rating`) and conversation ratings (`dialogue_rating`) by positions `pos0`…

    A conversation is a dialogue with one turn for each reply of the system, so that ratings of turns and of the whole
    share their dialogue. A rating `N/A (reason)` is missing: it is counted under its label, and the reason is kept as
    a fact `not_rated` of the dialogue.
    """
    records = read_json(open_file(source.file), source.file, list)
    checked = Checked(source.file)
    out = _Conversations(source.file, checked)
    waiting: list[tuple[int, dict]] = []
    for i, record in enumerate(records):
        waiting.append((i, record))
        if isinstance(record, dict) and "response" not in record:
            out.add(waiting)
            waiting = []
    if waiting:
        checked.report(f"record {waiting[0][0]}", "", "a record of the whole conversation after its turns", "none")
    annotations = pd.DataFrame(out.marks, columns=_MARKS).assign(annotator_known=False, file=source.file)
    scores, problems = pd.DataFrame(columns=_SCORES), checked.problems
    if source.scores:
        scores, of_scores = _scores(source.scores, open_file, out.places, out.counts)
        problems = problems + of_scores
    return Reading(
        annotations,
        pd.DataFrame(out.texts, columns=_TEXTS),
        scores,
        dialogue_facts=pd.DataFrame(out.facts, columns=_FACTS),
        counts=out.counts,
        problems=problems,
    )


class _Conversations:
    """What the records add up to. `places` says which dialogue and turn (None: all of it) a record judges."""

    def __init__(self, file: str, checked: Checked):
        self.file, self.checked, self.counts = file, checked, Counts()
        self.marks: list[tuple] = []
        self.texts: list[tuple] = []
        self.facts: list[tuple] = []
        self.places: dict[int, tuple[str, int | None, str]] = {}
        self._n = 0

    def add(self, group: list[tuple[int, dict]]) -> None:
        """The records of one conversation: turns first, the whole last."""
        dialogue = f"d{self._n:03d}"
        self._n += 1
        heard = [lines for i, record in group if (lines := self._heard(i, record)) is not None]
        if len(heard) < len(group):
            return
        longest = max(heard, key=len)
        system = group[-1][1]["system"]
        for (i, record), lines in zip(group, heard, strict=True):
            if longest[: len(lines)] != lines or record["system"] != system:
                hint = "turn records stand before the record of their own conversation"
                self.checked.report(f"record {i}", "context", "a beginning of the same conversation", "another", hint)
                return
        self._texts(dialogue, system, longest)
        for (i, record), lines in zip(group, heard, strict=True):
            turn = sum(speaker == "System" for speaker, _ in lines) - 1 if "response" in record else None
            self._ratings(i, record, dialogue, turn)

    def _heard(self, i: int, record: Any) -> list[tuple[str, str]] | None:
        """(speaker, text) of every line of the context and, for a turn record, of the response."""
        where, n = f"record {i}", len(self.checked.problems)
        context = self.checked.get(record, "context", str, where)
        self.checked.get(record, "system", str, where)
        self.checked.get(record, "annotations", dict, where)
        given = isinstance(record, dict) and "response" in record
        response = self.checked.get(record, "response", str, where) if given else None
        said = (context or "").split("\n") + ([response] if response is not None else [])
        out = [tuple(part.strip() for part in line.partition(":")[::2]) for line in said if line.strip()]
        if any(speaker not in ("User", "System") for speaker, _ in out):
            self.checked.report(where, "context", "lines that start with `User: ` or `System: `", "another line")
        elif response is not None and response.partition(":")[0].strip() != "System":
            self.checked.report(where, "response", "a line that starts with `System: `", response)
        return out if len(self.checked.problems) == n else None

    def _texts(self, dialogue: str, system: str, lines: list[tuple[str, str]]) -> None:
        before: list[str] = []
        turn = 0
        for speaker, text in lines:
            if speaker == "User":
                before.append(text)
                continue
            self.texts.append((dialogue, system, turn, "\n".join(before) or None, text))
            before, turn = [], turn + 1
        self.counts.add_kept(self.file, conversations=1, system_turns=turn)
        if before:
            self.counts.add(self.file, "user turns", "dropped", "the user's last words, without a reply", len(before))

    def _ratings(self, i: int, record: dict, dialogue: str, turn: int | None) -> None:
        level, method = ("dialogue", "dialogue_rating") if turn is None else ("turn", "turn_rating")
        self.places[i] = (dialogue, turn, record["system"])
        what = f"{level} annotations"
        for name, ratings in record["annotations"].items():
            label, where = slug(name), f"record {i}, {name}"
            if not isinstance(ratings, list):
                self.checked.report(where, name, "a list of ratings", ratings)
                continue
            self.counts.add(self.file, what, "read", n=len(ratings))
            for k, rating in enumerate(ratings):
                if isinstance(rating, str) and rating.upper().startswith("N/A"):
                    self.counts.add(self.file, what, "dropped", f"{name}: N/A, with the annotator's reason")
                    self.facts.append((dialogue, turn, "not_rated", label, rating[3:].strip().strip("()")))
                    continue
                self.counts.add(self.file, what, "kept")
                self.marks.append((f"pos{k}", record["system"], dialogue, turn, method, label, rating, where))


def _scores(name: str, open_file: OpenFile, places: dict, counts: Counts) -> tuple[pd.DataFrame, list]:
    """The automatic scores, named `fed_<score>`; every score is there for every record, whatever its level."""
    table, checked = read_csv(open_file(name), name, columns=_KEYS), Checked(name)
    metrics, rows = criteria(table, _KEYS, name), []
    for n, cells in table.iterrows():
        index = cells["fed_index"]
        place = places.get(int(index)) if re.fullmatch("[0-9]{1,15}", index) else None
        level = None if place is None else "dialog" if place[1] is None else "turn"
        if place is None or not cells["level"].startswith(level) or cells["system"] != place[2]:
            expected = "a record of the ratings file (0-based), of the same level and system"
            checked.report(f"row {n}", "fed_index", expected, f"{index}, {cells['level']}, {cells['system']}")
            continue
        rows += [(*place[:2], f"fed_{metric}", cells[metric]) for metric in metrics]
    counts.add_kept(name, metric_scores=len(rows))
    return pd.DataFrame(rows, columns=_SCORES), checked.problems
