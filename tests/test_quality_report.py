"""What notebook 10 says and shows, from rows made by hand."""

import pandas as pd

from helpers import quality_report, quality_tables


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
