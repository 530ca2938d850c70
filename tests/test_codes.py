"""Columns of text: work done once for each value, and the same as row by row."""

import numpy as np
import pandas as pd
import pytest

from judgebook import codes


@pytest.mark.parametrize("dtype", ["str", object])
def test_each_text_is_changed_once(dtype):
    asked = []
    values = pd.Series(["b", None, "a", "b"], index=[4, 5, 6, 9], dtype=dtype)
    out = codes.mapped(values, lambda text: asked.append(text) or {"a": 1}.get(text))
    assert asked == ["b", "a"]
    assert out.dtype == object
    assert out.to_dict() == {4: None, 5: None, 6: 1, 9: None}


@pytest.mark.parametrize("values", [[1, "1", None, True, 1.0], [1, 2], [], [None, np.nan]])
def test_what_is_no_text_stays(values):
    out = codes.mapped(pd.Series(values, dtype=object), lambda text: text + "!")
    assert [(type(v), str(v)) for v in out] == [
        (type(v), str(v) + "!" * isinstance(v, str)) for v in pd.Series(values, dtype=object)
    ]


def test_numbers_and_texts():
    cells = pd.Series(["1", "x", None, "1", " 2.5 "], dtype=object)
    assert codes.numbers(cells).equals(pd.to_numeric(cells, errors="coerce"))
    assert codes.numbers(pd.Series([1, None, "3"], dtype=object)).tolist()[::2] == [1.0, 3.0]
    assert codes.as_text(cells).equals(cells.astype("str"))
    assert codes.as_text(pd.Series([None, None], dtype=object)).equals(pd.Series([None, None], dtype="str"))
    assert codes.as_text(pd.Series([1, "a"], dtype=object)).tolist() == ["1", "a"]
    assert list(codes.numbered("row ", pd.RangeIndex(2, 4))) == ["row 2", "row 3"]


def test_a_column_is_looked_at_once_for_its_name_and_cells():
    asked = []
    tell = codes.once_per_column(lambda name, values: asked.append(name) or list(values))
    cells = pd.Series(["1", None], dtype=object)
    assert tell("a", cells) == tell("a", cells.set_axis([7, 9])) == ["1", None]
    for name, others in (("b", cells), ("a", pd.Series([1, None], dtype=object)), ("a", cells[:1])):
        assert tell(name, others) == list(others)
    assert asked == ["a", "b", "a", "a"]


@pytest.mark.parametrize("dtype", ["str", object, "category"])
def test_texts(dtype):
    values = pd.Series([" b", None, "1.5", "b", "", "1.5"], dtype=dtype)
    held = codes.texts_of(values).stripped
    assert [*held.distinct[held.code]] == ["b", *held.distinct[[held.code[1]]], "1.5", "b", "", "1.5"]
    assert held.code[1] == -1
    assert held.n == {"b": 2, "1.5": 2, "": 1}
    assert dict(zip(held.distinct, held.numbers, strict=True))["1.5"] == 1.5
    assert len(held) == 6
    rows = held.rows(lambda text: text != "b")
    assert rows.tolist() == [False, False, True, False, True, True]
    some = held.only(rows)
    assert some.distinct[some.code].tolist() == ["1.5", "", "1.5"]
    assert held.only(np.array([True, True, False, False, False, False])).code.tolist() == [0, -1]
    for dtype in ("str", pd.StringDtype("python")):
        assert codes.texts_of(pd.Series(["a", "A"], dtype=dtype)).changed(str.lower).n == {"a": 2}
