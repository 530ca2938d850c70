"""Whose judgements results are about."""

import pandas as pd
import pytest

from judgebook.annotations.population import FEW, FIXED, UNKNOWN, declared, populations


def judged(loads, *, systems="ab", known=True, kind="human", **columns):
    """loads : annotator -> judgements, of systems in turn."""
    rows = [
        {"corpus": "main", "group": "all", "annotator": who, "annotator_known": known, "annotator_kind": kind,
         "system": systems[i % len(systems)], "system_b": None} | columns
        for who, n in loads.items() for i in range(n)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def one(frame, wanted="auto"):
    return populations(frame, wanted)["main", "all"]


@pytest.mark.parametrize(
    ("loads", "effective", "others"),
    [
        ({x: 20 for x in "ABCDE"}, 5.0, True),
        ({x: 20 for x in "ABCD"}, 4.0, False),
        # Kish: 120 squared over 40 squared and four times 20 squared
        ({"A": 40} | {x: 20 for x in "BCDE"}, 4.5, False),
        ({"A": 22} | {x: 20 for x in "BCDE"}, 4.992, True),
        ({"A": 800} | {f"B{i}": 20 for i in range(20)}, 2.2222, False),
    ],
)
def test_annotators_are_a_sample_from_five_effective_ones(loads, effective, others):
    found = one(judged(loads))
    assert found.effective == pytest.approx(effective, abs=1e-3)
    assert (found.others, found.why) == (others, "" if others else FEW)
    assert found.n == found.several == len(loads)


@pytest.mark.parametrize(
    ("loads", "largest", "dominated"),
    [
        ({x: 20 for x in "ABCDE"}, 0.2, False),
        ({"A": 40, "B": 20}, 2 / 3, False),
        ({"A": 42, "B": 20}, 42 / 62, True),
        ({"A": 78} | {f"B{i}": 2 for i in range(11)}, 0.78, True),
        ({"A": 20}, 1.0, False),  # a study of one person is said to be one
    ],
)
def test_results_are_one_annotators_who_did_twice_the_work_of_all_others(loads, largest, dominated):
    found = one(judged(loads))
    assert (found.largest, found.dominated) == (pytest.approx(largest), dominated)
    assert not one(judged(loads, known=False)).dominated


def test_only_annotators_of_several_systems_count():
    """Six people, of whom three judged A only and three B only: nothing separates people from systems."""
    apart = pd.concat([judged({x: 20 for x in "ABC"}, systems="a"), judged({x: 20 for x in "DEF"}, systems="b")])
    assert (one(apart).n, one(apart).several, one(apart).why) == (6, 0, FEW)
    both = judged({x: 20 for x in "ABCDE"}, systems="a", system_b="b")
    assert one(both).others  # each comparison is of two systems


def test_what_a_study_declares_is_followed_as_far_as_the_data_allow():
    five, two = judged({x: 20 for x in "ABCDE"}), judged({x: 20 for x in "AB"})
    assert (one(five, "fixed").others, one(five, "fixed").why) == (False, FIXED)
    assert one(two, "sample").others
    assert not one(judged({"A": 20}), "sample").others
    hidden = one(judged({x: 20 for x in "ABCDE"}, known=False), "sample")
    assert (hidden.others, hidden.n, hidden.why) == (False, None, UNKNOWN)
    assert one(judged({x: 20 for x in "ABCDE"}, kind="llm")).why == FIXED


def test_annotators_who_are_no_sample_are_as_good_as_unknown():
    few, many = judged({x: 20 for x in "AB"}), judged({x: 20 for x in "CDEFG"}, group="many")
    frame = pd.concat([few, many], ignore_index=True)
    known = declared(frame, populations(frame))["annotator_known"]
    assert not known[frame["group"] == "all"].any()
    assert known[frame["group"] == "many"].all()
