"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Comparisons(Section):
    """Notebook 19: votes on pairs at equal side, length and whatever else is named."""

    covariates: list[str] = Field(
        ["side", "characters"],
        description="what a vote may depend on besides the systems: `side` (which answer was shown first); of texts "
        "`characters`, `words`, `headers`, `list_items`, `bold`, `code_blocks`, `refusals`, `other_script` (than "
        "that of the prompt); or a number that the data have for the answers (a name in `metrics` and `metrics_b`, or "
        "the key of a fact)",
        examples=[["side", "characters", "headers"]],
    )
    ratios: list[str] = Field(
        [],
        description="of numbers that the data have, those that count by how many times larger one is, as lengths do",
        examples=[["tokens"]],
    )
    target_mix: dict[str, Annotated[float, Field(ge=0)]] = Field(
        {},
        description="kind of prompt -> its share where systems are to be used: adds a board for this mix; kinds that "
        "are not named have none",
        examples=[{"code": 0.5, "creativity": 0.5}],
    )
    since: str | None = Field(
        None,
        description="a day or period: what has changed in votes from then on, against those before; null: not asked",
        examples=["2026-11-01"],
    )


QUESTIONS = [
    Question(
        notebook="19_comparisons",
        asks="In votes on pairs, is it the answer, or its length, its side?",
        options={"comparisons": Comparisons},
        uses=["performance"],
        reads=["annotations", "dialogues", "metric_scores", "dialogue_facts"],
        private=["texts"],
        sections=["inference", "bootstrap"],
        knobs={"covariates": "comparisons.covariates"},
        requires=["votes"],
        weighted="both boards, and effects of covariates",
        seconds=[3.0, 40.0, 4.0],
        first_page="Is it the answer, or its length, its side?",
    ),
]
