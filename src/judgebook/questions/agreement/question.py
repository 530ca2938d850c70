"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Iaa(Section):
    """Notebook 03: do annotators agree?"""

    first: int | None = Field(
        None, ge=2, le=limits.COUNT, description="annotations used per item, in source order; null: all"
    )
    min_items: int = Field(25, ge=2, le=limits.COUNT, description="warn if a label has fewer items")
    threshold: float = Field(
        0.667,
        gt=-1,
        lt=1,
        description="alpha above which the entire interval must lie for single judgements to be relied on; "
        "Krippendorff (2004) asks for 0.8, or 0.667 where tentative conclusions will do",
    )
    marks: list[Annotated[float, Field(gt=-1, lt=1)]] = Field(
        [], description="further values of alpha marked in the figure"
    )


QUESTIONS = [
    Question(
        notebook="03_iaa",
        asks="Do annotators agree?",
        follows="Finch et al. 2023, Figure 1; Finch et al. 2024, Table 3",
        options={"iaa": Iaa},
        reads=["annotations", "data/published/*.csv", "data/published/*_mapping.yaml"],
        sections=["inference", "scope", "bootstrap", "seeds.bootstrap"],
        knobs={"n_resamples": "bootstrap.n_resamples", "seed": "seeds.bootstrap"},
        requires=["repeated"],
        weighted="Krippendorff's alpha, Gwet's AC, raw, positive and negative agreement, and prevalence",
        unweighted="kappas and intraclass correlations",
        headline="alpha",
        seconds=[8.0, 6.0, 0.3],
        answers=["labels", "next"],
        early=True,
    ),
]
