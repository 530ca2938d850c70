"""Text from data is escaped in one place for HTML, Markdown, CSV and terminals."""

import io
import re
import string
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from judgebook.study import escape

SOURCE = Path(escape.__file__).parents[1]
#: characters that mean something in any of these, and some that do not
ODD = st.text(alphabet="=+-@＝; '\t\r\n0.5e\\`*_[]()#|~$<>&\":/w.x\x1b\u202e", max_size=12)


def lines(text):
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(ODD)
def test_a_cell_is_no_formula_and_comes_back_as_it_was(text):
    written = escape.cell(text)
    assert escape.from_cell(written) == lines(text)
    number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", written)
    assert number or written.strip()[:1] not in tuple("=+-@＝") or not written.strip()
    assert written[:1] not in ("\t", "\r", "\n")
    for divided in re.split(r"[;\t]", written)[1:]:  # as a spreadsheet that divides lines there has it
        assert divided.strip()[:1] not in tuple("=@＝+-") or re.match(r"\s*[+-]?[\d.]+", divided)


@given(st.lists(ODD, min_size=1, max_size=4))
def test_a_table_comes_back_from_its_file_as_it_was(texts):
    frame = pd.DataFrame({"=a": texts, "n": range(len(texts))})
    back = escape.read_csv(io.StringIO(escape.csv(frame)))
    assert back["=a"].tolist() == [lines(t) for t in texts]
    assert back["n"].tolist() == [str(i) for i in range(len(texts))]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *((text, f"'{text}") for text in ("=cmd|'/C calc'!A0", "@SUM(A1)", "-1+1", " =1", "'=1", "＝1")),
        # and what would be a cell where lines are divided at semicolons
        ("x;=HYPERLINK(A1)", "x;'=HYPERLINK(A1)"),
        ("a; +1+1;b", "a; '+1+1;b"),
        ("\t=1", "'\t'=1"),
        ("a\t@x;-x", "a\t'@x;'-x"),
        ("0.2 (-0.1; -0.3)", "0.2 (-0.1; -0.3)"),
        ("1;-2;+3e-4", "1;-2;+3e-4"),
    ],
)
def test_what_a_spreadsheet_runs_is_led_by_an_apostrophe(text, written):
    assert escape.cell(text) == written
    assert escape.from_cell(written) == text


@pytest.mark.parametrize("value", ["-0.5", "+1", "1e-9", "-1e+20", "−0.5", "a=b", "", -0.5, None])
def test_numbers_and_other_text_stay(value):
    assert escape.cell(value) == value


def test_only_what_is_a_formula_changes_a_column():
    frame = pd.DataFrame({"t": pd.Categorical(["a", "=b", "a"]), "x": [-1.5, 2.0, float("nan")]})
    assert escape.csv(frame) == "t,x\na,-1.5\n'=b,2.0\na,\n"
    assert escape.csv(pd.DataFrame([[1, "=b"]], columns=["a", "a"])) == "a,a\n1,'=b\n"


@given(st.text(alphabet=string.printable + "é–", max_size=30))
def test_markdown_comes_back_and_makes_nothing_but_text(text):
    escaped = escape.markdown(text)
    assert escape.from_markdown(escaped) == " ".join(text.split())
    rendered = MarkdownWithMath(renderer=IPythonRenderer(escape=False)).render("a " + escaped)
    assert "<a" not in rendered
    assert set(re.findall(r"<(\w+)", rendered)) <= {"p"}


@pytest.mark.parametrize("text", ["https://evil.example/x", "www.evil.example", "zoe@mail.example", "[x](http://e.x)"])
def test_an_address_in_a_name_is_no_link(text):
    assert "<a" not in MarkdownWithMath(renderer=IPythonRenderer(escape=False)).render(f"By {escape.markdown(text)} so")


def test_nothing_that_is_printed_reaches_the_terminal_raw(monkeypatch):
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with escape.terminals():
        print("a\x1b]0;title\x07b\u202ec\r\td\x9b2J")
        sys.stderr.writelines(["x\x1b[2J\n"])
    print("\x1b")
    assert out.getvalue() == "a\\x1b]0;title\\x07b\\u202ec\\r\td\\x9b2J\n\x1b\n"
    assert err.getvalue() == "x\\x1b[2J\n"


def test_no_other_module_escapes_html_or_writes_csv_for_people():
    """A second escape would be another's idea of what is harmless."""
    imports = r"^\s*from (?:html|xml\.sax\.saxutils) import (?:\([\w\s,]*?|[\w ,]*?)(\w*escape)\b"
    second = re.compile(rf"\.(to_csv)\b(?!`)|{imports}", re.MULTILINE)
    texts = ((path.name, path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py"))
    found = [(name, a or b) for name, text in texts for a, b in second.findall(text)]
    assert sorted(found) == [("escape.py", "to_csv"), ("prose.py", "unescape"), ("store.py", "to_csv")]


@pytest.mark.parametrize(
    ("titles", "shown"),
    [
        ({"a": "A", "b": "B"}, ["A", "B"]),
        ({"gpt4": "GPT-4", "GPT-4": "GPT-4", "b": "B"}, ["GPT-4 (gpt4)", "GPT-4 (GPT-4)", "B"]),
        ({"a": "Caf\u00e9", "b": "Cafe\u0301", "c": " Caf\u00e9 "}, ["Café (a)", "Cafe\u0301 (b)", "Café  (c)"]),
        ({"A": "A", "A\u200b": "A\u200b"}, ["A ('A')", "A\u200b ('A\\u200b')"]),
        ({"a": "", "b": " \u00a0", "\u200b": "\u200b"}, ["a", "b", "\u200b ('\\u200b')"]),
        ({"a": "X", "b": "X", "c": "X (a)"}, ["X ('a')", "X (b)", "X (a) ('c')"]),
    ],
)
def test_no_two_names_look_the_same(titles, shown):
    assert escape.distinct(titles) == dict(zip(titles, shown, strict=True))


def test_text_beside_and_between_backticks_is_escaped():
    assert escape.html_with_code("<b> `x<y` & z") == "&lt;b&gt; <code>x&lt;y</code> &amp; z"
