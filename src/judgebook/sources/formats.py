"""Files of any format as a table of text cells, or as a series of records."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from judgebook.sources import json_text
from judgebook.sources.accounts import physical, summaries
from judgebook.sources.adapters.options.records import is_table
from judgebook.sources.files import REPEATED, as_table, read_csv, read_text, unpacked_at_most
from judgebook.sources.foreign import child, tasks
from judgebook.sources.reading import Counts
from judgebook.sources.rows import eval_logs
from judgebook.study import limits, paths
from judgebook.study.schema import DataError, Problem
from judgebook.study.source_shared import FileOptions

_TABS = (".tsv", ".txt", ".tab")
WORKBOOKS = (".xlsx", ".xls", ".xlsb", ".ods")
#: what pandas writes for the index of a frame that has no name
_UNNAMED = re.compile(r"__index_level_[0-9]+__")
#: the last Parquet file that was read, by its state, if its table has no more than so many bytes
_KEPT = 10_000_000
_kept: dict[tuple[Path, int, int, int], pa.Table] = {}
_LINES = (".jsonl", ".ndjson", ".jsonlines")
#: lines that are read at once
_AT_ONCE, _BETWEEN = 5_000, "7301946528851302947"
#: number of a row -> its cells, of which an empty row has none
Rows = dict[int, list[str]]


@dataclass(frozen=True)
class Records:
    """records : what the file holds one after the other. where : the place of each, for messages. single : the file is
    one record, not a series. repeated : columns of a table whose name its header gives several times. sums : places of
    rows of a table that sum up others."""

    records: list[Any]
    where: list[str]
    single: bool = False
    repeated: tuple[str, ...] = ()
    sums: Collection[str] = ()


def kind(path: Path) -> str:
    """The suffix that says how a file is read: that before `.gz`, in lower case."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_table(
    path: Path,
    name: str,
    options: FileOptions,
    counts: Counts | None = None,
    *,
    coded: bool = False,
    sheet: Rows | None = None,
) -> pd.DataFrame:
    """All cells of a table as text; the index is the row in the file, 1-based, header included.

    counts : takes up how many lines and rows there are. `attrs[SUMS]` are rows that sum up others. coded : columns
    whose cells repeat may be coded (`codes`). sheet : rows of a workbook's sheet, where they have been read.

    Raises DataError for a file that cannot be read, or whose columns are not as many as `column_names`.
    """
    suffix = kind(path)
    if suffix in (".json", *_LINES):
        hint = "use `adapter: records`"
        raise DataError([Problem(name, "", "", "a table (CSV, TSV, Excel, Parquet)", f"a {suffix} file", hint)])
    counted = Counts() if counts is None else counts
    header, skipped, fill = options.header_rows, options.skip_rows, options.short_rows == "fill"
    if suffix == ".parquet":
        cells = _read_parquet(path, name)
        counted.add(name, "rows", "read", n=len(cells))
    elif suffix in WORKBOOKS:
        rows = read_workbook(path, name, options.sheet) if sheet is None else sheet
        physical.of_table(counted, name, rows, header=header, skip_rows=skipped)
        cells = as_table(name, rows, header=header, skip_rows=skipped, fill=fill)
    else:
        delimiter = options.delimiter or ("\t" if suffix in _TABS else ",")
        cells = read_csv(
            path,
            name,
            header=header,
            delimiter=delimiter,
            quoting=options.quoting,
            encoding=options.encoding,
            skip_rows=skipped,
            fill=fill,
            counts=counted,
            coded=coded,
        )
    if options.column_names:
        if len(options.column_names) != len(cells.columns):
            expected, n = f"{len(options.column_names)} columns, as in `column_names`", str(len(cells.columns))
            raise DataError([Problem(name, "row 1", "", expected, n, "check delimiter and names")])
        cells.columns = options.column_names
    if long := [column for column in cells.columns if len(column) > limits.COLUMN]:
        expected = f"a name of at most {limits.COLUMN:,} characters"
        found, hint = f"{len(long[0]):,}: {long[0]}"[: limits.QUOTED], "shorten it; are delimiter and quoting right?"
        raise DataError([Problem(name, "row 1", "", expected, found, hint)])
    if bound := [column for column in cells.columns if paths.ALONE.fullmatch(column)]:
        # patterns of a YAML, and what they stand for, are written so
        expected, hint = "a name without braces, which are for patterns in a YAML", "rename the column"
        raise DataError([Problem(name, "row 1", "", expected, repr(column), hint) for column in bound])
    cells.attrs[summaries.SUMS] = summaries.rows(cells)
    return cells


def read_records(
    path: Path, name: str, options: FileOptions, counts: Counts | None = None, *, sheet: Rows | None = None
) -> Records:
    """The records of a table (rows, as column -> text), of JSON Lines, or of JSON (elements of its list, or itself);
    a log of Inspect is one record.

    counts, sheet : as in `read_table`.

    Raises DataError for a file that cannot be read.
    """
    counted = Counts() if counts is None else counts
    if kind(path) == ".parquet":
        rows = _parquet_rows(path, name)
        counted.add(name, "rows", "read", n=len(rows))
        return Records(rows, [f"row {i}" for i in range(2, len(rows) + 2)])
    if is_table(path.name):
        cells = read_table(path, name, options, counted, sheet=sheet)
        repeated = tuple(cells.attrs.get(REPEATED, ()))
        sums = {f"row {i}" for i in cells.attrs[summaries.SUMS]}
        cells = cells[[c for c in cells if c]]
        return Records(cells.to_dict("records"), [f"row {i}" for i in cells.index], False, repeated, sums)
    if kind(path) == ".eval":
        counted.add(name, "records", "read")
        return Records([eval_logs.read(path, name)], [""], single=True)
    text = read_text(path, name, options.encoding)
    if kind(path) not in _LINES:
        try:
            value = json_text.parse(text, name)
        except json.JSONDecodeError as error:
            lines = text.strip().splitlines()
            if len(lines) < 2 or lines[0].strip()[:1] not in ("{", "["):
                raise DataError([_broken(name, error)]) from None
            return _lines(text, name, counted, error)
        records = value if isinstance(value, list) else [value]
        where = [f"record {i + 1}" if isinstance(value, list) else "" for i in range(len(records))]
        physical.of_records(counted, name, where)
        return Records(records, where, single=not isinstance(value, list))
    return _lines(text, name, counted)


def _broken(name: str, error: json.JSONDecodeError, line: int | None = None) -> Problem:
    place = f"line {line or error.lineno}, character {error.colno}"
    hint = "the file may be truncated: fetch or export it again"
    return Problem(name, place, "", "JSON", json_text.odd(error), hint)


def _lines(text: str, name: str, counts: Counts, whole: json.JSONDecodeError | None = None) -> Records:
    """One JSON value per line. whole : what was wrong when the text was read as one JSON value."""
    records, where, problems = [], [], []
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    for begin in range(0, len(lines), _AT_ONCE):
        some = lines[begin : begin + _AT_ONCE]
        if (objects := _objects([line.strip() for _, line in some], name)) is not None:
            records += objects
            where += [f"line {n}" for n, _ in some]
            continue
        for n, line in some:
            try:
                records.append(json_text.parse(line, name, f"line {n}"))
                where.append(f"line {n}")
            except json.JSONDecodeError as error:
                problems.append(_broken(name, error, n))
    if problems:
        raise DataError([_broken(name, whole)] if whole is not None and len(problems) > len(records) else problems)
    physical.of_records(counts, name, where, text)
    return Records(records, where)


def _objects(lines: list[str], name: str) -> list[Any] | None:
    """The objects of lines, read at once, which is faster and keeps each key once; None where one is anything else.

    Between two lines stands a number that no line holds, so that no two broken lines make a whole.
    """
    if not all(line[0] == "{" and line[-1] == "}" and _BETWEEN not in line for line in lines):
        return None
    try:
        out = json_text.parse(f"[{f',{_BETWEEN},'.join(lines)}]", name)
    except (json.JSONDecodeError, DataError):
        return None
    whole = len(out) == 2 * len(lines) - 1 and {type(x) for x in out[1::2]} <= {int}
    return out[::2] if whole and set(out[1::2]) <= {int(_BETWEEN)} else None


def _parquet_rows(path: Path, name: str) -> list[dict[str, Any]]:
    """The rows with the lists and objects that they hold."""
    table = _parquet(path, name)
    for title in table.column_names if len({*table.column_names}) == table.num_columns else ():
        if not pa.types.is_nested(table[title].type):
            _texts(table[title], name, title)  # raises DataError for what Python has no values for
    return table.to_pylist()


def holds_lists(path: Path, name: str) -> bool:
    """Whether a Parquet file has columns of lists or objects."""
    return any(pa.types.is_nested(c.type) and c.null_count < len(c) for c in _parquet(path, name).columns)


def keep(path: Path) -> None:
    """Read a Parquet file that this process wrote, which needs no child, for those who ask for it next."""
    content = tasks.parquet(str(path), limits.COLUMNS, limits.LISTED)
    if isinstance(content, bytes):  # else the child will say what is wrong
        _parquet(path, path.name, content)


def _parquet(path: Path, name: str, content: bytes | None = None) -> pa.Table:
    """A Parquet file as it is now; it is asked for several times, and a child takes most of the time of a small one."""
    with suppress(OSError):
        now = path.stat()
        state = (path.absolute(), now.st_ino, now.st_mtime_ns, now.st_size)
        if state in _kept:
            return _kept[state]
    hint = {"hint": "export it again", "large": "export it as CSV"}
    table = pa.ipc.open_stream(
        content
        or child.of_file("parquet", path, name, "a Parquet file", **hint, columns=limits.COLUMNS, listed=limits.LISTED)
    ).read_all()
    _kept.clear()
    if table.nbytes <= _KEPT:
        _kept[state] = table
    return table


def _read_parquet(path: Path, name: str) -> pd.DataFrame:
    table = _parquet(path, name)
    if not len(table) or not table.column_names:
        raise DataError([Problem(name, "", "", "rows of data", "none", "export the file again")])
    if len({*table.column_names}) < table.num_columns:
        twice = next(c for c, n in Counter(table.column_names).items() if n > 1)
        raise DataError([Problem(name, "", twice, "a column name given once", "it again", "rename one")])
    columns = [column for column in table.column_names if not _UNNAMED.fullmatch(column)]
    cells = {column: _texts(table[column], name, column) for column in columns}
    return pd.DataFrame(cells, index=pd.RangeIndex(2, len(table) + 2))


def _texts(column: pa.ChunkedArray, name: str, title: str) -> pd.api.extensions.ExtensionArray:
    """Cells of a column as text, each distinct value made once. Raises DataError for values that are no cells."""
    try:
        coded = pa.types.is_nested(column.type) or column.dictionary_encode().combine_chunks()
        values = pd.Series((column if coded is True else coded.dictionary).to_pandas())
    except (pa.ArrowException, OverflowError, ValueError) as error:
        message = str(error).partition("\n")[0][: limits.QUOTED]
        raise DataError([Problem(name, "", title, "values that are cells", message, "write them as text")]) from None
    texts = pa.array(_as_text(values), pa.large_string())
    if coded is not True:
        texts = pa.DictionaryArray.from_arrays(coded.indices, texts).cast(pa.large_string()).fill_null("")
    return pd.array(texts, dtype="str")


def _as_text(values: pd.Series) -> pd.Series:
    """Cells as a CSV would hold them: nothing for a missing value, whole numbers without a decimal point."""
    held = values.dropna() if pd.api.types.is_float_dtype(values) else None
    if held is not None and (held % 1 == 0).all() and (held.abs() < 2**53).all():
        values = values.astype("Int64")
    return values.astype(object).where(values.notna(), "").astype(str)


def read_workbook(path: Path, name: str, sheet: str | None) -> Rows:
    """The rows of a sheet, as many cells each as the widest has; an empty row has none."""
    names, sheets = _sheets(path, name, sheet)
    filled = [s for s, rows in sheets.items() if rows]
    if sheet is None and len(filled) != 1:
        several = f"{len(filled)}: {', '.join(filled)}"[: limits.QUOTED]
        hint = (
            f"name one under the source: `sheet: {json.dumps(filled[0], ensure_ascii=False)}`" if filled else "fill one"
        )
        raise DataError([Problem(name, "", "", "one sheet with data", several, hint)])
    if sheet is not None and sheet not in sheets:
        first = json.dumps([*filled_sheets(path, name), *names][0], ensure_ascii=False)
        hint = f"write `sheet: {first}`, or another of them, under the source"
        raise DataError([Problem(name, "", "sheet", f"one of {', '.join(names)}"[: limits.QUOTED], repr(sheet), hint)])
    return sheets[sheet or filled[0]]


def filled_sheets(path: Path, name: str) -> dict[str, Rows]:
    """The rows of each sheet that holds data, of that with most rows first."""
    filled = {sheet: rows for sheet, rows in _sheets(path, name)[1].items() if rows}
    return dict(sorted(filled.items(), key=lambda each: len(each[1]), reverse=True))


def _sheets(path: Path, name: str, sheet: str | None = None) -> tuple[list[str], dict[str, Rows]]:
    """The names of all sheets, and the rows of one, or of all if `sheet` is None."""
    if find_spec("python_calamine") is None:
        hint = "save the sheet as CSV (UTF-8), or install the package: pip install python-calamine"
        raise DataError([Problem(name, "", "", "the package python-calamine", "not installed", hint)])
    names, sheets = child.of_file(
        "workbook",
        path,
        name,
        "a workbook",
        hint="open it in a spreadsheet and save it again",
        large="delete the empty rows and columns around the data, or save the sheet as CSV",
        sheet=sheet,
        unpacked=unpacked_at_most(path.stat().st_size),
    )
    text = {s: {n: [_cell(c) for c in row] for n, row in enumerate(rows, start=1)} for s, rows in sheets.items()}
    text = {s: {n: cells if any(cells) else [] for n, cells in rows.items()} for s, rows in text.items()}
    return names, {s: rows if any(rows.values()) else {} for s, rows in text.items()}


def _cell(value: Any) -> str:
    """A cell of a workbook as its CSV would hold it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    return scalar(value) or ""


def scalar(value: Any) -> str | None:
    """A value of JSON or of a workbook as text; None for a missing one."""
    if type(value) is str:  # most of them
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
