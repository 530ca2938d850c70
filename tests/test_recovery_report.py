"""What is said of a simulated study beside its truth, counted by hand."""

import pandas as pd
import pytest

from helpers.sections import Simulate
from helpers.simulation.truth import truth
from helpers.views import recovery

BASE = {"group": "sur_x", "method": "behavior", "label": "ignore", "system": "a", "system_b": "b"}


def test_intervals_of_correlations():
    labels = ["ignore", "redundant", "empathetic", "life_info"]
    true = {"quality": [{"method": "behavior", "label": label, "r": r}
                        for label, r in zip(labels, [-0.3, 0.0, 0.25, 0.0], strict=True)]}  # fmt: skip
    true["quality"].append({"method": "comparative", "label": "quality", "r": None})
    rows = pd.DataFrame({"method": "behavior", "label": labels, "statistic": "r", "ci_kind": "jackknife_t",
                         "condition": "target=dialogue_quality", "estimate": [-0.2, 0.02, -0.3, 0.2],
                         "ci_low": [-0.35, -0.1, -0.4, 0.1], "ci_high": [-0.1, 0.1, -0.1, 0.3]})  # fmt: skip
    others = [
        rows.assign(ci_kind="bca"),
        rows.assign(condition="target=comparative_quality"),
        rows.assign(statistic="r2"),
    ]
    text = recovery.of_importance(pd.concat([rows, *others]), true)
    assert "2 of 4 intervals of r with dialogue quality hold the true correlation (3.8 would at 95 %)" in text
    assert "Of 2 labels that are not related to quality, 1 have an interval that excludes 0" in text
    assert "of 2 with a true |r| of 0.2 or more, 1 do, with the right sign" in text  # the other has the wrong one
    assert recovery.of_importance(rows.iloc[:0], true) == ""


def test_systems_told_apart():
    effects = [BASE | {"label": label, "effect": d} for label, d in (("one", 0.0), ("two", 0.5), ("three", -0.1))]
    rows = pd.DataFrame([BASE | {"label": label, "statistic": "system_difference", "condition": f"test={test}",
                                 "estimate": 1.0, "p_value": p, "p_adjusted": q}
                         for label, test, p, q in (("one", "session;within=session", 0.04, 0.2),
                                                   ("one", "z", 0.01, 0.03), ("one", "welch", 0.01, 0.03),
                                                   ("two", "session", 0.01, 0.03),
                                                   ("three", "session", 0.01, 0.03))])  # fmt: skip
    # the same from the other side, and on a draw, which is left out
    turned = rows[rows["label"] == "two"].assign(system="b", system_b="a", estimate=-1.0, p_adjusted=0.5)
    drawn = rows.assign(condition="n_dialogues=3;sample=draw;test=session")
    text = recovery.of_sensitivity(pd.concat([rows, turned, drawn]), {"effects": effects})
    assert (
        "of 1 comparisons of equal systems the permutation test calls 1 different at .05 (0.1 would by chance)" in text
    )
    assert ", 0 after Holm's adjustment within the label; the published tests, on all dialogues, 1 of 1." in text
    assert "Of 2 ratings or marks of systems that truly differ by a d of 0.25 or more, it finds 2, 1 after" in text
    assert text.endswith("none of them with the wrong sign.")
    wrong = recovery.of_sensitivity(rows.assign(estimate=-1.0), {"effects": effects})
    assert wrong.endswith("1 of them with the wrong sign.")


def test_intervals_of_scores():
    means = [{**BASE, "mean": 0.4}, {**BASE, "method": "comparative", "win_share": 0.5, "ties": 0.2}]
    rows = pd.DataFrame([BASE | {"method": method, "statistic": s, "condition": c, "ci_low": low, "ci_high": high}
                         for method, s, c, low, high in (
                             ("behavior", "rate", "interval=dialogue", 0.3, 0.5),
                             ("behavior", "rate", "interval=independent", 0.3, 0.39),
                             ("behavior", "rate", "interval=picks", 0.0, 1.0),
                             ("comparative", "share", "interval=dialogue;outcome=win", 0.35, 0.45),
                             ("comparative", "share", "interval=dialogue;outcome=tie", 0.1, 0.2))])  # fmt: skip
    text = recovery.of_performance(rows, {"means": means}, {"behavior": "Behaviours"})
    assert "- Behaviours: 100 % over dialogues, 0 % as if independent (of 1 values)" in text
    assert "- comparative: 100 % over dialogues (of 1 values)" in text  # half of the 80 % that have a winner


def test_differences_between_groups():
    true = [{"method": "m", "label": label, "group": "a", "group_b": "b", "difference": d, "null": d == 0}
            for label, d in (("one", 0.0), ("two", 0.4), ("three", 0.2))]  # fmt: skip
    rows = pd.DataFrame([{"method": "m", "label": label, "group": "b", "group_b": "a", "p_value": p, "p_adjusted": q,
                          "statistic": "group_difference_test", "condition": "effect=d;exchange=judgement"}
                         for label, p, q in (("one", 0.04, 0.2), ("two", 0.01, 0.03),
                                              ("three", 0.3, 0.9))])  # fmt: skip
    people = rows.assign(condition="effect=d;exchange=annotator", p_value=0.001)
    text = recovery.of_groups(pd.concat([rows, people]), {"group_differences": true})
    assert "of 1 differences between groups that are none, 1 exceed the 95 % point of chance (0.1 would" in text
    assert "and 0 hold after Holm's adjustment; of 2 that are real (median 0.30), 1 exceed it and 1 hold." in text


@pytest.mark.parametrize("what", ["quality", "effects", "means", "group_differences"])
def test_the_truth_has_what_is_read(what):
    columns = {"quality": {"method", "label", "r"}, "effects": {*BASE, "effect"}, "means": {*BASE} - {"system_b"},
               "group_differences": {"group", "group_b", "difference", "null"}}  # fmt: skip
    assert columns[what] <= set(pd.DataFrame(truth(Simulate())[what]))
