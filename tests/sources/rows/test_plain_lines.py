"""Tables that Arrow reads at once: the same cells and counts as row by row, or none."""

import csv
import io

import pytest

from judgebook.sources.accounts import physical
from judgebook.sources.files import as_table
from judgebook.sources.reading import Counts
from judgebook.sources.rows import plain_lines

QUOTED = 'a,b\n"x, y",1\n"say ""hi""",""\n" z ",ü\n'


@pytest.mark.parametrize(
    ("text", "delimiter", "quoting"),
    [
        ("a,b\n1,2\n", ",", True),
        ("a,b\r\n1,2\r\n,", ",", True),
        ("a\tb\n007\t NA \n1e3\t\n", "\t", True),
        (QUOTED, ",", True),
        (QUOTED.replace("\n", "\r\n"), ",", True),
        ('"a";"b"\n"1";"2"', ";", True),
        ('a,b\n5" pipe,"\n', ",", False),
    ],
)
def test_same_cells_and_counts_as_row_by_row(text, delimiter, quoting):
    options = {"strict": True} if quoting else {"quoting": csv.QUOTE_NONE}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **options)
    rows = dict(enumerate(reader, start=1))
    counts = [Counts(), Counts()]
    physical.of_table(counts[0], "f", rows, header=1, skip_rows=(), text=text, delimiter=delimiter)
    cells = plain_lines.table(text.encode(), delimiter, quoting=quoting)
    expected = as_table("f", rows)
    physical.of_lines(counts[1], "f", len(cells))
    assert cells.equals(expected)
    assert list(cells.index) == list(expected.index)
    assert list(cells.dtypes) == list(expected.dtypes)
    assert counts[1].frame().equals(counts[0].frame())


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3\n",  # a row of fewer cells
        "a,b\n1,2,3\n",
        "a,b\n\n1,2\n",  # empty lines count as rows
        "\na,b\n1,2\n",
        "a,b\r\n\r\n1,2\r\n",
        "a,b\r1,2\r",
        'a,b\n"1\n2",3\n',  # a line break in a cell
        'a,b\n"1" x,2\n',  # no cell of strict CSV
        'a,b\n5" pipe,2\n',
        'a,b\n"1,2\n',
        "a,a\n1,2\n",
        "a,\n1,2\n",
        "a,b\n",
        "a\n1\n",
    ],
)
def test_what_is_read_row_by_row(text):
    assert plain_lines.table(text.encode(), ",", quoting=True) is None
