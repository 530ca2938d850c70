"""Tables: CSV, TSV or Parquet, wide or long, by a column map in the YAML (`study.table_options` describes the keys)."""

from __future__ import annotations

import re
import string

import numpy as np
import pandas as pd

from helpers.sources.adapters import table_cells
from helpers.sources.comparisons import orient
from helpers.sources.files import Files
from helpers.sources.reading import Counts, Reading
from helpers.study import formulas as arithmetic
from helpers.study.labels import METHODS, Label
from helpers.study.schema import DIALOGUES, DataError, Problem
from helpers.study.source_options import Table

TEXTS = ("user_text", "system_text", "reference")
_ONLY_DIALOGUES = [*TEXTS, "order_shown", "interactor"]
_ITEM = ["corpus", "group", "system", "dialogue", "turn", "dialogue_b", "method", "label"]


def read(source: Table, open_file: Files) -> Reading:
    """One annotation per score. Scores that are missing are dropped and counted, with the reason the YAML gives.

    A table without systems has one, named `system`. Where the pattern of score columns names systems, an item of the
    file is the context they share, and each system's response to it a dialogue of its own.
    """
    cells = table_cells.items(source, table_cells.load(source, open_file(source.file)))
    base = _mapped(source, cells)
    marks, problems = (
        _wide(source, cells, base, open_file.labels) if source.layout == "wide" else (_long(source, base), [])
    )
    marks = _who(source, _with_method(marks.assign(file=source.file), open_file.labels))
    counts = Counts()
    _count(source, counts, marks, "read")
    missing = marks["score"].isna()
    for label, rows in marks[missing].groupby("label", dropna=False):
        _count(source, counts, rows, "dropped", source.na_reasons.get(label, "no score"))
    marks = marks[~missing].reset_index(drop=True)
    marks["score"] = marks["score"].map(lambda text: source.values.get(text, text))
    oriented = orient(_without_repeats(source, marks, counts))
    _count(source, counts, oriented.mirrors, "dropped", "the same comparison from its other side")
    _count(source, counts, oriented.turned, "mended", "comparison turned to the side first met")
    _count(source, counts, oriented.annotations, "kept")
    items = marks if "{system}" in source.scores else base
    unknown = items["dialogue"].isna() | items["system"].isna()
    _count(source, counts, items[unknown], "dropped", "no dialogue id or no system", what="dialogues")
    dialogues, differing = _dialogues(source, items[~unknown])
    return Reading(
        oriented.annotations.drop(columns=_ONLY_DIALOGUES, errors="ignore"),
        dialogues,
        metric_scores=_metrics(source, cells, base),
        counts=counts,
        problems=problems + differing + oriented.problems,
    )


def _mapped(source: Table, cells: pd.DataFrame) -> pd.DataFrame:
    """Our columns as the YAML maps them, missing where the cell means no value; and `where`."""
    out = pd.DataFrame({"corpus": "main", "system": "system", "where": cells["where"]}, index=cells.index, dtype=object)
    for ours, value in source.constants.items():
        out[ours] = str(value)
    for ours, column in source.columns.items():
        out[ours] = cells[column] if ours in TEXTS else cells[column].str.strip()
    for ours in source.identify:
        out[ours] = cells[f"identify.{ours}"]
    out = out.astype(object).where(~out.isin(source.na_values), None)
    if "turn" in out:
        number = pd.to_numeric(out["turn"], errors="coerce") - source.first_turn
        out["turn"] = number.astype(object).where(number.notna(), out["turn"])
    if "work_unit" in out:
        # the same number in two files is not the same work unit
        out["work_unit"] = source.file + ":" + out["work_unit"].astype("str")
    return out


def _long(source: Table, base: pd.DataFrame) -> pd.DataFrame:
    return base.assign(label=base["label"].replace(source.label_names))


def _wide(
    source: Table, cells: pd.DataFrame, base: pd.DataFrame, labels: list[Label]
) -> tuple[pd.DataFrame, list[Problem]]:
    """The score columns below each other, item by item."""
    found, problems = _score_columns(source, cells, labels)
    if not found:
        names = ", ".join(label.id for label in labels) or "none"
        expected = f"score columns {source.scores!r} for a declared label ({names})"
        free = ", ".join(c for c in cells if c not in ("where", table_cells.ROW))[:200]
        hint = "`scores`, `label_names` and `labels:` say how they are called"
        raise DataError(problems or [Problem(source.file, "row 1", "", expected, f"columns {free}", hint)])
    parts = []
    for order, (column, named) in enumerate(found.items()):
        score = cells[column].str.strip()
        part = base.assign(**named, score=score.where(~score.isin(source.na_values), None), order=order)
        part["where"] = part["where"] + ", " + column
        parts.append(part)
    marks = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True).drop(columns="order")
    if "{system}" in source.scores:
        item = marks["dialogue"]
        marks["context"] = marks["context"].fillna(item) if "context" in marks else item
        marks["dialogue"] = (item + "_" + marks["system"]).where(item.notna(), None)
    return marks, problems


def _score_columns(
    source: Table, cells: pd.DataFrame, labels: list[Label]
) -> tuple[dict[str, dict[str, str]], list[Problem]]:
    """Score columns -> what their names say; a problem for one that looks like another label's."""
    spelt = {label.id: label.id for label in labels} | source.label_names
    taken = {n for name in table_cells.named_columns(source) for n in table_cells.matching(cells, name)}
    free = [
        c for c in cells if c not in taken and c not in ("where", table_cells.ROW) and not c.startswith("identify.")
    ]
    known, loose = _pattern(source.scores, list(spelt)), _pattern(source.scores, None)
    found, problems = {}, []
    for column in free:
        match = known.fullmatch(column)
        if match:
            found[column] = match.groupdict() | {"label": spelt[match["label"]]}
    others = {tuple(v for k, v in named.items() if k != "label") for named in found.values()} - {()}
    for column in (c for c in free if c not in found):
        match = loose.fullmatch(column)
        if match and tuple(v for k, v in match.groupdict().items() if k != "label") in others:
            expected = f"a declared label ({', '.join(spelt)})"
            hint = "declare it under `labels:`, or say how it is spelt in `label_names`"
            problems.append(Problem(source.file, "row 1", column, expected, repr(match["label"]), hint))
    return found, problems


def _pattern(scores: str, labels: list[str] | None) -> re.Pattern[str]:
    """The pattern of score columns; with `labels`, for these only."""
    out = ""
    for literal, name, *_ in string.Formatter().parse(scores):
        out += re.escape(literal)
        if name == "label" and labels is not None:
            out += f"(?P<label>{'|'.join(re.escape(i) for i in sorted(labels, key=len, reverse=True)) or '(?!)'})"
        elif name:
            out += f"(?P<{name}>{r'[0-9]+' if name == 'turn' else '.+'})"
    return re.compile(out)


def _with_method(marks: pd.DataFrame, labels: list[Label]) -> pd.DataFrame:
    """The method of each label, where the table does not say it: of several, the one that fits what is judged."""
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
    return marks.assign(
        method=[
            by.get(u) or next(iter(by.values()), default)
            for by, u in zip((of.get(i, {}) for i in marks["label"]), unit, strict=True)
        ]
    )


def _who(source: Table, marks: pd.DataFrame) -> pd.DataFrame:
    """Annotators: people, models, or positions (columns in their order, else the repeats of an item in theirs)."""
    marks = marks.assign(annotator_known=True)
    if "annotator_kind" not in marks:
        marks["annotator_kind"] = "human"
    if source.judges:
        marks["annotator_kind"] = marks["annotator"].map(source.judges).fillna(marks["annotator_kind"])
    if source.annotators == "positions":
        human = marks["annotator_kind"] == "human"
        if "annotator" in marks:
            place = pd.Series(pd.factorize(marks["annotator"].where(human))[0], marks.index)
        else:
            item = [c for c in _ITEM if c in marks]
            place = marks.groupby(item, dropna=False, sort=False).cumcount()
        positions = "pos" + place.astype(str)
        marks["annotator"] = positions.where(human, marks.get("annotator"))
        marks["annotator_known"] = ~human
    return marks


def _without_repeats(source: Table, marks: pd.DataFrame, counts: Counts) -> pd.DataFrame:
    """Where the YAML allows it, a person's first judgement of an item only."""
    again = marks.duplicated([c for c in ("annotator", *_ITEM) if c in marks])
    if source.repeats == "error" or not again.any():
        return marks
    _count(source, counts, marks[again], "dropped", "the annotator had judged the item before")
    return marks[~again].reset_index(drop=True)


def _count(
    source: Table, counts: Counts, rows: pd.DataFrame, action: str, reason: str = "", what: str = "annotations"
) -> None:
    for corpus, n in rows.groupby("corpus", sort=False).size().items():
        counts.add(source.file, what, action, reason, n, corpus=corpus)


def _dialogues(source: Table, items: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """Each dialogue (or turn) once; a problem where two rows of one differ in a text."""
    columns = [c for c in DIALOGUES if c in items]
    key = [c for c in ("corpus", "dialogue", "system", "turn") if c in items]
    group = items.groupby(key, dropna=False, sort=False)
    problems = []
    for column in (c for c in TEXTS if c in items):
        first = group[column].transform("first")
        for i in items.index[items[column].notna() & (items[column] != first)]:
            expected = f"the text of the other rows of dialogue {items.at[i, 'dialogue']}"
            hint = "give different dialogues different ids, or map a `turn`"
            problems.append(Problem(source.file, items.at[i, "where"], column, expected, "another one", hint))
    return items[columns].drop_duplicates(key), problems


def _metrics(source: Table, cells: pd.DataFrame, base: pd.DataFrame) -> pd.DataFrame | None:
    """Scores of automatic metrics; a value repeated in the rows of one item counts once."""
    key = [c for c in ("corpus", "dialogue", "turn") if c in base]
    scores = {}
    for metric, column in source.metrics.items():
        score = cells[column].str.strip()
        scores[metric] = score.where(~score.isin(source.na_values), None)
    numbers = {metric: pd.to_numeric(score, errors="coerce") for metric, score in scores.items()}
    for metric, formula in source.derived_metrics.items():
        value = arithmetic.evaluate(formula, numbers)
        scores[metric] = value.where(np.isfinite(value)).astype(object)  # nothing comes of dividing by 0
    parts = [base[key].assign(metric=metric, score=score) for metric, score in scores.items()]
    return pd.concat(parts).drop_duplicates() if parts else None
