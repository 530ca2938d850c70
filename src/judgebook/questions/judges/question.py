"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Judges(Section):
    """Notebook 13: could a model replace an annotator?"""

    cost: float = Field(
        0.15,
        ge=0,
        lt=1,
        description="alternative annotator test: margin granted to a model, which costs less",
    )
    min_items: int = Field(
        30, ge=5, le=limits.COUNT, description="alternative annotator test: items required per annotator"
    )
    margin: dict[str, Annotated[float, Field(gt=0)]] = Field(
        {},
        description="label (`*`: all others) -> largest change in a system's result that is harmless, in units of the "
        "label (shares of marked turns, points): within it, a model may stand in; without one, "
        "nothing is decided",
        examples=[{"quality": 0.2, "*": 0.05}],
    )
    order_margin: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="largest effect on a win rate of being shown first that is harmless, where a judge saw pairs in "
        "both orders; without one, nothing is decided",
        examples=[0.05],
    )
    titles: dict[str, str] = Field(
        {}, description="model as in the data -> name shown", examples=[{"gpt_4o": "GPT-4o"}]
    )


QUESTIONS = [
    Question(
        notebook="13_judges",
        asks="Could a language model replace an annotator, in ratings and in choices?",
        follows="Calderon et al. 2025 (alternative annotator test)",
        options={"judges": Judges},
        uses=["agreement", "metrics", "performance"],
        reads=["annotations"],
        sections=["bootstrap", "seeds.bootstrap"],
        knobs={"n_resamples": "bootstrap.n_resamples", "seed": "seeds.bootstrap"},
        requires=["judges"],
        weighted="estimates assisted by a judge, and what a human label is worth",
        unweighted="agreement with people",
        headline="alpha",
        answers=["judges"],
    ),
]
