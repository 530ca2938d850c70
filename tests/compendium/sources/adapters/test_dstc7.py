"""DSTC7: a judge counts once for a response; two names of one system are one; the organisers' means come out."""

import pytest
from fixtures.raw_file_studies import build_from, counted

from judgebook.study.schema import DataError

YAML = """
method: turn_rating
sources:
  - adapter: dstc7
    file: judged.tsv
    responses: responses.tsv
    same_system: {BA: AB}
    reference_system: Human
labels:
  relevance: {scale: [1, 5]}
"""
JUDGED = """\ufeffJudgeID\tInstanceID\tSystemID\tRelevance
j1\ti1\tAB\t3
j2\ti1\tAB\t4
j1\ti1\tAB\t3
j2\ti1\tAB\t5
j1\ti1\tBA\t2
j3\ti1\tBA\t1
j1\ti1\tHuman\t5
j1\ti2\tHuman\t5
"""
RESPONSES = 'SystemID\tInstanceID\tResponse\nAB\ti1\tsay "hi\nHuman\ti1\tgold\nHuman\ti2\tother\n'


def test_the_first_judgement_of_a_judge_counts(tmp_path):
    built = build_from(tmp_path, YAML, {"judged.tsv": JUDGED, "responses.tsv": RESPONSES})
    marks = built.frames["annotations"]
    ours = marks[marks["dialogue"] == "AB/i1"]
    assert dict(zip(ours["annotator"], ours["score"], strict=True)) == {"A0001": 3.0, "A0002": 4.0, "A0003": 1.0}
    assert set(marks["system"]) == {"AB", "Human"}
    reason = "a second judgement of one response by one judge"
    assert counted(built, "rows", "dropped") == {
        f"{reason}, equal to one before": 1,
        f"{reason}, different": 1,
        f"{reason}, under another name of the system": 1,
    }
    assert counted(built, "rows", "read") == {"": 8}
    assert counted(built, "rows", "kept") == {"": 5}


def test_quotes_are_text_and_the_reference_is_not_its_own(tmp_path):
    built = build_from(tmp_path, YAML, {"judged.tsv": JUDGED, "responses.tsv": RESPONSES})
    texts = built.frames["dialogues"].set_index("dialogue")
    assert texts.loc["AB/i1", ["system_text", "reference"]].tolist() == ['say "hi', "gold"]
    assert texts.loc[["Human/i1", "Human/i2"], "reference"].isna().all()
    blanks = JUDGED.replace("j1\ti1\tBA", " j1\ti1 \tBA")
    again = build_from(tmp_path, YAML, {"judged.tsv": blanks, "responses.tsv": RESPONSES})
    for name, frame in built.frames.items():
        assert again.frames[name].equals(frame), name


@pytest.mark.parametrize(
    ("judged", "message"),
    [
        (JUDGED + "j9\ti9\tAB\tsix\n", "judged.tsv, row 10, score: expected a number, found 'six'"),
        (JUDGED + "j9\ti9\tAB\n", "judged.tsv, row 10: expected 4 cells, found 3"),
        (JUDGED + "\ti9\tAB\t3\n", "judged.tsv, row 10, JudgeID: expected a value, found nothing"),
        (
            "JudgeID\tInstanceID\tSystemID\t\t\tRelevance\nj\ti\tA\tx\ty\t3\n",
            "judged.tsv, row 1: expected named columns of scores in addition to the ids, found a column without",
        ),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, judged, message):
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, {"judged.tsv": judged, "responses.tsv": RESPONSES})
    assert message in str(error.value)
