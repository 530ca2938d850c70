"""A second interval of one estimate is found on a page unless it says what it is; every run of all notebooks on small
and public studies is held to this (`fixtures.notebook_runs.CHECKS`)."""

import pytest
from fixtures import one_interval

from judgebook.study.results import collect, fold

CELL = {"corpus": "main", "group": "all", "method": "dialogue_likert", "label": "quality"}
ALPHA = {**CELL, "statistic": "alpha", "measurement": "ordinal", "raters": "all", "kind": "human", "n": 30}


@pytest.fixture
def results():
    """Alpha with three intervals, of which the one over annotators is primary."""
    ends = {"turn": (0.28, 0.3), "dialogue": (0.22, 0.36), "dialogue and annotator": (0.13, 0.42)}
    rows = [
        ALPHA | {"resample": over, "estimate": 0.29, "ci_low": low, "ci_high": high, "ci_kind": "bca"}
        for over, (low, high) in ends.items()
    ]
    return {"03_iaa": fold(collect(rows), study="s", notebook="03_iaa")}


def table(head, caption="Agreement by label."):
    rows = f"<tr><th>Label</th><th>{head}</th></tr><tr><td>Quality</td><td>0.29 [0.22, 0.36]</td></tr>"
    return f"<figure><table><caption>{caption}</caption>{rows}</table></figure>"


@pytest.mark.parametrize(
    ("body", "n"),
    [
        ("<p>Alpha: 0.29 [0.13, 0.42].</p>", 0),
        ("<p>Alpha: 0.29 [0.22, 0.36].</p>", 1),
        ("<p>For these annotators, no label is reliable. Highest: Quality, 0.29 [0.22, 0.36].</p>", 1),
        (table("Alpha"), 1),
        (table("Alpha, these annotators"), 0),
        (table("Alpha", "CIs as published, for independent scores."), 0),
    ],
)
def test_a_second_interval_is_found_unless_it_says_what_it_is(results, tmp_path, body, n):
    for page in one_interval.PAGES:
        (tmp_path / f"{page}.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    assert len(list(one_interval.wrong(tmp_path, results))) == n * len(one_interval.PAGES)
