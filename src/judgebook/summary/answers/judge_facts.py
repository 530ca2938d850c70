"""The facts of the answer to who judged, as `facts` has those of the others."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgebook.annotations.population import Population
from judgebook.summary.answers import verdicts
from judgebook.summary.answers.parts import Estimate, Model, Number, Words


class Share(Model):
    """A part of the variance of judgements of one system, over labels."""

    median: Number
    low: Number
    high: Number
    row: Estimate | None = Field(description="null: there are several labels")


class Groups(Model):
    """Differences between groups of annotators (notebook 08)."""

    n: int
    n_differ: int
    n_people: int = Field(description="tested with whole annotators permuted")
    differ_people: int
    possible: int = Field(description="of these, how many could be significant at all")
    n_impossible: int
    least: Number = Field(None, description="of the rest the smallest possible p after adjustment")
    smaller: str | None = Field(None, description="the group that is too small for it")
    size: int | None = None
    median: Number = Field(description="standardised size, corrected for noise")
    row: Estimate | None = Field(None, description="null: there are several")

    @property
    def who(self) -> tuple[str | None, int | None]:
        return self.smaller, self.size


class Case(Model):
    """A model that judged one label: its agreement with a person, and of people with one another."""

    name: str
    label: str
    judge: Number
    people: Number
    difference: Estimate
    less: bool
    more: bool
    choices: bool = Field(description="whether these are shares of equal choices, or alpha")


class GoldJudge(Model):
    """A model that is compared with one human label per item: its kappas, by label."""

    name: str
    n: int = Field(description="labels")
    kappas: tuple[Estimate, ...] = Field(description="where they are defined")

    @property
    def values(self) -> list[Number]:
        return [kappa.estimate for kappa in self.kappas]


class Line(Model):
    """A model that judged several labels: on how many it agrees less or more than people do."""

    name: str
    n: int
    less: int
    more: int


class ModelFacts(Model):
    verdict: verdicts.Models
    reason: Words = ""
    who: Words = Field("", description="the models, with their verb")
    n: int = Field(0, description="models")
    less: str = Field("", description="on how many labels a model agrees less: all, most, some, no; empty: the one")
    cases: tuple[Case, ...] = ()
    lines: tuple[Line, ...] = ()
    gold: tuple[GoldJudge, ...] = ()
    choices: bool = False


class JudgesFacts(Model):
    of: Literal["judges"] = "judges"
    who: str = Field(description="methods, group and run that were analysed, where there are others")
    people: Population | None
    n: int | None = Field(description="labels with a fitted model")
    n_large: int | None = Field(description="labels on which annotators account for `little` of the variance or more")
    strictness: Share | None
    preference: Share | None
    shares: list[Estimate] = Field(description="of each label, `name` being strictness or preference")
    chance: Number = Field(description="that as many other annotators would turn the first two round (median label)")
    chance_study: Number = Field(description="that a whole new study of this size would")
    small: bool | None = Field(description="whether all intervals of shares end below `little`")
    little: float
    top: Number = Field(description="the highest end of an interval of a share")
    groups: Groups | None
    models: ModelFacts
    again: Estimate | None = Field(description="r of system means between two runs, where replicated")
