"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from judgebook.study import limits
from judgebook.study.questions import Question
from judgebook.study.sections.data import Amount, Identifier, MethodName, Section


class Technique(Section):
    """One way of evaluating: its judgements, and the value of a conversation."""

    method: MethodName = Field(description="method of its judgements")
    title: str = Field("", description="name shown; default: that of the method")
    corpus: str | None = Field(None, description="only judgements of this corpus")
    facts: dict[str, str] = Field({}, description="only judgements of dialogues with these facts, e.g. n_exchanges: 5")
    turns: Annotated[list[Annotated[int, Field(ge=1, le=limits.INT32)]], Field(min_length=2, max_length=2)] | None = (
        Field(None, description="first and last turn used, counted from 1; null: all")
    )
    rename: dict[str, str] = Field({}, description="label -> label under which it is compared")
    rate: Literal["linear", "squared", "winner"] = Field(
        "linear", description="value of a conversation: share of marks, squared share, or the side with more marks"
    )
    timed: bool = Field(True, description="included in the hours that techniques need")
    onboarding_minutes: float = Field(
        0.0, ge=0, le=limits.AMOUNT, description="training of one annotator before the first judgement"
    )
    conversation_minutes: float = Field(
        0.0,
        ge=0,
        le=limits.AMOUNT,
        description="time to collect one conversation, where finished conversations are compared",
    )


class Mixture(Section):
    """Ratings of several techniques taken together."""

    techniques: Annotated[list[str], Field(min_length=2)] = Field(description="techniques of `compare`")
    weights: Annotated[list[Amount], Field(min_length=2)] = Field(description="relative share of each")
    title: str = Field("", description="name shown; default: the id")

    @model_validator(mode="after")
    def _as_many(self) -> Mixture:
        if len(self.weights) != len(self.techniques) or min(self.weights) < 0 or sum(self.weights) == 0:
            raise ValueError(f"weights: expected {len(self.techniques)}, 0 or more, not all 0, found {self.weights}")
        return self


class MessageChecks(Section):
    """Checks of what annotators typed: people whose messages fail are excluded."""

    first_turn: int = Field(1, ge=1, le=limits.COUNT, description="turn of the first typed message")
    greetings: list[str] = Field([], description="words that fail in the first message; empty: not checked")
    offensive: list[str] = Field([], description="words that fail in any message; empty: not checked")


class PrintedRates(Section):
    """Printed rates by system, and the printed effective win rates that should follow from them."""

    rates: str = Field(description="element with the rates, whose panels are systems")
    rate: str = Field(description="its column")
    wins: str = Field(description="element with the effective win rates, whose panels are pairs")
    win: str = Field(description="its column")


class Techniques(Section):
    """Notebook 11: comparing or rating, per turn or per dialogue?"""

    compare: dict[Identifier, Technique] = Field({}, description="the techniques; empty: the methods of shared labels")
    pairs: dict[Identifier, Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(
        {}, description="name -> two systems, the first expected to be better; empty: all pairs"
    )
    labels: list[str] = Field([], description="labels compared; empty: those shared by two techniques, or all")
    final_rating: list[str] = Field(
        [],
        description="labels of whole conversations to which marks of turns are related; empty: those that are also "
        "marked by turn, or else all",
        examples=[["overall"]],
    )
    combine: dict[Identifier, Mixture] = Field({}, description="ratings sampled from several techniques")
    average: dict[Identifier, Mixture] = Field(
        {}, description="techniques whose values (0 to 1) per conversation are averaged"
    )
    checks: MessageChecks | None = Field(None, description="checks of what annotators typed; null: none")
    alpha: float = Field(0.05, gt=0, lt=0.5, description="significance level")
    power: float = Field(0.8, gt=0, lt=1, description="power for which hours are reported")
    n_runs: int = Field(400, ge=100, le=100_000, description="simulated studies per power estimate")
    crossing_runs: int = Field(
        200, ge=50, le=10_000, description="random orders of ratings, each tested after every rating"
    )
    paper: str | None = Field(None, description="the paper of `printed_rates`")
    printed_rates: PrintedRates | None = Field(None, description="printed rates from which others should follow")

    @model_validator(mode="after")
    def _known(self) -> Techniques:
        for name, mixture in {**self.combine, **self.average}.items():
            unknown = sorted(set(mixture.techniques) - set(self.compare))
            if unknown:
                raise ValueError(f"{name}: expected techniques of `compare`, found {unknown}")
        return self


QUESTIONS = [
    Question(
        notebook="11_technique_comparison",
        asks="Compare or rate, per turn or per dialogue?",
        follows="Smith et al. 2022",
        options={"techniques": Techniques},
        private=["texts"],
        reads=["annotations", "dialogues", "dialogue_facts", "data/published/*.csv", "data/published/*_mapping.yaml"],
        sections=["unranked_systems", "bootstrap", "seeds.bootstrap", "seeds.permute"],
        knobs={"n_resamples": "bootstrap.n_resamples", "n_runs": "techniques.n_runs", "seed": "seeds.bootstrap"},
        requires=["techniques"],
        headline="rates",
        seconds=[9.0, 0.0, 0.0],
    ),
]
