"""A second interval of one estimate is found on a page unless it says what it is; every run of all notebooks on small
and public studies is held to this (`fixtures.notebook_runs.CHECKS`)."""

import pytest
from fixtures import one_interval

from judgebook.study.results import collect, fold

CELL = {"corpus": "main", "group": "all", "method": "dialogue_likert", "label": "quality"}
ALPHA = {**CELL, "statistic": "alpha", "measurement": "ordinal", "raters": "all", "kind": "human", "n": 30}
MEAN = {**CELL, "statistic": "mean", "system": "a", "n": 30}


@pytest.fixture
def results():
    """Alpha with three intervals and a mean with two; the primary ones are those over annotators and over sessions."""
    ends = {"turn": (0.28, 0.3), "dialogue": (0.22, 0.36), "dialogue and annotator": (0.13, 0.42)}
    alphas = [
        ALPHA | {"resample": over, "estimate": 0.29, "ci_low": low, "ci_high": high, "ci_kind": "bca"}
        for over, (low, high) in ends.items()
    ]
    means = [
        MEAN | {"interval": over, "estimate": 3.5, "ci_low": 3.5 - d, "ci_high": 3.5 + d, "ci_kind": kind,
                "resample_unit": None if over == "independent" else over}
        for over, d, kind in (("session", 0.4, "bca"), ("independent", 0.1, "student_t"))
    ]  # fmt: skip
    stored = {"03_iaa": alphas, "07_bot_performance": means}
    return {name: fold(collect(rows), study="s", notebook=name) for name, rows in stored.items()}


def table(head, cell, caption="Agreement by label."):
    rows = f"<tr><th>Label</th><th>{head}</th></tr><tr><td>Quality</td><td>{cell}</td></tr>"
    return f"<figure><table><caption>{caption}</caption>{rows}</table></figure>"


@pytest.mark.parametrize(
    ("body", "n"),
    [
        ("<p>Alpha: 0.29 [0.13, 0.42].</p>", 0),
        ("<p>Alpha: 0.29 [0.22, 0.36].</p>", 1),
        ("<p>Alpha is 0.29 [0.22, 0.36] for these annotators only.</p>", 0),
        ("<p>For these annotators, no label is reliable. Highest: Quality, 0.29 [0.22, 0.36].</p>", 1),
        (table("Alpha", "0.29 [0.22, 0.36]"), 1),
        (table("Alpha, these annotators", "0.29 [0.22, 0.36]"), 0),
        (table("Mean", "3.50 [3.40, 3.60]", "CIs as published, for independent scores."), 0),
        (table("Mean", "3.50 [3.40, 3.60]"), 1),
    ],
)
def test_a_second_interval_is_found_unless_it_says_what_it_is(results, tmp_path, body, n):
    """On every page that has both."""
    for page in one_interval.PAGES:
        (tmp_path / f"{page}.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    assert len(list(one_interval.wrong(tmp_path, results))) == n * len(one_interval.PAGES)
