"""A choice between two texts of a row whose systems no column names."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.words import CHOICE, is_prose, side_of
from judgebook.sources.nature import plain

_SIDE = re.compile(r"(?P<what>answer|response|reply|output|completion|generation|candidate|text|summary|translation)"
                   r"[ _.-]?(?P<side>[12ab]|left|right)", re.I)  # fmt: skip
_FIRST = ("1", "a", "left")
#: names of a column of numbers that may say which of two
_NUMBERED = {"label", "preference", "annotation", "vote", "rating", "judgment", "judgement", "gold"}


def between_texts(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """Two columns of texts, and one that says which of them is better: the systems are called after the columns."""
    if out.comparative or {"system", "label", "score"} & set(out.columns):
        return
    texts: dict[str, dict[bool, str]] = {}
    for column in cells:
        if (match := _SIDE.fullmatch(column)) and is_prose(cells[column]):
            texts.setdefault(match["what"].lower(), {})[match["side"].lower() in _FIRST] = column
    pairs = [sides for sides in texts.values() if len(sides) == 2]
    free = [c for c in cells if c and c not in out.columns.values() and c not in pairs]
    chosen = [c for c in free if _says_which(c, cells[c].str.strip(), numeric)]
    if len(pairs) != 1 or len(chosen) != 1:
        return
    first, second = pairs[0][True], pairs[0][False]
    item = out.columns.pop("dialogue", None)
    out.columns = {k: v for k, v in out.columns.items() if v not in (first, second)}
    out.columns |= {"context": item} if item else {}
    out.constants = {"system": first, "system_b": second}
    out.identify, out.identify_b = [item or "{row}", first], [item or "{row}", second]
    out.why["identify"] = "two texts of a row are compared"
    how = Answer("by columns: write them below `columns` as `system` and `system_b`, and drop `constants`")
    out.ask("system", "How are the two systems named?", f"{first} and {second}, after the texts", how)


def _says_which(column: str, held: pd.Series, numeric: dict[str, pd.Series]) -> bool:
    """Whether answers say which of two texts is better, each of them at times."""
    if column in numeric:
        named = CHOICE.search(column) or plain(column) in _NUMBERED
        return bool(named) and {1, 2} <= set(numeric[column].dropna()) <= {0, 1, 2}
    return {1, -1} <= {side_of(word) for word in held[held != ""].unique()} <= {1, 0, -1}
