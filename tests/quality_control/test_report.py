"""What notebook 10 says and shows, from rows made by hand."""

import pandas as pd
import pytest

from helpers.display.names import DisplayNames
from helpers.published.mapping import Entry
from helpers.quality_control import findings, tables
from helpers.quality_control.crowd import Crowd
from helpers.study.results import collect
from helpers.study.sections.analyses import QualityControl

NAMES = DisplayNames({}, {"system": {}, "method": {}, "group": {}})


def crowd(*corpora):
    scores = pd.DataFrame({"label": ["fun"], "method": ["continuous"]})
    workers = pd.DataFrame({"annotator": ["A1", "A2", "A2"], "passed": [True, False, False]})
    return Crowd(scores, workers, [], list(corpora), "qc", QualityControl(variant="persona"))


def r(workers, value, label="overall", among="systems", scores="z", interval="workers", **keys):
    head = {"statistic": "replication_r", "corpus": "two", "against": "one", "label": label, "n": 5}
    head |= {"standardised": "all" if scores == "z" else None, "estimate": value, "ci_low": value, "ci_high": value}
    return head | {"among": among, "interval": interval, "scores": scores, "workers": workers} | keys


def share(value):
    keys = {"against": "one", "scores": "z", "workers": "passed"}
    return {"statistic": "replication_share", "corpus": "two", "estimate": value, **keys}


def said(rows, *corpora):
    return [prose.text for prose in findings.findings(collect(rows), crowd(*corpora))]


@pytest.mark.parametrize(("value", "better"), [(0.4, False), (0.01, True)])
def test_the_headline_follows_the_random_sets(value, better):
    headline = said([share(value), r("passed", 0.9), r("all", 0.8)], "one", "two")[0]
    assert headline.startswith("**Quality control increases" if better else "**No gain in r")
    assert f"{100 * value:.0f}% of random sets" in headline
    assert "0.900 [0.900, 0.900]" in headline


def test_one_run_needs_a_second_and_an_undefined_share_is_no_verdict():
    assert "only one run" in said([], "one")[0]
    assert "not defined" in said([share(float("nan"))], "one", "two")[0]


def test_differences_are_told_in_standard_errors():
    rows = [
        {"statistic": s, "corpus": "one", "scores": scores, "workers": w, "estimate": v}
        for scores in ("z", "raw")
        for s, values in (("spread", (1.0, 1.2)), ("standard_error", (0.5, 0.2)))
        for w, v in zip(("all", "passed"), values, strict=True)
    ]
    text = said(rows, "one")[2]
    assert "6.0 with quality control and 2.0 without" in text
    assert said(rows[:-1], "one")[2] == ""


def test_contrasts_are_counted_by_sign_and_run():
    ends = {
        ("a_p", "one"): (0.1, 0.3),
        ("a_p", "two"): (0.2, 0.4),
        ("b_p", "one"): (-0.5, -0.1),
        ("b_p", "two"): (-0.2, 0.3),
    }
    rows = [
        {"statistic": "variant_contrast", "corpus": c, "system": s, "label": "overall", "scores": "z"}
        | {"workers": "passed", "ci_low": low, "ci_high": high, "estimate": (low + high) / 2}
        for (s, c), (low, high) in ends.items()
    ]
    text = findings.contrasts(collect(rows), crowd("one", "two")).text
    assert "1 and 1 of 2 systems in One; 1 and 0 of 2 systems in Two" in text
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
        head |= {"printed": printed, "entry": Entry(cells="*", study="s", notebook="n", row="system")}
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
