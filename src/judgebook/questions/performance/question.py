"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Performance(Section):
    """Notebook 07: rates, means, comparisons and ranks of systems."""

    overall: Literal["all"] | list[str] = Field(
        "all",
        description="labels whose standardised mean, in one fit, orders the systems, by method (of comparisons: "
        "votes for the side that more of them favour); all: those with a direction",
    )
    note: str = Field("", description="shown with printed numbers")


QUESTIONS = [
    Question(
        notebook="07_bot_performance",
        uses=["quality_control"],
        asks="How good are the systems?",
        follows="Finch et al. 2023, Figures 4–8",
        options={"performance": Performance},
        reads=["annotations", "dialogues", "data/published/*.csv", "data/published/*_mapping.yaml"],
        sections=[
            "inference",
            "simulate",
            "quality_control",
            "control_system",
            "unranked_systems",
            "bootstrap",
            "seeds.bootstrap",
            "seeds.pick",
        ],
        knobs={"n_resamples": "bootstrap.n_resamples", "seed": "seeds.bootstrap"},
        requires=["scored_systems"],
        weighted="rates, means, shares of comparisons, strengths, ranks, the overall order and design effects",
        unweighted="estimates as published, and Bradley–Terry scores as leaderboards print them",
        headline="leaderboard",
        seconds=[8.0, 4.0, 0.2],
        answers=["order", "labels", "judges", "sample", "cost", "next"],
        early=True,
    ),
]
