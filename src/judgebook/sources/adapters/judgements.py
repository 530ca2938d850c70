"""From rows of text cells to validated judgements: what tables and records have in common.

An adapter that knows which cell is what hands over three frames with text cells. `cells` holds the columns of the file
that the YAML names (index: one row per item, or per score). `base` has the same index and our columns. `marks` has one
row per score, with our columns, `label`, `score`, `where`, `file` and `_item`, the row of `base` it came from.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from judgebook.sources import filters, sampling, typed
from judgebook.sources.comparisons import orient
from judgebook.sources.ids import naming
from judgebook.sources.reading import Counts, Reading
from judgebook.study import formulas as arithmetic
from judgebook.study import limits
from judgebook.study.labels import METHODS, Label
from judgebook.study.paths import Matcher
from judgebook.study.schema import DIALOGUES, KINDS, METRIC_SCORES, Column, DataError, Problem, several, unordered
from judgebook.study.source_shared import OURS, JudgementOptions

TEXTS = ("user_text", "system_text", "reference")
#: column of `cells` that says where a row is from: no column of a file and no name of a pattern is called so
WHERE = "{.where}"
#: characters of a cell that a message quotes
_SHOWN = 60
_ONLY_DIALOGUES = [*TEXTS, "order_shown", "interactor"]
_ITEM = ["corpus", "group", "system", "dialogue", "turn", "dialogue_b", "method", "label"]


def cell_column(name: str) -> str:
    """The column of `base` and `marks` that holds a column of the file which only `keep` and `drop` need."""
    return f"_cell.{name}"


def spellings(source: JudgementOptions, labels: list[Label]) -> dict[str, str]:
    """Labels, and items of composites, as the file spells them -> their ids."""
    items = [item for composite in source.composites.values() for item in composite.mean]
    return {item: item for item in items} | {label.id: label.id for label in labels} | source.label_names


def mapped(source: JudgementOptions, cells: pd.DataFrame, columns: Mapping[Any, str]) -> pd.DataFrame:
    """Our columns as the YAML maps them, missing where the cell means no value; and `where` and `file`.

    columns : our column -> the column of `cells`.
    """
    out = pd.DataFrame({"corpus": "main", "system": "system"}, index=cells.index, dtype=object)
    for ours, value in source.constants.items():
        out[ours] = str(value)
    bound = {ours: f"{{{ours}}}" for ours in OURS if f"{{{ours}}}" in cells}
    for ours, column in {**bound, **columns}.items():
        out[ours] = cells[column] if ours in TEXTS else cells[column].str.strip()
    for ours in source.identify:
        out[ours] = cells[f"identify.{ours}"]
    for name in {**source.keep, **source.drop}:
        if name not in out and name in cells:
            out[cell_column(name)] = cells[name].fillna("")
    held = [c for c in out if c[0] != "_"]
    out[held] = out[held].astype(object).where(~out[held].isin(source.na_values) & out[held].notna(), None)
    if "turn" in out:
        number = pd.to_numeric(out["turn"], errors="coerce") - source.first_turn
        out["turn"] = number.astype(object).where(number.notna(), out["turn"])
    if "annotator_kind" in out:
        kind = out["annotator_kind"].str.lower()
        out["annotator_kind"] = kind.where(kind.isin(KINDS), out["annotator_kind"])
    if "seconds" in out:
        out["seconds"] = out["seconds"].map(_seconds)
    out["where"], out["file"] = cells[WHERE], cells["{file}"]
    if source.sampling:
        drawn = cells[source.sampling[1]].str.strip()
        out[sampling.CELL] = drawn.astype(object).where(~drawn.isin(source.na_values) & drawn.notna(), None)
    if "work_unit" in out:
        # the same number in two files is not the same work unit
        named = out["file"].astype("str") + ":" + out["work_unit"].astype("str")
        out["work_unit"] = named.where(out["work_unit"].notna(), None)
    return out


_CLOCK = re.compile(r"([0-9]+):([0-5][0-9]):([0-5][0-9](?:\.[0-9]+)?)")
_UNITS = re.compile(
    r"(?:([0-9]+) ?h(?:ours?|rs?)?,? ?)?(?:([0-9]+) ?m(?:in(?:utes?|s)?)?,? ?)?"
    r"(?:([0-9]+(?:\.[0-9]+)?) ?s(?:ec(?:ond)?s?)?)?"
)


def _seconds(text: str | None) -> str | None:
    """A duration such as 0:01:30 or 1m 30s in seconds; any other text as it is. 1:30 could be hours, too."""
    found = (_CLOCK.fullmatch(text) or _UNITS.fullmatch(text)) if text else None
    return (
        f"{sum(float(n or 0) * k for n, k in zip(found.groups(), (3600, 60, 1), strict=True)):.10g}" if found else text
    )


def with_patterns(source: JudgementOptions, cells: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """`cells` with a column `{name}` for every name that `patterns` find; problems of cells that do not fit."""
    problems, found = [], {}
    for column, text in source.patterns.items():
        match = Matcher(text)
        held = cells[column].astype(object).where(cells[column].notna(), "").astype(str).str.strip()
        parts = held.map(match)
        for name in match.names:
            found[f"{{{name}}}"] = parts.map(lambda p, name=name: p[name] if p else None)
        for i in cells.index[parts.isna() & ~held.isin(source.na_values)][: limits.PROBLEMS]:
            cell, hint = held[i], "change the pattern, or write a regular expression between slashes"
            if cell in match.ambiguous:
                short, long = match.ambiguous[cell]
                hint = f"it can be divided as {_ways(short)} or as {_ways(long)}: {hint}"
            place = cells.at[i, "{file}"], cells.at[i, WHERE], column
            problems.append(Problem(*place, f"a cell like {text!r}", repr(cell[:60]), hint))
    return cells.assign(**found), problems


def _ways(parts: dict[str, str]) -> str:
    return " + ".join(repr(v) for v in parts.values())


@dataclass
class _State:
    counts: Counts = field(default_factory=Counts)
    problems: list[Problem] = field(default_factory=list)

    def count(self, rows: pd.DataFrame, action: str, reason: str = "", what: str = "annotations") -> None:
        for (file, corpus), n in rows.groupby(["file", "corpus"], sort=False, dropna=False).size().items():
            self.counts.add(file, what, action, reason, n, corpus=None if pd.isna(corpus) else corpus)

    def count_missing(self, rows: pd.DataFrame, reason: str) -> None:
        """Scores that are missing, by method, label and systems: a design is asked whether some systems lack more."""
        by = ["file", "corpus", "method", "label", "system", "system_b"]
        known = rows.assign(corpus=rows.get("corpus"), system_b=rows.get("system_b"))[by].astype(object)
        for key, n in known.groupby(by, sort=False, dropna=False).size().items():
            corpus, *of = (None if pd.isna(k) else k for k in key[1:])
            self.counts.add(key[0], "annotations", "dropped", reason, n, corpus=corpus, missing=tuple(of))


def finish(
    source: JudgementOptions,
    name: str,
    cells: pd.DataFrame,
    base: pd.DataFrame,
    marks: pd.DataFrame,
    labels: list[Label],
    problems: list[Problem],
    *,
    item_of_marks: bool = False,
) -> Reading:
    """The reading that the frames amount to: filtered, scored, attributed to annotators, counted.

    name : the file, as the YAML calls it. item_of_marks : dialogues are those of `marks`, not of `base`.
    """
    state = _State(problems=list(problems))
    marks["label"] = marks["label"].replace(source.label_names)
    _check_names(source, name, marks, labels, state)
    marks = _scored(source, marks, labels, state)
    marks = _who(source, _with_method(_composed(source, marks, {label.id for label in labels}, state), labels))
    state.count(marks, "read")
    marks, gone = _filtered(source, name, marks, state)
    cells, base = cells[~base.index.isin(gone)], base[~base.index.isin(gone)]
    missing = marks["score"].isna()
    for label, rows in marks[missing].groupby("label", dropna=False):
        state.count_missing(rows, source.na_reasons.get(label, "no score"))
    marks = _reversed(source, marks[~missing].reset_index(drop=True), labels, state)
    oriented = orient(_without_repeats(source, _sets(marks, labels, state), state))
    state.count(oriented.mirrors, "dropped", "the same comparison from its other side")
    state.count(oriented.turned, "mended", "comparison turned to the side first met")
    state.count(oriented.annotations, "kept")
    kept = oriented.annotations
    if source.sampling and len(kept):
        kept, odd = sampling.weighted(source, name, kept)
        state.problems += odd
    items = marks if item_of_marks else base
    unknown = items["dialogue"].isna() | items["system"].isna()
    state.count(items[unknown], "dropped", "no dialogue id or no system", what="dialogues")
    if "order_shown" in items:
        items = items.assign(order_shown=_numbers(items, items["order_shown"], "order_shown", DIALOGUES, state))
    dialogues, differing = _dialogues(items[~unknown])
    return Reading(
        kept[[c for c in kept if c not in _ONLY_DIALOGUES and c[0] != "_"]],
        dialogues,
        metric_scores=_metrics(source, cells, base, state),
        counts=state.counts,
        problems=state.problems + differing + oriented.problems,
    )


def _check_names(source: JudgementOptions, name: str, marks: pd.DataFrame, labels: list[Label], state: _State) -> None:
    """Report what the source names and nothing is called: annotators that are models, labels."""
    ids = {label.id for label in labels}
    people = set(marks["annotator"].dropna()) if "annotator" in marks else set()
    items = {item for c in source.composites.values() for item in c.mean}
    wanted = [("judges", "an annotator", [j for j in source.judges if "*" not in j], people)]
    wanted += [("reversed", "a declared label", source.reversed, ids)]
    wanted += [("composites", "a declared label", list(source.composites), ids)]
    wanted += [("label_names", "a declared label", list(source.label_names.values()), ids | items)]
    wanted += [("na_reasons", "a declared label", list(source.na_reasons), ids)]
    for key, what, given, known in wanted:
        for one in dict.fromkeys(given):
            if one not in known:
                near = difflib.get_close_matches(one, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known)[:8])}"
                state.problems.append(Problem(name, "", key, what, repr(one), hint))
    for pattern in (j for j in source.judges if "*" in j):
        if not any(fnmatch.fnmatchcase(who, pattern) for who in people):
            hint = f"there are {', '.join(sorted(people)[:8])}"
            state.problems.append(Problem(name, "", "judges", "an annotator", repr(pattern), hint))


def _scored(source: JudgementOptions, marks: pd.DataFrame, labels: list[Label], state: _State) -> pd.DataFrame:
    """Scores in words as numbers: by `values`, and by the categories of their label."""
    score = marks["score"].map(lambda text: source.values.get(text, text))
    if "system_b" in marks:
        # the winner of a comparison by its name
        sides = (marks["system"] != marks["system_b"]) & marks["system_b"].notna()
        named = {won: sides & (score == marks[side]) for side, won in (("system", 1), ("system_b", -1))}
        state.problems += _names_or_scores(marks, score[named[1] | named[-1]])
        for won, by_name in named.items():
            score = score.where(~by_name, won)
    for label in (x for x in labels if x.categories):
        code = {word: low for low, word in enumerate(label.categories, start=int(label.scale[0]))}
        if label.level == "sets":
            code = {word: 2**i for i, word in enumerate(label.categories)}
        mine = _of(label, marks, labels) & marks["score"].notna()
        odd = marks.index[mine & ~marks["score"].isin(list(code)) & score.map(lambda x: isinstance(x, str))]
        for i in odd[: limits.PROBLEMS]:
            text = marks.at[i, "score"]
            near = difflib.get_close_matches(text, list(code), n=1)
            near = [w for w in code if w.lower() == text.lower()] or near
            hint = f"did you mean {near[0]!r}? " if near else ""
            hint += "add it to `categories`, map it in `values`, or name it in `na_values`"
            expected = f"one of {', '.join(code)} ({label.id})"
            state.problems.append(
                Problem(marks.at[i, "file"], marks.at[i, "where"], "score", expected, repr(text), hint)
            )
        score = score.where(~mine, score.map(lambda x, code=code: code.get(x, x) if isinstance(x, str) else x))
        # reported here; what is left out cannot be reported a second time as no number
        marks, score = marks.drop(index=odd), score.drop(index=odd)
    return marks.assign(score=score)


def _names_or_scores(marks: pd.DataFrame, named: pd.Series) -> list[Problem]:
    """Problems of winners' names that could be scores; none where a name is no score, as names are then meant.

    named : scores, as the file spells them, that are the name of a system of their row.
    """
    if not len(named) or not pd.to_numeric(named, errors="coerce").isin([-1, 0, 1]).all():
        return []
    hint = "if it is a score, map it to a number in `values`; if it is a name, rename the systems"

    def unclear(i: Any) -> Problem:
        found = f"{named[i]!r}, which could be both"
        return Problem(
            marks.at[i, "file"], marks.at[i, "where"], "score", "either a score or the name of the winner", found, hint
        )

    return several(named.index, unclear)


def _of(label: Label, marks: pd.DataFrame, labels: list[Label]) -> pd.Series:
    """Which judgements are by a label: of several with its id, the one of their method."""
    mine = marks["label"] == label.id
    if sum(other.id == label.id for other in labels) > 1:
        mine &= _with_method(marks, labels)["method"] == label.method
    return mine


def _composed(source: JudgementOptions, marks: pd.DataFrame, own: set[str], state: _State) -> pd.DataFrame:
    """Composites in the place of their items; an item that is a label of its own stays."""
    if not source.composites:
        return marks
    by = [c for c in OURS if c in marks and c not in ("label", "score")]
    by += [] if "label" in (getattr(source, "columns", None) or {}) else ["_record"]
    parts = [marks]
    for name, composite in source.composites.items():
        items = marks[marks["label"].isin(composite.mean)]
        score = pd.to_numeric(items["score"], errors="coerce")
        low, high = composite.scale
        off = items["score"].notna() & ~score.between(low, high)
        for i in items.index[off][: limits.PROBLEMS]:
            expected = f"a number from {low:g} to {high:g} (an item of {name})"
            place = marks.at[i, "file"], marks.at[i, "where"], "score"
            hint = "correct `scale`, map the answer in `values`, or name it in `na_values`"
            state.problems.append(Problem(*place, expected, repr(marks.at[i, "score"]), hint))
        turned = items["label"].isin(composite.reversed)
        score = score.where(~turned, low + high - score).where(~off)
        again = items[score.notna()].duplicated([*by, "label"]).reindex(items.index, fill_value=False)
        if source.repeats == "error":
            state.problems += several(items.index[again], partial(_twice_at, marks, name))
        groups = items.assign(score=score.where(~again)).groupby(by, dropna=False, sort=False)
        least = composite.least or len(composite.mean)
        mean = groups["score"].mean().where(groups["score"].count() >= least)
        first = groups.head(1).assign(label=name)
        parts.append(
            first.assign(score=pd.Series(mean.to_numpy(), first.index).astype(object).where(lambda s: s.notna(), None))
        )
        absent = sorted(set(composite.mean) - set(items["label"]))
        if absent:
            found = f"no item {', '.join(map(repr, absent))}"
            state.problems.append(Problem(str(marks["file"].iloc[0]), "", f"composites.{name}", "its items", found))
    used = {item for c in source.composites.values() for item in c.mean} - own
    out = pd.concat(parts)
    state.count(out[out["label"].isin(used)], "read", what="answers to items")
    state.count(out[out["label"].isin(used)], "dropped", "their mean is the label", what="answers to items")
    return out[~out["label"].isin(used)].sort_index(kind="stable").reset_index(drop=True)


def _twice(mark: pd.Series, composite: str) -> Problem:
    expected = f"one answer by each annotator to each question of {composite}"
    hint = "delete one, name the column of annotators, or set `repeats: first`"
    return Problem(mark["file"], mark["where"], "score", expected, f"a second answer to {mark['label']!r}", hint)


def _twice_at(marks: pd.DataFrame, composite: str, i: Any) -> Problem:
    return _twice(marks.loc[i], composite)


def _reversed(source: JudgementOptions, marks: pd.DataFrame, labels: list[Label], state: _State) -> pd.DataFrame:
    """Scores of reversed labels turned round within their scale."""
    turned = marks["label"].isin(source.reversed)
    if not turned.any():
        return marks
    ends = pd.Series(np.nan, marks.index)
    for label in (x for x in labels if x.id in source.reversed):
        ends = ends.mask(_of(label, marks, labels), sum(label.scale))
    turned &= ends.notna()
    number = pd.to_numeric(marks["score"], errors="coerce")
    whole = (ends - number).astype(object)
    state.count(marks[turned], "mended", "turned round, as the YAML says (`reversed`)")
    return marks.assign(score=marks["score"].astype(object).where(~turned | number.isna(), whole))


def _with_method(marks: pd.DataFrame, labels: list[Label]) -> pd.DataFrame:
    """The method of each label, where the file does not say it: of several, the one that fits what is judged."""
    if "method" in marks:
        return marks
    compares = marks["dialogue_b"].notna() if "dialogue_b" in marks else pd.Series(False, marks.index)
    has_turn = marks["turn"].notna() if "turn" in marks else pd.Series(False, marks.index)
    unit = pd.Series("dialogue", marks.index).mask(has_turn, "turn").mask(compares, "pair")
    of: dict[str, dict[str, str]] = {}
    for label in labels:
        of.setdefault(label.id, {}).setdefault(METHODS[label.method].unit, label.method)
    # a label nobody declared gets any method: validation then names the label
    default = labels[0].method if labels else "dialogue_rating"
    kind, kinds = pd.MultiIndex.from_arrays([marks["label"], unit]).factorize()
    found = [by.get(u) or next(iter(by.values()), default) for by, u in ((of.get(i, {}), u) for i, u in kinds)]
    return marks.assign(method=np.array(found, dtype=object)[kind] if len(marks) else [])


def _who(source: JudgementOptions, marks: pd.DataFrame) -> pd.DataFrame:
    """Annotators: people, models, or positions (columns in their order, else the repeats of an item in theirs)."""
    marks = marks.assign(annotator_known=True)
    if "annotator_kind" not in marks:
        marks["annotator_kind"] = "human"
    if source.judges and "annotator" in marks:
        named = {a: _judge(source, a) for a in marks["annotator"].dropna().unique()}
        marks["annotator_kind"] = marks["annotator"].map(named).fillna(marks["annotator_kind"])
    human = marks["annotator_kind"] == "human"
    if source.annotators == "positions" or getattr(source, "count", None):
        if "annotator" in marks:
            place = pd.Series(pd.factorize(marks["annotator"].where(human))[0], marks.index)
        else:
            place = _places(marks)
        positions = ("pos" + place.astype(str)).where(place >= 0, None)
        marks["annotator"] = positions.where(human, marks.get("annotator"))
        marks["annotator_known"] = ~human
    elif source.annotators is None and "_positional" in marks:
        placed = marks["_positional"].astype(bool) & human & marks["annotator"].notna()
        marks["annotator"] = marks["annotator"].where(~placed, "pos" + marks["annotator"].astype(str))
        marks["annotator_known"] = ~placed
    return marks


def _places(marks: pd.DataFrame) -> pd.Series:
    """Which judgement of its item each row is, where nothing says who judged.

    A pair is the same from either side, and who votes on it again is somebody else. Only where every vote is given from
    both sides are the two rows one vote: they get the same place, which lets `orient` leave one of them out.
    """
    item = marks[[c for c in _ITEM if c in marks]]
    if "dialogue_b" not in marks:
        return item.groupby(list(item), dropna=False, sort=False).cumcount()
    shared = item.drop(columns=["system", "dialogue", "dialogue_b"]).join(unordered(marks))
    turned = marks["dialogue"] != shared["low"]
    won = pd.to_numeric(marks["score"], errors="coerce")
    won = won.where(~turned, -won)
    votes = [
        shared[side].assign(won=won[side]).groupby([*shared, "won"], dropna=False).size() for side in (turned, ~turned)
    ]
    if len(votes[0]) and votes[0].equals(votes[1]):
        ordered = shared.assign(turned=turned)[won.notna()].loc[won.dropna().sort_values(kind="stable").index]
        return (
            ordered.groupby(list(ordered), dropna=False, sort=False)
            .cumcount()
            .reindex(marks.index)
            .fillna(0)
            .astype(int)
        )
    return shared.groupby(list(shared), dropna=False, sort=False).cumcount()


def _judge(source: JudgementOptions, annotator: str) -> str | None:
    """The kind of model an annotator is; None for a person."""
    return next((kind for name, kind in source.judges.items() if fnmatch.fnmatchcase(annotator, name)), None)


def _filtered(source: JudgementOptions, name: str, marks: pd.DataFrame, state: _State) -> tuple[pd.DataFrame, pd.Index]:
    """Rows that `keep` and `drop` leave; and the rows of `base` that lost all of theirs."""
    if not (source.keep or source.drop):
        return marks, pd.Index([])
    columns, problems = {}, []
    for column in {**source.keep, **source.drop}:
        # the file may have a column with a name that `marks` uses for something else
        held = column if column in OURS and column in marks else cell_column(column)
        if held in marks:
            columns[column] = marks[held]
            continue
        known = [c for c in OURS if c in marks]
        near = difflib.get_close_matches(column, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`keep` and `drop` name columns of the file, or ours"
        problems.append(Problem(name, "", column, f"a column of the file, or one of {', '.join(known)}", "none", hint))
    if problems:
        raise DataError(problems)
    reason, unknown = filters.of_rows(marks, columns, source.keep, source.drop, naming.private(source))
    state.problems += filters.unknown_values(name, unknown, columns)
    for said, rows in marks[reason.notna()].groupby(reason[reason.notna()], sort=False):
        state.count(rows, "dropped", said)
    left = marks[reason.isna()].reset_index(drop=True)
    if left.empty:
        found = "; ".join(f"{n:,}: {said}" for said, n in reason.value_counts().items())
        nothing = Problem(name, "", "", "rows left by `keep` and `drop`", f"none ({found})", "correct them")
        raise DataError(state.problems or [nothing])
    return left, pd.Index(sorted(set(marks["_item"]) - set(left["_item"])))


def _sets(marks: pd.DataFrame, labels: list[Label], state: _State) -> pd.DataFrame:
    """Of labels with sets of answers, the answers of an annotator to an item as one score."""
    mine = pd.Series(False, marks.index)
    for label in (x for x in labels if x.level == "sets"):
        mine |= _of(label, marks, labels)
    if not mine.any():
        return marks
    key = [c for c in ("annotator", "work_unit", *_ITEM) if c in marks]
    once = marks[mine].drop_duplicates([*key, "score"])
    total = once.groupby(key, dropna=False, sort=False)["score"].transform("sum")
    kept = once.assign(score=total).drop_duplicates(key)
    together = marks[mine].drop(index=kept.index)
    state.count(together, "dropped", "taken together with another answer of the annotator to the item")
    return pd.concat([marks[~mine], kept]).sort_index(kind="stable").reset_index(drop=True)


def _without_repeats(source: JudgementOptions, marks: pd.DataFrame, state: _State) -> pd.DataFrame:
    """Where the YAML allows it, a person's first judgement of an item only."""
    again = marks.duplicated([c for c in ("annotator", *_ITEM) if c in marks])
    if source.repeats == "error" or not again.any():
        return marks
    state.count(marks[again], "dropped", "the annotator had judged the item before")
    return marks[~again].reset_index(drop=True)


def _dialogues(items: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """Each dialogue (or turn) once; a problem where two rows of one differ in a text."""
    columns = [c for c in DIALOGUES if c in items]
    key = [c for c in ("corpus", "dialogue", "system", "turn") if c in items]
    group = items.groupby(key, dropna=False, sort=False)
    problems = []
    for column in (c for c in TEXTS if c in items):
        first = group[column].transform("first")
        for i in items.index[items[column].notna() & (items[column] != first)][: limits.PROBLEMS]:
            expected = f"the text of the other rows of dialogue {items.at[i, 'dialogue']}"
            hint = "give different dialogues different ids, or map a `turn`"
            problems.append(Problem(items.at[i, "file"], items.at[i, "where"], column, expected, "another one", hint))
    return items[columns].drop_duplicates(key), problems


def _numbers(
    rows: pd.DataFrame, values: pd.Series, column: str, spec: dict[str, Column], state: _State, shown: str = ""
) -> pd.Series:
    """Values of a column as numbers; what is none is reported, with the place that `rows` say it is from.

    column : of `spec`. shown : what it is called in the file.
    """
    numbers, expected = typed.parsed(values, spec[column])

    def wrong(i: Any) -> Problem:
        hint = "correct it, or name it in `na_values`"
        return Problem(
            rows.at[i, "file"], rows.at[i, "where"], shown or column, expected, repr(values[i])[:_SHOWN], hint
        )

    state.problems += several(values.index[values.notna() & numbers.isna()], wrong)
    return numbers


def _metrics(source: JudgementOptions, cells: pd.DataFrame, base: pd.DataFrame, state: _State) -> pd.DataFrame | None:
    """Scores of automatic metrics; a value repeated in the rows of one item counts once."""
    key = [c for c in ("corpus", "dialogue", "turn") if c in base]
    scores = {}
    for metric, column in source.metrics.items():
        score = cells[column].str.strip()
        score = score.astype(object).where(~score.isin(source.na_values), None)
        scores[metric] = _numbers(base, score, "score", METRIC_SCORES, state, column)
    numbers = dict(scores)
    for metric, formula in source.derived_metrics.items():
        value = arithmetic.evaluate(formula, numbers)
        scores[metric] = value.where(np.isfinite(value)).astype(object)  # nothing comes of dividing by 0
    parts = [base[key].assign(metric=metric, score=score) for metric, score in scores.items()]
    return pd.concat(parts).drop_duplicates() if parts else None
