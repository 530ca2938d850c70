"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Identifier, Section


class QualityControl(Section):
    """Notebook 10: quality control of workers by `control_system`, and whether results repeat."""

    labels: list[str] = Field([], description="labels on which the control must be rated lower; empty: all")
    alpha: float = Field(0.05, gt=0, lt=1, description="a worker passes with a p-value below this")
    thresholds: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        [0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0], min_length=1, description="other values of alpha to try"
    )
    levels: list[Annotated[float, Field(gt=0, lt=1)]] = Field(
        [0.05, 0.1], min_length=1, description="significance levels of conclusions about two systems"
    )
    runs: list[str] = Field([], description="corpora in order, each compared with the first; empty: all, sorted")
    families: dict[Identifier, list[str]] = Field(
        {}, description="name -> systems of one architecture: the plain one, then the variant"
    )
    variant: str = Field("variant", description="what the second system of a family has and the first does not")
    payment: float | None = Field(None, gt=0, le=limits.AMOUNT, description="payment per work unit")
    currency: str = Field("USD", description="currency of `payment`")

    @property
    def paid(self) -> tuple[float, str] | None:
        """What a work unit was paid, and in which currency."""
        return (self.payment, self.currency) if self.payment else None


QUESTIONS = [
    Question(
        notebook="10_quality_control",
        asks="Which workers can be trusted, and do results replicate?",
        follows="Ji et al. 2022, Tables 1–4, 7–11",
        options={"quality_control": QualityControl},
        reads=[
            "annotations",
            "dialogues",
            "dialogue_facts",
            "work_units",
            "data/published/*.csv",
            "data/published/*_mapping.yaml",
        ],
        sections=["control_system", "unranked_systems", "bootstrap", "seeds.bootstrap", "seeds.permute"],
        knobs={"n_resamples": "bootstrap.n_resamples", "seed": "seeds.bootstrap"},
        requires=["control_system", "known_annotators"],
        unweighted="tests of workers, scores of systems and their repetition",
        headline="repeat",
        answers=["labels", "judges", "cost", "next"],
    ),
]
