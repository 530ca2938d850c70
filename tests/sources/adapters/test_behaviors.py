"""Behaviour marks: the public file against its README and the agreement its paper prints, and malformed ones."""

import pytest
from fixtures import yaml_studies as studies

from judgebook.study.schema import DataError

YAML = """\
title: Marks
label_set: abc_eval
sources:
  - {adapter: behaviors, file: marks.json}
"""


def entry(**human):
    return {"user": "hi", "system": "hello", "behaviors": {k: {"human": v, "gpt": 1} for k, v in human.items()}}


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
        ({"(1,2)_emora": [{"user": "hi"}]}, "dialogue (1,2)_emora, turn 0", "behaviors"),
        ({"(1,2)_emora": [entry(rude=[0, 1])]}, "dialogue (1,2)_emora, turn 0", "a label of method behavior"),
    ],
)
def test_what_is_malformed_is_named(tmp_path, data, where, expected):
    with pytest.raises(DataError) as caught:
        studies.read(tmp_path, YAML, marks_json=data)
    problem = caught.value.problems[0]
    assert (problem.file, problem.where) == ("marks.json", where)
    assert expected in problem.expected
