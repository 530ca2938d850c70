"""Rows that hold more than one judgement: items or systems side by side, and several answers in a cell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from judgebook import codes
from judgebook.extras.new import roles
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import MAX_LEVELS, Guess, add_label, is_rating, numbers
from judgebook.extras.new.judged.words import answered, divides, in_rows, split
from judgebook.extras.new.shapes import items, places
from judgebook.extras.new.words import ANSWERS, ASPECT, SHORT, is_prose, label_id
from judgebook.sources import json_text
from judgebook.sources.in_words import counted
from judgebook.sources.nature import plain
from judgebook.sources.rows import numbers as number_texts
from judgebook.study.schema import DataError

_INDEXED = re.compile(r"(.*?[^0-9])([0-9]{1,2})")
#: different answers at most of which a cell holds several
_MOST_ANSWERS = 30
_JSON = re.compile(r'["{}[\]]')


def items_beside(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> bool:
    """Items side by side in a row, with what was shown and what was answered: Input.text12, Answer.fluency12."""
    parts = {c: m.groups() for c in cells if (m := _INDEXED.fullmatch(c))}
    answers: dict[str, list[str]] = {}
    shown: dict[str, list[str]] = {}
    for base, index in parts.values():
        (answers if base.startswith("Answer.") else shown if base.startswith("Input.") else {}).setdefault(
            base, []
        ).append(index)
    full = max(answers.values(), key=len, default=[])
    answers = {b: ix for b, ix in answers.items() if sorted(ix) == sorted(full)}
    at = places.roles(places.shown(cells, sorted(full, key=int))) if len(full) > 1 else {}
    numbered = any(set(ix) <= {i[: len(ix[0])] for i in full} for ix in shown.values())
    if len(full) < 2 or not answers or not (numbered or at):
        return False
    grids = {base: _answers(out, cells, [base + i for i in full]) for base in answers}
    for base in [b for b, number in grids.items() if number is None]:
        out.unused |= dict.fromkeys([base + i for i in full], "answers in words: declare the label with `categories`")
        del grids[base]
    if not grids:
        return False
    two = all(len(i) == 2 for i in full) and len({i[0] for i in full}) * len({i[1] for i in full}) == len(full)
    names = "{i}{j}" if two else "{i}"
    out.repeated = ["{i}", "{j}"] if two else ["{i}"]
    out.columns = {k: v for k, v in out.columns.items() if v not in parts and k not in ("dialogue", "label", "score")}
    out.scores = "Answer.{label}" + names
    for base, number in grids.items():
        out.score_columns += [base + i for i in full]
        add_label(out, base.removeprefix("Answer."), number)
    for base, index in shown.items():
        if len(index[0]) > (2 if two else max(map(len, full))) or len(index) < 2:
            continue
        held = cells[base + index[0]]
        name = plain(base.removeprefix("Input."))
        place = names if len(index) == len(full) else "{i}"
        if is_prose(held):
            ours = "system_text" if place == names else "user_text"
        elif re.search(r"sys|model|bot", name):
            ours = "system"
        else:
            continue
        if ours not in out.columns:
            out.columns[ours] = base + place
            out.score_columns += [base + i for i in index]
    item = next((c for c in ("HITId", "HITID") if c in cells), None)
    ids = [item] if item else ["{row}"]
    out.identify = [*ids, *out.repeated]
    if not numbered:  # in lists
        out.columns |= {ours: path for ours, path in at.items() if ours != "dialogue"}
        out.identify = [at["dialogue"]] if "dialogue" in at else out.identify
    out.columns = {k: v for k, v in out.columns.items() if v != item}
    out.why["identify"] = "items stand side by side in a row"
    return True


def systems_beside(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> bool:
    """Several systems in a row, each with its scores: system1, system2, … and quality1, quality2, …"""
    families: dict[str, list[str]] = {}
    for base, index in (m.groups() for c in cells if (m := _INDEXED.fullmatch(c))):
        families.setdefault(base, []).append(index)
    same = [b for b, ix in families.items() if len(ix) > 1 and roles.role_of(b.rstrip("_ .-")) == "system"]
    if len(same) != 1 or (
        "system" in out.columns and out.columns["system"] not in {same[0] + i for i in families[same[0]]}
    ):
        return False
    index = families[same[0]]
    rated = [
        b
        for b, ix in families.items()
        if b != same[0] and sorted(ix) == sorted(index) and _judged(out, cells, [b + i for i in ix], b)
    ]
    if not rated:
        return False
    items.of_options(out, cells, [same[0] + i for i in index], same[0] + "{i}")
    separator = next((c for c in "_ .-" if all(b.endswith(c) for b in rated)), "")
    out.repeated, out.scores = ["{i}"], f"{{label}}{separator}{{i}}"
    for base in rated:
        name = base.removesuffix(separator)
        in_rows(out, name, pd.concat([cells[base + i] for i in index], ignore_index=True).to_frame(name))
        id_ = out.labels[name][0]
        if name in out.categories or out.labels[name][2] > MAX_LEVELS:
            none = Answer("no judgements: delete it from `labels`", {f"labels.{id_}": None})
            out.ask(f"label {name}", f"What are {base}{index[0]}, {base}{index[1]}, …?", "a label", none)
    out.columns["system"] = same[0] + "{i}"
    out.score_columns = [b + i for b in (same[0], *rated) for i in index]
    out.more.append(items.alternative("high"))
    free = [b for b in rated if any(_magnitudes(b, numeric[b + i]) for i in index if b + i in numeric)]
    if free:
        shown = ", ".join(f"{b}1, {b}2, …" for b in free)
        out.warnings.append(f"{shown}: numbers without an upper end: means follow the largest, `pairs: high` does not")
    return True


def _judged(out: Guess, cells: pd.DataFrame, columns: list[str], name: str) -> bool:
    """Whether columns of one name hold answers of people, or magnitudes."""
    held = pd.concat([cells[c] for c in columns], ignore_index=True)
    number = numbers(held, out.na_values)
    return answered(out, held, name) or (number is not None and _magnitudes(name, number))


def _magnitudes(name: str, values: pd.Series) -> bool:
    """Whether an aspect of quality was given in numbers of any size, as in magnitude estimation."""
    return bool(ASPECT.search(name) and values.min() > 0 and values.nunique() > MAX_LEVELS)


def ask_beside(out: Guess, cells: pd.DataFrame) -> None:
    """Ask whether numbered labels are one label of several items, where the names of these are numbered as well."""
    if any(line.startswith("chosen") for line in out.more):  # what stands side by side are the options
        return
    families: dict[str, set[str]] = {}
    for base, index in (m.groups() for c in cells if (m := _INDEXED.fullmatch(c))):
        families.setdefault(base, set()).add(index)
    for base, index in families.items():
        judged = {base + i for i in index} <= set(out.score_columns)
        named = [b for b, ix in families.items() if b != base and ix >= index and roles.role_of(b[:-1]) == "system"]
        named += [b for b, ix in families.items() if ix >= index and roles.role_of(b) == "system" and b not in named]
        if judged and len(index) > 2 and named:
            how = f"several items, of systems in {named[0]}1, …: `adapter: records`, {{i}} in `identify`"
            how += f" and `scores: {base}{{i}}`"
            out.ask("item", f"What are {base}1, {base}2, …?", "labels of one item", Answer(how))


def several_answers(out: Guess, cells: pd.DataFrame) -> None:
    """Columns whose cells hold several answers from a small set, as from "mark all that apply"."""
    for column in cells.columns.difference([*out.columns.values(), *out.score_columns], sort=False):
        texts = codes.texts_of(cells[column]).stripped.distinct
        if any(map(_JSON.search, texts)):
            continue
        for divider in (d for d in (";", "|", ",") if any(d in text for text in texts)):
            if len({part for many in split(texts, divider) for part in many if part}) > _MOST_ANSWERS:
                continue
            held = cells[column].str.strip()
            parts = pd.Series(split(held[held != ""], divider), dtype=object)
            each = parts.explode()
            each = each[each != ""]  # a divider at the end
            several = parts.str.len().gt(1)
            # a few words that come once are slips of the pen
            usual = each.map(each.value_counts()).ge(3).mean() >= 0.9
            few = 1 < each.nunique() <= _MOST_ANSWERS and usual and each.str.len().max() <= SHORT
            once = parts.map(lambda many: len(set(many)) == len(many)).all()
            if several.any() and few and once and divides(parts) and pd.to_numeric(each, errors="coerce").isna().all():
                out.sets[column] = divider, [*sorted(set(each)), *(["none"] if (held == "").any() else [])]
                out.unused.pop(column, None)
                out.skip_columns += [column] * (out.scores == "{label}" and label_id(column) == column)
                out.warnings = [w for w in out.warnings if not w.startswith(f"{column!r} holds answers in words")]
                empty = int((held == "").sum())
                if empty:
                    unjudged = Answer("no judgements: delete `empty: none`", {"sources.*.empty": None})
                    applies = "judgements that nothing applies (`empty: none`)"
                    text = f"What do the empty cells of {column!r} mean?"
                    out.ask(f"no answer in {column}", text, applies, unjudged, evidence=counted(empty, "empty cell"))
                break
    if out.sets and not out.labels:
        out.warnings = [w for w in out.warnings if not w.startswith("no column looks like ratings")]


def ask_of_digits(out: Guess, cells: pd.DataFrame) -> None:
    """Ask of columns whose cells are as many low digits each, such as 21110, whether each is a judgement."""
    taken = {*out.columns.values(), *out.score_columns, *out.identify}
    for column in cells.columns.difference([*taken], sort=False):
        texts = [text for text in codes.texts_of(cells[column]).stripped.distinct if text not in out.na_values]
        if len(texts) < 4 or not all(re.fullmatch(r"[0-7]{3,9}", text) for text in texts):
            continue
        places = [*zip(*texts, strict=False)]
        if len({*map(len, texts)}) == 1 and len({*"".join(texts)}) <= 6 and sum(len({*p}) > 1 for p in places) > 2:
            how = Answer(f"{len(places)} judgements, a digit each: make a column of each, or lists such as [2, 1, 0]")
            assumed = "an id or a number, and left out"
            out.ask(f"label {column}", f"What is {texts[0]}, a cell of {column!r}?", assumed, how)


def json_of(cells: Iterable[str]) -> list[Any] | None:
    """What texts hold as JSON, None where one is empty; None where they hold anything but objects and lists."""
    held = [text.strip() for text in cells]
    if not any(held) or not all(text.startswith(("{", "[")) for text in held if text):
        return None
    try:
        return [json_text.parse(text, "") if text else None for text in held]
    except (ValueError, DataError):
        return None


def rated_lists(out: Guess, cells: pd.DataFrame) -> None:
    """Columns of lists of ratings, such as `[3, 5, 5]`, on the scale of another label if there is one, and ask."""
    scales = [(low, high) for _, low, high, _ in out.labels.values()]
    for column in [c for c in cells if c and c not in {*out.columns.values(), *out.score_columns}]:
        first = next((text for text in cells[column] if text.strip()), "")
        parsed = json_of(cells[column]) if first.lstrip().startswith("[") else None
        lists = [x for x in parsed or [] if x]
        if not lists or not all(
            isinstance(v, int | float) for x in lists for v in (x if isinstance(x, list) else [""])
        ):
            continue
        held = pd.Series([v for x in lists for v in x], dtype=float)
        within = not scales or any(low <= held.min() and held.max() <= high for low, high in scales)
        if len(held) < 2 * len(lists) or held.min() == held.max() or not within or not is_rating("c", held):
            continue
        known = "annotator" in out.columns
        text = f"Whose are the numbers of each list in {column!r}?"
        ways = ["several people's, one each, by their place", "one person's, of occasions or parts of the item"]
        how = Answer(f"{ways[not known]}: `[{'annotator' if known else 'part'}]` in `scores`, and in `identify`")
        out.ask("item: lists" if known else "annotator", text, ways[known], how)
        add_label(out, column, held)
        out.skip_columns += [column] if out.lists or len(out.labels) > 1 else []
        out.lists.append(column)
        out.unused.pop(column, None)


def _answers(out: Guess, cells: pd.DataFrame, columns: list[str]) -> pd.Series | None:
    """The answers in columns of one label as numbers; None where they are words other than yes and no."""
    held = pd.concat([cells[c].str.strip() for c in columns])
    held = held[(held != "") & ~held.isin(out.na_values)]
    number = number_texts.read(held)
    if number.isna().any():
        number = held.str.lower().map(ANSWERS)
        if number.isna().any():
            return None
        out.values |= dict(zip(held, number, strict=True))
    return number
