"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class OverTime(Section):
    """Notebook 18: what has changed from one period to the next?"""

    every: Literal["day", "week", "month", "year"] | None = Field(
        None, description="periods made from `completed_at`, where no file gives the column `period`; null: none"
    )
    false_alarms: float = Field(
        0.05, gt=0, lt=1, description="probability that any change is named in a group if nothing has changed"
    )
    min_items: int = Field(
        8,
        ge=4,
        le=limits.COUNT,
        description="items in each of two periods that a change of an annotator or system requires",
    )


QUESTIONS = [
    Question(
        notebook="18_over_time",
        asks="What has changed over time: the systems, the annotators, or who judged what?",
        options={"over_time": OverTime},
        uses=["performance"],
        reads=["annotations"],
        sections=["inference", "unranked_systems", "bootstrap", "seeds.bootstrap"],
        knobs={"false_alarms": "over_time.false_alarms", "min_items": "over_time.min_items"},
        requires=["periods"],
        weighted="means of systems",
        unweighted="changes and composition",
        headline="means",
        seconds=[5.0, 5.0, 0.0],
        first_page="Has anything changed over time?",
    ),
]
