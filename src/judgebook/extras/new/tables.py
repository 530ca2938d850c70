"""Guessing what the columns of a table mean, with the reason for each guess and a warning where it is unsure.

The guesses are a start for a YAML that a person reads and corrects (`draft`); no run depends on them.
"""

from __future__ import annotations

import re
from hashlib import blake2b

import pandas as pd

from judgebook import codes
from judgebook.extras.new import cleaning, comparisons, items, readings, roles, several
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess, ask_if_answers, distinct_texts, left_out, numbers, one_an_item
from judgebook.extras.new.judged import platforms
from judgebook.extras.new.judged.gold import gold_and_judges, scored_as_gold
from judgebook.extras.new.judged.words import as_numbers, in_rows, is_few, yes_and_no
from judgebook.extras.new.one_label import without_majorities
from judgebook.extras.new.score_columns import wide
from judgebook.extras.new.shapes import parts, periods
from judgebook.extras.new.shapes import tables as shapes
from judgebook.extras.new.shapes.options import Options, opposites
from judgebook.extras.new.shapes.ranks import Ranks
from judgebook.extras.new.words import label_id, looks_like_model
from judgebook.sources import sampling
from judgebook.sources.in_words import counted
from judgebook.sources.nature import nature, plain
from judgebook.study import limits


def guess(cells: pd.DataFrame, given: dict[str, str] | None = None, codes: list[str] | None = None) -> Guess:
    """What the columns of a table mean. `cells` holds text; an empty cell is an empty string.

    given : our column -> the file's, where the format says so, or an answer to a question (`Guess`). codes : what
    stands there for no answer.
    """
    # names of ours are one word
    columns = {ours: name for ours, name in (given or {}).items() if " " not in ours}
    out = Guess(columns=columns, answers={k: v for k, v in (given or {}).items() if k not in columns})
    out.na_values += codes or []
    cells = _answers(out, cells)
    read = {c: numbers(cells[c], out.na_values) for c in cells}
    numeric = {c: v for c, v in read.items() if v is not None}
    scores = scored_as_gold(cells, [c for c in cells if roles.role_of(c)])
    named = cells.drop(columns=scores)
    roles.by_name(out, named, numeric)
    periods.column(out, named)
    roles.by_words(out, named, numeric)
    beside = shapes.side_by_side(out, cells, numeric)
    comparisons.find(out, cells)
    free = named.drop(columns=[c for c in {*out.outcomes, *out.shown} if c in named])
    readings.choose(out, free, shapes.shown_again(beside, cells))
    cells = _judged_again(out, _of_one_kind(out, cells))
    cells = cleaning.self_comparisons(out, cells)
    numeric = {c: v.reindex(cells.index) for c, v in numeric.items()}
    _combined(out, cells)
    _layout(out, cells, numeric, beside)
    parts.system(out, cells)
    if out.comparative:
        comparisons.identify(out, cells)
        comparisons.rated_sides(out, cells, numeric)
    if not (out.repeated or out.identify):
        items.check(out, cells)
    elif not ("annotator" in out.columns or "{annotator}" in out.scores or out.repeated):
        out.positions = True
        out.why["annotators"] = "no column says who judged: repeated rows of an item are pos0, pos1, …"
    if not out.comparative and not out.repeated:
        several.several_answers(out, cells)
        several.rated_lists(out, cells)
        several.ask_of_digits(out, cells)
        several.ask_beside(out, cells)
    _models(out, cells)
    comparisons.orders(out, cells, {c: numeric[c] for c in out.outcomes if c in numeric})
    _not_used(out, cells)
    periods.dates(out, cells)
    readings.ask(out, cells)
    return out


def _of_one_kind(out: Guess, cells: pd.DataFrame) -> pd.DataFrame:
    """`cells` without rows of another kind, such as those that check whether people pay attention, where a person
    judged an item of each kind: the most frequent kind counts, and the others are asked about."""
    t, keys = (
        out.table,
        [out.columns[c] for c in ("dialogue", "system", "annotator", "turn", "label") if c in out.columns],
    )
    if t is None or out.comparative or out.identify or not {"dialogue", "annotator"} <= set(out.columns):
        return cells
    column = t.kind_of_rows(keys)
    if column is None or f"rows of {column}" in out.answers:
        return cells
    held = cells[column].str.strip().value_counts()
    other = [value for value in held.index[1:] if value]
    shown = ", ".join(f"{value} ({n:,})" for value, n in held.items())
    how = Answer("all: the kind tells items apart", given={f"rows of {column}": "all"})
    text = f"Which rows count, of {column!r}: {shown}?"
    out.ask("item: kinds of rows", text, f"those of {held.index[0]}; of others an item is judged again", how)
    out.drop[column] = other if len(other) > 1 else other[0]
    return cells.loc[~cells[column].str.strip().isin(other)]


#: names of occasions on which people judged; of other columns that differ between judgements, only a person can say it
_OCCASION = re.compile(r"round|run|split", re.I)


def _judged_again(out: Guess, cells: pd.DataFrame) -> pd.DataFrame:
    """`cells` without a column that only counts on which occasion people judged the same items: it is no label, and no
    corpus, where each has each of its values."""
    t, corpus = out.table, out.columns.get("corpus")
    keys = [c for role, c in out.columns.items() if role in ("dialogue", "system", "annotator", "turn", "label")]
    if t is None or out.comparative or out.identify or "annotator" not in out.columns or not {*keys} <= {*t.code}:
        return cells
    free = [
        c for c in t.few if c == corpus or (c in cells and c not in out.columns.values() and t.kinds[c].kind != "words")
    ]
    again = [c for c in free if t.crossed(c, keys) and not {f"label {c}", f"items of {c}"} & {*out.answers}]
    column = again[0] if again else ""
    named = _OCCASION.fullmatch(plain(column))
    if not again or (column == corpus and not named):  # items of several data sets may have the same ids
        return cells
    every = Answer(f"all: {column!r} counts the occasions (`repeats: number`)", {"sources.*.repeats": "number"})
    other = Answer(
        f"different items: those of each {column!r}", given={"corpus": column, f"items of {column}": "other"}
    )
    ways = [every, other, *(Answer(f"the {x}", {"sources.*.repeats": x}) for x in ("last", "first"))]
    assumed = "none: the data cannot be read until it is said"
    if named:
        out.columns.pop("corpus", None)
        out.repeats, assumed = "number", ways.pop(0).says
    out.ask("repeats", f"What does {column!r} say, where the same person judged an item again?", assumed, *ways)
    out.unused[column] = "the occasion on which the same person judged an item"
    return cells.drop(columns=column)


def _shortened(cells: pd.DataFrame) -> pd.DataFrame:
    """`cells` with texts that are too long for any answer cut: they still differ where they did. JSON stays whole."""

    def cut(text: str) -> str:
        if len(text) <= limits.GUESSED_TEXT or text[:100].lstrip().startswith(("{", "[")):
            return text
        return text[: limits.GUESSED_TEXT] + blake2b(text.encode("utf-8", "backslashreplace")).hexdigest()

    held = {column: codes.texts_of(cells[column]) for column in cells}
    long = {c: of.changed(cut) for c, of in held.items() if max(map(len, of.distinct), default=0) > limits.GUESSED_TEXT}
    shorter = {c: pd.Series(of.distinct[of.code], cells.index, dtype="str") for c, of in long.items()}
    return cells.assign(**shorter) if shorter else cells


def _answers(out: Guess, cells: pd.DataFrame) -> pd.DataFrame:
    """`cells` without columns and rows that hold no answers; what stands for none is noted."""
    # pandas calls an index that was saved without a name `Unnamed: 0`
    nameless = [not c.strip() or re.fullmatch(r"Unnamed: \d+", c) is not None for c in cells.columns]
    if sum(nameless) == 1 and numbers(cells.loc[:, nameless].iloc[:, 0], out.na_values) is None:
        nameless = [False] * len(nameless)  # names of rows, as in a table of wins
    elif any(cells.loc[:, nameless].ne("").any()) and sum(nameless) > 1:
        out.warnings.append(f"{counted(sum(nameless), 'column')} without a name: not used; name what is to be read")
    # several columns may share the empty name: what looks at columns by their names comes after this
    cells = _shortened(cells.loc[:, [not n for n in nameless]])
    cells = without_majorities(out, platforms.set_apart(out, _drawn(out, cells)))
    # an id may be spelt so: a system called NA, a person called nan
    ids = [c for c in cells if c and (roles.role_of(c) in ("system", "annotator", "dialogue") or roles.names_a_side(c))]
    every = {c: codes.texts_of(cells[c]).n for c in cells}
    names = {v for c in ids if roles.role_of(c) == "system" or roles.names_a_side(c) for v in every[c]}
    # the winner by its name
    ids += [c for c in cells if c not in ids and sum(every[c][v] for v in names & every[c].keys()) > len(cells) / 2]
    others = [every[c] for c in cells.columns.difference(ids)]
    none = ["N/A", "NA", "NaN", "nan", "null", "-", ".", "None"]
    # beside other words it may be an answer
    said = (cells[c].where(~cells[c].isin(none)) for c in cells if "None" in every[c])
    none = none[:-1] if any(nature("c", held).kind in ("words", "constant") for held in said) else none
    out.na_values += [v for v in none if any(v in held for held in others)]
    labels = [cells[c] for c in cells if c and roles.role_of(c) == "label"]
    stripped = cleaning.texts(cells)
    for column in cells:
        cleaning.missing_words(out, column, cells[column], labels)
        cleaning.codes_apart(out, column, cells[column])
        if column not in ids:
            cleaning.stray_numbers(out, stripped, column)
    cleaning.summary_rows(out, cells)
    return codes.rows(cells, ~cleaning.rows_left_out(out, cells))


def _layout(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series], beside: Options | Ranks | None) -> None:
    """Where scores stand, and their labels: in a known shape, a row for each, several in a row, or a column each.

    beside : what stands side by side in each row."""
    label, score = out.columns.get("label"), out.columns.get("score")
    if out.labels or shapes.read(out, cells, numeric, beside):
        pass
    elif out.comparative:
        if out.outcomes or not several.systems_beside(out, cells, numeric):
            _compared(out, cells, numeric)
    elif label and score and label not in numeric and cells[label].nunique() <= 60:
        out.layout = "long"
        out.why["layout"] = f"{label!r} names what was judged and {score!r} holds the score: one row per judgement"
        _long_metrics(out, cells, {c: v for c, v in numeric.items() if c not in out.columns.values()})
        for name, rows in cells.groupby(label, sort=False):
            in_rows(out, str(name), rows[[score]])
        for name in yes_and_no(out, {str(n): rows[score] for n, rows in cells.groupby(label) if str(n) in out.labels}):
            out.labels[name] = (out.labels[name][0], 1, len(out.categories[name]), True)
    elif several.items_beside(out, cells, numeric) or several.systems_beside(out, cells, numeric):
        pass
    else:
        out.columns.pop("label", None)
        out.columns.pop("score", None)
        roles_of = [*out.columns.values(), *out.identify, *out.identify_b]
        # what a form showed is no judgement, whatever it looks like
        cells = cells.drop(columns=[c for c in cells if c.startswith("Input.") and c not in roles_of])
        free = cells[cells.columns.difference(roles_of, sort=False)]
        numeric |= as_numbers(out, free, numeric)
        wide(out, cells, {c: v for c, v in numeric.items() if c in cells and c not in roles_of})


def _compared(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """Who won: a row for each label, or columns."""
    found = comparisons.one_each(out, numeric) or comparisons.outcomes(out, cells, numeric)
    opposites(out, found)
    numeric |= found
    label = out.columns.get("label")
    out.columns.pop("score", None)
    if label and len(found) == 1 and 1 < cells[label].nunique() <= 60:
        out.layout, out.columns["score"] = "long", next(iter(found))
        out.why["layout"] = f"{label!r} names what was judged: one row per judgement"
        out.labels = {str(name): (label_id(str(name)), -1, 1, True) for name in cells[label].str.strip().unique()}
        return
    out.columns.pop("label", None)
    wide(out, cells, found)


def _drawn(out: Guess, cells: pd.DataFrame) -> pd.DataFrame:
    """`cells` without the columns that say how dialogues were drawn, which are noted: they are no scores or metrics."""
    for column in cells.columns.difference(list(out.columns.values()), sort=False):
        key = None if sampling.judged(column) else sampling.key_for(column, cells[column])
        if key and out.sampling is None and sampling.plain(column, cells[column]):
            out.sampling = key, column
            out.why["sampling"] = "it is called so: estimates are weighted"
        elif key:
            out.unused[column] = sampling.says(column, key)
    return cells.drop(columns=[*out.unused, *([out.sampling[1]] if out.sampling else [])])


def nameless(cells: pd.DataFrame, given: dict[str, str]) -> Guess:
    """What the columns of a table without a header mean: by what they hold alone, so each of them is asked about."""
    out = guess(cells, given)
    out.warnings.append("the file has no header: `column_names` names its columns")
    return out


def _combined(out: Guess, cells: pd.DataFrame) -> None:
    """A cell with an id and a system in brackets: d000 (alpha-bot)."""
    for column in cells:
        distinct = [text for text in distinct_texts(cells[column]) if text]
        if any(len(text) > limits.COMBINED for text in distinct) or out.columns.get("system"):
            continue
        form = r"[^()\s%]*[A-Za-z][^()\s%]* \([^()]*[A-Za-z][^()]*\)"
        if not all(re.fullmatch(form, text) for text in distinct):
            continue
        held = cells[column].str.strip()
        held = held[held != ""]
        if len(held) < 2:
            continue
        if held.str.extract(r"\((.*)\)")[0].nunique() * 2 > len(held) + 1:
            continue
        out.columns = {ours: name for ours, name in out.columns.items() if name != column and ours != "dialogue"}
        out.patterns[column] = "{dialogue} ({system})"
        out.why["patterns"] = "its cells hold an id and, in brackets, a name"
        return


def _models(out: Guess, cells: pd.DataFrame) -> None:
    """Annotators that look like language models: they are no people."""
    column = out.columns.get("annotator")
    names = [str(v) for v in cells[column].unique()] if column in cells else out.annotators
    out.judges = list(dict.fromkeys([*out.judges, *filter(looks_like_model, names), *gold_and_judges(names)]))
    if out.judges:
        out.judged_by_models(len(out.judges))


def _not_used(out: Guess, cells: pd.DataFrame) -> None:
    """Why each column that the guess leaves out is left out."""
    used = {
        *out.columns.values(),
        *out.identify,
        *out.identify_b,
        *out.metrics,
        *out.patterns,
        *out.score_columns,
        *out.sets,
    }
    used |= {*out.drop, *out.skip_columns, *(c for two, _ in out.of_sides.values() for c in two)}
    for column in (c for c in cells if c and c not in used):
        seems = nature(column, cells[column].where(~cells[column].isin(out.na_values)))
        out.unused.setdefault(column, seems.says)
        if column.startswith("Answer.") and (seems.judged or is_few(cells[column])) and not out.repeated:
            ask_if_answers(out, column)


def _long_metrics(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """Columns of fractions beside the scores of a long table that do not depend on who judged: automatic metrics."""
    out.metrics = one_an_item(out, cells, [c for c, v in numeric.items() if (v.dropna() % 1 != 0).any()])
    left_out(out, [c for c in numeric if c not in out.metrics])
