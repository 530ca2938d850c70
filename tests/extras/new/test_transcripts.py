"""`new` for judgements with transcripts in a file of their own."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from judgebook.extras.new import transcripts
from judgebook.extras.new.asking.terminal import carried
from judgebook.sources import build
from judgebook.study import params
from judgebook.study.schema import DataError

TALKS = {
    f"c{i}": [("user", f"What is the {n} of {i}?"), ("bot", f"It is the {n * i} of it.")] * 2
    for i, n in ((1, 3), (2, 4), (3, 5), (4, 6))
}
RATINGS = "conversation,model,rater,quality\n" + "".join(
    f"{id_},{'AB'[i % 2]},{who},{(i * k) % 5 + 1}\n"
    for i, id_ in enumerate(TALKS)
    for k, who in ((1, "ann"), (2, "ben"))
)


def messages(head, *, start=0, names=None, delimiter=","):
    lines = [delimiter.join(head)]
    for id_, talk in TALKS.items():
        for n, (who, text) in enumerate(talk, start=start):
            lines.append(delimiter.join([id_, str(n), (names or {}).get(who, who), text]))
    return "\n".join(lines) + "\n"


def pairs():
    rows = [(id_, *(text for _, text in talk[k : k + 2])) for id_, talk in TALKS.items() for k in (0, 2)]
    return "dialog_id,user_utterance,response\n" + "".join(",".join(row) + "\n" for row in rows)


def nested():
    talks = [{"id": i, "messages": [{"role": who, "content": text} for who, text in t]} for i, t in TALKS.items()]
    return "\n".join(map(json.dumps, talks))


def drafted(folder, files, named=None):
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    paths = [folder / name for name in (named if named is not None else files)]
    return transcripts.of_files("mine", paths or [folder], folder)


def read(folder, draft):
    (folder / "mine.yaml").write_text(carried(draft), encoding="utf-8")
    return build.build(params.load(folder / "mine.yaml")).frames


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"ratings.csv": RATINGS, "talks.csv": messages(["conversation", "turn", "speaker", "text"])}, None),
        ({"ratings.csv": RATINGS, "talks.tsv": messages(["conv", "n", "role", "content"], delimiter="\t")}, []),
        ({"talks.csv": messages(["dialogue_id", "index", "sender", "message"], start=1), "votes.csv": RATINGS}, None),
        ({"ratings.csv": RATINGS, "talks.csv": pairs()}, None),
        ({"ratings.csv": RATINGS, "talks.jsonl": nested()}, None),
    ],
    ids=["named alike", "a folder", "in any order", "a row for each turn", "lists of messages"],
)
def test_transcripts_are_recognised(tmp_path, files, named):
    frames = read(tmp_path, drafted(tmp_path, files, named))
    texts = frames["dialogues"]
    expected = [(id_, k, t[2 * k][1], t[2 * k + 1][1]) for id_, t in TALKS.items() for k in (0, 1)]
    rows = texts[["dialogue", "turn", "user_text", "system_text"]].itertuples(index=False, name=None)
    assert sorted(rows) == expected
    marks = frames["annotations"]
    assert (len(marks), sorted(marks["system"].unique()), marks["annotator"].nunique()) == (8, ["A", "B"], 2)


def test_who_talks_to_the_system_is_asked_where_names_do_not_say(tmp_path):
    talks = messages(["conversation", "n", "speaker", "text"], names={"user": "Kim", "bot": "Sky"})
    draft = drafted(tmp_path, {"ratings.csv": RATINGS, "talks.csv": talks})
    question = next(q for q in draft.questions if q.fact == "speakers")
    assert question.assumed == "'Kim'"
    assert read(tmp_path, draft)["dialogues"]["user_text"].str.startswith("What").all()


def test_transcripts_of_other_dialogues_are_asked_about(tmp_path):
    talks = messages(["conversation", "n", "speaker", "text"]).replace("\nc", "\nk")
    draft = drafted(tmp_path, {"ratings.csv": RATINGS, "talks.csv": talks})
    assert [q.assumed for q in draft.questions if q.fact == "files"] == ["no, it is not read"]
    assert "adapter: transcripts" not in draft.text
    assert pd.isna(read(tmp_path, draft)["dialogues"]["system_text"]).all()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("nowhere/my.csv", "no such file; check the path"),
        ("https://example.org/my.csv", "an address; download the file"),
        ("pipe.csv", "a pipe, a device or a broken link; write the data to a file"),
    ],
)
def test_a_path_that_is_no_file_is_refused(tmp_path, monkeypatch, path, found):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    with pytest.raises(DataError, match=f"expected a data file, found {found}"):
        transcripts.of_files("mine", [Path(path)])


def test_several_files_of_judgements_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"expected one file of judgements, .* found a.csv, b.csv; name one file"):
        drafted(tmp_path, {"a.csv": RATINGS, "b.csv": RATINGS.replace("quality", "fluency")})


@pytest.mark.parametrize(("split", "pattern"), [("rater", "part_{annotator}.csv"), ("half", "part_*.csv")])
def test_all_files_of_a_folder_are_read_where_their_columns_are_the_same(tmp_path, split, pattern):
    rows = [
        (f"item {i}", bot, who, 1 + (i + k + j) % 5, i % 2)
        for i in range(12)
        for j, bot in enumerate(("old", "new"))
        for k, who in enumerate(("Ann", "Bo", "Cy"))
    ]
    frame = pd.DataFrame(rows, columns=["item", "model", "rater", "quality", "half"])
    for name, part in frame.groupby(split):
        part.drop(columns={split, "half"}).to_csv(tmp_path / f"part_{name}.csv", index=False)
    out = transcripts.of_files("parts", [tmp_path], tmp_path)
    assert pattern in out.text
    assert [q.fact for q in out.questions if q.fact in ("files", "annotator", "system")] == ["files"]
    read = build.build(params.of_text(carried(out), tmp_path / "parts.yaml")).frames["annotations"]
    expected = frame.groupby(["model", "rater"])["quality"].mean()
    means = read.groupby(["system", "annotator"])["score"].mean()
    assert len(read) == len(frame)
    assert sorted(means) == pytest.approx(sorted(expected))


def test_judgements_beside_texts_are_no_transcripts(tmp_path):
    ratings = "conversation,model,rater,speaker,text,quality\n" + "".join(
        f"{id_},A,{who},bot,I say {id_} bot,{(i * k) % 5 + 1}\n"
        for i, id_ in enumerate(TALKS)
        for k, who in ((1, "ann"), (2, "ben"))
    ).replace("c4,A,ben,bot", "c4,A,ben,user")
    talks = messages(["conversation", "n", "speaker", "text"])
    draft = drafted(tmp_path, {"talks.csv": talks, "ratings.csv": ratings})
    assert "adapter: transcripts\n    file: " in draft.text
    assert draft.text.index("ratings.csv") < draft.text.index("talks.csv")
