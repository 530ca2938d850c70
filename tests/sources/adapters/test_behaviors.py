"""Behaviour marks: the public file against its README and the agreement its paper prints, and malformed ones."""

import krippendorff
import pytest
from fixtures import yaml_studies as studies

from judgebook.sources import build
from judgebook.study import params
from judgebook.study.schema import DataError

YAML = """\
title: Marks
label_set: abc_eval
sources:
  - {adapter: behaviors, file: marks.json}
"""


def entry(**human):
    return {"user": "hi", "system": "hello", "behaviors": {k: {"human": v, "gpt": 1} for k, v in human.items()}}


@pytest.fixture(scope="module")
def built(raw_data):
    return build.build(params.load("gpt_abceval"))


@pytest.mark.data
def test_counts_are_those_of_the_readme(built):
    """108 dialogues, 27 a bot, 15 to 17 bot turns each, 1,634 turns; three labels without a specialised classifier."""
    dialogues = built.frames["dialogues"]
    assert len(dialogues) == 1634
    assert dialogues.groupby("dialogue").size().between(15, 17).all()
    assert dialogues.drop_duplicates("dialogue")["system"].value_counts().tolist() == [27] * 4
    marks = built.frames["annotations"]
    sizes = marks.groupby(["annotator", "label"]).size()
    assert sizes.eq(1634).all()
    assert sizes.groupby("annotator").size().to_dict() == {"chatgpt": 9, "pos0": 9, "pos1": 9, "specialized": 6}
    assert set(marks["score"]) == {0.0, 1.0}
    kinds = marks.drop_duplicates("annotator").set_index("annotator")
    assert kinds["annotator_kind"].to_dict() == {
        "pos0": "human",
        "pos1": "human",
        "chatgpt": "llm",
        "specialized": "classifier",
    }
    assert kinds["annotator_known"].to_dict() == {"pos0": False, "pos1": False, "chatgpt": True, "specialized": True}


@pytest.mark.data
@pytest.mark.parametrize(
    ("label", "alpha"),
    [
        ("self_contradiction", 0.407),
        ("empathetic", 0.514),
        ("lack_of_empathy", 0.435),
        ("irrelevant", 0.456),
        ("ignore", 0.571),
        ("incorrect_fact", 0.652),
        ("commonsense_contradiction", 0.442),
        ("partner_contradiction", 0.436),
        ("redundant", 0.551),
    ],
)
def test_the_two_people_agree_as_known(built, label, alpha):
    """Ordinal alpha over 1,634 turns by the krippendorff package, to three decimals."""
    marks = built.frames["annotations"]
    pair = [
        marks[(marks["label"] == label) & (marks["annotator"] == position)]
        .sort_values(["dialogue", "turn"])["score"]
        .to_numpy()
        for position in ("pos0", "pos1")
    ]
    assert round(krippendorff.alpha(reliability_data=pair, level_of_measurement="ordinal"), 3) == alpha


def test_texts_and_order_are_kept(tmp_path):
    data = {"(1,2)_emora": [entry(ignore=[0, 1]), entry(ignore=[1, 1])]}
    built = studies.read(tmp_path, YAML, marks_json=data)
    assert built.frames["annotations"][["annotator", "turn", "score", "session", "system"]].values.tolist() == [
        ["pos0", 0, 0.0, "(1,2)", "emora"],
        ["pos1", 0, 1.0, "(1,2)", "emora"],
        ["chatgpt", 0, 1.0, "(1,2)", "emora"],
        ["pos0", 1, 1.0, "(1,2)", "emora"],
        ["pos1", 1, 1.0, "(1,2)", "emora"],
        ["chatgpt", 1, 1.0, "(1,2)", "emora"],
    ]
    assert built.frames["dialogues"]["system_text"].tolist() == ["hello", "hello"]


@pytest.mark.parametrize(
    ("data", "where", "expected"),
    [
        ({"noprefix": [entry(ignore=[0, 1])]}, "dialogue noprefix", "<session>_<system>"),
        ({"(1,2)_emora": {"0": 1}}, "dialogue (1,2)_emora", "a list of turns"),
        ({"(1,2)_emora": [{"user": "hi"}]}, "dialogue (1,2)_emora, turn 0", "behaviors"),
        ({"(1,2)_emora": [entry(ignore=[0, 2])]}, "dialogue (1,2)_emora, turn 0", "from 0 to 1 (ignore)"),
        ({"(1,2)_emora": [entry(rude=[0, 1])]}, "dialogue (1,2)_emora, turn 0", "a label of method behavior"),
        ({"(1,2)_emora": [entry(ignore=["yes"])]}, "dialogue (1,2)_emora, turn 0", "a number"),
    ],
)
def test_what_is_malformed_is_named(tmp_path, data, where, expected):
    with pytest.raises(DataError) as caught:
        studies.read(tmp_path, YAML, marks_json=data)
    problem = caught.value.problems[0]
    assert (problem.file, problem.where) == ("marks.json", where)
    assert expected in problem.expected
