"""The facts of the six answers, as `answers.json` has them: what the sentences of the first page are filled with.

Fields are data; properties are the same in the words or under the names that `text.md.j2` asks for.
"""

from __future__ import annotations

from math import tanh
from typing import Any, Literal

from pydantic import Field

from judgebook.annotations.population import Population
from judgebook.display.text import number
from judgebook.summary.answers import verdicts
from judgebook.summary.answers.parts import Estimate, Evaluation, Model, Number, Sizes, Span, Words


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


class Against(Estimate):
    """A system against the first one on a label with a margin: the estimate is by how much it is better."""

    margin: float = Field(description="the smallest difference that matters, in the unit of the estimate")
    verdict: verdicts.Margin


class MarginFacts(Model):
    """Systems of the main evaluation against the first one, by the margins that the study states."""

    labels: dict[str, str] = Field(description="label with a margin, as the page names it -> the margin in words")
    pairs: list[Against] = Field(description="by system, the best first, then by label")
    holds: list[str] = Field(description="systems not worse than the first, on every label with a margin")
    equivalent: list[str] = Field(description="of these, systems that are equivalent to the first on all of them")
    worse: list[str] = Field(description="systems shown to be worse on some label, and not by less than its margin")


class MarginFound(Model):
    """A label's margin, and the difference that would usually be found on it."""

    label: str
    margin: str = Field(description="in words")
    difference: float = Field(description="found with the power of `detectable`, in units of the label")
    found: bool = Field(description="whether a difference as small as the margin is")
    told: str = Field(description="the difference in words")


class Ranked(Estimate):
    """A system in the order: its estimate, its rank with simultaneous ends, and how far it is behind the first."""

    rank: Number
    rank_low: Number = None
    rank_high: Number = None
    lead: Number = Field(None, description="of the first system over this one, more being better")
    lead_low: Number = None
    lead_high: Number = None
    p_best: Number = Field(None, description="chance of being the best, the systems being draws from a distribution")
    verdict: str = Field(description="leads, may be best, not clearly worse, clearly worse, or no interval")

    @property
    def beaten(self) -> tuple[float, ...]:
        """Of strengths: share of decided votes that the first wins against this one, and its ends."""
        return tuple((1 + tanh(x / 2)) / 2 for x in (self.lead, self.lead_low, self.lead_high) if x is not None)


class Certain(Model):
    """A system that ranks first in another evaluation."""

    system: str
    evaluation: str


class Alone(Model):
    """The first system of one run by itself."""

    system: str
    run: str
    p_best: Number


class Elsewhere(Model):
    """The evaluations besides the main one."""

    n: int
    n_certain: int = Field(description="in how many a system ranks first")
    certain: list[Certain]
    names: list[str]
    alone: list[Alone] = Field(description="who leads in each run, where the first answer is about all of them")

    @property
    def sure(self) -> list[tuple[str, str]]:
        return [(one.system, one.evaluation) for one in self.certain]


class OrderFacts(Model):
    of: Literal["order"] = "order"
    evaluation: Evaluation
    runs: int = Field(description="how many the order is about, which are a sample of others; 0: one, or none")
    method: str
    people: Population
    judged: int = Field(description="annotators who judged by this method")
    top: Ranked = Field(description="the first system")
    second: Ranked | None = Field(description="the next in the order, with its distance from the first; null: none")
    systems: list[Ranked] = Field(description="all, the best first")
    name: str = Field(description="of the first system")
    n: int = Field(description="systems")
    n_others: int
    n_rivals: int = Field(description="other systems that may be best")
    rivals: list[str]
    wins: int = Field(description="systems shown to be worse than the first")
    tiers: list[list[str]] = Field(description="systems not distinguishable from the best of their tier, best first")
    label: str = Field(description="the label that orders the systems; empty: the mean of several")
    n_labels: int
    level: float = Field(description="confidence in all ranks together")
    others: Elsewhere
    margin: MarginFacts | None = Field(None, description="by the YAML's `margin`; null: no label here has one")

    @property
    def who(self) -> str:
        return self.evaluation.title

    @property
    def any(self) -> bool:
        return self.n_rivals == self.n_others


class LabelAlpha(Estimate):
    """Krippendorff's alpha of a label."""

    verdict: Literal["reliable", "doubtful", "too few data"] = Field(
        description="the interval lies above the threshold, below it, or neither"
    )


class LabelsOfMethod(Model):
    method: str = Field(description="empty: there is one method")
    names: list[str]
    n: int


class LabelGroup(Model):
    """Labels with the same verdict, the highest alpha first."""

    n: int
    by_method: list[LabelsOfMethod]

    @property
    def parts(self) -> list[tuple[str, list[str]]]:
        return [(part.method, part.names) for part in self.by_method]


class Reliability(Model):
    """How reliably means order the systems, by method: 1 minus the share of error in the variance between means."""

    method: str = Field(description="empty: there is one method")
    n: int = Field(description="labels")
    row: Estimate = Field(description="of the first label; its n counts systems")
    median: Number
    low: Number
    high: Number
    dialogues: Sizes = Field(description="per system")
    annotators: Sizes | None = Field(description="per dialogue; null: one")

    @property
    def each(self) -> str:
        return str(self.annotators or "")


class AgreementFacts(Model):
    of: Literal["agreement"] = "agreement"
    who: str = Field(description="run and group; empty where there is one of each")
    people: Population
    n_sample: int | None = Field(description="labels whose interval speaks of other annotators; null: as `people`")
    n_fixed: int = Field(description="labels whose interval does not")
    n: int = Field(description="labels judged twice that say which system is better, or all where none does")
    labels: list[LabelAlpha] = Field(description="labels judged twice, with those set aside")
    aside: LabelGroup = Field(description="labels judged twice that do not count, as they have no direction")
    aside_reliable: int = Field(description="how many of these are reliable")
    reliable: LabelGroup
    doubtful: LabelGroup
    few: LabelGroup
    best: LabelAlpha | None = Field(description="the highest alpha with an interval")
    level: float
    least: float = Field(description="the threshold of alpha")
    customary: bool = Field(description="whether it is the usual one")
    means: list[Reliability]
    pairs: bool = Field(description="whether all labels are of comparisons")
    alike: list[str] = Field(description="what is said of labels without any variation")

    @property
    def threshold(self) -> str:
        return f"{self.least:g}"


class ReplicationFacts(Model):
    of: Literal["replication"] = "replication"
    replication: verdicts.Replication | None = Field(description="null: there is one run")
    overall: Estimate | None = Field(description="r between means of systems in two runs")
    least: Estimate | None = Field(description="the label with the smallest r")
    labels: list[Estimate]
    n: int = Field(description="labels")
    sure: int = Field(description="labels whose interval lies above 0")
    twice: bool = Field(description="whether some item was judged twice")
    workers: bool = Field(description="whether only workers count who passed quality control")
    runs: list[str]


class Detectable(Model):
    """The difference found with 80% power, after adjustment, by labels of the main method."""

    method: str
    unit: Literal["pair", "dialogue"]
    power: float
    sizes: Sizes = Field(description="dialogues or pairs per system")
    sizes_doubled: Sizes
    of_sessions: Sizes | None
    n_labels: int
    pairs: int
    scale: str = Field(description="percentage points, or points of the label's scale")
    decimals: int = Field(description="with which differences are told")
    scales: int = Field(description="scales of different length")
    differences: Span = Field(description="over labels")
    difference: float = Field(description="of the median label")
    difference_more: float = Field(description="with some more per system: see `more` of the cost")
    difference_doubled: float
    less: float = Field(description="by what share some more make it smaller")
    beyond: bool = Field(description="whether it is larger than the scale")
    others: bool = Field(description="whether for other annotators, too")
    margins: list[MarginFound] = Field([], description="of the labels for which the YAML states a `margin`")

    def _say(self, value: float) -> str:
        return number(value, self.decimals)

    @property
    def size(self) -> str:
        return str(self.sizes)

    @property
    def twice(self) -> str:
        return str(self.sizes_doubled)

    @property
    def sessions(self) -> str:
        return str(self.of_sessions or "")

    @property
    def span(self) -> str:
        return self.differences.words(self.decimals)

    @property
    def median(self) -> str:
        return self._say(self.difference)

    @property
    def more(self) -> str:
        return self._say(self.difference_more)

    @property
    def doubled(self) -> str:
        return self._say(self.difference_doubled)


class SampleFacts(Model):
    of: Literal["sample"] = "sample"
    who: str = Field(description="run and group; empty where there is one of each")
    n: int = Field(description="comparisons of two systems on a label")
    n_decided: int
    n_differ: int
    n_alike: int = Field(description="equivalent")
    open: int
    untested: int = Field(description="of the open ones, those whose systems cannot be compared")
    by_model: int = Field(description="differences that are not significant, unadjusted, without the model")
    margins: bool = Field(False, description="whether some label has a `margin` in the YAML")
    people: Population
    main: Population = Field(description="of the first answer")
    detectable: Detectable | None


class Dropped(Model):
    """Workers who failed quality control, counted once per run."""

    out: int
    n: int
    runs: int


class CostFacts(Model):
    of: Literal["cost"] = "cost"
    known: bool = Field(description="whether hours are known")
    hours: Number
    minutes: Estimate | None = Field(description="median per `unit` of the main evaluation that was timed")
    unit: str
    method: str
    money: Number = Field(description="for these hours at `hourly_rate`")
    hourly_rate: Number
    currency: str | None
    paid: Number
    paid_currency: str | None
    all_paid: bool | None
    wage: Number = Field(description="paid per hour")
    more: int = Field(description="dialogues or pairs per system by which the sample would grow")
    next: Number = Field(description="money for these")
    detectable: Detectable | None
    gain: Words | None = Field(description="why it was not computed what more would buy; null where it was")
    dropped: Dropped | None
    together: list[str] = Field(description="methods whose tasks have one duration")

    @property
    def rate(self) -> str:
        return f"{self.hourly_rate or 0:g}"


class Step(Model):
    kind: verdicts.Next
    facts: dict[str, Any] = Field(description="what its sentences say, by name")


class NextFacts(Model):
    of: Literal["next"] = "next"
    steps: list[Step]


Facts = OrderFacts | AgreementFacts | ReplicationFacts | JudgesFacts | SampleFacts | CostFacts | NextFacts
