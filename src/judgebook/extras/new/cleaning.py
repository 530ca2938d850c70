"""What stands in the cells of a table and is no answer: words and codes for missing values, rows that sum up others."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.extras.new.asking.doubts import Answer, Doubts
from judgebook.extras.new.columns import COUNT, MAX_LEVELS, Guess, numbers
from judgebook.extras.new.words import ANSWERS
from judgebook.sources import filters
from judgebook.sources.accounts import levels, summaries
from judgebook.sources.in_words import counted
from judgebook.sources.nature import NOTHING
from judgebook.sources.rows import numbers as number_texts
from judgebook.study import limits


def missing_words(out: Guess, column: str, values: pd.Series, labels: list[pd.Series]) -> None:
    """Words in a column of numbers: those that mean no answer, and few odd ones, are missing values.

    labels : columns that say what was judged; where a label has words only, these are its answers.
    """
    held = codes.texts_of(values).stripped
    number = {text: n for text, n in zip(held.distinct, number_texts.of(held.distinct), strict=True) if text}
    number = {text: n for text, n in number.items() if text not in out.na_values}
    words = [text for text, n in number.items() if np.isnan(n)]
    if not 0 < len(words) <= 3 or len(set(number.values())) - len(words) > MAX_LEVELS:
        return
    rows, odd = (sum(map(held.n.__getitem__, some)) for some in (number, words))
    if (rows - odd) / rows < 0.7:
        return
    is_word, is_number = (values.str.strip().isin(some) for some in (words, set(number) - set(words)))
    if any(set(label[is_word]).isdisjoint(label[is_number]) for label in labels):
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


#: what programs write where nothing is
_WRITTEN = {"n/a", "na", "nan", "null", "none", "-", "."}


def _none(word: str) -> bool:
    return word.lower() == "none"


def of_nothing(out: Guess, column: str, words: list[str], odd: list[str]) -> list[str]:
    """Those of `odd`, which may stand for no answer, that are answers of a column beside `words`: it is asked.

    None of several kinds is an answer, as of errors; beside yes and no it is none.
    """
    said = out.answers.get(key := f"nothing in {column}")
    several = not {word.lower() for word in words} <= {*ANSWERS}
    kept = [w for w in odd if w not in out.na_values and (said == "answer" or (not said and several and _none(w)))]
    out.na_values += [w for w in odd if w not in [*kept, *out.na_values]]
    asked = [w for w in odd if w.lower() not in _WRITTEN or _none(w)] if not said else []
    if asked:
        shown, ways = ", ".join(map(repr, asked)), ["no answer (`na_values`)", "an answer (`categories`)"]
        other = Answer(ways[not kept], given={key: "nothing" if kept else "answer"})
        out.ask(f"no answer in {column}: {shown}", f"What is {shown} in {column!r}?", ways[bool(kept)], other)
    return kept


#: so many answers show what is usual among them; of so many, one may be a slip
_ENOUGH, _ONE_IN = 20, 50


def few(n: int, of: int) -> bool:
    """Whether `n` answers unlike the others may be slips."""
    return of >= _ENOUGH and 0 < n <= max(1, of // _ONE_IN)


def texts(cells: pd.DataFrame) -> dict[str, codes.Texts]:
    """The texts of each column, without blanks around them."""
    return {column: codes.texts_of(cells[column]).stripped for column in cells}


def stray_numbers(out: Guess, held: dict[str, codes.Texts], column: str) -> None:
    """Few numbers among answers in words. held : `texts` of all columns."""
    number = dict(zip(held[column].distinct, ~np.isnan(held[column].numbers), strict=True))
    odd = [text for text, is_one in number.items() if is_one and text not in out.na_values]
    words = [text for text, is_one in number.items() if not is_one and text not in out.na_values]
    if odd and 1 < len(words) <= 8 and not _elsewhere(held, column, odd):
        slips(out, held, column, odd, sum(map(held[column].n.__getitem__, odd)))


def slips(out: Guess, held: dict[str, codes.Texts], column: str, words: list[str], times: int) -> bool:
    """Whether `words`, answers of a column that are unlike its others, are so few that they are none; it is asked.

    A value that is usual in another column would be missing there as well, so it is only asked. held : `texts` of all
    columns. times : how often the words are there.
    """
    n = sum(many for text, many in held[column].n.items() if text not in out.na_values)
    if not few(times, n) or len(words) > 3:
        return False
    shown = ", ".join(repr(w[: limits.QUOTED]) for w in words)
    fact = f"no answer in {column}: {shown}"
    text, evidence = f"What is {shown} in {column!r}?", f"{times} of {n:,} answers"
    if _elsewhere(held, column, words):
        by_hand = Answer("slips: correct them in the file")
        out.ask(fact, text, f"not known, so {column!r} is not read", by_hand, evidence=evidence)
        return False
    out.na_values += words
    answer = Answer("an answer: `values` or `categories` says which, and `na_values` does not list it")
    out.ask(fact, text, "no answer (`na_values`)", answer, evidence=evidence)
    return True


def _elsewhere(held: dict[str, codes.Texts], column: str, words: list[str]) -> bool:
    """Whether values are those of another column, and no slips there as well."""
    return any(_usual(of, words) for c, of in held.items() if c != column)


def _usual(held: codes.Texts, words: list[str]) -> bool:
    n = sum(held.n.get(word, 0) for word in words)
    return n > 0 and (not few(n, len(held.code)) or len(held.distinct) * 5 > len(held.code))


def rare_answers(out: Doubts, name: str, held: pd.Series) -> None:
    """Ask of answers in words that hardly anybody gave: they count as the others do."""
    counts = held.value_counts()
    sure = len(held) >= 2 * _ONE_IN  # of fewer answers, only a number among words is surely odd
    rare = [word for word, n in counts.items() if few(n, len(held)) and (sure or word.isdecimal())]
    if rare and len(rare) < len(counts) - 1:
        shown = ", ".join(repr(w[: limits.QUOTED]) for w in rare[:4])
        evidence = f"{int(counts[rare].sum())} of {len(held):,} answers"
        none = Answer("no answer: list it in `na_values`, and not in `categories`")
        out.ask(
            f"no answer in {name}: {shown}",
            f"What is {shown} in {name!r}?",
            "answers as the others",
            none,
            evidence=evidence,
        )


def codes_apart(out: Guess, column: str, values: pd.Series) -> None:
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


def summary_rows(out: Guess, cells: pd.DataFrame) -> None:
    """Rows below the data that sum them up, where a column names each of them."""
    last = cells.loc[summaries.rows(cells)]
    for column in [c for c in cells if c] if len(last) else ():
        words = last[column].str.strip()
        if words.str.fullmatch(summaries.WORD).all():
            out.drop[column] = sorted(set(words))
            listed = f"the last {counted(len(words), 'row')} ({', '.join(words)})"
            out.warnings.append(f"{listed} sum up the others: left out (`drop`)")
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
