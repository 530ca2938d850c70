"""USR: a file in its format runs with a YAML alone; the public file has the published sizes."""

import copy

import pytest
from fixtures.raw_file_studies import build_from

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


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build_from(tmp_path_factory.mktemp("usr"), YAML, {"ratings.json": RATINGS, "scored.json": scored()})


def test_a_rating_belongs_to_the_annotator_named_at_its_place(built):
    marks = built.frames["annotations"]
    nice = marks[(marks["label"] == "nice") & (marks["system"] == "Gold")]
    assert set(built.frames["metric_scores"]["metric"]) == {"bleu_2"}
    # B is met first (A0001), A second (A0002), C third (A0003)
    assert list(zip(nice["context"], nice["annotator"], nice["score"], strict=True)) == [
        ("c000", "A0001", 3.0),
        ("c000", "A0002", 2.0),
        ("c001", "A0002", 2.0),
        ("c001", "A0003", 2.0),
    ]


def test_texts_stand_one_utterance_a_line_and_the_reference_is_not_its_own(built):
    texts = built.frames["dialogues"]
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
    records[0]["responses"].append({"response": "no", "model": "Gold", "Nice": [2, 2]})
    del records[1]["context"]
    others[0]["responses"][1]["response"] = "who ?"
    records.append({**RATINGS[1], "responses": 5})
    others.append(scored()[1])
    with pytest.raises(DataError) as error:
        build_from(tmp_path, YAML, {"ratings.json": records, "scored.json": others})
    message = "\n".join(map(str, error.value.problems))
    for line in (
        "ratings.json, context 0, Gold, Nice: expected 2 ratings, one per annotator, found 1",
        "ratings.json, context 0, model: expected one response per model, found a second",
        "ratings.json, context 1, context: expected text, found nothing",
        "ratings.json, context 2, responses: expected a list […], found 5",
        "scored.json, context 0, Net (p = 0.3): expected the record of the file of ratings",
    ):
        assert line in message
