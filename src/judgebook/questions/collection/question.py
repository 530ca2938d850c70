"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Amount, End, Identifier, MethodName, PaidFor, Section


class Quiz(Section):
    """A quiz that people pass before they may judge: comparisons in which one answer is clearly better."""

    corpus: Identifier = Field(description="corpus of the quiz; `extra_…` keeps it out of the evaluation")
    better: str = Field(description="the system whose answers are the better ones")
    tries: int = Field(2, ge=1, le=limits.COUNT, description="tries allowed; all choices of one must be right")


class Pilot(Section):
    """Notebook 01: pilots of systems and of annotation, screening of annotators."""

    label: str = Field("quality", description="the rating by which a system passes its pilot")
    least: End | None = Field(None, description="smallest mean that passes; null: the middle of the scale")
    deciding_dialogue: Annotated[int, Field(ge=1, le=limits.COUNT)] | Literal["all"] = Field(
        3, description="the training dialogue of a task that decides; all: the mistakes of all of them together"
    )
    mistakes_below: dict[str, Annotated[int, Field(ge=0, le=limits.COUNT)]] = Field(
        {}, description="task -> an annotator passes with fewer wrongly marked turns than this"
    )
    other_tasks_below: int = Field(3, ge=1, le=limits.COUNT, description="likewise for all other tasks")
    quiz: Quiz | None = Field(None, description="a quiz before the first judgement; null: none")


class Costs(Section):
    """Notebook 02: what annotation costs."""

    currency: str = Field("USD", description="currency shown with costs")
    hourly_rate: float = Field(
        20.0, gt=0, le=limits.AMOUNT, description="hourly pay of annotators assumed in the estimate"
    )
    planned_dialogues: int = Field(
        400, ge=1, le=limits.COUNT, description="dialogues to be annotated; pairs are half as many"
    )
    payments: dict[Identifier, dict[PaidFor, Amount | dict[str, Amount]]] = Field(
        {}, description="group -> method -> payment per work unit, the same for all of its tasks, or task -> payment"
    )
    model_judgement: dict[str, Amount] = Field(
        {},
        description="model (`*`: all others) -> price of its judgement of a dialogue, or a pair, with all labels, in "
        "`currency`: needed to plan how people and a model share a budget",
        examples=[{"gpt_4o": 0.02}],
    )
    final_labels: dict[MethodName, list[str]] = Field(
        {}, description="method -> labels kept in the end, whose cost is reported as well"
    )


QUESTIONS = [
    Question(
        notebook="00_build_annotations",
        asks="What do the data contain?",
        follows="Zhang et al. 2022, Table 1",
        uses=["agreement", "performance"],
        reads=["annotations", "dialogues", "counts"],
        sections=["bootstrap", "seeds.bootstrap", "control_system"],
        knobs={"n_resamples": "bootstrap.n_resamples", "seed": "seeds.bootstrap"},
        weighted="Krippendorff's alpha",
        unweighted="counts, distributions of scores and shares of answers",
        headline="scores",
        seconds=[4.5, 0.3, 0.0],
        early=True,
    ),
    Question(
        notebook="01_pilot",
        asks="Which systems and procedures pass the pilot?",
        follows="Finch et al. 2023, Tables 1, 8, Figure 9",
        options={"pilot": Pilot},
        reads=["annotations", "screening", "data/published/*.csv", "data/published/*_mapping.yaml"],
        sections=["bootstrap", "seeds.bootstrap"],
        knobs={"n_resamples": "bootstrap.n_resamples", "seed": "seeds.bootstrap"},
        requires=["preparation"],
        headline="screening",
    ),
    Question(
        notebook="02_collection_stats",
        asks="What was collected, and at what cost?",
        follows="Finch et al. 2023, Table 10",
        options={"costs": Costs},
        reads=["annotations", "dialogues", "work_units", "data/published/*.csv", "data/published/*_mapping.yaml"],
        sections=["quality_control.payment", "bootstrap.confidence"],
        knobs={"hourly_rate": "costs.hourly_rate", "planned_dialogues": "costs.planned_dialogues"},
        unweighted="counts, times, costs and workloads",
        seconds=[1.0, 0.35, 0.0],
        answers=["cost", "next"],
        early=True,
    ),
]
