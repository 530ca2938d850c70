"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from pydantic import Field

from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Moderation(Section):
    """Notebook 12: the role of each label (methods: `moderation` for one reply, any pairwise one for two)."""

    category: str = Field("category", description="label: -1 not acceptable, 0 in between, 1 acceptable")
    better: str = Field("better", description="label: which of two replies is better")
    unrelated: str = Field("unrelated", description="label: both replies are unrelated (recorded for the left one)")
    flagged: str = Field("flagged", description="label: the reply is toxic or encourages it")
    paper: str | None = Field(None, description="the paper whose printed tables are compared")


QUESTIONS = [
    Question(
        notebook="12_moderation",
        asks="How appropriate are responses to toxic prompts?",
        follows="Zhang et al. 2022, §3: Tables 4 (sizes), 5–7",
        options={"moderation": Moderation},
        uses=["agreement", "performance"],
        private=["texts"],
        reads=["annotations", "dialogues", "data/published/*.csv", "data/published/*_mapping.yaml"],
        sections=["bootstrap", "seeds.bootstrap", "seeds.permute"],
        knobs={"n_resamples": "bootstrap.n_resamples", "seed": "seeds.bootstrap"},
        requires=["moderation"],
        headline="outcomes",
        seconds=[4.0, 0.0, 0.0],
    ),
]
