"""From the lines of a file to its rows: headers, empty lines, and line breaks within cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import pandas as pd

from judgebook.sources.reading import Counts
from judgebook.study.problems import PLACE

LINES = "lines"
#: what a row of data may be called
ROWS = ("rows", "records")
#: counted of a file that several sources read
SOURCES = "sources"
HEADER, EMPTY, SKIPPED = "header", "empty", "left out (`skip_rows`)"
BROKEN = "within cells that hold line breaks"
SWALLOWED = (
    "within cells between quotation marks, where each looks like a row: if they are rows, write `quoting: false`"
)


def breaks(text: str) -> int:
    """Ends of lines in a text, however they are written."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def of_table(
    counts: Counts,
    name: str,
    rows: dict[int, list[str]],
    *,
    header: int,
    skip_rows: Collection[int],
    text: str = "",
    delimiter: str = ",",
) -> None:
    """Count the lines of a table, and the rows of data that they amount to.

    rows : number of the row -> its cells, none where it is empty. text : of the file; "" where rows are not lines of
    text, as in a workbook.
    """
    total = breaks(text) + (not text.endswith(("\n", "\r"))) if text else len(rows)
    counts.add(name, LINES, "read", n=total)
    skipped = [n for n in rows if n in skip_rows]
    empty = [n for n, cells in rows.items() if not cells and n not in skip_rows]
    data = [n for n, cells in rows.items() if cells and n not in skip_rows][header:]
    counts.add(name, LINES, "dropped", HEADER, len(rows) - len(skipped) - len(empty) - len(data))
    for reason, numbers in ((EMPTY, empty), (SKIPPED, skipped)):
        counts.add(name, LINES, "dropped", reason, len(numbers), where=(f"row {n}" for n in numbers))
    if text and total != len(rows):
        _continued(counts, name, rows, delimiter)
    counts.add(name, LINES, "kept", n=len(data))
    counts.add(name, "rows", "read", n=len(data))


def of_lines(counts: Counts, name: str, n: int) -> None:
    """Count the lines of a table in which each of the n rows of data is a line below one of the header."""
    counts.add(name, LINES, "read", n=n + 1)
    counts.add(name, LINES, "dropped", HEADER)
    counts.add(name, LINES, "kept", n=n)
    counts.add(name, "rows", "read", n=n)


def _continued(counts: Counts, name: str, rows: dict[int, list[str]], delimiter: str) -> None:
    """Count lines that are no rows, since they are in a cell of one: doubtful ones where each could be a row."""
    broken = {n: sum(map(breaks, cells)) for n, cells in rows.items() if any(map(breaks, cells))}
    rowlike = {n for n in broken if _like_rows(rows[n], delimiter)}
    # a comma is in many texts: there, one cell that is like rows says little
    doubtful = rowlike if delimiter == "\t" or len(rowlike) == len(broken) else set()
    for reason, numbers in ((SWALLOWED, doubtful), (BROKEN, broken.keys() - doubtful)):
        where = (f"row {n}" for n in sorted(numbers))
        counts.add(name, LINES, "dropped", reason, sum(broken[n] for n in numbers), where=where)


def _like_rows(cells: list[str], delimiter: str) -> bool:
    """Whether each line of a row with line breaks in its cells has as many cells as the row."""
    lines = re.split(r"\r\n|\r|\n", delimiter.join(cells))
    inside = delimiter.join(cells).count(delimiter) - (len(cells) - 1)
    return inside > 0 and all(line.count(delimiter) == len(cells) - 1 for line in lines)


def of_records(counts: Counts, name: str, where: list[str], text: str = "") -> None:
    """Count the records of a file, and its lines where each record is one (text : the file's)."""
    if text:
        total = text.count("\n") + (not text.endswith("\n"))
        counts.add(name, LINES, "read", n=total)
        counts.add(name, LINES, "dropped", EMPTY, total - len(where))
        counts.add(name, LINES, "kept", n=len(where))
    counts.add(name, "records", "read", n=len(where))


def once(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """The counts of several sources: lines of a file that more than one reads in the same way are the same lines."""
    every = pd.concat([frame.assign(_source=n) for n, frame in enumerate(frames)], ignore_index=True)
    lines = every["what"] == LINES
    same = every[lines].groupby(["_source", "file"], sort=False)["n"].agg(tuple).rename("n").reset_index()
    again = same[same.duplicated(["file", "n"])]
    left = pd.MultiIndex.from_frame(every[["_source", "file"]]).isin(
        pd.MultiIndex.from_frame(again[["_source", "file"]])
    )
    times = every.groupby("file", sort=False)["_source"].nunique()
    counts = Counts()
    for file, n in times[times > 1].items():
        counts.add(str(file), SOURCES, "read", n=int(n))
    return pd.concat([every[~(lines & left)].drop(columns="_source"), counts.frame()], ignore_index=True)


def places(where: pd.Series | Iterable[str]) -> Iterable[str]:
    """The rows or records that places of scores are in: of `row 17, fluency`, `row 17`."""
    return (match[0] for text in where if (match := PLACE.match(str(text))))
