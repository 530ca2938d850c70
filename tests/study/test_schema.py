"""Frames, conditions, result rows, and validation that reports every problem with its place."""

import pandas as pd
import pytest

from judgebook.study import schema
from judgebook.study.labels import Label
from judgebook.study.schema import DataError, Problem

LABELS = [
    Label("quality", "dialogue_rating", "Quality", (1, 5)),
    Label("ignore", "behavior", "Ignore", (0, 1)),
    Label("better", "comparative", "Better", (-1, 1)),
    Label("slider", "continuous", "Slider", (0, 100), integer=False),
]
COMPARED = {"method": "comparative", "label": "better", "score": 1}


def annotations(*rows):
    """Annotations from what differs from: A0001 rates dialogue d1 of system A with quality 3."""
    usual = {"corpus": "main", "group": "all", "system": "A", "dialogue": "d1", "annotator": "A0001"}
    usual |= {"annotator_known": True, "annotator_kind": "human"}
    usual |= {"method": "dialogue_rating", "label": "quality", "score": 3.0}
    frame = pd.DataFrame([{**usual, **row, "source_row": i} for i, row in enumerate(rows)])
    return schema.conform(frame, schema.ANNOTATIONS, study="s")


def problems(*rows):
    return schema.validate(annotations(*rows), LABELS)


def test_sound_annotations_have_no_problems():
    assert not problems(
        {},
        {"annotator": "A0002"},
        {"method": "behavior", "label": "ignore", "score": 1, "turn": 0},
        {"method": "behavior", "label": "ignore", "score": 1, "turn": 1},
        COMPARED | {"dialogue_b": "d2", "system_b": "B"},
        {"method": "continuous", "label": "slider", "score": 12.5},
    )


@pytest.mark.parametrize(
    ("row", "column", "expected", "found"),
    [
        ({"score": 6}, "score", "a whole number from 1 to 5 (quality)", "6"),
        ({"score": 2.5}, "score", "a whole number from 1 to 5 (quality)", "2.5"),
        ({"score": None}, "score", "a value", "nothing"),
        ({"method": "rating"}, "method", "one of behavior", "'rating'"),
        ({"label": "qualty"}, "label", "a label of method dialogue_rating: quality", "'qualty'"),
        ({"method": "behavior", "label": "ignore", "score": 1}, "turn", "a turn (behavior judges turns)", "nothing"),
        ({"turn": 2}, "turn", "no turn (dialogue_rating judges whole dialogues)", "2"),
        (COMPARED, "dialogue_b", "the other dialogue (comparative compares two)", "nothing"),
        ({"dialogue_b": "d2", "system_b": "B"}, "dialogue_b", "no other dialogue (dialogue_rating judges one)", "'d2'"),
        (
            COMPARED | {"dialogue_b": "d1", "system_b": "A"},
            "dialogue_b",
            "a dialogue other than the left one",
            "the same on both sides",
        ),
    ],
)
def test_each_problem_has_its_place(row, column, expected, found):
    hits = [p for p in problems({"annotator": "A0009", "dialogue": "d9"}, row) if p.column == column]
    assert [p.where for p in hits] == ["row 2"]
    assert hits[0].expected.startswith(expected)
    assert hits[0].found == found


def test_a_repeat_names_the_first():
    (problem,) = problems({}, {"annotator": "A0002"}, {"score": 4})
    assert problem.where == "row 3"
    assert problem.found == "a repeat of row 1, with another score"


def test_a_repeat_in_another_work_unit_is_a_repeat_for_people_only():
    position = {"annotator": "pos0", "annotator_known": False}
    assert len(problems({"work_unit": "U1"}, {"work_unit": "U2"})) == 1
    assert not problems({**position, "work_unit": "U1"}, {**position, "work_unit": "U2"})
    assert len(problems({**position, "work_unit": "U1"}, {**position, "work_unit": "U1"})) == 1


def test_the_other_side_of_a_comparison_is_a_repeat():
    mirror = COMPARED | {"dialogue": "d2", "system": "B", "dialogue_b": "d1", "system_b": "A", "score": -1}
    (problem,) = problems(COMPARED | {"dialogue_b": "d2", "system_b": "B"}, mirror)
    assert problem.found == "a repeat of row 1, with another score"


def test_a_dialogue_has_one_system_on_either_side():
    (problem,) = problems(COMPARED | {"dialogue_b": "d2", "system_b": "B"}, {"dialogue": "d2", "system": "C"})
    assert problem.expected == "one system per dialogue"
    assert (problem.where, problem.found) == ("row 2", "'C' where row 1 has 'B'")


def test_problems_stand_in_the_order_of_the_rows_and_the_message_shows_twenty():
    found = problems(*({"annotator": f"A{i}", "score": 9 if i % 2 else 3, "label": "quality"} for i in range(50)))
    assert [p.where for p in found] == [f"row {i + 1}" for i in range(1, 50, 2)]
    text = str(DataError([Problem("f", p.where, f"c{i}", "x", "y") for i, p in enumerate(found)]))
    assert text.startswith("the data cannot be read, for 25 reasons (25 places):")
    assert text.count("\n") == 20 + 1
    assert text.endswith("… and 5 more reasons")


def test_conform_gives_columns_order_and_types():
    frame = schema.conform(
        pd.DataFrame({"metric": ["m"], "dialogue": [3]}), schema.METRIC_SCORES, study="s", corpus="c"
    )
    assert list(frame) == list(schema.METRIC_SCORES)
    assert frame.dtypes.astype(str).tolist() == ["str", "str", "str", "Int32", "str", "float64"]
    assert frame.loc[0, ["study", "corpus", "dialogue", "metric"]].tolist() == ["s", "c", "3", "m"]
    assert frame["turn"].isna().all()


def test_unordered_pairs_do_not_depend_on_the_side():
    frame = annotations(
        {"dialogue": "b", "dialogue_b": "a", "system_b": "B"}, {"dialogue": "a", "dialogue_b": "b"}, {"dialogue": "c"}
    )
    pairs = schema.unordered(frame)
    assert pairs.loc[0].tolist() == pairs.loc[1].tolist() == ["a", "b"]
    assert pairs["low"][2] == "c"
    assert pd.isna(pairs["high"][2])
