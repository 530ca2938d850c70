"""The page of every printed number: all are in its data; it is harmless, and its filter works in a real browser."""

import json
import re

import pandas as pd
import pytest

from compendium.published import scoreboard, views
from judgebook.report import html as report

TITLES = {"z": "Zed 2030", "y": "Why 2031", "none": "No numbers"}


def board():
    rows = [
        ("z", "Table 1", "p", "r1", "quality", "0.50", 2, 0.5012, "match", "", "real", "03_iaa", "alpha"),
        ("z", "Table 1", "p", "r2", "quality", "0.60", 2, 0.7, "differs", "<script>alert(1)</script>", "real", "x", ""),
        ("z", "Text 2", "p", "n", "count", "12", 0, 12.0, "match_arithmetic", "A sum.", "", "", ""),
        ("y", "Table 1", "p", "r1", "fun", "3", 0, float("nan"), "needs_download", "a file", "real", "03_iaa", ""),
        ("y", "Table 1", "p", "r2", "fun", "4", 0, float("nan"), "not_attempted", "quoted", "", "", ""),
    ]
    columns = ["paper", "element", "panel", "row", "column", "published", "decimals", "reproduced", "verdict", "note"]
    frame = pd.DataFrame(rows, columns=[*columns, "study", "notebook", "shows"])
    return frame.assign(low=frame["reproduced"] - 0.4, high=frame["reproduced"] + 0.4).reindex(
        columns=scoreboard.COLUMNS
    )


def link(study, notebook, shows):
    return f"../{study}/{notebook}.html#{notebook}_{shows}" if notebook == "03_iaa" else ""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    about = report.Page("What reproduces?", False, "90_cells", (("90_cells", "Every printed number"),))
    path = tmp_path_factory.mktemp("page") / "90_cells.html"
    path.write_text(views.every_number(board(), about, TITLES, link, "../replication.csv"), encoding="utf-8")
    return path


def data(html):
    found = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])
    return [{k: found["strings"][i] for k, i in zip(found["keys"], row, strict=True)} for row in found["numbers"]]


def test_text_of_files_cannot_run(page):
    html = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in html
    assert html.count("<script") == 2
    assert data(html)[1]["note"] == "<script>alert(1)</script>"
    assert re.search(r"script-src 'sha256-[\w+/=]+'\"", html)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', html)
