"""Tables in which each line is a row of as many cells: Arrow reads them at once. What is otherwise is read row by row,
which can say where."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow

from judgebook import codes
from judgebook.study import limits

#: bytes that are read at a time; a longer line is read row by row
_BLOCK = 1 << 23
#: bytes at the beginning that show which columns repeat
_SAMPLE = 1 << 18
_CODED = pa.dictionary(pa.int32(), pa.string())
_QUOTE = ord('"')


def table(data: bytes, delimiter: str, *, quoting: bool, coded: bool = False) -> pd.DataFrame | None:
    """The cells as text, index = row in the file (1-based, header included); None where lines differ in their number of
    cells, are empty or within a cell, names in the header are absent or given twice, or bytes are no text.

    data : in UTF-8, without a byte order mark. coded : columns whose cells repeat are coded (`codes`).
    """
    data = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    if not data or data[:1] == b"\n" or any(odd in data for odd in (b"\r", b"\n\n", b"\0")):
        return None
    if not (delimiter.isascii() and len(delimiter) == 1):
        return None
    if quoting and b'"' in data and not _quoted_whole(data, delimiter):
        return None
    options = {"strict": True} if quoting else {"quoting": csv.QUOTE_NONE}
    try:
        head = data[: data.find(b"\n") + 1 or len(data)].decode()
        names = next(csv.reader([head], delimiter=delimiter, **options))
    except (csv.Error, UnicodeDecodeError):
        return None
    if not 2 <= len(names) <= limits.COLUMNS or not all(names) or len(set(names)) < len(names):
        return None
    types: dict[str, pa.DataType] = dict.fromkeys(names, pa.large_string())

    def read(part: pa.Buffer) -> pa.Table:
        return arrow.read_csv(
            pa.BufferReader(part),
            arrow.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=names, skip_rows=1),
            arrow.ParseOptions(delimiter=delimiter, quote_char='"' if quoting else False),
            arrow.ConvertOptions(column_types=types, strings_can_be_null=False),
        )

    try:
        if coded:
            first = read(pa.py_buffer(data).slice(0, data.rfind(b"\n", 0, _SAMPLE) + 1 or len(data)))
            types |= {name: _CODED for name in names if _repeats(first[name])}
        cells = read(pa.py_buffer(data))
    except pa.ArrowInvalid:
        return None
    if not len(cells):
        return None
    index = pd.RangeIndex(2, len(cells) + 2)
    out = pd.DataFrame({name: _column(cells[name], index) for name in names}, index=index)
    del cells
    pa.default_memory_pool().release_unused()
    return out


def _repeats(cells: pa.ChunkedArray) -> bool:
    """Whether a column has at most half as many texts as cells."""
    return 2 * len(cells.unique()) <= len(cells)


def _column(cells: pa.ChunkedArray, index: pd.Index) -> pd.Series:
    if cells.type != _CODED:
        return pd.Series(pd.array(cells, dtype="str"), index)
    # each block that was read has texts of its own
    numbered = cells.unify_dictionaries()
    texts = numbered.chunk(numbered.num_chunks - 1).dictionary.to_numpy(zero_copy_only=False)
    return codes.coded(np.concatenate([part.indices.to_numpy() for part in numbered.chunks]), texts, index)


def _quoted_whole(data: bytes, delimiter: str) -> bool:
    """Whether quotation marks stand around whole cells of one line, doubled within them, and nowhere else."""
    text = np.frombuffer(b"\n" + data + b"\n", np.uint8)
    at = np.flatnonzero(text == _QUOTE)
    if len(at) % 2:
        return False
    ends = [ord(delimiter), ord("\n"), _QUOTE]
    around = np.concatenate([text[at[::2] - 1], text[at[1::2] + 1]])
    within = np.searchsorted(at, np.flatnonzero(text == ord("\n"))) % 2
    return bool(np.isin(around, ends).all() and not within.any())
