"""Pages in a real browser: on paper every column is there; tables sort and filter, pairs are found."""

import re
import shutil
import subprocess

import nbformat
import pandas as pd
import pytest
from fixtures.browser import after, browse
from fixtures.html_pages import Elements

from judgebook.display import tables
from judgebook.report import html
from judgebook.report import html as report
from judgebook.report.html import Compared

ROWS = 40
VALUES = ["0.46 [0.40, 0.51]", "−0.20", "–", "< 0.001", "1,234", "12%", "0.001"]
IN_ORDER = ["−0.20", "< 0.001", "0.001", "0.46 [0.40, 0.51]", "12%", "1,234", "–"]


def shown(frame):
    """The output of a cell that shows a table as `tables.show` does."""
    cells = frame.astype(str)
    html = tables.to_html(cells, "C", [], [False] * len(cells.columns))
    about = {"table": {"name": "03_iaa_t", "caption": "C"}}
    return nbformat.v4.new_output("display_data", {"text/html": html}, metadata=about)


def page(frame):
    cells = [nbformat.v4.new_code_cell("show()", outputs=[shown(frame)])]
    return report.notebook_page(nbformat.v4.new_notebook(cells=cells), report.Page("S", False, "03_iaa"), "Agreement")


def wide(columns):
    """A table of intervals under words of some length."""
    data = {f"Heading{i:02}": ["0.46 [0.40, 0.51]"] * ROWS for i in range(columns)}
    return pd.DataFrame({"Label": [f"Informativeness{i}" for i in range(ROWS)], **data})


def words_on_paper(html, folder):
    """Words of the printed page by sheet, those outside of the sheet left out, and the sizes of the sheets."""
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed")
    path, pdf = folder / "page.html", folder / "page.pdf"
    path.write_text(html, encoding="utf-8")
    browse(path.as_uri(), f"--print-to-pdf={pdf}")
    told = subprocess.run(["pdftotext", "-bbox", pdf, "-"], capture_output=True, text=True, check=True).stdout
    sheets, sizes = [], []
    for part in told.split("<page ")[1:]:
        across, down = map(float, re.match(r'width="([\d.]+)" height="([\d.]+)"', part).groups())
        places = re.findall(r'<word xMin="(\S+)" yMin="\S+" xMax="(\S+)" yMax="\S+">(.*?)</word>', part)
        sheets.append([word for left, right, word in places if float(left) >= 0 and float(right) <= across])
        sizes.append((across, down))
    return sheets, sizes


@pytest.mark.verify
@pytest.mark.parametrize(("columns", "lying"), [(3, False), (20, True)])
def test_no_column_is_lost_on_paper(tmp_path, columns, lying):
    frame = wide(columns)
    sheets, sizes = words_on_paper(page(frame), tmp_path)
    told = "".join("".join(words) for words in sheets)
    assert told.count("]") == ROWS * columns
    assert all(heading in told for heading in frame.columns)
    assert all("Label" in words for words in sheets if "0.51]" in words)  # the head is on every sheet
    assert any(across > down for across, down in sizes) == lying


@pytest.mark.parametrize(("columns", "lying", "broken"), [(1, False, False), (14, True, False), (60, True, True)])
def test_a_table_is_fitted_to_paper(columns, lying, broken):
    fit = html.fit(tables.to_html(wide(columns), "C", [], [False] * (columns + 1)))
    assert (fit.lying, fit.broken) == (lying, broken)
    assert html.SMALLEST <= fit.size <= html.USUAL


def column(html, i):
    """Texts of a column of the first table, and whether each row is shown."""
    body = re.search(r"<tbody>(.*?)</tbody>", html, re.DOTALL)[1]
    rows = re.findall(r"<tr([^>]*)>(.*?)</tr>", body, re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)[i] for _, row in rows]
    return [re.sub(r"<[^>]+>|&lt;", lambda m: "<" if m[0] == "&lt;" else "", c) for c in cells], [
        "hidden" not in about for about, _ in rows
    ]


def clicked(times, i=1):
    names = list("bacdefg")
    script = f"for (let n = 0; n < {times}; n += 1) document.querySelectorAll('th button')[{i}].click();"
    html = after(page(pd.DataFrame({"Name": names, "Value": VALUES})), script)
    return column(html, i)[0], [a.get("aria-sort") for a in Elements(html).of("th")]


@pytest.mark.verify
@pytest.mark.parametrize(
    ("times", "order", "state"), [(2, [*reversed(IN_ORDER[:-1]), "–"], "descending"), (3, VALUES, None)]
)
def test_a_table_is_sorted_by_its_headings(times, order, state):
    """What is missing stays last, and a third click gives the first order back."""
    assert clicked(times) == (order, [None, state])


FILTERED = pd.DataFrame(
    {"Label": ["x", "y"] * 8, "Pair": ["p"] * 16, "Value": [f"0.{i}" for i in range(16)], "System": ["s"] * 16}
)


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("script", "rows"),
    [
        ("field('input').value = 'Y 0.1'", [1, 11, 13, 15]),
        ("field('select').value = 'x'; field('input').value = '0.12'", [12]),
    ],
    ids=["words", "both"],
)
def test_a_long_table_is_filtered(script, rows):
    """By words, and by a label; a column with one value or another name has no choice."""
    tell = "field('input').dispatchEvent(new Event('input', { bubbles: true }));"
    html = after(page(FILTERED), f"const field = (t) => document.querySelector('.tools ' + t); {script}; {tell}")
    assert [i for i, here in enumerate(column(html, 0)[1]) if here] == list(rows)
    assert len(Elements(html).of("select")) == 1
    assert (f"{len(rows)} of 16 rows" in html) == (len(rows) < 16)


def found(script):
    """What the pair finder says after a script of the test chose from its fields."""
    rows = (
        ("Fluent", "A", "B", "0.50", "0.10", "0.90", "0.010", "40", "A is better", "points"),
        ("Fun", "A", "B", "0.20", "–", "–", "–", "2", "too few data", "points"),
    )
    ranks = (("A", "1", "1", "1"), ("B", "2", "2", "3"), ("C", "3", "2", "3"))
    kind = {"whose": "these 3 annotators only", "about": "", "unit": "points", "ci": "95% CI", "n": "dialogues"}
    one = Compared("Run", **kind, rows=rows, ranks=ranks, ranked="All labels together", systems=("A", "B", "C"))
    nothing = {"description": "", "facts": [], "cards": [], "absent": [], "made": []}
    html = report.index_page(report.Page("S", False), **nothing, compared=[one])
    choose = "const choose = (i, v) => { const s = document.querySelectorAll('.pairs select')[i]; s.value = v;"
    choose += " s.dispatchEvent(new Event('input', { bubbles: true })); };"
    inside = re.search(r'<output class="found">(.*?)</output>', after(html, choose + script), re.DOTALL)[1]
    return [re.sub("<[^>]+>", "", line) for line in re.findall(r"<(?:li|p)>(.*?)</(?:li|p)>", inside)]


SAID = {
    "order": "All labels together: A is better. A: 1 [1, 1] of 3; B: 2 [2, 3] of 3.",
    "Fluent": "Fluent: A is better. A − B: 0.50 points [95% CI 0.10, 0.90]; adjusted p = 0.010; n = 40 dialogues.",
    "Fun": "Fun: too few data. A − B: 0.20 points; n = 2 dialogues.",
}


@pytest.mark.verify
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("", ["For these 3 annotators only:", SAID["order"], SAID["Fluent"], SAID["Fun"]]),
        ("choose(2, 'Fun'); choose(1, 'A'); choose(0, 'B')", ["For these 3 annotators only:", SAID["Fun"]]),
        (
            "choose(0, 'B'); choose(1, 'C')",
            [
                "These two were not compared with each other.",
                "For these 3 annotators only:",
                "All labels together: cannot be distinguished. B: 2 [2, 3] of 3; C: 3 [2, 3] of 3.",
            ],
        ),
    ],
    ids=["at first", "turned round", "not compared"],
)
def test_two_systems_are_compared_by_label_and_over_all(script, said):
    assert found(script) == said


@pytest.mark.evidence
def test_an_address_opens_what_is_folded():
    html = "<details><details><p id='there'>x</p></details></details><details><p>y</p></details>"
    folded = report.text_page(report.Page("S", False), "T", "x").replace("</main>", f"{html}</main>")
    opened = after(folded, "location.hash = 'there'; dispatchEvent(new Event('hashchange'));")
    assert '<details open=""><details open=""><p id="there">' in opened
    assert "<details><p>y" in opened
