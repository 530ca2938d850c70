"""The cells of a table as text, one row per item: reading, repeats side by side, ids made of several columns."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
from pathlib import Path

import pandas as pd

from helpers.sources.files import read_csv
from helpers.study.schema import DataError, Problem
from helpers.study.source_options import Table

ROW = "{row}"
_TABS = (".tsv", ".txt", ".tab")
#: longer joined values are replaced by a checksum
_LONG = 60


def load(source: Table, path: Path) -> pd.DataFrame:
    """All cells as text, index = row in the file (1-based, header included); column `{row}` repeats it.

    Raises DataError for a file that cannot be read, or columns that the YAML names and the file does not have.
    """
    if path.suffix == ".parquet":
        cells = read_parquet(path, source.file)
    else:
        delimiter = source.delimiter or ("\t" if path.suffix in _TABS else ",")
        cells = read_csv(
            path,
            source.file,
            header=source.header,
            delimiter=delimiter,
            quoting=source.quoting,
            encoding=source.encoding,
        )
    if source.column_names:
        if len(source.column_names) != len(cells.columns):
            expected, found = f"{len(source.column_names)} columns, as in `column_names`", str(len(cells.columns))
            raise DataError([Problem(source.file, "row 1", "", expected, found, "check delimiter and names")])
        cells.columns = source.column_names
    _check_columns(source, list(cells.columns))
    return cells.assign(**{ROW: cells.index.astype(str)})


def read_parquet(path: Path, name: str) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        found = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError([Problem(name, "", "", "a Parquet file", found, "export it again")]) from None
    if frame.empty:
        raise DataError([Problem(name, "", "", "rows of data", "none", "export the file again")])
    frame.index = pd.RangeIndex(2, len(frame) + 2)
    return frame.apply(_as_text)


def _as_text(values: pd.Series) -> pd.Series:
    """Cells as a CSV would hold them: nothing for a missing value, whole numbers without a decimal point."""
    if pd.api.types.is_float_dtype(values) and (values.dropna() % 1 == 0).all():
        values = values.astype("Int64")
    return values.astype(object).where(values.notna(), "").astype(str)


def named_columns(source: Table) -> dict[str, str]:
    """Columns of the file that the YAML names -> where it names them."""
    named = {column: f"columns.{ours}" for ours, column in source.columns.items()}
    named |= {column: f"identify.{ours}" for ours, columns in source.identify.items() for column in columns}
    return named | {column: f"metrics.{metric}" for metric, column in source.metrics.items()}


def numbered(source: Table, name: str) -> list[str]:
    """The columns of the file that a name with {i} stands for."""
    if source.repeat is None or "{i}" not in name:
        return [name]
    return [name.replace("{i}", str(i)) for i in range(source.repeat[0], source.repeat[1] + 1)]


def matching(cells: pd.DataFrame, name: str) -> list[str]:
    """The columns that a name means: itself, or those that a wildcard matches."""
    return [name] if name in cells else fnmatch.filter(map(str, cells), name)


def _check_columns(source: Table, columns: list[str]) -> None:
    problems = []
    for name, place in named_columns(source).items():
        for column in numbered(source, name):
            if column == ROW or column in columns or fnmatch.filter(columns, column):
                continue
            near = difflib.get_close_matches(column, columns, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"`{place}` in the YAML names it"
            shown = ", ".join(c for c in columns if c)[:200]
            problems.append(Problem(source.file, "row 1", column, "this column", f"columns {shown}", hint))
    if problems:
        raise DataError(problems)


def items(source: Table, cells: pd.DataFrame) -> pd.DataFrame:
    """One row per item: repeats below each other, ids made from several columns in columns named for ours.

    Columns `identify.<ours>` hold those ids, `where` the place in the file.
    """
    early = {k: v for k, v in source.identify.items() if not any("{i}" in name for name in v)}
    cells = cells.assign(**{f"identify.{ours}": _joined(cells, names) for ours, names in early.items()})
    cells["where"] = "row " + cells[ROW]
    if source.repeat is not None:
        cells = _unrolled(source, cells)
    late = {k: v for k, v in source.identify.items() if k not in early}
    return cells.assign(**{f"identify.{ours}": _joined(cells, names) for ours, names in late.items()})


def _unrolled(source: Table, cells: pd.DataFrame) -> pd.DataFrame:
    """Items that stand side by side in a row, below each other: a column written with {i} holds each one's cell."""
    names = [name for name in {**named_columns(source), **dict.fromkeys(source.label_names)} if "{i}" in name]
    series = {name: numbered(source, name) for name in names}
    shared = cells.drop(columns=[c for many in series.values() for c in many if c in cells])
    parts = []
    for k in range(source.repeat[1] - source.repeat[0] + 1):
        own = {name: cells[many[k]] for name, many in series.items() if many[k] in cells}
        where = shared["where"] + f", item {source.repeat[0] + k}"
        parts.append(shared.assign(**own, where=where))
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def _joined(cells: pd.DataFrame, names: list[str]) -> pd.Series:
    """The values of some columns as one id: joined by _, or a checksum where that is long or not unique."""
    columns = list(dict.fromkeys(c for name in names for c in matching(cells, name)))
    parts = cells[columns].apply(lambda column: column.str.strip())
    joined = parts.agg("_".join, axis=1)
    if joined.str.len().max() > _LONG or joined.nunique() != len(parts.drop_duplicates()):
        joined = parts.agg("\x1f".join, axis=1).map(lambda text: hashlib.sha1(text.encode()).hexdigest()[:12])
    return joined.where((parts != "").any(axis=1), "")
