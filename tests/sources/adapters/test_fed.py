"""FED: turns and whole conversations share their dialogue; "N/A (reason)" is missing, and the reason is kept."""

import json

import numpy as np
import pytest
from fixtures.raw_file_studies import build_from, counted, printed

from judgebook.sources.build import build
from judgebook.study import params
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


def test_turns_and_the_whole_share_a_dialogue(tmp_path):
    marks = mini(tmp_path).frames["annotations"]
    turns = marks[marks["method"] == "turn_rating"]
    assert turns.groupby("turn").size().to_dict() == {0: 5, 1: 6}
    assert set(turns["dialogue"]) == {"d000"}
    whole = marks[marks["method"] == "dialogue_rating"]
    assert whole["turn"].isna().all()
    assert set(whole["dialogue"]) == {"d000", "d001"}
    assert set(marks["annotator"]) == {"pos0", "pos1", "pos2"}
    assert not marks["annotator_known"].any()


def test_not_applicable_is_missing_and_its_reason_kept(tmp_path):
    built = mini(tmp_path)
    assert counted(built, "turn annotations", "dropped") == {"Fluent: N/A, with the annotator's reason": 1}
    assert counted(built, "dialogue annotations", "dropped") == {"Error recovery: N/A, with the annotator's reason": 2}
    assert counted(built, "dialogue annotations", "kept") == {"": 10}
    facts = built.frames["dialogue_facts"]
    assert facts["value"].tolist() == ["fluent", "error_recovery", "error_recovery"]
    assert facts["text"].tolist() == ["no idea", "No errors", "none"]
    marks = built.frames["annotations"]
    left = marks[(marks["label"] == "error_recovery") & (marks["dialogue"] == "d000")]
    assert left[["annotator", "score"]].to_numpy().tolist() == [["pos2", 2.0]]


def test_a_conversation_has_a_turn_for_each_reply(tmp_path):
    built = mini(tmp_path)
    texts = built.frames["dialogues"].set_index(["dialogue", "turn"])
    assert texts.loc[("d000", 0), "system_text"] == "Hello: you?"
    assert texts.loc[("d000", 1), ["user_text", "system_text"]].tolist() == ["Fine", "Good"]
    assert texts.loc[("d001", 0), "user_text"] == "So\ntell me"
    assert len(texts) == 3
    assert counted(built, "user turns", "dropped") == {"the user's last words, without a reply": 1}


def test_scores_go_to_the_unit_of_their_record(tmp_path):
    scores = mini(tmp_path).frames["metric_scores"]
    assert set(scores["metric"]) == {"fed_fluent"}
    assert scores["turn"].astype(object).where(scores["turn"].notna(), None).tolist() == [0, 1, None, None]
    assert scores["score"].tolist() == [-0.5, 0.25, 7.5, 0.001]


@pytest.mark.parametrize(
    ("data", "scores", "message"),
    [
        (TURNS, SCORES, "record 0: expected a record of the whole conversation after its turns"),
        ([TURNS[0], SECOND], SCORES, "record 0, context: expected a beginning of the same conversation"),
        ([{**WHOLE, "context": "Bot: hi"}], SCORES, "expected lines that start with `User: ` or `System: `"),
        ([{**WHOLE, "annotations": {"Overall": [9]}}], SCORES, "a whole number from 0 to 4 (overall), found 9"),
        ([{**WHOLE, "annotations": {"Overall": ""}}], SCORES, "a list of ratings, found empty text"),
        (DATA, SCORES.replace("3,dialog,Person", "3,dialog,Bot"), "row 5, fed_index: expected a record"),
        (DATA, SCORES.replace("fed_index", "index"), "row 1, fed_index: expected columns fed_index, level, system"),
        (
            [{**TURNS[0], "context": "", "response": ""}, WHOLE],
            SCORES,
            "record 0, response: expected a line that starts with `System: `, found empty text",
        ),
        (
            [{**TURNS[0], "context": "System: Hi", "response": ""}, WHOLE],
            SCORES,
            "record 0, response: expected a line that starts with `System: `, found empty text",
        ),
        (DATA, SCORES.replace("\n1,", "\n" + "1" * 5000 + ","), "row 3, fed_index: expected a record"),
        (
            DATA,
            "\n".join(line + (",," if i == 0 else ",1,1") for i, line in enumerate(SCORES.splitlines())) + "\n",
            "scores.csv, row 1: expected named columns of scores in addition to the ids, found a column without",
        ),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, data, scores, message):
    with pytest.raises(DataError) as error:
        mini(tmp_path, data, scores)
    assert message in str(error.value)


@pytest.fixture(scope="module")
def fed(raw_data):
    return build(params.load("fed"))


@pytest.mark.data
def test_sizes_of_the_public_file(fed):
    marks, scores = fed.frames["annotations"], fed.frames["metric_scores"]
    assert marks.groupby("method").size().to_dict() == {"turn_rating": 16_863, "dialogue_rating": 6_720}
    assert marks.groupby("method")["label"].nunique().to_dict() == {"turn_rating": 9, "dialogue_rating": 11}
    assert set(marks["system"]) == {"Meena", "Mitsuku", "Human"}
    assert sum(counted(fed, "turn annotations", "dropped").values()) == 12
    dropped = counted(fed, "dialogue annotations", "dropped")
    assert sum(dropped.values()) == 155
    assert dropped["Error recovery: N/A, with the annotator's reason"] == 154
    recovery = marks[marks["label"] == "error_recovery"].groupby("dialogue").size()
    assert (recovery.eq(1).sum(), 125 - len(recovery)) == (7, 1)
    assert len(scores) == 500 * 18
    turns = marks.loc[marks["turn"].notna(), ["dialogue", "turn"]].drop_duplicates()
    assert turns.groupby("dialogue").size().tolist() == [3] * 125


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "whole"), [("turn_level_model_score_list.json", False), ("dialog_level_model_scores.json", True)]
)
def test_scores_equal_the_upstream_lists(fed, raw_data, file, whole):
    given = json.loads((raw_data / "fed" / file).read_text(encoding="utf-8"))
    scores = fed.frames["metric_scores"]
    scores = scores[scores["turn"].isna() == whole]
    names = {"understanding": "understand"}
    for criterion, values in given.items():
        name = criterion.lower().replace(" ", "_")
        ours = scores.loc[scores["metric"] == f"fed_{names.get(name, name)}", "score"]
        np.testing.assert_array_equal(ours.to_numpy(), values, err_msg=criterion)


@pytest.mark.data
def test_ratings_give_the_upstream_means(fed, raw_data):
    """Upstream drops the rating farthest from a unit's mean, averages the rest, and adds 1 (not for Consistent)."""
    path = raw_data / "fed" / "dialog_level_annotators_scores.json"
    given = json.loads(path.read_text(encoding="utf-8"))
    marks = fed.frames["annotations"]
    marks = marks[marks["method"] == "dialogue_rating"]
    compared = 0
    for criterion, means in given.items():
        ours = marks[marks["label"] == criterion.lower().replace(" ", "_")].groupby("dialogue")["score"].apply(list)
        for dialogue, mean in zip(sorted(marks["dialogue"].unique()), means, strict=True):
            scores = np.array(ours.get(dialogue, []))
            if len(scores) < 5:
                continue  # how upstream treats N/A is not part of the rule
            far, shift = np.abs(scores - scores.mean()), criterion != "Consistent"
            candidates = [np.delete(scores, i).mean() + shift for i in np.flatnonzero(np.isclose(far, far.max()))]
            assert np.isclose(candidates, mean).any(), (criterion, dialogue)
            compared += 1
    assert compared > 1_000


@pytest.mark.data
def test_texts_have_the_lengths_that_zhang_et_al_2022_print(fed):
    """Turn level with the speakers' names (a word an utterance); dialogue level without them.

    At dialogue level the last utterance of the rated text, the user's, is left out too.
    """
    texts = fed.frames["dialogues"].copy()
    for side in ("user_text", "system_text"):
        texts[side] = texts[side].str.split().str.len()
    judged = fed.frames["annotations"]
    judged = judged.loc[judged["turn"].notna(), ["dialogue", "turn"]].drop_duplicates()
    before = judged.merge(texts, on="dialogue", suffixes=("", "_said"))
    before = before[before["turn_said"] <= before["turn"]]
    words = before.groupby(["dialogue", "turn"])[["user_text", "system_text"]].sum().sum(axis=1)
    own = judged.merge(texts, on=["dialogue", "turn"]).set_index(["dialogue", "turn"])["system_text"]
    utterances = 2 * (own.index.get_level_values("turn").astype(int) + 1)
    turn_card = printed("dstc10_table01.csv", row="fed_turn")
    assert round(float(np.mean(utterances)), 1) == turn_card["avg_utts"]
    assert round(float((words - own + utterances - 1).mean()), 1) == turn_card["avg_ctx_words"]
    assert round(float((own + 1).mean()), 1) == turn_card["avg_hyp_words"]
    whole = texts.groupby("dialogue").agg(n=("turn", "size"), user=("user_text", "sum"), system=("system_text", "sum"))
    last = texts.groupby("dialogue")[["user_text", "system_text"]].last().sum(axis=1)
    dialogue_card = printed("dstc10_table01.csv", row="fed_dial")
    assert round(float((2 * whole["n"] - 2).mean()), 1) == dialogue_card["avg_utts"]
    assert round(float((whole["user"] + whole["system"] - last).mean()), 1) == dialogue_card["avg_ctx_words"]
