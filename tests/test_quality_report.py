"""What notebook 10 says and shows, from rows made by hand; printed cells beside results."""

import pandas as pd
import pytest

from helpers import printed_cells, quality_report, quality_tables
from helpers.params import PrintedCells


def rows(*made):
    frame = pd.DataFrame(made)
    for column in ("corpus", "label", "system"):
        frame[column] = frame.get(column)
    return quality_tables.unfold(frame)


def widths(corpus, spread, error, scores="z"):
    return [
        {"statistic": s, "corpus": corpus, "condition": f"scores={scores};workers={w}", "estimate": v}
        for s, values in (("spread", spread), ("standard_error", error))
        for w, v in zip(("all", "passed"), values, strict=True)
    ]


def share(value):
    where = "against=one;scores=z;workers=passed"
    return {"statistic": "replication_share", "corpus": "two", "condition": where, "estimate": value}


def test_rows_are_found_by_the_keys_of_their_condition():
    found = rows(*widths("one", (1.0, 2.0), (0.5, 0.5)))
    assert quality_tables.one(found, statistic="spread", workers="passed")["estimate"] == 2
    assert quality_tables.one(found, statistic="spread", workers="failed") is None
    assert quality_tables.one(found, statistic="spread", workers="all", list=None)["estimate"] == 1
    assert quality_tables.one(found, statistic="spread", list="fitted") is None


def test_the_answer_follows_the_results():
    same = quality_report.answer(rows(share(0.4), *widths("one", (1.0, 1.2), (0.5, 0.6))), ["one", "two"])
    assert "does not make standardised results measurably more repeatable" in same
    assert "as many standard errors wide as before (+0 %)" in same
    helps = quality_report.answer(rows(share(0.01), *widths("one", (1.0, 2.0), (0.5, 0.5))), ["one", "two"])
    assert helps.startswith("In 1 of 1 comparisons of runs, standardised results of chosen workers repeat better")
    assert "are wider in standard errors (+100 %)" in helps
    harms = quality_report.answer(rows(*widths("one", (1.0, 1.0), (0.5, 1.0))), ["one"])
    assert harms == "Differences between systems on standardised scores are narrower in standard errors (−50 %)."
    assert quality_report.answer(rows(share(float("nan"))), ["one", "two"]) == (
        "The data are too few to say what quality control buys."
    )


def test_one_run_says_that_a_second_is_needed():
    assert "a second run with other workers is needed" in quality_report.repeats(rows(share(0.1)), ["one"], "x")[0]


def test_contrasts_are_counted_by_sign_and_run():
    ends = {
        ("a_p", "one"): (0.1, 0.3),
        ("a_p", "two"): (0.2, 0.4),
        ("b_p", "one"): (-0.5, -0.1),
        ("b_p", "two"): (-0.2, 0.3),
    }
    made = [
        {
            "statistic": "variant_contrast",
            "corpus": c,
            "system": s,
            "label": "overall",
            "condition": "scores=z;workers=passed",
        }
        | {"ci_low": low, "ci_high": high, "estimate": (low + high) / 2}
        for (s, c), (low, high) in ends.items()
    ]
    said = quality_report.contrasts(rows(*made), "persona")
    assert "1 better and 1 worse of 2 in one; 1 better and 0 worse of 2 in two" in said
    assert said.endswith("Of 2 differences found in any run, 1 are found in every run.")


PRINTED = pd.DataFrame(
    [
        ("T", "p", "x", "m", 12.0, 0),
        ("T", "p", "y", "m", 40.0, 0),
        ("T", "p", "z", "m", 1.0, 0),
        ("T", "p", "x", "n", 5.0, 0),
    ],
    columns=["element", "panel", "row", "column", "value", "decimals"],
)
RESULTS = pd.DataFrame(
    [
        ("s", "x", "mean", "k=1", 0.124),
        ("s", "why", "mean", "k=1", 0.2),
        ("s", "why", "mean", "k=1;list=f", 0.4),
        ("s", "x", "mean", "k=1;list=f", 0.9),
        ("n", "x", None, "", 5.0),
    ],
    columns=["statistic", "system", "label", "condition", "estimate"],
)


def spec(**change):
    return PrintedCells(**{"element": "T", "where": {"statistic": "s"}, "keys": {"k": 1.0}, "row": "system"} | change)


def test_printed_cells_by_rule_fitted_differing_and_absent():
    """x is right by rule, y only with the fitted list, z has no result; `names` and `scale` turn one into the other."""
    shared = {"column": "label", "names": {"y": "why", "m": "mean"}, "scale": 100.0, "keys": {"k": "1"}, "only": ["m"]}
    specs = [
        spec(**shared),
        spec(**shared | {"keys": {"k": "1", "list": "f"}, "fitted": True, "note": "found by search"}),
    ]
    specs.append(spec(where={"statistic": "n"}, keys={}, only=["n"]))
    found = printed_cells.beside(RESULTS, PRINTED, specs)
    assert found["verdict"].tolist() == ["match", "match_fitted", "needs_data", "match"]
    assert found["here"].tolist()[:2] == pytest.approx([12.4, 20])
    tally = printed_cells.tally(found).iloc[0]
    assert tally[["match", "match_fitted", "needs_data", "cells"]].tolist() == [2, 1, 1, 4]
    moved = PRINTED.assign(value=PRINTED["value"] + 1)
    assert printed_cells.beside(RESULTS, moved, specs)["verdict"].tolist() == [
        "differs",
        "differs",
        "needs_data",
        "differs",
    ]


def test_a_key_of_the_condition_can_be_a_side_of_the_table():
    printed = PRINTED.assign(column=["1", "1", "1", "2"])
    found = printed_cells.reproduced(RESULTS, printed, spec(keys={}, row="system", column="k", where={"label": "mean"}))
    assert found.tolist()[0] == pytest.approx(0.124)
    assert found.isna().tolist() == [False, True, True, True]
