"""Where raw files are looked for, and reading them with errors that say what to do.

A name in a YAML is looked for in the folder of that YAML, then in `data/raw`, `$COMPENDIUM_RAW` and `../shared/data`,
there first in the folder named for the study. Nothing here writes.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from judgebook import project
from judgebook.sources import json_text
from judgebook.sources.accounts import physical
from judgebook.sources.places import candidates, find, wild
from judgebook.sources.reading import Counts
from judgebook.sources.registry import fetch_hint
from judgebook.sources.rows import plain_lines
from judgebook.sources.rows.spelling import Spelling
from judgebook.study import limits
from judgebook.study.labels import Label
from judgebook.study.schema import DataError, Problem, several


class Files:
    """Opens the raw files of one study: called with a name, it returns the path, or raises DataError.

    names : what the source says it reads. A name outside it is a mistake of the adapter (the pipeline hashes exactly
        the declared files), so that it raises ValueError.
    labels : what the study declares, for formats whose own words do not say what a label is.
    hint : how an absent file is made; default: how it is fetched.
    spelling : how the study wants names spelt; default: as they are.
    """

    def __init__(
        self,
        study: str,
        names: Iterable[str],
        beside: Path | None = None,
        labels: Iterable[Label] = (),
        hint: str = "",
        spelling: Spelling | None = None,
    ):
        self.spelling = spelling or Spelling({})
        self.study, self.names, self.beside, self.labels, self.hint = study, set(names), beside, list(labels), hint

    def __call__(self, name: str) -> Path:
        if name not in self.names:
            raise ValueError(f"{name!r} is not among the files the source declares: {sorted(self.names)}")
        path = find(name, self.study, self.beside)
        if path is None:
            raise DataError([self._absent(name)])
        return path

    def fitting(self, name: str) -> list[str]:
        """The declared files that a name with {placeholders} or * stands for; itself where it has none."""
        if not wild(name):
            return [name]
        fits = re.compile(re.sub(r"\\\{[a-z][a-z_0-9]*\\\}|\\\*", "[^/]*", re.escape(name)))
        return sorted(n for n in self.names if fits.fullmatch(n)) or [name]

    def _absent(self, name: str) -> Problem:
        places = ", ".join(dict.fromkeys(_shown(p.parent) for p in candidates(name, self.study, self.beside)))
        hint = (
            self.hint
            or fetch_hint(self.study, name)
            or f"put the file at {_shown(project.folder() / 'data' / 'raw' / self.study)}"
        )
        return Problem(name, "", "", f"the file in one of {places}", "no such file", hint)


def _shown(path: Path) -> str:
    """A path as a reader of the project would write it."""
    try:
        return path.relative_to(project.folder()).as_posix() or "."
    except ValueError:
        near = path.is_relative_to(project.folder().parent)
        return os.path.relpath(path, project.folder()) if near else str(path)


#: characters of a header that a message quotes
_HEADER = 80
_UTF8 = ("utf-8", "utf-8-sig", "utf8")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_bytes(path: Path, name: str) -> bytes:
    """The file's bytes, unpacked where it is a .gz.

    Raises DataError for a file that cannot be opened, has megabytes of nothing, or is no whole gzip file or one that
    unpacks to far too much.
    """
    _refuse_blanks(path, name)
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "check the permissions of the file"
        raise DataError([Problem(name, "", "", "a file that can be read", str(error.strerror), hint)]) from None
    if data.startswith(b"PK\x03\x04"):
        workbook = b"xl/workbook" in data
        hint = (
            "name the file .xlsx, or save its sheet as CSV"
            if workbook
            else "unpack it, and name the file that is in it"
        )
        raise DataError([Problem(name, "", "", "a text file", "a workbook" if workbook else "a zip archive", hint)])
    if path.suffix.lower() != ".gz":
        return data
    most = unpacked_at_most(len(data))
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while size <= most and (block := file.read(limits.BLOCK)):
                size += len(block)
            file.seek(0)
            unpacked = file.read() if size <= most else b""
    except (OSError, EOFError, zlib.error) as error:
        message = str(error) or type(error).__name__
        raise DataError([Problem(name, "", "", "a complete gzip file", message, "fetch or export it again")]) from None
    if size > most:
        raise DataError([Problem(name, "", "", f"at most {most:,} bytes when unpacked", "more", UNPACK)])
    return unpacked


def _refuse_blanks(path: Path, name: str) -> None:
    """Raise DataError for a file with a block of nothing but null bytes, as one with holes, or blanks, before it is
    read."""
    with suppress(OSError), path.open("rb") as file:
        size = path.stat().st_size
        if not size:  # nor may it be read: some of the system's wait for ever
            raise DataError([Problem(name, "", "", "data", "an empty file", "fetch or export it again")])
        if size < limits.BLOCK:
            return
        while block := file.read(limits.BLOCK):
            if len(block) < limits.BLOCK or block.strip(b"\0 \t\r\n"):
                continue
            place, null = f"byte {file.tell() - len(block) + 1:,}", b"\0" in block
            what = f"{len(block):,} {'null bytes' if null else 'blanks and line breaks'}"
            hint = "it was not written to its end: fetch or export it again" if null else "delete them"
            raise DataError([Problem(name, place, "", "data", what, hint)])


UNPACK = "if this is correct, unpack the file and name the unpacked one"


def unpacked_at_most(size: int) -> int:
    """Bytes that a packed file of `size` bytes may become."""
    return max(limits.UNPACKED, limits.UNPACKED_TIMES * size)


def read_text(path: Path, name: str, encoding: str = "utf-8-sig") -> str:
    """The file's text, without a byte order mark. Raises DataError for another encoding or an empty file.

    A file that begins with the byte order mark of UTF-16, as spreadsheets write it, is read as that.
    """
    data = read_bytes(path, name)
    if encoding == "utf-8-sig" and data.startswith(_UTF16):
        encoding = "utf-16"
    hint = "save the file as UTF-8, or name its encoding in the YAML (`encoding: cp1252`, `encoding: utf-16-le`)"
    expected = f"text in {encoding}"
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
        if encoding.lower() not in _UTF8:
            text.encode("utf-8")  # some encodings allow half of a surrogate pair, which nothing can store
    except LookupError:
        raise DataError([Problem(name, "", "encoding", "an encoding", repr(encoding), hint)]) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"the byte 0x{data[error.start]:02x}, which is not" if error.start < len(data) else error.reason
        raise DataError([Problem(name, f"line {line}", "", expected, what, hint)]) from None
    except UnicodeError as error:
        raise DataError([Problem(name, "", "", expected, str(error)[: limits.QUOTED], hint)]) from None
    if (null := text.find("\0")) >= 0:
        line = text.count("\n", 0, null) + 1
        raise DataError([Problem(name, f"line {line}", "", expected, "a null character", hint)])
    if not text or text.isspace():
        raise DataError([Problem(name, "", "", "data", "an empty file", "fetch or export it again")])
    return text


def read_json(path: Path, name: str, expect: type = dict) -> Any:
    """The file's JSON. Raises DataError with line and column where it breaks off, or when it is not an `expect`."""
    try:
        value = json_text.parse(read_text(path, name), name)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, character {error.colno}"
        hint = "the file may be truncated: fetch it again"
        raise DataError([Problem(name, place, "", "JSON", json_text.odd(error), hint)]) from None
    if not isinstance(value, expect):
        kinds: dict[type, str] = {dict: "an object {…}", list: "a list […]"}
        hint = "is this the kind of file that `adapter` reads?"
        raise DataError([Problem(name, "line 1", "", kinds[expect], json_text.kind(value), hint)])
    return value


def read_csv(
    path: Path,
    name: str,
    *,
    header: int = 1,
    delimiter: str = ",",
    quoting: bool = True,
    encoding: str = "utf-8-sig",
    skip_rows: Collection[int] = (),
    fill: bool = False,
    columns: Collection[str] = (),
    counts: Counts | None = None,
    coded: bool = False,
) -> pd.DataFrame:
    """The file as text cells; an empty cell is an empty string, empty lines are passed over.

    header, skip_rows, fill : as in `as_table`. columns : those that must be there. counts : takes up
    how many lines there are, and what became of them. coded : columns whose cells repeat may be coded (`codes`).

    The index is the row in the file as a spreadsheet counts it: 1-based, header included. Raises DataError for an
    unclosed quote, and as `as_table` does.
    """
    plain = header == 1 and not skip_rows
    quick = plain_lines.table(_utf8(path, name, encoding), delimiter, quoting=quoting, coded=coded) if plain else None
    if quick is None:
        frame = _row_by_row(read_text(path, name, encoding), name, header, delimiter, quoting, skip_rows, fill, counts)
    else:
        frame = quick
        frame.attrs[REPEATED] = []
        if counts is not None:
            physical.of_lines(counts, name, len(frame))
    absent = ", ".join(c for c in columns if c not in frame)
    if absent:
        names = f"columns {', '.join(frame.columns)}"[:200]
        raise DataError([Problem(name, "row 1", absent, f"columns {', '.join(columns)}", names)])
    return frame


def _utf8(path: Path, name: str, encoding: str) -> bytes:
    """The file's text as bytes of UTF-8; of a file in UTF-8 its own, of which `plain_lines` finds out whether they are
    text."""
    data = read_bytes(path, name)
    if encoding.lower() not in _UTF8 or data.startswith(_UTF16):
        return read_text(path, name, encoding).encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _row_by_row(
    text: str,
    name: str,
    header: int,
    delimiter: str,
    quoting: bool,
    skip_rows: Collection[int],
    fill: bool,
    counts: Counts | None,
) -> pd.DataFrame:
    """As `read_csv`, of a text."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    options = {"strict": True} if quoting else {"quoting": csv.QUOTE_NONE}
    reader, rows, n = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **options), {}, 0
    empty = 0
    try:
        for n, cells in enumerate(reader, start=1):
            rows[n] = cells
            empty += not cells
            if empty > limits.EMPTY_LINES:
                expected, hint = f"at most {limits.EMPTY_LINES:,} empty lines", "delete them"
                raise DataError([Problem(name, f"line {reader.line_num:,}", "", expected, "more", hint)])
    except csv.Error as error:
        hint = "is a quote left open? `quoting: false` reads quotes as text"
        if n == 0 and text.lstrip()[:1] in ("{", "["):
            hint = "this looks like JSON: name the file .json or .jsonl and use `adapter: records`"
        problem = Problem(name, f"row {n + 1} (line {reader.line_num})", "", "well-formed cells", str(error), hint)
        raise DataError([problem]) from None
    if counts is not None:
        physical.of_table(counts, name, rows, header=header, skip_rows=skip_rows, text=text, delimiter=delimiter)
    return as_table(name, rows, header=header, skip_rows=skip_rows, fill=fill)


def as_table(
    name: str, rows: dict[int, list[str]], *, header: int = 1, skip_rows: Collection[int] = (), fill: bool = False
) -> pd.DataFrame:
    """Rows of cells under the names that the header gives them.

    rows : number of the row -> its cells; a row without cells is passed over. header : rows of the header (0: none,
    columns are numbered from 0); the cells of several are joined by _, an empty one repeating the one to its left in
    all but the last. fill : cells that rows lack at their end are empty, as are Approve and Reject, which MTurk's rows
    lack. Empty cells beyond the header are left out. Names given several times are numbered (`numbered_names`), and
    listed in `attrs[REPEATED]`; where all of one name hold the same, the first is kept under its name
    (`attrs[COPIED]`).

    Raises DataError for no rows, a number that makes a name of another column, or rows whose number of cells differs.
    """
    rows = {n: cells for n, cells in rows.items() if cells and n not in skip_rows}
    heads = [rows.pop(n) for n in list(rows)[:header]]
    names = _joined_heads(heads) if heads else [str(i) for i in range(max(map(len, rows.values()), default=0))]
    widest = max([len(names), *map(len, rows.values())])
    if widest > limits.COLUMNS:
        columns = f"{widest:,}, e.g. {', '.join(names[:3])}"[: limits.QUOTED]
        hint = "leave out columns that are not needed; is the delimiter right?"
        raise DataError([Problem(name, "row 1", "", f"at most {limits.COLUMNS:,} columns", columns, hint)])
    if heads:
        del names[_used_columns(names, rows.values()) :]
    before, names = names, numbered_names(names)
    width = len(names)
    rows = {n: cells[:width] if not any(cells[width:]) else cells for n, cells in rows.items()}
    lengths = {len(cells) for cells in rows.values()}
    mturk = width > 2 and set(names[-2:]) == {"Approve", "Reject"} and lengths == {width - 2}
    lacking = sum(max(0, width - len(cells)) for cells in rows.values())
    if fill and lacking > limits.FILLED_CELLS:
        expected = f"at most {limits.FILLED_CELLS:,} cells missing at the end of rows"
        hint = "`short_rows: fill` would add them: are the header and delimiter right?"
        raise DataError([Problem(name, "", "", expected, f"{lacking:,}", hint)])
    if fill or mturk:
        rows = {n: cells + [""] * (width - len(cells)) for n, cells in rows.items()}
    _check_cells(name, names, rows, bool(heads), _blocks(list(rows)))
    out = pd.DataFrame(list(rows.values()), index=list(rows), columns=names, dtype=str)
    numbered: dict[str, list[str]] = {}
    for old, new in zip(before, names, strict=True):
        if new != old:
            numbered.setdefault(old, []).append(new)
    copied = {c: many for c, many in numbered.items() if out[many].nunique(axis=1).max() == 1}
    out = out.drop(columns=[c for many in copied.values() for c in many[1:]])
    out = out.rename(columns={many[0]: c for c, many in copied.items()})
    out.attrs[REPEATED] = [c for name, many in numbered.items() if name not in copied for c in many]
    out.attrs[COPIED] = [*copied]
    return out


#: of a table that was read: columns whose name the header gives several times, and those of which all hold the same,
#: so that only the first is there
REPEATED, COPIED = "repeated", "copied"


def numbered_names(names: list[str]) -> list[str]:
    """Names that are given several times with a number each: two columns `Fluent?` are `Fluent? (1)`, `Fluent? (2)`."""
    often, seen = Counter(name for name in names if name), Counter[str]()
    out = []
    for name in names:
        seen[name] += 1
        out.append(f"{name} ({seen[name]})" if often[name] > 1 else name)
    return out


def _used_columns(names: list[str], rows: Iterable[list[str]]) -> int:
    """How many columns are left without those at the end that have neither a name nor a filled cell."""
    used = next((i for i in range(len(names), 0, -1) if names[i - 1]), 0)
    for cells in rows:
        while any(cells[used : len(names)]):
            used = next(i for i in range(min(len(cells), len(names)), used, -1) if cells[i - 1])
    return used


def _joined_heads(heads: list[list[str]]) -> list[str]:
    """Names of columns from the rows of a header."""
    width, parts = max(map(len, heads)), []
    for k, row in enumerate(heads):
        cells = row + [""] * (width - len(row))
        if k < len(heads) - 1:
            for i in range(1, width):
                cells[i] = cells[i].strip() or cells[i - 1]
        parts.append(cells)
    return [
        "_".join(p.strip() for p in column if p.strip()) if len(parts) > 1 else column[0]
        for column in zip(*parts, strict=True)
    ]


def in_blocks(frame: pd.DataFrame) -> bool:
    """Whether empty lines divided the rows of a table into blocks, as where each is a dialogue."""
    return _blocks(list(frame.index))


def lines_in_blocks(path: Path) -> bool:
    """As `in_blocks`, for a text that cannot be read as a table."""
    try:
        lines = read_text(path, path.name).splitlines()
    except DataError:
        return False
    return _blocks([n for n, line in enumerate(lines, start=1) if line.strip()])


def _blocks(rows: list[int]) -> bool:
    gaps = sum(b - a > 1 for a, b in itertools.pairwise(rows))
    return gaps >= 2 and len(rows) >= 2 * (gaps + 1)


#: the header of the format that any data can be brought into
LONG_FORMAT = "dialogue,turn,system,annotator,label,score"


def blocks_problem(name: str) -> Problem:
    hint = (
        "here, only the position of a line shows which dialogue it belongs to: write a table with one row per judgement"
        f", header `{LONG_FORMAT}` (a short script will do), and use that instead"
    )
    return Problem(name, "", "", "a table, JSON or JSON Lines", "blocks of lines divided by empty lines", hint)


def other_delimiter(header: str) -> str:
    """What divides a header that is one cell as it is read; nothing where it could be one name."""
    many = {d: header.count(d) for d in (";", "\t", "|", ",")}
    best = max(many, key=many.__getitem__)
    return best if many[best] else " " if header.count(" ") and len(header.split()) > 2 else ""


def one_cell(name: str, header: str, divider: str) -> Problem:
    """A table whose header is one cell, because another character divides its cells."""
    hint = f"write `delimiter: {json.dumps(divider)}` under the source"
    return Problem(name, "row 1", "", "several columns", f"one cell, {header[:_HEADER]!r}", hint)


def _check_cells(name: str, columns: list[str], rows: dict[int, list[str]], header: bool, blocks: bool) -> None:
    named = [c for c in columns if c]
    twice = "rename one, or set `header: none`, `skip_rows: [1]` and `column_names`"
    problems = [
        Problem(name, "row 1", c[: limits.QUOTED], "a column name given once", f"{n} columns of that name", twice)
        for c, n in Counter(named).items()
        if n > 1
    ]
    odd = {n: len(cells) for n, cells in rows.items() if len(cells) != len(columns)}
    if odd and header and len(columns) == 1 and (divider := other_delimiter(columns[0])):
        raise DataError([one_cell(name, columns[0], divider)])
    if blocks and (odd or not header):
        raise DataError([blocks_problem(name)])
    hint = "check delimiter and quoting; `short_rows: fill` treats cells missing at the end of rows as empty"
    width = f"{len(columns)} cells"
    problems += several(list(odd), lambda n: Problem(name, f"row {n}", "", width, str(odd[n]), hint))
    if not rows:
        problems.append(Problem(name, "", "", "rows of data", "a header only", "fetch or export the file again"))
    if problems:
        raise DataError(problems)
