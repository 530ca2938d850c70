"""GRADE: ratings by position, several corpora, references from text files that must be aligned."""

import pytest
from fixtures.raw_file_studies import build_from, counted

from judgebook.study.schema import DataError

YAML = """
method: turn_rating
sources:
  - adapter: grade
    file: judged.json
    corpora: {talk_EVAL: talk}
    references: {talk: [net]}
labels:
  coherence: {scale: [1, 5]}
"""


def record(corpus, model, id_, context, response, scores):
    keys = ("Dataset", "DialogModel", "ID", "Context", "Response", "HumanScores")
    return dict(zip(keys, (corpus, model, id_, context, response, scores), strict=True))


DATA = [
    record("talk_EVAL", "net", 0, "a b|||c", "one", "[1, 2, 3]"),
    record("talk_EVAL", "net", 1, "d|||e", "two", "[5, 5]"),
    record("talk_EVAL", "old", 0, "d|||e", "three", "[4, 4, 4, 4]"),
    record("talk_EVAL", "net", 2, "a b|||c", "one", "[2, 2]"),
    record("chat", "net", 0, "a b|||c", "one", "[3]"),
]
TEXTS = {
    "eval_data/talk/net/human_ctx.txt": "a b|||c\nd|||e\na b|||c\n",
    "eval_data/talk/net/human_hyp.txt": "one\ntwo\none\n",
    "eval_data/talk/net/human_ref.txt": "gold 1\ngold 2\ngold 3\n",
}


def test_ratings_become_positions_and_responses_to_one_context_share_it(tmp_path):
    built = build_from(tmp_path, YAML, {"judged.json": DATA, **TEXTS})
    marks, texts = built.frames["annotations"], built.frames["dialogues"].set_index(["corpus", "dialogue"])
    assert marks.groupby(["corpus", "dialogue"]).size().to_dict() == {
        ("chat", "net/000"): 1,
        ("talk", "net/000"): 3,
        ("talk", "net/001"): 2,
        ("talk", "net/002"): 2,
        ("talk", "old/000"): 4,
    }
    assert marks.loc[marks["dialogue"] == "old/000", "annotator"].tolist() == ["pos0", "pos1", "pos2", "pos3"]
    assert marks.loc[marks["corpus"] == "talk", "score"].tolist()[:3] == [1, 2, 3]
    assert not marks["annotator_known"].any()
    talk = texts.loc["talk"]
    assert talk.loc["net/001", "context"] == talk.loc["old/000", "context"]
    assert talk.loc["net/000", "context"] == talk.loc["net/002", "context"]
    assert talk.loc["net/000", "user_text"] == "a b\nc"
    assert counted(built, "responses that repeat a context and response", "kept") == {"": 1}
    # references stand beside the systems that have them
    assert talk.loc[["net/000", "net/001", "net/002"], "reference"].tolist() == ["gold 1", "gold 2", "gold 3"]
    assert texts.loc[[("chat", "net/000"), ("talk", "old/000")], "reference"].isna().all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eval_data/talk/net/human_hyp.txt": "one\ntwo\nthree\n"}, "human_ctx.txt, line 3: expected the context and"),
        ({"eval_data/talk/net/human_ref.txt": "gold 1\n"}, "expected 3 lines, one per item, found 1"),
        ({"judged.json": [*DATA, record("chat", "net", 1, "a", "b", "4, 5")]}, "record 5, HumanScores: expected text"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, change, message):
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, {"judged.json": DATA, **TEXTS, **change})
    assert message in str(error.value)
