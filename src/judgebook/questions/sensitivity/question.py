"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated, Literal

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
    within: Literal["session", "interactor"] = Field(
        "session", description="how dialogues without a counterpart in their session are permuted"
    )
    n_permutations: int = Field(10_000, ge=99, le=limits.COUNT, description="permutations of the primary test")
    margin: float = Field(
        0.2,
        gt=0,
        le=limits.AMOUNT,
        description="margin within which two systems count as equivalent on labels without `margin`, in standard "
        "deviations of dialogues",
    )
    null_runs: int = Field(
        200, ge=20, le=limits.COUNT, description="placebo comparisons per test, for its type I error rate"
    )
    null_permutations: int = Field(201, ge=99, le=limits.COUNT, description="permutations in each placebo comparison")
    power_sizes: list[Annotated[int, Field(ge=2, le=limits.COUNT)]] = Field(
        [8, 16, 32, 64, 100], min_length=1, description="dialogues per system for which power is shown"
    )
    published: Published | None = Field(None, description="the printed counts to compare with")


QUESTIONS = [
    Question(
        notebook="05_sensitivity",
        asks="Does a label distinguish systems?",
        follows="Finch et al. 2023, Table 5",
        options={"sensitivity": Sensitivity},
        uses=["performance"],
        reads=["annotations", "dialogues", "data/published/*.csv"],
        sections=["margin", "simulate", "inference", "quality_control", "control_system", "unranked_systems", "seeds"],
        knobs={"n_draws": "sensitivity.n_draws", "seed": "seeds.downsample"},
        requires=["comparable_systems"],
        weighted="differences between systems, their tests and intervals, power and detectable differences",
        unweighted="tests as published, and the standard deviations in which margins of equivalence are given",
        headline="significance",
        seconds=[6.0, 4.0, 0.15],
        early=True,
    ),
]
