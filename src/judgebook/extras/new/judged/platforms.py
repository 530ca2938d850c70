"""Columns of an annotation platform itself: nobody judged by them, whatever numbers they hold."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new.columns import Guess, ask_if_answers
from judgebook.sources.nature import nature, plain
from judgebook.sources.rows import numbers

#: names that stand for something of the platform beside others of its own, and for what people judged elsewhere
_EITHER = {"trust", "confidence", "agreement", "reputation"}
_OWN = {
    *("tainted", "golden", "gold", "missed", "channel", "unitstate", "trustedjudgments", "lastjudgmentat"),
    *("createdat", "startedat", "submittedat", "accepttime", "submittime", "assignmentid", "assignmentstatus", "hitid"),
    *("hittypeid", "approvaltime", "reward", "country", "region", "city", "ip", "poolid", "tasksuiteid"),
}
#: what is taken to be right of a column
_GOLD = re.compile(r"(.+)_gold(?:_reason)?")
#: so many names of a platform's own make a family
_FAMILY = 3


def set_apart(out: Guess, cells: pd.DataFrame) -> pd.DataFrame:
    """`cells` without the platform's own columns, which are noted as unused.

    By their names alone, or, where a name may be that of a label, as fractions up to 1 in a family of such names. What
    is taken to be right stands beside what people answered, in some rows only: where it fills all, it is asked about.
    """
    said = {*out.columns.values(), *(c for c in cells if f"label {c}" in out.answers)}
    bare = {c: plain(c) for c in cells if c not in said}
    family = sum(name in _OWN for name in map(plain, cells)) >= _FAMILY
    own = {c for c in bare if nature(c, cells[c]).kind == "platform"}
    own |= {c for c, name in bare.items() if family and name in _EITHER and _share(cells[c])}
    own |= (gold := {c for c in bare if (m := _GOLD.fullmatch(c)) and m[1] in cells})
    for column in (c for c in gold if cells[c].ne("").all()):
        ask_if_answers(out, column)
    out.unused |= dict.fromkeys([c for c in bare if c in own], "of the platform itself: nobody judged by it")
    return cells.drop(columns=list(own))


def _share(values: pd.Series) -> bool:
    """Whether values are fractions from 0 to 1."""
    number = numbers.read(values[values.str.strip() != ""])
    return bool(len(number) and number.between(0, 1).all() and (number % 1 != 0).any())
