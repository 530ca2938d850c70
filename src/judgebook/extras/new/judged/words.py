"""Answers in words: as numbers, in an order, or without one where they differ between those who judged one item."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import takewhile

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.cleaning import of_nothing, rare_answers
from judgebook.extras.new.columns import (
    Guess,
    add_label,
    ask_if_answers,
    ask_if_judged,
    is_rating,
    numbers,
    share,
    units,
    within,
)
from judgebook.extras.new.roles import QUESTIONS
from judgebook.extras.new.words import ANSWERS, ASPECT, COMMENT, label_id, number_in, ranked
from judgebook.sources.nature import FEW_WORDS, NOTHING, nature
from judgebook.sources.rows import numbers as number_texts

#: so many items with differing answers, and so many people with several, show that people judged
_ITEMS, _PEOPLE = 0.1, 0.5
#: characters of an answer in words
_SHORT = 30
#: an option of those that say no number
_NO_ANSWER = re.compile(r"\(?(?:n/?a|none|other|unclear|unsure)\)? ?[:=–-] ", re.I)
#: what everybody says yes to who may take part
_AGREED = re.compile(r"consent|terms|agree|english|native|adult|participat", re.I)


def differing(out: Guess, cells: pd.DataFrame) -> dict[str, list[str]]:
    """Column -> its answers, of columns that are said neither of an item nor of a person, but of both together."""
    who = out.columns.get("annotator")
    item = [out.columns[c] for c in ("dialogue", "system", "turn") if c in out.columns]
    if who is None or "dialogue" not in out.columns:
        return {}
    found = {}
    units_of_item, people = units(cells, item), units(cells, [who])
    systems = {*codes.texts_of(cells[out.columns["system"]]).stripped.distinct} if "system" in out.columns else set()
    for column in cells.columns.difference([*out.columns.values(), *out.categories], sort=False):
        held = codes.texts_of(cells[column]).stripped
        odd = [text for text in held.distinct if text.lower() in NOTHING]
        none = {text for text in odd if text.lower() == "none"}  # may be an answer
        there = held.rows({*held.distinct}.difference(out.na_values, {*odd} - none).__contains__)
        given = held.only(there)
        words = [*given.distinct]
        if len(words) > FEW_WORDS:
            continue
        several = any(divides(split(words, divider)) for divider in ";|,")  # of "mark all that apply"
        several |= any(text.startswith(("[", "{")) for text in words)  # JSON
        if len(words) == 1 and not _AGREED.search(column):  # nobody found any of it, say
            if words[0].lower() in ANSWERS:
                ask_if_answers(out, column, f"it says {words[0]!r} in every row")
            elif ASPECT.search(column):
                how = Answer("yes: declare a label, with all answers that were offered as `categories`")
                text, evidence = f"Does {column!r} hold judgements?", "the same word in every row"
                out.ask(f"label {column}", text, "no, it is left out", how, evidence=evidence)
        said, unsure = f"label {column}" in out.answers, not several and _may_be_answers(column, given)
        if unsure:
            ask_if_answers(out, column)
        if several or len(words) < 2 or not (nature(column, given).kind == "words" or (said and unsure)):
            continue
        if COMMENT.search(column) and not (there.all() or said):
            ask_if_answers(out, column)
            continue
        if set(words) <= systems or any(asked.search(column) for asked in QUESTIONS.values()):
            continue  # a choice between systems says nothing of one reply
        rows, different = within(units_of_item[there], given.code)
        _, of_person = within(people[there], given.code)
        differ = share(different[rows > 1] > 1) > _ITEMS and share(of_person > 1) > _PEOPLE
        if differ or said:
            words = [w for w in words if w not in odd]
            words += of_nothing(out, column, words, odd)
            found[column] = sorted(sorted(words), key=lambda w: ANSWERS.get(w.lower(), 0))
            rare_answers(out, column, cells[column].str.strip()[there])
        elif not set(words) <= set(out.values):  # which make a label of it
            ask_if_judged(out, cells, column)
    return found


def _may_be_answers(column: str, given: codes.Texts) -> bool:
    """Whether few short texts below the name of an aspect of quality may be answers, though too few rows show it."""
    few = 1 < len(given.distinct) <= FEW_WORDS and max(map(len, given.distinct)) <= _SHORT
    return bool(ASPECT.search(column)) and few and nature(column, given).kind in ("names", "text", "id")


def is_few(held: pd.Series) -> bool:
    """Whether cells hold few short texts, as answers do."""
    distinct = {text for text in codes.texts_of(held).stripped.distinct if text}
    return 1 < len(distinct) <= FEW_WORDS and max(map(len, distinct)) <= _SHORT


def split(held: Iterable[str], divider: str) -> list[list[str]]:
    return [[part.strip() for part in text.split(divider)] for text in held]


def divides(parts: Iterable[list[str]]) -> bool:
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
        held, said = codes.texts_of(cells[column]).stripped, f"label {column}" in out.answers
        given = [text for text in held.distinct if text not in out.na_values]
        none = [text for text in given if _NO_ANSWER.match(text)]
        odd = [text for text in given if text.lower() in NOTHING]
        odd = odd if {text.lower() for text in given} <= {*ANSWERS, *NOTHING} else []  # beside yes and no
        words = held.only(held.rows({*given}.difference(none, odd).__contains__))
        plain = number_texts.of(words.distinct)
        number = _numbers_of(words.distinct, plain)
        named = "c" if np.isnan(plain).all() else column  # yes and no are no count, whatever they are called
        if not number or not (said or (len({*number}) > 1 and is_rating(named, pd.Series(number, dtype=float)))):
            continue
        if nature(column, words).kind == "date" and not said:  # 10-03-26 is no 10
            continue
        if of_nothing(out, column, [*words.distinct], odd):
            continue
        out.na_values += none
        of_word = dict(zip(words.distinct, number, strict=True))
        every = np.array([*(of_word.get(text, np.nan) for text in held.distinct), np.nan], dtype=float)
        values[column] = pd.Series(every[held.code], cells.index)
        spelt = {word: of_word[word] for word, n in zip(words.distinct, plain, strict=True) if np.isnan(n)}
        out.values |= spelt
        worded += [column] if spelt else []
    if worded:
        shown = ", ".join(worded[:8]) + (f" and {len(worded) - 8} more" if len(worded) > 8 else "")
        hint = "if answers have no order, use `categories` instead"
        out.warnings.append(f"`values` turns answers into numbers in: {shown}; {hint}")
    return values


def yes_and_no(out: Guess, held: dict[str, pd.Series]) -> list[str]:
    """Labels of yes and no, by their cells, that become categories where others have these words among more."""
    named = {w for words in out.categories.values() for w in words}
    words = {x: {*codes.texts_of(cells).stripped.distinct}.difference(out.na_values) for x, cells in held.items()}
    found = [x for x, of in words.items() if of <= {*out.values} and not named.isdisjoint(out.values)]
    out.categories |= {x: sorted(words[x], key=out.values.__getitem__) for x in found}
    named = {w for words in out.categories.values() for w in words}
    out.values = {w: v for w, v in out.values.items() if w not in named}
    return found


def _numbers_of(words: Collection[str], plain: np.ndarray) -> list[float] | None:
    """The number of each word: as it is read (`plain`), else of yes and no, else the one in it; None where not all have
    one."""
    if not np.isnan(plain).any():
        return plain.tolist()
    for tell in (lambda word: ANSWERS.get(word.lower()), number_in):
        number = [n for n in takewhile(lambda n: n is not None, map(tell, words)) if n is not None]
        if len(number) == len(words):
            return number
    return None


def answered(out: Guess, held: pd.Series, name: str) -> bool:
    """Whether cells below a name hold what people may have answered: ratings, sliders or few words."""
    number = numbers(held, out.na_values)
    if number is not None:
        return is_rating(name, number) or nature(name, held.str.strip()[number.notna()]).kind == "slider"
    texts = codes.texts_of(held).stripped
    texts = texts.only(texts.rows(lambda text: text not in out.na_values))
    yes_or_no = all(text.lower() in ANSWERS for text in texts.distinct)
    few = len(texts.distinct) <= FEW_WORDS
    return bool(len(texts)) and (yes_or_no or (few and nature("answer", texts).kind == "words"))


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
            out.labels[name] = (label_id(out.called.get(name, name)), 1, len(steps), True)
            return True
    add_label(out, name, pd.Series(dtype=float) if number is None else number)
    return number is not None
