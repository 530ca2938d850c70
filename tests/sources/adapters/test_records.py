"""Records by paths: what a path leads to, and that each situation in the documentation is read as it says."""

import json
import re

import pytest
import yaml
from fixtures import workbook
from fixtures import yaml_studies as studies

from judgebook.study import params
from judgebook.study.schema import DataError

PAGE = (params.ROOT / "docs" / "own_data.md").read_text(encoding="utf-8")
SITUATIONS = {
    int(m[1]): m[2] for m in re.finditer(r"^### ([0-9]+)\. .*?\n(.*?)(?=^##)", PAGE, re.DOTALL | re.MULTILINE)
}


def situation(number, *, kind="yaml"):
    return re.search(rf"```{kind}\n(.*?)```", SITUATIONS[number], re.DOTALL)[1]


def values(built, *columns):
    """Judgements as tuples, in the order of the source."""
    marks = built.frames["annotations"].sort_values("source_row")
    marks["turn"] = marks["turn"].astype(object).where(marks["turn"].notna(), None)
    return [tuple(row) for row in marks[[*columns, "score"]].itertuples(index=False)]


def test_one_key_per_label(tmp_path):
    assert sorted(SITUATIONS) == list(range(1, 11)), "each is tried here"
    content = situation(1, kind="json")
    built = studies.read(tmp_path, situation(1), ratings_json=content)
    assert values(built, "dialogue", "system", "annotator", "label") == [
        ("d1", "A", "A0001", "fluency", 4),
        ("d1", "A", "A0001", "relevance", 5),
    ]


def test_turns_in_dialogues(tmp_path):
    built = studies.read(tmp_path, situation(2), dialogues_jsonl=situation(2, kind="json") * 1)
    assert values(built, "dialogue", "turn", "annotator", "label") == [
        ("7", 0, "A0001", "acceptable", 1),
        ("7", 0, "A0002", "acceptable", 0),
    ]
    assert built.frames["dialogues"][["user_text", "system_text"]].to_numpy().tolist() == [["Hi", "Hello"]]


def test_keys_that_are_values(tmp_path):
    models = {"gpt": {"item_1": 3, "item_2": None}}
    built = studies.read(tmp_path, situation(3), human_json=situation(3, kind="json"), models_json=models)
    assert values(built, "dialogue", "annotator", "annotator_kind") == [
        ("item_1", "A0001", "human", 4),
        ("item_2", "A0001", "human", 2),
        ("item_1", "A0002", "human", 5),
        ("item_1", "gpt", "llm", 3),
    ]
    counts = built.frames["counts"].query("what == 'annotations'").set_index(["file", "action"])["n"]
    assert (counts["models.json", "read"], counts["models.json", "dropped"], counts["models.json", "kept"]) == (2, 1, 1)


def test_answers_in_words(tmp_path):
    built = studies.read(tmp_path, situation(4), safety_json=situation(4, kind="json"))
    assert values(built, "dialogue", "annotator", "label") == [
        ("1", "pos0", "safety", 0),
        ("1", "pos1", "safety", 1),
        ("1", "pos2", "safety", 2),
    ]
    assert not built.frames["annotations"]["annotator_known"].any()
    # a place in a list is no person unless the YAML says so
    people = situation(4).replace("safety.json", "safety.json\n    annotators: people")
    marks = studies.read(tmp_path, people, safety_json=situation(4, kind="json")).frames["annotations"]
    assert marks["annotator"].tolist() == ["A0001", "A0002", "A0003"]
    assert marks["annotator_known"].all()
    bad = situation(4, kind="json").replace("Unsure", "unsure")
    with pytest.raises(DataError, match=r"expected one of No, Yes, Unsure \(safety\), found 'unsure' \(did you mean"):
        studies.read(tmp_path, situation(4), safety_json=bad)


def test_one_file_each_and_a_join(tmp_path):
    texts = '{"id": 1, "model": "A", "response": "x"}\n{"id": 2, "model": "B", "response": "y"}\n'
    built = studies.read(
        tmp_path,
        situation(5),
        ratings_ann_csv="item,fluency\n1,4\n2,5\n",
        ratings_ben_csv="item,fluency\n1,3\n",
        ratings_gpt4_csv="item,fluency\n2,1\n",
        texts_jsonl=texts,
    )
    assert values(built, "dialogue", "system", "annotator", "annotator_kind") == [
        ("1", "A", "A0001", "human", 4),
        ("2", "B", "A0001", "human", 5),
        ("1", "A", "A0002", "human", 3),
        ("2", "B", "gpt4", "llm", 1),
    ]
    assert built.frames["dialogues"].set_index("dialogue")["system_text"].to_dict() == {"1": "x", "2": "y"}


def test_side_by_side(tmp_path):
    records = [
        {"idx": 0, "pair": "a-1_b-2", "annotator1": 1, "annotator2": 2},
        {"idx": 1, "pair": "b-2_a-1", "annotator1": 0},
    ]
    built = studies.read(tmp_path, situation(6), testset_json=records)
    assert values(built, "context", "system", "system_b", "annotator") == [
        ("0", "a-1", "b-2", "A0001", 1),
        ("0", "a-1", "b-2", "A0002", -1),
        ("1", "b-2", "a-1", "A0001", 0),
    ]
    named = situation(6).replace('"1": 1, "0": 0, "2": -1', "tie: 0")
    votes = [{"idx": 0, "pair": "a-1_b-2", "annotator1": "a-1", "annotator2": "b-2", "annotator3": "tie"}]
    assert [row[-1] for row in values(studies.read(tmp_path, named, testset_json=votes), "annotator")] == [1, -1, 0]
    with pytest.raises(DataError, match="can be divided as 'a' \\+ 'x_b' or 'a_x' \\+ 'b'"):
        studies.read(tmp_path, situation(6), testset_json=[{"idx": 0, "pair": "a_x_b", "annotator1": 1}])


def test_two_indices_and_rejected_work(tmp_path):
    places = [(i, j) for i in (1, 2) for j in (1, 2)]
    head = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds"]
    head += [f"Input.system{i}{j}" for i, j in places] + [f"Input.response{i}{j}" for i, j in places]
    head += [f"Answer.grammar{i}{j}" for i, j in places] + ["Approve", "Reject"]
    rows = [
        ["h1", f"a{k}", f"w{k}", status, "60", *"ABBA", *"pqrs", *marks]
        for k, (status, marks) in enumerate([("Approved", ["Yes", "No", "Yes", ""]), ("Rejected", ["No"] * 4)])
    ]
    built = studies.read(tmp_path, situation(7), Batch_results_csv="\n".join(",".join(r) for r in [head, *rows]))
    assert values(built, "dialogue", "system", "context", "annotator") == [
        ("h1_1_1", "A", "h1_1", "A0001", 1),
        ("h1_1_2", "B", "h1_1", "A0001", 0),
        ("h1_2_1", "B", "h1_2", "A0001", 1),
    ]
    dropped = built.frames["counts"].query("action == 'dropped' and what == 'annotations'").set_index("reason")["n"]
    assert dropped.to_dict() == {"AssignmentStatus is not Approved or Submitted (`keep`)": 4, "no score": 1}
    assert built.frames["annotations"]["seconds"].eq(60).all()


def test_a_questionnaire(tmp_path):
    survey = (
        "ResponseId,Status,Duration (in seconds),Chat,Q1,Q2,Q3\n"
        "Response ID,Response Type,Duration,Which chat?,Fun?,Again?,Boring?\n"
        '"{""ImportId"":1}",x,x,x,x,x,x\n'
        "R1,IP Address,120,d000 (alpha-bot),Always,Sometimes,Never\n"
        "R2,IP Address,30,d000 (alpha-bot),Always,Always,Always\n"
        "R3,Survey Preview,90,d000 (alpha-bot),Never,Never,Never\n"
        "R4,IP Address,90,d001 (beta),Never,,Always\n"
    )
    built = studies.read(tmp_path, situation(8), survey_csv=survey)
    assert values(built, "dialogue", "system", "label") == [("d000", "alpha-bot", "engagement", pytest.approx(8 / 3))]
    dropped = built.frames["counts"].query("action == 'dropped' and what == 'annotations'").set_index("reason")["n"]
    assert dropped.to_dict() == {
        "Status is Survey Preview (`drop`)": 1,
        "Duration (in seconds) <60 (`drop`)": 1,
        "too few of its questions answered (`composites`)": 1,
    }


def test_a_list_in_a_cell(tmp_path):
    built = studies.read(
        tmp_path, situation(9), ratings_tsv='d1\tA\tsaid "no\t3,4\nd2\tB\tx\t5, 1, 2\n'.replace('"', "")
    )
    assert values(built, "dialogue", "annotator") == [
        ("d1", "pos0", 3),
        ("d1", "pos1", 4),
        ("d2", "pos0", 5),
        ("d2", "pos1", 1),
        ("d2", "pos2", 2),
    ]


def test_a_workbook_with_two_header_rows(tmp_path):
    pytest.importorskip("python_calamine")
    rows = [["Item", "Fluency", None, "Coherence"], [None, "Ann", "Ben", "Ann"], ["d1", 4, 5, 2], ["d2", None, 1, 3]]
    workbook.write(tmp_path / "ratings.xlsx", {"Ratings": rows, "Notes": [["about these"]]})
    built = studies.read(tmp_path, situation(10))
    assert values(built, "dialogue", "annotator", "label") == [
        ("d1", "A0001", "fluency", 4),
        ("d1", "A0002", "fluency", 5),
        ("d1", "A0001", "coherence", 2),
        ("d2", "A0002", "fluency", 1),
        ("d2", "A0001", "coherence", 3),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": "score.{label}"}, r"expected a key 'score', found id, model, rater, scores; did you mean 'scores'"),
        ({"scores": "scores", "constants": {"label": "fluency"}}, "expected a score, found an object"),
        ({"columns": {"dialogue": "scores", "annotator": "rater"}}, r"expected text or a number, found an object"),
    ],
)
def test_paths_that_lead_nowhere(tmp_path, change, message):
    study = yaml.safe_load(situation(1))
    study["sources"][0] |= change
    with pytest.raises(DataError, match=message):
        studies.read(tmp_path, yaml.safe_dump(study), ratings_json=json.loads(situation(1, kind="json")))


def test_a_system_is_left_out_on_either_side(tmp_path):
    records = [
        {"idx": 0, "pair": "a_b", "annotator1": 1},
        {"idx": 1, "pair": "c_a", "annotator1": 1},
        {"idx": 2, "pair": "b_c", "annotator1": 2},
    ]
    text = situation(6).replace("    constants", "    drop: {system: a}\n    constants")
    marks = studies.read(tmp_path, text, testset_json=records).frames["annotations"]
    assert marks[["system", "system_b"]].to_numpy().tolist() == [["b", "c"]]
    above = situation(6) + "keep: {system: [b, c]}\n"
    assert len(studies.read(tmp_path, above, testset_json=records).frames["annotations"]) == 1


def test_filters_of_the_study(tmp_path):
    """`keep` and `drop` at the top concern all sources; reasons name nobody."""
    text = situation(3) + "drop: {annotator: ben}\nkeep: {dialogue: item_1}\n"
    models = {"gpt": {"item_1": 3, "item_2": 2}}
    built = studies.read(tmp_path, text, human_json=situation(3, kind="json"), models_json=models)
    assert values(built, "dialogue", "annotator") == [("item_1", "A0001", 4), ("item_1", "gpt", 3)]
    dropped = built.frames["counts"].query("action == 'dropped'").groupby("reason")["n"].sum()
    assert dropped.to_dict() == {"annotator is one of those left out (`drop`)": 1, "dialogue is not item_1 (`keep`)": 2}


def test_a_key_that_is_the_answer(tmp_path):
    """True: the key; false or nothing: none was given; anything else is the answer itself."""
    yaml = """\
title: Keys
sources:
  - adapter: records
    file: keys.json
    scores: "marks.{label}.{score}"
    columns: {dialogue: id, annotator: by}
    na_values: ["", "9"]
labels:
  mood: {categories: [bad, good]}
  grade: {scale: [1, 100]}
"""
    mood = [{"good": True, "bad": False}, {"good": "", "bad": "true"}, {"good": None, "bad": "FALSE"}]
    grade = [{"slider": "57"}, {"scale_4": 4}, {"slider": "9"}]
    held = [{"id": f"d{i}", "by": "ann", "marks": {"mood": mood[i], "grade": grade[i]}} for i in range(3)]
    built = studies.read(tmp_path, yaml, keys_json=held)
    assert values(built, "dialogue", "label") == [
        ("d0", "mood", 1), ("d0", "grade", 57), ("d1", "mood", 0), ("d1", "grade", 4)
    ]  # fmt: skip


BESIDE = """\
title: Models as keys
method: dialogue_rating
sources:
  - adapter: records
    file: f.json
    scores: "SCORES"
    columns: {annotator: by, context: id}
    identify: {dialogue: [id, "{system}"]}
    constants: {label: quality}
    KEEP
labels: {quality: {scale: [1, 5]}}
"""


@pytest.mark.parametrize(
    ("scores", "keep", "held"),
    [("{system}.score", "", lambda n: {"score": n}), ("{system}", "keep: {system: [a, b]}", lambda n: n)],
)
def test_keys_beside_those_of_systems(tmp_path, scores, keep, held):
    text = BESIDE.replace("SCORES", scores).replace("KEEP", keep)
    records = [{"id": f"d{i}", "prompt": "Hi", "by": "w", "a": held(4), "b": held(i + 1)} for i in range(3)]
    assert values(studies.read(tmp_path, text, f_json=records), "dialogue", "system") == [
        row for i in range(3) for row in ((f"d{i}_a", "a", 4), (f"d{i}_b", "b", i + 1))
    ]
    if not keep:
        records[2]["b"] = "lost"
        with pytest.raises(DataError, match=r"record 3, b, .*, as in other records, found none"):
            studies.read(tmp_path, text, f_json=records)
