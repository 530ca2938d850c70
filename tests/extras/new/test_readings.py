"""Item, system and annotator are found by what determines what; names are a hint."""

import itertools
import random

import pandas as pd
import pytest

from judgebook.extras.new import readings

ROLES = {"item": "prompt_id", "system": "model", "annotator": "rater"}


def drawn(seed, *, crossed=True, texts=True, whole=True, by_condition=False, order=False):
    """A table of judgements: 12 prompts, 3 systems, 5 people. crossed : whether each person judged all systems of a
    prompt, else one. whole : whether everybody judged every prompt."""
    pick = random.Random(seed)
    quality = {"alpha": 4, "beta": 3, "gamma": 2}
    rows = []
    for (i, item), (p, person) in itertools.product(enumerate(f"q{i:02}" for i in range(12)), enumerate("vwxyz")):
        if not whole and pick.random() < 0.4:
            continue
        shown = list(quality) if crossed else [list(quality)[(i + p) % 3]]
        for place, system in enumerate(pick.sample(shown, len(shown)), start=1):
            score = max(1, min(5, quality[system] + pick.choice((-1, 0, 0, 1))))
            row = {"prompt_id": item, "model": system, "rater": f"person {person}", "fluency": str(score)}
            row |= {"reply": f"what {system} says of it, number {i}"} if texts else {}
            row |= {"age": str(20 + 3 * p)} if by_condition else {}
            rows.append(row | ({"shown_at": str(place)} if order else {}))
    return pd.DataFrame(rows, dtype="str")


def best(cells, fixed=None):
    table = readings.Table(cells)
    found = readings.read(table, fixed or {}, list(table.code))
    return table, found


DESIGNS = [
    {"crossed": True},
    {"crossed": True, "whole": False},
    {"crossed": True, "order": True, "by_condition": True},
    {"crossed": False},
    {"crossed": False, "texts": False},
    {"crossed": True, "texts": False, "whole": False},
]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_with_names_the_reading_is_right(design):
    for seed in range(3):
        _, found = best(drawn(seed, **design))
        assert (found[0].item, found[0].system, found[0].annotator) == (("prompt_id",), "model", "rater")


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_without_names_it_is_right_or_offered(design):
    """Item and annotator of a crossed design without texts are alike but for their number."""
    cells = drawn(0, **design)
    renamed = cells.rename(columns={c: f"c{i}" for i, c in enumerate(cells)})
    truth = tuple(renamed.columns[list(cells).index(c)] for c in ROLES.values())
    _, found = best(renamed)
    offered = [r for r in found if r.score > found[0].score - readings.CLOSE]
    assert truth in [(*r.item, r.system, r.annotator) for r in offered]


def test_names_give_points_and_no_veto():
    """A column called after a place in a list that names the systems is found all the same."""
    cells = drawn(1).rename(columns={"model": "condition"})
    _, found = best(cells)
    assert found[0].system == "condition"


def test_sentences_are_no_people():
    rows = [
        {
            "doc": f"d{d}",
            "model": m,
            "sent_idx": str(k),
            "sentence": f"words {d} of {m} at {k}",
            "label": str((d + k) % 2),
        }
        for d in range(8)
        for m in ("a", "b")
        for k in range(1, 3 + d % 3)
    ]
    _, found = best(pd.DataFrame(rows, dtype="str"))
    assert found[0].annotator is None
    assert set(found[0].item) == {"doc", "sent_idx"}


def test_what_was_assigned_is_told_from_answers():
    cells = drawn(2, crossed=False)
    table = readings.Table(cells.assign(answer=cells["fluency"]))
    assert table.assigned("model", "prompt_id") or table.assigned("model", "rater")
    assert not table.assigned("fluency", "prompt_id")
    assert not table.assigned("fluency", "rater")


def test_shares_of_the_most_frequent_value():
    cells = pd.DataFrame({"a": list("xxyyz"), "b": list("ppqrs")}, dtype="str")
    table = readings.Table(cells)
    assert table.same("b", ["a"]) == 0.75  # of the four rows in units of several
    assert table.same("a", ["b"]) == 1.0
    assert table.repeated(["a"]) == pytest.approx(0.4)
    assert table.each("b", ["a"]) == pytest.approx(4 / 3)
    assert table.n_units(["a", "b"]) == 4


def test_rows_that_are_numbered_within_a_unit():
    cells = pd.DataFrame({"a": list("xxxyy"), "k": list("12312"), "n": list("13312")}, dtype="str")
    table = readings.Table(cells)
    assert table.numbered("k", ["a"])
    assert not table.numbered("n", ["a"])


def test_readings_that_divide_the_rows_alike_are_one():
    cells = drawn(3).assign(question=lambda x: "text of " + x["prompt_id"])
    table, found = best(cells)
    other = readings.Reading(("question",), "model", "rater", 0.0)
    assert table.alike(found[0], other)
    assert not table.alike(found[0], readings.Reading(("rater",), "model", "prompt_id", 0.0))


def test_a_column_that_tells_rows_of_a_person_and_item_apart_names_the_label():
    cells = drawn(4)[["prompt_id", "model", "rater", "fluency"]]
    long = pd.concat([cells.assign(what=w) for w in ("fluent", "useful")], ignore_index=True)
    _, found = best(long.rename(columns={"fluency": "given"}))
    assert found[0].label == "what"
