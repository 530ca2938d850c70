"""The summary of a report is one sheet, on A4 and on Letter, and says at once what is simulated."""

import io
import re

import matplotlib.image as mpl_image
import pytest
from fixtures.browser import browse
from fixtures.html_pages import Elements

from judgebook.pipeline.first_page import _verdict
from judgebook.report.html import Page
from judgebook.report.one_page import OnePage, page
from judgebook.summary.picture import picture

SENTENCE = "A system with a long name leads by 0.43 [0.28, 0.58] standard deviations, but others may be best instead. "
TABLE = "| Who was counted | People |\n| :--- | ---: |\n" + "| Answered | 173 |\n" * 4
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 288 160"><text>System</text></svg>'


def sheet(sentences=3, answers=6):
    asked = tuple(
        (f"Question {i}, and how certain is that?", f"**No.** {SENTENCE * sentences}") for i in range(answers)
    )
    many = {"description": SENTENCE * 2, "preface": (TABLE, f"**For whom.** {SENTENCE}"), "before": (SENTENCE,) * 3}
    drawn = {"drawing": DRAWING, "alt": "systems", "caption": SENTENCE, "foot": SENTENCE}
    return OnePage(**many | drawn, answers=asked)


def test_the_page_runs_nothing_and_loads_nothing():
    html = page(Page("S <i>", False), sheet())
    assert "<h1>S &lt;i&gt;</h1>" in html
    assert Elements(html).loads() == []
    assert Elements(html).of("script") == []
    assert "script-src" not in html
    assert [("Simulated data." in page(Page("S", simulated), sheet())) for simulated in (True, False)] == [True, False]


@pytest.mark.evidence
@pytest.mark.parametrize(("paper", "sentences"), [("A4", 4), ("letter", 4)])
def test_it_prints_on_one_sheet(tmp_path, paper, sentences):
    html = page(Page("A study with a title that needs two lines of the sheet, as some do", True), sheet(sentences, 8))
    path, printed = tmp_path / "summary.html", tmp_path / "summary.pdf"
    path.write_text(html.replace("@page { ", f"@page {{ size: {paper}; "), encoding="utf-8")
    browse(f"file://{path}", "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    assert len(re.findall(rb"/Type /Page\b(?!s)", printed.read_bytes())) == 1


@pytest.mark.parametrize(
    ("text", "verdict", "rest"),
    [
        (
            "**882 USD was paid** (1.63 an hour). Ten more cost 9.",
            "882 USD was paid (1.63 an hour).",
            "Ten more cost 9.",
        ),
        ("**Other people: yes**; by 3. **A model:** none.", "Other people: yes; by 3.", "A model: none."),
        ("1. **Do this.** So.\n2. **Do that.**", "", "• Do this. So.\n• Do that."),
    ],
)
def test_a_verdict_is_a_sentence(text, verdict, rest):
    assert _verdict(text) == (verdict, rest)


@pytest.mark.parametrize("simulated", [True, False])
def test_the_picture_is_as_wide_as_a_message_and_the_same_each_time(simulated):
    def draw():
        answers = [("Q?", "No.", SENTENCE), ("And?", "", "• This\n• That $x$ <i>")]
        return picture("S", SENTENCE, [SENTENCE], answers, b"", "made", simulated=simulated)

    content = draw()
    drawn = mpl_image.imread(io.BytesIO(content), format="png")
    assert drawn.shape[1] == 1200
    assert content == draw()
    warm = (drawn[:80, :, 0] > drawn[:80, :, 2] + 0.02).any()  # the strip that marks simulated data
    assert warm == simulated
