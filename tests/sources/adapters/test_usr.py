"""USR: a file in its format runs with a YAML alone; the public file has the published sizes."""

import copy

import numpy as np
import pandas as pd
import pytest
from fixtures.raw_file_studies import build_from, counted, printed

from judgebook.sources.build import build
from judgebook.study import params
from judgebook.study.schema import DataError

YAML = """
method: turn_rating
sources:
  - {adapter: usr, file: ratings.json, scores: scored.json, corpus: letters, reference_system: Gold}
labels:
  clear_enough: {scale: [0, 1]}
  nice: {scale: [1, 3]}
"""
RATINGS = [
    {
        "context": " hello there \n how are you ? \n\n",
        "fact": "none",
        "annotators": ["B", "A"],
        "responses": [
            {"response": "fine .\n", "model": "Gold", "Clear enough": [1, 0], "Nice": [3, 2]},
            {"response": "what ?", "model": "Net (p = 0.3)", "Clear enough": [0, 0], "Nice": [1, 1]},
        ],
    },
    {
        "context": "so ?",
        "annotators": ["A", "C"],
        "responses": [{"response": "yes", "model": "Gold", "Clear enough": [1, 1], "Nice": [2, 2]}],
    },
]


def scored() -> list:
    out = copy.deepcopy(RATINGS)
    for record in out:
        for response in record["responses"]:
            response["bleu-2"] = 0.25
    return out


def test_every_list_is_a_criterion_and_every_number_a_metric(tmp_path):
    built = build_from(tmp_path, YAML, {"ratings.json": RATINGS, "scored.json": scored()})
    marks = built.frames["annotations"]
    assert len(marks) == 3 * 2 * 2
    assert set(marks["label"]) == {"clear_enough", "nice"}
    assert set(marks["corpus"]) == {"letters"}
    assert marks["annotator_known"].all()
    assert set(built.frames["metric_scores"]["metric"]) == {"bleu_2"}
    assert counted(built, "annotations", "kept") == {"": 12}


@pytest.mark.parametrize("ids", [{"A": 0, "B": 1, "C": 2}, {"A": 0, "B": "y", "C": 2.0}])
def test_ids_may_be_numbers(tmp_path, ids):
    """An id of 0 is one, too."""
    yaml = YAML.replace(", scores: scored.json", "")

    def named(name, ids):
        records = [{**record, "annotators": [ids[who] for who in record["annotators"]]} for record in RATINGS]
        (tmp_path / name).mkdir()
        return build_from(tmp_path / name, yaml, {"ratings.json": records})

    numbers = named("numbers", ids)
    texts = named("texts", {who: str(id_).removesuffix(".0") for who, id_ in ids.items()})
    pd.testing.assert_frame_equal(numbers.frames["annotations"], texts.frames["annotations"])
    assert numbers.frames["annotations"]["annotator"].nunique() == 3
    assert numbers.own_ids["own_id"].tolist() == texts.own_ids["own_id"].tolist()


def test_a_rating_belongs_to_the_annotator_named_at_its_place(tmp_path):
    marks = build_from(tmp_path, YAML, {"ratings.json": RATINGS, "scored.json": scored()}).frames["annotations"]
    nice = marks[(marks["label"] == "nice") & (marks["system"] == "Gold")]
    # B is met first (A0001), A second (A0002), C third (A0003)
    assert list(zip(nice["context"], nice["annotator"], nice["score"], strict=True)) == [
        ("c000", "A0001", 3.0),
        ("c000", "A0002", 2.0),
        ("c001", "A0002", 2.0),
        ("c001", "A0003", 2.0),
    ]


def test_texts_stand_one_utterance_a_line_and_the_reference_is_not_its_own(tmp_path):
    texts = build_from(tmp_path, YAML, {"ratings.json": RATINGS, "scored.json": scored()}).frames["dialogues"]
    net = texts.set_index("dialogue").loc["c000/Net (p = 0.3)"]
    assert net["user_text"] == "hello there\nhow are you ?"
    assert (net["system_text"], net["reference"]) == ("what ?", "fine .")
    assert texts.loc[texts["system"] == "Gold", "reference"].isna().all()


def test_without_annotators_only_positions_are_known(tmp_path):
    records = [{k: v for k, v in record.items() if k != "annotators"} for record in RATINGS]
    yaml = YAML.replace(", scores: scored.json", "")
    marks = build_from(tmp_path, yaml, {"ratings.json": records}).frames["annotations"]
    assert set(marks["annotator"]) == {"pos0", "pos1"}
    assert not marks["annotator_known"].any()


def test_what_does_not_fit_is_named(tmp_path):
    records, others = copy.deepcopy(RATINGS), scored()
    records[0]["responses"][0]["Nice"] = [3]
    del records[1]["context"]
    others[0]["responses"][1]["response"] = "who ?"
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, {"ratings.json": records, "scored.json": others})
    message = "\n".join(map(str, error.value.problems))
    assert "ratings.json, context 0, Gold, Nice: expected 2 ratings, one per annotator, found 1" in message
    assert "ratings.json, context 1, context: expected text, found nothing" in message
    assert "scored.json, context 0, Net (p = 0.3): expected the record of the file of ratings" in message


def test_a_model_has_one_response_to_a_history(tmp_path):
    records = copy.deepcopy(RATINGS)
    records[1]["responses"].append({"response": "no", "model": "Gold", "Nice": [2, 2]})
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, {"ratings.json": records, "scored.json": records})
    assert "ratings.json, context 1, model: expected one response per model, found a second" in str(error.value)


def test_responses_that_are_no_list_are_named(tmp_path):
    records = [RATINGS[0], {**RATINGS[1], "responses": 5}]
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, {"ratings.json": records, "scored.json": scored()})
    assert "ratings.json, context 1, responses: expected a list […], found 5" in str(error.value)


@pytest.fixture(scope="module")
def both(raw_data):
    return build(params.load("usr")).frames


@pytest.fixture(scope="module")
def usr(both):
    return {name: frame[frame["corpus"] == "topical_chat"] for name, frame in both.items() if "corpus" in frame}


@pytest.mark.data
def test_sizes_of_the_second_public_file(both):
    marks, scores = (both[name].query("corpus == 'persona_chat'") for name in ("annotations", "metric_scores"))
    assert len(marks) == 300 * 6 * 3
    assert (marks["system"].nunique(), marks["context"].nunique(), marks["annotator"].nunique()) == (5, 60, 4)
    triples = marks.groupby("context")["annotator"].unique().map(frozenset)
    assert triples.value_counts().tolist() == [20] * 3
    assert scores.groupby("metric").size().unique().tolist() == [300]
    # ids of the two files have nothing in common
    assert both["annotations"]["annotator"].nunique() == 9


@pytest.mark.data
def test_sizes_of_the_public_file(usr):
    marks, scores = usr["annotations"], usr["metric_scores"]
    assert len(marks) == 360 * 6 * 3
    assert marks["system"].nunique() == 6
    assert marks["context"].nunique() == 60
    assert marks["annotator"].nunique() == 5
    assert marks.groupby(["dialogue", "label"]).size().unique().tolist() == [3]
    triples = marks.groupby("context")["annotator"].unique().map(frozenset)
    assert triples.value_counts().tolist() == [10] * 6
    assert scores.groupby("metric").size().to_dict() == dict.fromkeys(scores["metric"].unique(), 360)
    assert scores["metric"].nunique() == 12
    beyond = scores[~scores["score"].between(0, 1)]  # all are probabilities but stsb, a regression on 0 to 5
    assert set(beyond["metric"]) == {"stsb", "fact_stsb"}


@pytest.mark.data
def test_texts_have_the_lengths_that_zhang_et_al_2022_print(usr):
    card = printed("dstc10_table01.csv", row="topical_usr")
    texts = usr["dialogues"]
    utterances = texts["user_text"].str.count("\n") + 2
    assert round(utterances.mean(), 1) == card["avg_utts"]
    assert round(texts["user_text"].str.split().str.len().mean(), 1) == card["avg_ctx_words"]
    # the printed 22.4 is the mean without the original replies, which serve as references; with them it is 22.9
    others = texts[texts["system"] != "Original Ground Truth"]
    assert round(others["system_text"].str.split().str.len().mean(), 1) == card["avg_hyp_words"]
    assert len(texts) == card["n_instances"]
    assert len(usr["annotations"]) == card["n_annotations"]


@pytest.mark.data
def test_only_the_reference_system_has_no_reference(usr):
    texts = usr["dialogues"]
    assert set(texts.loc[texts["reference"].isna(), "system"]) == {"Original Ground Truth"}
    assert texts["reference"].notna().sum() == 300


@pytest.mark.data
def test_places_in_the_lists_give_the_agreement_that_zhang_et_al_2022_print(usr):
    """Mean Spearman correlation of the three pairs of places: annotations of an item stand in the order of the file."""
    marks = usr["annotations"].copy()
    marks["place"] = marks.groupby(["dialogue", "label"]).cumcount()
    wide = marks.pivot_table(index="dialogue", columns=["label", "place"], values="score")
    names = {"engaging": "interesting", "overall": "overall_quality"}
    for label in marks["label"].unique():
        r = wide[label].corr(method="spearman").to_numpy()[np.triu_indices(3, k=1)].mean()
        row = printed("dstc10_text.csv", panel="inter_annotator_agreement", row="topical_usr")
        assert round(r, 4) == row[names.get(label, label)], label
