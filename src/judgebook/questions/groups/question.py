"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from pydantic import Field

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class GroupEffects(Section):
    """Notebook 08: does it matter who evaluates?"""

    margin: float = Field(
        0.2, gt=0, le=limits.AMOUNT, description="margin within which differences of effect sizes are negligible"
    )
    n_permutations: int = Field(2000, ge=99, le=1_000_000, description="permutations per test")
    n_picks: int = Field(1000, ge=100, le=100_000, description="random picks around printed values")
    people_resamples: int = Field(1000, ge=100, le=100_000, description="resamples that include annotators")
    paper: str | None = Field(None, description="the paper whose printed tables are compared, with its own pick")
    source_order: list[str] = Field(
        [], description="groups whose dialogues are picked in source order, not in order of their ids"
    )
    objective: list[str] = Field(
        [], description="labels that are less a matter of taste: do groups differ less on these than on the others?"
    )


QUESTIONS = [
    Question(
        notebook="08_group_effects",
        asks="Does it matter who evaluates?",
        follows="Finch et al. 2024, Tables 2–4, Figure 1",
        options={"group_effects": GroupEffects},
        uses=["agreement"],
        reads=["annotations", "data/published/*.csv", "data/published/*_mapping.yaml"],
        sections=["simulate", "scope", "costs", "bootstrap", "seeds.bootstrap", "seeds.permute", "seeds.pick"],
        knobs={
            "n_resamples": "bootstrap.n_resamples",
            "n_permutations": "group_effects.n_permutations",
            "n_picks": "group_effects.n_picks",
            "margin": "group_effects.margin",
            "seed": "seeds.bootstrap",
            "permute_seed": "seeds.permute",
            "pick_seed": "seeds.pick",
        },
        requires=["groups", "two_systems"],
        weighted="Krippendorff's alpha",
        unweighted="differences between groups and their tests",
        headline="differences",
        seconds=[10.0, 4.0, 0.4],
        answers=["judges", "next"],
    ),
]
