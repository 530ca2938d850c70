"""Which columns of a wide table hold scores, of which labels: a pattern of their names where they show one."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.extras.new import grids
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.cleaning import of_nothing
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
    was_assigned,
    whatever_its_name,
    within,
)
from judgebook.extras.new.judged.gold import named_for_gold
from judgebook.extras.new.judged.means import means
from judgebook.extras.new.judged.words import answered, differing, in_rows, yes_and_no
from judgebook.extras.new.one_label import named_for_judges, named_for_systems, one_label, refuse_systems
from judgebook.extras.new.roles import role_of
from judgebook.extras.new.shapes import beside
from judgebook.extras.new.words import ASPECT, CHOICE, label_id, ranked
from judgebook.sources.nature import FEW_WORDS, NOTHING, Nature, nature

#: rounding of what was computed, rows that show it, the share of them that has to fit, and what a correlation may lack
_ROUNDED, _ROWS, _NEARLY, _SLACK = 0.0051, 6, 0.95, 1e-4
_SAME = "the same for all annotators of an item"
#: rows from which two columns that say the same are one
_FEW_ROWS = 4


def wide(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """Score columns: a grid of labels and annotators where the names show one, else one column per label."""
    if out.comparative:
        ratings = numeric
    else:
        numeric, ratings = _ratings(out, cells, _said_once(out, cells, numeric))
        ratings = _without_computed(out, cells, numeric, ratings)
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
    for label in [x for x in dict.fromkeys(of.values()) if x not in out.labels]:  # in words
        held = pd.concat([cells[c] for c in of if of[c] == label], ignore_index=True)
        in_rows(out, label, held.to_frame(label))
    grids.others(out, cells, of)
    free = [c for c in numeric if c not in of and c not in out.metrics]
    left_out(out, free)
    judged = [c for c in free if nature(c, cells[c]).judged or ASPECT.search(c)]
    for column in (c for c in judged if not COUNT.search(c)):
        ask_if_judged(out, cells, column)
    choices = [] if out.comparative else [name for name in out.labels if CHOICE.search(name)]
    if choices:
        out.a_choice(choices)
    if not out.labels:
        _say_what_is_missing(out, cells)


def _without_computed(
    out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series], ratings: dict[str, pd.Series]
) -> dict[str, pd.Series]:
    """Ratings without what was computed from those beside them, which is no metric, either; asks of whole numbers."""
    for column in [c for c in numeric if f"label {c}" not in out.answers]:
        others = {c: v for c, v in ratings.items() if c != column}
        if not (_of_row(numeric[column], others) or _standardised(out, cells, numeric[column], others)):
            continue
        out.metrics = [c for c in out.metrics if c != column]
        out.unused[column] = "computed from the scores beside it"
        if column in ratings:
            ratings = others
            ask_if_answers(out, column, "it follows from the scores beside it")
    return ratings


def _of_row(values: pd.Series, others: dict[str, pd.Series]) -> bool:
    """Whether a column is the mean, the sum or the like of the scores of its row, or of those that are numbered."""
    bases: dict[str, list[str]] = {"": [*others]}
    for c in others:
        bases.setdefault(c.rstrip("0123456789"), []).append(c)
    every = pd.DataFrame({"": values, **others}).dropna().astype(float)
    if len(every) > len(others) + 1:  # those whose weighted sum it is
        weights = np.linalg.lstsq(every[[*others]].to_numpy(), every[""].to_numpy(), rcond=None)[0]
        bases["{weighted}"] = [c for c, w in zip(others, weights, strict=True) if w > 1 / (len(others) + 1)]
    for columns in (many for many in bases.values() if len(many) > 1):
        rows = pd.DataFrame({c: others[c] for c in columns})
        spread = (rows.std(axis=1), rows.std(axis=1, ddof=0))
        for told in (rows.mean(axis=1), rows.sum(axis=1), rows.median(axis=1), *spread):
            there = values.notna() & told.notna() & (rows.max(axis=1) > rows.min(axis=1))
            close, rare = (values - told).abs()[there] < _ROUNDED, values[there] != values[there].mode().max()
            # the median of many boxes is 0 nearly always, as each box is
            if there.sum() >= _ROWS and rare.any() and min(close.mean(), close[rare].mean()) > _NEARLY:
                return True
    return False


def _standardised(out: Guess, cells: pd.DataFrame, values: pd.Series, others: dict[str, pd.Series]) -> bool:
    """Whether fractions are the scores of another column standardised, within each person or all together."""
    t, who = out.table, out.columns.get("annotator")
    if t is None or (values.dropna() % 1 == 0).all():
        return False
    within = [np.zeros(len(t.cells)), *(t.code[c] for c in ([who] if who in t.code else t.few))]
    index = t.cells.index.intersection(values.index)
    for unit, other in itertools.product(within, others.values()):
        pairs = pd.DataFrame({"x": values[index], "y": other[index]}).groupby(pd.Series(unit, t.cells.index)[index])
        each = [(rows["x"], rows["y"]) for _, rows in pairs if len(rows) > 2 and (rows.std() > 0).all()]
        enough = sum(len(x) for x, _ in each) >= max(_ROWS, len(index) / 2)
        if enough and all(x.corr(y) > 1 - _SLACK for x, y in each):
            return True
    return False


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
    worded = _judged(out, cells, _ordered(out, cells) | ({} if ratings else _people_in_words(out, cells)))
    for column in yes_and_no(out, {c: cells[c] for c in ratings.keys() - measured}):
        ratings[column] = _places(codes.texts_of(cells[column]).stripped, out.categories[column], cells.index)
    of_item = one_an_item(out, cells, worded)
    out.unused |= dict.fromkeys(of_item, _SAME)
    ratings |= {c: v for c, v in worded.items() if c not in of_item}
    out.without(*(f"label {c}" for c, v in ratings.items() if c in measured and v.min() < v.max()))
    numeric |= ratings
    shared = one_an_item(out, cells, [c for c in ratings if c not in said])
    # in words: how the item was made, no metric
    none = shared if len(shared) == len(ratings) else [c for c in shared if c not in measured]
    out.unused |= dict.fromkeys(none, _SAME)
    for column in shared:
        del ratings[column]
        if column not in none:
            text, evidence = f"What is {column!r}?", "it is the same for all annotators of an item"
            by_model = Answer("judgements by a model: put them in rows of their own and list it in `judges`")
            out.ask(f"metric {column}", text, "a metric", by_model, evidence=evidence)
    fractions = [c for c, v in numeric.items() if c not in ratings and (v.dropna() % 1 != 0).any()]
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
    found = {c: whatever_its_name(out, c, v, scales) for c, v in others.items() if role_of(c) is None}
    for column in (c for c, judged in found.items() if judged is None and c in out.unused):
        ask_if_answers(out, column)
    labels = {c: others[c] for c, judged in found.items() if judged}
    out.unused = {c: why for c, why in out.unused.items() if c not in labels}
    return labels


def _labels(
    out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series], ratings: dict[str, pd.Series]
) -> dict[str, str] | None:
    """The label of each score column, whose pattern is noted; None where the columns are no scores of labels."""
    columns, how = list(ratings), out.answers.get("grid of labels and")
    named = grids.named_grid(columns) if out.comparative else _named_grid(out, cells, numeric, columns)
    only_numbered = len({c.rstrip("0123456789") for c in cells if c}) == 1  # c1, c2, …, whatever they hold
    by_person = "annotator" in out.columns  # also where the grid tells that each row is a person's
    if named and by_person and "dialogue" not in out.columns:
        of = grids.of_items(out, cells, named, columns)
    elif out.counted:
        of = dict.fromkeys(columns, str(out.one_label))
    elif ("each column" not in out.answers and _counts(out, ratings)) or _wins(out, cells, columns):
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
    elif named and (by_person or how == "system") and "system" not in out.columns:
        out.scores, of = named.of_other("system"), named.of
        out.why["scores"] = "the columns form a grid of labels and, it seems, systems"
        text = "What do the names of columns combine with a label?"
        out.ask("system", text, "the system", Answer("something else: change `scores`"))
        grids.ask_which(out, named)
    elif not by_person and (named_for_judges(out, columns) or named_for_gold(out, numeric, columns)):
        of = one_label(out, cells, columns, "annotator")
    elif not (by_person or only_numbered) and (by_grid := grids.grid(columns) or (named and (named.scores, named.of))):
        out.scores, of = by_grid
        out.why["scores"] = "the columns form a grid of labels and annotators"
        inner = grids.named_grid([*dict.fromkeys(of.values())]) if "system" not in out.columns else None
        if inner:  # rasa_fluency_a1
            out.scores = str(out.scores).replace("{label}", inner.of_other("system"))
            out.why["scores"] = "the columns form a grid of systems, labels and annotators"
            shown = ", ".join(dict.fromkeys(inner.others.values()))
            out.ask(
                "system",
                f"What are {shown} in the names of columns?",
                "systems",
                Answer("something else: change `scores`"),
            )
            grids.ask_which(out, inner)
            return {c: inner.of[label] for c, label in of.items()}
        if named and not grids.grid(columns):
            shown, how_ = ", ".join(dict.fromkeys(named.others.values())), {"grid of labels and": "system"}
            out.ask("system", f"What are {shown} in the names of columns?", "people", Answer("systems", given=how_))
            grids.ask_which(out, named)
        of = _same_pattern(out, of, list(numeric))
        if len(set(of.values())) == 1 and out.scores == "{label}{annotator}" and not (out.table and out.table.texts):
            label = next(iter(of.values()))
            how = f'`scores: "{label}{{dialogue}}"` and `constants: {{label: {label_id(label)}}}`'
            items = f"items, and each row is a person: {how}"
            shown = ", ".join([*of][:4])
            out.ask("annotator: columns", f"What are {shown}?", "people who judged the item of the row", Answer(items))
    else:
        out.scores, of = grids.named_alike(columns)
        out.why["scores"] = "each column that looks like ratings is treated as a label"
    return of


def _named_grid(
    out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series], columns: list[str]
) -> grids.Crossing | None:
    """The grid that columns of numbers or words form by their names; says whether each row is a person's."""
    how, second = out.answers.get("grid of labels and"), out.answers.get("labels in names")
    if how == "nothing":
        return None
    free = cells.columns.difference([*out.columns.values(), *numeric], sort=False)
    every = [*columns, *(c for c in free if numbers(cells[c], out.na_values) is None and answered(out, cells[c], c))]
    told = second == "second" if second else None
    found = grids.named_grid(every, told) or grids.named_grid(columns, told)
    who = out.columns.get("annotator")
    if found is None and who is None and (probe := grids.named_grid(every, told, most=True)):
        found = probe if grids.a_person_each(out, cells, probe) else None
    elif found is None and who in cells and cells[who].nunique() == len(cells):  # what else people said of themselves
        found = grids.named_grid(every, told, most=True)
        numbered = grids.named_grid(every, told, numbered=True) if found is None else None
        if numbered and how:
            found = numbered
        elif numbered:
            grids.ask_if_items(out, numbered)
    if found:
        grids.each_a_person(out, cells, found)
    return found


def _counts(out: Guess, ratings: dict[str, pd.Series]) -> bool:
    """Whether columns say how many gave each answer: then their sum is always the same."""
    sums = pd.DataFrame(ratings).sum(axis=1, min_count=len(ratings)) if len(ratings) > 2 else pd.Series(dtype=float)
    if len(sums) < 5 or len(set(sums)) != 1:
        return False
    out.unused |= dict.fromkeys(ratings, "not ratings: these columns add up to the same sum in every row")
    how = Answer("counts of answers: `scores` with {score} and `count`")
    text = f"What are {', '.join(list(ratings)[:8])}?"
    out.ask("labels", text, "no judgements", how, evidence=f"they add up to {sums.iloc[0]:g} in every row")
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
        kind = nature(column, codes.texts_of(values.dropna()).changed("{:.15g}".format))
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
        if named or not a_level:
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
        words = [w for w in held.distinct if w not in out.na_values]
        odd = [w for w in words if w.lower() in NOTHING and not ranked(words)]
        steps = ranked([w for w in words if w not in odd])
        if steps is None or nature(column, held).kind in ("id", "counter") or set(steps) <= set(out.values):
            continue
        out.categories[column] = steps = [*of_nothing(out, column, steps, odd), *steps]
        ordered[column] = _places(held, steps, cells.index)
    for column, answers in differing(out, cells).items():
        if column in out.sets or set(answers) <= set(out.values):
            continue
        if was_assigned(out, column) and f"label {column}" not in out.answers:
            out.unused[column] = "assigned to what each person saw: it says what was shown, not what was judged"
            ask_if_answers(out, column, "each person saw its values equally often of each item")
            continue
        out.categories[column] = answers
        ordered[column] = _places(codes.texts_of(cells[column]).stripped, answers, cells.index)
    return ordered


def _people_in_words(out: Guess, cells: pd.DataFrame) -> dict[str, pd.Series]:
    """Columns named for people that hold the same few words without an order, as numbers; the answer that most of them
    gave is computed."""
    if "annotator" in out.columns:
        return {}
    free = cells.columns.difference([*out.columns.values(), *out.identify], sort=False)
    held = {c: codes.texts_of(cells[c]).stripped for c in free if nature("c", cells[c]).kind == "words"}
    people = [c for c in held if named_for_judges(out, [c, c]) or f"label {c}" in out.answers]
    answers = sorted({w for c in people for w in held[c].distinct} - {*out.na_values})
    if len(people) < 2 or len(answers) > FEW_WORDS:
        return {}
    words = {c: _places(of, answers, cells.index) for c, of in held.items() if {*of.distinct} <= {*answers, ""}}
    judged = {c: words[c] for c in people if c in words}
    for column in words.keys() - judged.keys():
        if _of_row(words[column], judged):
            out.unused[column] = "computed from the answers beside it"
        else:
            ask_if_answers(out, column)
    out.categories |= dict.fromkeys(judged, answers)
    return judged


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
    out.without(*(f"no answer in {label_id(out.called.get(label, label))}" for label in out.categories))
    for label, words in out.categories.items():
        id_ = label_id(out.called.get(label, label))
        out.labels[label] = (id_, 1, len(words), True)
        out.observed.pop(id_, None)
        if ranked(words) is None:
            how = Answer("one order: list `categories` from the lowest up and add `level: ordinal`")
            out.ask(f"level of {id_}", f"Have the answers of {label!r} an order?", "none", how)
        order = f"ordered from {words[0]!r} to {words[-1]!r}; " if ranked(words) else ""
        out.warnings.append(
            f"{label!r}: answers in words, {order}answers that nobody gave are missing from `categories`"
        )
