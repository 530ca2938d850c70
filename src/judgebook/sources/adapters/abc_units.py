"""Work units of ABC-Eval project files: who did them, when, how long, which task; and how labels are spelt there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from judgebook.sources.records import Checked
from judgebook.study.labels import LABEL_SETS

#: other spellings of labels, on annotations or on work units
ALIASES = {
    "unempathetic": "lack_of_empathy",
    "contradict_self_context": "self_contradiction",
    "contradict_partner_context": "partner_contradiction",
    "contradict_commonsense": "commonsense_contradiction",
    "fact_usage": "correct_fact",
    "fact_contradiction": "incorrect_fact",
    "preferences": "preference_info",
    "life": "life_info",
    "followup": "follow_up",
    "switch": "topic_switch",
    "emotion_aware": "emotional",
}
#: (method, label) -> annotation task
TASKS = {(label.method, label.id): label.task for label in LABEL_SETS["abc_eval"]}
#: an unfilled template of the platform stands for the worker
TEMPLATE = "{{user_id}}"
_DATE = "%m-%d-%Y %H:%M:%S"


@lru_cache(maxsize=1024)
def label_id(name: str) -> str:
    """The registry's id of a label as the files spell it: `fact usage`, `Emotion Aware`, `topic switch`."""
    plain = re.sub(r"[\s-]+", "_", name.strip().lower())
    return ALIASES.get(plain, plain)


@dataclass
class Unit:
    """A work unit. `worker` is None where the file does not say; seconds are None where not measured.

    `tasks` collects the tasks of the labels judged in it.
    """

    id: str | None = None
    worker: str | None = None
    seconds: float | None = None
    completed: datetime | None = None
    task: str | None = None
    dialogues: list[str] = field(default_factory=list)
    parts: dict[str, float | None] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    tasks: set[str] = field(default_factory=set)

    def task_name(self) -> str | None:
        """The task by the labels judged in the unit, else by those it announces, else as the platform names it."""
        announced = {TASKS["behavior", name] for name in self.labels if ("behavior", name) in TASKS}
        tasks = self.tasks or announced
        return next(iter(tasks)) if len(tasks) == 1 else self.task

    def dropped(self) -> str:
        """Why what was done in this unit cannot be used as somebody's work; empty when it can."""
        if self.worker is None:
            return "no worker id"
        return "worker id is an unfilled template" if self.worker == TEMPLATE else ""

    def judge(self, position: int) -> tuple[str, bool, str | None, float | None, datetime | None]:
        """Who judged in this unit (the position where nobody is named), whether that is known, and the unit itself."""
        return self.worker or f"pos{position}", self.worker is not None, self.id, self.seconds, self.completed

    def rows(self, corpus: str, group: str) -> list[dict]:
        """Rows of the work_units frame: the whole unit, and each timed part."""
        shared = {
            "corpus": corpus,
            "group": group,
            "work_unit": self.id,
            "annotator": self.worker,
            "task": self.task_name(),
            "n_dialogues": len(self.dialogues),
            "completed_at": self.completed,
        }
        return [{**shared, "part": part, "seconds": s} for part, s in {"whole": self.seconds, **self.parts}.items()]


def read_unit(id_: str, given: Any, checked: Checked) -> Unit:
    """A work unit as it stands in the file; null everywhere is allowed, what is malformed is reported."""
    where = f"work unit {id_}"
    unit = checked.optional(given, dict, where)
    parts = checked.optional(unit.get("subtask_durations"), dict, where)
    return Unit(
        id_,
        checked.name(unit.get("worker_id"), where, "worker_id"),
        _seconds(unit.get("time_to_complete_sec"), "time_to_complete_sec", where, checked),
        _date(unit.get("completion_date"), where, checked),
        checked.name(unit.get("task"), where, "task"),
        checked.optional(unit.get("dialogue_ids"), list, where),
        {name: _seconds(seconds, name, where, checked) for name, seconds in parts.items()},
        [label_id(str(name)) for name in checked.optional(unit.get("labels"), list, where)],
    )


def _seconds(value: Any, column: str, where: str, checked: Checked) -> float | None:
    """Seconds; None where the platform did not measure (-1.0, or any negative number)."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if value >= 0 else None
    if value is not None:
        checked.report(where, column, "seconds, or -1.0 for not measured", repr(value))
    return None


def _date(text: Any, where: str, checked: Checked) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.strptime(text, _DATE)
    except (TypeError, ValueError):
        checked.report(where, "completion_date", "MM-DD-YYYY HH:MM:SS, or empty", repr(text))
        return None
