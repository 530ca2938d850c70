"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import MethodName, Section


class Published(Section):
    """A printed table whose rows are evaluator groups and whose columns are labels (see data/published)."""

    paper: str = Field(description="the paper: the first part of file names in data/published")
    element: str = Field(description="the table, as in the column `element` there")
    panels: dict[str, MethodName] = Field({}, description="panel of the table -> method")
    note: str = Field("", description="what is known about printed values that differ from ours; shown with them")


class Sensitivity(Section):
    """Notebook 05: do labels distinguish systems?"""

    n_dialogues: int = Field(
        32, ge=2, le=limits.COUNT, description="dialogues per system (pairs per pair of systems) in one draw"
    )
    n_draws: int = Field(1000, ge=1, le=100_000, description="draws; the first is the paper's single draw")
    null_runs: int = Field(
        200, ge=20, le=limits.COUNT, description="placebo comparisons per test, for its type I error rate"
    )
    published: Published | None = Field(None, description="the printed counts to compare with")


QUESTIONS = [
    Question(
        notebook="05_sensitivity",
        asks="Does a label distinguish systems?",
        follows="Finch et al. 2023, Table 5",
        options={"sensitivity": Sensitivity},
        uses=["performance"],
        needs=["07_bot_performance"],
        reads=["annotations", "data/published/*.csv"],
        sections=["margin", "simulate", "quality_control", "control_system", "unranked_systems", "seeds"],
        knobs={"n_draws": "sensitivity.n_draws", "seed": "seeds.downsample"},
        requires=["comparable_systems"],
        weighted="differences between systems by the fits, and the differences that they would find",
        unweighted="tests as published",
        headline="significance",
        seconds=[4.0, 4.0, 0.15],
    ),
]
