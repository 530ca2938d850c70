"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Operating(Section):
    """Notebook 80: how tests and intervals behave where the truth is known."""

    n_runs: int = Field(2000, ge=100, le=100_000, description="simulated samples per value")
    runs_as_used: int = Field(
        200, ge=50, le=100_000, description="placebo worlds per value (at most n_runs); 2000 takes minutes"
    )
    n_resamples: int = Field(1000, ge=200, le=20_000, description="bootstrap resamples of each simulated sample")
    labels: int = Field(
        2, ge=1, le=limits.COUNT, description="labels per method whose intervals are simulated, rarest first"
    )
    conversations: int = Field(
        100, ge=5, le=limits.COUNT, description="conversations per system at which tests after each of them end"
    )
    items: list[Annotated[int, Field(ge=8, le=limits.COUNT)]] = Field(
        [12, 25], min_length=1, description="numbers of independent items, in addition to the study's own"
    )
    marks: list[Annotated[int, Field(ge=4, le=limits.COUNT)]] = Field(
        [10, 20, 30, 60], min_length=1, description="marks of the rarer value, for labels with two values"
    )
    dialogues: list[Annotated[int, Field(ge=8, le=limits.COUNT)]] = Field(
        [27], description="dialogues per sample, in addition to the study's own number"
    )


QUESTIONS = [
    Question(
        notebook="80_operating_characteristics",
        asks="Can the tests and intervals themselves be trusted?",
        options={"operating": Operating},
        uses=["agreement", "groups", "judges", "metrics", "performance", "quality_control", "sensitivity"],
        reads=["annotations", "dialogues", "metric_scores"],
        sections=["iaa.first", "unranked_systems", "quality_control", "bootstrap", "seeds.permute", "seeds.pick"],
        knobs={"n_runs": "operating.n_runs", "n_resamples": "operating.n_resamples", "seed": "seeds.permute"},
        requires=["equal_weights", "repeated", "two_systems", "drawable"],
        headline="rejections",
        seconds=[14.0, 40.0, 0.25],
        most_labels=10,
    ),
]
