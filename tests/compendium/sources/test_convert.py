"""Converters: hand-made files in the upstream formats become the derived tables; what does not fit is named."""

import json
import zipfile

import pytest

from compendium.sources import convert
from judgebook.study.schema import DataError

TALK = "User: Hi!\nSystem: Hello  there.\nUser: Bye"


def objects(*values):
    """Pretty-printed JSON objects one after the other, as upstream writes them."""
    return "\n".join(json.dumps(value, indent=4) for value in values) + "\n"


def score(idx, text, **scores):
    return {"idx": idx, "level": "", "input": "<|endoftext|> " + " <|endoftext|> ".join(text), "score": scores}


@pytest.fixture
def fed_files(tmp_path):
    ratings = [
        {"context": "User: Hi!", "response": "System: Hello  there.", "system": "Bot", "annotations": {}},
        {"context": TALK, "system": "Bot", "annotations": {}},
    ]
    paths = [tmp_path / name for name in ("turn.jsonl", "dialog.jsonl", "fed_data.json")]
    paths[0].write_text(objects(score(0, ["Hi!", "Hello there."], **{"semantically appropriate": -0.1, "fluent": 7.5})))
    paths[1].write_text(
        objects(score(8, ["Hi!", "Hello  there.", "Bye"], **{"semantically appropriate": 1.0, "fluent": 2.0}))
    )
    paths[2].write_text(json.dumps(ratings))
    return paths


def test_fed_scores_are_aligned_by_level_and_text(fed_files):
    out = convert.fed_metric_scores(*fed_files)
    assert out.to_csv(index=False).split() == [
        "fed_index,level,system,semantically_appropriate,fluent",
        "0,turn,Bot,-0.1,7.5",
        "1,dialog,Bot,1.0,2.0",
    ]


def test_fed_scores_of_other_texts_are_refused(fed_files):
    fed_files[1].write_text(objects(score(8, ["Hi!", "Bye"], fluent=2.0)))
    with pytest.raises(DataError, match="object for record 1: expected the text of that record"):
        convert.fed_metric_scores(*fed_files)
    fed_files[1].write_text('{"idx": 8, ')
    with pytest.raises(DataError, match="line 1: expected JSON objects one after the other"):
        convert.fed_metric_scores(*fed_files)


def dstc9_record(context, overall, recovery=3, **more):
    names = ("coherent", "consistent", "diverse", "topic depth", "likeable", "understanding", "flexible")
    ratings = dict.fromkeys((*names, "informative", "inquisitive"), 2)
    return {**ratings, "error recovery": recovery, "human (overall)": overall, "context": context, **more}


def test_dstc9_records_of_one_text_are_ratings_of_one_dialogue(tmp_path):
    records = [
        dstc9_record("User: hello you\nSystem: hi: there, Ann\n", 4, flow=1.25),
        dstc9_record("User: hello you\nSystem: hi: there, Ann\n", 5, recovery="N/A"),
        dstc9_record("User: so?\nSystem: yes\nUser: no\n", 1, flow=0.5),
    ]
    path = tmp_path / "chatbot7.json"
    path.write_text(json.dumps(records))
    assert convert.dstc9_ratings([path]).to_csv(index=False).split("\n") == [
        "system,dialogue,slot,coherent,error_recovery,consistent,diverse,topic_depth,likeable,understanding,flexible,"
        "informative,inquisitive,human_overall,flow_score,n_utterances,n_user_words,n_system_words",
        "chatbot7,0,0,2,3,2,2,2,2,2,2,2,2,4,1.25,2,2,3",
        "chatbot7,0,1,2,,2,2,2,2,2,2,2,2,5,1.25,2,2,3",
        "chatbot7,1,0,2,3,2,2,2,2,2,2,2,2,1,0.5,3,2,1",
        "",
    ]


def side(is_human, turn=4, fluent=True):
    return {
        "is_human": is_human,
        "fluencyValue": fluent,
        "sensitivenessValue": True,
        "specificityValue": False,
        "decision_turn": turn,
    }


def spot_dump(path, as_list=False):
    chats = [{"_id": {"$oid": "c1"}, "system_type0": "ann", "system_type1": "bob", "convo": [1, 2, 3]}]
    common = {"convo_id": "c1", "package_id": "p1"}
    marks = [
        {"user_name": "AX", "entity0_annotation": side(True), "entity1_annotation": side(None, fluent=False)},
        {"user_name": "AY", "entity0_annotation": side(False, 10), "entity1_annotation": side(False, 10)},
        {"user_name": "AX", "entity0_annotation": side(None, 6), "entity1_annotation": side(True, 6)},
    ]
    times = [(1000, 250), ({"$numberLong": "2000"}, {"$numberLong": "500"}), (-1, 1589934038088)]
    marks = [m | common | {"start_time": s, "elapsed_time": e} for m, (s, e) in zip(marks, times, strict=True)]
    with zipfile.ZipFile(path, "w") as archive:
        for name, documents in (("annotated", marks), ("sampled", chats)):
            text = json.dumps(documents) if as_list else "\n".join(map(json.dumps, documents)) + "\n"
            archive.writestr(f"dump/{name}-dialogues-full-talk.json", text)
    return path


@pytest.mark.parametrize("as_list", [False, True])
def test_spot_the_bot_joins_annotations_to_their_chats(tmp_path, as_list):
    out = convert.spot_the_bot(spot_dump(tmp_path / "dump.zip", as_list), ("talk",))["talk"]
    assert out.to_csv(index=False).split() == [
        "domain,annotation,convo_id,package_id,annotator,system0,system1,n_exchanges,n_utterances_in_convo,is_human0,"
        "is_human1,fluency0,fluency1,sensible0,sensible1,specific0,specific1,winner,start_ms,elapsed_ms",
        "talk,0,c1,p1,S001,ann,bob,2,3,1,,1,0,1,1,0,0,ann,1000,250",
        "talk,1,c1,p1,S002,ann,bob,5,3,0,0,1,1,1,1,0,0,tie,2000,500",
        "talk,2,c1,p1,S001,ann,bob,3,3,,1,1,1,1,1,0,0,bob,-1,1589934038088",
    ]


def test_spot_the_bot_needs_its_collections(tmp_path):
    with pytest.raises(DataError, match=r"expected one member sampled-dialogues-full-convai2\.json, found 0"):
        convert.spot_the_bot(spot_dump(tmp_path / "dump.zip"))
