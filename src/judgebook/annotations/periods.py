"""Weeks, releases or other periods of judgements, and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

import pandas as pd

from judgebook.study.schema import Annotations

Every: TypeAlias = Literal["day", "week", "month", "year"]
#: how periods are called that are made from times
_FORMATS: dict[Every, str] = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
_NUMBER = re.compile(r"(\d+)")
#: Q4 2025, W9 2026, 3/10/2026; 3.10. without a year; 10-03-26 and 10.03.26, of which any number may be the year (a
#: version such as 1.10.2 has no leading zeros)
_YEAR_LAST = re.compile(
    r"\D*\d{1,2}\D+(?:\d{1,2}\D+)?\d{4}\D*|\d{1,2}\. ?\d{1,2}\.|\d{1,2}([-/_ ])\d{1,2}\1\d{1,2}|\d\d\.\d\d\.\d\d"
    r"|\d{1,2}[-/]\d{1,2}"
)


def periods(annotations: Annotations, every: Every) -> pd.Series:
    """(annotations,) the period of each judgement, missing where it is not known.

    The column `period`; where no judgement has one, the day, ISO week, month or year of `completed_at`.
    """
    if annotations["period"].notna().any() or annotations["completed_at"].isna().all():
        return annotations["period"]
    return annotations["completed_at"].dt.strftime(_FORMATS[every]).astype("str")


def in_order(names: Iterable[str]) -> list[str]:
    """Periods from the first to the last, by the numbers in their names. See `why_unordered`."""
    return sorted(set(names), key=lambda name: [int(number) for number in _NUMBER.findall(name)])


def why_unordered(names: Iterable[str]) -> str:
    """Why the names do not say in which order periods come; '' where they do.

    They do if they differ in numbers only, the largest unit first: 2026-W09, 2026-10-03, week 7, v1.10.
    """
    names = sorted(set(names))
    shapes = {_NUMBER.sub("#", name): name for name in reversed(names)}
    if len(shapes) > 1 or (shapes and "#" not in next(iter(shapes))):
        examples = " and ".join(repr(name) for name in sorted(shapes.values())[:2])
        wrong = f"periods such as {examples}"
    elif any(_YEAR_LAST.fullmatch(name) for name in names):
        wrong = f"periods such as {names[0]!r}"
    else:
        numbers = [tuple(int(number) for number in _NUMBER.findall(name)) for name in names]
        if len(set(numbers)) == len(names):
            return ""
        twice = next(n for n in numbers if numbers.count(n) > 1)
        wrong = "periods such as " + " and ".join(
            repr(name) for name, number in zip(names, numbers, strict=True) if number == twice
        )
    return f"The order of {wrong} is not clear: write numbers with the year first, such as 2026-W09, 2026-10-03 or 9."
