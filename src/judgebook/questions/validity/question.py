"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Section

#: groups, or named parts of groups
_People = Annotated[list[str], Field(min_length=1)]


class Importance(Section):
    """Notebooks 04 and 06: what is predicted, and whose judgements predict it."""

    target: str = Field("quality", description="label to be predicted, given by interactors to their own dialogues")
    quality_label: str | None = Field(
        None,
        description="where no interactor rated `target`: a label to be predicted instead, given by others",
    )
    quality_group: str | _People | None = Field(
        None,
        description="whose ratings and choices of `quality_label` are predicted: a group, a part of one "
        "(`groups.….parts`) or a list of these; null: `group` if it gave any, else the group with most labels "
        "that did. If named, it comes before interactors",
        examples=["students"],
    )
    group: str | _People | None = Field(
        None,
        description="whose judgements predict it: a group, a part of one or a list of these; null: the group with "
        "most labels",
        examples=["crowd"],
    )

    def settings(self) -> dict[str, Any]:
        """What `validity.targets.find` is given."""
        return {"label": self.target, **self.model_dump(include={"group", "quality_label", "quality_group"})}


class Coverage(Section):
    """Notebook 06: what do labels explain jointly?"""

    exclude: list[str] = Field(["quality"], description="labels that are not used as predictors, as in the paper")
    beam: int = Field(100, ge=1, le=limits.COUNT, description="models kept at each step of the published search")
    n_halves: int = Field(100, ge=10, le=limits.COUNT, description="random halves of the people")
    n_folds: int = Field(10, ge=2, le=limits.COUNT, description="folds of people in cross-validation")
    n_repeats: int = Field(3, ge=1, le=limits.COUNT, description="repetitions of the random assignment to folds")
    n_permutations: int = Field(100, ge=10, le=limits.COUNT, description="shuffled targets")


class LabelSelection(Section):
    """Notebook 06: what a label must reach to be kept; null: the criterion is not applied."""

    min_alpha: float | None = Field(0.4, ge=-1, lt=1, description="agreement: smallest alpha of the group")
    excludes_zero: bool = Field(
        True, description="importance: the interval of r excludes 0, for dialogue or comparative quality"
    )
    min_pairs: int | None = Field(
        1,
        ge=1,
        le=limits.COUNT,
        description="sensitivity: pairs of systems that the fit of notebook 07 decides",
    )
    min_selected: float | None = Field(
        0.5, ge=0, le=1, description="distinctness: share of half-samples that select the label, for either target"
    )
    max_cost: float | None = Field(
        None, gt=0, le=limits.AMOUNT, description="cost: largest cost of one label per dialogue or pair"
    )


QUESTIONS = [
    Question(
        notebook="04_importance",
        asks="Does a label predict quality?",
        follows="Finch et al. 2023, Figure 2",
        options={"importance": Importance},
        uses=["agreement", "performance"],
        reads=["annotations", "dialogues", "data/published/*.csv", "data/published/*_mapping.yaml"],
        sections=["simulate", "bootstrap", "seeds.bootstrap", "seeds.pick"],
        knobs={"group": "importance.group", "n_resamples": "bootstrap.n_resamples", "seed": "seeds.bootstrap"},
        requires=["predictable_quality"],
        unweighted="correlations with quality and regressions",
        headline="dialogue_quality",
        seconds=[4.0, 0.4, 0.0],
    ),
    Question(
        notebook="06_stepwise_coverage",
        asks="What does each label add to the others, and which should be kept?",
        follows="Finch et al. 2023, Figure 3, §7.5",
        options={"coverage": Coverage, "label_selection": LabelSelection},
        needs=["02_collection_stats", "03_iaa", "04_importance", "07_bot_performance"],
        reads=["annotations", "dialogues", "data/published/*.csv"],
        sections=["bootstrap", "importance", "seeds.permute", "seeds.pick"],
        knobs={
            "group": "importance.group",
            "n_permutations": "coverage.n_permutations",
            "n_halves": "coverage.n_halves",
            "seed": "seeds.permute",
        },
        requires=["predictable_quality"],
        unweighted="regressions, and the sets of labels that they select",
        headline="selection",
        seconds=[7.0, 0.3, 0.01],
    ),
]
