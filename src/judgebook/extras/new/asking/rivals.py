"""Columns of a table that could name the system, the annotator or the item as well as those that were taken."""

from __future__ import annotations

import pandas as pd

from judgebook.extras.new import roles
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.sources.nature import NAMES, plain

_TEXT = {
    "system": "Which column names the system?",
    "annotator": "Who judged?",
    "dialogue": "What is one item?",
}
#: at most so many are offered
_MOST = 4
_KEYS = ("dialogue", "system", "annotator", "turn", "label")


def compare(out: Guess, cells: pd.DataFrame) -> None:
    """Note rivals of each role; ask where one is named for the role, too, and makes rows as distinct."""
    free = [c for c in out.unused if c in cells]
    for role, text in _TEXT.items():
        chosen = out.columns.get(role) or (out.columns.get("context") if role == "dialogue" else None)
        named = [c for c in free if plain(c) in NAMES[role] or roles.role_of(c) == role]
        if chosen in cells:
            rivals = [c for c in named if not out.comparative and _as_distinct(out, cells, role, str(chosen), c)]
            if rivals and all(q.fact != _fact(role) for q in out.questions):
                ways = [Answer(f"the column {c!r}", given={role: c}) for c in rivals[:_MOST]]
                out.ask(_fact(role), text, f"the column {chosen!r}", *ways, evidence=out.why.get(role, ""))
        else:
            most = roles.MOST_SYSTEMS if role == "system" else len(cells)
            naming = [c for c in free if roles.names_something(c, cells[c]) and cells[c].nunique() <= most]
            rivals = [*(c for c in naming if c in named), *(c for c in naming if c not in named)]
        out.rivals[role] = rivals[:_MOST]


def _fact(role: str) -> str:
    return "item" if role == "dialogue" else role


def _as_distinct(out: Guess, cells: pd.DataFrame, role: str, chosen: str, rival: str) -> bool:
    """Whether a column groups rows otherwise than the one taken, and leaves as few rows that repeat a judgement."""
    if not 1 < cells[rival].nunique() < len(cells) or cells[rival].str.strip().eq("").any():
        return False
    pairs = cells[[chosen, rival]].drop_duplicates()
    if len(pairs) == cells[chosen].nunique() == cells[rival].nunique():
        return False
    held = {ours: out.columns[ours] for ours in _KEYS if ours in out.columns} | {role: chosen}
    keys, others = list(held.values()), list((held | {role: rival}).values())
    return int(cells.duplicated(others).sum()) <= int(cells.duplicated(keys).sum())
