"""From rows of text cells to validated judgements: what tables and records have in common.

An adapter that knows which cell is what hands over three frames with text cells. `cells` holds the columns of the file
that the YAML names (index: one row per item, or per score). `base` has the same index and our columns. `marks` has one
row per score, with our columns, `label`, `score`, `where`, `file` and `_item`, the row of `base` it came from.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.sources import filters, sampling, typed
from judgebook.sources.ids import naming
from judgebook.sources.reading import Reading
from judgebook.sources.rows import numbers as number_texts
from judgebook.sources.rows import spelling
from judgebook.sources.rows.cells import TEXTS, cell_column
from judgebook.sources.rows.comparisons import orient
from judgebook.sources.rows.scoring import ITEM, State, composed, scored, sets, with_method
from judgebook.study import formulas as arithmetic
from judgebook.study.labels import Label
from judgebook.study.schema import DIALOGUES, METRIC_SCORES, Column, DataError, Problem, several, unordered
from judgebook.study.source_shared import OURS, JudgementOptions

#: characters of a cell that a message quotes
_SHOWN = 60
UNMARKED = "nothing was marked: the answer that `empty` says"
_ONLY_DIALOGUES = [*TEXTS, "order_shown", "interactor", "kind"]


def finish(
    source: JudgementOptions,
    name: str,
    cells: pd.DataFrame,
    base: pd.DataFrame,
    marks: pd.DataFrame,
    labels: list[Label],
    state: State,
    *,
    item_of_marks: bool = False,
) -> Reading:
    """The reading that the frames amount to: filtered, scored, attributed to annotators, counted.

    name : the file, as the YAML calls it. state : with the rows that were read, and what is wrong so far.
    item_of_marks : dialogues are those of `marks`, not of `base`.
    """
    marks["label"] = codes.mapped(marks["label"], lambda label: source.label_names.get(label, label))
    _check_names(source, name, marks, labels, state)
    marks = scored(source, marks, labels, state)
    marks = with_method(composed(source, marks, {label.id for label in labels}, state), labels)
    marks = _who(source, marks, {label.id for label in labels if label.level == "sets"})
    state.count(marks, "read")
    before = marks
    marks, gone = _filtered(source, name, marks, state)
    state.count_rows(before, marks)
    del before
    state.problems += _summing(marks)
    if "_nothing" in marks:
        state.count(marks[marks["_nothing"].astype(bool)], "mended", UNMARKED)
    if len(gone):
        cells, base = cells[~base.index.isin(gone)], base[~base.index.isin(gone)]
    missing = marks["score"].isna()
    state.count_missing(source, marks, missing)
    marks = codes.rows(marks, ~missing).reset_index(drop=True)
    oriented = orient(sets(marks, labels, state), repeated=source.repeats != "error")
    state.count(oriented.mirrors, "dropped", "the same comparison from its other side")
    state.count(oriented.turned, "mended", "comparison turned to the side first met")
    annotations = oriented.annotations
    state.count(annotations, "kept")
    for kind, rows in spelling.noted(annotations):
        state.count(rows, "mended", spelling.reason(kind))
    if source.sampling and len(annotations):
        annotations, odd = sampling.weighted(source, name, annotations)
        state.problems += odd
    items = marks if item_of_marks else base
    unknown = items["dialogue"].isna() | items["system"].isna()
    state.count(items[unknown], "dropped", "no dialogue id or no system", what="dialogues")
    if "order_shown" in items:
        items = items.assign(order_shown=_numbers(items, items["order_shown"], "order_shown", DIALOGUES, state))
    dialogues, differing = _dialogues(_both_sides(codes.rows(items, ~unknown)))
    return Reading(
        annotations[[c for c in annotations if c not in _ONLY_DIALOGUES and c[0] != "_"]],
        dialogues,
        metric_scores=_metrics(source, cells, base, state),
        counts=state.counts,
        problems=state.problems + differing + oriented.problems,
    )


def _summing(marks: pd.DataFrame) -> list[Problem]:
    """Rows below the data that sum them up, where nothing leaves them out."""
    if "_summing" not in marks:
        return []
    odd = marks[marks["_summing"].astype(bool) & marks["score"].notna()].drop_duplicates(["file", "_place"])

    rows = odd.groupby("file", sort=False)["_place"].agg(lambda places: ", ".join(p.rpartition(" ")[2] for p in places))

    def problem(i: int) -> Problem:
        file = odd.at[i, "file"]
        hint = f"to leave these out, write `skip_rows: [{rows[file]}]`, or a rule in `drop` that names them"
        return Problem(file, odd.at[i, "_place"], "", "judgements", "a row that sums up those above", hint)

    return several(odd.index, problem)


def _check_names(source: JudgementOptions, name: str, marks: pd.DataFrame, labels: list[Label], state: State) -> None:
    """Report what the source names and nothing is called: annotators that are models, labels."""
    ids = {label.id for label in labels}
    people = set(marks["annotator"].dropna().unique()) if "annotator" in marks else set()
    items = {item for c in source.composites.values() for item in c.mean}
    wanted = [("judges", "an annotator", [j for j in source.judges if "*" not in j], people)]
    wanted += [("composites", "a declared label", list(source.composites), ids)]
    wanted += [("label_names", "a declared label", list(source.label_names.values()), ids | items)]
    wanted += [("na_reasons", "a declared label", list(source.na_reasons), ids)]
    for key, what, given, names in wanted:
        for one in dict.fromkeys(given):
            if one not in names:
                near = difflib.get_close_matches(one, names, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(names)[:8])}"
                state.problems.append(Problem(name, "", key, what, repr(one), hint))
    for pattern in (j for j in source.judges if "*" in j):
        if not any(fnmatch.fnmatchcase(who, pattern) for who in people):
            hint = f"there are {', '.join(sorted(people)[:8])}"
            state.problems.append(Problem(name, "", "judges", "an annotator", repr(pattern), hint))


def _who(source: JudgementOptions, marks: pd.DataFrame, sets: set[str]) -> pd.DataFrame:
    """Annotators: people, models, or positions (columns in their order, else the repeats of an item in theirs).

    sets : labels of which the answers in one record are one person's.
    """
    marks = marks.assign(annotator_known=True)
    if "annotator_kind" not in marks:
        whole = codes.is_coded(marks["file"])
        marks["annotator_kind"] = codes.constant("human", marks.index) if whole else "human"
    if source.judges and "annotator" in marks:
        named = {a: _judge(source, a) for a in marks["annotator"].dropna().unique()}
        marks["annotator_kind"] = marks["annotator"].map(named).fillna(marks["annotator_kind"])
    human = marks["annotator_kind"] == "human"
    if source.annotators == "positions" or getattr(source, "count", None):
        if "annotator" in marks:
            place = pd.Series(pd.factorize(marks["annotator"].where(human))[0], marks.index)
        else:
            place = _places(marks)
            answers = marks[marks["label"].isin(sets)] if "_record" in marks else marks[:0]
            item = [c for c in ITEM if c in marks]
            together = answers.groupby(item, dropna=False, sort=False)["_record"]
            place[answers.index] = together.transform(lambda record: pd.factorize(record)[0])
        positions = ("pos" + place.astype(str)).where(place >= 0, None)
        marks["annotator"] = positions.where(human, marks.get("annotator"))
        marks["annotator_known"] = ~human
    elif source.annotators is None and "_positional" in marks:
        placed = marks["_positional"].astype(bool) & human & marks["annotator"].notna()
        if placed.any():
            marks["annotator"] = marks["annotator"].where(~placed, "pos" + marks["annotator"].astype(str))
        marks["annotator_known"] = ~placed
    return marks


def _places(marks: pd.DataFrame) -> pd.Series:
    """Which judgement of its item each row is, where nothing says who judged.

    A pair is the same from either side, and who votes on it again is somebody else. Only where every vote is given from
    both sides are the two rows one vote: they get the same place, which lets `orient` leave one of them out.
    """
    item = marks[[c for c in ITEM if c in marks]]
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


def _filtered(source: JudgementOptions, name: str, marks: pd.DataFrame, state: State) -> tuple[pd.DataFrame, pd.Index]:
    """Rows that `keep` and `drop` leave; and the rows of `base` that lost all of theirs."""
    if not (source.keep or source.drop):
        return marks, pd.Index([])
    columns, problems = {}, []
    for column in source.ruled:
        # the file may have a column with a name that `marks` uses for something else
        held = column if column in OURS and column in marks else cell_column(column)
        if held in marks:
            columns[column] = marks[held]
            continue
        ours = [c for c in OURS if c in marks]
        near = difflib.get_close_matches(column, ours, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`keep` and `drop` name columns of the file, or ours"
        problems.append(Problem(name, "", column, f"a column of the file, or one of {', '.join(ours)}", "none", hint))
    if problems:
        raise DataError(problems)
    reason, unknown = filters.of_rows(marks, columns, source.keep, source.drop, naming.private(source))
    state.problems += filters.unknown_values(name, unknown, columns)
    for why, rows in marks[reason.notna()].groupby(reason[reason.notna()], sort=False):
        state.count(rows, "dropped", why)
    left = marks[reason.isna()].reset_index(drop=True)
    if left.empty:
        each = "; ".join(f"{n:,}: {why}" for why, n in reason.value_counts().items())
        nothing = Problem(name, "", "", "rows left by `keep` and `drop`", f"none ({each})", "correct them")
        raise DataError(state.problems or [nothing])
    return left, pd.Index(sorted(set(marks["_item"]) - set(left["_item"])))


def _both_sides(items: pd.DataFrame) -> pd.DataFrame:
    """`items` with the second sides of comparisons below the first ones, where the file has their texts."""
    if "system_text_b" not in items:
        return items
    sides = {"dialogue_b": "dialogue", "system_b": "system", "system_text_b": "system_text"}
    other = items.drop(columns=[c for c in sides.values() if c in items]).rename(columns=sides)
    return pd.concat([items.drop(columns="system_text_b"), other.dropna(subset="dialogue")], ignore_index=True)


def _dialogues(items: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """Each dialogue (or turn) once; a problem where two rows of one differ in a text."""
    columns = [c for c in DIALOGUES if c in items]
    key = [c for c in ("corpus", "dialogue", "system", "turn") if c in items]
    group = items.groupby(key, dropna=False, sort=False)
    problems = []
    hint = "give different dialogues different ids, or name the column of turns: `turn` under `columns` of the source"
    for column in (c for c in TEXTS if c in items):
        there = items[column].notna()
        row = items["where"].where(there).groupby([items[c] for c in key], dropna=False, sort=False).transform("first")

        def wrong(i: Any, column: str = column, row: pd.Series = row) -> Problem:
            place, again = (items.at[i, "file"], items.at[i, "where"]), f"another text than in {row[i]}"
            return Problem(*place, column, "one text in all rows of a dialogue", again, hint)

        problems += several(items.index[there & (items[column] != group[column].transform("first"))], wrong)
    return codes.plain(items[columns].drop_duplicates(key)), problems


def _numbers(
    rows: pd.DataFrame, values: pd.Series, column: str, spec: dict[str, Column], state: State, shown: str = ""
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


def _metrics(source: JudgementOptions, cells: pd.DataFrame, base: pd.DataFrame, state: State) -> pd.DataFrame | None:
    """Scores of automatic metrics; a value repeated in the rows of one item counts once."""
    key = [c for c in ("corpus", "dialogue", "turn") if c in base]
    first = _scores_of(source, source.metrics, cells, base, state)
    parts = [base[key].assign(metric=metric, score=score) for metric, score in first.items()]
    if source.metrics_b and "dialogue_b" in base:
        other = base.assign(dialogue=base["dialogue_b"])[key]
        second = _scores_of(source, source.metrics_b, cells, base, state)
        parts += [other.assign(metric=metric, score=score) for metric, score in second.items()]
    return codes.plain(pd.concat(parts).dropna(subset="dialogue").drop_duplicates()) if parts else None


def _scores_of(
    source: JudgementOptions, columns: Mapping[str, str], cells: pd.DataFrame, base: pd.DataFrame, state: State
) -> dict[str, pd.Series]:
    """Metric -> its scores in these columns, and of the formulas that these suffice for."""
    scores, missing = {}, set(source.na_values)
    for metric, column in columns.items():
        score = codes.mapped(
            cells[column], lambda cell: None if (text := cell.strip()) in missing else number_texts.plain(text)
        )
        scores[metric] = _numbers(base, score, "score", METRIC_SCORES, state, column)
    numbers = dict(scores)
    for metric, formula in source.derived_metrics.items():
        if arithmetic.names(formula) <= set(numbers):
            value = arithmetic.evaluate(formula, numbers)
            scores[metric] = value.where(np.isfinite(value)).astype(object)  # nothing comes of dividing by 0
    return scores
