"""Which columns may tell who somebody is."""

import pandas as pd
import pytest

from judgebook import codes
from judgebook.sources.ids.personal import personal


@pytest.mark.parametrize(
    ("text", "tells"),
    [("a@b.org", True), ("write to a.b@c.de, please", True), ("a@b", False), ("@b.org", False), ("a@b. c", False)],
)
def test_mail(text, tells):
    for cells in (
        pd.Series(["x", text, None]),
        codes.texts_of(pd.Series(["x", text])),
        pd.Series([text], dtype="category"),
    ):
        assert personal("text", cells) == tells


def test_categories_that_no_row_has_tell_nothing():
    assert not personal("text", pd.Series(["x", "a@b.org"], dtype="category")[:1])
