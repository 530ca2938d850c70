"""Guessing what the columns of a table mean, with the reason for each guess and a warning where it is unsure.

The guesses are a start for a YAML that a person reads and corrects (`draft`); no run depends on them.
"""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new import roles
from judgebook.extras.new.columns import COUNT, MAX_LEVELS, Guess, add_label, is_rating, left_out, numbers, one_an_item
from judgebook.extras.new.score_columns import wide
from judgebook.extras.new.words import (
    ANSWERS,
    DECIMAL_COMMA,
    TEXT,
    is_prose,
    looks_like_model,
    number_in,
    ranked,
    side_of,
)
from judgebook.sources import sampling
from judgebook.sources.in_words import counted
from judgebook.sources.nature import NAMES, NOTHING, nature, plain
from judgebook.study import limits

#: characters of a name, on average, at most
_SHORT = 40
_ASKS = r"^(?:please )?(?:which|what|select|enter)(?: the)?(?: [a-z]+)? "
_ENDS = r"(?: (?:name|id|number|nr\.?|no\.?))?(?: (?:did|was|were|are|is|do|have|it|you|this|that)\b.*)?[?:.]?$"
#: questions of a form whose answers are names of ours
_QUESTIONS = {
    "dialogue": re.compile(rf"{_ASKS}(conversation|dialogu?e?|chat){_ENDS}", re.I),
    "system": re.compile(rf"{_ASKS}((chat)?bot|system|model){_ENDS}", re.I),
}
#: questions whose answers are judgements
_COMPARED = re.compile(
    r"\b(?!number|user)[a-z]{3,}(er|est)\b|quality|rating|score|\bact\b|would|should|best|worse|worst|more|most|less"
    r"|least|prefer|like|favou?rite|\bw[io]n|cho+se",
    re.I,
)


def guess(cells: pd.DataFrame, given: dict[str, str] | None = None) -> Guess:
    """What the columns of a table mean. `cells` holds text; an empty cell is an empty string.

    given : our column -> the file's, where the format says so.
    """
    out = Guess(columns=dict(given or {}))
    nameless = [not c.strip() for c in cells.columns]
    if sum(nameless) == 1 and numbers(cells.loc[:, nameless].iloc[:, 0], out.na_values) is None:
        nameless = [False] * len(nameless)  # names of rows, as in a table of wins
    elif any(cells.loc[:, nameless].ne("").any()) and sum(nameless) > 1:
        out.warnings.append(f"{counted(sum(nameless), 'column')} without a name: not used; name what is to be read")
    cells = _drawn(out, cells.loc[:, [not n for n in nameless]])
    # an id may be spelt so: a system called NA, a person called nan
    ids = [c for c in cells if c and roles.role_of(c) in ("system", "annotator", "dialogue")]
    missing = [
        v for v in ("N/A", "NA", "NaN", "nan", "null", "None", "-", ".") if (cells.drop(columns=ids) == v).any().any()
    ]
    out.na_values += missing
    for column in cells:
        _missing_words(out, column, cells[column])
        _codes(out, column, cells[column])
    _summary_rows(out, cells)
    cells = cells[~_left_out(out, cells)]
    read = {c: numbers(cells[c], out.na_values) for c in cells}
    numeric = {c: v for c, v in read.items() if v is not None}
    _name_columns(out, cells, numeric)
    _name_questions(out, cells)
    roles.by_words(out, cells, numeric)
    roles.by_structure(out, cells)
    _judged_again(out, cells, numeric)
    _combined(out, cells)
    _pair_in_a_cell(out, cells, numeric)
    label, score = out.columns.get("label"), out.columns.get("score")
    if label and score and label not in numeric and cells[label].nunique() <= 60:
        out.layout = "long"
        out.why["layout"] = f"{label!r} names what was judged and {score!r} holds the score: one row per judgement"
        numeric |= _words(out, cells[[score]], numeric)
        _long_metrics(out, cells, {c: v for c, v in numeric.items() if c not in out.columns.values()})
        for name, rows in cells.groupby(label, sort=False):
            add_label(out, str(name), numeric.get(score, pd.Series(dtype=float)).reindex(rows.index))
    elif _side_by_side(out, cells, numeric) or _systems_beside(out, cells, numeric):
        pass
    else:
        out.columns.pop("label", None)
        out.columns.pop("score", None)
        if out.comparative:
            numeric |= _sides(out, cells)
        free = cells[cells.columns.difference(list(out.columns.values()), sort=False)]
        numeric |= _words(out, free, numeric)
        wide(out, cells, {c: v for c, v in numeric.items() if c not in out.columns.values()})
    if not out.repeated:
        _check_items(out, cells)
    if not out.comparative and not out.repeated:
        _several_answers(out, cells)
    _models(out, cells)
    _not_used(out, cells)
    return out


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


def nameless(cells: pd.DataFrame) -> Guess:
    """What can be said of a table without a header: what each column holds."""
    out = Guess(columns={"dialogue": "{row}"}, positions=True)
    out.unused = {column: nature(column, cells[column]).says for column in cells}
    out.warnings.append(
        "the file has no header: name its columns in `column_names`, then say which identify the dialogue and the "
        "annotator, and which hold scores (`columns`, `scores`, `labels`)"
    )
    return out


def _missing_words(out: Guess, column: str, values: pd.Series) -> None:
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
        out.warnings.append(f"{shown} in {column!r}, a column of numbers: treated as missing values (`na_values`)")


#: numbers that stand for no answer in exports of surveys and annotation tools
_CODES = (-1, -9, -50, -77, -88, -98, -99, -999, 9, 88, 98, 99, 999, 9999)


def _codes(out: Guess, column: str, values: pd.Series) -> None:
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
    out.warnings.append(
        f"{listed} in {column!r} ({n} times), away from the levels {low:g} to {high:g}: "
        "treated as no answer (`na_values`)"
    )


_SUMMARY = re.compile(
    r"(?:(?:grand |over)?(?:total|all)|sum|mean|average|avg|median|std|sd|st\.? ?dev\.?|mittel(?:wert)?|summe"
    r"|moyenne|media|promedio|平均|合计)[.:]?",
    re.I,
)


def _summary_rows(out: Guess, cells: pd.DataFrame) -> None:
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


def _left_out(out: Guess, cells: pd.DataFrame) -> pd.Series:
    """Rows that `drop` leaves out."""
    left_out = pd.Series(False, cells.index)
    for column, values in out.drop.items():
        if column in cells:
            left_out |= cells[column].str.strip().isin([values] if isinstance(values, str) else values)
    return left_out


def _judged_again(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """The item by what it does: every annotator has each of its values once, and several have the same."""
    who = out.columns.get("annotator")
    if who is None or "dialogue" in out.columns:
        return
    others = [out.columns[c] for c in ("system", "system_b", "turn", "label") if c in out.columns]
    free = {c: nature(c, cells[c]).kind for c in cells if c and c not in out.columns.values()}
    # numbers last: a score is seldom each of the same numbers once for everybody, a number of an item is
    for column in sorted(free, key=lambda c: free[c] == "rating"):
        held, kind = cells[column].str.strip(), free[column]
        if kind not in ("id", "names", "words", "counter", "rating"):
            continue
        if kind == "rating" and (others or len(set(held.groupby(cells[who]).agg(frozenset))) > 1):
            continue
        enough = len(held) >= 3 * cells[who].nunique() and (held != "").all() and held.nunique() > 2
        shared = cells.groupby(held)[who].nunique().gt(1).mean() > 0.5
        if enough and shared and not cells.assign(**{column: held}).duplicated([who, column, *others]).any():
            out.columns["dialogue"] = column
            out.why["dialogue"] = "every annotator has each of its values once"
            return


_INDEXED = re.compile(r"(.*?[^0-9])([0-9]{1,2})")


def _side_by_side(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> bool:
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
    if len(full) < 2 or not answers or not any(set(ix) <= {i[: len(ix[0])] for i in full} for ix in shown.values()):
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
    out.columns = {k: v for k, v in out.columns.items() if v != item}
    out.why["identify"] = "items stand side by side in a row"
    return True


def _systems_beside(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> bool:
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
        if b != same[0]
        and sorted(ix) == sorted(index)
        and all(b + i in numeric and is_rating(b, numeric[b + i]) for i in ix)
    ]
    item = out.columns.get("dialogue") or out.columns.get("context")
    if not rated:
        return False
    for ours in ("system", "system_b", "dialogue", "dialogue_b", "context", "label", "score"):
        out.columns.pop(ours, None)
    separator = next((c for c in "_ .-" if all(b.endswith(c) for b in rated)), "")
    out.repeated, out.scores = ["{i}"], f"{{label}}{separator}{{i}}"
    for base in rated:
        add_label(out, base.removesuffix(separator), pd.concat([numeric[base + i] for i in index]))
    out.columns["system"] = same[0] + "{i}"
    out.score_columns = [b + i for b in (same[0], *rated) for i in index]
    out.identify = [item or "{row}", same[0] + "{i}"]
    out.columns |= {"context": item} if item else {}
    out.why["identify"] = "systems stand side by side in a row"
    if "annotator" not in out.columns:
        out.positions = True
        out.warnings.append("it is not known who judged: analyses of annotators will be skipped")
    return True


def _several_answers(out: Guess, cells: pd.DataFrame) -> None:
    """Columns whose cells hold several answers from a small set, as from "mark all that apply"."""
    for column in cells.columns.difference([*out.columns.values(), *out.score_columns], sort=False):
        held = cells[column].str.strip()
        if held.str.contains(r'["{}[\]]').any():  # JSON
            continue
        for divider in (";", "|", ","):
            parts = held[held != ""].str.split(divider, regex=False).map(lambda many: [p.strip() for p in many])
            each = parts.explode()
            several = parts.str.len().gt(1)
            few = 1 < each.nunique() <= 30 and each.value_counts().median() >= 3 and each.str.len().max() <= _SHORT
            once = parts.map(lambda many: len(set(many)) == len(many)).all()
            if (
                several.any()
                and few
                and once
                and (each != "").all()
                and pd.to_numeric(each, errors="coerce").isna().all()
            ):
                out.sets[column] = divider, [*sorted(set(each)), *(["none"] if (held == "").any() else [])]
                out.unused.pop(column, None)
                out.warnings = [w for w in out.warnings if not w.startswith(f"{column!r} holds answers in words")]
                empty = int((held == "").sum())
                if empty:
                    out.warnings.append(
                        f"{counted(empty, 'empty cell')} of {column!r}: taken for judgements that nothing applies "
                        "(`empty: none`); without that line they are no judgements"
                    )
                break
    if out.sets and not out.labels:
        out.warnings = [w for w in out.warnings if not w.startswith("no column looks like ratings")]


def _answers(out: Guess, cells: pd.DataFrame, columns: list[str]) -> pd.Series | None:
    """The answers in columns of one label as numbers; None where they are words other than yes and no."""
    held = pd.concat([cells[c].str.strip() for c in columns])
    held = held[(held != "") & ~held.isin(out.na_values)]
    number = pd.to_numeric(held, errors="coerce")
    if number.isna().any():
        number = held.str.lower().map(ANSWERS)
        if number.isna().any():
            return None
        out.values |= dict(zip(held, number, strict=True))
    return number


def _pair_in_a_cell(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """A cell that names the two systems that are compared: alpha_beta."""
    for column in (c for c in cells if c not in numeric and c not in out.columns.values()):
        held = cells[column].str.strip()
        for s in (" vs. ", " vs ", "_vs_", "-vs-", "__", "|", "_"):
            parts = held.str.split(s, regex=False)
            if len(held) < 4 or not parts.str.len().eq(2).all():
                continue
            sides = [set(parts.str[i]) for i in (0, 1)]
            every = sides[0] | sides[1]
            if len(every) <= 30 and len(held) >= 2 * len(every) and sum(map(looks_like_model, every)) * 2 >= len(every):
                out.patterns[column] = f"{{system}}{s}{{system_b}}"
                out.why["patterns"] = "its cells name two systems"
                out.columns = {k: v for k, v in out.columns.items() if k not in ("system", "system_b")}
                return


def _combined(out: Guess, cells: pd.DataFrame) -> None:
    """A cell with an id and a system in brackets: d000 (alpha-bot)."""
    for column in cells:
        held = cells[column].str.strip()
        held = held[held != ""]
        if held.str.len().gt(limits.COMBINED).any():
            continue
        form = r"[^()\s%]*[A-Za-z][^()\s%]* \([^()]*[A-Za-z][^()]*\)"
        if len(held) < 2 or not held.str.fullmatch(form).all() or out.columns.get("system"):
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
    names = [str(v) for v in cells[column].unique()] if column else out.annotators
    out.judges = [name for name in names if looks_like_model(name)]
    if out.judges:
        out.warnings.append(f"treated as language models, not people: {', '.join(out.judges)} (`judges`)")


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
    used |= {*out.drop, *out.skip_columns}
    for column in (c for c in cells if c and c not in used):
        out.unused.setdefault(column, nature(column, cells[column].where(~cells[column].isin(out.na_values))).says)


def _name_columns(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    # MTurk's columns of what was shown begin so
    by_name = {plain(c.removeprefix("Input.")): c for c in reversed(cells.columns) if c}
    for ours, names in NAMES.items():
        for name in names if ours not in out.columns else ():
            column = by_name.get(name)
            if column is None or column in out.columns.values() or (ours == "label" and column in numeric):
                continue
            # a column of names says more than one of numbers, and left and right name systems only where they do
            if ours in ("system", "system_b") and column in numeric and _named_sides(by_name, numeric):
                continue
            if name in ("left", "right") and column in numeric:
                continue
                # sentences are no ids, and ids no sentences
            short = cells[column].str.len().mean() < _SHORT and ours in ("system", "system_b", "group", "annotator")
            if ours not in ("label", "score") and not short and is_prose(cells[column]) != (ours in TEXT):
                continue
            out.columns[ours] = column
            out.why[ours] = "by its name"
            break


def _name_questions(out: Guess, cells: pd.DataFrame) -> None:
    """Columns that a form names by its question: `Which bot was it?`."""
    for ours, asked in _QUESTIONS.items():
        free = [c for c in cells if c not in out.columns.values()] if ours not in out.columns else []
        questions = [c for c in free if asked.search(c) and not _COMPARED.search(c) and _come_back(cells[c])]
        if len(questions) == 1:
            out.columns[ours] = questions[0]
            out.why[ours] = "by its question"


def _come_back(cells: pd.Series) -> bool:
    """Whether cells hold names that come several times, and no answers with an order or for one side."""
    held = cells.str.strip()
    seen = list(held[held != ""].unique())
    answers = ranked(seen) or all(side_of(s) is not None or s.lower() in ANSWERS for s in seen)
    rated = nature("", held).kind == "rating"
    return not rated and 1 < len(seen) < len(held) and held.str.len().mean() < _SHORT and not answers


def _named_sides(by_name: dict[str, str], numeric: dict[str, pd.Series]) -> bool:
    """Whether the two columns `left` and `right` hold names."""
    return all(side in by_name and by_name[side] not in numeric for side in ("left", "right"))


def _sides(out: Guess, cells: pd.DataFrame) -> dict[str, pd.Series]:
    """Columns that say in words which side won, as numbers; the words are noted in `values`."""
    of_sides = {}
    for column in cells.columns.difference(list(out.columns.values()), sort=False):
        words = cells[column].where(~cells[column].isin(out.na_values))
        number = pd.to_numeric(words.map(lambda word: side_of(word) if isinstance(word, str) else None))
        sides = [out.columns.get("system"), out.columns.get("system_b")]
        if None not in sides:  # the winner by its name
            for side, won in zip(sides, (1, -1), strict=True):
                number = number.mask(words.notna() & (words == cells[side]) & (cells[sides[0]] != cells[sides[1]]), won)
        if len(set(number.dropna())) > 1 and not (number.isna() & words.notna()).any():
            of_sides[column] = number
            spelt = {word: side_of(word) for word in words.dropna().unique()}
            out.values |= {word: side for word, side in spelt.items() if side is not None}
            if sum(side == 1 for side in spelt.values()) > 1:
                out.warnings.append(
                    f"{column!r} says how much better one side is; only which side is better is kept (`values`)"
                )
    return of_sides


def _words(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """Columns of yes and no, or of ratings with decimal commas, as numbers; what stands for what goes to `values`."""
    values = {}
    for column in (c for c in cells if c not in numeric):
        text = cells[column].str.strip()
        words = text[~text.isin(out.na_values)]
        commas = words[words.map(lambda word: DECIMAL_COMMA.fullmatch(word) is not None)]
        number = words.str.lower().map(ANSWERS)
        if number.isna().any() and not len(commas):
            number = words.map(number_in)
        if len(commas):
            number = pd.to_numeric(words.str.replace(",", ".", regex=False), errors="coerce")
        if words.empty or number.isna().any() or number.nunique() < 2 or not is_rating(column, number):
            continue
        values[column] = number.reindex(cells.index)
        out.values |= (
            dict(zip(commas, number[commas.index], strict=True))
            if len(commas)
            else dict(zip(words, number, strict=True))
        )
    if values:
        shown = ", ".join(list(values)[:8]) + (f" and {len(values) - 8} more" if len(values) > 8 else "")
        hint = "if answers have no order, use `categories` instead"
        out.warnings.append(f"`values` turns answers into numbers in: {shown}; {hint}")
    return values


def _long_metrics(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """Columns of fractions beside the scores of a long table that do not depend on who judged: automatic metrics."""
    out.metrics = [c for c, v in numeric.items() if (v.dropna() % 1 != 0).any() and one_an_item(out, cells, c)]
    left_out(out, [c for c in numeric if c not in out.metrics])


def _check_items(out: Guess, cells: pd.DataFrame) -> None:
    """How an item is known, who judged it, and what looks odd."""
    texts = [out.columns[c] for c in ("user_text", "system_text") if c in out.columns]
    dialogue, system = out.columns.get("dialogue"), out.columns.get("system")
    if any("{dialogue}" in pattern for pattern in out.patterns.values()):
        pass
    elif dialogue is None and texts and cells.duplicated(texts).any():
        out.identify = texts
        out.why["identify"] = "no column names the dialogue: the same texts are the same item"
    elif dialogue is None and system and "system_b" in out.columns and "dialogue_b" not in out.columns:
        out.identify, out.identify_b = ["{row}", system], ["{row}", out.columns["system_b"]]
        out.why["identify"] = "no column names what was compared: each row is treated as a separate pair"
    elif dialogue is None:
        out.columns["dialogue"] = "{row}"
        out.why["dialogue"] = "no column names the dialogue: each row is one"
        out.warnings.append(
            "no column with an id of the dialogue was found: each row is treated as a separate dialogue"
        )
    elif system and "system_b" in out.columns and "dialogue_b" not in out.columns:
        dialogue = _shown(out, cells, dialogue)
        out.columns.pop("dialogue")
        out.columns["context"] = dialogue
        out.identify, out.identify_b = [dialogue, system], [dialogue, out.columns["system_b"]]
        out.why["identify"] = "each id covers one response from each system: it is their shared context"
    elif out.comparative and out.patterns and system is None:
        out.columns["context"] = out.columns.pop("dialogue")
        out.identify, out.identify_b = [dialogue, "{system}"], [dialogue, "{system_b}"]
        out.why["identify"] = "each id covers one response from each system: it is their shared context"
    elif system and cells.groupby(dialogue)[system].nunique().gt(1).any():
        out.columns["context"] = out.columns.pop("dialogue")
        out.identify = [dialogue, system]
        out.why["identify"] = "one id covers responses from several systems: it is their shared context"
    if "annotator" not in out.columns and "{annotator}" not in out.scores:
        out.positions = True
        out.why["annotators"] = "no column says who judged: repeated rows of an item are pos0, pos1, …"
        people = '; if each column is a person, write `scores: "{annotator}"` and `constants: {label: …}`'
        one_each = people if out.layout == "wide" and out.scores == "{label}" and len(out.score_columns) > 1 else ""
        out.warnings.append(f"it is not known who judged: analyses of annotators will be skipped{one_each}")
    named = [out.columns[c] for c in ("dialogue", "turn") if c in out.columns]
    twice = int(cells.duplicated(named).sum()) if "{annotator}" in out.scores and named not in ([], ["{row}"]) else 0
    if twice:
        repeats = "one row repeats" if twice == 1 else f"{twice} rows repeat"
        out.warnings.append(f"{repeats} an id: is a turn, a system or an annotator missing?")
    if out.comparative:
        out.warnings.append(
            "comparisons: scores must be -1 (left loses), 0, +1 (left wins); `values` maps words to them"
        )
    if out.comparative and "dialogue_b" not in out.columns and not out.identify_b:
        out.warnings.append("no column names the other dialogue of a comparison: map `dialogue_b` by hand")


def _shown(out: Guess, cells: pd.DataFrame, item: str) -> str:
    """What both sides of a comparison answered: the prompt where the file names one beside an id of the pair."""
    pair = [out.columns["system"], out.columns["system_b"]]
    if cells.groupby(item)[pair].nunique().max().max() > 1:
        return item
    for column in cells:
        named = plain(column) in ("prompt", "promptid", "question", "questionid", "instruction", "context", "contextid")
        if named and column not in out.columns.values() and cells.groupby(item)[column].nunique().max() == 1:
            out.unused.pop(column, None)
            out.why["context"] = "what both systems answered"
            return column
    return item
