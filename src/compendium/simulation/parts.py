"""One part of the project file under construction: dialogues, work units and annotations in the platform's layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from compendium.simulation import design, people
from compendium.simulation.model import Measure
from compendium.simulation.people import Chats, judge

#: words of texts that nobody will take for a conversation
_OPENING = ("well", "so", "today", "perhaps", "really", "indeed", "maybe", "now")
_WHO = ("I", "you", "we", "they", "my neighbour", "the gardener", "a friend", "somebody")
_DOES = ("paint", "count", "polish", "collect", "describe", "borrow", "carry", "water", "sort", "remember")
_HOW = ("seven", "green", "quiet", "wooden", "distant", "paper", "round", "small", "cloudy", "striped")
_WHAT = ("teapots", "ladders", "lanterns", "pebbles", "kites", "umbrellas", "violins", "buttons", "clocks", "maps")
_WHERE = ("near the pond", "after lunch", "behind the barn", "every Tuesday", "with great care", "without a hurry")
_CYCLE = (_OPENING, _WHO, _DOES, _HOW, _WHAT, _WHERE)
#: mean words of a user turn: 11.3 tokens (Finch et al. 2023, section 3); of a system turn: chosen
USER_WORDS, SYSTEM_WORDS = 11.3, 15.0
_SHORTEST = 4
#: an annotation platform's placeholder that was never filled in
UNFILLED_WORKER = "{{user_id}}"

Turns = Sequence[tuple[str, str]]


def worker(workforce: str, number: int) -> str:
    """The artificial id of a person (0-based number in the workforce)."""
    return f"sim-worker-{workforce}-{number + 1:03d}"


def texts(n: int, mean_words: float, rng: np.random.Generator) -> list[str]:
    """`n` texts of `mean_words` words on average (parted by white space), at least 4, ending in a full stop."""
    lengths = _SHORTEST + rng.poisson(mean_words - _SHORTEST, n)
    picks = rng.integers(0, 1 << 30, (n, int(lengths.max(initial=1))))
    out = []
    for length, row in zip(lengths.tolist(), picks.tolist(), strict=True):
        words = " ".join(column[i % len(column)] for column, i in zip(_CYCLE * (length // 5 + 1), row, strict=False))
        text = " ".join(words.split(" ")[:length])
        out.append(f"{text[0].upper()}{text[1:]}.")
    return out


def turn_texts(n_turns: Sequence[int] | np.ndarray, rng: np.random.Generator) -> list[Turns]:
    """(user, system) texts of every turn of dialogues with `n_turns` turns."""
    total = int(np.sum(n_turns))
    both = list(zip(texts(total, USER_WORDS, rng), texts(total, SYSTEM_WORDS, rng), strict=True))
    ends = np.cumsum(n_turns)
    return [both[end - n : end] for n, end in zip(n_turns, ends, strict=True)]


def task_names(task: str, measures: Sequence[Measure]) -> list[str]:
    """Labels of a work unit as the platform names them."""
    if task in design.TASK_LABELS:
        return design.TASK_LABELS[task]
    return [design.DIMENSION_NAMES.get(m.label, m.label.capitalize()) for m in measures]


def spoken(label: str) -> str:
    """A label as annotations spell it."""
    return label.replace("_", " ")


@dataclass
class ProjectPart:
    """An evaluation. `name` is the prefix of its work units' ids; `text_scores`: Likert scores are written as text."""

    name: str
    text_scores: bool = False
    dialogues: dict[str, dict[str, Any]] = field(default_factory=dict)
    work_units: dict[str, dict[str, Any]] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        return {"dialogues": self.dialogues, "work_units": self.work_units}

    def dialogue(self, id_: str, bot: str, turns: Turns = (), **more: Any) -> dict[str, Any]:
        """Add a dialogue without annotations, and return it."""
        self.dialogues[id_] = {
            "dialogue_id": id_,
            "bot": bot,
            "comparative_annotations": {},
            "likert_annotations": {},
            "turns": [
                {"user_turn": user, "bot_turn": system, "likert_annotations": {}, "behavior_annotations": {}}
                for user, system in turns
            ],
            **more,
        }
        return self.dialogues[id_]

    def unit(
        self,
        worker_id: str,
        seconds: float,
        task: str,
        labels: list[str],
        ids: list[str],
        date: str,
        durations: dict[str, float] | None = None,
    ) -> str:
        """Add a work unit, and return its id. `seconds` NaN: not measured."""
        id_ = f"{self.name}-{len(self.work_units) + 1:05d}"
        self.work_units[id_] = {
            "id": id_,
            "worker_id": worker_id,
            "time_to_complete_sec": None if np.isnan(seconds) else float(seconds),
            "task": task,
            "labels": labels,
            "dialogue_ids": ids,
            "subtask_durations": durations,
            "completion_date": date,
        }
        return id_

    def judged(
        self,
        chats: Chats,
        ids: list[str],
        task: str,
        measures: Sequence[Measure],
        workers: Sequence[str],
        work: people.Work,
        days: tuple[int, int],
        rng: np.random.Generator,
    ) -> None:
        """Add the work units of one task with their judgements.

        ids : of the dialogues of `world`, which `work` refers to by position (by session, for comparisons). workers :
        ids of the annotators. days : the first day of the work, and how many.
        """
        method = measures[0].method
        judged = [ids[2 * i : 2 * i + 2] if method == "comparative" else [ids[i]] for i in work.item]
        names = {"turn_likert": f"{task}_likert_turn", "dialogue_likert": "likert"}
        minutes = design.MINUTES[task if method == "behavior" else method]
        took, done = people.seconds(minutes, work.annotator, rng), people.dates(len(work.item), *days, rng)
        labels = task_names(task, measures)
        units = [
            self.unit(workers[a], s, names.get(method, task), labels, i, d)
            for a, s, i, d in zip(work.annotator, took, judged, done, strict=True)
        ]
        scores = judge(chats, measures, work.item, work.annotator, rng)
        if method == "comparative":
            self.compare(units, judged, measures, scores)
            return
        add = self.likert if method == "dialogue_likert" else self.turn_marks
        add(units, [i for (i,) in judged], measures, scores)

    def likert(self, units: list[str], ids: list[str], measures: Sequence[Measure], scores: np.ndarray) -> None:
        """Add dialogue ratings: one row of scores per unit, one column per measure."""
        kind = str if self.text_scores else int
        for unit, id_, row in zip(units, ids, scores.tolist(), strict=True):
            marks = self.dialogues[id_]["likert_annotations"]
            for m, score in zip(measures, row, strict=True):
                marks.setdefault(m.label, []).append({"work_unit_id": unit, "label": m.label, "score": kind(score)})

    def compare(self, units: list[str], ids: list[list[str]], measures: Sequence[Measure], scores: np.ndarray) -> None:
        """Add comparisons, under both dialogues with opposite sign."""
        for unit, (left, right), row in zip(units, ids, scores.tolist(), strict=True):
            for m, score in zip(measures, row, strict=True):
                for id_, other, value in ((left, right, score), (right, left, -score)):
                    self.dialogues[id_]["comparative_annotations"].setdefault(m.label, []).append(
                        {
                            "work_unit_id": unit,
                            "label": m.label,
                            "dialogue_compared_to_id": other,
                            "score": value,
                            "bot": self.dialogues[id_]["bot"],
                            "bot_compared_to": self.dialogues[other]["bot"],
                        }
                    )

    def turn_marks(self, units: list[str], ids: list[str], measures: Sequence[Measure], scores: np.ndarray) -> None:
        """Add judgements of turns: rows of `scores` are the turns of the units' dialogues, in order."""
        key = "behavior_annotations" if measures[0].method == "behavior" else "likert_annotations"
        names = [spoken(m.label) for m in measures]
        rows = iter(scores.tolist())
        for unit, id_ in zip(units, ids, strict=True):
            for turn in self.dialogues[id_]["turns"]:
                marks = turn[key]
                for label, score in zip(names, next(rows), strict=True):
                    marks.setdefault(label, []).append({"work_unit_id": unit, "label": label, "score": score})


def ids_of(chats: Chats) -> list[str]:
    """Ids of the dialogues in the platform's form: (session,interactor)_system."""
    who = np.repeat(chats.sessions.interactor, 2)
    return [
        f"({i // 2 + 1},{u + 1})_{design.SYSTEMS[s]}"
        for i, (u, s) in enumerate(zip(who.tolist(), chats.system.tolist(), strict=True))
    ]
