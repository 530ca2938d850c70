"""Formulas of metrics: the same as Python's arithmetic, and nothing but arithmetic."""

import pytest
from fixtures import yaml_studies as studies

from judgebook.study import formulas as arithmetic

VALUES = {"a": 3.0, "b": 4.0, "c": 0.5}


@pytest.mark.parametrize(("formula", "expected"), [
    ("a", 3.0), ("a + b * c", 5.0), ("(a + b) * c", 3.5), ("2 * a / b", 1.5), ("a - b - c", -1.5), (" a/b/c ", 1.5),
])  # fmt: skip
def test_values_by_hand(formula, expected):
    assert arithmetic.evaluate(formula, VALUES) == expected


@pytest.mark.parametrize(
    "formula", ["a ** 2", "abs(a)", "a.real", "a if b else c", "'x'", "a[0]", "-a", "True", "a +", ""]
)
def test_only_arithmetic_is_allowed(formula):
    with pytest.raises(ValueError, match=r"expected names of metrics, numbers, \+ - \* / and brackets"):
        arithmetic.evaluate(formula, VALUES)


def test_what_is_divided_by_nothing_has_no_score(tmp_path):
    yaml = """\
title: Two metrics
method: dialogue_rating
sources:
  - adapter: table
    file: my.csv
    annotators: positions
    columns: {dialogue: chat, system: bot}
    metrics: {words: n_words, turns: n_turns}
    derived_metrics: {words_a_turn: words / turns}
labels: {nice: {scale: [1, 5]}}
"""
    csv = "chat,bot,nice,n_words,n_turns\nd1,A,4,12,3\nd2,A,2,7,0\nd3,A,5,,2\n"
    scores = studies.read(tmp_path, yaml, my_csv=csv).frames["metric_scores"]
    found = scores[scores["metric"] == "words_a_turn"].set_index("dialogue")["score"]
    assert found.dropna().to_dict() == {"d1": 4.0}
