"""Weights of marked errors, options that were chosen, and comparisons that ranks and choices imply."""

import json

import pytest
import yaml

from judgebook.sources import build
from judgebook.study import params
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError

MARKED = """\
system,seg,rater,category,severity
a,1,r1,Accuracy/Omission,Major
a,1,r1,Fluency/Punctuation,Minor
a,1,r2,No-error,No-error
a,2,r1,Non-translation!,Major
b,1,r1,Style/Awkward,minor
b,1,r1,Style/Awkward,minor
"""
ERRORS = {
    "scores": "severity",
    "columns": {"system": "system", "annotator": "rater"},
    "identify": {"dialogue": ["seg", "system"]},
    "constants": {"label": "mqm"},
    "errors": {"category": "category"},
}
SHOWN = "p,w,i1,i2,i3,i4,best,worst\n1,a,A,B,C,D,B,3\n1,b,A,B,C,D,a,D\n2,a,D,C,B,A,i2,D\n3,a,D,C,B,A,,\n"
CHOSEN = {
    "scores": "i{k}",
    "chosen": {"best": 1, "worst": -1},
    "columns": {"annotator": "w", "context": "p", "system": "{value}"},
    "identify": {"dialogue": ["p", "{value}"]},
    "constants": {"label": "better"},
}
COMPARED = {"scale": [-1, 1], "direction": 1}
PENALTY = {"scale": [0, 25], "integer": False, "direction": -1}


def built(folder, text, source, labels, method="dialogue_rating"):
    (folder / "f.csv").write_text(text, encoding="utf-8")
    content = {
        "title": "A file",
        "method": method,
        "sources": [{"adapter": "records", "file": "f.csv", **source}],
        "labels": labels,
    }
    (folder / "odd.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return build.build(params.load(folder / "odd.yaml"))


def held(folder, text, source, labels, *columns, method="dialogue_rating"):
    marks = built(folder, text, source, labels, method).frames["annotations"]
    return list(marks[[*columns, "score"]].itertuples(index=False, name=None))


def test_an_item_has_the_sum_of_the_weights_of_its_errors_and_0_without_any(tmp_path):
    frames = built(tmp_path, MARKED, ERRORS, {"mqm": PENALTY}).frames
    rows = list(frames["annotations"][["dialogue", "annotator", "score"]].itertuples(index=False, name=None))
    counts = frames["counts"].query("what == 'rows of errors'").set_index("action")["n"]
    assert counts.to_dict() == {"read": 6, "dropped": 6}
    assert rows == [("1_a", "A0001", 5.1), ("1_a", "A0002", 0), ("2_a", "A0001", 25), ("1_b", "A0001", 2)]


def test_weights_of_the_yaml_come_before_those_of_the_paper(tmp_path):
    own = {"category": "category", "weights": {"minor": 2}, "categories": {"Accuracy": 7, "Non-translation": 0}}
    rows = held(tmp_path, MARKED, ERRORS | {"errors": own}, {"mqm": PENALTY}, "dialogue", "annotator")
    assert rows == [("1_a", "A0001", 7.1), ("1_a", "A0002", 0), ("2_a", "A0001", 0), ("1_b", "A0001", 4)]


def test_where_kinds_of_errors_are_labels_who_marked_none_of_a_kind_gave_0(tmp_path):
    kinds = {"Accuracy/Omission": "accuracy", "Non-translation!": "accuracy", "Fluency/Punctuation": "fluency"}
    source = {k: v for k, v in ERRORS.items() if k != "constants"} | {
        "label_names": kinds | {"Style/Awkward": "style"},
        "columns": ERRORS["columns"] | {"label": "category"},
    }
    labels = dict.fromkeys(("accuracy", "fluency", "style"), PENALTY)
    rows = held(tmp_path, MARKED, source, labels, "dialogue", "annotator", "label")
    wanted = {("1_a", "A0001", "accuracy"): 5, ("1_a", "A0001", "fluency"): 0.1, ("2_a", "A0001", "accuracy"): 25}
    wanted[("1_b", "A0001", "style")] = 2
    judged = [("1_a", "A0001"), ("1_a", "A0002"), ("2_a", "A0001"), ("1_b", "A0001")]
    assert rows == [(*who, x, wanted.get((*who, x), 0)) for who in judged for x in labels]


def test_a_severity_without_a_weight_is_reported_with_what_to_write(tmp_path):
    with pytest.raises(
        DataError, match=r"row 2, severity, score: .* found 'Critical'; .*`errors: {weights: {Critical: 1}}`"
    ):
        held(tmp_path, MARKED.replace("Omission,Major", "Omission,Critical"), ERRORS, {"mqm": PENALTY})


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"drop": {"category": "Style/Awkward"}}, "a weight of 0 leaves errors out"),
        ({"columns": {"system": "system"}, "annotators": "positions"}, "errors: those of one annotator are added"),
    ],
)
def test_what_would_make_sums_wrong_is_refused(tmp_path, more, message):
    with pytest.raises(ParamsError, match=message):
        held(tmp_path, MARKED, ERRORS | more, {"mqm": PENALTY})


def test_an_option_is_chosen_by_what_it_is_its_place_its_letter_or_its_column(tmp_path):
    rows = held(tmp_path, SHOWN, CHOSEN, {"better": COMPARED}, "context", "annotator", "system")
    assert [r for r in rows if r[-1]] == [
        ("1", "A0001", "B", 1), ("1", "A0001", "C", -1), ("1", "A0002", "A", 1), ("1", "A0002", "D", -1),
        ("2", "A0001", "D", -1), ("2", "A0001", "C", 1),
    ]  # fmt: skip
    assert len(rows) == 12


def test_the_best_beats_all_others_and_all_others_beat_the_worst(tmp_path):
    source = CHOSEN | {"pairs": "high"}
    rows = held(tmp_path, SHOWN, source, {"better": COMPARED}, "annotator", "system", "system_b", method="comparative")
    assert rows[:5] == [
        ("A0001", "A", "B", -1), ("A0001", "A", "C", 1), ("A0001", "B", "C", 1), ("A0001", "B", "D", 1),
        ("A0001", "C", "D", -1),
    ]  # fmt: skip
    assert len(rows) == 3 * 5


def test_ranks_imply_comparisons_and_equal_ranks_a_tie(tmp_path):
    source = {
        "scores": "ranking:ranking.{system}",
        "pairs": "low",
        "columns": {"annotator": "w", "context": "p"},
        "identify": {"dialogue": ["p", "{system}"]},
        "constants": {"label": "better"},
    }
    text = "p,w,ranking\n1,a,A > B = C\n1,b,C > A > B\n"
    rows = held(tmp_path, text, source, {"better": COMPARED}, "annotator", "system", "system_b", method="comparative")
    assert rows == [
        ("A0001", "A", "B", 1), ("A0001", "A", "C", 1), ("A0001", "B", "C", 0),
        ("A0002", "A", "C", -1), ("A0002", "B", "C", -1), ("A0002", "A", "B", 1),
    ]  # fmt: skip


def test_rows_of_one_annotator_are_compared_within_their_context(tmp_path):
    source = {
        "scores": "rank",
        "pairs": "low",
        "columns": {"annotator": "w", "context": "p", "system": "s"},
        "identify": {"dialogue": ["p", "s"]},
        "constants": {"label": "better"},
    }
    text = "p,w,s,rank\n1,a,A,1\n1,a,B,2\n1,b,A,1\n1,b,B,1\n2,a,A,2\n2,a,B,1\n"
    rows = held(tmp_path, text, source, {"better": COMPARED}, "context", "annotator", "system", method="comparative")
    assert rows == [("1", "A0001", "A", 1), ("1", "A0002", "A", 0), ("2", "A0001", "A", -1)]
    alone = "p,w,s,rank\n1,a,A,1\n2,a,B,2\n"
    with pytest.raises(DataError, match="expected two options to compare"):
        held(tmp_path, alone, source, {"better": COMPARED}, method="comparative")


def test_in_json_an_empty_list_of_errors_is_a_score_of_0(tmp_path):
    spans = [{"severity": "major", "type": "Accuracy/Omission"}, {"severity": "minor", "type": "Fluency/Punctuation"}]
    records = [
        {"id": "1", "system": "a", "by": [{"who": "r1", "spans": spans}, {"who": "r2", "spans": []}]},
        {"id": "2", "system": "a", "by": [{"who": "r1", "spans": spans[1:]}]},
    ]
    (tmp_path / "f.json").write_text(json.dumps(records), encoding="utf-8")
    source = {
        "file": "f.json",
        "scores": "by.[].spans.[].severity",
        "empty": "No-error",
        "errors": {"category": "by.[].spans.[].type"},
        "columns": {"dialogue": "id", "system": "system", "annotator": "by.[].who"},
        "constants": {"label": "mqm"},
    }
    rows = held(tmp_path, "", source, {"mqm": PENALTY}, "dialogue", "annotator")
    assert rows == [("1", "A0001", 5.1), ("1", "A0002", 0), ("2", "A0001", 0.1)]
