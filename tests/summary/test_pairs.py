"""The pair finder: what the interval of all pairs at once shows of two systems, and how it is put."""

import numpy as np
import pandas as pd
import pytest

from judgebook.annotations.population import Population
from judgebook.questions.performance.leading import ALIKE, DIFFER, FEW, NOT_WORSE, SLIGHTLY, UNDECIDED
from judgebook.study import params
from judgebook.study.results import Results, collect
from judgebook.study.schema import ANNOTATIONS, conform
from judgebook.summary import pairs
from judgebook.summary.evidence import NOTEBOOKS, PERFORMANCE, Evidence
from judgebook.summary.pairs import comparisons

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
HIGHER, UNDECIDED_, MISSING = (0.1, 0.9), (-0.1, 0.9), (np.nan, np.nan)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "s.yaml"
    path.write_text(YAML, encoding="utf-8")
    return params.load(path)


def rows_of(label, *ends):
    """Of one label, for every pair: the simultaneous interval, whose middle is the estimate."""
    out = []
    for pair, (low, high) in zip(PAIRS, ends, strict=True):
        one = {**PART, "label": label, "system": pair[0], "system_b": pair[1], "n": 40, "ci_low": low, "ci_high": high}
        p = {"p_value": 0.01, "p_adjusted": 0.02, "estimate": np.nan_to_num((low + high) / 2)}
        out.append({"statistic": "contrast", "resample_unit": "dialogue and annotator", **one, **p})
    return out


def evidence(study, *rows, others=True):
    judged = [
        {"study": "s", "annotator": who, "annotator_known": True, "annotator_kind": "human", "system": system,
         "dialogue": f"{system}1", "label": label, "score": 1.0, "source_row": 0, **PART}
        for who in "xyz" for system in "abc" for label in ("fluent", "wrong", "length")
    ]  # fmt: skip
    found = dict.fromkeys(NOTEBOOKS, Results()) | {
        PERFORMANCE: collect(pd.DataFrame([row for one in rows for row in one]))
    }
    out = Evidence(study, conform(pd.DataFrame(judged), ANNOTATIONS), found, {})
    out.__dict__["populations"] = {("main", "all"): Population(others, 3, 3, 3.0, "" if others else "few")}
    return out


def verdicts(one):
    return list(one.rows["verdict"])


@pytest.mark.parametrize("others", [True, False])
def test_the_simultaneous_interval_decides(study, others):
    found = evidence(study, rows_of("fluent", UNDECIDED_, HIGHER, MISSING), others=others)
    (one,) = comparisons(found)
    assert verdicts(one) == [UNDECIDED, DIFFER, FEW]
    assert (one.people.others, one.place) == (others, 0)
    about = pairs.compared(found)[0].about
    whom = "other annotators like these" if others else "these annotators only"
    assert about.startswith(f"95% CI and p are for all pairs of systems on the label at once, for {whom}.")
    assert about.endswith("Too few data: no chain of judgements joins the two, or nothing varies.")


def test_without_a_margin_nothing_is_equivalent(study):
    (one,) = comparisons(evidence(study, rows_of("fluent", (-0.01, 0.01), (0.01, 0.02), (-0.02, -0.01))))
    assert verdicts(one) == [UNDECIDED, DIFFER, DIFFER]
    assert one.rows["margin"].isna().all()


@pytest.mark.parametrize(
    ("ends", "verdict", "not_worse", "said"),
    [
        ((-0.1, 0.2), ALIKE, "", "equivalent within ±0.3 points"),
        ((0.1, 0.2), SLIGHTLY, "", "Alpha <i> is better, by less than 0.3 points"),
        ((-0.2, -0.1), SLIGHTLY, "", "Beta is better, by less than 0.3 points"),
        ((0.1, 0.4), DIFFER, "", "Alpha <i> is better"),
        ((-0.2, 0.4), NOT_WORSE, "a", "open, but Alpha <i> is not worse by 0.3 points"),
        ((-0.4, 0.2), NOT_WORSE, "b", "open, but Beta is not worse by 0.3 points"),
        ((-0.4, 0.4), UNDECIDED, "", "cannot be distinguished"),
        ((-0.3, 0.3), UNDECIDED, "", "cannot be distinguished"),
        (MISSING, FEW, "", "too few data"),
    ],
)
def test_by_a_margin_of_the_study(tmp_path, ends, verdict, not_worse, said):
    path = tmp_path / "s.yaml"
    path.write_text(YAML + "margin: {dialogue_rating: {fluent: 0.3}}\n", encoding="utf-8")
    found = evidence(params.load(path), rows_of("fluent", ends, HIGHER, HIGHER))
    (one,) = comparisons(found)
    assert (verdicts(one)[0], one.rows["not_worse"].iloc[0]) == (verdict, not_worse)
    (shown,) = pairs.compared(found)
    assert next(row[8] for row in shown.rows if row[1:3] == ("Alpha <i>", "Beta")) == said
    assert "The margin is the one that the study states (`margin`)." in shown.about


def test_verdicts_follow_the_direction_of_the_label(study):
    rows = [rows_of(label, HIGHER, HIGHER, HIGHER) for label in ("fluent", "wrong", "length")]
    (one,) = pairs.compared(evidence(study, *rows))
    said = {row[0]: (row[3:6], row[8:]) for row in one.rows if row[1:3] == ("Alpha <i>", "Beta")}
    assert said["Fluent"] == (("0.50", "0.10", "0.90"), ("Alpha <i> is better", "points (scale 1 to 5)"))
    assert said["Wrong"] == (("50.0", "10.0", "90.0"), ("Beta is better", "percentage points"))
    assert said["Length"] == (("0.5", "0.1", "0.9"), ("Alpha <i> is higher", "points (scale 0 to 100)"))


def test_nothing_compared_no_finder(study):
    found = evidence(study, rows_of("fluent", UNDECIDED_, UNDECIDED_, UNDECIDED_))
    found.results[PERFORMANCE] = Results()
    assert pairs.compared(found) == []
