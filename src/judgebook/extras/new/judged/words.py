"""Answers in words: as numbers, in an order, or without one where they differ between those who judged one item."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.cleaning import rare_answers
from judgebook.extras.new.columns import (
    Guess,
    add_label,
    ask_if_answers,
    ask_if_judged,
    decimal_commas,
    is_rating,
    numbers,
)
from judgebook.extras.new.roles import QUESTIONS
from judgebook.extras.new.words import ANSWERS, ASPECT, label_id, number_in, ranked
from judgebook.sources.nature import NOTHING, nature
from judgebook.sources.rows import numbers as number_texts

#: so many items with differing answers, and so many people with several, show that people judged
_ITEMS, _PEOPLE = 0.1, 0.5
#: different answers without an order at most, and characters of one
_FEW_WORDS, _SHORT = 8, 30
#: what everybody says yes to who may take part
_AGREED = re.compile(r"consent|terms|agree|english|native|adult|participat", re.I)


def differing(out: Guess, cells: pd.DataFrame) -> dict[str, list[str]]:
    """Column -> its answers, of columns that are said neither of an item nor of a person, but of both together."""
    who = out.columns.get("annotator")
    item = [out.columns[c] for c in ("dialogue", "system", "turn") if c in out.columns]
    if who is None or "dialogue" not in out.columns:
        return {}
    found = {}
    keys = cells[[*dict.fromkeys([*item, who])]]  # all columns would be copied for each
    for column in cells.columns.difference([*out.columns.values(), *out.categories], sort=False):
        held = cells[column].str.strip()
        given = held[~held.isin(out.na_values) & ~held.str.lower().isin(NOTHING)]
        distinct = given.drop_duplicates()
        several = any(divides(split(distinct, divider)) for divider in ";|,")  # of "mark all that apply"
        several |= given.str.startswith(("[", "{")).any()  # JSON
        if len({*given}) == 1 and not _AGREED.search(column):  # nobody found any of it, say
            if given.iloc[0].lower() in ANSWERS:
                ask_if_answers(out, column, f"it says {given.iloc[0]!r} in every row")
            elif ASPECT.search(column):
                how = Answer("yes: declare a label, with all answers that were offered as `categories`")
                text, evidence = f"Does {column!r} hold judgements?", "the same word in every row"
                out.ask(f"label {column}", text, "no, it is left out", how, evidence=evidence)
        said, unsure = f"label {column}" in out.answers, not several and _may_be_answers(column, given)
        if unsure:
            ask_if_answers(out, column)
        if several or given.nunique() < 2 or not (nature(column, given).kind == "words" or (said and unsure)):
            continue
        systems = set(cells[out.columns["system"]].str.strip()) if "system" in out.columns else set()
        if set(given) <= systems or any(asked.search(column) for asked in QUESTIONS.values()):
            continue  # a choice between systems says nothing of one reply
        rows = keys.loc[given.index]
        by_item = given.groupby([rows[c] for c in item])
        by_person = given.groupby(rows[who]).nunique()
        again = by_item.size() > 1
        differ = again.any() and by_item.nunique()[again].gt(1).mean() > _ITEMS and by_person.gt(1).mean() > _PEOPLE
        if differ or said:
            found[column] = sorted(given.unique())
            rare_answers(out, column, given)
        elif not set(given) <= set(out.values):  # which make a label of it
            ask_if_judged(out, cells, column)
    return found


def _may_be_answers(column: str, given: pd.Series) -> bool:
    """Whether few short texts below the name of an aspect of quality may be answers, though too few rows show it."""
    few = 1 < given.nunique() <= _FEW_WORDS and given.str.len().max() <= _SHORT
    return bool(ASPECT.search(column)) and few and nature(column, given).kind in ("names", "text", "id")


def split(held: pd.Series, divider: str) -> pd.Series:
    return held.str.split(divider, regex=False).map(lambda many: [part.strip() for part in many])


def divides(parts: pd.Series) -> bool:
    """Whether cells in parts hold several answers each: not so if, as in `greeting, or thanks`, no part is without the
    others."""
    distinct = [*dict.fromkeys(map(tuple, parts))]
    cells_of: dict[str, set[int]] = {}
    for i, many in enumerate(distinct):
        for part in many:
            cells_of.setdefault(part, set()).add(i)
    return any(cells_of[part] != cells_of[many[0]] for many in distinct for part in many)


def as_numbers(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """Columns of yes and no, or of numbers with words, as numbers; what the reader does not take for one goes to
    `values`."""
    values, worded = {}, []
    for column in (c for c in cells if c not in numeric):
        text = cells[column].str.strip()
        words = text[~text.isin(out.na_values)]
        distinct = pd.Series({word: word for word in words.unique()}, dtype=object)
        plain = number_texts.read(distinct)
        number = plain if plain.notna().all() else distinct.str.lower().map(ANSWERS)
        if number.isna().any():
            number = distinct.map(number_in)
        varies = len({*number}) > 1 and is_rating(column, number)
        if words.empty or number.isna().any() or not (varies or f"label {column}" in out.answers):
            continue
        if nature(column, words).kind == "date" and f"label {column}" not in out.answers:  # 10-03-26 is no 10
            continue
        values[column] = words.map(number).reindex(cells.index)
        out.values |= number[plain.isna()].to_dict()
        worded += [column] if plain.isna().any() else []
    if worded:
        shown = ", ".join(worded[:8]) + (f" and {len(worded) - 8} more" if len(worded) > 8 else "")
        hint = "if answers have no order, use `categories` instead"
        out.warnings.append(f"`values` turns answers into numbers in: {shown}; {hint}")
    return values


def answered(out: Guess, held: pd.Series, name: str) -> bool:
    """Whether cells below a name hold what people may have answered: ratings, sliders or few words."""
    held = held.str.strip()
    number = numbers(held, out.na_values)
    if number is None:
        number = decimal_commas(name, held, out.na_values)
    if number is not None:
        return is_rating(name, number) or nature(name, held[number.notna()]).kind == "slider"
    held = held[~held.isin(out.na_values)]
    return bool(len(held)) and (nature("answer", held).kind == "words" or set(held.str.lower()) <= set(ANSWERS))


def in_rows(out: Guess, name: str, answers: pd.DataFrame) -> bool:
    """Declare a label by its answers, one column of a table: numbers, words that stand for some, or words.

    Other labels of the same column may have others. False where the words are too many to be answers.
    """
    ((column, held),) = answers.items()
    number = numbers(held, out.na_values)
    number = as_numbers(out, answers, {}).get(str(column)) if number is None else number
    if number is None:
        seen = sorted(w for w in held.str.strip().unique() if w not in out.na_values)
        if steps := ranked(seen) or (seen if nature("answer", held).kind == "words" else None):
            out.categories[name] = steps
            out.labels[name] = (label_id(name), 1, len(steps), True)
            return True
    add_label(out, name, pd.Series(dtype=float) if number is None else number)
    return number is not None
