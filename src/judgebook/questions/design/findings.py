"""What the design check says: on its own page, and as the box "Before you read on" of the first page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases, plural
from judgebook.questions.design.analysis import Examined, stored
from judgebook.questions.design.material import UNKNOWN, DesignFinding
from judgebook.study.results import Results

if TYPE_CHECKING:
    from judgebook.display.views import Prose

_PHRASES = Phrases(__package__)
#: findings that the first page shows, more would not be read; of a size below SMALL only where none is larger
BOX, SMALL = 3, 0.5
#: answer of the first page -> how a finding names it
TOUCHED = {
    "order": "which system is best",
    "labels": "which labels can be trusted",
    "judges": "whether it matters who judged",
    "sample": "whether there were enough data",
    "cost": "what it cost",
    "next": "what to do next",
}


@dataclass(frozen=True)
class WordedFinding:
    """A finding in words (Markdown). what : with its size. change : what becomes of the results. todo : what to do."""

    what: str
    change: str
    todo: str
    touches: tuple[str, ...]
    where: str
    price: float
    code: str


@dataclass(frozen=True)
class Box:
    """`Before you read on`: at most three findings, how many more there are, and what was checked (a line)."""

    findings: tuple[WordedFinding, ...]
    more: int
    checked: str


def worded(examined: Examined, names: DisplayNames) -> list[WordedFinding]:
    """Every finding in words, one for each kind: of several evaluations with the same finding the one it matters most
    for, which says for how many others it was found."""
    alike: dict[str, list[DesignFinding]] = {}
    for one in examined.findings:
        alike.setdefault(one.code, []).append(one)
    of = zip(("corpus", "group", "method"), zip(*examined.parts, strict=True), strict=True)
    several = {kind: len(set(values)) > 1 for kind, values in of}
    return [_worded(same[0], names, several, len(same) - 1) for same in alike.values()]


def each(examined: Examined, names: DisplayNames) -> list[WordedFinding]:
    """Every finding in words, evaluation by evaluation."""
    every = dict.fromkeys(("corpus", "group", "method"), True)
    return [_worded(one, names, every, 0) for one in examined.findings]


def _worded(one: DesignFinding, names: DisplayNames, several: Mapping[str, bool], others: int) -> WordedFinding:
    facts = _named(one, names)
    what, change, todo = (_PHRASES.say(f"{one.code}{part}", f=facts) for part in ("", "_change", "_todo"))
    where = [names.name(k, one.place[k]) for k in ("method", "group", "corpus") if k in one.place and several[k]]
    where = [w for w in where if w not in ("All evaluators", "all", "Main")]
    place = ", ".join(where) + (f"; also in {plural(others, 'other evaluation')}" if others and where else "")
    return WordedFinding(what, change, todo, tuple(TOUCHED[t] for t in one.touches), place, one.price, one.code)


def _named(one: DesignFinding, names: DisplayNames) -> dict[str, Any]:
    """The facts of a finding with display names of systems, labels and judges."""
    method = one.place.get("method")

    def title(fact: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        kinds = {"system": "system" in fact, "label": fact.startswith("label"), "group": fact == "judge"}
        kind = next((kind for kind, is_one in kinds.items() if is_one), "")
        return names.name(kind, value, method) if kind else value

    return {
        fact: [title(fact, v) for v in value] if isinstance(value, list) else title(fact, value)
        for fact, value in one.facts.items()
    }


def box(results: Results, names: DisplayNames) -> Box | None:
    """What the first page says of the design, from stored results; None where nothing was found or nothing was checked.

    Raises nothing: without results of notebook 17 there is no box.
    """
    examined = stored(results)
    sentences = worded(examined, names)
    if not sentences:
        return None
    shown = [one for one in sentences[:BOX] if one.price >= SMALL] or sentences[:1]
    return Box(tuple(shown), len(sentences) - len(shown), checked(examined))


def checked(examined: Examined) -> str:
    """`19 found nothing, 6 not possible`."""
    return _PHRASES.say("checked", passed=len(examined.passed), unchecked=len(examined.unchecked))


def headline(results: Results, names: DisplayNames) -> Iterator[Prose]:
    """How many findings there are, the most expensive one, and what was not checked."""
    examined = stored(results)
    sentences = worded(examined, names)
    first = sentences[0] if sentences else None
    from judgebook.display.views import Prose  # Matplotlib, which `check` does not need

    yield Prose(
        _PHRASES.say(
            "headline",
            n=len(sentences),
            first=_markup(first.what if first else ""),
            worst=_markup(f"{first.change} {first.todo}" if first else ""),
            passed=len(examined.passed),
            unchecked=len(examined.unchecked),
        )
    )


def price(one: WordedFinding) -> str:
    return _PHRASES.say("price", price=one.price, unknown=UNKNOWN)


def _markup(text: str) -> Any:
    """Text that the template has escaped already."""
    from markupsafe import Markup

    return Markup(text)
