"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Operating(Section):
    """Notebook 80: how often the fit, and intervals of alpha, are right in studies like this one."""

    n_runs: int = Field(
        200, ge=50, le=100_000, description="simulated studies, fewer (at least 50) of large ones; 2000 takes minutes"
    )
    n_resamples: int = Field(1000, ge=200, le=20_000, description="bootstrap resamples of each simulated sample")
    labels: int = Field(
        2, ge=1, le=limits.COUNT, description="labels per method whose intervals of alpha are simulated, rarest first"
    )


QUESTIONS = [
    Question(
        notebook="80_operating_characteristics",
        asks="Can the tests and intervals themselves be trusted?",
        options={"operating": Operating},
        uses=["agreement", "performance"],
        reads=["annotations"],
        sections=["iaa.first", "inference", "unranked_systems", "bootstrap", "seeds.permute"],
        knobs={"n_runs": "operating.n_runs", "n_resamples": "operating.n_resamples", "seed": "seeds.permute"},
        requires=["equal_weights", "repeated", "comparable_systems"],
        headline="fits",
        seconds=[14.0, 40.0, 0.25],
        most_labels=10,
    ),
]
