"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from pydantic import Field

from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Fragility(Section):
    """Notebook 16: what does each conclusion depend on?"""

    most: int = Field(
        200,
        ge=1,
        le=10_000,
        description="conclusions per method that are examined; of more, half the clearest and half the most doubtful",
    )
    people: int = Field(
        30, ge=0, le=10_000, description="annotators left out in turn, those with the most judgements first"
    )


QUESTIONS = [
    Question(
        notebook="16_fragility",
        asks="What does each conclusion depend on: a choice, an annotator, a handful of dialogues?",
        follows="methods of Simonsohn et al. 2020, Broderick et al. 2020",
        options={"fragility": Fragility},
        uses=["quality_control"],
        reads=["annotations"],
        sections=["quality_control", "control_system", "unranked_systems", "seeds.pick"],
        knobs={"most": "fragility.most", "people": "fragility.people"},
        requires=["equal_weights", "comparable_systems"],
        headline="curves",
        seconds=[5.0, 2.5, 0.03],
    ),
]
