"""JSON Lines that are parsed together: the same records as line by line, and nothing made of broken lines."""

import pytest

from judgebook.sources import formats
from judgebook.sources.reading import Counts
from judgebook.study.schema import DataError


def test_lines_are_records_in_their_order():
    text = '{"a": 1}\n\n {"a": [{"b": 2}]} \n{"a": "},{"}\n'
    read = formats._lines(text, "x.jsonl", Counts())
    assert read.records == [{"a": 1}, {"a": [{"b": 2}]}, {"a": "},{"}]
    assert read.where == ["line 1", "line 3", "line 4"]


@pytest.mark.parametrize(
    "lines",
    [
        ['{"a":[{}', "{}]}", "{},{}"],
        ['{"a":[{}', "{}]}", f"{{}},{formats._BETWEEN},{{}}"],
        ['{"a": 1}', '{"a": 2}}', '{"a": 3}'],
    ],
)
def test_broken_lines_never_make_a_whole(lines):
    with pytest.raises(DataError, match="line"):
        formats._lines("\n".join(lines), "x.jsonl", Counts())
