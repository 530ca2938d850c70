"""Project files of the ABC-Eval platform (Finch, Finch & Choi 2023), and the external files of Finch et al. 2024.

A file is one JSON object whose keys are the parts of a project: evaluations by several workforces, the interactors'
chats, pilots, onboarding. Any key may be missing or null. `PARTS` says what group and corpus each part becomes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd

from judgebook.sources.adapters.abc_units import TASKS, TEMPLATE, Unit, label_id, read_unit
from judgebook.sources.adapters.options.abc_eval import AbcEval
from judgebook.sources.files import read_json
from judgebook.sources.reading import Counts, OpenFile, Reading
from judgebook.sources.records import Checked
from judgebook.sources.rows.comparisons import orient
from judgebook.study.labels import Label
from judgebook.study.schema import Problem


@dataclass(frozen=True)
class Part:
    """What a part of a project becomes. A part that is a list has numbered corpora: `annotation_pilot_1`, …"""

    group: str
    corpus: str = "main"
    interactive: bool = False
    onboarding: bool = False


PARTS = {
    "annotation_pilots": Part("pilot", "annotation_pilot"),
    "annotation_pilots_onboarding": Part("pilot", "annotation_pilot", onboarding=True),
    "bot_pilots": Part("stu_i", "bot_pilot", interactive=True),
    "dialogue_collection": Part("stu_i", interactive=True),
    "student_onboarding": Part("stu_x", onboarding=True),
    "student_gold_units": Part("stu_x", "gold"),
    "student_evaluation": Part("stu_x"),
    "mturk_onboarding": Part("mtu_x", onboarding=True),
    "mturk_gold_units": Part("mtu_x", "gold"),
    "mturk_evaluation": Part("mtu_x"),
    "surge_onboarding": Part("sur_x", onboarding=True),
    "surge_gold_units": Part("sur_x", "gold"),
    "surge_evaluation": Part("sur_x"),
    "expert_evaluation": Part("dev_x"),
    "extra_unused": Part("extra"),
    "student_external_likert": Part("all"),
    "student_external_comparative": Part("all"),
}
#: columns of a judgement: where it is from, who made it, what it is about
_PART, _JUDGE = ["corpus", "group"], ["annotator", "annotator_known", "work_unit", "seconds", "completed_at"]
_ABOUT = ["system", "dialogue", "turn", "session", "dialogue_b", "system_b", "method", "label"]
MARKS = [*_PART, *_JUDGE, *_ABOUT, "score", "file", "where"]
#: keys of one annotation
_IDS = ("work_unit_id", "dialogue_compared_to_id", "bot_compared_to")
_SCALES = {"behavior": (0, 1), "turn_likert": (1, 5), "dialogue_likert": (1, 5), "comparative": (-1, 1)}
_SESSION = re.compile(r"\([^()]*\)")


@lru_cache(maxsize=4096)  # asked for with every judgement
def session_of(dialogue: str) -> str | None:
    """The parenthesised prefix of a dialogue id: one sitting of one interactor, who talked to two systems."""
    match = _SESSION.match(dialogue)
    return match.group() if match else None


def read(source: AbcEval, open_file: OpenFile) -> Reading:
    """All parts of the files (or those `source.parts` names, as the groups it gives).

    A comparison stands in the files under both dialogues with opposite sign: one row is kept, in the orientation first
    met, and the mirror must have the opposite sign. Judgements are dropped, and counted, where the worker id is an
    unfilled template, where there is no score, and where a worker judged the item in an earlier work unit. A
    judgement whose work unit or worker is not in the file is kept under its position in the list.
    """
    out = _Collector()
    for name in source.files:
        _read_file(name, read_json(open_file(name), name), source.parts, out)
    return out.reading()


def _read_file(name: str, project: dict, groups: dict[str, str], out: _Collector) -> None:
    checked = Checked(name)
    for key in sorted(set(project) - set(PARTS)):
        if groups:
            out.counts.add(name, "parts", "dropped", f"{key}: not a known part, nor named in the YAML")
            continue
        checked.report("", key, f"a part of a project ({', '.join(PARTS)})", "an unknown key")
    for key in sorted(set(groups) - set(PARTS)):
        checked.report("", f"parts.{key}", f"a part of a project ({', '.join(PARTS)})", "an unknown part")
    for key, part in PARTS.items():
        content = project.get(key)
        if content is None or (groups and key not in groups):
            continue
        group = groups.get(key, part.group)
        several = part.corpus.endswith("_pilot")
        for i, evaluation in enumerate(checked.optional(content, list, key) if several else [content], start=1):
            corpus = f"{part.corpus}_{i}" if several else part.corpus
            place = f"{key}[{i - 1}]" if several else key
            _Evaluation(checked, place, corpus, group, part, out).read(evaluation)
    out.problems += checked.problems


class _Collector:
    """Rows, counts and problems of all parts. Dialogues that several parts hold are kept once."""

    def __init__(self) -> None:
        self.marks: list[tuple] = []
        self.turns: dict[tuple, dict] = {}
        self.attempts: list[dict] = []
        self.units: list[dict] = []
        self.labels: dict[tuple[str, str], Label] = {}
        self.counts = Counts()
        self.problems: list[Problem] = []

    def turn(self, corpus: str, checked: Checked, **row: Any) -> None:
        """Keep a turn; from a second part take only what the first lacked."""
        key = (corpus, row["dialogue"], row["turn"])
        kept = self.turns.setdefault(key, {"corpus": corpus, **row})
        if kept["system"] != row["system"] and None not in (kept["system"], row["system"]):
            systems = f"{kept['system']!r} and {row['system']!r}"
            checked.report(f"dialogue {row['dialogue']}", "bot", "one system per dialogue", systems)
        if kept["user_text"] != row["user_text"] or kept["system_text"] != row["system_text"]:
            texts = [kept["user_text"], kept["system_text"], row["user_text"], row["system_text"]]
            if None not in texts:
                reason = "texts differ between parts: the first is kept"
                self.counts.add(checked.file, "turns", "mended", reason, corpus=corpus)
        for column, value in row.items():
            if kept[column] is None:
                kept[column] = value

    def reading(self) -> Reading:
        attempts = pd.DataFrame(self.attempts)
        if len(attempts):
            by = ["corpus", "group", "annotator", "task", "dialogue"]
            attempts["attempt"] = attempts.groupby(by, dropna=False).cumcount()
        return Reading(
            self._judgements(),
            pd.DataFrame(list(self.turns.values())),
            screening=attempts,
            work_units=pd.DataFrame(self.units),
            counts=self.counts,
            problems=self.problems,
            labels=list(self.labels.values()),
        )

    def _judgements(self) -> pd.DataFrame:
        """The marks, a comparison once, and each worker's first judgement of an item only."""
        oriented = orient(pd.DataFrame(self.marks, columns=MARKS))
        self.problems += oriented.problems
        self._count_rows(oriented.mirrors, "dropped", "the same comparison from its other side")
        self._count_rows(oriented.single, "mended", "comparison stored under one dialogue only")
        self._count_rows(oriented.turned, "mended", "comparison turned to the side first met")
        marks = oriented.annotations
        item = ["corpus", "group", "annotator", "method", "label", "turn", "dialogue", "dialogue_b"]
        first = marks.groupby(item, dropna=False, sort=False)["work_unit"].transform("first")
        again = marks["annotator_known"].astype(bool) & (marks["work_unit"] != first)
        self._count_rows(marks[again], "dropped", "the worker judged the item in an earlier work unit")
        marks = marks[~again].reset_index(drop=True)
        self._count_rows(marks, "kept")
        return marks

    def _count_rows(self, rows: pd.DataFrame, action: str, reason: str = "") -> None:
        for (file, corpus), n in rows.groupby(["file", "corpus"], sort=False).size().items():
            self.counts.add(file, "annotations", action, reason, n, corpus=corpus)


class _Evaluation:
    """One evaluation: `{dialogues, work_units}` of one corpus and group."""

    def __init__(self, checked: Checked, place: str, corpus: str, group: str, part: Part, out: _Collector):
        self.checked, self.file, self.place, self.part, self.out = checked, checked.file, place, part, out
        self.corpus, self.group = corpus, group
        self.units: dict[str, Unit] = {}
        self.systems: dict[str, str | None] = {}
        self.sat: dict[str | None, tuple[str | None, int]] = {}
        self.n: Counter[tuple[str, str, str]] = Counter()

    def read(self, evaluation: Any) -> None:
        optional = self.checked.optional
        content = optional(evaluation, dict, self.place)
        for id_, unit in optional(content.get("work_units"), dict, f"{self.place}.work_units").items():
            self.units[id_] = read_unit(id_, unit, self.checked)
        dialogues = optional(content.get("dialogues"), dict, f"{self.place}.dialogues")
        dialogues = {id_: optional(dialogue, dict, f"dialogue {id_}") for id_, dialogue in dialogues.items()}
        self.systems = {id_: self._system(id_, dialogue) for id_, dialogue in dialogues.items()}
        for unit in self.units.values():
            where = f"work unit {unit.id}"
            for order, id_ in enumerate(self.checked.name(d, where, "dialogue_ids") for d in unit.dialogues):
                worker = None if unit.worker == TEMPLATE else unit.worker
                self.sat.setdefault(id_, (worker, order))
        for id_, dialogue in dialogues.items():
            (self._attempts if self.part.onboarding else self._dialogue)(id_, dialogue)
        if not self.part.onboarding:
            self._work_units()
        for (what, action, reason), n in self.n.items():
            self.out.counts.add(self.file, what, action, reason, n, corpus=self.corpus)

    def _count(self, what: str, dropped: str = "") -> None:
        self.n[what, "read", ""] += 1
        self.n[what, "dropped" if dropped else "kept", dropped] += 1

    def _system(self, id_: str, dialogue: dict) -> str:
        if bot := self.checked.name(dialogue.get("bot"), f"dialogue {id_}", "bot"):
            return bot
        self.n["dialogues", "mended", "bot not named: taken from the dialogue id, or `unknown`"] += 1
        return _system_in(id_) or "unknown"

    def _work_units(self) -> None:
        for unit in self.units.values():
            self._count("work units", unit.dropped())
            self.out.units += [] if unit.dropped() else unit.rows(self.corpus, self.group)

    def _attempts(self, id_: str, dialogue: dict) -> None:
        """Outcomes of training attempts. The marks made in training count through their outcome only."""
        self._count("training dialogues")
        for attempt in self.checked.optional(dialogue.get("attempts"), list, f"dialogue {id_}.attempts"):
            attempt = self.checked.optional(attempt, dict, f"dialogue {id_}.attempts")
            unit_id = self.checked.name(attempt.get("work_unit_id"), f"dialogue {id_}.attempts", "work_unit_id")
            unit = (self.units.get(unit_id) if unit_id is not None else None) or Unit()
            dropped = unit.dropped()
            self._count("training attempts", dropped)
            if dropped:
                continue
            mistakes = attempt.get("mistakes")
            self.out.attempts.append(
                {
                    "corpus": self.corpus,
                    "group": self.group,
                    "annotator": unit.worker,
                    "task": unit.task_name() or "unnamed",
                    "dialogue": id_,
                    "work_unit": unit.id,
                    "mistakes": len({str(m) for m in mistakes}) if isinstance(mistakes, list) else None,
                    "performance": attempt.get("performance"),
                    "passed": attempt.get("passed"),
                }
            )

    def _dialogue(self, id_: str, dialogue: dict) -> None:
        self._count("dialogues")
        where = f"dialogue {id_}"
        interactor, order = self.sat.get(id_, (None, None)) if self.part.interactive else (None, None)
        row = {
            "dialogue": id_,
            "system": self.systems[id_],
            "session": session_of(id_),
            "order_shown": order,
            "interactor": interactor,
        }
        turns = self.checked.optional(dialogue.get("turns"), list, f"{where}.turns")
        if not turns:
            self.out.turn(self.corpus, self.checked, turn=None, user_text=None, system_text=None, **row)
        for i, turn in enumerate(turns):
            turn = self.checked.optional(turn, dict, f"{where}, turn {i}")
            user, system = turn.get("user_turn"), turn.get("bot_turn")
            self.out.turn(self.corpus, self.checked, turn=i, user_text=user, system_text=system, **row)
            self._count("turns")
            self._marks(turn.get("behavior_annotations"), "behavior", id_, i)
            self._marks(turn.get("likert_annotations"), "turn_likert", id_, i)
        self._marks(dialogue.get("likert_annotations"), "dialogue_likert", id_, None)
        self._marks(dialogue.get("comparative_annotations"), "comparative", id_, None)

    def _marks(self, by_label: Any, method: str, dialogue: str, turn: int | None) -> None:
        where = f"dialogue {dialogue}" + ("" if turn is None else f", turn {turn}")
        for name, given in self.checked.optional(by_label, dict, where).items():
            place = f"{where}, {method} {name!r}"
            for i, annotation in enumerate(self.checked.optional(given, list, place)):
                annotation = self.checked.optional(annotation, dict, f"{place}, annotation {i}")
                self.n["annotations", "read", ""] += 1
                dropped = self._mark(annotation, i, method, label_id(name), dialogue, turn, place)
                if dropped:
                    self.n["annotations", "dropped", dropped] += 1

    def _mark(self, given: dict, i: int, method: str, label: str, dialogue: str, turn: int | None, place: str) -> str:
        """Keep one annotation; returns why it was dropped, or nothing."""
        at = f"{place}, annotation {i}"
        given = given | {key: self.checked.name(given.get(key), at, key) for key in _IDS}
        given["score"] = self.checked.plain(given.get("score"), at, "score")
        unit = self.units.get(given["work_unit_id"]) or Unit()
        if unit.worker == TEMPLATE:
            return unit.dropped()
        if given["score"] is None:
            return "no score"
        if unit.worker is None:
            self.n["annotations", "mended", "worker not in the file: known by position only"] += 1
        other = given.get("dialogue_compared_to_id") if method == "comparative" else None
        if method == "comparative" and not other:
            return "a comparison that does not name the other dialogue"
        system_b = other and (self.systems.get(other) or given.get("bot_compared_to") or _system_in(other))
        about = (self.systems[dialogue], dialogue, turn, session_of(dialogue), other, system_b, method, label)
        self.out.marks.append((self.corpus, self.group, *unit.judge(i), *about, given["score"], self.file, at))
        self._learn(unit, method, label)
        return ""

    def _learn(self, unit: Unit, method: str, label: str) -> None:
        """Note the task of the unit, and labels that only pilots had: those are taken as they are."""
        if (method, label) in TASKS:
            unit.tasks.add(TASKS[method, label])
        elif self.part.corpus.endswith("_pilot"):
            title = label.replace("_", " ").capitalize()
            self.out.labels[method, label] = Label(
                label, method, title, _SCALES[method], direction=0, task="pilot", direction_declared=False
            )


def _system_in(dialogue: str) -> str | None:
    """The system as the dialogue id names it: `(438,26)_emora`."""
    return dialogue.partition(")_")[2] or None
