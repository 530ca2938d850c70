"""Prose: headings that can be linked to, and terms explained where they first occur."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from judgebook.report import prose
from judgebook.report.blocks import GLOSSARY
from judgebook.study.params import ROOT

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
    assert found["dialogue"] == "One conversation with one system; a chat in crowd work and in some papers."
    assert found["group"] == found["evaluator group"]
    assert "statistical term" not in found


def test_a_term_is_explained_where_it_first_occurs_on_a_page():
    found, outline = explained("Sessions with power.", "The session again, and *p-values*; p < 0.05, r 0.4.")
    assert found == [("session", "Sessions"), ("power", "power"), ("p-value", "p-values"), ("p", "p"), ("r", "r")]
    assert list(outline.terms) == ["session", "power", "p-value", "p", "r"]


def test_words_with_everyday_meanings_are_no_links():
    """`In turn`, gold units, hours of annotation, a decision study: defined in the glossary, but no links."""
    assert explained("Each annotator in turn judged a system; gold units and pairs; a decision study.")[0] == []
    assert {"turn", "unit", "pair", "study"} <= prose.glossary().keys()
    assert not {"turn", "unit", "pair", "study"} & prose.glossary(linked=True).keys()


def test_titles_of_references_are_not_explained():
    assert explained("## References\n\nBell (2002). Bias reduction in standard errors.")[0] == []
    assert [term for term, _ in explained("## Results\n\nThe power.\n\n## References\n\nA CI.")[0]] == ["power"]


@pytest.mark.parametrize(
    "text",
    ["## The session", "`session`", "[session](https://x.org)", "Session Likert", "| session |\n| --- |\n| x |",
     "subsessions", "session-level", "a power of 2", "They resample replies.",
     '<b title="a > session">x</b>'],
)  # fmt: skip
def test_what_is_no_term_is_left_alone(text):
    assert explained(text)[0] == []


def test_what_is_read_first_is_short_and_a_list_stays_with_its_line():
    lines = "\n".join(f"- item {i}" for i in range(4))
    assert prose.opening(f"## What we see\n\nIt leads.\n\nBy label:\n\n{lines}\n\nEnd.") == (
        "## What we see\n\nIt leads.", f"By label:\n\n{lines}\n\nEnd."
    )  # fmt: skip
    assert prose.opening("One.\n\nTwo:\n\n- a\n- b") == ("One.\n\nTwo:\n\n- a\n- b", "")
    assert prose.opening("One. Two.\n\nThree.\n\nFour.") == ("One. Two.\n\nThree.", "Four.")


LABELS = {"Quality": "How good it is.", "Fun": "It was “fun”.", "Follow-up": "It asks on.", "Lack of empathy": "Cold."}


def defined(html):
    """Titles that link to a definition, and the outline."""
    outline = prose.Outline(labels=LABELS)
    return re.findall(TERM, outline.labelled(html)), outline


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("<p>The labels Fun and Quality; Fun again.</p>", ["Fun", "Quality"]),
        ("<p>Quality: 3. See Follow-up (0.2).</p>", ["Quality", "Follow-up"]),
        ("<p>Quality control had fun. Fun things, a Follow-up Study, Follow-ups, Sub-Quality, quality.</p>", []),
        ("<h2>On Fun</h2><p><code>Fun</code> <a href='#x'>Fun</a></p>", []),
        # a summary is pressed as a whole
        ("<details><summary>Lack of empathy (6)</summary><p>Quality</p></details>", ["Quality"]),
    ],
)
def test_a_label_is_defined_where_its_title_first_occurs(text, titles):
    found, outline = defined(text)
    assert [written for *_, written in found] == titles == list(outline.terms)
    assert all(LABELS[written].replace('"', "&#34;") == meaning for _, meaning, written in found)


def test_in_a_table_labels_are_in_its_caption_and_below_the_heading_label():
    """Not in headings, which are buttons by which the table is sorted."""
    row = "<tr><td>Quality</td><td style='x'>Fun</td></tr>"
    table = "<table><caption>On Follow-up.</caption><thead><tr><th>Quality</th><th>{}</th></tr></thead>{}</table>"
    assert [w for *_, w in defined(table.format("Label", row))[0]] == ["Follow-up", "Fun"]
    assert [w for *_, w in defined(table.format("Answer", row))[0]] == ["Follow-up"]
    assert defined("<p>On Fun.</p>" + table.format("Label", row))[0][0][2] == "Fun"


def test_a_label_with_the_name_of_a_term_has_a_place_of_its_own():
    outline = prose.Outline(labels={"Power": "A label."})
    html = outline.prose("On Power, with a power of its own, and power.")
    places = re.findall(TERM, html)
    assert [(place, written) for place, _, written in places] == [("label-power", "Power"), ("power", "power")]
    assert [outline.place(term) for term in outline.terms] == ["term-label-power", "term-power"]


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


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<a href='javascript:alert(1)' onclick='x'>a</a>",
        "<td style='background:url(http://e.x);position:fixed'>a",
        "<b <script>x</b>",
        "<!--><script>1</script>-->",
        "<noscript><p title='</noscript><img src=x onerror=1>'></noscript>",
        "<math><mtext><table><mglyph><style><img src=x onerror=1>",
    ],
)
def test_nothing_harmful_is_left_of_html(html):
    found = Tags()
    found.feed(prose.clean(html))
    assert {tag for tag, _ in found.tags} <= prose.TAGS
    for _, attributes in found.tags:
        assert set(attributes) <= {"class", "title", "href", "style", "colspan", "rowspan", "scope"}
        assert ":" not in attributes.get("href", "")
        assert "url" not in attributes.get("style", "")


def test_what_is_no_tag_of_ours_shows_as_text():
    text = "<b>a</b> <script>x</script> 1 < 2 <T5-small> <!-- c --> <ab>"
    assert prose.words(prose.clean(text)) == "a <script>x</script> 1 < 2 <T5-small> <!-- c --> <ab>"


def test_links_to_places_of_the_report_stay():
    text = '<a href="files/a.csv">a</a> <a href="#b">b</a> <a href="https://e.x">c</a> <a href="mailto:a@e.x">d</a>'
    assert prose.clean(text) == text


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


ODD = [
    "$a_1$ and <b>",
    r"\\\\(x_1\\\\)",
    "#title",
    "- [ ] task",
    "a | b\n--|--\n1 | `x`",
    "```python\nx = 1\n```",
    "term\n: meaning",
]


def test_markdown_is_as_nbconvert_renders_it():
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")]
    texts = [*ODD, *(part for page in pages for part in page.split("\n\n"))]
    renderer = IPythonRenderer(escape=False, exclude_anchor_links=True)
    for text in texts:
        assert prose.markdown(text) == prose.clean(MarkdownWithMath(renderer=renderer).render(text))


def test_a_first_page_is_made_without_what_takes_long_to_import():
    code = (
        "import sys; from judgebook.report import html, prose; prose.markdown('*a*');"
        "print({'nbconvert', 'IPython', 'nbformat'} & {*sys.modules})"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
