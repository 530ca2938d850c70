"""The pair finder: which p-value decides, what is shown of a pair, and how it is put."""

import numpy as np
import pandas as pd
import pytest

from judgebook.annotations.population import Population
from judgebook.questions.sensitivity.differences import TEST
from judgebook.study import params
from judgebook.study.results import Results, collect
from judgebook.study.schema import ANNOTATIONS, conform
from judgebook.summary.evidence import NOTEBOOKS, SENSITIVITY, Evidence
from judgebook.summary.pairs import words
from judgebook.summary.pairs.analysis import ALIKE, DIFFER, FEW, NOT_WORSE, OPEN, SLIGHTLY, comparisons

YAML = """\
title: S
labels:
  fluent: {scale: [1, 5], direction: 1}
  wrong: {scale: [0, 1], direction: -1}
  length: {scale: [0, 100], direction: 0}
sources: [{adapter: table, file: x.csv, layout: wide, columns: {dialogue: id}, scores: "{label}_{annotator}"}]
systems: {a: "Alpha <i>", b: Beta, c: Gamma}
"""
PART = {"corpus": "main", "group": "all", "method": "dialogue_rating"}
PAIRS = [("a", "b"), ("a", "c"), ("b", "c")]
WITH = {"resample_unit": "session and annotator"}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "s.yaml"
    path.write_text(YAML, encoding="utf-8")
    return params.load(path)


def rows_of(label, permuted, sampled, equivalent, estimate=0.5, **over_people):
    """Of one label, for every pair: adjusted p by permutation, with annotators as a sample, and of equivalence."""
    out = []
    for pair, p, q, r in zip(PAIRS, permuted, sampled, equivalent, strict=True):
        one = {**PART, "label": label, "system": pair[0], "system_b": pair[1], "estimate": estimate, "n": 40}
        out.append({"statistic": "system_difference", "test": "session", "p_value": p, "p_adjusted": p, **one})
        ends = {"ci_low": estimate - 0.4, "ci_high": estimate + 0.4, **WITH, **over_people}
        out.append({"statistic": "system_difference", "test": TEST, "p_value": q, "p_adjusted": q, **one, **ends})
        out.append({"statistic": "equivalence", "margin": 0.2, "p_value": r, "p_adjusted": r, **one})
    return out


def evidence(study, *rows, others=True):
    judged = [
        {"study": "s", "annotator": who, "annotator_known": True, "annotator_kind": "human", "system": system,
         "dialogue": f"{system}1", "label": label, "score": 1.0, "source_row": 0, **PART}
        for who in "xyz" for system in "abc" for label in ("fluent", "wrong", "length")
    ]  # fmt: skip
    found = dict.fromkeys(NOTEBOOKS, Results()) | {
        SENSITIVITY: collect(pd.DataFrame([row for one in rows for row in one]))
    }
    out = Evidence(study, conform(pd.DataFrame(judged), ANNOTATIONS), found, {})
    out.__dict__["populations"] = {("main", "all"): Population(others, 3, 3, 3.0, "" if others else "few")}
    return out


def verdicts(one):
    return list(one.rows["verdict"])


def test_where_annotators_are_a_sample_their_p_value_decides(study):
    rows = rows_of("fluent", [0.01, 0.01, 0.01], [0.2, 0.01, np.nan], [1, 1, 1])
    (one,) = comparisons(evidence(study, rows))
    assert verdicts(one) == [OPEN, DIFFER, FEW]
    assert (one.people.others, one.wider) == (True, False)


def test_where_they_are_not_the_permutation_test_decides_and_wider_intervals_are_said(study):
    rows = rows_of("fluent", [0.01, 0.2, np.nan], [0.2, 0.01, 0.01], [1, 1, 1])
    (one,) = comparisons(evidence(study, rows, others=False))
    assert verdicts(one) == [DIFFER, OPEN, FEW]
    assert (one.people.others, one.wider) == (False, True)


def test_equivalence_is_shown_and_a_difference_may_be_slight(study):
    rows = rows_of("fluent", [1, 1, 1], [0.3, 0.01, 0.3], [0.01, 0.01, 0.3])
    (one,) = comparisons(evidence(study, rows))
    assert verdicts(one) == [ALIKE, SLIGHTLY, OPEN]


def test_by_a_margin_of_the_study_an_open_pair_may_show_that_one_is_not_worse(study):
    """Whichever stands first, and in the units of the label."""
    rows = [row | {"margin": 0.3, "scale": "label"} if row["statistic"] == "equivalence" else row
            for row in rows_of("fluent", [1, 1, 1], [0.3, 0.3, 0.01], [0.01, 0.3, 0.01])]  # fmt: skip
    sides = [("a", "b", 0.01), ("b", "a", 0.01), ("a", "c", 0.6), ("c", "a", 0.02), ("b", "c", 0.01), ("c", "b", 0.01)]
    rows += [
        {"statistic": "not_worse", "margin": 0.3, "p_value": p, "p_adjusted": p, "estimate": 0.1, "n": 40, **PART,
         "label": "fluent", "system": one, "system_b": other} for one, other, p in sides
    ]  # fmt: skip
    (one,) = comparisons(evidence(study, rows))
    assert (verdicts(one), list(one.rows["not_worse"])) == ([ALIKE, NOT_WORSE, SLIGHTLY], ["", "c", ""])


def test_labels_that_speak_of_these_annotators_only_stand_apart(study):
    sampled = rows_of("fluent", [0.01] * 3, [0.01] * 3, [1] * 3)
    fixed = rows_of("length", [0.01] * 3, [0.2] * 3, [1] * 3, resample_unit="session")
    parts = {one.people.others: set(one.rows["label"]) for one in comparisons(evidence(study, sampled, fixed))}
    assert parts == {True: {"fluent"}, False: {"length"}}


def test_verdicts_follow_the_direction_of_the_label(study):
    rows = [rows_of(label, [1] * 3, [0.01] * 3, [1] * 3) for label in ("fluent", "wrong", "length")]
    (one,) = words.compared(evidence(study, *rows))
    said = {row[0]: (row[3:6], row[8:]) for row in one.rows if row[1:3] == ("Alpha <i>", "Beta")}
    assert said["Fluent"] == (("0.50", "0.10", "0.90"), ("Alpha <i> is better", "points (scale 1 to 5)"))
    assert said["Wrong"] == (("50.0", "10.0", "90.0"), ("Beta is better", "percentage points"))
    assert said["Length"] == (("0.5", "0.1", "0.9"), ("Alpha <i> is higher", "points (scale 0 to 100)"))


def test_nothing_compared_no_finder(study):
    found = evidence(study, rows_of("fluent", [1] * 3, [1] * 3, [1] * 3))
    found.results[SENSITIVITY] = Results()
    assert words.compared(found) == []


@pytest.mark.parametrize("others", [True, False])
def test_an_interval_stands_with_the_estimate_that_it_is_about(study, others):
    """The permutation test within sessions has an estimate of its own, and no interval."""
    rows = rows_of("fluent", [0.01, 0.2, 0.3], [0.2, 0.01, 0.3], [1, 1, 1])
    rows = [row | {"estimate": 0.9} if row.get("test") == "session" else row for row in rows]
    (one,) = comparisons(evidence(study, rows, others=others))
    assert one.rows["estimate"].tolist() == [0.5] * 3
    assert ((one.rows["ci_low"] + one.rows["ci_high"]) / 2).tolist() == pytest.approx([0.5] * 3)
