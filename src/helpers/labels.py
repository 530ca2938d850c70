"""Evaluation methods and the label sets the papers define.

A *label* is one thing an annotator is asked to judge (``irrelevant``, ``quality``); a *method* is how it is asked
(a mark on each turn, a rating of the dialogue, a choice between two dialogues). Figures and tables take order,
display names and scales from here or from the YAML of a study, and from nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True)
class Method:
    """How a judgement is asked for. `unit` is what one judgement is about: a turn, a dialogue or a pair."""

    id: str
    title: str
    unit: str
    suffix: str


METHODS = {
    m.id: m
    for m in (
        Method("behavior", "ABC-Eval behaviour", "turn", "b"),
        Method("turn_likert", "Turn Likert", "turn", "t"),
        Method("dialogue_likert", "Dialogue Likert", "dialogue", "d"),
        Method("comparative", "Comparative", "pair", "c"),
        Method("continuous", "Continuous rating", "dialogue", "x"),
        Method("turn_rating", "Turn rating", "turn", "r"),
        Method("dialogue_rating", "Dialogue rating", "dialogue", "r"),
        Method("pairwise_turn", "Pairwise per turn", "pair", "pt"),
        Method("pairwise_dialogue", "Pairwise per dialogue", "pair", "pd"),
        Method("single_turn", "Single-model per turn", "turn", "st"),
        Method("single_dialogue", "Single-model per dialogue", "dialogue", "sd"),
        Method("moderation", "Moderation", "turn", "m"),
    )
}


@dataclass(frozen=True)
class Label:
    """One label of one method.

    `scale` holds the smallest and largest score; `integer` says whether only whole numbers are allowed; `level` is
    the measurement level used for agreement; `direction` is +1 when a higher score means a better system, -1 when it
    means a worse one, 0 when it is neither; `task` groups labels that one work unit asks for together.
    """

    id: str
    method: str
    title: str
    scale: tuple[float, float]
    level: str = "ordinal"
    integer: bool = True
    direction: int = 1
    order: int = 0
    abbr: str = ""
    task: str = ""

    @property
    def binary(self) -> bool:
        return self.integer and self.scale == (0, 1)


# Finch et al. 2023, Table 4: abbreviation, name as the data files spell it, direction, annotation task.
_BEHAVIOR = (
    ("uninterpretable", "!Int", "Uninterpretable", -1, "uninterpretable"),
    ("antisocial", "!Soc", "Antisocial", -1, "antisocial"),
    ("preference_info", "Pre", "Preference info", 1, "personal_information"),
    ("life_info", "Lif", "Life info", 1, "personal_information"),
    ("empathetic", "Emp", "Empathetic", 1, "empathy"),
    ("lack_of_empathy", "!Emp", "Lack of empathy", -1, "empathy"),
    ("commonsense_contradiction", "!Com", "Commonsense contradiction", -1, "commonsense"),
    ("correct_fact", "Fac", "Fact usage", 1, "knowledge"),
    ("incorrect_fact", "!Fac", "Fact contradiction", -1, "knowledge"),
    ("self_contradiction", "!Sel", "Self contradiction", -1, "consistency"),
    ("partner_contradiction", "!Par", "Partner contradiction", -1, "consistency"),
    ("redundant", "Red", "Redundant", -1, "consistency"),
    ("ignore", "Ign", "Ignore", -1, "transitions"),
    ("irrelevant", "!Rel", "Irrelevant", -1, "transitions"),
    ("follow_up", "Fol", "Follow-up", 1, "transitions"),
    ("topic_switch", "Top", "Topic switch", 0, "transitions"),
)
# Finch et al. 2023, Table 3.
_DIMENSIONS = (
    ("consistent", "Con", "Consistency"),
    ("emotional", "Emo", "Emotion understanding"),
    ("engaging", "Eng", "Engagingness"),
    ("grammatical", "Gra", "Grammaticality"),
    ("informative", "Inf", "Informativeness"),
    ("proactive", "Pro", "Proactivity"),
    ("quality", "Qua", "Quality"),
    ("relevant", "Rel", "Relevance"),
)


def _abc_eval() -> tuple[Label, ...]:
    labels = [
        Label(id_, "behavior", title, (0, 1), "ordinal", True, direction, i, abbr + "_b", task)
        for i, (id_, abbr, title, direction, task) in enumerate(_BEHAVIOR)
    ]
    for method, suffix in (("turn_likert", "t"), ("dialogue_likert", "d"), ("comparative", "c")):
        scale = (-1, 1) if method == "comparative" else (1, 5)
        labels += [
            Label(
                id_,
                method,
                title,
                scale,
                "ordinal",
                True,
                1,
                i,
                f"{abbr}_{suffix}",
                id_ if method == "turn_likert" else method,
            )
            for i, (id_, abbr, title) in enumerate(_DIMENSIONS)
        ]
    return tuple(labels)


LABEL_SETS: dict[str, tuple[Label, ...]] = {"abc_eval": _abc_eval()}
