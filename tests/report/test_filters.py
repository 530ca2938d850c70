"""What is chosen on a page is chosen in panels of figures, too; without a script and on paper all are there."""

import base64
import re

import nbformat
import pandas as pd
import pytest
from fixtures.browser import after

from judgebook.display import saving, style, tables
from judgebook.display.names import DisplayNames
from judgebook.report import html as report

GROUPS, RUNS = {"x": "X & co", "y": "Y"}, {"a": "A", "b": "B"}
NAMES = DisplayNames({}, {"method": {"likert": "Likert"}, "group": GROUPS, "system": {}, "corpus": RUNS})
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def drawing():
    """A panel for each group, all of one method and run."""
    fig, axes = style.subplots(1, 2, sharey=True)
    for ax, group in zip(axes, GROUPS, strict=True):
        rows = pd.DataFrame({"method": "likert", "corpus": "a", "group": group, "label": ["one", "two"]})
        ax.plot([0, 1], [0, 1])
        style.panel(ax, rows, NAMES)
    return saving.drawing(fig, "svg", name="f", alt="f", simulated=False).decode()


@pytest.fixture(scope="module")
def page():
    frame = pd.DataFrame({"Group": ["X & co", "Y"], "n": ["1", "2"]})
    about = {"image/png": {"alt": "f", "name": "03_iaa_f", "caption": "F."}}
    shown = [
        nbformat.v4.new_output("display_data", {"image/png": PNG}, metadata=about),
        nbformat.v4.new_output("display_data", {"text/html": tables.to_html(frame, "C", [], [False, False])}),
    ]
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("show()", outputs=shown)])
    about = report.Page("S", False, "03_iaa")
    return report.notebook_page(nb, about, "Agreement", drawings={"03_iaa_f": drawing()})


def panels(html):
    """Of each panel its classes and its group."""
    found = re.findall(r"<g [^>]*data-group[^>]*>", html)
    return [(re.search(r'class="([^"]*)"', g)[1], re.search(r'data-group="([^"]*)"', g)[1]) for g in found]


def test_a_panel_says_what_all_of_it_is_about_also_without_a_script_and_on_paper(page):
    text = drawing()
    assert panels(text) == panels(page) == [("panel", "X &amp; co"), ("panel", "Y")]
    assert "@media screen { .panel.elsewhere" in page
    assert text.count('data-method="Likert"') == text.count('class="names"') == 2
    assert "data-label" not in text  # it is about two


@pytest.mark.verify
def test_a_choice_leaves_its_panel_and_its_rows(page):
    choose = "const s = document.querySelector('.choose select'); s.value = 'Y'; "
    html = after(page, f"{choose} s.dispatchEvent(new Event('input', {{ bubbles: true }}));")
    assert panels(html) == [("panel elsewhere", "X &amp; co"), ("panel", "Y")]
    assert len(re.findall(r'<tr class="elsewhere">', html)) == 1
    assert not re.search(r'<figure[^>]*class="elsewhere', html)
