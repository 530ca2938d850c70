"""Spot The Bot: points for person, unsure, bot; items are chats at a cut; clock times are no durations."""

import pytest
from fixtures.raw_file_studies import build_from, counted

from judgebook.study.schema import DataError

YAML = """
sources:
  - {adapter: spot_the_bot, file: marks.csv}
labels:
  human_like: {scale: [-1, 1], method: pairwise_dialogue}
  is_human: {scale: [0, 2], method: dialogue_rating}
  fluency: {scale: [0, 1], method: dialogue_rating}
  sensible: {scale: [0, 1], method: dialogue_rating}
  specific: {scale: [0, 1], method: dialogue_rating}
"""
HEAD = (
    "domain,annotation,convo_id,package_id,annotator,system0,system1,n_exchanges,n_utterances_in_convo,is_human0,"
    "is_human1,fluency0,fluency1,sensible0,sensible1,specific0,specific1,winner,start_ms,elapsed_ms\n"
)
ROWS = [
    "talk,0,c1,p1,P,ann,bob,2,14,1,0,1,0,1,1,0,1,ann,1000,2500",
    "talk,1,c1,p1,P,ann,bob,5,14,,1,1,1,1,1,1,1,bob,1000,4000",
    "talk,2,c1,p2,Q,ann,bob,2,14,,,1,1,1,1,1,1,tie,-1,1589934038088",
    "talk,3,c1,p1,P,ann,bob,2,14,0,0,1,1,1,1,1,1,tie,9000,1000",
    "talk,4,c2,p1,P,human,human,3,8,1,0,1,1,1,1,1,1,human,1000,5000",
]


def mini(tmp_path, rows=ROWS):
    return build_from(tmp_path, YAML, {"marks.csv": HEAD + "\n".join(rows) + "\n"})


def test_the_side_with_more_points_wins(tmp_path):
    marks = mini(tmp_path).frames["annotations"]
    pairs = marks[marks["method"] == "pairwise_dialogue"]
    assert pairs["score"].tolist() == [1, -1, 0, 1]
    assert pairs["dialogue"].tolist() == ["c1@2/0", "c1@5/0", "c1@2/0", "c2@3/0"]
    assert pairs["dialogue_b"].tolist() == ["c1@2/1", "c1@5/1", "c1@2/1", "c2@3/1"]
    assert pairs["system_b"].tolist() == ["bob", "bob", "bob", "human"]
    assert pairs["session"].tolist() == ["c1", "c1", "c1", "c2"]
    points = marks[(marks["label"] == "is_human") & (marks["context"] == "c1@2")]
    assert list(zip(points["system"], points["score"], strict=True)) == [("ann", 2), ("bob", 0), ("ann", 1), ("bob", 1)]
    fluent = marks[(marks["label"] == "fluency") & (marks["source_row"] < 9)]
    assert list(zip(fluent["dialogue"], fluent["score"], strict=True)) == [("c1@2/0", 1), ("c1@2/1", 0)]


def test_a_second_annotation_by_one_person_and_a_clock_time_are_dropped(tmp_path):
    built = mini(tmp_path)
    assert counted(built, "comparisons", "read") == {"": 5}
    assert counted(built, "comparisons", "kept") == {"": 4}
    assert counted(built, "comparisons", "dropped") == {"a second annotation of one chat and cut by one person": 1}
    assert counted(built, "durations", "dropped") == {"no start recorded: elapsed is a clock time": 1}
    for frame in (built.frames["work_units"], built.frames["annotations"].drop_duplicates("work_unit")):
        assert frame["seconds"].dropna().tolist() == [2.5, 4.0, 5.0]
    facts = built.frames["dialogue_facts"].query("key == 'n_exchanges'").set_index("dialogue")["value"]
    assert facts.to_dict() == {
        f"{chat}@{n}/{k}": n for chat, n in (("c1", "2"), ("c1", "5"), ("c2", "3")) for k in "01"
    }


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "talk,5,c3,p1,P,ann,bob,2,14,1,0,1,1,1,1,1,1,tie,1,1",
            "row 7, winner: expected ann (person 2, unsure 1, bot 0)",
        ),
        ("talk,5,c3,p1,P,ann,bob,2,14,1,0,,1,1,1,1,1,ann,1,1", "row 7, fluency0: expected one of 0, 1"),
        ("talk,5,,p1,P,ann,bob,2,14,1,0,1,1,1,1,1,1,ann,1,1", "row 7, convo_id: expected a value, found nothing"),
        (
            f"talk,5,c3,p1,P,ann,bob,2,14,1,0,1,1,1,1,1,1,ann,1,{'9' * 400}",
            "row 7, elapsed_ms: expected a whole number, found 999",
        ),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, row, message):
    with pytest.raises(DataError) as error:
        mini(tmp_path, [*ROWS, row])
    assert message in str(error.value)
