"""What answers say of who won: a side, a place or a tie, in words or in numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from judgebook.extras.new.words import ANSWERS
from judgebook.sources.rows import numbers

#: names of two places
_PLACES = (
    {"a", "b"},
    {"x", "y"},
    {"l", "r"},
    {"left", "right"},
    {"first", "second"},
    {"1", "2"},
    {"0", "1"},
    {"1st", "2nd"},
)
_PLACE = re.compile(
    r"(?<![a-z0-9])(?:(?P<letter>[a-z])|(?P<word>left|right|first|second|third|1st|2nd|3rd))(?![a-z0-9])"
    r"|(?P<number>[0-9]+)"
)
_FIRST = "a|1|left|l|first|x"
_SECOND = "b|2|right|r|second|y"
_THING = "(?:model|system|response|reply|bot|chatbot|option|answer|chat|assistant|conversation|dialogue|one|the)"
_SIDE = re.compile(
    rf"(?:{_THING}[ _]?)*(?:(?P<first>{_FIRST})|{_SECOND})(?: {_THING}| side)?(?: is| was)?"
    r"(?: (?:very )?(?:much|slightly|a lot|a little|a bit|significantly|somewhat|clearly|strongly))?"
    r" ?(?:(?:better|preferred|wins?|won|>+)(?: than .*)?)?|(?P<win>wins?)|loss|loses?"
)
#: `Sentence A`, `summary_2`, `the second text`
_NAMED = re.compile(
    rf"[a-z]+(?:[ _-]+(?:(?P<first>{_FIRST})|{_SECOND})|(?:(?P<number>1)|2))"
    r"|(?:(?P<left>left|first)|right|second) [a-z]+"
)
#: `A>>B`, `B>A`, `A=B` as arenas write them, or the sign alone
_SIGNS = re.compile(r"(a|b|1|2|l|r|left|right) ?([<>=])[<>=]* ?(?!\1)(?:a|b|1|2|l|r|left|right)|([<>=≈])[<>=≈]*")
_TIE = re.compile(
    r"(?:(?:about|roughly|they are|the|a|it'?s) )*(?:same|equal(?:ly (?:good|bad))?|similar|tie[sd]?|draw|both.*"
    r"|neither(?: .*)?|no (?:preference|difference|winner)|none of them|indifferent)(?: \(.*\)| \[.*\])?"
)


def side_of(word: str) -> int | None:
    """Which side of a comparison a word says won (1, 0, -1); None where it says nothing of the kind.

    How much better it was is not kept: `A is slightly better` is 1, as `A`.
    """
    answer = re.sub(r"^[0-9]+ ?[-:.)] |^the ", "", word.strip().lower().rstrip(".!"))
    if signs := _SIGNS.fullmatch(answer):
        sign = signs[2] or signs[3]
        return ((sign == ">") - (sign == "<")) * (1 if signs[1] in (None, "a", "1", "l", "left") else -1)
    if _TIE.fullmatch(answer.replace("_", " ")):
        return 0
    for form in (_SIDE, _NAMED):
        if match := form.fullmatch(answer):
            return 1 if any(match.groups()) else -1
    return None


def tie_of(word: str) -> str | None:
    """Which kind of tie a word says: both good or both bad; None where it does not say."""
    found = re.search(r"both[ _-]?(?:(?:are|were|sides|answers|responses)[ _-])*(good|bad)(?![a-z])", word.lower())
    return f"both {found[1]}" if found else None


def families(names: Iterable[str]) -> dict[tuple[str, ...], dict[str, str]]:
    """Names that differ in a place only: what is left of each place, and right of it -> place -> name."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for name in names:
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
        for m in _PLACE.finditer(spaced.lower()):
            found.setdefault((str(m.lastgroup), spaced[: m.start()], spaced[m.end() :]), {})[m[0]] = name
    return found


def twins(names: Iterable[str]) -> dict[tuple[str, str], str]:
    """Names that differ in which of two places they name, the first place first, and what they share: `A_origin` and
    `B_origin` are two of `origin`. Where there is a third, they are none."""
    out = {}
    for (_, left, right), of in families(names).items():
        if set(of) in _PLACES:
            first, second = sorted(of)
            out[of[first], of[second]] = (left + right).strip("_ .-")
    return out


@dataclass(frozen=True)
class Coding:
    """What the answers of a column stand for.

    sides : answer -> 1 where it says that the first won, -1 the second, 0 neither. sure : 3 for words, 2 for numbers
    that say which of two, 1 for what may as well be something else. others : what the answers could mean instead, in
    words -> answer -> side. says : in words. unknown : answers that say nothing of the kind.
    """

    sides: dict[str, int]
    sure: int = 3
    says: str = ""
    others: dict[str, dict[str, int]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def coded(n: Mapping[str, int], references: Mapping[str, int] | None = None) -> Coding:
    """What answers stand for. n : answer -> how often it is there. references : what else stands for a side."""
    number = dict(zip(n, numbers.of([*n]).tolist(), strict=True))
    sides = {w: (references or {}).get(w.lower(), side_of(w)) for w in n}
    bare = all(re.fullmatch(r"[-+0-9.,]+", w) for w in n)
    if n and all(x == x for x in number.values()) and (bare or None in sides.values()):
        return _in_numbers(number, n)
    for of in families(n).values():
        if len(of) > 2:  # places of more than two
            sides |= dict.fromkeys(of.values())
    for first, second in twins(n):
        sides |= {first: 1, second: -1}
    known = {w: side for w, side in sides.items() if side is not None}
    if not known and {ANSWERS.get(w.lower()) for w in n} == {0.0, 1.0}:
        yes = {w: int(2 * ANSWERS[w.lower()] - 1) for w in n}
        return Coding(yes, 1, *_ways([yes, _turned(yes)]))
    return Coding(known, unknown=tuple(w for w in n if w not in known))


def _turned(sides: dict[str, int]) -> dict[str, int]:
    return {w: -side for w, side in sides.items()}


def _ways(ways: list[dict[str, int]]) -> tuple[str, dict[str, dict[str, int]]]:
    """What is assumed, and the others, in words."""

    def says(sides: dict[str, int], *, first: bool) -> str:
        named = {s: ", ".join(sorted(w for w, side in sides.items() if side == s)) for s in (1, -1, 0)}
        tie = f", {named[0]} a tie" if named[0] else ""
        of = (1, -1) if first else (-1, 1)
        order = [f"the {'first' if s == 1 else 'second'} by {named[s]}" for s in of]
        return f"{', '.join(order)}{tie}"

    return says(ways[0], first=True), {says(way, first=way != _turned(ways[0])): way for way in ways[1:]}


def _in_numbers(number: dict[str, float], n: Mapping[str, int]) -> Coding:
    """Numbers: signs, places, shares of a win, or a scale from one side to the other."""
    levels = sorted(set(number.values()))
    often = {x: sum(n[w] for w, y in number.items() if y == x) for x in levels}

    def of(first: float, second: float) -> dict[str, int]:
        return {w: (x == first) - (x == second) for w, x in number.items()}

    def along(sign: int) -> dict[str, int]:
        middle = levels[0] + levels[-1]
        return {w: sign * ((2 * x > middle) - (2 * x < middle)) for w, x in number.items()}

    sure = 2
    if levels[0] < 0 < levels[-1]:
        ways = [{w: (x > 0) - (x < 0) for w, x in number.items()}]
        if set(levels) <= {-1, 0, 1}:
            return Coding(ways[0], sure)
    elif set(levels) in ({1, 2}, {1, 1.5, 2}):
        ways = [of(1, 2)]
    elif levels == [0, 1, 2]:
        ways = [of(1, 2), of(0, 1), of(0, 2)] if often[0] <= often[2] else [of(0, 1), of(1, 2), of(0, 2)]
    elif levels == [1, 2, 3]:
        sure, ways = 1, [of(1, 2), of(1, 3)] if often[3] <= often[2] else [of(1, 3), of(1, 2)]
    elif set(levels) in ({0, 0.5, 1}, {0, 1}):
        sure, ways = (2 if 0.5 in levels else 1), [of(1, 0)]
    elif len(levels) > 3 and levels[0] in (0, 1) and levels[-1] <= 10 and all(x % 1 == 0 for x in levels):
        sure, ways = 1, [along(-1)]
    else:
        return Coding({}, 0, unknown=tuple(n))
    return Coding(ways[0], sure, *_ways([*ways, _turned(ways[0])]))
