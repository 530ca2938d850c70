"""What of a bundled report comes out again."""

import json
import math

import pandas as pd
import pytest

from judgebook.extras.bundle import comparing
from judgebook.extras.bundle.sentences import sentences

PAGE = """<html><head><title>T</title></head><body><nav>Not this</nav><h2>Who won?</h2>
<p>A leads (0.43&nbsp;[0.28, <b>0.58</b>] SD). It is <i>certain</i>. e.g. this.</p>
<svg aria-label="A is first"><text>no</text></svg><table><tr><td>1</td><td>2.5</td></tr></table>
<script>var x = "no";</script><img alt="Drawn"><p>Date: 2026</p></body></html>"""


def test_sentences_are_what_readers_see():
    expected = ["Who won?", "A leads (0.43 [0.28, 0.58] SD).", "It is certain. e.g. this.", "A is first", "1", "2.5"]
    assert list(sentences(PAGE)) == [*expected, "Drawn", "Date: 2026"]


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        (1.0, 1.0 + 5e-10, True),
        (1.0, 1.0 + 5e-9, False),
        (0.0, 5e-13, True),
        (0.0, 5e-12, False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (1, 1.0, True),
        (True, 1, False),
        ("A", "A", True),
        ("A", "B", False),
        (None, None, True),
    ],
)
def test_numbers_are_compared_within_a_tolerance_all_else_exactly(before, now, same):
    assert comparing.same(before, now) == same


@pytest.fixture
def folders(tmp_path):
    """A bundle, and what came out again: everything."""
    made = {"Command": "run", "Seeds": "1", "Date and version": "2026", "Data (SHA-256)": "abc"}
    answers = {"made": made, "answers": [{"estimate": 0.5, "sentence": "A leads."}]}
    rows = pd.DataFrame({"statistic": ["mean", "mean", "n"], "system": ["a", "b", None], "estimate": [0.5, 0.25, 7.0]})
    places = {"bundle": ("report", "results"), "again": ("reports/mine", "data/processed/mine/results")}
    for name, (report, results) in places.items():
        for folder in (report, results):
            (tmp_path / name / folder).mkdir(parents=True)
        (tmp_path / name / report / "index.html").write_text(PAGE)
        (tmp_path / name / report / "answers.json").write_text(json.dumps(answers))
        rows.to_parquet(tmp_path / name / results / "07_x.parquet")
    return tmp_path / "bundle", tmp_path / "again"


def missing(folders):
    found = comparing.compared(*folders, "mine")
    return {kind: [one.what for one in ones] for kind, ones in found.missing.items() if ones}


def test_all_comes_out_however_the_command_line_is_called(folders):
    assert dict(comparing.compared(*folders, "mine").n) == {"sentences": 8, "answers": 3, "results": 3}
    for folder, command in zip(folders, ("python run_all.py", "judgebook"), strict=True):
        for path in (*folder.rglob("index.html"), *folder.rglob("answers.json")):
            text = path.read_text().replace("A leads", f"{command} --study mine tells whether A leads")
            text = text.replace('"Command": "run"', f'"Command": "{command} --out {folder.name}"')
            path.write_text(text.replace("Date: 2026", f"{command} --out {folder.name}"))
    assert missing(folders) == {}


def test_what_tells_of_the_run_is_left_out(folders):
    path = folders[1] / "reports/mine/answers.json"
    tree = json.loads(path.read_text())
    path.write_text(json.dumps(tree | {"made": {"Command": "verify", "Seeds": "1"}}))
    (folders[0] / "report/index.html").write_text(PAGE.replace("Date: 2026", "run</p><p>Data: abc.</p><p>2026"))
    assert missing(folders) == {}


def test_a_sentence_an_answer_and_a_row_that_differ_are_told(folders):
    again = folders[1]
    (again / "reports/mine/index.html").write_text(PAGE.replace("certain", "likely").replace("<td>1</td>", ""))
    answers = (again / "reports/mine/answers.json").read_text()
    (again / "reports/mine/answers.json").write_text(answers.replace("0.5", "0.6"))
    path = again / "data/processed/mine/results/07_x.parquet"
    rows = pd.read_parquet(path)
    rows.loc[1, "estimate"] += 1e-6
    rows.iloc[:2].to_parquet(path)
    assert missing(folders) == {
        "sentences": ["It is certain. e.g. this.", "1"],
        "answers": ["answers.0.estimate: 0.5"],
        "results": ["mean, b: [0.25]", "n: [7.0]"],
    }


def test_a_page_that_was_not_made_again_is_missing_as_a_whole(folders):
    (folders[1] / "reports/mine/index.html").unlink()
    assert len(missing(folders)["sentences"]) == 8
