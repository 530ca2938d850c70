"""Options that were shown together: the score of those that were chosen, and the comparisons that scores imply."""

from __future__ import annotations

import itertools

import pandas as pd

from judgebook.sources.adapters.options.records import SCORE, VALUE, Records
from judgebook.sources.rows.cells import WHERE, WHERE_RECORD
from judgebook.sources.rows.spelling import SPELT
from judgebook.study import paths
from judgebook.study.schema import DataError, Problem

#: columns of ours that tell judgements of one option apart, besides the record
_WHO = ("corpus", "group", "annotator", "work_unit", "turn", "label")


def chosen(source: Records, cells: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    """Options with the score of having been chosen: `chosen` names what stands there, or its place.

    A place is what a name in `scores` stands for (`2`, or `b`), the name of its column, or a letter for a number (B for
    the second). Options that nobody filled in were not shown and have no score, nor has any where nothing was chosen.
    """
    scores, silent, once = pd.Series(0.0, cells.index), *(pd.Series(False, cells.index) for _ in range(2))
    shown = ~cells[VALUE].isin(source.na_values) & cells[VALUE].notna()
    first = ~cells[WHERE_RECORD].duplicated()
    hint = "correct it in the file, or the path in `chosen`"
    for path, score in source.chosen.items():
        picked = cells[path].astype(object).where(cells[path].notna(), "").astype(str).str.strip()
        missing = picked.isin(source.na_values)
        hit = shown & (cells[VALUE] == picked) & ~missing
        for place in _places(source, cells):
            hit |= shown & ~_any(cells, hit) & ~missing & (place == picked)
        for i in cells.index[~_any(cells, hit) & ~missing & first]:
            listed = ", ".join(cells.loc[shown & (cells[WHERE_RECORD] == cells.at[i, WHERE_RECORD]), VALUE])
            where = cells.at[i, "{file}"], cells.at[i, WHERE_RECORD], path
            problems.append(Problem(*where, f"one of {listed}", repr(picked[i]), hint))
        for i in cells.index[hit & once]:
            where = cells.at[i, "{file}"], cells.at[i, WHERE], path
            problems.append(Problem(*where, "an option not chosen before", repr(picked[i]), hint))
        once |= hit
        scores = scores.where(~hit, score)
        silent |= missing
    text = scores.map("{:g}".format).astype(object)
    return cells.assign(**{SCORE: text.where(~silent & shown, None)})


def _any(cells: pd.DataFrame, hit: pd.Series) -> pd.Series:
    """Whether any option of a record was hit."""
    return hit.groupby(cells[WHERE_RECORD]).transform("any")


def _places(source: Records, cells: pd.DataFrame) -> list[pd.Series]:
    """How the place of an option may be spelt, one after the other."""
    out = []
    for path in source.scores:
        names = paths.names(path)
        filled = pd.Series(path, cells.index)
        for name in names:
            held = cells[f"{{{name}}}"].fillna("").astype(str)
            number = held.where(held.str.fullmatch("[1-9]|1[0-9]|2[0-6]"), "0").astype(int)
            letter = number.map(lambda n: chr(64 + n) if n else None)
            out += [held, held.str.upper(), letter, letter.str.lower()]
            filled = pd.Series([f.replace(f"{{{name}}}", h) for f, h in zip(filled, held, strict=True)], cells.index)
        out += [filled] if names else []
    return out


def compared(source: Records, base: pd.DataFrame) -> pd.DataFrame:
    """Comparisons of every two options of a record, from a row for each option with its score.

    Returns rows as those of `base`, with `system_b`, `dialogue_b` and the score 1 where the first option is better, -1
    where the second is, 0 where both have the same score; None where either has none. Of options none of which was
    chosen, nothing is known, and nothing is returned. Where each record has one option only, those of one annotator
    with the same `context` are compared.

    Raises DataError where no two options are left to compare.
    """
    who = [c for c in _WHO if c in base]
    keys = ["_record", "file", *who]
    if not base.duplicated(keys).any() and "context" in base:
        keys = ["context", *who]
    number = pd.to_numeric(base["score"].map(lambda text: source.values.get(text, text)), errors="coerce")
    number = number if source.pairs == "high" else -number
    left, right = [], []
    for rows in base.groupby(keys, dropna=False, sort=False).groups.values():
        for a, b in itertools.combinations(rows, 2):
            if not (source.chosen and number[a] == number[b]) and base.at[a, "dialogue"] != base.at[b, "dialogue"]:
                left.append(a)
                right.append(b)
    if not left:
        hint = "`pairs` needs several options in a record, or records with one option each and the same `context`"
        raise DataError([Problem(source.file, "", "pairs", "two options to compare", "none", hint)])
    out, other = base.loc[left].reset_index(drop=True), base.loc[right].reset_index(drop=True)
    difference = number.loc[left].to_numpy() - number.loc[right].to_numpy()
    score = pd.Series(difference).map(lambda d: None if pd.isna(d) else int(d > 0) - int(d < 0)).astype(object)
    if SPELT in out:
        out[SPELT] = out[SPELT].fillna("") + other[SPELT].fillna("")
    return out.assign(system_b=other["system"], dialogue_b=other["dialogue"], score=score.where(score.notna(), None))
