"""What stands in the cells of a table and is no answer: words and codes for missing values, rows that sum up others."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new.asking.question import Answer
from judgebook.extras.new.columns import COUNT, MAX_LEVELS, Guess, numbers
from judgebook.sources.in_words import counted
from judgebook.sources.nature import NOTHING
from judgebook.study import limits


def missing_words(out: Guess, column: str, values: pd.Series) -> None:
    """Words in a column of numbers: those that mean no answer, and few odd ones, are missing values."""
    held = values.str.strip()
    held = held[(held != "") & ~held.isin(out.na_values)]
    number = pd.to_numeric(held.str.replace(",", ".", regex=False), errors="coerce")
    words = list(held[number.isna()].unique())
    if not words or number.notna().mean() < 0.7 or len(words) > 3 or number.nunique() > MAX_LEVELS:
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


#: numbers that stand for no answer in exports of surveys and annotation tools
_CODES = (-1, -9, -50, -77, -88, -98, -99, -999, 9, 88, 98, 99, 999, 9999)


def codes(out: Guess, column: str, values: pd.Series) -> None:
    """A number away from the levels of a rating that surveys write where nobody answered."""
    number = numbers(values, out.na_values)
    if number is None:
        return
    seen = sorted(set(number.dropna()))
    codes = [n for n in seen if n in _CODES]
    levels = [n for n in seen if n not in codes]
    if not codes or not 3 <= len(levels) <= 11 or any(n % 1 for n in levels) or COUNT.search(column):
        return
    low, high = levels[0], levels[-1]
    alone = [n for n in codes if n < low - 1 or n > high + 1]
    if not alone or alone != codes or high - low + 1 != len(levels) or high > 10 or low < -3:
        return
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
    left_out = pd.Series(False, cells.index)
    for column, values in out.drop.items():
        if column in cells:
            left_out |= cells[column].str.strip().isin([values] if isinstance(values, str) else values)
    return left_out
