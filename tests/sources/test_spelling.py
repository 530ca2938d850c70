"""Names that the data spell in several ways: merged where the YAML says so, proposed where it does not."""

import json

import pandas as pd
import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.sources.ids.look_alikes import plain
from judgebook.sources.reading import Counts, Reading
from judgebook.sources.rows.spelling import Spelling
from judgebook.study.params import ParamsError
from judgebook.study.schema import DataError

SPELT = {"system": {"Chat": ["chat", "CHAT"]}, "annotator": {"ann": ["Ann"]}, "label": {"fluency": ["Fluency"]}}
LABELS = {"fluency": {"scale": [1, 5]}}
TABLE = {"adapter": "table", "file": "my.csv"}
LONG = {
    **TABLE,
    "layout": "long",
    "columns": {"context": "d", "system": "bot", "annotator": "who", "label": "what", "score": "n"},
    "identify": {"dialogue": ["d", "bot"]},
}
LONG_CSV = (
    "d,bot,who,what,n\nd1,Chat,ann,fluency,1\nd1, chat ,ben,Fluency,2\nd1,Beta,Ann,fluency,3\nd2,CHAT,ben,fluency,4\n"
)
WIDE = {**TABLE, "columns": {"dialogue": "d"}, "scores": "{label}_{system}_{annotator}"}
WIDE_CSV = "d,fluency_Chat_ann,Fluency_chat_ben,fluency_Beta_Ann,fluency_CHAT_eve\nd1,1,2,3,\nd2,,,,4\n"
KEYS = {
    "adapter": "records",
    "file": "my.json",
    "scores": "{system}.{annotator}.{label}",
    "identify": {"dialogue": ["d", "{system}"], "context": ["d"]},
}
KEYS_JSON = [
    {"d": "d1", "Chat": {"ann": {"fluency": 1}}, "chat": {"ben": {"Fluency": 2}}, "Beta": {"Ann": {"fluency": 3}}},
    {"d": "d2", "CHAT": {"ben": {"fluency": 4}}},
]


def study(source, labels=LABELS, **more):
    return yaml.safe_dump({"title": "T", "sources": [source], "labels": labels, "spelling": SPELT, **more})


def mended(built):
    frame = built.frames["counts"]
    of_names = frame[frame["reason"].fillna("").str.contains("spelt otherwise")]
    return {reason.split()[0]: n for reason, n in of_names.groupby("reason")["n"].sum().items()}


@pytest.mark.parametrize(
    ("source", "data"),
    [(LONG, {"my_csv": LONG_CSV}), (WIDE, {"my_csv": WIDE_CSV}), (KEYS, {"my_json": json.dumps(KEYS_JSON)})],
    ids=["long", "in names of columns", "keys"],
)
def test_names_are_one_before_ids_are_made_of_them(source, data, tmp_path):
    built = studies.read(tmp_path, study(source), **data)
    marks = built.frames["annotations"]
    assert sorted(marks["system"]) == ["Beta", "Chat", "Chat", "Chat"]
    assert set(marks["label"]) == {"fluency"}
    # what was said of one reply under two spellings is of one dialogue
    of_chat = marks[(marks["system"] == "Chat") & (marks["score"] < 4)]
    assert len(of_chat) == 2
    assert len(set(of_chat["dialogue"])) == 1
    own = dict(zip(built.own_ids["pseudonym"], built.own_ids["own_id"], strict=True))
    assert [own[a] for a in marks.sort_values("score")["annotator"]][:3] == ["ann", "ben", "ann"]
    assert mended(built) == {"system": 2, "annotator": 1, "label": 1}


def test_rules_for_rows_and_judges_know_one_spelling(tmp_path):
    with pytest.raises(DataError, match=r"drop\.system: expected a value .* found 'CHAT'; did you mean 'Chat'"):
        studies.read(tmp_path, study({**LONG, "drop": {"system": "CHAT"}}), my_csv=LONG_CSV)
    built = studies.read(tmp_path, study({**LONG, "drop": {"bot": "Chat"}}), my_csv=LONG_CSV)
    assert list(built.frames["annotations"]["score"]) == [3]
    built = studies.read(tmp_path, study(LONG, drop={"system": "Chat"}), my_csv=LONG_CSV)
    assert list(built.frames["annotations"]["score"]) == [3]
    built = studies.read(tmp_path, study({**LONG, "judges": {"ann": "llm"}}), my_csv=LONG_CSV)
    assert list(built.frames["annotations"]["annotator_kind"]) == ["llm", "human", "llm", "human"]


def test_a_spelling_that_nothing_has_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"spelling\.system: .* found 'chatt'; did you mean 'chat'"):
        studies.read(tmp_path, study(LONG, spelling={"system": {"Chat": ["chatt"]}}), my_csv=LONG_CSV)


@pytest.mark.parametrize("names", [{"Chat": ["chat"], "chat": ["CHAT"]}, {"Chat": ["c"], "Beta": ["c"]}, {"c": ["c"]}])
def test_a_spelling_stands_under_one_name(names, tmp_path):
    with pytest.raises(ParamsError, match="expected each spelling under one name, found 'c"):
        studies.read(tmp_path, study(LONG, spelling={"system": names}), my_csv=LONG_CSV)


def test_what_other_adapters_read_is_spelt_and_counted():
    marks = pd.DataFrame({"system": ["chat", "Chat"], "annotator": ["Ann", "ben"], "method": "dialogue_rating"})
    counts = Counts()
    counts.add_kept("f.csv", "main", annotations=2)
    reading = Reading(
        marks.assign(file="f.csv", where=""), pd.DataFrame({"system": ["CHAT"], "dialogue": ["d"]}), counts=counts
    )
    spelling = Spelling(SPELT)
    spelling.reading(reading)
    assert list(reading.annotations["system"]) == ["Chat", "Chat"]
    assert list(reading.dialogues["system"]) == ["Chat"]
    assert reading.counts.frame().query("action == 'mended'")["n"].tolist() == [1, 1]
    assert [p.column for p in spelling.unknown("x.yaml")] == ["spelling.label"]


def test_ids_of_people_are_not_recorded(tmp_path):
    built = studies.read(tmp_path, study(LONG), my_csv=LONG_CSV)
    assert built.sections["spelling"] == {k: v for k, v in SPELT.items() if k != "annotator"}


@pytest.mark.parametrize(
    ("names", "same"),
    [
        (("ChatGPT", "Chatgpt", "chat gpt", "chat-GPT", "Chat_GPT", " chat  gpt "), True),
        (("GPT-4", "GPT 4", "gpt4", "ＧＰＴ４", "GPT\u200b-4"), True),
        (("alpha", "аlpha", "αlpha"), True),
        (("v1.1", "v11"), False),
        (("GPT-4", "GPT-4+"), False),
        (("ann", "anna"), False),
    ],
)
def test_names_that_look_alike(names, same):
    assert (len({plain(name) for name in names}) == 1) is same
