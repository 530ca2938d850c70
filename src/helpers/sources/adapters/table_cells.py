"""The cells of a table as text, one row per item: reading, repeats side by side, ids made of several columns."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
from pathlib import Path

import pandas as pd

from helpers.sources.adapters.judgements import WHERE, with_patterns
from helpers.sources.formats import read_table
from helpers.sources.ids import naming
from helpers.study.paths import ALONE
from helpers.study.schema import DataError, Problem
from helpers.study.source_options import Table
from helpers.study.source_shared import OURS

ROW = "{row}"
#: longer joined values are replaced by a checksum, which `sources.build` replaces by a number
_LONG = 60


def load(source: Table, path: Path) -> pd.DataFrame:
    """All cells as text, index = row in the file (1-based, header included); column `{row}` repeats it.

    Raises DataError for a file that cannot be read, or columns that the YAML names and the file does not have.
    """
    cells = read_table(path, source.file, source)
    _check_columns(source, list(cells.columns))
    return cells.assign(**{ROW: cells.index.astype(str)})


def named_columns(source: Table) -> dict[str, str]:
    """Columns of the file that the YAML names -> where it names them."""
    named = {column: f"columns.{ours}" for ours, column in source.columns.items()}
    named |= {column: f"identify.{ours}" for ours, columns in source.identify.items() for column in columns}
    named |= {column: "patterns" for column in source.patterns}
    for key in ("keep", "drop"):
        named |= {c: f"{key}.{c}" for c in getattr(source, key) if c not in OURS and c not in named}
    return named | {column: f"metrics.{metric}" for metric, column in source.metrics.items()}


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
    return column in (WHERE, ROW, "{file}") or column.startswith("identify.") or bool(ALONE.fullmatch(column))


def samples(cells: pd.DataFrame, columns: list[str]) -> dict[str, pd.Series]:
    """Columns -> their cells, for saying why they are not used."""
    return {c: cells[c] for c in columns if c in cells}


def _check_columns(source: Table, columns: list[str]) -> None:
    problems, bound = [], {f"{{{name}}}" for name in source.bound}
    for name, place in named_columns(source).items():
        for column in numbered(source, name):
            if column == ROW or column in columns or column in bound or fnmatch.filter(columns, column):
                continue
            near = difflib.get_close_matches(column, columns, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"`{place}` in the YAML names it"
            shown = ", ".join(c for c in columns if c)[:200]
            problems.append(Problem(source.file, "row 1", column, "this column", f"columns {shown}", hint))
    if problems:
        raise DataError(problems)


def items(source: Table, cells: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """One row per item: repeats below each other, cells divided by `patterns`, ids made from several columns.

    Columns `identify.<ours>` hold those ids, `{name}` what a pattern found, `where` the place in the file.
    """
    repeated = {c for c in source.patterns if "{i}" in c}
    early = {k: v for k, v in source.identify.items() if not any(ALONE.fullmatch(n) or "{i}" in n for n in v)}
    cells = cells.assign(**{f"identify.{ours}": joined(cells, names) for ours, names in early.items()})
    cells[WHERE] = "row " + cells[ROW]
    problems: list[Problem] = []
    if not repeated:
        cells, problems = with_patterns(source, cells)
    if source.repeat is not None:
        cells = _unrolled(source, cells)
    if repeated:
        cells, problems = with_patterns(source, cells)
    late = {k: v for k, v in source.identify.items() if k not in early}
    return cells.assign(**{f"identify.{ours}": joined(cells, names) for ours, names in late.items()}), problems


def _unrolled(source: Table, cells: pd.DataFrame) -> pd.DataFrame:
    """Items that stand side by side in a row, below each other: a column written with {i} holds each one's cell."""
    names = [name for name in {**named_columns(source), **dict.fromkeys(source.label_names)} if "{i}" in name]
    series = {name: numbered(source, name) for name in names}
    shared = cells.drop(columns=[c for many in series.values() for c in many if c in cells])
    parts = []
    for k in range(source.repeat[1] - source.repeat[0] + 1):
        own = {name: cells[many[k]] for name, many in series.items() if many[k] in cells}
        where = shared[WHERE] + f", item {source.repeat[0] + k}"
        parts.append(shared.assign(**own, **{WHERE: where}))
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def joined(cells: pd.DataFrame, names: list[str]) -> pd.Series:
    """The values of some columns as one id: joined by _, or (led by `naming.LONG`) a checksum where that is long or not
    unique, the same in all files; `sources.build` numbers these."""
    columns = list(dict.fromkeys(c for name in names for c in matching(cells, name)))
    parts = cells[columns].apply(lambda column: column.fillna("").str.strip())
    out = parts.agg("_".join, axis=1)
    if out.str.len().max() > _LONG or out.nunique() != len(parts.drop_duplicates()):
        out = parts.agg("\x1f".join, axis=1).map(
            lambda text: naming.LONG + hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
        )
    return out.where((parts != "").any(axis=1), "")
