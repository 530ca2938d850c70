"""Evaluation methods and the label sets the papers define.

A *label* is what an annotator judges (`irrelevant`, `quality`); a *method* is how (a mark on each turn, a rating of the
dialogue, a choice between two dialogues). Order, display names and scales come from here or from the YAML of a study.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

Level = Literal["nominal", "ordinal", "interval", "ratio", "sets"]
LEVELS: tuple[str, ...] = get_args(Level)


@dataclass(frozen=True)
class Method:
    """How a judgement is asked for. `unit` is what one judgement is about: a turn, a dialogue or a pair."""

    id: str
    title: str
    unit: str


METHODS = {
    m.id: m
    for m in (
        Method("behavior", "ABC-Eval behaviour", "turn"),
        Method("turn_likert", "Turn Likert", "turn"),
        Method("dialogue_likert", "Dialogue Likert", "dialogue"),
        Method("comparative", "Comparative", "pair"),
        Method("continuous", "Continuous rating", "dialogue"),
        Method("turn_rating", "Turn rating", "turn"),
        Method("dialogue_rating", "Dialogue rating", "dialogue"),
        Method("pairwise_turn", "Pairwise per turn", "pair"),
        Method("pairwise_dialogue", "Pairwise per dialogue", "pair"),
        Method("single_turn", "Single-model per turn", "turn"),
        Method("single_dialogue", "Single-model per dialogue", "dialogue"),
        Method("moderation", "Moderation", "turn"),
    )
}
#: unit -> the methods that judge such units
OF_UNIT = {unit: [m.id for m in METHODS.values() if m.unit == unit] for unit in ("turn", "dialogue", "pair")}


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
    def unordered(self) -> bool:
        """Whether the answers have no order, and are not just yes and no: such a label has no mean."""
        return self.level == "sets" or (self.level == "nominal" and not self.binary)

    @property
    def binary(self) -> bool:
        return self.integer and self.scale == (0, 1)


# Finch et al. 2023, Table 4: id in the data files, title, direction, annotation task.
_BEHAVIOR = (
    ("uninterpretable", "Uninterpretable", -1, "uninterpretable"),
    ("antisocial", "Antisocial", -1, "antisocial"),
    ("preference_info", "Preference info", 1, "personal_information"),
    ("life_info", "Life info", 1, "personal_information"),
    ("empathetic", "Empathetic", 1, "empathy"),
    ("lack_of_empathy", "Lack of empathy", -1, "empathy"),
    ("commonsense_contradiction", "Commonsense contradiction", -1, "commonsense"),
    ("correct_fact", "Fact usage", 1, "knowledge"),
    ("incorrect_fact", "Fact contradiction", -1, "knowledge"),
    ("self_contradiction", "Self contradiction", -1, "consistency"),
    ("partner_contradiction", "Partner contradiction", -1, "consistency"),
    ("redundant", "Redundant", -1, "consistency"),
    ("ignore", "Ignore", -1, "transitions"),
    ("irrelevant", "Irrelevant", -1, "transitions"),
    ("follow_up", "Follow-up", 1, "transitions"),
    ("topic_switch", "Topic switch", 0, "transitions"),
)
# Finch et al. 2023, Table 3.
_DIMENSIONS = (
    ("consistent", "Consistency"),
    ("emotional", "Emotion understanding"),
    ("engaging", "Engagingness"),
    ("grammatical", "Grammaticality"),
    ("informative", "Informativeness"),
    ("proactive", "Proactivity"),
    ("quality", "Quality"),
    ("relevant", "Relevance"),
)


def _abc_eval() -> tuple[Label, ...]:
    labels = [
        Label(id_, "behavior", title, (0, 1), direction=direction, task=task)
        for id_, title, direction, task in _BEHAVIOR
    ]
    for method in ("turn_likert", "dialogue_likert", "comparative"):
        scale = (-1, 1) if method == "comparative" else (1, 5)
        labels += [
            Label(id_, method, title, scale, direction=1, task=id_ if method == "turn_likert" else method)
            for id_, title in _DIMENSIONS
        ]
    return tuple(labels)


def spelled_out(key: str) -> str:
    """An id as words, where nothing gives it a name: `Free run 1` for free_run1, `Alpha 0.05` for alpha_0_05."""
    words = str(key).replace("__", " and ").replace("_", " ")
    words = re.sub(r"(?<=[a-z])(?=\d+$)", " ", re.sub(r"\b0 (?=\d)", "0.", words))
    return words[:1].upper() + words[1:]


LABEL_SETS: dict[str, tuple[Label, ...]] = {"abc_eval": _abc_eval()}

#: metrics that can be computed from texts (`metrics.text_metrics` says how)
TextMetricName = Literal[
    "bleu", "chrf", "rouge_l", "meteor_no_wordnet", "similarity_reference", "matching_reference",
    "similarity_last_turn", "length", "distinct_1", "distinct_2", "new_bigrams", "turns",
]  # fmt: skip
TEXT_METRICS: tuple[str, ...] = get_args(TextMetricName)
