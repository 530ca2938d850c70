"""Columns of scores that are named for annotators, systems or outcomes, and for no label: all are of one."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.extras.new import grids
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess, ask_if_answers, numbers
from judgebook.extras.new.roles import role_of
from judgebook.extras.new.words import A_SYSTEM, ASPECT, PERSON, looks_like_model
from judgebook.study import paths

#: words in the names of models that other columns have, too
_PLAIN = re.compile(r"(?<![a-z])(?:(?:chat)?bot|model|system|auto|command|opt|classifier|turbo)(?![a-z])", re.I)
#: answers at most where most may say one, and rows in which people differ that show it, at least
_LEVELS, _DIFFER = 16, 3
_DIVIDED = re.compile(r"(?<=[_ .-])|[0-9]+$")
_DERIVED = re.compile(r"major|consens|final|gold|aggreg|mode$|adjud|agreed|mehrheit", re.I)


def of_most(cells: pd.DataFrame) -> dict[str, list[str]]:
    """Columns that hold in each row what most of three or more columns beside them hold, which are named, too."""
    held = {c: codes.texts_of(cells[c]).stripped for c in cells if c}
    levels = {c: {*of.distinct} - {""} for c, of in held.items() if len(of.distinct) <= _LEVELS}
    found = {}
    for column in (c for c, of in levels.items() if len(of) > 1):
        alike = [c for c, of in levels.items() if c != column and len(of & levels[column]) * 2 > len(of)]
        for ends in (str.startswith, str.endswith):
            parts = _DIVIDED.split(column)
            shared = [c for c in alike if ends(c, parts[0 if ends is str.startswith else -1])]
            for of in (alike, shared):
                if len(of) > 2 and _what_most_say(cells[column].str.strip(), cells[of]):
                    found[column] = of
    own = {c: of for c, of in found.items() if not any(c in found.get(o, ()) for o in of)}
    return own or {c: of for c, of in found.items() if _DERIVED.search(c)}


def _what_most_say(column: pd.Series, votes: pd.DataFrame) -> bool:
    """Whether a column is in each row what most others say, also in rows where these differ."""
    code = np.unique(votes.apply(lambda c: c.str.strip()).to_numpy(str), return_inverse=True)
    names, rows = code[0], code[1].reshape(len(votes), -1)
    count = (rows[:, :, None] == np.arange(len(names))).sum(axis=1)
    count[:, names == ""] = 0
    sort = np.sort(count, axis=1)
    clear = sort[:, -1] > sort[:, -2] if len(names) > 1 else np.zeros(len(votes), dtype=bool)
    same = column.to_numpy(str) == names[count.argmax(axis=1)]
    differ = clear & (sort[:, -2] > 0)
    return bool(differ.sum() >= _DIFFER and same[clear].all())


def without_majorities(out: Guess, cells: pd.DataFrame) -> pd.DataFrame:
    """`cells` without columns that only say what most people said, which are asked about."""
    for column, votes in of_most(cells).items():
        if column not in out.columns.values() and f"label {column}" not in out.answers:
            why = f"what most of {', '.join(votes[:4])}{', …' * (len(votes) > 4)} say in each row"
            out.unused[column] = why
            ask_if_answers(out, column, why)
            cells = cells.drop(columns=column)
    return cells


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
    return looks_like_model(_PLAIN.sub(" ", column)) or A_SYSTEM.fullmatch(column) is not None


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
    ways = [Answer('each is a label: `scores: "{label}"`, without `constants`', given={"each column": "label"})]
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
