"""Tables in which each line is a row of as many cells: Arrow reads them at once. What is otherwise is read row by row,
which can say where."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow

from judgebook.study import limits

#: bytes that are read at a time; a longer line is read row by row
_BLOCK = 1 << 23
_QUOTE = ord('"')


def table(text: str, delimiter: str, *, quoting: bool) -> pd.DataFrame | None:
    """The cells as text, index = row in the file (1-based, header included); None where lines differ in their number of
    cells, are empty or within a cell, or names in the header are absent or given twice."""
    lines = text.replace("\r\n", "\n") if "\r" in text else text
    if lines[0] == "\n" or "\r" in lines or "\n\n" in lines or not (delimiter.isascii() and len(delimiter) == 1):
        return None
    data = lines.encode()
    if quoting and '"' in lines and not _quoted_whole(data, delimiter):
        return None
    options = {"strict": True} if quoting else {"quoting": csv.QUOTE_NONE}
    try:
        names = next(csv.reader([lines.partition("\n")[0]], delimiter=delimiter, **options))
    except csv.Error:
        return None
    if not 2 <= len(names) <= limits.COLUMNS or not all(names) or len(set(names)) < len(names):
        return None
    try:
        cells = arrow.read_csv(
            pa.BufferReader(data),
            arrow.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=names, skip_rows=1),
            arrow.ParseOptions(delimiter=delimiter, quote_char='"' if quoting else False),
            arrow.ConvertOptions(column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False),
        )
    except pa.ArrowInvalid:
        return None
    if not len(cells):
        return None
    columns = {name: pd.array(cells[name], dtype="str") for name in names}
    return pd.DataFrame(columns, index=pd.RangeIndex(2, len(cells) + 2))


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
