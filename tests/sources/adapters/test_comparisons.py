"""Comparisons told once and from one side: hand-made pairs, and properties on random ones."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from judgebook.sources.rows.comparisons import orient

NAMES = ["annotator", "work_unit", "dialogue", "dialogue_b", "score"]


def comparisons(*rows):
    frame = pd.DataFrame(rows, columns=NAMES)
    frame["system"], frame["system_b"] = "of " + frame["dialogue"], "of " + frame["dialogue_b"]
    return frame.assign(
        corpus="main", method="comparative", label="quality", file="f", where="row " + frame.index.astype(str)
    )


def test_a_mirror_is_left_out_and_a_repeat_is_not():
    """Row 1 mirrors row 0; row 2 tells the same from the same side; row 3 mirrors nothing that is left."""
    out = orient(comparisons(("a", "u", "x", "y", 1), ("a", "u", "y", "x", -1), ("a", "u", "x", "y", 1)))
    assert out.annotations.index.tolist() == [0, 2]
    assert out.mirrors.index.tolist() == [1]
    assert not out.problems
    again = orient(comparisons(("a", "u", "x", "y", 1), ("a", "u", "y", "x", -1), ("a", "u", "y", "x", -1)))
    assert again.mirrors.index.tolist() == [1]
    assert again.annotations[["dialogue", "score"]].values.tolist() == [["x", 1], ["x", 1.0]]


def test_a_pair_shown_in_both_orders_is_no_mirror_of_itself():
    """Of the same comparison from its other side, the other side of the row was shown first."""
    rows = comparisons(
        ("a", "u", "x", "y", 1), ("a", "u", "y", "x", -1), ("b", "u", "x", "y", 1), ("b", "u", "y", "x", 1)
    )
    for first, mirrors, n_problems in (
        (["left"] * 4, [], 0),
        (["left", "right"] * 2, [1, 3], 1),
        ([None] * 4, [1, 3], 1),
    ):
        out = orient(rows.assign(first_shown=first))
        assert out.mirrors.index.tolist() == mirrors
        assert len(out.problems) == n_problems
    assert "repeats: number" in out.problems[0].hint
    both = orient(rows.assign(first_shown="left")).annotations
    assert both["first_shown"].tolist() == ["left", "right"] * 2
    assert both["score"].astype(float).tolist() == [1, 1, 1, -1]


def test_everybody_sees_a_pair_from_the_side_first_met():
    out = orient(comparisons(("a", "u", "x", "y", 1), ("b", "v", "y", "x", 1), ("c", "w", "y", "x", 0)))
    assert out.annotations[["dialogue", "system", "dialogue_b", "system_b", "score"]].values.tolist() == [
        ["x", "of x", "y", "of y", 1],
        ["x", "of x", "y", "of y", -1.0],
        ["x", "of x", "y", "of y", 0.0],
    ]
    assert out.turned.index.tolist() == [1, 2]
    assert len(out.single) == 3


def test_a_wrong_sign_is_a_problem_and_text_is_left_to_be_reported():
    out = orient(comparisons(("a", "u", "x", "y", 1), ("a", "u", "y", "x", 1)))
    (problem,) = out.problems
    assert (problem.where, problem.expected[:2], problem.found) == ("row 1", "-1", "1 like row 0")
    text = orient(comparisons(("a", "u", "x", "y", 1), ("b", "v", "y", "x", "left")))
    assert text.annotations["score"].tolist() == [1, "left"]
    # a tie is its own opposite
    assert not orient(comparisons(("a", "u", "x", "y", 0), ("a", "u", "y", "x", 0))).problems


def test_judgements_of_single_dialogues_pass_unchanged():
    frame = comparisons(("a", "u", "x", None, 1))
    assert orient(frame).annotations is frame
    plain = frame.drop(columns=["dialogue_b", "system_b"])
    assert orient(plain).annotations is plain


ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from("uv"),
        st.sampled_from("xyz"),
        st.sampled_from("xyz"),
        st.sampled_from([-1, 0, 1]),
    ),
    min_size=1,
    max_size=12,
).map(lambda rows: [r for r in rows if r[2] != r[3]])


@given(ROWS.filter(len))
def test_telling_all_from_both_sides_changes_nothing(rows):
    """Doubling distinct comparisons by their mirrors and orienting gives what orienting the comparisons gives."""
    distinct = list({(who, unit, *sorted((x, y))): (who, unit, x, y, s) for who, unit, x, y, s in rows}.values())
    both = [row for who, unit, x, y, s in distinct for row in ((who, unit, x, y, s), (who, unit, y, x, -s))]
    once, twice = orient(comparisons(*distinct)), orient(comparisons(*both))
    names = ["annotator", "work_unit", "dialogue", "dialogue_b", "system", "system_b"]
    for column in names:
        assert once.annotations[column].tolist() == twice.annotations[column].tolist()
    assert once.annotations["score"].astype(float).tolist() == twice.annotations["score"].astype(float).tolist()
    assert len(twice.mirrors) == len(distinct)
    assert not twice.problems
    assert twice.single.empty
    pairs = once.annotations.groupby(["dialogue", "dialogue_b"]).ngroups
    assert pairs == len({frozenset(r[2:4]) for r in distinct})
