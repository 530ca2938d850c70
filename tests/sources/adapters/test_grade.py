"""GRADE: ratings by position, several corpora, references from text files that must be aligned."""

import numpy as np
import pytest
from fixtures.raw_file_studies import build_from, counted, printed

from judgebook.sources.build import build
from judgebook.study import params
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


def test_ratings_become_positions_and_ids_restart(tmp_path):
    marks = build_from(tmp_path, YAML, {"judged.json": DATA, **TEXTS}).frames["annotations"]
    assert len(marks) == 12
    assert marks.groupby("corpus").size().to_dict() == {"chat": 1, "talk": 11}
    talk = marks[marks["corpus"] == "talk"]
    assert talk.groupby("dialogue").size().to_dict() == {"net/000": 3, "net/001": 2, "net/002": 2, "old/000": 4}
    assert talk.loc[talk["dialogue"] == "old/000", "annotator"].tolist() == ["pos0", "pos1", "pos2", "pos3"]
    assert not marks["annotator_known"].any()


def test_responses_to_one_context_share_it_and_repeats_stay_items(tmp_path):
    built = build_from(tmp_path, YAML, {"judged.json": DATA, **TEXTS})
    talk = built.frames["dialogues"].query("corpus == 'talk'").set_index("dialogue")
    assert talk.loc["net/001", "context"] == talk.loc["old/000", "context"]
    assert talk.loc["net/000", "context"] == talk.loc["net/002", "context"]
    assert counted(built, "responses that repeat a context and response", "kept") == {"": 1}


def test_references_stand_beside_the_systems_that_have_them(tmp_path):
    texts = build_from(tmp_path, YAML, {"judged.json": DATA, **TEXTS}).frames["dialogues"]
    talk = texts[texts["corpus"] == "talk"].set_index("dialogue")
    assert talk.loc[["net/000", "net/001", "net/002"], "reference"].tolist() == ["gold 1", "gold 2", "gold 3"]
    assert talk.loc["net/000", "user_text"] == "a b\nc"
    assert texts.loc[(texts["corpus"] == "chat") | (texts["system"] == "old"), "reference"].isna().all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eval_data/talk/net/human_hyp.txt": "one\ntwo\nthree\n"}, "human_ctx.txt, line 3: expected the context and"),
        ({"eval_data/talk/net/human_ref.txt": "gold 1\n"}, "expected 3 lines, one per item, found 1"),
        ({"judged.json": [*DATA, record("chat", "net", 1, "a", "b", "4, 5")]}, "record 5, HumanScores: expected text"),
        ({"judged.json": [*DATA, {"ID": 1}]}, "record 5, Dataset: expected text, found nothing"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, change, message):
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, {"judged.json": DATA, **TEXTS, **change})
    assert message in str(error.value)


@pytest.fixture(scope="module")
def grade(raw_data):
    return build(params.load("grade"))


@pytest.mark.data
def test_sizes_of_the_public_files(grade):
    marks, texts = grade.frames["annotations"], grade.frames["dialogues"]
    assert marks.groupby("corpus").size().to_dict() == {
        "convai2": 5_970,
        "dailydialog": 2_990,
        "empatheticdialogues": 2_950,
    }
    assert texts.groupby(["corpus", "system"]).size().tolist() == [150] * 8
    per_item = marks.groupby(["corpus", "dialogue"]).size()
    assert per_item.value_counts().to_dict() == {10: 1_030, 9: 115, 11: 45, 8: 10}
    assert texts["reference"].notna().all()


@pytest.mark.data
def test_means_equal_the_upstream_means(grade, raw_data):
    means = grade.frames["annotations"].groupby(["corpus", "system", "dialogue"])["score"].mean()
    for (corpus, system), ours in means.groupby(level=[0, 1]):
        path = raw_data / "grade" / "human_score" / corpus / system / "human_score.txt"
        given = np.array(path.read_text().split(), dtype=float)
        np.testing.assert_allclose(ours.to_numpy(), given, atol=5.1e-5)  # upstream prints four decimals


@pytest.mark.data
@pytest.mark.parametrize("corpus", ["convai2", "dailydialog", "empatheticdialogues"])
def test_texts_have_the_lengths_that_zhang_et_al_2022_print(grade, corpus):
    texts = grade.frames["dialogues"].query("corpus == @corpus")
    card = printed("dstc10_table01.csv", row=f"{corpus.removesuffix('dialogues')}_grade")
    assert len(texts) == card["n_instances"]
    assert (texts["user_text"].str.count("\n") + 2).unique().tolist() == [card["avg_utts"]]
    assert round(texts["user_text"].str.split().str.len().mean(), 1) == card["avg_ctx_words"]
    assert round(texts["system_text"].str.split().str.len().mean(), 1) == card["avg_hyp_words"]


@pytest.mark.data
@pytest.mark.parametrize("corpus", ["convai2", "dailydialog"])
def test_places_in_the_lists_give_the_agreement_that_zhang_et_al_2022_print(grade, corpus):
    """Mean correlation of each of the first eight places with the item's mean, itself included: a part–whole value.

    The printed value of the third corpus (.376) does not come out of this rule, nor of any other that was tried.
    """
    marks = grade.frames["annotations"].query("corpus == @corpus")
    wide = marks.pivot_table(index="dialogue", columns="annotator", values="score")
    mean = marks.groupby("dialogue")["score"].mean()
    r = [wide[f"pos{k}"].corr(mean, method="spearman") for k in range(8)]
    row = printed("dstc10_text.csv", panel="inter_annotator_agreement", row=f"{corpus}_grade")
    assert round(float(np.mean(r)), 3) == row["coherence"]
