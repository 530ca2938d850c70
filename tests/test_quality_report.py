"""What notebook 10 says and shows, from rows made by hand."""

import pandas as pd

from helpers import look
from helpers.views import quality_report, quality_tables


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


def test_r_by_label_is_that_of_fisher_rows_by_the_rule():
    def r(label, workers, value, scores="z", interval="fisher", among="systems", **keys):
        where = {"against": "one", "among": among, "interval": interval, "scores": scores, "workers": workers} | keys
        condition = ";".join(f"{k}={v}" for k, v in sorted(where.items()))
        head = {"statistic": "replication_r", "corpus": "two", "label": label}
        return head | {"condition": condition, "estimate": value}

    made = rows(
        r("fun", "passed", 0.5, standardised="all"),
        r("fun", "passed", 0.1, standardised="last"),
        r("fun", "passed", 0.2, list="fitted", standardised="all"),
        r("fun", "passed", 0.3, interval="workers", standardised="all"),
        r("fun", "passed", 0.4, among="variants", standardised="all"),
        r("overall", "passed", 0.9, standardised="all"),
        r("overall", "all", 0.8, standardised="all"),
        r("overall", "failed", 0.7, scores="raw"),
    )
    names = look.Look({}, {"system": {"a": "Bot *A*", "b": "b"}})
    found = quality_tables.label_table(made, "two", names, "continuous")
    assert found["Label"].tolist() == ["Overall", "fun"]
    assert found["z, passed"].tolist() == [0.9, 0.5]
    assert found.loc[0, ["z, everybody", "Raw, failed"]].tolist() == [0.8, 0.7]
    assert quality_report.ids(names, ["a", "b"]) == "In figures: a is Bot \\*A\\*."
    assert quality_report.ids(names, ["b"]) == ""


def test_cells_that_differ_are_told_by_place_and_reason():
    def cell(element, row, column, printed, here, verdict, note="", decimals=0):
        head = {"element": element, "panel": "p", "row": row, "column": column, "printed": printed}
        return head | {"here": here, "decimals": decimals, "verdict": verdict, "note": note}

    cells = pd.DataFrame(
        [
            cell("Table 1", "a", "n", "5", 6.0, "differs", "Other order."),
            cell("Table 1", "b", "n", "6", 5.5, "differs", "Other order."),
            cell("Table 1", "c", "n", "6", 6.0, "match"),
            cell("Table 2", "a", "r", "0.50", 0.614, "differs", "Another list.", 2),
            cell("Text 4", "identical_conclusions", "p_0_1", "84", 84.44, "match"),
            cell("Text 4", "identical_conclusions", "p_0_05", "82", 84.44, "match_fitted"),
        ]
    )
    found = quality_tables.differing(cells)
    assert found["Printed (here)"].tolist() == ["a, n: 5 (6); b, n: 6 (5.5)", "a, r: 0.50 (0.614)"]
    assert found["Why"].tolist() == ["Other order.", "Another list."]
    assert quality_report.conclusions_in_print(cells) == (
        "Of the printed shares of identical conclusions, 84 % at p < 0.1 comes out (84.4 %) and 82 % at p < 0.05 does"
        " not come out (84.4 %)."
    )
    assert quality_report.conclusions_in_print(cells.iloc[:4]) == ""
