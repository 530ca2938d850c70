"""What a check of the design is, and the list of all of them: each registers next to its definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from judgebook.errors import JudgebookError

#: what a check yields: the price and the facts of each finding
PricedFacts: TypeAlias = Iterator[tuple[float, dict[str, Any]]]
Run = TypeVar("Run", bound=Callable[..., PricedFacts])
#: the answers of the first page (`summary.findings.QUESTIONS`)
ANSWERS = ("order", "labels", "judges", "sample", "cost", "next")
#: price of a design that cannot answer: more than any shift that could be worked out
UNKNOWN = 10.0
#: a check may raise a false alarm in this share of clean studies; with thirty checks, about 3% for all of them
ALPHA = 0.001


class NotCheckableError(JudgebookError):
    """Raised by a check that the data do not allow: the reason, a sentence."""


@dataclass(frozen=True)
class DesignFinding:
    """Something in the design that changes what can be concluded.

    price : standard errors by which a conclusion moves, or its interval widens, when the finding is acted on; `UNKNOWN`
    where the design cannot answer at all. facts : what its sentences say, by name: numbers, texts, lists of texts;
    those with `system` in their name are ids of systems. touches : of ANSWERS. place : corpus, group, method, if known.
    """

    code: str
    price: float
    facts: Mapping[str, Any] = field(default_factory=dict)
    touches: tuple[str, ...] = ()
    place: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unchecked:
    """A check that could not be made."""

    code: str
    reason: str


@dataclass(frozen=True)
class DesignCheck:
    """run : looks at a `material.Evaluation`, or (`whole`) at the `material.StudyFrames`; yields (price, facts).

    It raises NotCheckableError where the data do not have what it takes.
    """

    code: str
    touches: tuple[str, ...]
    run: Callable[[Any], PricedFacts]
    whole: bool

    @property
    def looks_for(self) -> str:
        """What it finds, for tables: the first line of the function's docstring, without its full stop."""
        return (self.run.__doc__ or self.code).splitlines()[0].rstrip(".")


CHECKS: dict[str, DesignCheck] = {}


def check(code: str, *touches: str, whole: bool = False) -> Callable[[Run], Run]:
    """Register the decorated function under `code`. touches : answers that its findings concern."""

    def add(function: Run) -> Run:
        if code in CHECKS or not set(touches) <= set(ANSWERS):
            raise ValueError(f"check {code!r}: expected a new code and answers of {ANSWERS}, found {touches}")
        CHECKS[code] = DesignCheck(code, touches, function, whole)
        return function

    return add
