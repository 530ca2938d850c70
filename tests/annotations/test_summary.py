"""Counts, text lengths and the data-set card: by hand, and against printed numbers."""

import pandas as pd
import pytest

from judgebook.annotations import summary as collection
from judgebook.study import schema
from judgebook.study.labels import Label
from judgebook.study.results import collect, fold

TURN = Label("ignore", "behavior", "Ignore", (0, 1))
CHOICE = Label("quality", "comparative", "Quality", (-1, 1))


def annotations(rows):
    """(group, annotator, method, dialogue, turn, dialogue_b, score) -> a frame of annotations."""
    names = ["group", "annotator", "method", "dialogue", "turn", "dialogue_b", "score"]
    frame = pd.DataFrame(rows, columns=names)
    frame["label"] = frame["method"].map({"behavior": "ignore", "comparative": "quality"})
    frame["system"] = frame["dialogue"].str[-1]
    frame["system_b"] = frame["dialogue_b"].str[-1]
    frame["session"] = frame["dialogue"].str[0]
    constant = {"corpus": "main", "annotator_known": True, "annotator_kind": "human"}
    frame = frame.assign(**constant, source_row=range(len(frame)))
    return schema.conform(frame, schema.ANNOTATIONS, study="s")


MARKS = annotations(
    [
        ("g", "A1", "behavior", "1a", 0, None, 1),
        ("g", "A2", "behavior", "1a", 0, None, 0),
        ("g", "A1", "behavior", "1a", 1, None, 0),
        ("g", "A1", "behavior", "2b", 0, None, 0),
        ("g", "A1", "comparative", "1a", None, "1b", 1),
        ("g", "A2", "comparative", "1a", None, "1b", 1),
        ("g", "A3", "comparative", "1a", None, "1b", -1),
        ("h", "A4", "comparative", "2b", None, "2a", 0),
    ]
)
DIALOGUES = schema.conform(
    pd.DataFrame(
        {
            "corpus": "main",
            "dialogue": ["1a", "1a", "2b"],
            "system": ["a", "a", "b"],
            "turn": [0, 1, 0],
            "user_text": ["well then\nhow are you?", None, "it's me"],
            "system_text": ["Fine, thank you.", "And you?", "Hello"],
            "interactor": ["P1", "P1", "P1"],
        }
    ),
    schema.DIALOGUES,
    study="s",
)


def by_what(results, **where):
    for column, value in where.items():
        results = results[results[column].isna() if value is None else results[column] == value]
    return dict(zip(results["what"], results["estimate"], strict=True))


def checked(frame):
    """The rows, after a look whether they can be stored."""
    fold(collect(frame), study="s", notebook="n")
    return frame


def test_pilots_and_gold_units_are_not_the_evaluation():
    corpora = ["main", "annotation_pilot_1", "bot_pilot_12", "gold", "run1", "golden", "pilot"]
    kept = collection.evaluated(pd.DataFrame({"corpus": corpora}))
    assert list(kept["corpus"]) == ["main", "run1", "golden", "pilot"]


def test_scope_leaves_out_dialogues_and_sessions_of_a_method():
    kept = collection.in_scope(MARKS, dialogues={"behavior": ["2b"]}, sessions={"comparative": ["1"]})
    assert list(kept["source_row"]) == [0, 1, 2, 7]
    kept = collection.in_scope(MARKS, dialogues={"comparative": ["2a"]}, sessions={})  # the right side of a pair
    assert list(kept["source_row"]) == [0, 1, 2, 3, 4, 5, 6]
    assert len(collection.in_scope(MARKS, dialogues={}, sessions={})) == len(MARKS)
    with pytest.raises(ValueError, match=r"no behavior annotation has session 3"):
        collection.in_scope(MARKS, dialogues={}, sessions={"behavior": ["1", "3"]})


def test_texts_by_hand():
    sizes = collection.utterances(DIALOGUES)
    assert list(sizes["user_words"].astype(object)) == [5, pd.NA, 2]
    assert list(sizes["user_tokens"].astype(object)) == [6, pd.NA, 2]  # ? is a token, it's is one
    assert list(sizes["system_words"]) == [3, 2, 1]
    assert list(sizes["system_tokens"]) == [5, 3, 1]
    assert list(sizes["context_words"]) == [5, 5 + 3, 2]
    assert list(sizes["context_utterances"]) == [2, 3, 1]  # the first text holds two utterances
    out = checked(collection.texts(DIALOGUES))
    assert by_what(out, system=None) == {
        "dialogues": 2,
        "interactors": 1,
        "turns a dialogue": 2.5,
        "tokens a user turn": 4,
        "words a user turn": 3.5,
        "tokens a system turn": 3,
        "words a system turn": 2,
    }


def test_the_card_by_hand():
    card = checked(collection.card(MARKS, DIALOGUES))
    assert by_what(card, method="behavior") == {
        "instances": 3,
        "criteria": 1,
        "annotations": 4,
        "systems": 2,
        "utterances": pytest.approx((3 + 4 + 2) / 3),
        "context words": pytest.approx((5 + 8 + 2) / 3),
        "response words": 2,
        "context words with names": pytest.approx((5 + 2 + 8 + 3 + 2 + 1) / 3),
        "response words with names": 3,
    }
    whole = by_what(
        collection.card(MARKS[MARKS["method"] == "behavior"].assign(turn=None, method="dialogue_likert"), DIALOGUES)
    )
    assert whole["instances"] == 2
    assert whole["utterances"] == (4 + 2) / 2
    assert whole["context words"] == (10 + 3) / 2
    # before the last exchange: the first dialogue's last system turn had no words of the user before it
    assert whole["utterances before the last exchange"] == (3 + 0) / 2
    assert whole["context words before the last exchange"] == (8 + 0) / 2
    referred = collection.card(MARKS, DIALOGUES.assign(reference=["so be it", None, None]))
    assert by_what(referred, method="behavior")["response words with a reference"] == 3


def test_facts_of_design_by_hand():
    found = checked(collection.design(MARKS, DIALOGUES))
    turns, pairs = (by_what(found, method=m, label=None) for m in ("behavior", "comparative"))
    # items: two turns of 1a, judged twice and once, and one of 2b, judged once
    assert turns == {
        "lowest score": 0,
        "highest score": 1,
        "scores": 2,
        "fewest annotations of an item": 1,
        "median annotations of an item": 1,
        "most annotations of an item": 2,
        "median annotations of an item with several": 2,
        "dialogues of an item": 1,
    }
    assert (pairs["scores"], pairs["dialogues of an item"], pairs["median annotations of an item"]) == (3, 2, 2)
    assert by_what(found, label="quality") == {"lowest score": -1, "highest score": 1, "scores": 3}
    # session 1: three judged the pair; session 2: one
    assert by_what(found, method=None)["sessions judged twice"] == 0
    twice = collection.design(MARKS[MARKS["method"] == "behavior"].query("turn == 0"), DIALOGUES)
    assert by_what(twice, method=None) == {
        "sessions judged twice": 1,
        "fewest messages of a dialogue": 2,
        "median messages of a dialogue": 2.5,
        "fewest messages of the user": 1,
    }


def test_coverage_counts_what_could_be_judged():
    out = checked(collection.coverage(MARKS, DIALOGUES))
    value = out.set_index(["group", "method", "times"])["estimate"].to_dict()
    assert value == {
        ("g", "behavior", 1): 1.0,
        ("g", "behavior", 2): 1 / 3,
        ("g", "comparative", 1): 0.5,
        ("g", "comparative", 2): 0.5,
        ("h", "comparative", 1): 0.5,
        ("h", "comparative", 2): 0.0,
    }
    assert set(out["n"]) == {3, 2}


def test_the_workload_of_each_annotator_by_hand():
    work = collection.workload(MARKS)
    found = work[["group", "method", "annotator", "units"]].to_records(index=False).tolist()
    assert found == [
        ("g", "behavior", "A1", 2),
        ("g", "behavior", "A2", 1),
        ("g", "comparative", "A1", 1),
        ("g", "comparative", "A2", 1),
        ("g", "comparative", "A3", 1),
        ("h", "comparative", "A4", 1),
    ]
    out = checked(collection.workload_summary(work))
    behavior = out[out["method"] == "behavior"].set_index("statistic")["estimate"]
    assert behavior.to_dict() == {"mean_count": 1.5, "busiest_share": 2 / 3}
    assert collection.workload(MARKS.assign(annotator_known=False)).empty
    assert collection.workload_summary(collection.workload(MARKS.assign(annotator_known=False))).empty


def test_shares_have_a_row_for_every_score_of_the_scale():
    out = checked(collection.shares(MARKS, [TURN, CHOICE]))
    behavior = out[out["method"] == "behavior"].set_index("score")["estimate"]
    assert behavior.to_dict() == {"0": 0.75, "1": 0.25}
    choice = out[out["method"] == "comparative"].set_index("score")["estimate"]
    assert choice.to_dict() == {"-1": 0.25, "0": 0.25, "1": 0.5}
    assert set(out["kind"]) == {"human"}


def test_shares_of_a_long_scale_are_cut_into_equal_parts():
    label = Label("ignore", "behavior", "Ignore", (0, 100))
    marks = annotations([("g", "A1", "behavior", f"{i}a", 0, None, s) for i, s in enumerate([0, 10, 11, 100])])
    out = collection.shares(marks, [label], bins=10)
    assert out["estimate"].tolist() == [0.5, 0.25, *[0] * 7, 0.25]


def test_pairs_of_turns_are_covered_at_most_once():
    """Two turns of one pair of dialogues are two items: both judged is all of them, not twice as many."""
    rows = [("d1", "e1", 0, "A1"), ("d1", "e1", 1, "A1"), ("d1", "e1", 1, "A2"), ("d2", "e2", 0, "A1")]
    frame = pd.DataFrame(rows, columns=["dialogue", "dialogue_b", "turn", "annotator"]).astype({"turn": "Int32"})
    fixed = {"corpus": "main", "group": "all", "method": "pairwise_turn", "label": "better", "annotator_kind": "human"}
    found = collection.coverage(frame.assign(**fixed), frame[["dialogue", "turn"]].assign(corpus="main"))
    assert found.set_index("times")["estimate"].to_dict() == {1: 1.0, 2: pytest.approx(1 / 3)}
