"""What a study judges: evaluation methods, labels, and the label sets that papers define.

A *label* is what an annotator judges (`irrelevant`, `quality`); a *method* is how (a mark on each turn, a rating of the
dialogue, a choice between two dialogues). `labels.yaml` has the methods of every study and the label sets, the YAML of
a study its own labels and methods. Order, display names and scales come from these two places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field

from judgebook.study import yaml_file
from judgebook.study.yaml_file import Strict

Level = Literal["nominal", "ordinal", "interval", "ratio", "sets"]
LEVELS: tuple[str, ...] = get_args(Level)
#: what a judgement is about
Judged = Literal["turn", "dialogue", "pair"]
#: the method of labels that name none, in a study that names none
DEFAULT_METHOD = "dialogue_rating"


@dataclass(frozen=True)
class Method:
    """How a judgement is asked for. `unit` is what one judgement is about: a turn, a dialogue or a pair."""

    id: str
    title: str
    unit: Judged


class Methods(Mapping[str, Method]):
    """Methods by id, in the order of figures: those that every study has, then those that studies declare.

    Declared ones are of the whole process, as a method is named in rows of frames and in labels, which say nothing of
    their study: reading a YAML declares its methods, and where two studies give one id to different methods, the one
    read last counts. What depends on one study takes titles from it (`Study.methods`).
    """

    def __init__(self, methods: Iterable[Method]) -> None:
        self._built_in = {method.id: method for method in methods}
        self._every = dict(self._built_in)

    def __getitem__(self, key: str) -> Method:
        return self._every[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._every)

    def __len__(self) -> int:
        return len(self._every)

    @property
    def built_in(self) -> list[str]:
        """Ids of those that every study has."""
        return list(self._built_in)

    @property
    def declared(self) -> list[Method]:
        """Those that studies declare, which another process must be told of."""
        return [method for id_, method in self._every.items() if id_ not in self._built_in]

    def declare(self, methods: Iterable[Method]) -> None:
        """Add methods of a study, none with the id of one that every study has."""
        self._every |= {method.id: method for method in methods}

    def of_unit(self, unit: Judged) -> list[str]:
        """Ids of the methods that judge such units."""
        return [method.id for method in self.values() if method.unit == unit]


#: labels of comparisons that ask which side is better, by their name: the side that was chosen is the better one
PREFERENCES = frozenset(
    {"preference", "preferred", "prefer", "better", "best", "winner", "win", "choice", "chosen", "vote", "quality"}
    | {"overall", "overall_quality", "overall_preference", "besser", "mieux", "meilleur", "mejor"}
    | {f"{best}_{what}" for best in ("better", "preferred") for what in ("answer", "reply", "response")}
)


@dataclass(frozen=True)
class Label:
    """One label of one method.

    `scale` holds the smallest and largest score; `integer` says whether only whole numbers are allowed; `level` is
    the measurement level used for agreement; `direction` is +1 when a higher score means a better system, -1 when it
    means a worse one, 0 when it is neither or when nobody said, which `direction_declared` tells apart; `task` groups
    labels that one work unit asks for together; `categories` are the answers in words, of which the first is the
    smallest score. At the level `sets` several may be given: the score is the sum of 1, 2, 4, … for the first, second,
    third, … answer.

    Raises ValueError for a direction that nobody declared and that is not 0.
    """

    id: str
    method: str
    title: str
    scale: tuple[float, float]
    level: str = "ordinal"
    integer: bool = True
    direction: int = 1
    task: str = ""
    categories: tuple[str, ...] = ()
    direction_declared: bool = True

    def __post_init__(self) -> None:
        if self.direction and not self.direction_declared:
            raise ValueError(f"{self.id}: expected direction 0 where none is declared, found {self.direction}")

    @property
    def unit(self) -> Judged:
        """What one judgement is about: a turn, a dialogue or a pair."""
        return METHODS[self.method].unit

    @property
    def unordered(self) -> bool:
        """Whether the answers have no order, and are not just yes and no: such a label has no mean."""
        return self.level == "sets" or (self.level == "nominal" and not self.binary)

    @property
    def binary(self) -> bool:
        return self.integer and self.scale == (0, 1)


class _MethodSpec(Strict):
    """A method as `labels.yaml` has it."""

    title: str
    unit: Judged


class _SetLabel(Strict):
    title: str
    direction: Literal[-1, 0, 1]
    task: str = ""


class _SetPart(Strict):
    """Labels that several methods ask for. methods : id -> smallest and largest score. one_task : methods that ask for
    all of them in one work unit."""

    methods: dict[str, list[int]]
    one_task: list[str] = Field([])
    labels: dict[str, _SetLabel]

    def labelled(self) -> Iterator[Label]:
        for method, (low, high) in self.methods.items():
            for id_, label in self.labels.items():
                task = method if method in self.one_task else label.task or id_
                yield Label(id_, method, label.title, (low, high), direction=label.direction, task=task)


class _File(Strict):
    methods: dict[str, _MethodSpec]
    label_sets: dict[str, list[_SetPart]]


_FILE = yaml_file.read(Path(__file__).with_suffix(".yaml"), _File)
METHODS = Methods(Method(id_, spec.title, spec.unit) for id_, spec in _FILE.methods.items())
LABEL_SETS: dict[str, tuple[Label, ...]] = {
    name: tuple(label for part in parts for label in part.labelled()) for name, parts in _FILE.label_sets.items()
}


def spelled_out(key: str) -> str:
    """An id as words, where nothing gives it a name: `Free run 1` for free_run1, `Alpha 0.05` for alpha_0_05."""
    words = str(key).replace("__", " and ").replace("_", " ")
    words = re.sub(r"(?<=[a-z])(?=\d+$)", " ", re.sub(r"\b0 (?=\d)", "0.", words))
    return words[:1].upper() + words[1:]


#: metrics that can be computed from texts (`metrics.text_metrics` says how)
TextMetricName = Literal[
    "bleu", "chrf", "rouge_l", "meteor_no_wordnet", "similarity_reference",
    "similarity_last_turn", "length", "distinct_1", "distinct_2", "new_bigrams", "turns",
]  # fmt: skip
TEXT_METRICS: tuple[str, ...] = get_args(TextMetricName)
