"""Transcripts beside ratings: texts of the dialogues that were judged, and nothing of others."""

import json

import pandas as pd
import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError

RATINGS = "dialogue,bot,rater,quality\nc1,Ada,ann,4\nc1,Ada,ben,5\nc2,Bob,ann,2\n"
MESSAGES = """\
conversation,n,role,content
c1,1,user,Hi
c1,2,bot,Hello!
c1,3,user,Where
c1,4,user,is Oslo?
c1,5,bot,In Norway.
c2,1,bot,42
c2,2,user,Pardon?
c9,1,user,Nobody
c9,2,bot,judged this
"""
SOURCE = {
    "adapter": "transcripts",
    "file": "talk.csv",
    "columns": {"dialogue": "conversation", "speaker": "role", "text": "content"},
    "users": ["user"],
}
TURNS = [
    ("c1", 0, "Ada", "Hi", "Hello!"),
    ("c1", 1, "Ada", "Where\nis Oslo?", "In Norway."),
    ("c2", 0, "Bob", None, "42"),
]


def read(folder, source=None, ratings=RATINGS, columns=None, more=None, **files):
    judged = {"adapter": "table", "file": "my.csv", "columns": columns or {}}
    judged["columns"] = {"dialogue": "dialogue", "system": "bot", "annotator": "rater", **judged["columns"]}
    method = "turn_rating" if columns else "dialogue_rating"
    text = {"title": "x", "method": method, "labels": {"quality": {"scale": [1, 5]}}}
    text["sources"] = [judged | (more or {}), SOURCE | (source or {})]
    return studies.read(folder, yaml.safe_dump(text), my_csv=ratings, **({"talk_csv": MESSAGES} | files))


def turns(built):
    rows = built.frames["dialogues"].sort_values(["dialogue", "turn"])[
        ["dialogue", "turn", "system", "user_text", "system_text"]
    ]
    return [tuple(None if pd.isna(v) else v for v in row) for row in rows.astype(object).itertuples(index=False)]


def test_messages_are_turns_of_judged_dialogues(tmp_path):
    built = read(tmp_path)
    assert turns(built) == TURNS
    assert len(built.frames["annotations"]) == 3
    counts = built.frames["counts"].query("file == 'talk.csv' and what == 'rows'")
    assert counts.set_index(counts["reason"].where(counts["reason"] != "", counts["action"]))["n"].to_dict() == {
        "read": 9,
        "kept": 6,
        "said after the last reply": 1,
        "of a dialogue that nobody judged": 2,
    }


@pytest.mark.parametrize(
    ("source", "files"),
    [
        (
            {
                "file": "talk.jsonl",
                "turns": "messages.[]",
                "columns": {"dialogue": "id", "speaker": "messages.[].role", "text": "messages.[].content"},
            },
            {
                "talk_jsonl": "\n".join(
                    json.dumps({"id": id_, "messages": [{"role": r, "content": c} for r, c in talk]})
                    for id_, talk in {
                        "c1": [("user", "Hi"), ("bot", "Hello!"), ("user", "Where"), ("user", "is Oslo?"),
                               ("bot", "In Norway.")],
                        "c2": [("bot", "42")],
                    }.items()
                )
            },
        ),
        (
            {"skip_speakers": ["system"]},
            {"talk_csv": MESSAGES.replace("c1,1,", "c1,0,system,Be kind.\nc1,1,")}
        ),
    ],
    ids=["lists of messages", "a system prompt"],
)  # fmt: skip
def test_other_shapes_of_transcripts(tmp_path, source, files):
    assert turns(read(tmp_path, source, **files)) == TURNS


def test_judged_turns_get_their_texts(tmp_path):
    ratings = "dialogue,bot,rater,turn,quality\nc1,Ada,ann,2,4\nc1,Ada,ann,5,5\nc2,Bob,ann,1,2\n"
    numbered = {"columns": SOURCE["columns"] | {"turn": "n"}}
    built = read(tmp_path, numbered, ratings, {"turn": "turn"})
    assert [(d, t) for d, t, *_ in turns(built)] == [("c1", 2), ("c1", 5), ("c2", 1)]
    assert [row[2:] for row in turns(built)] == [row[2:] for row in TURNS]
    with pytest.raises(DataError, match=r"dialogue c1, turn: expected turn 2, which was judged, found turns 0, 1, …"):
        read(tmp_path, None, ratings, {"turn": "turn"})


@pytest.mark.parametrize(
    ("source", "replaced", "message"),
    [
        ({}, ("c1,1,user", ",1,user"), "talk.csv, row 2, conversation: expected the id of a dialogue, found nothing"),
        ({"users": ["user", "bot"]}, ("", ""), "users: expected a speaker that is the system, found none"),
        ({}, ("c", "k"), "dialogue: expected dialogues that were judged, found none; its ids are k1, k2, k9"),
        (
            {"users": [], "columns": {"dialogue": "conversation", "system_text": "content", "turn": "n"}},
            ("c1,2,", "c1,1,"),
            "row 3, n: expected a number given once in a dialogue, found '1'",
        ),
        ({"users": []}, ("", ""), "users: expected the speakers who talk to the system"),
    ],
)
def test_wrong_transcripts_are_refused(tmp_path, source, replaced, message):
    lines = MESSAGES.split("\n")
    changed = "\n".join([lines[0], *(line.replace(*replaced, 1) if replaced[0] else line for line in lines[1:])])
    with pytest.raises((DataError, ParamsError), match=message):
        read(tmp_path, source, talk_csv=changed)


def test_dialogues_without_a_transcript_are_named(tmp_path):
    built = read(tmp_path, ratings=RATINGS + "c3,Bob,ann,1\n")
    assert built.notes == ["talk.csv: judged dialogues with a transcript: 2, without one: 1"]
    assert turns(built) == [*TURNS, ("c3", None, "Bob", None, None)]
