"""Paths into records: what divides a cell."""

import pytest

from judgebook.study import paths


@pytest.mark.parametrize(
    ("path", "divider"),
    [
        ("labels:split", ","),
        ("labels:split(；)", "；"),
        ("labels:split( é )", " é "),
        ("labels:split(\\t)", "\t"),
        ("order:ranking(≻)", "≻"),
        ("labels:split(\\u2192)", "→"),
    ],
)
def test_a_divider_is_as_it_is_written(path, divider):
    for table in (True, False):
        assert paths.parse(path, table=table)[-1].text == divider


@pytest.mark.parametrize("path", ["labels:split(\\)", "labels:split(\\x)", "order:ranking(\\u12)"])
def test_half_an_escape_is_refused_with_its_place(path):
    with pytest.raises(ValueError, match="expected in") as refused:
        paths.parse(path, table=True)
    assert repr(path) in str(refused.value)
