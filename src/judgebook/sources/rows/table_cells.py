"""The cells of a table as text, one row per item: reading, repeats side by side, ids made of several columns."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.sources import files
from judgebook.sources.accounts.summaries import SUMS
from judgebook.sources.adapters.options.table import Table
from judgebook.sources.formats import read_table
from judgebook.sources.ids import naming
from judgebook.sources.reading import Counts, Reading
from judgebook.sources.rows.cells import RECORD, SUMMING, WHERE, WHERE_RECORD, respelt, with_patterns
from judgebook.sources.rows.sheets import sheets
from judgebook.sources.rows.spelling import CELL, Spelling
from judgebook.study import paths
from judgebook.study.paths import ALONE
from judgebook.study.schema import DataError, Problem
from judgebook.study.source_shared import OURS

ROW = "{row}"
#: columns whose ids name the same things
_SHARED = (("dialogue", "dialogue_b"), ("context",), ("session",))
#: longer joined values are replaced by a checksum, which `sources.build` replaces by a number
_LONG = 60
#: characters that are shown of a long value from its beginning and its end
_END = 20


def load(source: Table, path: Path, counts: Counts, *, coded: bool = False) -> pd.DataFrame:
    """All cells as text, index = row in the file (1-based, header included); column `{row}` repeats it where the YAML
    names it. Of several sheets, rows are one below the other, and a column `{name}` says what the names in `sheet`
    stand for.

    counts : takes up how many lines and rows there are. coded : columns whose cells repeat may be coded.

    Raises DataError for a file that cannot be read, or columns that the YAML names and the file does not have, or that
    only some of the sheets have.
    """
    parts: list[pd.DataFrame] = []
    for sheet in sheets(source, path, source.file):
        cells = read_table(path, source.file, sheet.options, counts, coded=coded, sheet=sheet.rows)
        _check_columns(source, list(cells.columns))
        if parts and (other := sorted({*cells} ^ {c for c in parts[0] if not ours(c)})):
            hint = "give all sheets the same columns, or each a source of its own"
            place = f"{sheet.where}row 1"
            expected = "the columns of the first sheet"
            raise DataError([Problem(source.file, place, other[0], expected, ", ".join(cells)[:200], hint)])
        first = sum(map(len, parts))
        more: dict[str, Any] = {braced(name): text for name, text in sheet.named.items()}
        more |= {ROW: codes.numbered("", cells.index)} if ROW in named_columns(source) else {}
        more |= {WHERE_RECORD: codes.numbered(f"{sheet.where}row ", cells.index)}
        more |= {RECORD: np.arange(first, first + len(cells)), SUMMING: cells.index.isin(cells.attrs[SUMS])}
        parts.append(cells.assign(**more))
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


def braced(name: str) -> str:
    """The column of cells that holds what a name stands for."""
    return f"{{{name}}}"


def named_columns(source: Table) -> dict[str, str]:
    """Columns of the file that the YAML names -> where it names them."""
    named = {column: f"columns.{ours}" for ours, column in source.columns.items()}
    named |= {column: f"identify.{ours}" for ours, columns in source.identify.items() for column in columns}
    named |= {column: "patterns" for column in source.patterns}
    named |= {c: f"{'keep' if c in source.keep else 'drop'}.{c}" for c in source.ruled if c not in {*OURS, *named}}
    named |= {source.sampling[1]: source.sampling[0]} if source.sampling else {}
    named |= {column: "skip_columns" for column in source.skip_columns if column not in named}
    named |= {column: f"metrics.{metric}" for metric, column in source.metrics.items()}
    return named | {column: f"metrics_b.{metric}" for metric, column in source.metrics_b.items()}


def numbered(source: Table, name: str) -> list[str]:
    """The columns of the file that a name with {i} stands for."""
    if source.repeat is None or "{i}" not in name:
        return [name]
    return [name.replace("{i}", str(i)) for i in range(source.repeat[0], source.repeat[1] + 1)]


def matching(cells: pd.DataFrame, name: str) -> list[str]:
    """The columns that a name means: itself, or those that a wildcard matches."""
    return [name] if name in cells else fnmatch.filter(map(str, cells), name)


def ours(column: str) -> bool:
    """Whether a column of the cells is none of the file's."""
    return (
        column in (WHERE, WHERE_RECORD, RECORD, SUMMING, ROW, CELL, "{file}")
        or column.startswith("identify.")
        or bool(ALONE.fullmatch(column))
    )


def samples(cells: pd.DataFrame, columns: list[str]) -> dict[str, pd.Series]:
    """Columns -> their cells, for saying why they are not used."""
    return {c: codes.as_text(cells[c]) if codes.is_coded(cells[c]) else cells[c] for c in columns if c in cells}


def _check_columns(source: Table, columns: list[str]) -> None:
    problems, bound = [], {braced(name) for name in source.bound | paths.names(source.sheet or "")}
    for name, place in named_columns(source).items():
        for column in numbered(source, name):
            if column == ROW or column in columns or column in bound or fnmatch.filter(columns, column):
                continue
            if alike := [c for c in columns if c.rpartition(" (")[0] == column]:
                listed, hint = f"{len(alike)} columns, called {', '.join(alike)}", "name one of them, or rename it"
                problems.append(Problem(source.file, "row 1", column, "a column name given once", listed, hint))
                continue
            near = difflib.get_close_matches(column, columns, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            hint += f"`{place}` in the YAML names it"
            if len(columns) == 1 and (divider := files.other_delimiter(columns[0])):
                raise DataError([files.one_cell(source.file, columns[0], divider)])
            shown = ", ".join(c for c in columns if c)[:200]
            problems.append(Problem(source.file, "row 1", column, "this column", f"columns {shown}", hint))
    if problems:
        raise DataError(problems)


def items(
    source: Table, cells: pd.DataFrame, spelling: Spelling
) -> tuple[pd.DataFrame, list[Problem], dict[str, dict[str, str]]]:
    """One row per item: repeats below each other, cells divided by `patterns`, ids made from several columns.

    Columns `identify.<ours>` hold those ids, `{name}` what a pattern found, `where` the place in the file. The third
    is `Reading.made`.
    """
    repeated = {c for c in source.patterns if "{i}" in c}
    cells = respelt(source, cells, spelling)
    early = {k: v for k, v in source.identify.items() if not any(ALONE.fullmatch(n) or "{i}" in n for n in v)}
    cells, made = identified(cells, early)
    cells[WHERE] = cells[WHERE_RECORD]
    problems: list[Problem] = []
    if not repeated:
        cells, problems = with_patterns(source, cells)
    if source.repeat is not None:
        cells = _unrolled(source, cells)
    if repeated:
        cells, problems = with_patterns(source, cells)
    cells = respelt(source, cells, spelling)
    cells, more = identified(cells, {k: v for k, v in source.identify.items() if k not in early})
    return cells, problems, made | more


def _unrolled(source: Table, cells: pd.DataFrame) -> pd.DataFrame:
    """Items that stand side by side in a row, below each other: a column written with {i} holds each one's cell."""
    names = [name for name in {**named_columns(source), **dict.fromkeys(source.label_names)} if "{i}" in name]
    series = {name: numbered(source, name) for name in names}
    shared = cells.drop(columns=[c for many in series.values() for c in many if c in cells])
    parts = []
    first, last = source.repeat or (0, -1)
    for k in range(last - first + 1):
        of_item = {name: cells[many[k]] for name, many in series.items() if many[k] in cells}
        where = shared[WHERE] + f", item {first + k}"
        parts.append(shared.assign(**of_item, **{WHERE: where}))
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def identified(
    cells: pd.DataFrame, identify: Mapping[Any, list[str]]
) -> tuple[pd.DataFrame, dict[str, dict[str, str]]]:
    """`cells` with columns `identify.<ours>`, the values of some columns as one id, and `Reading.made`.

    Values are joined by _. Where that is long or not unique in the file, ids are checksums (led by `naming.LONG`), the
    same in all files; `sources.build` numbers these. An id is "" where all values are, that of a dialogue where one is.
    """
    out, made = {}, {}
    for columns in (*_SHARED, ("work_unit",)):
        ids = [_joined(cells, identify[c], whole=c in _SHARED[0]).assign(ours=c) for c in columns if c in identify]
        if not ids:
            continue
        every = pd.concat(ids)
        long = every["short"].str.len().max() > _LONG or every["short"].nunique() != every["exact"].nunique()
        sums = every["exact"].map({text: _checksum(text) for text in every["exact"].unique()})
        for ours, mine in every.assign(sums=sums).groupby("ours", sort=False):
            out[f"identify.{ours}"] = mine["sums" if long else "short"].where(mine["there"], "")
            made[ours] = {} if long else dict(zip(mine["short"], mine["sums"], strict=True))
    return cells.assign(**out), made


def _joined(cells: pd.DataFrame, names: list[str], *, whole: bool) -> pd.DataFrame:
    """The values of some columns joined: `short` by _, `exact` so that others give another text, and `there`: whether
    there is a value at all, or (whole) one for each of `names`."""
    of = [matching(cells, name) for name in names]
    parts = cells[list(dict.fromkeys(c for columns in of for c in columns))]
    parts = parts.apply(lambda column: column.fillna("").str.strip())
    given = pd.DataFrame({name: (parts[columns] != "").any(axis=1) for name, columns in zip(names, of, strict=True)})
    rows = parts.to_numpy(dtype=object).tolist()
    # as objects: those of Arrow are slow to go through
    short, exact = (pd.Series([by.join(row) for row in rows], parts.index, dtype=object) for by in ("_", "\x1f"))
    return pd.DataFrame({"short": short, "exact": exact, "there": given.all(axis=1) if whole else given.any(axis=1)})


def _checksum(text: str) -> str:
    """An id of a length that can be handled, led by `naming.LONG`; what follows the second is for readers."""
    shown = " / ".join(
        part if len(part) <= 2 * _END else f"{part[:_END]}…{part[-_END:]}" for part in text.split("\x1f")
    )
    return f"{naming.LONG}{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}{naming.LONG}{shown}"


def alike(readings: list[Reading]) -> None:
    """Ids made of several columns in the same form in all sources, in place: where one has checksums, or two mean
    different things by an id, all have checksums."""
    for columns in _SHARED:
        mine = [r for r in readings if r.made.keys() & set(columns)]
        # `orient` may have put an id of one side on the other
        sums = [{id_: sum_ for c in columns for id_, sum_ in r.made.get(c, {}).items()} for r in mine]
        pairs = {pair for known in sums for pair in known.items()}
        frames = [(f, c, known) for r, known in zip(mine, sums, strict=True) for c in columns for f in _with(r, c)]
        long = any(str(id_).startswith(naming.LONG) for f, c, _ in frames for id_ in f[c].unique())
        if long or len(dict(pairs)) < len(pairs):
            for frame, column, known in frames:
                frame[column] = frame[column].map(lambda id_, known=known: known.get(id_, id_))


def _with(reading: Reading, column: str) -> list[pd.DataFrame]:
    """The frames of a reading that have the column."""
    frames = (reading.annotations, reading.dialogues, reading.metric_scores)
    return [frame for frame in frames if frame is not None and column in frame]
