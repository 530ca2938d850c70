"""FED: turns and whole conversations share their dialogue; "N/A (reason)" is missing, and the reason is kept."""

import pytest
from fixtures.raw_file_studies import build_from, counted

from judgebook.study.schema import DataError

YAML = """
sources:
  - {adapter: fed, file: data.json, scores: scores.csv}
labels:
  fluent: {scale: [0, 2], method: turn_rating}
  overall: {scale: [0, 4], method: turn_rating}
  error_recovery: {scale: [0, 2], method: dialogue_rating}
  overall_dialogue: {id: overall, scale: [0, 4], method: dialogue_rating}
"""
FIRST = "User: Hi!\nSystem: Hello: you?\nUser: Fine"
TURNS = [
    {
        "context": "User: Hi!",
        "response": "System: Hello: you?",
        "system": "Bot",
        "annotations": {"Fluent": [2, "N/A (no idea)", 1], "Overall": [4, 3, 0]},
    },
    {
        "context": FIRST,
        "response": "System: Good",
        "system": "Bot",
        "annotations": {"Fluent": [2, 2, 2], "Overall": [1, 1, 1]},
    },
]
WHOLE = {
    "context": FIRST,
    "system": "Bot",
    "annotations": {"Error recovery": ["N/A (No errors)", "N/A (none)", 2], "Overall": [3, 3, 3]},
}
SECOND = {
    "context": "User: So\nUser: tell me\nSystem: Why?\nUser: Because",
    "system": "Person",
    "annotations": {"Error recovery": [0, 1, 2], "Overall": [3, 3, 3]},
}
DATA = [*TURNS, WHOLE, SECOND]
SCORES = "fed_index,level,system,fluent\n0,turn,Bot,-0.5\n1,turn,Bot,0.25\n2,dialog,Bot,7.5\n3,dialog,Person,1e-3\n"


def mini(tmp_path, data=None, scores=SCORES):
    return build_from(tmp_path, YAML, {"data.json": DATA if data is None else data, "scores.csv": scores})


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return mini(tmp_path_factory.mktemp("fed"))


def test_turns_and_the_whole_share_a_dialogue(built):
    marks = built.frames["annotations"]
    turns = marks[marks["method"] == "turn_rating"]
    assert turns.groupby(["dialogue", "turn"]).size().to_dict() == {("d000", 0): 5, ("d000", 1): 6}
    whole = marks[marks["method"] == "dialogue_rating"]
    assert whole["turn"].isna().all()
    assert set(whole["dialogue"]) == {"d000", "d001"}
    assert set(marks["annotator"]) == {"pos0", "pos1", "pos2"}
    assert not marks["annotator_known"].any()


def test_not_applicable_is_missing_and_its_reason_kept(built):
    assert counted(built, "turn annotations", "dropped") == {"Fluent: N/A, with the annotator's reason": 1}
    assert counted(built, "dialogue annotations", "dropped") == {"Error recovery: N/A, with the annotator's reason": 2}
    assert counted(built, "dialogue annotations", "kept") == {"": 10}
    facts = built.frames["dialogue_facts"]
    assert facts["value"].tolist() == ["fluent", "error_recovery", "error_recovery"]
    assert facts["text"].tolist() == ["no idea", "No errors", "none"]
    left = built.frames["annotations"].query("label == 'error_recovery' and dialogue == 'd000'")
    assert left[["annotator", "score"]].to_numpy().tolist() == [["pos2", 2.0]]


def test_a_conversation_has_a_turn_for_each_reply(built):
    texts = built.frames["dialogues"][["dialogue", "turn", "user_text", "system_text"]]
    assert texts.to_numpy().tolist() == [
        ["d000", 0, "Hi!", "Hello: you?"],
        ["d000", 1, "Fine", "Good"],
        ["d001", 0, "So\ntell me", "Why?"],
    ]
    assert counted(built, "user turns", "dropped") == {"the user's last words, without a reply": 1}


def test_scores_go_to_the_unit_of_their_record(built):
    scores = built.frames["metric_scores"]
    assert set(scores["metric"]) == {"fed_fluent"}
    assert scores["turn"].astype(object).where(scores["turn"].notna(), None).tolist() == [0, 1, None, None]
    assert scores["score"].tolist() == [-0.5, 0.25, 7.5, 0.001]


@pytest.mark.parametrize(
    ("data", "scores", "message"),
    [
        (TURNS, SCORES, "record 0: expected a record of the whole conversation after its turns"),
        ([TURNS[0], SECOND], SCORES, "record 0, context: expected a beginning of the same conversation"),
        ([{**WHOLE, "annotations": {"Overall": [9]}}], SCORES, "a whole number from 0 to 4 (overall), found 9"),
        (DATA, SCORES.replace("3,dialog,Person", "3,dialog,Bot"), "row 5, fed_index: expected a record"),
        (
            [{**TURNS[0], "context": "", "response": ""}, WHOLE],
            SCORES,
            "record 0, response: expected a line that starts with `System: `, found empty text",
        ),
        (DATA, SCORES.replace("\n1,", "\n" + "1" * 5000 + ","), "row 3, fed_index: expected a record"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, data, scores, message):
    with pytest.raises(DataError) as error:
        mini(tmp_path, data, scores)
    assert message in str(error.value)
