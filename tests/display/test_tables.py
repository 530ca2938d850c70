"""Tables: full precision in files, rounded and escaped where people read them."""

from types import SimpleNamespace

import lxml.html
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgebook.display import latex, tables
from judgebook.display.text import interval, listing, number
from judgebook.study.results import collect


@pytest.fixture
def run(tmp_path):
    return SimpleNamespace(simulated=False, notebook="03_iaa", run_id="x", tables=tmp_path)


@pytest.fixture
def shown(monkeypatch):
    out = []
    monkeypatch.setattr("IPython.display.display", lambda data, **k: out.append((data, k.get("metadata"))))
    return out


FRAME = pd.DataFrame(
    {
        "Label": ["a & b", "<b>x</b>", "=1+1"],
        "alpha": [0.123456, np.nan, -0.001],
        "n": pd.array([1634, None, 2], dtype="Int64"),
        "known": [True, False, True],
    }
)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.125, 2, "0.12"),
        (-0.001, 2, "0.00"),
        (1234.5, 1, "1,234.5"),
        (1634, 2, "1,634"),
        (4.75 - 2e-15, 1, "4.8"),  # as 4.75: another order of a sum moves its last bits
        (1.95, 1, "1.9"),  # as Python rounds it, in figures, too
        (1.95 + 2e-15, 1, "1.9"),
        (-np.inf, 1, "−inf"),
        (True, 2, "yes"),
        (np.nan, 2, "–"),
        (None, 2, "–"),
    ],
)
def test_numbers_as_people_read_them(value, decimals, text):
    assert number(value, decimals) == text


def test_intervals_as_people_read_them():
    assert interval(0.456, 0.4, 0.5) == "0.46 [0.40, 0.50]"
    assert interval(-0.456, -1, 0.5, 1) == "−0.5 [−1.0, 0.5]"
    assert interval(0.456, np.nan, np.nan) == "0.46"
    assert interval(np.nan, 0.1, 0.2) == "–"
    frame = pd.DataFrame({"estimate": [1, 0.5], "ci_low": [0, np.nan], "ci_high": [1, np.nan]}, index=[7, 3])
    assert tables.intervals(frame, 1).to_dict() == {7: "1.0 [0.0, 1.0]", 3: "0.5"}


def test_the_csv_keeps_full_precision_and_disarms_formulas(run, shown):
    tables.show(FRAME.assign(t="-0.12"), "Caption", "alpha", run=run)
    back = pd.read_csv(run.tables / "03_iaa_alpha.csv")
    assert back["alpha"].tolist()[0] == 0.123456
    assert back["Label"].tolist() == ["a & b", "<b>x</b>", "'=1+1"]
    assert back["t"].tolist() == [-0.12] * 3  # a number as text is no formula
    assert pd.isna(back["n"][1])
    assert back["alpha"][2] == -0.001  # a number stays one


def test_latex_is_escaped_and_ruled(run, shown):
    tables.show(FRAME, "Shares in % of α", "alpha", run=run)
    text = (run.tables / "03_iaa_alpha.tex").read_text(encoding="utf-8")
    assert r"\caption{Shares in \% of $\alpha$}\label{tab:03_iaa_alpha}" in text
    assert r"\begin{tabular}{@{}lrrl@{}}" in text
    assert r"a \& b & 0.12 & 1,634 & yes \\" in text
    assert r"\textless{}b\textgreater{}x\textless{}/b\textgreater{} & -- & -- & no \\" in text
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")


@given(st.text(alphabet="\\&%$#_{}~^<>ab", max_size=12))
def test_latex_escapes_every_special_character(text):
    bare = latex.tex(text)
    for command in ("backslash", "asciitilde", "asciicircum", "less", "greater"):
        bare = bare.replace(rf"\text{command}{{}}", "")
    for character in "&%$#_{}":
        bare = bare.replace("\\" + character, "")
    assert set(bare) <= {"a", "b"}


def test_html_and_markdown_show_data_as_text_never_as_markup(run, shown):
    evil = "<script>alert(1)</script> | **b** [x](javascript:1) `c` $m$"
    tables.show(pd.DataFrame({evil: [evil]}), evil, "alpha", run=run)
    ((data, metadata),) = shown
    parsed = lxml.html.fragment_fromstring(data["text/html"], create_parent=True)
    tags = [element.tag for element in parsed.iterdescendants()]
    assert set(tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "code"}
    assert tags.count("code") == 1  # of the caption; in cells, which are data, backticks stay
    assert [cell.text_content() for cell in parsed.iter("th", "td")] == [evil, evil]
    assert metadata == {"table": {"name": "03_iaa_alpha", "caption": evil}}
    markdown = data["text/markdown"]
    assert "<script" not in markdown
    assert r"\| \*\*b\*\* \[x\](javascript:1) \`c\` \$m\$" in markdown


def test_columns_that_say_the_same_in_all_rows_become_a_note(run, shown):
    frame = FRAME.assign(Method="Likert & co", Verdict="0.5", same=1)[["Method", "Label", "Verdict", "same"]]
    tables.show(frame, "C", "t", run=run)
    data, _ = shown[0]
    assert "In all rows – Method: Likert &amp; co." in data["text/html"]
    assert '<th style="text-align:left">Method</th>' not in data["text/html"]
    assert "| Label | Verdict | same |" in data["text/markdown"]
    assert pd.read_csv(run.tables / "03_iaa_t.csv")["Method"].tolist() == ["Likert & co"] * 3


def test_missing_cells_say_why_by_column_and_by_row(run, shown):
    frame = pd.DataFrame({"a": [np.nan, 1.0, np.nan], "b": [np.nan, 2.0, 3.0]})
    tables.show(frame, "By column", "a", run=run, why={"a": "Never measured."})
    tables.show(frame, "By row", "b", run=run, why=pd.Series(["One annotator.", "", "Too few."], index=[5, 6, 7]))
    first, second = (data["text/markdown"].splitlines() for data, _ in shown)
    assert first[4:7] == ["| – (a) | – |", "| 1.00 | 2.00 |", "| – (a) | 3.00 |"]
    assert first[8] == "(a) Never measured."
    assert second[4:7] == ["| – (a) | – (a) |", "| 1.00 | 2.00 |", "| – (b) | 3.00 |"]
    assert [line for line in second if line.startswith("(")] == ["(a) One annotator.", "(b) Too few."]


def test_decimals_can_differ_by_column_and_simulated_data_are_named(run, shown):
    run.simulated = True
    tables.show(pd.DataFrame({"x": [0.5], "y": [0.5]}), "C", "d", run=run, decimals={"x": 0})
    markdown = shown[0][0]["text/markdown"]
    assert "| 0 | 0.50 |" in markdown
    assert "Simulated data." in markdown
    assert "Simulated data." in (run.tables / "03_iaa_d.tex").read_text()


@pytest.mark.parametrize(("name", "caption"), [("A b", "c"), ("../a", "c"), ("a", " ")])
def test_a_table_needs_a_plain_name_and_a_caption(run, shown, name, caption):
    with pytest.raises(ValueError, match="expected"):
        tables.show(FRAME, caption, name, run=run)
    assert not list(run.tables.iterdir())


def test_results_are_pivoted_in_the_order_asked_for():
    rows = pd.DataFrame({"group": ["b", "b", "a"], "what": ["x", "y", "x"], "estimate": [2.0, 0.5, 3.0]})
    wide = tables.pivot(rows, ["group"], "what", {"y": "Why", "x": "Ex", "z": "Zed"})
    assert list(wide.columns) == ["group", "Why", "Ex"]
    assert list(wide["group"]) == ["b", "a"]
    assert list(wide["Ex"]) == [2, 3]
    assert wide["Ex"].dtype == "Int64"
    assert wide["Why"][0] == 0.5
    assert np.isnan(wide["Why"][1])
    with pytest.raises(ValueError, match="duplicate"):
        tables.pivot(pd.concat([rows, rows]), ["group"], "what", {"x": "Ex"})


def test_statistics_are_side_by_side_with_or_without_their_intervals():
    alpha = {"statistic": "alpha", "method": "behavior"}
    results = collect(
        [
            alpha | {"label": "y", "resample": "turn", "estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6},
            alpha | {"label": "y", "resample": "dialogue", "estimate": 0.5, "ci_low": 0.3, "ci_high": 0.7},
            alpha | {"label": "x", "resample": "dialogue", "estimate": 0.25, "ci_low": 0.1, "ci_high": 0.4},
            {"statistic": "fleiss_kappa", "method": "behavior", "label": "y", "estimate": 0.4},
        ]
    )
    spec = {
        "A": ("alpha", {"resample": "dialogue"}),
        "T": ("alpha", {"resample": "turn"}),
        "K": ("fleiss_kappa", {}),
        "Z": ("icc", {}),
    }
    wide = tables.side_by_side(results, ["label"], spec, ["A"]).set_index("label")
    assert list(wide.columns) == ["A", "T", "K"]
    assert wide["A"].to_dict() == {"y": "0.50 [0.30, 0.70]", "x": "0.25 [0.10, 0.40]"}
    assert wide.loc["y", "T"] == 0.5
    assert np.isnan(wide.loc["x", "K"])
    with pytest.raises(ValueError, match="several rows of alpha"):
        tables.side_by_side(results, ["label"], {"A": ("alpha", {})})


def test_prose_is_shown_and_names_from_data_are_made_harmless(monkeypatch):
    out = []
    monkeypatch.setattr("IPython.display.display", lambda data: out.append(data.data))
    tables.say(f"Systems: {listing(['a_b', '<i>c</i>', 'd'])}.")
    assert out == [r"Systems: a\_b, &lt;i&gt;c&lt;/i&gt; and d."]
    assert listing(["x", "y"], "or") == "x or y"
    assert listing(["x, plain", "y", "z"], "or") == "x, plain; y; or z"
