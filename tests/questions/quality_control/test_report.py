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
    compared = (
        "replicate better than those of equally many random workers in 1" if better else "do not replicate better"
    )
    assert compared in gains
    assert f"in {1 if better else 'any'} of 1 comparison between runs (p = {value:.3f})" in gains
    assert "r changes by 0.100; every CI includes 0." in gains
    assert "Two: r = 0.900 [0.900, 0.900] among workers who passed, 0.800" in correlations


def test_the_headline_rests_on_adjusted_p_values():
    """Small on its own, not among all pairs of runs and kinds of scores; a gain on raw scores is told as well."""
    rows = [
        share(0.02, 0.12),
        share(0.3, 0.6, "three"),
        share(0.4, 0.6, "three", "two"),
        share(0.001, 0.006, "three", "two", "raw"),
    ]
    rows += [r(workers, 0.9, corpus=corpus) for corpus in ("two", "three") for workers in ("passed", "all")]
    headline, gains, *_ = said([*rows, gain(0.1, 0.3), gain(-0.2, 0.1, "three")], "one", "two", "three")
    assert "replicated in both other runs, without a measurable gain from quality control.**" in headline
    assert "in any of 3 comparisons between runs. On raw scores, they do so in 1 of 1: Two and Three (p =" in gains
    assert "adjusted for 4 tests (Holm)" in gains
    assert "1 CI of 2 excludes 0" in gains


def test_one_run_needs_a_second_and_an_undefined_share_is_no_verdict():
    assert "only one run" in said([], "one")[0]
    assert "not defined" in said([share(float("nan"))], "one", "two")[0]


def effect(label, low, high, over="families and runs", interval="workers", **keys):
    row = {"statistic": "variant_effect", "label": label, "over": over, "interval": interval, "scores": "z"}
    return row | {"workers": "passed", "estimate": (low + high) / 2, "ci_low": low, "ci_high": high} | keys


def test_a_pooled_effect_is_told_by_label_where_its_interval_excludes_0():
    rows = [effect("overall mean", -0.3, -0.1), effect("fun", -0.5, -0.3, p_value=0.001), effect("dull", -0.1, 0.2)]
    rows = [row | {"n": 6} for row in rows]
    rows += [
        effect("overall mean", -0.6, 0.2, interval="families"),
        effect("fun", 0.1, 0.3, over="families", corpus="one"),
    ]
    rows += [effect("overall mean", -0.2, 0.1, over="families", corpus="one", n=3)]
    people = crowd("one", "two")
    text = findings.effects(collect(rows), NAMES, people).text
    assert text.startswith(
        "**Systems with persona differ by −0.20 [−0.30, −0.10] standard deviations from those without**"
    )
    assert "averaged over 3 architectures and 2 runs" in text
    assert "architectures and 2 runs, the effect of persona is −0.20" in said(rows, "one", "two")[-1]
    assert "for other architectures, it is −0.20 [−0.60, 0.20]" in text
    assert "They score lower on fun (−0.40 [−0.50, −0.30])." in text
    assert "Higher" not in text
    assert "On the other 1 label, it cannot be distinguished from 0." in text
    assert findings.effects(collect([]), NAMES, people).text == ""


def test_changes_are_those_of_the_best_system_and_of_the_mean_beside_the_printed_ones():
    def change(label, low, high, system=None, scores="raw"):
        row = {"statistic": "run_change", "corpus": "two", "against": "one", "label": label, "system": system}
        row |= {"scores": scores, "workers": "passed", "estimate": (low + high) / 2, "ci_low": low, "ci_high": high}
        return row

    people = crowd("one", "two")
    rated = [people.scores.assign(corpus=c, system=s) for c in ("one", "two") for s in "ab"]
    people = replace(people, scores=pd.concat(rated), systems=["a", "b"])
    means = [
        {
            "statistic": "mean_raw",
            "corpus": "one",
            "system": s,
            "label": "overall mean",
            "workers": "passed",
            "estimate": v,
        }
        for s, v in (("a", 60.0), ("b", 50.0))
    ]
    rows = [
        change(x, *ends, s)
        for s in (None, "a", "b")
        for x, ends in (("fun", (1.0, 3.0)), ("overall mean", (-1.0, 2.0)))
    ]
    rows += [change("fun", -9.0, 1.0, "a", "z")]
    results = collect([*rows, *means])
    text = findings.changes(results, NAMES, people).text
    assert "from One that differ from 0 (1 label tested at once)" in text
    assert "- Two: fun 2.0 [1.0, 3.0] on average; fun 2.0 [1.0, 3.0] for a" in text
    assert "CIs reach" not in text  # all that are told differ from 0
    wide = collect([*rows, change("topic", -4.5, 2.0), *means])
    text = findings.changes(wide, NAMES, people).text
    assert text.endswith("show that it is 0: CIs reach up to 4.5 points from it.")
    entry = MappingEntry(cells="*", study="s", notebook="n", row="system")
    printed = pd.DataFrame(
        [
            {
                "row": s,
                "column": "fun",
                "value": v,
                "entry": entry.model_copy(update={"where": {"statistic": "mean_raw", "corpus": c}}),
            }
            for c, s, v in (("one", "a", 50.0), ("two", "a", 52.5), ("one", "b", 40.0), ("two", "b", 40.5))
        ]
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


def test_contrasts_are_counted_by_sign_and_run():
    ends = {
        ("a_p", "one"): (0.1, 0.3),
        ("a_p", "two"): (0.2, 0.4),
        ("b_p", "one"): (-0.5, -0.1),
        ("b_p", "two"): (-0.2, 0.3),
    }
    rows = [
        {"statistic": "variant_contrast", "corpus": c, "system": s, "label": "overall mean", "scores": "z"}
        | {"workers": "passed", "ci_low": low, "ci_high": high, "estimate": (low + high) / 2}
        for (s, c), (low, high) in ends.items()
    ]
    text = findings.contrasts(collect(rows), crowd("one", "two")).text
    assert "- One: of 2, 1 is better and 1 is worse\n- Two: of 2, 1 is better and none is worse" in text
    assert "Of 2 systems" in text
    assert "1 has it in every run" in text
    assert findings.contrasts(collect([]), crowd("one")).text == ""


def test_r_by_label_is_that_of_fisher_rows_by_the_rule():
    rows = [
        r("passed", 0.5, "fun", interval="fisher"),
        r("passed", 0.1, "fun", interval="fisher", standardised="last"),
        r("passed", 0.2, "fun", interval="fisher", list="fitted"),
        r("passed", 0.3, "fun"),
        r("passed", 0.4, "fun", among="variants", interval="fisher"),
        r("passed", 0.9, interval="fisher"),
        r("all", 0.8, interval="fisher"),
        r("failed", 0.7, scores="raw", interval="fisher"),
    ]
    found = next(tables.labels(collect(rows), NAMES, crowd("one", "two"))).frame
    assert found["Label"].tolist() == ["Overall", "fun"]
    assert found["Standardised, passed"].tolist() == [0.9, 0.5]
    assert found.loc[0, ["Standardised, no quality control", "Raw, failed"]].tolist() == [0.8, 0.7]


def test_cells_that_differ_are_told_by_place_and_reason():
    def cell(element, row, column, printed, here, verdict, note="", decimals=0):
        head = {"paper": "ji2022", "element": element, "panel": "free_run_1", "row": row, "column": column}
        head |= {"printed": printed, "entry": MappingEntry(cells="*", study="s", notebook="n", row="system")}
        return head | {"here": here, "decimals": decimals, "verdict": verdict, "note": note}

    cells = pd.DataFrame(
        [
            cell("Table 1", "a", "n", "5", 6.0, "differs", "Other order."),
            cell("Table 1", "b", "n", "6", 5.5, "differs", "Other order."),
            cell("Table 1", "c", "n", "6", 6.0, "match"),
            cell("Table 2", "a", "r", "0.50", 0.614, "differs", "Another list.", 2),
        ]
    )
    counts, differ = (table.frame for table in tables.printed(cells, NAMES))
    assert counts["All"].tolist() == [3, 1]
    assert differ["Printed (here)"].tolist() == [
        "A Bi-Encoder, n: 5 (6); B Poly-Encoder, n: 6 (5.5)",
        "A Bi-Encoder, R: 0.50 (0.614)",
    ]
    assert differ["Place"].tolist() == ["Table 1, First run", "Table 2, First run"]
    assert differ["Why"].tolist() == ["Other order.", "Another list."]
    assert len(list(tables.printed(cells.iloc[2:3], NAMES))) == 2
