"""What notebook 10 says and shows, from rows made by hand."""

import pandas as pd

from judgebook.questions.quality_control import findings
from judgebook.questions.quality_control.crowd import Crowd
from judgebook.questions.quality_control.question import QualityControl
from judgebook.study.results import collect


def crowd(*corpora):
    scores = pd.DataFrame({"label": ["fun"], "method": ["continuous"]})
    workers = pd.DataFrame({"annotator": ["A1", "A2", "A2"], "passed": [True, False, False]})
    return Crowd(scores, workers, [], list(corpora), "qc", QualityControl(variant="persona"))


def r(workers, value, corpus="two"):
    keys = {"among": "systems", "interval": "workers", "scores": "z", "standardised": "all", "label": "overall mean"}
    head = {"statistic": "replication_r", "corpus": corpus, "against": "one", "n": 5, "workers": workers}
    return head | keys | {"estimate": value, "ci_low": value, "ci_high": value}


def share(value, adjusted=None, corpus="two", against="one", scores="z"):
    keys = {"against": against, "scores": scores, "workers": "passed"}
    p = value if adjusted is None else adjusted
    return {"statistic": "replication_share", "corpus": corpus, "estimate": value, "p_adjusted": p, **keys}


def gain(low, high, corpus="two", against="one"):
    row = {"statistic": "replication_gain", "corpus": corpus, "against": against, "scores": "z"}
    return row | {"estimate": (low + high) / 2, "ci_low": low, "ci_high": high}


def said(rows, *corpora):
    return [prose.text for prose in findings.findings(collect(rows), crowd(*corpora))]


def test_the_headline_rests_on_adjusted_p_values():
    """Small on its own, not among all pairs of runs and kinds of scores; a gain on raw scores is told as well."""
    rows = [share(0.02, 0.12), share(0.3, 0.6, "three"), share(0.4, 0.6, "three", "two")]
    rows += [share(0.001, 0.006, "three", "two", "raw")]
    rows += [r(workers, 0.9, corpus=corpus) for corpus in ("two", "three") for workers in ("passed", "all")]
    headline, gains, *_ = said([*rows, gain(0.1, 0.3), gain(-0.2, 0.1, "three")], "one", "two", "three")
    assert "replicated in both other runs, without a measurable gain from quality control.**" in headline
    assert "in any of 3 comparisons between runs. On raw scores, they do so in 1 of 1: Two and Three (p =" in gains
    assert "adjusted for 4 tests (Holm)" in gains
    assert "1 CI of 2 excludes 0" in gains


def test_one_run_needs_a_second_an_undefined_share_is_no_verdict_and_a_small_one_is():
    assert "only one run" in said([], "one")[0]
    assert "not defined" in said([share(float("nan"))], "one", "two")[0]
    rows = [share(0.01), gain(-0.1, 0.3), r("passed", 0.9), r("all", 0.8)]
    assert "better than those of as many random workers" in said(rows, "one", "two")[0]
