"""The page of every printed number: complete without its script, harmless, and its filter works in a real browser."""

import re
import shutil
import subprocess
from urllib.parse import urlencode

import pandas as pd
import pytest

from helpers.published import page as scoreboard_page
from helpers.published import scoreboard
from helpers.report import html as report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: no screen, no sandbox (tests may run as root), nothing asked of the network
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--dump-dom"]
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
    path.write_text(scoreboard_page.page(board(), about, TITLES, link), encoding="utf-8")
    return path


def rows(html):
    """(attributes, cells as text) of every line of the table."""
    body = html[html.index('id="cells"') :]
    found = re.findall(r"<tr ([^>]*)>(.*?)</tr>", body, re.DOTALL)
    return [
        (a, [re.sub(r"<[^>]+>", "", c) for c in re.findall(r"<td[^>]*>(.*?)</td>", r, re.DOTALL)]) for a, r in found
    ]


def test_every_number_stands_there_with_its_verdict_and_reason(page):
    found = [cells for _, cells in rows(page.read_text(encoding="utf-8"))]
    assert found[0] == ["Zed 2030", "Table 1", "P, R 1, Quality", "0.50", "0.501", "matches by rule", "", "real, 03"]
    assert found[2][4:6] == ["11.60 to 12.40", "follows from other numbers"]
    assert found[3][4:] == ["–", "needs a download", "a file", "real, 03"]
    assert len(found) == 5


def test_numbers_lead_to_the_figure_that_shows_them(page):
    html = page.read_text(encoding="utf-8")
    assert '<a href="../real/03_iaa.html#03_iaa_alpha">real, 03</a>' in html
    assert html.count('<a href="../real') == 2


def test_bars_count_by_verdict(page):
    html = page.read_text(encoding="utf-8")
    bars = html[html.index('class="boards"') : html.index('id="numbers"')]
    assert re.findall(r"<h2>(.*?)</h2>", bars) == ["Zed 2030", "Why 2031"]
    assert re.findall(r'style="width:([\d.]+)%"[^>]*title="([^"]+)"', bars) == [
        ("50.0", "matches by rule: 1"),
        ("50.0", "differs: 1"),
        ("100.0", "follows from other numbers: 1"),
        ("50.0", "needs a download: 1"),
        ("50.0", "not attempted: 1"),
    ]


def test_text_of_files_cannot_run(page):
    html = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in html
    assert html.count("<script") == 1
    assert re.search(r"script-src 'sha256-[\w+/=]+'\"", html)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', html)


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"paper": "z"}, [0, 1, 2]),
        ({"element": "Table 1"}, [0, 1, 3, 4]),
        ({"paper": "z", "element": "Table 1", "verdict": "differs"}, [1]),
        ({"verdict": "needs_download"}, [3]),
        ({"words": "FUN r2"}, [4]),
        ({"words": "why 2031"}, [3, 4]),
        ({"words": "nothing has this"}, []),
    ],
    ids=lambda v: "-".join(v.values()) if isinstance(v, dict) else "",
)
def test_the_filter_in_a_browser(page, tmp_path, state, shown):
    """The state stands in the address. Where no browser is installed, the page without its script shows everything."""
    browser = next((b for b in map(shutil.which, BROWSERS) if b), None)
    html = page.read_text(encoding="utf-8")
    if browser is None:
        assert not any("hidden" in attributes for attributes, _ in rows(html))
        return
    command = [browser, *FLAGS, f"--user-data-dir={tmp_path}", f"{page.as_uri()}#{urlencode(state)}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
    found = rows(done.stdout)
    assert [i for i, (attributes, _) in enumerate(found) if "hidden" not in attributes] == shown
    count = f"{len(shown)} number{'' if len(shown) == 1 else 's'}"
    assert re.search(rf'<output id="count">{count}</output>', done.stdout)
