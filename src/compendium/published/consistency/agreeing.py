"""What agrees: every check of a paper that fails nowhere, with what is printed and what other numbers allow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import pandas as pd

from compendium.published.consistency.analysis import Audit, by_check
from compendium.published.consistency.rules import CONSISTENT
from compendium.published.mapping import title
from compendium.published.numbers import PLACE
from judgebook.display.text import Phrases
from judgebook.display.views import Prose, Table

_PHRASES = Phrases(__package__)
#: rules whose evidence repeats the printed number: a sentence lists them
BRIEF = ("copy", "distinct")
#: that numbers are within the range of their unit says little; an order that explains a failure is no agreement
LEFT_OUT = ("range", "reordered")
#: a check made in more places shows the first only; of bounds, which say less, fewer are shown
MOST_PLACES, MOST_BOUNDS = 9, 4
_BOUND = re.compile(r"expected (?:at|more|less) ")
#: what separates a check in words from what is printed
_PRINTED = " Printed "


def views(audited: Audit, papers: Collection[str]) -> Iterator[Table | Prose]:
    """For each of `papers`: a table of the checks that fail nowhere and agree somewhere, and a sentence that lists
    numbers printed more than once. Places where a check could not be made are left out."""
    checks = by_check(audited.checks)
    agree = checks[(checks["kind"] == CONSISTENT) & checks["paper"].isin(papers) & ~checks["rule"].isin(LEFT_OUT)]
    groups = dict(list(audited.checks[audited.checks["outcome"] == CONSISTENT].groupby(["paper", "check"])))
    for paper, name in audited.titles.items():
        rows = agree[agree["paper"] == paper]
        places = [groups[paper, check] for check in rows.loc[~rows["rule"].isin(BRIEF), "check"]]
        frame = pd.DataFrame({"Check": [_evidence(p) for p in places], "Places": [len(p) for p in places]})
        yield Table(frame, f"agree_{paper}", f"{name}: checks that agree, and in how many places.")
        again = [_again(groups[paper, check]) for check in rows.loc[rows["rule"].isin(BRIEF), "check"]]
        yield Prose(_PHRASES.say("again", paper=name, again=again) if again else "")


def _evidence(places: pd.DataFrame) -> str:
    """The evidence of the first place, what is printed and expected in the others, and what is assumed."""
    first, *others = map(_without_rounding, places["evidence"])
    sentences, most = [first], MOST_BOUNDS if _BOUND.search(first) else MOST_PLACES
    if others and len(places) <= most and all(_PRINTED in text for text in others):
        tails = [_short(text.rpartition(_PRINTED)[2]) for text in others]
        sentences.append(f"Also {'; '.join(map(' '.join, zip(_names(places)[1:], tails, strict=True)))}.")
    elif others:
        sentences.append(f"The same in {len(others)} other place{'s' if len(others) > 1 else ''}.")
    if assumed := places["assumes"].iloc[0]:
        sentences.append(f"If {assumed}.")
    return " ".join(sentences)


def _without_rounding(evidence: str) -> str:
    """`Printed 7.43, expected …` of `Printed 7.43 (7.425 to 7.435), expected …`."""
    return re.sub(rf"({_PRINTED}\S+) \([^()]*\)(?=[,;])", r"\1", evidence)


def _short(tail: str) -> str:
    """`7.43 (7.421 to 7.430)` of `7.43, expected 7.421 to 7.430.`"""
    return re.sub(r"(?:, expected|; the columns allow) (.*)", r" (\1)", tail.rstrip("."))


def _names(places: pd.DataFrame) -> list[str]:
    """What tells the targets of a check apart, as readers know it."""
    paper = places["paper"].iloc[0]
    parts = places["target"].str.partition(":")[2].str.split("/", expand=True).set_axis(PLACE, axis=1)
    parts = parts[[part for part in parts if parts[part].unique().size > 1]]
    return [", ".join(title(paper, part) for part in row) for row in parts.itertuples(index=False)]


def _again(places: pd.DataFrame) -> str:
    """The first check in words, with the numbers printed in all places."""
    claim = places["evidence"].iloc[0].partition(_PRINTED)[0].rstrip(".")
    return f"{claim} ({', '.join(places['printed'])})"
