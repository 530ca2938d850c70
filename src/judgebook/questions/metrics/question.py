"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from pydantic import Field

from judgebook.study.labels import TextMetricName
from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Metrics(Section):
    """Notebook 09: which metrics agree with people?"""

    computed: list[TextMetricName] | None = Field(
        None, description="metrics computed from the texts; null: all; []: none"
    )
    corpora: list[str] = Field([], description="corpora analysed; empty: all")
    titles: dict[str, str] = Field({}, description="display names of metrics")
    n_resamples: int = Field(
        2000, ge=200, le=1_000_000, description="bootstrap resamples of correlations, with ranks recomputed in each"
    )
    paper: str | None = Field(None, description="the paper whose printed correlations over systems are shown")
    printed: list[str] = Field([], description="their places in the paper: element/panel/row/column")
    range_without: list[str] = Field(
        [], description="method:label pairs excluded from the lowest and highest agreement, as in the paper"
    )


QUESTIONS = [
    Question(
        notebook="09_metric_correlation",
        asks="Which metrics agree with people?",
        follows="the statistics of Zhang et al. 2022, Tables 2, 3, Figure 1, and Ji et al. 2022, §7, for other metrics",
        options={"metrics": Metrics},
        reads=["annotations", "dialogues", "metric_scores", "data/published/*.csv", "data/published/*_mapping.yaml"],
        sections=[
            "metric_directions",
            "unranked_systems",
            "control_system",
            "quality_control",
            "bootstrap",
            "seeds.bootstrap",
            "seeds.permute",
        ],
        knobs={
            "n_resamples": "bootstrap.n_resamples",
            "rank_resamples": "metrics.n_resamples",
            "seed": "seeds.bootstrap",
        },
        requires=["metrics"],
        unweighted="correlations of metrics with people",
        headline="metrics",
        seconds=[12.0, 4.0, 0.06],
    ),
]
