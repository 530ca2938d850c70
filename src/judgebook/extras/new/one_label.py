"""Columns of scores that are named for annotators, systems or outcomes, and for no label: all are of one."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new import grids
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess, numbers
from judgebook.extras.new.roles import role_of
from judgebook.extras.new.words import ASPECT, PERSON, looks_like_model
from judgebook.study import paths

#: words in the names of models that other columns have, too
_PLAIN = re.compile(r"(?<![a-z])(?:(?:chat)?bot|model|system|auto|command|opt|classifier|turbo)(?![a-z])", re.I)
_NUMBERED = re.compile(r"(?:system|model|(?:chat)?bot)[ _-]?[a-z0-9]|[a-z0-9]+[ _-]?(?:chat)?bot", re.I)


def named_for_judges(out: Guess, columns: list[str]) -> bool:
    """Whether columns are called as people are, or as models that judged systems."""
    people, models = ({c for c in columns if is_one(c)} for is_one in (_names_a_person, _names_a_model))
    return len(columns) > 1 and people | models == {*columns} and bool(people or "system" in out.columns)


def named_for_systems(out: Guess, columns: list[str]) -> bool:
    """Whether columns are called as systems are, where nothing else names these."""
    free = "system" not in out.columns and not out.comparative
    return free and len(columns) > 1 and all(map(_names_a_model, columns)) and grids.named_grid(columns) is None


def _names_a_person(column: str) -> bool:
    return PERSON.fullmatch(column) is not None or role_of(column) == "annotator"


def _names_a_model(column: str) -> bool:
    """Whether a column is called as a model is, and no question about one: `gpt-4`, but not `Was the bot rude?`."""
    if ASPECT.search(column) or "?" in column or column.count(" ") > 2:
        return False
    return looks_like_model(_PLAIN.sub(" ", column)) or _NUMBERED.fullmatch(column) is not None


def one_label(out: Guess, cells: pd.DataFrame, columns: list[str], of_each: str) -> dict[str, str]:
    """Column -> the label of all. Others whose names follow the pattern are named in `skip_columns`.

    of_each : `annotator` or `system`, for which each is named.
    """
    before = {m[1] if (m := PERSON.fullmatch(c)) else "" for c in columns}
    pattern = (before.pop() if len(before) == 1 else "") + f"{{{of_each}}}"
    named = {c: m[1] for c in cells if c and (m := paths.pattern(pattern).fullmatch(c))}
    # somebody who always gave the same answer is one of them
    others = [c for c in named if c not in {*columns, *out.columns.values(), *out.metrics}]
    alike = [c for c in others if _is_one(c, of_each) and numbers(cells[c], out.na_values) is not None]
    if "each column" in out.answers:
        alike += _same_answers(out, cells, columns, [c for c in others if c not in alike])
    columns = [*columns, *alike]
    for column in alike:
        out.unused.pop(column, None)
    out.skip_columns = [c for c in others if c not in alike]
    out.scores, out.one_label = pattern, "better" if out.comparative else "score"
    out.annotators = [named[c] for c in columns] if of_each == "annotator" else []
    out.why["scores"] = f"by their names, one column per {of_each}"
    ways = [Answer('each is a label: `scores: "{label}"`, without `constants`')]
    if of_each == "annotator":
        ways.append(Answer("several people wrote in each: add `annotators: positions`"))
    assumed = f"one {of_each} each, with scores of one label, {out.one_label!r}; rename it after what was judged"
    out.ask(of_each, f"What are the columns {', '.join(columns)}?", assumed, *ways)
    return dict.fromkeys(columns, out.one_label)


def _same_answers(out: Guess, cells: pd.DataFrame, columns: list[str], others: list[str]) -> list[str]:
    """Columns that hold no other answers than those of others do, or numbers in their range, which may be a setting: as
    answered."""
    answers = {v.strip() for c in columns for v in cells[c]}
    alike = [c for c in others if set(cells[c].str.strip()) <= answers and not set(cells[c].str.strip()) <= {""}]
    scores = [v for c in columns if (v := numbers(cells[c], out.na_values)) is not None]
    low, high = min((v.min() for v in scores), default=0), max((v.max() for v in scores), default=0)
    numeric = {c: v for c in others if (v := numbers(cells[c], out.na_values)) is not None}
    alike = [c for c in alike if c not in numeric]
    for column in (c for c, held in numeric.items() if held.min() <= high and held.max() >= low):
        if f"label {column}" in out.answers:
            alike.append(column)
        else:
            yes = Answer("yes, as the other columns", given={f"label {column}": column})
            out.ask(f"label {column}", f"Does {column!r} hold judgements?", "no, it is left out", yes)
    return alike


def _is_one(column: str, of_each: str) -> bool:
    return _names_a_model(column) or (of_each == "annotator" and _names_a_person(column))


def refuse_systems(out: Guess, columns: list[str]) -> None:
    """Say how columns of one system each are read, where it is unknown who judged or what metrics belong to."""
    out.unused |= dict.fromkeys(columns, "named after a system, with no label")
    how = Answer('one system each: `scores: "{system}"` and `constants: {label: …}` (docs/own_data.md)')
    out.ask("labels", f"What are the columns {', '.join(columns)}?", "not read", how)
