"""What notebook 10 says and shows, from rows made by hand."""

from dataclasses import replace

import pandas as pd
import pytest

from judgebook.display.names import DisplayNames
from judgebook.published.mapping import MappingEntry
from judgebook.questions.quality_control import effect_views, findings, tables
from judgebook.questions.quality_control.crowd import Crowd
from judgebook.questions.quality_control.question import QualityControl
from judgebook.study.results import collect

NAMES = DisplayNames({}, {"system": {}, "method": {}, "group": {}})


def crowd(*corpora):
    scores = pd.DataFrame({"label": ["fun"], "method": ["continuous"]})
    workers = pd.DataFrame({"annotator": ["A1", "A2", "A2"], "passed": [True, False, False]})
    return Crowd(scores, workers, [], list(corpora), "qc", QualityControl(variant="persona"))


def r(workers, value, label="overall mean", among="systems", scores="z", interval="workers", **keys):
    head = {"statistic": "replication_r", "corpus": "two", "against": "one", "label": label, "n": 5}
    head |= {"standardised": "all" if scores == "z" else None, "estimate": value, "ci_low": value, "ci_high": value}
    return head | {"among": among, "interval": interval, "scores": scores, "workers": workers} | keys


def share(value, adjusted=None, corpus="two", against="one", scores="z"):
    keys = {"against": against, "scores": scores, "workers": "passed"}
    p = value if adjusted is None else adjusted
    return {"statistic": "replication_share", "corpus": corpus, "estimate": value, "p_adjusted": p, **keys}


def gain(low, high, corpus="two", against="one"):
    row = {"statistic": "replication_gain", "corpus": corpus, "against": against, "scores": "z"}
    return row | {"estimate": (low + high) / 2, "ci_low": low, "ci_high": high}


def said(rows, *corpora):
    return [prose.text for prose in findings.findings(collect(rows), crowd(*corpora))]


@pytest.mark.parametrize(("value", "better"), [(0.4, False), (0.01, True)])
def test_the_headline_follows_the_random_sets(value, better):
    headline, gains, correlations, *_ = said(
        [share(value), gain(-0.1, 0.3), r("passed", 0.9), r("all", 0.8)], "one", "two"
    )
    verdict = "better than those of as many random workers" if better else "without a measurable gain"
    assert f"**System means are replicated in the other run, {verdict}" in headline
    assert "correlate with those of One at r = 0.900 (without quality control: 0.800)" in headline
    assert f"in {1 if better else 'any'} of 1 comparison between runs (p = {value:.3f})" in gains
    assert "r changes by 0.100; every CI includes 0." in gains
    assert "Two: r = 0.900 [0.900, 0.900] among workers who passed, 0.800" in correlations


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


def test_one_run_needs_a_second_and_an_undefined_share_is_no_verdict():
    assert "only one run" in said([], "one")[0]
    assert "not defined" in said([share(float("nan"))], "one", "two")[0]


def test_changes_are_those_of_the_best_system_and_of_the_mean_beside_the_printed_ones():
    def change(label, low, high, system=None, scores="raw"):
        row = {"statistic": "run_change", "corpus": "two", "against": "one", "label": label, "system": system}
        row |= {"scores": scores, "workers": "passed", "estimate": (low + high) / 2, "ci_low": low, "ci_high": high}
        return row

    people = crowd("one", "two")
    rated = [people.scores.assign(corpus=c, system=s) for c in ("one", "two") for s in "ab"]
    people = replace(people, scores=pd.concat(rated), systems=["a", "b"])
    mean = {"statistic": "mean_raw", "corpus": "one", "label": "overall mean", "workers": "passed"}
    rows = [mean | {"system": s, "estimate": v} for s, v in (("a", 60.0), ("b", 50.0))]
    rows += [change(*of, s) for s in (None, "a", "b") for of in (("fun", 1.0, 3.0), ("overall mean", -1.0, 2.0))]
    results = collect([*rows, change("fun", -9.0, 1.0, "a", "z")])
    text = findings.changes(results, NAMES, people).text
    assert "- Two: fun 2.0 [1.0, 3.0] on average; fun 2.0 [1.0, 3.0] for a" in text
    assert "CIs reach" not in text  # all that are told differ from 0
    text = findings.changes(collect([*rows, change("topic", -4.5, 2.0)]), NAMES, people).text
    assert text.endswith("show that it is 0: CIs reach up to 4.5 points from it.")
    entry, told = MappingEntry(cells="*", study="s", notebook="n", row="system"), {"column": "fun"}
    printed = pd.DataFrame(
        told | {"row": s, "value": v, "entry": entry.model_copy(update={"where": mean | {"corpus": c}})}
        for c, s, v in (("one", "a", 50.0), ("two", "a", 52.5), ("one", "b", 40.0), ("two", "b", 40.5))
    )
    table = effect_views.changes(results, NAMES, people, printed).frame
    assert table["Of"].tolist() == ["Mean of systems"] * 2 + ["a"] * 2
    assert table["Label"].tolist() == ["Overall", "fun"] * 2
    assert table["Raw, printed"].fillna(-1).tolist() == [-1, 1.5, -1, 2.5]
    assert table["Standardised"].notna().tolist() == [False, False, False, True]


def test_differences_are_told_in_standard_errors():
    rows = [
        {"statistic": s, "corpus": "one", "scores": scores, "workers": w, "estimate": v}
        for scores in ("z", "raw")
        for s, values in (("spread", (1.0, 1.2)), ("standard_error", (0.5, 0.2)))
        for w, v in zip(("all", "passed"), values, strict=True)
    ]
    table = tables.signal(collect(rows), crowd("one")).frame
    assert table["Scores"].tolist() == ["Standardised", "Raw"]
    assert table["With quality control"].tolist() == pytest.approx([6, 6])
    assert table["Without"].tolist() == pytest.approx([2, 2])
    assert len(tables.signal(collect(rows[:-1]), crowd("one")).frame) == 1
    assert tables.signal(collect([]), crowd("one")) is None
