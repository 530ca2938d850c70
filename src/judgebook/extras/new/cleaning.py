"""What stands in the cells of a table and is no answer: words and codes for missing values, rows that sum up others."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import COUNT, MAX_LEVELS, Guess, numbers
from judgebook.sources import filters
from judgebook.sources.accounts import levels
from judgebook.sources.in_words import counted
from judgebook.sources.nature import NOTHING
from judgebook.sources.rows import numbers as number_texts
from judgebook.study import limits


def missing_words(out: Guess, column: str, values: pd.Series, labels: list[pd.Series]) -> None:
    """Words in a column of numbers: those that mean no answer, and few odd ones, are missing values.

    labels : columns that say what was judged; where a label has words only, these are its answers.
    """
    held = values.str.strip()
    held = held[(held != "") & ~held.isin(out.na_values)]
    number = number_texts.read(held)
    words = list(held[number.isna()].unique())
    if not words or number.notna().mean() < 0.7 or len(words) > 3 or number.nunique() > MAX_LEVELS:
        return
    by_label = (label[held.index] for label in labels)
    if any(set(label[number.isna()]).isdisjoint(label[number.notna()]) for label in by_label):
        return
    if max(map(len, words)) > limits.YAML_TEXT:  # no word, and longer than a YAML may say
        return
    out.na_values += words
    if not all(w.lower() in NOTHING for w in words):
        shown = ", ".join(repr(w[: limits.QUOTED]) for w in words)
        number_of = Answer("a score: `values` says which number, and `na_values` does not list it")
        out.ask(
            f"no answer in {column}", f"What is {shown} in {column!r}, a column of numbers?", "no answer", number_of
        )


def codes(out: Guess, column: str, values: pd.Series) -> None:
    """A number away from the levels of a rating that surveys write where nobody answered."""
    number = numbers(values, out.na_values)
    if number is None:
        return
    stand = levels.apart(number)
    if stand is None or 0 in stand[0] or COUNT.search(column):
        return
    alone, (low, *_, high) = stand
    spelt = sorted({v for v, n in zip(values.str.strip(), number, strict=True) if n in alone})
    out.na_values += [v for v in spelt if v not in out.na_values]
    n = int(number.isin(alone).sum())
    listed = ", ".join(spelt)
    levels_too = Answer("a score: delete it from `na_values` and set `scale`")
    evidence = f"away from the levels {low:g} to {high:g}"
    text = f"What is {listed} in {column!r} ({n} times)?"
    out.ask(f"no answer in {column}", text, "no answer (`na_values`)", levels_too, evidence=evidence)


_SUMMARY = re.compile(
    r"(?:(?:grand |over)?(?:total|all)|sum|mean|average|avg|median|std|sd|st\.? ?dev\.?|mittel(?:wert)?|summe"
    r"|moyenne|media|promedio|平均|合计)[.:]?",
    re.I,
)


def summary_rows(out: Guess, cells: pd.DataFrame) -> None:
    """Rows below the data that sum them up: their first cell says so, and other names are empty."""
    for column in [c for c in cells if c][:3]:
        held = cells[column].str.strip()
        last = held[held.str.fullmatch(_SUMMARY)]
        names = [
            c for c in cells if c and c != column and (cells[c].str.strip().ne("")).sum() >= len(cells) - len(last) - 1
        ]
        blank = cells.loc[last.index, names].apply(lambda x: x.str.strip().eq("")).any(axis=1) if len(last) else last
        if len(last) and len(last) <= 6 and blank.all() and set(last.index) == set(cells.index[-len(last) :]):
            out.drop[column] = sorted(set(last))
            out.warnings.append(
                f"the last {counted(len(last), 'row')} ({', '.join(last)}) sum up the others: left out (`drop`)"
            )
            return


def rows_left_out(out: Guess, cells: pd.DataFrame) -> pd.Series:
    """Rows that `drop` leaves out."""
    return filters.dropped(cells, {}, {c: v for c, v in out.drop.items() if c in cells}, cells.index)[0].notna()


def self_comparisons(out: Guess, cells: pd.DataFrame) -> pd.DataFrame:
    """Comparisons of a system with itself, or of a dialogue with itself, which say nothing: `cells` without them."""
    role = "dialogue" if "dialogue_b" in out.columns else "system"
    left, right = out.columns.get(role), out.columns.get(f"{role}_b")
    if left is None or right is None:
        return cells
    rule = {left: f"= {right}"}
    odd = filters.dropped(cells, {}, rule, cells.index)[0].notna()
    if odd.any() and not odd.all():
        out.drop |= rule
        n = counted(int(odd.sum()), "row")
        out.warnings.append(f"{n} with the same {role} on both sides, which compare nothing: left out (`drop`)")
    return cells[~odd] if not odd.all() else cells
