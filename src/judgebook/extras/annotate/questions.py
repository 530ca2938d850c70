"""The questions of a project: each label with its definition and the answers that are offered."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgebook.study.definitions import definitions, ends, forced
from judgebook.study.labels import METHODS, Label
from judgebook.study.params import Study

#: scales with more steps are asked for as a number
_MOST_STEPS = 11
#: what the ends of a scale are called unless a paper's wording names them
LEAST_MOST = ("least", "most")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,63}")


@dataclass(frozen=True)
class Option:
    """An answer. code : as a tool should store it. shown : as annotators read it. score : what it means."""

    code: str
    shown: str
    score: float


@dataclass(frozen=True)
class Question:
    """name : the label as the tool calls it. options : none where a number is asked for. several : more than one of
    the options may be chosen. ends : what the smallest and the largest score are called."""

    name: str
    label: Label
    definition: str
    options: tuple[Option, ...]
    ends: tuple[str, str] = LEAST_MOST

    @property
    def several(self) -> bool:
        return self.label.level == "sets"

    @property
    def text(self) -> str:
        """Title and definition, and on a scale what its ends mean."""
        asked = f"{self.label.title}: {self.definition}" if self.definition else self.label.title
        if METHODS[self.label.method].unit == "pair" or self.label.binary or self.label.categories:
            return asked
        low, high = (f"{end:g}" for end in self.label.scale)
        return f"{asked} ({low} = {self.ends[0]}, {high} = {self.ends[1]})"


def questions(study: Study, method: str, only: list[str] | None = None) -> list[Question]:
    """The questions of a method, in the order of the study's labels.

    Parameters
    ----------
    method : a key of `labels.METHODS`.
    only : labels to ask about; None: all.
    """
    labels = [x for x in study.label_list() if x.method == method and (not only or x.id in only)]
    words = {word for label in labels for word in label.categories}
    defined, called, chosen = definitions(study, method), ends(study, method), forced(study, method)
    return [
        Question(
            label.id if _NAME.fullmatch(label.id) else f"label_{n}",
            label,
            defined.get(label.id, ""),
            tuple(o for o in _options(label, words) if o.score or label.id not in chosen),
            called.get(label.id, LEAST_MOST),
        )
        for n, label in enumerate(labels, 1)
    ]


def _options(label: Label, words: set[str]) -> tuple[Option, ...]:
    low, high = label.scale
    if METHODS[label.method].unit == "pair":
        sides = [("1", "A is better", 1), ("0", "neither", 0), ("-1", "B is better", -1)]
        return tuple(_distinct(*side, words) for side in sides if low <= side[2] <= high)
    if label.categories:
        return tuple(Option(word, word, low + n) for n, word in enumerate(label.categories))
    if label.binary:
        return _distinct("0", "No", 0, words), _distinct("1", "Yes", 1, words)
    if label.integer and high - low < _MOST_STEPS:
        return tuple(Option(str(n), str(n), n) for n in range(round(low), round(high) + 1))
    return ()


def _distinct(code: str, shown: str, score: float, words: set[str]) -> Option:
    """An option that is not spelt as an answer of another label whose words mean something else."""
    return Option(code, f"{shown} ({code})" if shown in words else shown, score)
