"""Records that belong to those of another file: file by file, where both names have the same parts."""

import json

import pytest
from fixtures import yaml_studies as studies

from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError

YAML = """\
title: Weeks
method: dialogue_rating
sources:
  - adapter: records
    file: "data_{week}_export.json"
    scores: "ratings.{label}"
    columns: {annotator: by, system: key.system}
    identify: {dialogue: ["{week}", item]}
    join: [{file: "JOINED", name: key, by: item, key: id}]
labels:
  fluency: {scale: [1, 5]}
"""
EXPORT = [{"item": f"p{i}", "by": "ann", "ratings": {"fluency": score}} for i, score in ((1, 4), (2, 2))]


def lines(systems):
    return "\n".join(json.dumps({"id": id_, "system": system}) for id_, system in systems.items())


def read(folder, joined="data_{week}_key.jsonl", **files):
    weeks = {f"data_{week}_export_json": EXPORT for week in ("w1", "w2")}
    return studies.read(folder, YAML.replace("JOINED", joined), **weeks, **files)


def test_each_file_is_joined_to_that_of_the_same_name(tmp_path):
    keys = {"data_w1_key_jsonl": {"p1": "A", "p2": "B"}, "data_w2_key_jsonl": {"p2": "A", "p1": "B", "p3": "C"}}
    built = read(tmp_path, **{file: lines(systems) for file, systems in keys.items()})
    marks = built.frames["annotations"]
    assert dict(zip(marks["dialogue"], marks["system"], strict=True)) == {
        "w1_p1": "A",
        "w1_p2": "B",
        "w2_p1": "B",
        "w2_p2": "A",
    }
    counts = built.frames["counts"].query("file == 'data_w2_key.jsonl' and what == 'records'")
    assert counts.set_index("action")["n"].to_dict() == {"read": 3, "kept": 2, "dropped": 1}


@pytest.mark.parametrize(
    ("joined", "files", "message"),
    [
        (
            "data_{week}_key.jsonl",
            {"data_w1_key_jsonl": {"p1": "A", "p2": "B"}},
            r"data_w2_export.json, join: key: expected the file data_w2_key.jsonl, found no such file",
        ),
        ("data_{month}_key.jsonl", {}, r"\{month\} is not in `file` or `sheet`: write \* for any text"),
        (
            "key_*.jsonl",
            {"key_1_jsonl": {"p1": "A"}, "key_2_jsonl": {"p1": "B", "p2": "B"}},
            r"key_2.jsonl, line 1, id: expected a key given once, found 'p1' again \(first key_1.jsonl, line 1\)",
        ),
        (
            "data_{week}_key.jsonl",
            {"data_w1_key_jsonl": {"p1": "A", "p2": "B"}, "data_w2_key_jsonl": {"x": "A"}},
            r"data_w2_key.jsonl, item: expected records that belong to the first file, found none",
        ),
    ],
)
def test_what_cannot_be_joined_is_named(tmp_path, joined, files, message):
    with pytest.raises((DataError, ParamsError)) as error:
        read(tmp_path, joined, **{file: lines(systems) for file, systems in files.items()})
    assert error.match(message)


def test_parts_of_a_joined_file_are_one(tmp_path):
    parts = {"key_1_jsonl": lines({"p1": "A"}), "key_2_jsonl": lines({"p2": "B"})}
    marks = read(tmp_path, "key_*.jsonl", **parts).frames["annotations"]
    assert sorted(set(zip(marks["dialogue"].str[-2:], marks["system"], strict=True))) == [("p1", "A"), ("p2", "B")]
