"""What the smallest difference that matters, the YAML's `margin`, says of systems and of the sample."""

from __future__ import annotations

from pydantic import Field

from judgebook.summary.answers import verdicts
from judgebook.summary.answers.parts import Estimate, Model


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
