"""Prose: headings that can be linked to, and terms explained where they first occur."""

import re

import pytest

from helpers.report import prose
from helpers.report.blocks import GLOSSARY

TERM = r'<a class="term" href="#term-([\w-]+)" title="([^"]+)">([^<]+)</a>'


def explained(*texts):
    """(term, as written) of each explanation, and the outline."""
    outline = prose.Outline()
    html = "".join(outline.prose(t) for t in texts)
    return [(term, shown) for term, _, shown in re.findall(TERM, html)], outline


def test_the_glossary_is_the_one_in_the_docs():
    found = prose.glossary()
    text = GLOSSARY.read_text(encoding="utf-8")
    assert len(found) >= text.count("\n| ") - 4  # two tables, each with a head and a rule
    assert found["dialogue"] == "One conversation with one system."
    assert found["group"] == found["evaluator group"]
    assert "statistical term" not in found


def test_no_glossary_no_terms(tmp_path):
    assert prose.glossary(tmp_path / "glossary.md") == {}


def test_a_term_is_explained_where_it_first_occurs_on_a_page():
    found, outline = explained("Dialogues of a system.", "The dialogue again, and *turns*.")
    assert found == [("dialogue", "Dialogues"), ("system", "system"), ("turn", "turns")]
    assert list(outline.terms) == ["dialogue", "system", "turn"]


@pytest.mark.parametrize(
    "text",
    ["## The dialogue", "`dialogue`", "[dialogue](https://x.org)", "Dialogue Likert", "| dialogue |\n| --- |\n| x |",
     "subdialogues", "dialogue-level", "they judge turnips", '<b title="a > dialogue">x</b>'],
)  # fmt: skip
def test_what_is_no_term_is_left_alone(text):
    assert explained(text)[0] == []


def test_the_longest_term_is_explained():
    assert [t for t, _ in explained("A type I error rate per work unit.")[0]] == ["type-i-error-rate", "work-unit"]


def test_a_verb_is_not_explained_as_a_noun():
    assert explained("People judge replies.")[0] == []
    assert explained("The judge agrees.")[0] == [("judge", "judge")]


def test_headings_have_ids_of_their_own_and_a_link():
    outline = prose.Outline()
    html = outline.prose(
        "## What we *see*\n\nx\n\n### What we see\n\n#### Small\n\n## Ünïcode & <b>b</b>\n\n## Terms\n\n## ?"
    )
    assert [(e.level, e.id) for e in outline.entries] == [
        (2, "what-we-see"), (3, "what-we-see-2"), (2, "ünïcode--b"), (2, "terms-2"), (2, "section")
    ]  # fmt: skip
    assert [e.title for e in outline.entries][:3] == ["What we see", "What we see", "Ünïcode & b"]
    assert re.findall(r'<h[23] id="([^"]+)">', html) == re.findall(r'<a class="permalink" href="#([^"]+)"', html)


def test_ids_in_prose_are_dropped():
    assert "main" not in prose.Outline().prose('<h2 id="main">x</h2>\n\n<p id="main">y</p>')
