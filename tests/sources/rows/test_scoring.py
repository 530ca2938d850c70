"""Scores in words, of many labels."""

import pandas as pd
import pytest

from judgebook.sources.adapters.options.table import Table
from judgebook.sources.rows import scoring
from judgebook.study.labels import Label

ANSWERS = ("bad", "fair", "good")


def label(id_: str, method: str = "dialogue_rating", categories: tuple[str, ...] = ANSWERS) -> Label:
    return Label(id=id_, method=method, title=id_, scale=(1, len(categories)), level="ordinal", categories=categories)


def marks(n: int, *, turn: str | None = None) -> pd.DataFrame:
    """Three judgements by each of n labels."""
    held = pd.DataFrame({"label": [f"l{i % n}" for i in range(3 * n)], "file": "f", "corpus": "main"})
    held["score"] = pd.Series([["good", "bad", None, "fair"][i % 4] for i in range(3 * n)], dtype=object)
    held["turn"] = turn
    return held.assign(where=[f"row {i}" for i in range(3 * n)])


def scored(rows: pd.DataFrame, labels: list[Label]) -> tuple[pd.DataFrame, scoring.State]:
    state = scoring.State()
    source = Table(
        adapter="table", file="f", layout="wide", scores="{label}", columns={"dialogue": "d", "annotator": "a"}
    )
    return scoring.scored(source, rows, labels, state), state


def test_each_label_has_numbers_for_its_own_answers():
    rows = marks(4)
    labels = [label(f"l{i}", categories=ANSWERS[::-1] if i % 2 else ANSWERS) for i in range(4)]
    out, state = scored(rows, labels)
    expected = [
        None if text is None else labels[int(id_[1:])].categories.index(text) + 1
        for id_, text in zip(rows["label"], rows["score"], strict=True)
    ]
    assert out["score"].tolist() == expected
    assert state.problems == []


def test_answers_of_no_category_are_reported_label_by_label_and_left_out():
    rows = marks(3)
    rows.loc[[1, 3], "score"] = ["Good", "goood"]
    out, state = scored(rows, [label(f"l{i}") for i in range(3)])
    assert out.index.tolist() == [0, 2, 4, 5, 6, 7, 8]
    assert [(p.where, p.found) for p in state.problems] == [
        ("row 3", "'goood' (did you mean 'good'?)"),
        ("row 1", "'Good' (did you mean 'good'?)"),
    ]


@pytest.mark.parametrize(("turn", "first"), [(None, 3), ("0", 1)])
def test_of_labels_with_one_id_that_of_the_method_counts(turn, first):
    both = [label("l0"), label("l0", "turn_rating", ANSWERS[::-1])]
    assert scored(marks(1, turn=turn), both)[0]["score"].tolist()[0] == first
