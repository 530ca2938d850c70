"""Pages of executed notebooks: they need no network, run no foreign code, and say what they must."""

import base64
import html.parser
import re

import nbformat
import pytest
from fixtures.html_pages import Elements
from hypothesis import given
from hypothesis import strategies as st

from judgebook.display import tables
from judgebook.report import blocks, prose
from judgebook.report import html as report
from judgebook.report.html import Compared
from judgebook.summary.findings import Preface

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode()
ATTACK = '<script>alert(1)</script><img src=x onerror="alert(2)"><a href="javascript:alert(3)">x</a>'
PAGE = report.Page("Study <A> & B", True, "03_iaa", (("02_counts", "Counts"), ("03_iaa", "Agreement")))


PARAMETERS = 'study: str = "demo"  # which study\nrun_id: str | None = None\nseed: int = 0  # a seed <b>'


def output(data, metadata=None):
    return nbformat.v4.new_output("display_data", data, metadata=metadata or {})


def code(source, *outputs, tags=()):
    return nbformat.v4.new_code_cell(source, outputs=list(outputs), metadata={"tags": list(tags)})


def notebook(*cells):
    return nbformat.v4.new_notebook(cells=list(cells))


@pytest.fixture(scope="module")
def page():
    """The page of a notebook with one of everything, hostile text in each place."""
    figure = output(
        {"image/png": PNG, "text/plain": "x"}, {"image/png": {"alt": 'a "line" <b>', "name": "03_iaa_line"}}
    )
    html_table = f"<table><caption>C</caption><tr><td style='text-align:right'>1</td><td>{ATTACK}</td></tr></table>"
    about = {"table": {"name": "03_iaa_t", "caption": "C"}}
    table = output({"text/html": html_table, "text/markdown": "| a |"}, about)
    nb = notebook(
        nbformat.v4.new_markdown_cell(f"# Agreement\n\nWhat is *it*? {ATTACK}"),
        code(PARAMETERS, tags=["parameters"]),
        code("# Parameters\nstudy = \"demo\"\nrun_id = \"abc123\"\nseed = 7\n", tags=["injected-parameters"]),
        code("print('<b>')  # the code", nbformat.v4.new_output("stream", name="stdout", text=ATTACK)),
        code("figure()", figure),
        code("table()", table),
        code("say()", output({"text/markdown": f"## What we see\n\nIt is **high**. {ATTACK}", "text/plain": "x"})),
        code("odd()", output({"application/javascript": "alert(4)", "text/plain": "fallback"})),
        code("draw()", output({"image/svg+xml": "<svg onload=alert(5)/>", "text/plain": "a drawing"})),
    )  # fmt: skip
    files = ["files/03_iaa.csv", "files/03_iaa_line.png", "files/03_iaa_t.csv", "files/03_iaa_t.tex"]
    return report.notebook_page(nb, PAGE, "Agreement", files)


def test_a_page_loads_nothing_and_only_our_script_runs(page):
    elements = Elements(page)
    assert elements.loads() == []
    assert not elements.of("link")
    assert not elements.of("iframe")
    assert "url(" not in page
    assert "@import" not in page
    assert len(elements.of("script")) == 1
    assert "alert" not in "".join(elements.scripts)
    assert not [a for _, a in elements.found if any(name.startswith("on") for name in a)]
    assert not [a for a in elements.of("a") if not re.match(r"(?:https?://|#|[\w/.]+$)", a.get("href", "#"))]
    policy = next(a["content"] for a in elements.of("meta") if a.get("http-equiv") == "Content-Security-Policy")
    allowed = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; font-src data:; "
    assert policy.startswith(f"{allowed}style-src 'unsafe-inline'; script-src 'sha256-")
    assert "http" not in policy


def test_hostile_text_shows_as_text_and_what_a_browser_would_run_is_not_taken(page):
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 4  # prose, output, table, what we see
    assert "alert(4)" not in page
    assert "alert(5)" not in page
    assert "fallback" in page
    assert "a drawing" in page
    assert '<td style="text-align:right">1</td>' in page


def test_figures_carry_the_notebooks_alt_text_and_links(page):
    images = Elements(page).of("img")
    assert [i["alt"] for i in images] == ['a "line" <b>']
    assert images[0]["src"] == f"data:image/png;base64,{PNG}"
    hrefs = [a.get("href") for a in Elements(page).of("a")]
    assert {"files/03_iaa_line.png", "files/03_iaa_t.csv", "files/03_iaa_t.tex", "files/03_iaa.csv"} <= set(hrefs)


def test_navigation_and_banner(page):
    elements = Elements(page)
    hrefs = [a.get("href") for a in elements.of("a")]
    assert hrefs[:4] == ["#main", "index.html", "02_counts.html", "03_iaa.html"]
    assert [a["href"] for a in elements.of("a") if a.get("aria-current") == "page"] == ["03_iaa.html"]
    assert "Simulated data." in page
    assert "Study &lt;A&gt; &amp; B" in page
    assert "Simulated data." not in report.notebook_page(notebook(), report.Page("S", False, "01"), "T")


SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 72 36"><g id="a"><text style="font: 8px x">Emora</text>
<rect x="0" y="0" width="1" height="1"><title>Emora: 0.17</title></rect></g></svg>"""


def first_page(**about):
    nothing = {"description": "", "facts": [], "cards": [], "absent": [], "made": []}
    return report.index_page(report.Page("S", False, labels=about.pop("labels", {})), **nothing | about)


def test_the_first_page_lists_what_is_there_and_what_is_not():
    """What rests on an earlier run is marked where it is said."""
    cards = [report.Card("03_iaa", "Agreement <b>", "Do they?", "It is **high** <script>")]
    absent = [report.Absent("08_groups", "Groups", "skipped", "No label was judged by two groups.")]
    about = {"alt": "two <systems>", "caption": "Points & lines.", "evidence": ("07", "07_bots.html")}
    why = "**Emora** leads <img>.\n\n- The value is a mean.\n- Of one label."
    answers = [report.Answered("order", "Which is best?", why, svg=SVG, **about)]
    answers.append(report.Answered("next", "What next?", "1. Rest.", older=("03", "05")))
    before = report.Before((("**One voter**", "It moves.", "all"),), "3 checks found nothing.", older=("17",))
    counted = "| Who was counted | People |\n| --- | ---: |\n| Answered | 676 |"
    preface = Preface(counted, "Who: 676", "**For whom.** These <img> 676.")
    text = first_page(
        description="A *study*.", answers=answers, facts=[("dialogues", "400")], cards=cards, absent=absent,
        made=[("Seeds", "bootstrap 1")], before=before, preface=preface,
    )  # fmt: skip
    for words in ("<em>study</em>", "<strong>high</strong> &lt;script&gt;", "No label was judged by two groups.",
                  "bootstrap 1", "Agreement &lt;b&gt;", "These &lt;img&gt; 676.",
                  '<td style="text-align:right">676</td>'):  # fmt: skip
        assert words in text
    first, order, after = (text.index(f'id="{key}"') for key in ("before", "order", "next"))
    assert text.index('id="collected"') < order < after < text.index('id="notebooks"')
    answer = text[order:after]
    for words in ("<strong>Emora</strong> leads &lt;img&gt;.", '<a href="07_bots.html">', "<title>Emora: 0.17</title>",
                  'aria-label="two &lt;systems&gt;"', "Points &amp; lines."):  # fmt: skip
        assert words in answer
    mark = "From an earlier run, with other settings or data: notebook"
    assert f"{mark} 17." in text[first:order]
    assert mark not in answer
    assert f"{mark}s 03, 05." in text[after:]


ELEMENTS = re.compile(r"<\s*([a-zA-Z][\w:-]*)")


@given(st.text(alphabet=st.sampled_from(list("<>/\"'=&;! abimgscriptonerrorjavascript:\n")), max_size=80))
def test_clean_leaves_no_element_that_is_not_listed(text):
    cleaned = str(prose.clean(text))
    assert {name.lower() for name in ELEMENTS.findall(cleaned)} <= prose.TAGS
    assert not re.search(r"<[^>]*\son\w+\s*=", cleaned)
    assert not re.search(r"<[^>]*javascript:", cleaned, re.IGNORECASE)


@given(st.text(alphabet=st.characters(exclude_categories=["C"]), max_size=60))
def test_plain_text_survives_markdown_and_cleaning(text):
    """Text escaped by `tables.plain` shows on a page as it is, whatever it holds."""
    collected = []

    class Text(html.parser.HTMLParser):
        def handle_data(self, data):
            collected.append(data)

    words = " ".join(text.split())
    Text().feed(str(prose.markdown(f"x {tables.plain(words)} y")))
    assert " ".join("".join(collected).split()) == " ".join(f"x {words} y".split())


CITED = "Zhang et al. 2022 say one thing, e.g. this. Finch et al. 2023 say another."
LISTED = "**Two of 3.** By group:\n\n- Students: 1 of 3.\n- Developers: 2 of 3.\n\nMore."
WHOLE = "**Two of 3.** By group: Students: 1 of 3. Developers: 2 of 3."
LEADING = "**First:**\n\n- A on one\n  label\n- B. On 2 nothing.\n\nMore."


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("One is short. Two is somewhat longer than that. Three.", 30, "One is short."),
        ("word " * 20, 12, "word word …"),
        (CITED, 60, "Zhang et al. 2022 say one thing, e.g. this."),
        (LISTED, 300, WHOLE),
        (LISTED, len(WHOLE) - 1, "**Two of 3.**"),  # never half a list
        (LEADING, 32, "**First:** A on one label. B."),
    ],
)
def test_first_sentences_end_at_a_sentence_and_take_the_list_that_a_line_leads_to(text, most, expected):
    assert blocks.first_sentences(text, most) == expected


def test_a_section_whose_code_shows_nothing_is_left_out_with_its_text():
    nb = notebook(
        nbformat.v4.new_markdown_cell("# Title\n\nWhat?"),
        nbformat.v4.new_markdown_cell("## Marks\n\nHollow: no CI."),
        code("show()"),
        nbformat.v4.new_markdown_cell("## Shown\n\nFilled: CI."),
        code("show()", output({"text/markdown": "Here."})),
        nbformat.v4.new_markdown_cell("A note on the above."),
        code("check()"),
        nbformat.v4.new_markdown_cell("## Text\n\nOf its own."),
    )
    told = [b.text for b in blocks.blocks(nb) if b.kind == "prose"]
    assert [t.splitlines()[0] for t in told] == ["# Title", "## Shown", "Here.", "A note on the above.", "## Text"]


def answering():
    """A notebook that computes first, and answers, draws and tells its methods in the usual places."""

    def figure(name, caption=""):
        return output({"image/png": PNG}, {"image/png": {"alt": "a", "name": name, "caption": caption}})

    def table(name):
        shown = {
            "text/html": "<table><caption>C &amp; D</caption><tr><td>1</td></tr></table>",
            "text/markdown": "**C**",
        }
        return output(shown, {"table": {"name": name, "caption": "C & D"}})

    bare = output({"text/html": "<table><tr><td>2</td></tr></table>"})
    return notebook(
        nbformat.v4.new_markdown_cell("# Agreement\n\nDo they\nagree?\n\n**As published**: alpha.\n\nMore."),
        code(PARAMETERS, tags=["parameters"]),
        code("load()"),
        nbformat.v4.new_markdown_cell("## Alpha"),
        code("draw()", figure("03_iaa_a"), table("03_iaa_a"), bare),
        nbformat.v4.new_markdown_cell("## What we see"),
        code("say()", output({"text/markdown": "They do."}), figure("03_iaa_b", "Points: alpha. Lines: 95% CI.")),
        nbformat.v4.new_markdown_cell("### Why"),
        code("more()", output({"text/markdown": "Because."})),
        nbformat.v4.new_markdown_cell("## Last"),
        code("end()", table("03_iaa_c")),
    )  # fmt: skip


def test_a_page_answers_first_and_ends_with_parameters():
    found = blocks.blocks(answering())
    told = [b.text.splitlines()[0] for b in found if b.kind == "prose"]
    assert told == [
        "# Agreement", "## What we see", "They do.", "### Why", "Because.", "## Methods", "## Alpha", "## Last"
    ]  # fmt: skip
    assert found[0].text == "# Agreement\n\nDo they\nagree?"
    assert next(b.text for b in found if b.text.startswith("## Methods")).endswith("**As published**: alpha.\n\nMore.")
    assert [b.text for b in found if b.kind == "code"] == ["say()", "more()", "load()", "draw()", "end()"]
    assert [b.kind for b in found][-1] == "parameters"


def test_contents_lead_to_sections_figures_and_tables():
    text = report.notebook_page(answering(), PAGE, "Agreement")
    contents = text[text.index('<nav class="contents"') :].partition("</nav>")[0]
    assert re.findall(r'<li class="level-(\d)"><a href="#([^"]+)">([^<]+)</a>', contents) == [
        ("4", "03_iaa_b", "Figure 1. Alpha. Lines: 95% CI."),
        ("2", "methods", "Methods"), ("2", "alpha", "Alpha"), ("4", "03_iaa_a", "Figure 2"),
        ("4", "03_iaa_a-2", "Table 1. C &amp; D"), ("4", "table", "Table"), ("2", "last", "Last"),
        ("4", "03_iaa_c", "Table 2. C &amp; D"), ("2", "parameters", "Parameters of this run"),
        ("2", "terms", "Terms"),
    ]  # fmt: skip
    ids = [a["id"] for _, a in Elements(text).found if "id" in a]
    assert len(ids) == len(set(ids))
    assert {h[1:] for h in re.findall(r'href="(#[^"]+)"', text)} <= set(ids)


DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 72 36"><defs><path id="m" d="M0 0"/></defs>
<use href="#m"/><text>{}</text></svg>"""


def test_a_figure_is_shown_as_its_drawing_with_the_fonts_it_needs():
    drawings = {"03_iaa_a": DRAWING.format("drawn")}
    text = report.notebook_page(answering(), PAGE, "Agreement", ["files/03_iaa_a.svg", "files/03_iaa_a.pdf"], drawings)
    assert [(a["class"], a["aria-label"]) for a in Elements(text).of("svg")] == [("drawing", "a")]
    assert len(Elements(text).of("img")) == 1  # the other figure has no drawing
    assert "<text>drawn</text>" in text
    assert set(re.findall(r"url\((\w+):", text)) == {"data"}
    assert Elements(text).loads() == []


def test_the_foot_of_a_printed_page_names_the_study_and_nothing_can_end_the_style():
    page = report.Page('A "study" </style><script>alert(1)</script>\\', False, "03_iaa")
    foot = re.search(
        r"@bottom-left \{ content: (.*?) \} \}\n</style>", report.notebook_page(notebook(), page, "Agreement")
    )
    assert re.fullmatch(r'"(?:[\w –]|\\[0-9a-f]+ )*"', foot[1])
    assert "study" in foot[1]


def test_what_private_cells_show_can_be_left_out_of_a_page():
    png = output({"image/png": PNG}, {"image/png": {"alt": "secret drawing", "name": "03_iaa_secret"}})
    said = output({"text/markdown": "## Secret heading\n\nA secret. <!--/private--> Still secret."})
    nb = notebook(
        nbformat.v4.new_markdown_cell("# Agreement\n\nWhat?"),
        code("show()", said, png, tags=["private"]),
        code("more()", output({"text/markdown": "## Open\n\nFor all. <!--private-->"})),
        code("last()", output({"text/markdown": "At the end."})),
    )
    page = report.notebook_page(nb, PAGE, "Agreement", ["files/03_iaa_secret.png"])
    assert "ecret" in page
    left, n = report.without_private(page)
    assert n == 2
    assert "ecret" not in left
    assert "For all." in left
    assert "At the end." in left
    assert report.without_private(left) == (left, 0)


def test_the_comment_of_a_parameter_is_its_help_whatever_letters_stand_before_it():
    (knob,) = blocks.parameters('title: str = "ééé…ééé"  # shown on the page')
    assert knob == blocks.Knob("title", "str", "'ééé…ééé'", "shown on the page")


def test_every_pair_of_systems_stands_in_a_folded_table():
    rows = [
        (label, "A <i>", other, "0.50", "0.10", "0.90", "0.010", "40", "A <i> is better", "points")
        for label in ("Fluent", "Fun")
        for other in ("B", "C")
    ]
    kind = {"whose": "these 3 annotators only", "about": "How to read.", "unit": "points", "ci": "95% CI"}
    kind |= {"n": "dialogues", "rows": tuple(rows), "systems": ("A <i>", "B", "C"), "page": "05.html#05_differences"}
    html = first_page(compared=[Compared("Run 1", **kind, ranks=(("A <i>", "1", "1", "1"),), ranked="All labels")])
    folded = html[html.index('<details class="every">') : html.index("</details>", html.index('class="every"'))]
    assert folded.count("<tr><td>") == 4 + 1
    assert "A &lt;i&gt; is better" in folded
    assert "<i>" not in folded
    assert "05.html#05_differences" in folded
    assert "Compare two systems" not in first_page()


def test_tables_of_a_figure_fold_under_values_and_both_say_what_they_are_about():
    of = {"Label": 'Fluent" onload="x'}
    figure = output({"image/png": PNG, "text/plain": "x"}, {"image/png": {"alt": "x", "name": "07_a", "of": of}})
    html_table = "<table><caption>C</caption><tr><td>1</td></tr></table>"
    same, other, long = (
        output({"text/html": html_table}, {"table": {"name": name, "caption": "C"} | more})
        for name, more in (("07_a", {}), ("07_b", {}), ("07_c", {"folded": True, "of": {"Method": "Likert"}}))
    )
    nb = notebook(nbformat.v4.new_markdown_cell("# Q\n\nWhat?"), code("show()", figure, same, other, long))
    text = report.notebook_page(nb, PAGE, "Q")
    assert text.count('<details class="values"') == 2
    assert "<summary>Values (Table 1)</summary>" in text
    assert '<details class="values" data-method="Likert"><summary>Values (Table 3)</summary>' in text
    assert 'data-label="Fluent&#34; onload=&#34;x"' in text


def test_answers_define_labels_in_sight_and_where_they_are_folded():
    labels = {"Fun": "It was fun.", "Dull": "It was dull."}
    answers = [report.Answered("best", "Best?", "By Dull.\n\nBy Fun."), report.Answered("next", "Next?", "More Fun.")]
    page = first_page(answers=answers, labels=labels)
    assert re.findall(r'<a class="term" href="#term-label-(\w+)"', page) == ["dull", "fun", "fun"]
