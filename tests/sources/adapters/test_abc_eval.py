"""ABC-Eval project files: a hand-made project with every part, and the public files of Finch et al. 2024."""

import json

import numpy as np
import pandas as pd
import pytest
from fixtures import abc_eval_project as abc_project
from fixtures import yaml_studies as studies

from judgebook.sources.adapters.abc_units import label_id
from judgebook.study.schema import DataError

YAML = """\
title: Project
label_set: abc_eval
sources:
  - {adapter: abc_eval, files: [data.json]}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return studies.read(tmp_path_factory.mktemp("project"), YAML, data_json=abc_project.project())


def rows(built, **where):
    marks = built.frames["annotations"]
    for column, value in where.items():
        marks = marks[marks[column] == value]
    return marks


def counted(built, **where):
    counts = built.frames["counts"]
    for column, value in where.items():
        counts = counts[counts[column] == value]
    return int(counts["n"].sum())


def test_parts_become_groups_and_corpora(built):
    found = rows(built).groupby(["corpus", "group"]).size().to_dict()
    assert found == {
        ("annotation_pilot_1", "pilot"): 2,
        ("annotation_pilot_2", "pilot"): 2,
        ("bot_pilot_1", "stu_i"): 1,
        ("gold", "mtu_x"): 1,
        ("main", "stu_i"): 3,
        ("main", "sur_x"): 8,
        ("main", "dev_x"): 1,
    }


def test_three_annotations_of_one_item_stay_in_order(built):
    marks = rows(built, label="commonsense_contradiction")
    assert marks["score"].tolist() == [1, 0, 1]
    assert marks["annotator"].nunique() == 3
    assert marks["turn"].tolist() == [0, 0, 0]
    assert marks["method"].unique().tolist() == ["behavior"]

    # scores may be text
    assert rows(built, method="dialogue_likert", group="sur_x")["score"].tolist() == [5.0]
    assert rows(built, method="turn_likert", label="emotional")["score"].tolist() == [2.0]


def test_what_is_dropped_is_counted_by_reason(built):
    assert counted(built, what="annotations", reason="worker id is an unfilled template") == 1
    assert counted(built, what="annotations", reason="no score") == 1
    assert counted(built, what="annotations", reason="the worker judged the item in an earlier work unit") == 1
    assert counted(built, what="annotations", reason="the same comparison from its other side") == 1
    read, kept = (counted(built, what="annotations", action=a) for a in ("read", "kept"))
    assert kept == len(rows(built)) == 18
    assert read == kept + counted(built, what="annotations", action="dropped") == 22

    # the second mark of `follow up` names a unit that is not in the file; the first is a template's
    (mark,) = rows(built, label="follow_up").to_dict("records")
    assert (mark["annotator"], mark["annotator_known"], mark["score"]) == ("pos1", False, 0.0)
    assert counted(built, action="mended", reason="worker not in the file: known by position only") == 1


def test_comparisons_are_told_once_from_the_side_first_met(built):
    """`relevant` stands under B only; the pair was first met from A, so that its sign changes."""
    own = rows(built, method="comparative", group="stu_i")
    assert own[["dialogue", "system", "dialogue_b", "system_b", "score"]].values.tolist() == [
        [abc_project.A, "emora", abc_project.B, "blender2_3B", 1.0]
    ]

    marks = rows(built, method="comparative", group="sur_x").set_index("label")
    assert marks["score"].to_dict() == {"quality": 0.0, "relevant": -1.0}
    assert set(marks["dialogue"]) == {abc_project.A}
    assert set(marks["system_b"]) == {"blender2_3B"}
    assert counted(built, reason="comparison stored under one dialogue only") == 2
    assert counted(built, reason="comparison turned to the side first met") == 1


def test_dialogues_stand_once_with_their_texts_and_interactor(built):
    frame = built.frames["dialogues"]
    main = frame[frame["corpus"] == "main"].set_index(["dialogue", "turn"])
    assert list(main.index) == [(abc_project.A, 0), (abc_project.A, 1), (abc_project.B, 0), (abc_project.B, 1)]
    assert main["system_text"].tolist() == ["hello", "fine"] * 2
    assert main["order_shown"].tolist() == [1, 1, 0, 0]
    assert set(main["session"]) == {"(1,7)"}
    (who,) = set(main["interactor"])
    assert rows(built, group="stu_i", corpus="main")["annotator"].unique().tolist() == [who]
    assert set(frame["corpus"]) == {"main", "gold", "annotation_pilot_1", "annotation_pilot_2", "bot_pilot_1"}


def test_work_units_have_their_parts(built):
    units = built.frames["work_units"]
    own = units[(units["group"] == "stu_i") & (units["corpus"] == "main")].set_index("part")
    parts = {"whole": 700.0, "first_bot": 300.0, "second_bot": 280.0, "first_likert": 30.0, "comparative": 20.0}
    assert own["seconds"].to_dict() == pytest.approx(parts | {"second_likert": np.nan}, nan_ok=True)
    assert own["n_dialogues"].unique().tolist() == [2]
    surge = units[units["group"] == "sur_x"]
    assert len(surge) == 7
    assert surge["seconds"].isna().sum() == 2
    assert surge["completed_at"].dropna().unique() == pd.Timestamp("2022-01-31 12:30:00")
    likert = ["dialogue_likert"] * 2
    assert surge["task"].tolist() == [*["commonsense"] * 3, "emotional", *likert, "comparative"]


def test_screening_comes_from_the_attempts(built):
    frame = built.frames["screening"]
    assert frame["group"].value_counts().to_dict() == {"pilot": 3, "stu_x": 3}
    student = frame[frame["group"] == "stu_x"]
    assert student[["dialogue", "attempt"]].values.tolist() == [["t1", 0], ["t1", 1], ["t3", 0]]
    assert student["mistakes"].tolist()[:2] == [2, 0]
    assert student["mistakes"].isna().tolist() == [False, False, True]
    assert student["passed"].tolist()[:2] == [False, True]
    assert student["passed"].isna().tolist() == [False, False, True]
    assert counted(built, what="training attempts", reason="worker id is an unfilled template") == 3


def test_nobody_keeps_the_id_of_the_file(built):
    text = " ".join(frame.to_csv() for frame in built.frames.values())
    for id_ in ("alice", "w1", "bob", "dev", "stu-1", "p-1"):
        assert f",{id_}," not in text


def test_ids_may_be_numbers(built, tmp_path):
    project = json.dumps(abc_project.project())
    for i, id_ in enumerate(("alice", "w1", "bob", "dev", "stu-1", "p-1")):
        project = project.replace(f'"worker_id": "{id_}"', f'"worker_id": {i}')
    numbered = studies.read(tmp_path, YAML, data_json=json.loads(project))
    for name in ("annotations", "work_units", "screening"):
        pd.testing.assert_frame_equal(numbered.frames[name], built.frames[name])


def test_only_the_named_parts_are_read(tmp_path):
    yaml = YAML.replace("files: [data.json]", "files: [data.json], parts: {expert_evaluation: experts}")
    built = studies.read(tmp_path, yaml, data_json=abc_project.project())
    assert built.profile["groups"] == ["experts"]
    assert len(rows(built)) == 1


@pytest.mark.parametrize(
    ("spelt", "id_"),
    [
        ("commonsense contradiction", "commonsense_contradiction"),
        ("followup", "follow_up"),
        ("unempathetic", "lack_of_empathy"),
    ],
)
def test_labels_have_one_spelling(spelt, id_):
    assert label_id(spelt) == id_


A, B = abc_project.A, abc_project.B
OWN, SURGE = "dialogue_collection", "surge_evaluation"
SCORE = (OWN, "dialogues", B, "comparative_annotations", "quality", 0, "score")
ITEM = f"dialogue {B}, comparative 'quality', annotation 0"


def attempt(passed):
    """A part with one training attempt."""
    attempts = [{"work_unit_id": "o1", "passed": passed}]
    return {"work_units": {"o1": {"worker_id": "w1"}}, "dialogues": {"t9": {"attempts": attempts}}}


@pytest.mark.parametrize(
    ("place", "value", "where", "column", "expected", "found"),
    [
        (SCORE, 1, ITEM, "score", "-1", "1"),
        ((SURGE, "dialogues", A, "bot"), "cem", f"dialogue {A}", "bot", "one system per", "'emora' and 'cem'"),
        ((SURGE, "dialogues", A, "turns"), {"0": None}, f"dialogue {A}.turns", "", "a list", "an object {…}"),
        (("surge_evaluaton",), {}, "", "surge_evaluaton", "a part of a project", "unknown key"),
        *(
            (("surge_onboarding",), attempt(value), "dialogue t9, work_unit o1", "passed", "true or false", found)
            for value, found in (("yes", "'yes'"), (2, "2"), ([], "an empty list []"))
        ),
    ],
)
def test_what_is_malformed_is_named(tmp_path, place, value, where, column, expected, found):
    project = node = {SURGE: abc_project.surge(), OWN: abc_project.collection()}
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    with pytest.raises(DataError) as caught:
        studies.read(tmp_path, YAML, data_json=project)
    hits = [p for p in caught.value.problems if (p.where, p.column) == (where, column)]
    assert hits, str(caught.value)
    assert hits[0].file == "data.json"
    assert expected in hits[0].expected
    assert found in hits[0].found
