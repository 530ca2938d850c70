"""Cells of several numbers: one text, a column for each number in files."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from judgebook.display import cells, tables
from judgebook.display.cells import Cell

NAN = np.nan
ROWS = pd.DataFrame(
    {"estimate": [0.456, -1.0, np.nan], "ci_low": [0.4, np.nan, np.nan], "ci_high": [0.5, np.nan, np.nan]}
)


def test_an_interval_is_a_text_and_three_numbers():
    first, second, third = cells.intervals(ROWS)
    assert (str(first), first.numbers) == ("0.46 [0.40, 0.50]", {"": 0.456, "ci_low": 0.4, "ci_high": 0.5})
    assert str(second) == "−1.00"
    assert str(third) == "–"
    assert cells.intervals(ROWS)[0] == "0.46 [0.40, 0.50]"


def test_cells_and_texts_join_and_keep_their_numbers():
    both = Cell("35.3", {"plain": 35.3}) + " → " + Cell("36 [30, 41]", {"": 36.0, "ci_low": 30.0})
    assert both == "35.3 → 36 [30, 41]"
    assert both.numbers == {"plain": 35.3, "": 36.0, "ci_low": 30.0}
    assert ("(" + both).numbers == both.numbers
    with pytest.raises(ValueError, match="''"):
        Cell("1", {"": 1.0}) + Cell("2", {"": 2.0})


@pytest.mark.parametrize(
    ("column", "texts", "found"),
    [
        (cells.ranges(pd.DataFrame({"a": [0.1, np.nan], "b": [0.25, 1]})), ["0.10 to 0.25", None],
         {"x low": [0.1, np.nan], "x high": [0.25, np.nan]}),
        (cells.percents(pd.Series([0.123456, np.nan]), 1), ["12.3%", None], {"x (%)": [12.3456, np.nan]}),
        (cells.p_values(pd.Series([0.0004, 0.0312, NAN])), ["< 0.001", "0.031", "–"], {"x": [0.0004, 0.0312, NAN]}),
        (cells.numbers(pd.Series([1234.5, np.nan]), 0), ["1,234", None], {"x": [1234.5, np.nan]}),
    ],
)  # fmt: skip
def test_each_number_has_a_column_at_full_precision(column, texts, found):
    assert [None if v is None else str(v) for v in column] == texts
    out = cells.in_columns(pd.DataFrame({"x": column}))
    numbers = {c: out[c].tolist() for c in out if c != "x (words)"}
    assert list(numbers) == list(found)
    for name, values in found.items():
        assert np.allclose(numbers[name], values, equal_nan=True)


def test_words_beside_cells_are_kept():
    out = cells.in_columns(pd.DataFrame({"x": pd.Series([Cell("1", {"": 1.0}), "none"], dtype=object)}))
    assert out["x"].tolist()[0] == 1.0
    assert pd.isna(out["x (words)"][0])
    assert out["x (words)"][1] == "none"


def test_a_csv_needs_no_text_to_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr("IPython.display.display", lambda *a, **k: None)
    frame = pd.DataFrame({"Label": ["a", "=b"], "n": [3, 4], "Alpha": cells.intervals(ROWS.head(2))})
    frame["Share"] = cells.percents(pd.Series([0.5, 0.125]))
    tables.show(frame, "C", "t", run=SimpleNamespace(simulated=False, notebook="03_iaa", run_id="x", tables=tmp_path))
    back = pd.read_csv(tmp_path / "03_iaa_t.csv")
    assert list(back) == ["Label", "n", "Alpha", "Alpha ci_low", "Alpha ci_high", "Share (%)"]
    assert all(back[c].dtype.kind in "if" for c in back if c != "Label")
    assert back["Alpha ci_low"].tolist()[0] == 0.4
    assert back["Share (%)"].tolist() == [50.0, 12.5]


class TestApart:
    """Pages sort by one number per column; the same table is merged in print."""

    FRAME = pd.DataFrame({"System": ["A", "B"], "Mean": [cells.of_interval(0.5, 0.4, 0.6), None]})

    def test_each_number_has_a_column_as_it_is_shown(self):
        found = cells.apart(self.FRAME, 4)
        assert list(found) == ["System", "Mean", "Mean, low", "Mean, high"]
        assert found.iloc[0].map(str).tolist() == ["A", "0.50", "0.40", "0.60"]
        assert found["Mean"].iloc[1] is None

    def test_a_mark_is_at_the_ends(self):
        cell = cells.marked(cells.of_interval(0.5, 0.4, 0.6), "*")
        assert (str(cell), cell.texts) == ("0.50 [0.40, 0.60] *", {"": "0.50", "ci_low": "0.40 *", "ci_high": "0.60 *"})
