"""The page of every printed number: all are in its data; it is harmless, and its filter works in a real browser."""

import json
import re
from urllib.parse import urlencode

import pandas as pd
import pytest
from fixtures.browser import dom

from judgebook.published import page as scoreboard_page
from judgebook.published import scoreboard
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
    path.write_text(scoreboard_page.page(board(), about, TITLES, link, "../replication.csv"), encoding="utf-8")
    return path


def rows(html):
    body = html[html.index('id="cells"') :].partition("</table>")[0]
    found = re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.DOTALL)
    return [[re.sub(r"<[^>]+>", "", c) for c in re.findall(r"<td[^>]*>(.*?)</td>", r, re.DOTALL)] for r in found]


def data(html):
    found = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])
    return [{k: found["strings"][i] for k, i in zip(found["keys"], row, strict=True)} for row in found["numbers"]]


def test_every_number_stands_there_with_its_verdict_and_reason(page):
    found = rows(page.read_text(encoding="utf-8"))
    assert found[0] == ["Zed 2030", "Table 1", "P, R 1, Quality", "0.50", "0.501", "matches by rule", "", "real, 03"]
    assert found[2][4:6] == ["11.60 to 12.40", "follows from other numbers"]
    assert found[3][4:] == ["–", "needs a download", "a file", "real, 03"]
    assert len(found) == 5


def test_numbers_lead_to_the_figure_that_shows_them(page):
    html = page.read_text(encoding="utf-8")
    assert '<a href="../real/03_iaa.html#03_iaa_alpha">real, 03</a>' in html
    assert {n["href"] for n in data(html)} == {"", "../real/03_iaa.html#03_iaa_alpha", "../real/03_iaa.html#03_iaa_"}


def test_text_of_files_cannot_run(page):
    html = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in html
    assert html.count("<script") == 2
    assert data(html)[1]["note"] == "<script>alert(1)</script>"
    assert re.search(r"script-src 'sha256-[\w+/=]+'\"", html)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', html)


@pytest.mark.verify
@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ({"element": "Table 1"}, [0, 1, 3, 4]),
        ({"paper": "z", "element": "Table 1", "verdict": "differs"}, [1]),
        ({"words": "FUN 4"}, [4]),
    ],
    ids=lambda v: "-".join(v.values()) if isinstance(v, dict) else "",
)
def test_the_filter_in_a_browser(page, state, shown):
    every, seen = rows(page.read_text(encoding="utf-8")), dom(f"{page.as_uri()}#{urlencode(state)}")
    assert rows(seen) == [every[i] for i in shown]
    count = f"{len(shown)} number{'' if len(shown) == 1 else 's'}"
    assert re.search(rf'<output id="count">{count}</output>', seen)
