"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from pydantic import Field

from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Annotators(Section):
    """Notebook 15: which annotators stand out?"""

    false_alarms: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="probability that anyone in a group is flagged if all its annotators come from one population",
    )


QUESTIONS = [
    Question(
        notebook="15_annotators",
        asks="Which annotators stand out from the others, and would consensus labels change the results?",
        options={"annotators": Annotators},
        uses=["collection"],
        reads=["annotations", "work_units"],
        sections=["bootstrap.confidence", "seeds.bootstrap"],
        knobs={"false_alarms": "annotators.false_alarms", "seed": "seeds.bootstrap"},
        requires=["known_annotators"],
        unweighted="what is said of annotators",
        headline="severity",
        seconds=[12.0, 3.0, 0.2],
    ),
]
