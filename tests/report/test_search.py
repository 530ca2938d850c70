"""What a report's search finds on its pages, and where that leads."""

import json
import re

import pytest
from fixtures.browser import browse
from fixtures.html_pages import Elements

from judgebook.report import html as report
from judgebook.report.search import LONGEST, Entry, entries

NOTEBOOK = """<nav><h2 id="no">Not this</h2></nav><main id="main"><h1>Agreement</h1><p>Do they agree?</p>
<h2 id="what-we-see">What we see<a class="permalink" href="#what-we-see">#</a></h2>
<p><strong>They</strong> do &amp; did.</p>
<!--private--><section class="prose"><h2 id="own">Own</h2><p>A secret</p></section><!--/private-->
<details class="code"><summary>Code</summary><p>code()</p></details>
<h2 id="how">How</h2><p>By alpha.</p><ul><li>A point.</li></ul>
<figure id="03_alpha"><div class="sheet"><svg class="drawing" role="img" aria-label="Alpha of Emora: 0.3">
<text>9</text></svg></div>
<figcaption><a class="number" href="#03_alpha">Figure 1</a>. Alpha by label. Lines are intervals.</figcaption></figure>
<div class="table-box whole" id="03_t" tabindex="0"><table>
<caption><a class="number" href="#03_t">Table 1</a>. Values.</caption>
<tr><th>System</th></tr><tr><td>Fun &lt;i&gt;</td></tr></table></div>
<h2 id="terms">Terms</h2><dl><dt id="term-alpha">alpha</dt><dd>A measure.</dd></dl></main>"""
INDEX = """<main><h1>Study</h1>
<section class="asked" id="order"><div><h2>Which is best?</h2><p>None.</p></div></section>
<h2 id="notebooks">Notebooks</h2><p>All.</p><dl><dt id="term-alpha">alpha</dt><dd>A measure.</dd></dl></main>"""


@pytest.fixture(scope="module")
def found():
    return list(entries({"index": INDEX, "03_iaa": NOTEBOOK}, ["Emora", "Fun <i>", "Blender"]))


def test_answers_findings_sections_figures_tables_and_terms_are_found(found):
    assert found == [
        Entry("index", "main", "section", "Study", ""),
        Entry("index", "order", "answer", "Which is best?", "None."),
        Entry("index", "term-alpha", "term", "alpha", "A measure."),
        Entry("index", "notebooks", "section", "Notebooks", "All."),
        Entry("03_iaa", "main", "section", "Agreement", "Do they agree?"),
        Entry("03_iaa", "what-we-see", "finding", "What we see", "They do & did."),
        Entry("03_iaa", "03_alpha", "figure", "Figure 1. Alpha by label. Lines are intervals.", "", ("Emora",)),
        Entry("03_iaa", "03_t", "table", "Table 1. Values.", "", ("Fun <i>",)),
        Entry("03_iaa", "how", "section", "How", "By alpha. A point."),
        Entry("03_iaa", "terms", "section", "Terms", ""),
    ]


def test_what_is_private_is_not_found(found):
    assert "secret" not in str(found)


def test_texts_are_cut_so_that_the_page_stays_small():
    long = f"<main><h2 id='a'>A</h2><p>{'x' * 2000}</p></main>".replace("'", '"')
    many = list(entries({str(i): long for i in range(1000)}))
    assert {len(e.text) for e in many} <= {0, LONGEST, 140_000 % LONGEST}
    assert sum(len(e.text) for e in many) == 140_000


@pytest.fixture(scope="module")
def page(found):
    hostile = Entry("index", "x", "section", "</script><script>alert(1)</script>", "<b>", ())
    nav = (("03_iaa", "Agreement"),)
    titles = {"index": "First page", "03_iaa": "Agreement"}
    return report.search_page(report.Page("S", False, "search", nav), "Search", [*found, hostile], titles)


def test_the_index_cannot_end_its_script(page):
    assert "<script>alert" not in page
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["entries"][-1][3] == "</script><script>alert(1)</script>"
    assert Elements(page).loads() == []


def test_every_page_of_a_report_leads_to_its_search():
    html = report.text_page(report.Page("S", False, "03_iaa", (("03_iaa", "Agreement"),)), "T", "x")
    assert 'action="search.html"' in html
    assert 'action="search.html"' not in report.text_page(report.Page("S", False), "T", "x")  # of no report


@pytest.mark.evidence
def test_words_lead_to_places(page, tmp_path):
    """By the page's own script and policy: from the address, a term before a section, names beside the text."""
    (tmp_path / "search.html").write_text(page, encoding="utf-8")

    def links(words):
        dom = browse(f"file://{tmp_path}/search.html?q={words}", "--dump-dom")
        inside = re.search(r'<ol class="results"[^>]*>(.*?)</ol>', dom, re.DOTALL)[1]
        return re.findall(r'<a href="([^"]+)"', inside)

    assert links("alpha")[0] == "index.html#term-alpha"
    assert links("emora") == ["03_iaa.html#03_alpha"]
    assert links("agreement+point") == ["03_iaa.html#how"]
    assert links("nothing") == []
