"""Numbers as people write them."""

import pytest

from judgebook.sources.rows import numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("3,5", "3.5"), (" -2 ", "-2"), ("good (4)", "4"), ("5 - very good", "5"), ("-1: no", "-1"), ("", "")),
        *(("reply 17 to you", "reply 17 to you"), ("no (so)", "no (so)"), ("5-May", "5-May"), ("1e3", "1e3")),
        *((text, text) for text in ("1 - 2", "1,000", "10:30", "3 of 5", "12-05-2026", "5. Mai", "2 - Feb")),
    ],
)
def test_plain(text, number):
    assert numbers.plain(text) == number


def test_as_numbers():
    assert numbers.of(["3,5", "very good (5)"]).tolist() == [3.5, 5.0]
    assert str(numbers.of(["x", "1"]).tolist()) == "[nan, 1.0]"
    assert not len(numbers.of([]))
