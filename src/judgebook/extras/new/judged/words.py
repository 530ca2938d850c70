"""Answers in words without a known order that people judged by: they differ between those who judged one item."""

from __future__ import annotations

import pandas as pd

from judgebook.extras.new.cleaning import rare_answers
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.roles import QUESTIONS
from judgebook.sources.nature import NOTHING, nature

#: so many items with differing answers, and so many people with several, show that people judged
_ITEMS, _PEOPLE = 0.1, 0.5


def differing(out: Guess, cells: pd.DataFrame) -> dict[str, list[str]]:
    """Column -> its answers, of columns that are said neither of an item nor of a person, but of both together."""
    who = out.columns.get("annotator")
    item = [out.columns[c] for c in ("dialogue", "system", "turn") if c in out.columns]
    if who is None or "dialogue" not in out.columns:
        return {}
    found = {}
    for column in cells.columns.difference([*out.columns.values(), *out.categories], sort=False):
        held = cells[column].str.strip()
        given = held[~held.isin(out.na_values) & ~held.str.lower().isin(NOTHING)]
        several = given.str.contains(r"[;|,]").any()  # of "mark all that apply"
        if several or nature(column, given).kind != "words" or given.nunique() < 2:
            continue
        systems = set(cells[out.columns["system"]].str.strip()) if "system" in out.columns else set()
        if set(given) <= systems or any(asked.search(column) for asked in QUESTIONS.values()):
            continue  # a choice between systems says nothing of one reply
        rows = cells.loc[given.index]
        by_item = given.groupby([rows[c] for c in item])
        by_person = given.groupby(rows[who]).nunique()
        again = by_item.size() > 1
        if again.any() and by_item.nunique()[again].gt(1).mean() > _ITEMS and by_person.gt(1).mean() > _PEOPLE:
            found[column] = sorted(given.unique())
            rare_answers(out, column, given)
    return found
