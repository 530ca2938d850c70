"""Every line of a file is accounted for, and a build whose accounts do not add up stops."""

from __future__ import annotations

import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.sources import in_words
from judgebook.sources.accounts import balance, levels, physical
from judgebook.sources.reading import Counts, first_places
from judgebook.study import params

YAML = """
title: T
method: dialogue_rating
sources:
  - adapter: table
    file: my.csv
    na_values: ["", n/a]
    columns: {dialogue: d, system: s, annotator: a}
    drop: {s: z}
    skip_columns: [note]
labels:
  fluency: {scale: [-1, 5], direction: 1}
  rude: {scale: [0, 1], direction: -1}
"""
CSV = """d,s,a,fluency,rude,note
d0,x,w0,-1,0,
d1,x,w0,1,0,"two
lines"

d2,x,w0,2,0,
d3,y,w0,3,n/a,
d4,y,w0,,,
d5,z,w0,3,0,
d6,y,w0,n/a,0,
"""


def described(tmp_path, csv=CSV, yaml=YAML):
    return in_words.describe(params.load(studies.write(tmp_path, yaml, my_csv=csv)))


def test_lines_rows_annotations_and_every_difference(tmp_path):
    lines = described(tmp_path)
    assert (
        "my.csv: 10 lines -> 7 rows (1 header, 1 empty, 1 within cells that hold line breaks) "
        "-> 14 annotations (2 labels) -> 8 kept"
    ) in lines
    for line in (
        "dropped: 1 row: left out with all they hold (`keep`, `drop`) (row 8)",
        "dropped: 1 row: hold no score (row 7)",
        "dropped: 2 annotations: s is z (`drop`) (row 8)",
        "dropped: 2 annotations of rude, fluency: 'n/a' (`na_values`) (rows 6, 9)",
        "dropped: 2 annotations of fluency, rude: no score, like all labels of its row (row 7)",
    ):
        assert line in lines


def test_codes_are_questions_and_constant_labels_results(tmp_path):
    lines = described(tmp_path)
    assert any("nobody marked it (0 of 4)" in line for line in lines)
    question = next(line for line in lines if line.startswith("question: fluency"))
    assert "1 times -1, away from 1 to 3" in question
    assert 'na_values: ["", "-1"]' in question


def test_rows_between_quotation_marks_are_doubtful():
    rows = {1: ["s", "t", "f"], 2: ["a", "one\t3\nb\tmore", "2"]}
    text = 's\tt\tf\na\t"one\t3\nb\tmore"\t2\n'
    counts = Counts()
    physical.of_table(counts, "x.tsv", rows, header=1, skip_rows=(), text=text, delimiter="\t")
    reasons = counts.frame().set_index("reason")["n"]
    assert reasons[physical.SWALLOWED] == 1
    assert "quoting: false" in physical.SWALLOWED


def test_accounts_that_do_not_add_up_are_a_problem():
    counts = Counts()
    counts.add("x.csv", "annotations", "read", n=5)
    counts.add("x.csv", "annotations", "kept", n=3)
    counts.add("x.csv", "annotations", "dropped", "empty", n=1)
    (problem,) = balance.problems(counts.frame(), 3)
    assert "5 annotations" in str(problem)
    assert "3 kept and 1 left out" in str(problem)
    counts.add("x.csv", "annotations", "dropped", "other", n=1)
    assert not balance.problems(counts.frame(), 3)
    assert balance.problems(counts.frame(), 2)


def test_the_first_places_are_those_of_the_file():
    assert first_places(["row 17; row 31", None, "row 9; row 17", "row 100"]) == "row 9; row 17; row 31"


@pytest.mark.parametrize(
    ("scores", "codes"),
    [
        ([1, 2, 3, 4, 5, -1], [-1]),
        ([1, 2, 3, 99], [99]),
        ([1, 2, 3, 0], None),
        ([0, 1, 2, 3, -1], None),
        ([2, 3, 4, 0], [0]),
        ([1, 5, 99], None),
    ],
)
def test_codes_away_from_the_levels(scores, codes):
    stand = levels.apart(pd.Series(scores, dtype=float))
    assert (stand and stand[0]) == codes
