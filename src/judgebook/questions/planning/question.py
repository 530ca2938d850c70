"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import MethodName, Section


class Planning(Section):
    """Notebook 14: how many dialogues, annotators and labels would the next study need?"""

    effect: float = Field(
        0.5,
        gt=0,
        le=5,
        description="difference worth finding on labels without `margin`, in standard deviations of dialogues",
    )
    power: float = Field(0.8, gt=0.5, lt=1, description="probability with which the difference is to be found")
    systems: int | None = Field(
        None, ge=2, le=limits.COUNT, description="systems in the next study; null: as in this one"
    )
    dialogues: Annotated[list[Annotated[int, Field(ge=4, le=limits.COUNT)]], Field(min_length=2)] = Field(
        [10, 20, 40, 80, 160, 320], description="dialogues per system (pairs per pair of systems) that are considered"
    )
    per_dialogue: Annotated[list[Annotated[int, Field(ge=1, le=100)]], Field(min_length=1)] = Field(
        [1, 2, 3, 5], description="annotators per dialogue that are considered"
    )
    annotators: int | None = Field(
        None,
        ge=1,
        le=limits.COUNT,
        description="annotators in the next study, who share the work; null: as many as have the loads of this one",
    )
    paired: bool | None = Field(
        None, description="whether people talk to all systems in one session; null: as in this study"
    )
    minutes_per_dialogue: float | None = Field(
        None, ge=0, le=1e6, description="minutes of a conversation; null: the median of this study, 0 if unknown"
    )
    minutes_per_judgement: dict[MethodName, Annotated[float, Field(gt=0, le=1e6)]] = Field(
        {}, description="method -> minutes an annotator takes to judge a dialogue; default: the median of this study"
    )
    budget: float | None = Field(None, gt=0, description="money available, in the currency of `costs`")
    pool: int | None = Field(
        None,
        ge=2,
        le=limits.COUNT,
        description="dialogues of a system (comparisons of a pair of systems) that there are for people and a model to "
        "judge; null: as many as are paid for",
    )
    least_gain: float = Field(
        1.1,
        ge=1,
        le=10,
        description="a model is recommended beside people if a human label is then worth this many labels by people "
        "alone that cost as much",
    )
    uniform: float = Field(
        0.5,
        gt=0,
        le=1,
        description="dialogues to be judged next: share of the probability of being drawn that is the same for all; "
        "the rest goes where the model is expected to be wrong",
    )

    @model_validator(mode="after")
    def _enough_people(self) -> Planning:
        if self.annotators is not None and self.annotators < min(self.per_dialogue):
            raise ValueError(
                f"per_dialogue: expected a number of annotators up to {self.annotators} (`annotators`), found "
                f"{self.per_dialogue}"
            )
        return self


QUESTIONS = [
    Question(
        notebook="14_planning",
        asks="How many dialogues and annotators are needed to find a difference that matters, and at what cost?",
        options={"planning": Planning},
        uses=["collection", "judges", "performance"],
        reads=["annotations", "work_units"],
        sections=[
            "costs",
            "inference",
            "judges.titles",
            "margin",
            "control_system",
            "unranked_systems",
            "quality_control",
            "bootstrap",
            "seeds.bootstrap",
        ],
        knobs={
            "power": "planning.power",
            "budget": "planning.budget",
            "seed": "seeds.bootstrap",
        },
        requires=["comparable_systems"],
        unweighted="the plan. Its variances are those of the dialogues that were judged, its numbers are for equal "
        "probabilities. If the next dialogues are drawn as these were, multiply their number by the design effect",
        headline="map",
        seconds=[20.0, 2.5, 0.18],
    ),
]
