"""ABC-Eval project files: a hand-made project with every part, and the public files of Finch et al. 2024."""

import json

import krippendorff
import numpy as np
import pandas as pd
import pytest
import yaml
from fixtures import abc_eval_project as abc_project
from fixtures import yaml_studies as studies

from judgebook.sources import build
from judgebook.sources.adapters import abc_eval
from judgebook.sources.adapters.abc_units import label_id
from judgebook.study import params
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


def test_scores_may_be_text(built):
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


def test_an_unknown_work_unit_leaves_the_position(built):
    """The second mark of `follow up` names a unit that is not in the file; the first is a template's."""
    (mark,) = rows(built, label="follow_up").to_dict("records")
    assert (mark["annotator"], mark["annotator_known"], mark["score"]) == ("pos1", False, 0.0)
    assert counted(built, action="mended", reason="worker not in the file: known by position only") == 1


def test_a_comparison_is_one_row(built):
    own = rows(built, method="comparative", group="stu_i")
    assert own[["dialogue", "system", "dialogue_b", "system_b", "score"]].values.tolist() == [
        [abc_project.A, "emora", abc_project.B, "blender2_3B", 1.0]
    ]


def test_one_sided_comparisons_are_turned_to_the_side_first_met(built):
    """`relevant` stands under B only; the pair was first met from A, so that its sign changes."""
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
    assert own["seconds"].to_dict() == pytest.approx(
        {
            "whole": 700.0,
            "first_bot": 300.0,
            "second_bot": 280.0,
            "first_likert": 30.0,
            "second_likert": np.nan,
            "comparative": 20.0,
        },
        nan_ok=True,
    )
    assert own["n_dialogues"].unique().tolist() == [2]
    surge = units[units["group"] == "sur_x"]
    assert len(surge) == 7
    assert surge["seconds"].isna().sum() == 2
    assert surge["completed_at"].isna().sum() == 2
    assert surge["completed_at"].dropna().unique() == pd.Timestamp("2022-01-31 12:30:00")
    assert surge["task"].tolist() == ["commonsense"] * 3 + [
        "emotional",
        "dialogue_likert",
        "dialogue_likert",
        "comparative",
    ]


def test_screening_comes_from_the_attempts(built):
    frame = built.frames["screening"]
    assert frame["group"].value_counts().to_dict() == {"pilot": 3, "stu_x": 3}
    assert set(frame["task"]) == {"consistency"}
    student = frame[frame["group"] == "stu_x"]
    assert student[["dialogue", "attempt"]].values.tolist() == [["t1", 0], ["t1", 1], ["t3", 0]]
    assert student["mistakes"].tolist()[:2] == [2, 0]
    assert student["mistakes"].isna().tolist() == [False, False, True]
    assert student["passed"].tolist()[:2] == [False, True]
    assert student["passed"].isna().tolist() == [False, False, True]
    assert set(frame["corpus"]) == {"annotation_pilot_2", "main"}
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


def test_labels_of_the_first_pilots_need_not_be_declared(built, tmp_path):
    assert rows(built, corpus="annotation_pilot_1")["label"].unique().tolist() == ["presentation"]
    project = {"surge_evaluation": abc_project.pilot("1", "presentation")}
    with pytest.raises(DataError, match="expected a label of method behavior"):
        studies.read(tmp_path, YAML, data_json=project)


def test_only_the_named_parts_are_read(tmp_path):
    yaml = YAML.replace("files: [data.json]", "files: [data.json], parts: {expert_evaluation: experts}")
    built = studies.read(tmp_path, yaml, data_json=abc_project.project())
    assert built.profile["groups"] == ["experts"]
    assert len(rows(built)) == 1


@pytest.mark.parametrize(
    ("spelt", "id_"),
    [
        ("commonsense contradiction", "commonsense_contradiction"),
        ("Emotion Aware", "emotional"),
        ("fact usage", "correct_fact"),
        ("followup", "follow_up"),
        ("topic switch", "topic_switch"),
        ("unempathetic", "lack_of_empathy"),
        ("quality", "quality"),
    ],
)
def test_labels_have_one_spelling(spelt, id_):
    assert label_id(spelt) == id_


def test_session_is_the_parenthesised_prefix():
    assert abc_eval.session_of("(438,26)_emora") == "(438,26)"
    assert abc_eval.session_of("gold-1") is None


def _wrong(change):
    project = {"surge_evaluation": abc_project.surge(), "dialogue_collection": abc_project.collection()}
    change(project)
    return project


def _sign(project):
    other = project["dialogue_collection"]["dialogues"][abc_project.B]
    other["comparative_annotations"]["quality"][0]["score"] = 1


def _bot(project):
    project["surge_evaluation"]["dialogues"][abc_project.A]["bot"] = "cem"


def _date(project):
    project["surge_evaluation"]["work_units"]["s1"]["completion_date"] = "2022-01-31"


def _turns(project):
    project["surge_evaluation"]["dialogues"][abc_project.A]["turns"] = {"0": None}


def _twice(project):
    marks = project["surge_evaluation"]["dialogues"][abc_project.A]["likert_annotations"]["quality"]
    marks.append(dict(marks[0]))


def _part(project):
    project["surge_evaluaton"] = project.pop("surge_evaluation")


def _passed(value):
    def change(project):
        attempts = [{"work_unit_id": "o1", "passed": value}]
        units = {"o1": {"worker_id": "w1", "task": "t"}}
        project["surge_onboarding"] = {"work_units": units, "dialogues": {"t9": {"attempts": attempts}}}

    return change


def _no_score(project):
    _sign(project)
    project["dialogue_collection"]["dialogues"][abc_project.B]["comparative_annotations"]["quality"][0]["score"] = ""


def _seconds(project):
    project["surge_evaluation"]["work_units"]["s1"]["time_to_complete_sec"] = "one minute"


@pytest.mark.parametrize(
    ("change", "where", "column", "expected", "found"),
    [
        (_sign, f"dialogue {abc_project.B}, comparative 'quality', annotation 0", "score", "-1", "1"),
        (_bot, f"dialogue {abc_project.A}", "bot", "one system per dialogue", "'emora' and 'cem'"),
        (_date, "work unit s1", "completion_date", "MM-DD-YYYY", "'2022-01-31'"),
        (_turns, f"dialogue {abc_project.A}.turns", "", "a list", "an object {…}"),
        (
            _twice,
            f"dialogue {abc_project.A}, dialogue_likert 'quality', annotation 2",
            "",
            "one judgement",
            "a repeat of",
        ),
        (_part, "", "surge_evaluaton", "a part of a project", "unknown key"),
        (_seconds, "work unit s1", "time_to_complete_sec", "seconds", "'one minute'"),
        (_no_score, f"dialogue {abc_project.B}, comparative 'quality', annotation 0", "score", "-1", "empty text"),
        *(
            (_passed(value), "dialogue t9, work_unit o1", "passed", "true or false", found)
            for value, found in (
                ("yes", "'yes'"),
                (2, "2"),
                (1.5, "1.5"),
                ([], "an empty list []"),
                ({"a": 1}, "an object {…}"),
            )
        ),
    ],
)
def test_what_is_malformed_is_named(tmp_path, change, where, column, expected, found):
    with pytest.raises(DataError) as caught:
        studies.read(tmp_path, YAML, data_json=_wrong(change))
    hits = [p for p in caught.value.problems if (p.where, p.column) == (where, column)]
    assert hits, str(caught.value)
    assert hits[0].file == "data.json"
    assert expected in hits[0].expected
    assert found in hits[0].found


# -- the public files


@pytest.fixture(scope="module")
def finch(raw_data):
    return build.build(params.load("finch2024"))


@pytest.mark.data
def test_finch2024_counts(finch):
    """The counts of the data's README, which were taken from the files."""
    assert counted(finch, what="work units", action="kept", file="data_student_external_likert.json") == 483
    assert counted(finch, what="work units", action="kept", file="data_student_external_comparative.json") == 256
    likert, pairs = rows(finch, method="dialogue_likert"), rows(finch, method="comparative")
    per_dialogue = likert[likert["label"] == "quality"].groupby("dialogue").size().value_counts()
    assert per_dialogue.to_dict() == {1: 246, 2: 105, 3: 9}
    assert pairs.drop_duplicates(["dialogue", "dialogue_b"]).shape[0] == 202
    per_pair = pairs[pairs["label"] == "quality"].groupby(["dialogue", "dialogue_b"]).size().value_counts()
    assert per_pair.to_dict() == {1: 148, 2: 54}
    assert set(likert["label"].value_counts()) == {483}
    assert set(pairs["label"].value_counts()) == {256}
    assert counted(finch, reason="the same comparison from its other side") == 2048
    assert finch.profile["n_dialogues"] == 404
    assert likert["seconds"].agg(["min", "max"]).round().tolist() == [20, 2639]
    assert pairs["seconds"].agg(["min", "max"]).round().tolist() == [74, 2090]


@pytest.mark.data
def test_finch2024_groups_are_those_of_the_inferred_list(finch, raw_data):
    """groups.csv names three developers and eight students; one student did comparisons only."""
    listed = pd.read_csv(raw_data / "finch2024" / "groups.csv")
    study = params.load("finch2024")
    for group, spec in study.groups.items():
        assert set(spec.annotators) == set(listed.loc[listed["group"].str.lower() == group, "worker_id"])
    assert rows(finch).groupby("group")["annotator"].nunique().to_dict() == {"dev_x": 3, "stu_x": 8}
    assert rows(finch, method="dialogue_likert", group="stu_x")["annotator"].nunique() == 7


@pytest.mark.data
def test_finch2024_developers_agree_as_printed(finch):
    """Table 3, row Dev_x, Likert: ordinal alpha of the first two annotations (the groups were fitted to this row)."""
    printed = pd.read_csv(params.ROOT / "data" / "published" / "finch2024_table03.csv")
    marks = rows(finch, group="dev_x", method="dialogue_likert")
    item = marks.groupby(["label", "dialogue"], sort=False).cumcount()
    pairs = marks[item < 2].groupby(["label", "dialogue"])["score"].agg(list)
    found = {
        label: krippendorff.alpha(
            reliability_data=np.array([two for two in lists if len(two) == 2]).T, level_of_measurement="ordinal"
        )
        for label, lists in pairs.groupby("label")
    }
    row = printed[printed["row"].str.lower().eq("dev_x") & printed["panel"].str.lower().str.contains("likert")]
    assert len(row) == 8
    short = {name[:3].lower(): alpha for name, alpha in found.items()}
    for cell in row.itertuples():
        assert round(short[cell.column[:3].lower()], cell.decimals) == pytest.approx(cell.value)


def test_the_second_source_of_finch2024_joins_the_first(tmp_path, monkeypatch):
    """With the project file come the groups sur_x and stu_i; a listed worker keeps the group the part names."""
    whole = yaml.safe_load((params.ROOT / "params" / "finch2024.yaml").read_text(encoding="utf-8"))
    # names of systems, groups and dialogues that the few records here do not have
    kept = {key: whole[key] for key in ("title", "label_set", "sources")}
    kept["groups"] = {name: group for name, group in whole["groups"].items() if name != "sur_x"}
    path = studies.write(tmp_path, yaml.safe_dump(kept))
    workers = [id_ for group in params.load(path).groups.values() for id_ in group.annotators]
    units = [abc_project.unit(f"u{i}", worker, [abc_project.A]) for i, worker in enumerate(workers)]
    marks = [abc_project.mark(unit["id"], "quality", "3") for unit in units]
    chat = abc_project.dialogue(abc_project.A, "emora", [], {"quality": marks})
    likert = {"student_external_likert": abc_project.evaluation([chat], units)}
    own = abc_project.collection()
    own["work_units"]["c1"]["worker_id"] = "worker14"
    for name, content in {
        "data_student_external_likert.json": likert,
        "data_student_external_comparative.json": {"student_external_comparative": None},
        "data.json": {"dialogue_collection": own, "surge_evaluation": None},
    }.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    built = build.build(params.load(path))
    assert rows(built).groupby("group")["annotator"].nunique().to_dict() == {"dev_x": 3, "stu_i": 1, "stu_x": 8}
    assert set(rows(built, group="stu_i")["annotator"]) < set(rows(built, group="stu_x")["annotator"])
