"""Tables: CSV, TSV, Excel or Parquet, wide or long, by a column map in the YAML (`options.table`)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.sources import sampling
from judgebook.sources.adapters.options.table import Table
from judgebook.sources.files import COPIED, REPEATED, Files
from judgebook.sources.nature import nature
from judgebook.sources.reading import Counts, Reading
from judgebook.sources.rows import advice, table_cells
from judgebook.sources.rows.cells import RECORD, SUMMING, WHERE_RECORD, mapped, simple, spellings, twice_named
from judgebook.sources.rows.judgements import finish
from judgebook.sources.rows.scoring import State
from judgebook.study import limits, paths
from judgebook.study.labels import Label
from judgebook.study.schema import DataError, Problem


def read(source: Table, open_file: Files) -> Reading:
    """One annotation per score. Scores that are missing are dropped and counted, with the reason the YAML gives.

    A table without systems has one, named `system`. Where the pattern of score columns names systems, an item of the
    file is the context they share, and each system's response to it a dialogue of its own.
    """
    counts = Counts()
    cells = table_cells.load(
        source, open_file(source.file), counts, coded=simple(source, open_file.labels, open_file.spelling)
    )
    columns = [c for c in cells if c and not table_cells.ours(c)]
    repeated, copied = cells.attrs.get(REPEATED, ()) if source.layout == "wide" else (), cells.attrs.get(COPIED, ())
    spelt = spellings(source, open_file.labels, open_file.spelling)
    alike = twice_named(source.file, [source.scores], repeated, spelt)
    file = codes.constant(source.file, cells.index) if codes.columns(cells) else source.file
    cells, problems, made = table_cells.items(source, cells.assign(**{"{file}": file}), open_file.spelling)
    problems += alike
    base = open_file.spelling.frame(mapped(source, cells, source.columns))
    base["_record"] = base["_item"] = base.index
    base["_row"], base["_place"], base["_summing"] = cells[RECORD], cells[WHERE_RECORD], cells[SUMMING]
    taken = set[str]()
    if source.layout == "wide":
        marks, odd, taken = _wide(source, cells, base, open_file)
        problems += odd
    else:
        marks = base.copy(deep=False)
        taken = {source.columns[ours] for ours in ("label", "score") if ours in source.columns}
    by_system = "{system}" in source.scores
    state = State(counts, problems)
    reading = finish(source, source.file, cells, base, marks, open_file.labels, state, item_of_marks=by_system)
    if by_system and "dialogue" in made:
        # as `_wide` makes contexts and dialogues of the ids of items
        sums, systems = made["dialogue"], marks["system"].unique()
        made["context"] = made.get("context", {}) | sums
        made["dialogue"] = {f"{id_}_{s}": f"{sums[id_]}_{s}" for id_ in sums for s in systems}
    reading.made = made
    used = {
        c
        for name in table_cells.named_columns(source)
        for i in table_cells.numbered(source, name)
        for c in table_cells.matching(cells, i)
    }
    used |= {c for name in taken for c in table_cells.numbered(source, name)}
    reading.unused = {source.file: table_cells.samples(cells, [c for c in columns if c not in used])}
    reading.unused[source.file] |= {f"{c} (again)": cells[c] for c in copied if c in cells}
    reading.dialogue_facts = sampling.facts(base, reading.unused[source.file])
    return reading


def _wide(
    source: Table, cells: pd.DataFrame, base: pd.DataFrame, open_file: Files
) -> tuple[pd.DataFrame, list[Problem], set[str]]:
    """The score columns below each other, item by item; problems; the score columns."""
    labels = open_file.labels
    columns, problems = _score_columns(source, cells, spellings(source, labels, open_file.spelling))
    for named in columns.values():
        if "turn" in named:
            named["turn"] = str(int(named["turn"]) - source.first_turn)
    if not columns:
        names = ", ".join(label.id for label in labels) or "none"
        expected = f"score columns {source.scores!r} for a declared label ({names})"
        free = ", ".join(c for c in cells if not table_cells.ours(c))[:200]
        hint = _to_declare(source, cells, labels)
        raise DataError(problems or [Problem(source.file, "row 1", "", expected, f"columns {free}", hint)])
    if len(columns) > limits.SCORE_COLUMNS:
        expected = f"at most {limits.SCORE_COLUMNS:,} columns with scores"
        hint = "split the file, or convert it to a long table"
        raise DataError([Problem(source.file, "row 1", "", expected, f"{len(columns):,}", hint)])
    # row by row, the columns of each in their order
    marks = base.iloc[np.repeat(np.arange(len(base)), len(columns))].reset_index(drop=True)
    whole = codes.is_coded(base["file"])
    for name in next(iter(columns.values())):
        of_column = np.array([named[name] for named in columns.values()], dtype=object)
        code, texts = pd.factorize(of_column)
        values = codes.coded(code, texts, pd.RangeIndex(len(columns))) if whole else pd.Series(of_column, dtype=object)
        marks[name] = values.take(np.tile(np.arange(len(columns)), len(base))).array
    marks = open_file.spelling.frame(marks)
    no_value = set(source.na_values)
    score = codes.interleaved([codes.mapped(cells[column], str.strip) for column in columns])
    marks["_blank"] = codes.mapped(score, lambda text: text if text in no_value else None)
    marks["score"] = codes.mapped(score, lambda text: None if text in no_value else text)
    ends = pd.Series([f", {column}" for column in columns], dtype="str")
    marks["where"] = marks["where"] + ends.take(np.tile(np.arange(len(ends)), len(base))).set_axis(marks.index)
    if "{system}" in source.scores:
        item = marks["dialogue"]
        marks["context"] = marks["context"].fillna(item) if "context" in marks else item
        marks["dialogue"] = (item + "_" + marks["system"]).where(item.notna(), None)
    return marks, problems, set(columns)


def _to_declare(source: Table, cells: pd.DataFrame, labels: list[Label]) -> str:
    """What to write where no column is a declared label's: how it is spelt, or what may be judgements as labels."""
    taken = set(table_cells.named_columns(source))
    kinds = {c: nature(c, cells[c]) for c in cells if c and c not in taken and not table_cells.ours(c)}
    ways, near = advice.spelt(kinds, [label.id for label in labels]) if source.scores == "{label}" else ([], set())
    for column in [c for c, kind in kinds.items() if kind.judged and c not in near][:3]:
        held = cells[column].str.strip().loc[lambda text: text != ""].unique()
        spec = (
            f"categories: [{advice.flow(held)}]" if kinds[column].kind == "words" else f"scale: [{advice.ends(held)}]"
        )
        ways.append(f"if {column} holds judgements, write under `labels`: `{advice.declared(column, spec)}`")
    return "; ".join([*ways, "`scores`, `label_names` and `labels:` say how they are called"])


def _score_columns(
    source: Table, cells: pd.DataFrame, labels: list[str]
) -> tuple[dict[str, dict[str, str]], list[Problem]]:
    """Score columns -> what their names say; a problem for one that looks like another label's. labels : as spelt."""
    taken = {n for name in table_cells.named_columns(source) for n in table_cells.matching(cells, name)}
    free = [c for c in cells if c not in taken and not table_cells.ours(c)]
    known = {"label": labels}
    least, most = (paths.pattern(source.scores, known, greedy=greedy) for greedy in (False, True))
    columns, problems, odd = {}, [], set()
    for column in free:
        match, other = least.fullmatch(column), most.fullmatch(column)
        if match and other and match.groupdict() != other.groupdict():
            odd.add(column)
            ways = (", ".join(f"{k} {v!r}" for k, v in m.groupdict().items()) for m in (match, other))
            expected = f"a column name that matches {source.scores!r} in only one way"
            hint = "separate the parts with a character that is in none of them, in the file and in `scores`"
            problems.append(Problem(source.file, "row 1", column, expected, " or ".join(ways), hint))
        elif match:
            columns[column] = match.groupdict()
    others = {tuple(v for k, v in named.items() if k != "label") for named in columns.values()} - {()}
    loose = paths.pattern(source.scores, greedy=True)
    for column in (c for c in free if c not in columns and c not in odd):
        match = loose.fullmatch(column)
        if match and tuple(v for k, v in match.groupdict().items() if k != "label") in others:
            expected = f"a declared label ({', '.join(labels)})"
            hint = (
                "declare it under `labels:`, say how it is spelt in `label_names`, or skip the column (`skip_columns`)"
            )
            problems.append(Problem(source.file, "row 1", column, expected, repr(match["label"]), hint))
    return columns, problems
