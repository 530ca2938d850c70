"""Answers that were not marked: none of them, where the YAML says so, and counted."""

import yaml
from fixtures import yaml_studies as studies

from judgebook.sources.rows.judgements import UNMARKED

ISSUES = {"categories": ["rude", "false", "none"], "level": "sets"}
STUDIO = {
    "adapter": "records",
    "file": "tasks.json",
    "scores": ["annotations.[].result.[].value.rating", "annotations.[].result.[].value.choices.[]"],
    "columns": {
        "label": "annotations.[].result.[].from_name",
        "annotator": "annotations.[].by",
        "dialogue": "id",
        "system": "model",
    },
    "drop": {"annotations.[].was_cancelled": True},
    "empty": "none",
}


def read(folder, source, labels, **files):
    study = {"title": "x", "method": "dialogue_rating", "sources": [source], "labels": labels}
    built = studies.read(folder, yaml.safe_dump(study), **files)
    marks = built.frames["annotations"]
    counts = built.frames["counts"].query("action == 'mended'").set_index("reason")["n"].to_dict()
    return sorted(zip(marks["dialogue"], marks["annotator"], marks["label"], marks["score"], strict=True)), counts


def issues(*words):
    return {"from_name": "issues", "value": {"choices": list(words)}}


def annotation(by, *result, cancelled=False):
    return {"by": by, "was_cancelled": cancelled, "result": list(result)}


FLUENT = {"from_name": "fluency", "value": {"rating": 4}}
TASKS = [
    {
        "id": "d1",
        "model": "A",
        "annotations": [annotation("a", FLUENT, issues("rude", "false")), annotation("b", FLUENT)],
    },
    {"id": "d2", "model": "B", "annotations": [annotation("a"), annotation("b", cancelled=True)]},
]


def test_an_optional_choice_of_label_studio(tmp_path):
    labels = {"fluency": {"scale": [1, 5]}, "issues": ISSUES}
    assert read(tmp_path, STUDIO, labels, tasks_json=TASKS) == (
        [
            ("d1", "A0001", "fluency", 4),
            ("d1", "A0001", "issues", 3),
            ("d1", "A0002", "fluency", 4),
            ("d1", "A0002", "issues", 4),
            ("d2", "A0001", "issues", 4),
        ],
        {UNMARKED: 2},
    )


def test_cells_without_an_answer(tmp_path):
    source = {
        "adapter": "records",
        "file": "my.csv",
        "scores": "marked:split(;).[]",
        "columns": {"dialogue": "id", "system": "model", "annotator": "by"},
        "constants": {"label": "issues"},
        "empty": "none",
    }
    content = "id,model,by,marked\nd1,A,a,rude;false\nd2,A,a,\n"
    marks, counts = read(tmp_path, source, {"issues": ISSUES}, my_csv=content)
    assert {d: score for d, _, _, score in marks} == {"d1": 3, "d2": 4}
    assert counts == {UNMARKED: 1}
