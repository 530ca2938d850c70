"""Comparisons: which two columns, or which cell, hold the sides of a row, and which columns say who won.

Two columns are sides where both name things of one kind that differ in each row; a column is an outcome where each of
its answers names a side, a system of its row, a place or a tie.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.extras.new import cleaning, grids, roles
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess, add_label, is_rating, one_an_item, units, within
from judgebook.extras.new.sides import Coding, coded, families, side_of, tie_of, twins
from judgebook.extras.new.words import is_prose
from judgebook.sources.in_words import counted
from judgebook.sources.nature import plain

#: things that are compared with each other, at most
_MOST = 60
#: columns that may name a side though their names do not say so
_TRIED = 24
#: how an answer calls ratings of sides
_RATED = "ratings of sides"
#: share of rows in which two sides differ, at least
_DIFFER = 0.95
#: between the two parts of a cell
_VERSUS = (" vs. ", " vs ", "_vs_", "-vs-", " versus ", "_versus_")
_BETWEEN = (*_VERSUS, "__", "|", ", ", ",", ";", " / ", "/", "_")
#: names of columns that say what was shown where, not what was answered
_SHOWN = re.compile(r"shown|order|swap|flip|posit|random|(?:first|left)[ _.-]?(?:model|system|bot)", re.I)
_WON = re.compile(r"(?<![a-z])(?:winner|winning|won|chosen|preferred)(?![a-z])", re.I)
_LOST = re.compile(r"(?<![a-z])(?:loser|losing|lost|rejected)(?![a-z])", re.I)


@dataclass(frozen=True)
class Pair:
    """The two sides of each row.

    columns : those that say so. of : "system" or "dialogue" for a column each, "won" where the first is the winner,
    "cell" for one column, "text" where the texts of a row are compared. first, second : what they are in each row.
    sure : whether names say so. pattern : of a cell.
    """

    columns: tuple[str, ...]
    of: str
    first: pd.Series
    second: pd.Series
    sure: bool = False
    pattern: str = ""

    @cached_property
    def names(self) -> set[str]:
        return {*self.first} | {*self.second}


@dataclass(frozen=True)
class Outcome:
    """A column that says who won.

    score : of each row, 1 for the first, -1 for the second, 0 for a tie. coding : of the answers that are no names.
    names : of systems, which stand for themselves.
    """

    score: pd.Series
    coding: Coding
    names: frozenset[str] = frozenset()

    @property
    def sure(self) -> int:
        return 3 if self.names else self.coding.sure


def find(out: Guess, cells: pd.DataFrame) -> None:
    """Say which columns hold the sides and which the outcomes, where rows are comparisons of two."""
    if out.shown or _in_names(out, cells):
        return
    texts = {c: codes.texts_of(cells[c]).stripped for c in cells if c}
    held = {c: of.n for c, of in texts.items() if len(of.distinct) < 2 * _MOST and not _SHOWN.search(c)}
    words = {c: {w: n for w, n in of.items() if w not in out.na_values} for c, of in held.items()}
    codings = {c: coded(of) for c, of in words.items() if 1 < len(of) <= _MOST + 4}
    pairs = [*_pairs(out, cells, texts)]
    of_texts = any(pair.of == "text" for pair in pairs)  # two texts, whose names a cell may hold
    for pair in pairs:
        found = {c: o for c in codings if (o := _outcome(out, cells, pair, c, words[c], codings[c]))}
        versus = any(between in pair.pattern for between in _VERSUS)
        least = (
            1 if versus else 2 if pair.of == "text" or (of_texts and pair.of == "cell") or twins(pair.columns) else 3
        )
        if pair.sure or ("no pair" not in out.answers and max((o.sure for o in found.values()), default=0) >= least):
            break
    else:
        return
    out.pair, out.outcomes = pair, found
    label = out.columns.get("label")
    if label is not None and _of_a_pair(cells[label], pair):
        out.columns.pop("label")
    # what else is said of each side is neither the item nor who judged
    beside = {c for p in twins(texts) for c in p if (cells[p[0]] != cells[p[1]]).mean() > 0.5}
    out.shown = sorted(beside - {*pair.columns, *found, *out.columns.values()})
    if not pair.sure:
        listed, won = " and ".join(map(repr, pair.columns)), " or ".join(map(repr, found))
        no = Answer("no: each row is of one item", given={"no pair": pair.columns[0]})
        text = f"Does {listed} name two that are compared, and {won} who won?"
        out.ask("comparison: sides", text, "yes", no)
    gone = {*pair.columns, *found}
    out.columns = {ours: c for ours, c in out.columns.items() if c not in gone or ours == "score"}
    if pair.of == "won":
        out.columns |= dict(zip(("system", "system_b"), pair.columns, strict=True))
        out.scores, out.one_label, out.score_columns = pair.columns[0], "better", [*pair.columns]
        out.more = ["# who won is the first of each pair"]
        out.labels["better"], out.ways["better"] = ("better", -1, 1, True), 1
    elif pair.of == "cell":
        out.patterns[pair.columns[0]] = pair.pattern
        out.why["patterns"] = "its cells name both sides of a comparison"
        out.columns |= {"system": pair.columns[0]}  # until items are known
    elif pair.of == "text":
        out.constants = dict(zip(("system", "system_b"), pair.columns, strict=True))
        out.columns |= {"system": pair.columns[0]}
        how = Answer("by columns: write them below `columns` as `system` and `system_b`, and drop `constants`")
        out.ask("system", "How are the two systems named?", f"{' and '.join(pair.columns)}, after the texts", how)
    else:
        out.columns |= dict(zip((pair.of, f"{pair.of}_b"), pair.columns, strict=True))
        out.why.setdefault(pair.of, "two columns, one for each side of a comparison")


def _in_names(out: Guess, cells: pd.DataFrame) -> bool:
    """Whether each of several columns is named for the two that it compares, as `ours vs theirs`; it is asked."""
    for between in _VERSUS:
        named = {c: c.split(between) for c in cells if c.count(between) == 1}
        sides, won = dict[str, int](), set[int]()
        for column, two in named.items():
            held = {w: n for w, n in codes.texts_of(cells[column]).stripped.n.items() if w not in out.na_values}
            coding = coded(held, dict(zip(map(str.lower, two), (1, -1), strict=True)))
            sides |= {w: side for w, side in coding.sides.items() if w not in two}
            won |= {*coding.sides.values()}
            if coding.unknown or coding.sure < 3 or not coding.sides:
                break
        else:
            if len(named) < 2 or not {1, -1} <= won or "columns in names" in out.answers:
                continue
            out.scores, out.one_label, out.values = f"{{system}}{between}{{system_b}}", "better", dict(sides)
            out.shown = out.score_columns = [*named]
            out.labels["better"], out.ways["better"] = ("better", -1, 1, True), 1
            systems = len({x for two in named.values() for x in two})
            text, no = f"Do {', '.join(named)} say which of two won?", {"columns in names": "labels"}
            out.ask("comparison", text, f"yes, of {systems} systems", Answer("no, each is a label", given=no))
            return True
    return False


def _of_a_pair(label: pd.Series, pair: Pair) -> bool:
    """Whether what seems to name what was judged (`question`) says which pair was shown: each hardly comes again, or
    always with the same two of several."""
    sides = pd.Series([" ".join(sorted(two)) for two in zip(pair.first, pair.second, strict=True)], label.index)
    again = label.duplicated(keep=False)
    same = bool(again.any()) and sides[again].groupby(label[again]).nunique().max() == 1
    return label.nunique() * 4 > len(label) or (same and len({*sides}) > 1)


def _pairs(out: Guess, cells: pd.DataFrame, held: dict[str, codes.Texts]) -> Iterator[Pair]:
    """What may be the sides: by name, by values, in a cell, as texts. held : what each column holds."""

    def pair(columns: tuple[str, ...], of: str, *, sure: bool = False) -> Pair:
        return Pair(columns, of, cells[columns[0]].str.strip(), cells[columns[1]].str.strip(), sure)

    def differ(one: pd.Series, other: pd.Series) -> float:
        return float((one.str.strip() != other.str.strip()).mean())

    for of in ("system", "dialogue"):
        if {of, f"{of}_b"} <= set(out.columns):
            columns = out.columns[of], out.columns[f"{of}_b"]
            if any({*columns} < {*one.values()} for one in families(held).values()):
                return  # two of several side by side
            yield pair(columns, of, sure=True)
    if {"system", "dialogue"} & {ours for ours in out.columns if f"{ours}_b" not in out.columns}:
        return  # as answered
    free = {c: of.distinct for c, of in held.items() if c not in out.columns.values()}
    free = {c: n for c, n in free.items() if roles.role_of(c) != "annotator"}
    texts = {c for c, n in free.items() if len(n) > 2 and is_prose(cells[c])}
    numeric = {c for c, n in free.items() if np.isfinite(held[c].numbers[n != ""]).all()}
    places = {p: roles.role_of(shared) for p, shared in twins(free).items() if roles.role_of(shared) != "annotator"}
    short = [p for p in places if not texts & {*p}]
    for columns in sorted(short, key=lambda p: places[p] != "system"):
        if (role := places[columns]) in ("system", "dialogue") and not numeric & {*columns}:
            yield pair(columns, str(role), sure=role == "system")
    ends = ([c for c in free if c not in texts and end.search(c)] for end in (_WON, _LOST))
    for won, lost in itertools.product(*ends):
        named = _WON.sub("", won) == _LOST.sub("", lost)
        if named and {*free[won]} & {*free[lost]} and differ(cells[won], cells[lost]) == 1:
            yield pair((won, lost), "won", sure=True)
    few = [c for c, n in free.items() if c not in texts | numeric and 1 < len(n) <= min(_MOST, len(cells) / 2)]
    bare = {c.lower(): c for c in free if c not in texts | numeric}
    for answers in (free[c] for c in few):  # that name the columns of the two sides
        two = tuple(column for name, column in bare.items() if name in map(str.lower, answers))
        if len(two) == 2 and differ(*(cells[c] for c in two)) >= _DIFFER:
            yield pair(two, "system")
    few = [c for c in few if not any(side_of(w) == 0 for w in free[c])]  # who says a tie judged
    for columns in [*short, *itertools.combinations(few[:_TRIED], 2)]:
        one, other = ({*free[c]} for c in columns)
        alike = columns in places or 2 * len(one & other) >= min(len(one), len(other))
        if alike and not numeric & {*columns} and differ(*(cells[c] for c in columns)) >= _DIFFER:
            yield pair(columns, "system")
    for column in (c for c in free if c not in numeric and 1 < len(free[c]) <= _MOST and len(cells) >= 4):
        between = next((b for b in _BETWEEN if all(text.count(b) == 1 for text in free[column])), None)
        if between:
            parts = cells[column].str.strip().str.split(between, regex=False)
            first, second = parts.str[0], parts.str[1]
            numbers = any(part.str.isdecimal().all() for part in (first, second))  # `option_1` is one name
            if not numbers and differ(first, second) >= _DIFFER:
                yield Pair((column,), "cell", first, second, pattern=f"{{system}}{between}{{system_b}}")
    for columns in places if "system" not in out.columns else ():
        if texts >= {*columns}:
            yield pair(columns, "text")


def _outcome(
    out: Guess, cells: pd.DataFrame, pair: Pair, column: str, words: dict[str, int], coding: Coding
) -> Outcome | None:
    """What a column says of who won; None where it does not. words : its answers. coding : of these, if no names."""
    taken = {c for ours, c in out.columns.items() if ours not in ("score", "label")} | {*pair.columns}
    names = words.keys() & pair.names if pair.of != "text" else set()
    literal = {c.lower(): side for c, side in zip(pair.columns, (1, -1), strict=False)}
    if len(initials := {c[0] for c in literal}) > 1 and not any(side_of(i) for i in initials):
        literal |= {c[0]: side for c, side in [*literal.items()]}
    if column in taken or not (names or coding.sides or literal.keys() & {w.lower() for w in words}):
        return None
    text, differ, won = cells[column].str.strip(), pair.first != pair.second, pd.Series(np.nan, cells.index)
    for side, value in ((pair.first, 1.0), (pair.second, -1.0)) if names else ():
        won = won.mask(differ & (text == side), value)
    if names and won[text.isin(names) & differ].isna().any():
        names, won = set(), pd.Series(np.nan, cells.index)
    coding = coded({w: n for w, n in words.items() if w not in names}, literal)
    score = won.fillna(text.map(coding.sides).astype(float))
    odd = sum(words[w] for w in coding.unknown)
    if len(coding.unknown) > 3 or odd * 2 > sum(words.values()) or not {1, -1} <= {*score.dropna()}:
        return None
    role = not names and roles.role_of(column)
    return None if role in ("annotator", "dialogue", "system") else Outcome(score, coding, frozenset(names))


def identify(out: Guess, cells: pd.DataFrame) -> None:
    """How the two of each row are known: by what both answered, and by the side."""
    if "dialogue_b" in out.columns:
        return
    shown = [c for c in out.identify if c != out.columns.get("system")] or [out.columns.pop("dialogue", "{row}")]
    if out.patterns or "{system_b}" in out.scores:
        sides = ["{system}", "{system_b}"]
        out.columns.pop("system", None)
    elif out.constants:
        sides = [*out.constants.values()]
        out.columns.pop("system", None)
    else:
        sides = [out.columns["system"], out.columns["system_b"]]
        shown = _shown(out, cells, shown, sides)
    if shown == ["{row}"] and "user_text" in out.columns and not out.constants:
        shown = [out.columns["user_text"]]
    if shown == ["{row}"]:
        out.why["identify"] = "no column names what was compared: each row is treated as a separate pair"
    else:
        out.why["identify"] = "what both answered, and the side: their shared context"
        out.columns["context"] = shown[0]
    out.identify, out.identify_b = [*shown, sides[0]], [*shown, sides[1]]


def rated_sides(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """Ratings of each side beside who won: a label each, of sources of their own, unless somebody says otherwise."""
    taken = {*out.columns.values(), *out.identify, *out.identify_b, *out.score_columns, *out.metrics}
    free = {c: v for c, v in numeric.items() if c in cells and c not in taken and is_rating(c, v)}
    found = {name: two for two, name in twins(free).items() if name and roles.role_of(name) in (None, "label", "score")}
    if not found or out.pair is None or out.pair.of not in ("system", "dialogue") or _RATED in out.answers:
        return
    who = [c for ours, c in out.columns.items() if ours == "annotator" and c in cells]
    rows = cells.assign(**{"{row}": cells.index})
    of_side = [[c for c in many if c in rows] + who for many in (out.identify, out.identify_b)]
    both = pd.concat([rows[columns].set_axis(range(len(columns)), axis=1) for columns in of_side])
    listed = " and ".join(c for two in found.values() for c in two)
    text, by_hand = f"Are {listed} ratings of each side?", "yes: sources of their own (docs/own_data.md)"
    if both.duplicated().any() or not who:  # a side that was rated again, or by somebody who is not known
        out.ask("label: sides", text, "not read", Answer(by_hand))
        return
    for name, two in found.items():
        of = Guess()
        add_label(of, name, pd.concat([free[c] for c in two]))
        id_, low, high, whole = of.labels[name]
        id_ = f"{id_}_of_each" if id_ in {x[0] for x in out.labels.values()} else id_
        out.of_sides[name] = two, (id_, low, high, whole)
        out.observed |= dict.fromkeys([id_], next(iter(of.observed.values())))
        out.unused = {c: why for c, why in out.unused.items() if c not in two}
    out.ask("label: sides", text, "yes, each side has two sources", Answer("no: not read", given={_RATED: "none"}))


def _shown(out: Guess, cells: pd.DataFrame, item: list[str], pair: list[str]) -> list[str]:
    """What both sides answered: the prompt where the file names one beside an id of the pair."""
    if item == ["{row}"] or cells.groupby(item)[pair].nunique().max().max() > 1:
        return item
    for column in cells:
        named = plain(column) in ("prompt", "promptid", "question", "questionid", "instruction", "context", "contextid")
        if named and column not in out.columns.values() and cells.groupby(item)[column].nunique().max() == 1:
            out.unused.pop(column, None)
            return [column]
    return item


def outcomes(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """Columns that say who won, as 1, 0 and -1; their answers are noted in `values`, and what is unsure is asked."""
    most = max((o.sure for o in out.outcomes.values()), default=0)
    sure = {c: o for c, o in out.outcomes.items() if o.sure == most or f"label {c}" in out.answers}
    if most < 3:
        told = {*one_an_item(out, cells, sure), *_of_people(out, cells, [*sure])}
        rated = [c for pair in twins(sure) for c in pair if most == 1]  # each of its side
        sure = {c: o for c, o in sure.items() if c not in {*told, *rated}} or sure
    out.unused |= {c: "does not say which side won" for c in {*numeric, *out.outcomes} - {*sure, *out.columns.values()}}
    found, asked = {}, dict[str, Coding]()
    for column, outcome in sure.items():
        coding = outcome.coding
        score = outcome.score.reindex(cells.index)
        if coding.unknown and (score := _unknown(out, cells, column, coding, score)) is None:
            continue
        if any(out.values.get(w, side) != side for w, side in coding.sides.items()):
            how = Answer("another source for it, with `values` of its own")
            text = f"What do the answers of {column!r} stand for, which stand for something else elsewhere?"
            out.ask(f"label {column}", text, "not known, so it is left out", how)
            continue
        found[column] = score
        out.values |= coding.sides
        asked |= {coding.says: coding} if coding.says else {}
        _ask_names(out, column, outcome)
        _notes(out, column, coding, codes.texts_of(cells[column]).stripped.n)
    for i, (says, coding) in enumerate(asked.items()):
        ways = [Answer(other, {"sources.*.values": out.values | way}) for other, way in coding.others.items()]
        text = f"Which side do {', '.join(sorted(coding.sides))} say won?"
        out.ask("winner" + f" {i + 1}" * bool(i), text, f"{says} (`values`)", *ways)
    return found


def _of_people(out: Guess, cells: pd.DataFrame, columns: list[str]) -> list[str]:
    """Columns that are the same in all rows of each of several people."""
    who = out.columns.get("annotator")
    if who is None:
        return []
    rows = {c: within(units(cells, [who]), codes.texts_of(cells[c]).code) for c in columns}
    return [c for c, (n, different) in rows.items() if (n >= 3).sum() >= 3 and (different[n >= 3] == 1).all()]


def _unknown(out: Guess, cells: pd.DataFrame, column: str, coding: Coding, score: pd.Series) -> pd.Series | None:
    """Scores where a few answers name no side: slips, or a tie in other words; None where it is not known."""
    held = cleaning.texts(cells)
    times = sum(held[column].n[w] for w in coding.unknown)
    if cleaning.few(times, len(score)):
        return score if cleaning.slips(out, held, column, [*coding.unknown], times) else None
    listed = ", ".join(map(repr, coding.unknown))
    edits = {"na_values": [*out.na_values, *coding.unknown], "values": out.values | coding.sides}
    none = {f"sources.*.{key}": value for key, value in edits.items()}
    out.values |= dict.fromkeys(coding.unknown, 0)
    out.ask(f"winner: {listed}", f"What is {listed} in {column!r}?", "a tie (`values`)", Answer("no answer", none))
    return score.mask(cells[column].str.strip().isin(coding.unknown), 0.0)


def _ask_names(out: Guess, column: str, outcome: Outcome) -> None:
    """Ask whether names of systems that could be sides are the one or the other."""
    both = [name for name in outcome.names if side_of(name) is not None]
    if both and len(outcome.names) > 1:
        text, other = f"Does {column!r} name the system that won, or its side?", "the side: `values` says which"
        out.ask("winner", text, "the system", Answer(other), evidence="its answers are names of systems")


def _notes(out: Guess, column: str, coding: Coding, n: dict[str, int]) -> None:
    """What is not kept of the answers: how much better a side is, and which of several kinds of tie it is."""
    if len({w.lower() for w, side in coding.sides.items() if side == 1}) > 1:
        kept = "only which side is better is kept (`values`)"
        out.warnings.append(f"{column!r} says how much better one side is; {kept}")
    ties = [w for w, side in coding.sides.items() if side == 0 and not tie_of(w)]
    if len({w.lower() for w in ties}) > 1 and coding.sure == 3:
        kinds = ", ".join(f"{w} ({n[w]})" for w in ties)
        out.warnings.append(f"{column!r}: {kinds} are ties; which kind is not kept (`values`)")


def one_each(out: Guess, numeric: dict[str, pd.Series]) -> dict[str, pd.Series]:
    """A column for each way to end (`winner_model_a`, `winner_tie`) with 1 in that of the one, as numbers of sides;
    none where there are none. Who judged must be unknown, as for all counts of judgements."""
    ones = sorted(c for c, v in numeric.items() if c not in out.columns.values() and {*v.dropna()} <= {0, 1})
    for before in sorted({grids.shared([*p]) for p in itertools.pairwise(ones)} - {""}, key=len):
        told = {c: side_of(c.removeprefix(before)) for c in ones if c.startswith(before)}
        sides = {c: side for c, side in told.items() if side is not None}
        if len(sides) < len(told) or not (pd.DataFrame({c: numeric[c] for c in sides}).sum(axis=1) == 1).all():
            continue
        out.scores, out.counted, out.one_label = before + "{score}", True, "better"
        out.why["scores"] = "one column per outcome"
        out.values |= {c.removeprefix(before): side for c, side in sides.items()}
        return {c: numeric[c] * side for c, side in sides.items()}
    return {}


def orders(out: Guess, cells: pd.DataFrame, scores: dict[str, pd.Series]) -> None:
    """Pairs that the same person judged in both orders, or again: each counts, and it is said."""
    who, item, pair = out.columns.get("annotator"), [c for c in out.identify[:-1] if c in cells], out.pair
    if who is None or not item or pair is None or pair.of == "won" or "first_shown" in out.columns:
        return
    keys = [who, *item, *([out.columns["label"]] if "label" in out.columns else [])]
    unit = pd.Series(units(cells, keys), cells.index)  # the pair is of all rows
    seen = pd.DataFrame({"unit": unit, "a": pair.first, "b": pair.second} | scores).loc[cells.index]
    seen = seen[seen["a"] != seen["b"]]
    other = seen.merge(seen.rename(columns={"a": "b", "b": "a"}), on=["unit", "a", "b"])
    changed = sum(int((other[f"{c}_x"] != -other[f"{c}_y"]).sum()) // 2 for c in scores)
    again = int(seen.duplicated(["unit", "a", "b"]).sum())
    if changed:
        out.constants["first_shown"] = "left"
        out.repeats = out.repeats or "number"
        how = Answer("no: delete `first_shown` and `repeats`, and correct the rows that contradict each other")
        text = "Were pairs shown to the same judge in both orders, the left side of a row first?"
        evidence = f"{len(other) // 2} pairs are there from both sides, {changed} with another choice"
        out.ask("comparison: both orders", text, "yes (`first_shown`, `repeats`)", how, evidence=evidence)
    elif again and not out.repeats:
        out.repeats = "number"
        ways = [Answer(f"the {x}", {"sources.*.repeats": x}) for x in ("last", "first")]
        ways.append(Answer("different ones: name the column that tells people or items apart in `columns`"))
        text = "Which judgement counts where the same person judged a pair again?"
        out.ask("repeats", text, "all (`repeats: number`)", *ways, evidence=counted(again, "judgement") + " again")
