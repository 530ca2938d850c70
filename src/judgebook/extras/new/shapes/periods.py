"""Weeks, months, releases and other periods of judgements: in the names of files, or in a column."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from judgebook.annotations.periods import why_unordered
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.sources.nature import nature, plain

#: what columns of periods are called
_COLUMNS = (
    "period",
    "week",
    "calendarweek",
    "isoweek",
    "month",
    "quarter",
    "sprint",
    "release",
    "woche",
    "kw",
    "monat",
)
_YEAR = r"(?:19|20)[0-9]{2}"
#: 2026-W09, 2026-Q1, 2026-10, 2026_10_03, 20261003; week 9, release-1.10; 10-03-26, whose order is not clear
_PERIOD = re.compile(
    rf"(?<![0-9])(?:{_YEAR}(?:[-_. ]?(?:W|KW|Q)[0-9]{{1,2}}|(?P<s>[-_.])[01]?[0-9](?:(?P=s)[0-3]?[0-9])?|[0-9]{{4}})"
    r"|[0-9]{1,2}(?P<t>[-_.])[0-9]{1,2}(?P=t)(?:[0-9]{4}|[0-9]{2}))(?![0-9])"
    r"|(?<![a-z])(?:week|kw|month|quarter|sprint|release|wave)[-_. ]?[0-9]+(?:\.[0-9]+)*",
    re.I,
)
_HOW = "with numbers and the year first, such as 2026-W09 or 2026-10-03"


def of_files(names: list[str]) -> tuple[str, str]:
    """The pattern of files that differ in a week, month or other period only, '' for others; and why it does not tell
    the order of the periods, '' where it does."""
    found = [_PERIOD.search(name) for name in names]
    around = {(m.string[: m.start()], m.string[m.end() :]) for m in found if m}
    periods = {m[0] for m in found if m}
    if None in found or len(around) != 1 or len(periods) < 2:
        return "", ""
    return "{period}".join(*around), why_unordered(periods)


def apart(source: dict[str, Any], tables: Iterable[pd.DataFrame]) -> dict[str, Any]:
    """Changes of a source with {period} in the name of its files that keep the items of different periods apart, path
    -> value; none where no id of an item comes in two files."""
    columns, identify = source.get("columns", {}), dict(source.get("identify", {}))
    ids = identify.get("dialogue") or [columns.get("dialogue")]
    if None in ids:
        return {}
    seen: set[tuple[str, ...]] = set()
    again = False
    for table in tables:
        here = set(table[ids].itertuples(index=False, name=None))
        again |= not seen.isdisjoint(here)
        seen |= here
    if not again:
        return {}
    changes: dict[str, Any] = {"identify": identify | {"dialogue": ["{period}", *ids]}, "columns.dialogue": None}
    if "context" in columns:
        changes["identify"]["context"] = ["{period}", columns["context"]]
        changes["columns.context"] = None
    return changes


def column(out: Guess, cells: pd.DataFrame) -> None:
    """A column that is called a week, month or other period; where its values do not tell their order, ask for it."""
    named = [c for c in cells if plain(c) in _COLUMNS and c not in out.columns.values() and len(cells[c].unique()) > 1]
    if "period" in out.columns or len(named) != 1:
        return
    values = cells[named[0]].str.strip()
    if why_unordered(values[~values.isin(out.na_values)]):
        how = Answer(f"that of time: write them {_HOW}, and `columns: {{period: {named[0]}}}`")
        out.ask("period", f"In which order do the values of {named[0]!r} come?", "none, so it is not read", how)
    else:
        out.columns["period"], out.why["period"] = named[0], "by its name"


def dates(out: Guess, cells: pd.DataFrame) -> None:
    """How the one column of dates that is not used could be."""
    found = [
        c for c in cells if c in out.unused and nature(c, cells[c].where(~cells[c].isin(out.na_values))).kind == "date"
    ]
    if len(found) != 1 or "period" in out.columns or "completed_at" in out.columns:
        return
    year_first = cells[found[0]].str.match(rf"\s*(?:{_YEAR}[-/.]|\s*$)").all()
    how = f"`columns: {{completed_at: {found[0]}}}` and `over_time: {{every: week}}` compare weeks"
    out.unused[found[0]] += f"; {how}" if year_first else f"; write the year first, such as 2026-10-03, then {how}"
