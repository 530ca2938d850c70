"""Which columns of a wide table hold scores, of which labels: a pattern of their names where they show one."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.extras.new import grids
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import (
    COUNT,
    FAR_SHARE,
    Guess,
    add_label,
    ask_if_answers,
    ask_if_judged,
    is_rating,
    left_out,
    numbers,
    one_an_item,
    rated,
    share,
    units,
    whatever_its_name,
    within,
)
from judgebook.extras.new.judged.gold import named_for_gold
from judgebook.extras.new.judged.means import means
from judgebook.extras.new.judged.words import answered, differing
from judgebook.extras.new.one_label import named_for_judges, named_for_systems, one_label, refuse_systems, winners
from judgebook.extras.new.shapes import beside
from judgebook.extras.new.words import ASPECT, CHOICE, label_id, ranked
from judgebook.sources.nature import NOTHING, Nature, nature, plain
from judgebook.sources.rows import numbers as number_texts

_SAME = "the same for all annotators of an item"
#: rows from which two columns that say the same are one
_FEW_ROWS = 4


def wide(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """Score columns: a grid of labels and annotators where the names show one, else one column per label."""
    numeric, ratings = _ratings(out, cells, _said_once(out, cells, numeric))
    of = _labels(out, cells, numeric, ratings)
    if of is None:
        return
    scores: dict[str, list[pd.Series]] = {}
    for column, label in of.items():
        if column in numeric:
            scores.setdefault(label, []).append(numeric[column])
    for label, many in scores.items():
        add_label(out, label, pd.concat(many) if len(many) > 1 else many[0])
    out.score_columns = list(of)
    _categories(out, of)
    grids.others(out, cells, of)
    free = [c for c in numeric if c not in of and c not in out.metrics]
    left_out(out, free)
    rest = cells.columns.difference([*out.columns.values(), *numeric, *out.categories, *out.sets], sort=False)
    texts = {c: [text for text in codes.texts_of(cells[c]).distinct if text not in out.na_values] for c in rest}
    commas = [c for c in rest if not np.isnan(number_texts.of(texts[c])).any()]
    judged = [c for c in free if nature(c, cells[c]).judged or ASPECT.search(c)]
    for column in (c for c in judged + commas if not COUNT.search(c)):
        ask_if_judged(out, cells, column)
    choices = [] if out.comparative else [name for name in out.labels if CHOICE.search(name)]
    if choices:
        out.a_choice(choices)
    if not out.labels:
        _say_what_is_missing(out, cells)


def _said_once(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """Without answers in words that say what another column says in numbers: PASS beside 1 in every row."""
    given = {c for c in numeric if numbers(cells[c], out.na_values) is not None and len({*numeric[c].dropna()}) > 1}
    again: dict[str, str] = {}
    for column in numeric.keys() - given if len(cells) >= _FEW_ROWS else ():
        same = [c for c in given if numeric[c].equals(numeric[column]) and f"label {column}" not in out.answers]
        again |= dict(zip([column], same, strict=False))
    for column in (c for c in numeric if c in again):
        ask_if_answers(out, column, f"it says in words what {again[column]!r} says in numbers")
        out.unused[column] = f"says in words what {again[column]!r} says in numbers"
    return {c: v for c, v in numeric.items() if c not in again}


def _ratings(
    out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]
) -> tuple[dict[str, pd.Series], dict[str, pd.Series]]:
    """Columns of numbers that people may have given, and those of them that are ratings; metrics are noted."""
    measured = {c for c in numeric if numbers(cells[c], out.na_values) is not None}
    every, numeric = numeric, _judged(out, cells, numeric)
    said = {c for c in numeric if f"label {c}" in out.answers}
    ratings = {c: v for c, v in numeric.items() if c in said or is_rating(c, v) or rated(out, cells, c, v)}
    ratings |= _named_otherwise(out, {c: v for c, v in every.items() if c not in ratings}, ratings)
    if len(one_an_item(out, cells, ratings)) == len(ratings):  # none at all, or none that people gave
        ratings |= _sliders(out, {c: v for c, v in numeric.items() if c not in ratings})
    free = {c: v for c, v in numeric.items() if c not in ratings}
    ratings |= _sliders(out, {c: v for c, v in free.items() if f"label {c}" in out.answers or _differs(out, cells, c)})
    ratings = _places_of_sides(out, _sides_only(out, ratings))
    if not out.comparative:
        worded = _judged(out, cells, _ordered(out, cells))
        of_item = one_an_item(out, cells, worded)
        out.unused |= dict.fromkeys(of_item, _SAME)
        ratings |= {c: v for c, v in worded.items() if c not in of_item}
        out.without(*(f"label {c}" for c, v in ratings.items() if c in measured and v.min() < v.max()))
    numeric |= ratings
    shared = one_an_item(out, cells, [c for c in ratings if c not in said])
    # of a pair: what was shown, not how well it did. In words: how the item was made, no metric
    none = shared if out.comparative or len(shared) == len(ratings) else [c for c in shared if c not in measured]
    out.unused |= dict.fromkeys(none, _SAME)
    for column in shared:
        del ratings[column]
        if column not in none:
            text, evidence = f"What is {column!r}?", "it is the same for all annotators of an item"
            by_model = Answer("judgements by a model: put them in rows of their own and list it in `judges`")
            out.ask(f"metric {column}", text, "a metric", by_model, evidence=evidence)
    fractions = [c for c, v in numeric.items() if c not in ratings and (v.dropna() % 1 != 0).any()]
    if not out.comparative:
        for column in [c for c in fractions if _differs(out, cells, c)]:
            fractions.remove(column)
            ratings[column] = numeric[column]
            out.warnings.append(f"{column!r}: fractions that differ between annotators of an item: treated as a label")
        of_people = means(numeric, fractions, list(ratings))
        fractions = [c for c in fractions if c not in of_people]
        ratings |= {c: numeric[c] for c in of_people}
        if of_people:
            out.warnings.append(
                f"{', '.join(of_people)}: fractions as means of a few people have them, treated as labels; "
                "if a program computed them, write them below `metrics`"
            )
    out.metrics = list(dict.fromkeys(fractions + [c for c in shared if c not in (*none, *ratings)]))
    return numeric, ratings


def _named_otherwise(out: Guess, others: dict[str, pd.Series], ratings: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """Columns of the levels of other labels below a name of something else; asks of others that may be labels."""
    scales = [set(v.dropna()) for v in ratings.values()]
    found = {c: whatever_its_name(out, c, v, scales) for c, v in others.items()}
    for column in (c for c, judged in found.items() if judged is None and c in out.unused and not out.comparative):
        ask_if_answers(out, column)
    labels = {c: others[c] for c, judged in found.items() if judged and not out.comparative}
    out.unused = {c: why for c, why in out.unused.items() if c not in labels}
    return labels


def _labels(
    out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series], ratings: dict[str, pd.Series]
) -> dict[str, str] | None:
    """The label of each score column, whose pattern is noted; None where the columns are no scores of labels."""
    columns, by_person = list(ratings), "annotator" in out.columns
    named, outcomes = grids.named_grid(columns), winners(out, numeric, columns)
    if named is None and not out.comparative:
        free = cells.columns.difference([*out.columns.values(), *numeric], sort=False)
        worded = [c for c in free if numbers(cells[c], out.na_values) is None and answered(out, cells[c], c)]
        named = grids.named_grid([*columns, *worded]) if worded else None
    if named and by_person and "dialogue" not in out.columns:
        out.scores, of = named[0].replace("{annotator}", "{dialogue}"), named[1]
        out.repeated = ["{dialogue}"]
        out.why["scores"] = "the columns form a grid of dialogues and labels"
    elif outcomes[0]:
        of = outcomes[0]
        numeric |= outcomes[1]
    elif _counts(out, ratings) or _wins(out, cells, columns):
        return None
    elif (each := out.answers.get("each column")) == "label":
        of = {c: c for c in columns}
    elif each:
        of = one_label(out, cells, columns, each)
    elif by_text := beside.systems(out, cells, columns):
        of = by_text
    elif named_for_systems(out, columns):
        if not by_person or out.metrics:
            refuse_systems(out, columns)
            return None
        of = one_label(out, cells, columns, "system")
    elif "turn" not in out.columns and (by_turn := grids.turns(columns)):
        out.scores, of, out.first_turn = by_turn
        out.why["scores"] = "the columns form a grid of turns and labels"
    elif named and by_person and "system" not in out.columns:
        out.scores, of = named[0].replace("{annotator}", "{system}"), named[1]
        out.why["scores"] = "the columns form a grid of labels and, it seems, systems"
        text = "What do the names of columns combine with a label?"
        out.ask("system", text, "the system", Answer("something else: change `scores`"))
    elif not by_person and (named_for_judges(out, columns) or named_for_gold(out, numeric, columns)):
        of = one_label(out, cells, columns, "annotator")
    elif not by_person and (by_grid := grids.grid(columns) or named):
        out.scores, of = by_grid
        out.why["scores"] = "the columns form a grid of labels and annotators"
        of = _same_pattern(out, of, list(numeric))
    else:
        out.scores, of = grids.named_alike(columns)
        out.why["scores"] = "each column that looks like ratings is treated as a label"
    return of


def _counts(out: Guess, ratings: dict[str, pd.Series]) -> bool:
    """Whether columns say how many gave each answer, or the ranks of systems: then their sum is always the same."""
    sums = pd.DataFrame(ratings).sum(axis=1, min_count=len(ratings)) if len(ratings) > 2 else pd.Series(dtype=float)
    if len(sums) < 5 or len(set(sums)) != 1:
        return False
    out.unused |= dict.fromkeys(ratings, "not ratings: these columns add up to the same sum in every row")
    ways = [Answer("counts of answers: `scores` with {score} and `count`"), Answer("ranks: `scores` with {system}")]
    text = f"What are {', '.join(list(ratings)[:8])}?"
    out.ask("labels", text, "no judgements", *ways, evidence=f"they add up to {sums.iloc[0]:g} in every row")
    return True


def _wins(out: Guess, cells: pd.DataFrame, columns: list[str]) -> bool:
    """Whether columns and rows are named for the same systems."""
    rows = cells[next(iter(cells))].str.strip() if len(cells.columns) else pd.Series(dtype=str)
    if len(columns) < 2 or not set(columns) <= set(rows):
        return False
    out.unused |= dict.fromkeys(columns, "named after a system, with no label")
    how = 'yes: `adapter: records`, `scores: "{system_b}"` and `count: "{value}"` (docs/own_data.md)'
    out.ask("labels", f"{', '.join(columns)}: a table of wins between systems?", "no, it is not read", Answer(how))
    return True


def _say_what_is_missing(out: Guess, cells: pd.DataFrame) -> None:
    """What to do where no column looks like ratings."""
    who = {plain(c): c for c in cells if c}
    if {"winner", "loser"} <= set(who):
        sides = f"system: {who['winner']}, system_b: {who['loser']}"
        hint = f"`adapter: records`, `scores: {who['winner']}` and `columns: {{{sides}}}` read them (docs/own_data.md)"
        out.warnings.append(f"{who['winner']!r} and {who['loser']!r} of comparisons? {hint}")
        return
    out.warnings.append("no column looks like ratings: fill in `scores`, `label_names` and `labels` by hand")
    free = cells.columns.difference(list(out.columns.values()), sort=False)
    worded = {c: nature(c, cells[c]) for c in free if c}
    out.warnings += [
        f"{c!r} holds {seems.says}: declare a label with `categories`, or map the words in `values`"
        for c, seems in worded.items()
        if seems.kind == "words"
    ]


def _judged(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """Columns of numbers that people may have given: no ids, counters, durations, nothing that is said of a person."""
    who = out.columns.get("annotator")
    judged, constant = {}, {}
    people = units(cells, [who]) if who else np.empty(0, dtype=int)
    often = np.bincount(people)[people] >= 3
    n = len(set(people[often]))
    for column, values in numeric.items():
        if f"label {column}" in out.answers:  # whatever its name says
            judged[column] = values
            continue
        kind = nature(column, codes.texts_of(values.dropna()).changed("{:g}".format))
        if kind.kind == "constant" and (len(cells) > 5 or _SETTING.search(column)):
            constant[column] = kind
            continue
        if kind.kind in ("id", "counter", "duration", "date") and not rated(out, cells, column, values):
            out.unused[column] = kind.says
            continue
        same = n >= 3 and (within(people[often], codes.texts_of(values).code[often])[1] == 1).all()
        if same and values.min() < values.max():
            out.unused[column] = "the same in all rows of an annotator: it says who judged, not what"
            continue
        judged[column] = values
    return judged | _same_for_all(out, numeric, constant, judged)


#: names of settings, which are the same in all rows of many files
_SETTING = re.compile(
    r"batch|round|version|phase|split|year|config|temperature|top_?[pk]|seed|size|length|max_|min_|num|reward|price"
    r"|assignments|shot|stat(?:us|e)$|finished",
    re.I,
)


def _same_for_all(
    out: Guess, numeric: dict[str, pd.Series], constant: dict[str, Nature], judged: dict[str, pd.Series]
) -> dict[str, pd.Series]:
    """Columns with one value in all rows that are labels all the same: nobody found any of it, for example."""
    levels = {v for c, held in judged.items() if is_rating(c, held) for v in held.dropna()}
    labels = {}
    for column, kind in constant.items():
        value = numeric[column].dropna().iloc[0]
        named = (
            COUNT.search(column) or _SETTING.search(column) or nature(column, pd.Series(["1", "2", "2"])).kind == "id"
        )
        a_level = value in levels or (value % 1 == 0 and 0 <= value <= max(levels, default=10))
        if named or out.comparative or not a_level:
            out.unused[column] = kind.says
            continue
        setting = Answer("a setting: delete it from `labels`", {f"labels.{label_id(column)}": None})
        out.ask(f"label {column}", f"What is {column!r}, {value:g} in every row?", "a label", setting)
        labels[column] = numeric[column]
    return labels


def _ordered(out: Guess, cells: pd.DataFrame) -> dict[str, pd.Series]:
    """Columns of answers in words whose order is known, as numbers from 1."""
    ordered = {}
    for column in cells.columns.difference(list(out.columns.values()), sort=False):
        held = codes.texts_of(cells[column]).stripped
        nothing = {w for w in held.distinct if w in out.na_values or w.lower() in NOTHING}
        steps = ranked([w for w in held.distinct if w not in nothing])
        if steps is None or nature(column, held).kind in ("id", "counter") or set(steps) <= set(out.values):
            continue
        out.categories[column] = steps
        out.na_values += [w for w in held.distinct if w in nothing and w not in out.na_values]
        ordered[column] = _places(held, steps, cells.index)
    for column, answers in differing(out, cells).items():
        if column in out.sets or set(answers) <= set(out.values):
            continue
        out.categories[column] = answers
        ordered[column] = _places(codes.texts_of(cells[column]).stripped, answers, cells.index)
    return ordered


def _places(held: codes.Texts, answers: list[str], index: pd.Index) -> pd.Series:
    """The place of each row's answer among all, from 1; missing where it is none of them."""
    place = {word: float(i) for i, word in enumerate(answers, start=1)}
    return pd.Series(np.array([*(place.get(text, np.nan) for text in held.distinct), np.nan])[held.code], index)


def _sliders(out: Guess, numeric: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """Columns of many whole numbers from 0 to 100, but for slips; numbers that only count up are none."""
    sliders = {
        c: v
        for c, v in numeric.items()
        if v.min() >= 0
        and v.quantile(1 - FAR_SHARE) <= 100
        and (v.dropna() % 1 == 0).all()
        and not v.is_monotonic_increasing
        and not COUNT.search(c)
    }
    for column in sliders:
        if not ASPECT.search(column):
            setting = Answer("no judgements: delete it from `labels`", {f"labels.{label_id(column)}": None})
            out.ask(f"label {column}", f"What is {column!r}, many whole numbers?", "a label with a slider", setting)
    return sliders


def _differs(out: Guess, cells: pd.DataFrame, column: str) -> bool:
    """Whether annotators of one item have different values in a column."""
    item = [out.columns[c] for c in ("dialogue", "system", "turn") if c in out.columns]
    if not {"dialogue", "annotator"} <= set(out.columns):
        return False
    held = codes.texts_of(cells[column])
    code = np.where(held.rows(lambda text: text not in out.na_values), held.code, -1)
    return share(within(units(cells, item), code)[1] > 1) > 0.5


def _places_of_sides(out: Guess, ratings: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """Answers 1 and 2 (and 0) of comparisons: which of the two is better."""
    if not (out.comparative and ratings):
        return ratings
    every = pd.concat(list(ratings.values())).dropna()
    if every.min() < -1 and every.max() > 1:
        out.values |= {f"{n:g}": int(n > 0) - int(n < 0) for n in sorted(every.unique())}
        out.warnings.append("signs of scores say which side won; how much better it was is not kept (`values`)")
        _which_won(out, "positive scores")
        return {c: v.map(lambda n: float((n > 0) - (n < 0)), na_action="ignore") for c, v in ratings.items()}
    if any(not set(v.dropna()) <= {0, 1, 2} for v in ratings.values()):
        return ratings
    seen = set(pd.concat(list(ratings.values())).dropna())
    if 2 not in seen:
        return ratings
    out.values |= {str(int(n)): {0: 0, 1: 1, 2: -1}[int(n)] for n in sorted(seen)}
    _which_won(out, "1 (and 2 for the second)")
    return {c: v.map({0: 0, 1: 1, 2: -1}) for c, v in ratings.items()}


def _which_won(out: Guess, scores: str) -> None:
    """Ask which side some scores are for."""
    second = Answer("the second", {"sources.*.values": {word: -side for word, side in out.values.items()}})
    out.ask("winner", f"Which side do {scores} say won?", "the first, as `values` has it", second)


def _sides_only(out: Guess, ratings: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """Without ratings that say no side, if others of a comparison surely do: how sure somebody was, for example."""
    seen = {c: set(v.dropna()) for c, v in ratings.items()} if out.comparative else {}
    sides = {c for c, outcomes in seen.items() if outcomes and (min(outcomes) < 0 or outcomes <= {0, 1, 2})}
    sure = {c for c in sides if min(seen[c]) < 0 or 2 in seen[c]}
    if not sure and sides:
        others = Answer("others: map their words in `values` to 1 (the first), 0 and -1")
        text = f"Which answers of {', '.join(sorted(sides))} say that the second side won?"
        out.ask("winner", text, "none", others)
    if not sure:
        return ratings
    sides = sure
    out.unused |= {c: "does not say which side won" for c in ratings if c not in sides}
    return {c: v for c, v in ratings.items() if c in sides}


def _same_pattern(out: Guess, of: dict[str, str], columns: list[str]) -> dict[str, str]:
    """All columns that the pattern of a grid reads: more than those that look like it, models for example."""
    labels = sorted(set(of.values()), key=len, reverse=True)
    left, _, right = str(out.scores).partition("{label}")
    patterns = dict(of)
    for column in columns:
        for label in labels:
            start, end = (label + right.split("{")[0], "") if not left else ("", left.split("}")[1] + label)
            if column.startswith(start) and column.endswith(end) and len(column) > len(start) + len(end):
                patterns.setdefault(column, label)
                who = column[len(start) :] if not left else column[: len(column) - len(end)]
                out.annotators += [who] if who not in out.annotators else []
                break
    return patterns


def _categories(out: Guess, of: dict[str, str]) -> None:
    """The answers in words of each label, which may stand in several columns."""
    by_label: dict[str, list[str]] = {}
    for column, label in of.items():
        by_label.setdefault(label, []).extend(out.categories.get(column, []))
    by_label = {label: list(dict.fromkeys(words)) for label, words in by_label.items()}
    out.categories = {label: ranked(words) or words for label, words in by_label.items() if words}
    out.without(*(f"no answer in {label_id(label)}" for label in out.categories))
    for label, words in out.categories.items():
        out.labels[label] = (label_id(label), 1, len(words), True)
        out.observed.pop(label_id(label), None)
        if ranked(words) is None:
            how = Answer("one order: list `categories` from the lowest up and add `level: ordinal`")
            out.ask(f"level of {label_id(label)}", f"Have the answers of {label!r} an order?", "none", how)
        order = f"ordered from {words[0]!r} to {words[-1]!r}; " if ranked(words) else ""
        out.warnings.append(
            f"{label!r}: answers in words, {order}answers that nobody gave are missing from `categories`"
        )
