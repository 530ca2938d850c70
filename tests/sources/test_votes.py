"""Votes on two responses, as the documentation shows them and as files have them."""

import re

import pytest
from fixtures import yaml_studies as studies

from judgebook.extras.new.sides import tie_of
from judgebook.study import params
from judgebook.study.schema import DataError

PAGE = (params.ROOT / "docs" / "own_data.md").read_text(encoding="utf-8")
YAML = re.search(r"## Votes on two responses.*?```yaml\n(.*?)```", PAGE, re.DOTALL)[1]
CSV = """\
prompt,model_a,model_b,voter,winner
p1,X,Y,v1,model_a
p1,X,Y,v2,tie
p1,Y,X,v3,model_a
p1,X,Y,v4,tie (bothbad)
p1,X,Y,gpt-4,model_b
p2,Y,Z,v1,model_b
"""


def marks(tmp_path, csv=CSV):
    return studies.read(tmp_path, YAML, votes_csv=csv).frames["annotations"]


def test_any_number_of_votes_each_from_the_side_first_met(tmp_path):
    found = marks(tmp_path)
    assert found["score"].tolist() == [1, 0, -1, 0, -1, -1]
    assert found["system"].tolist() == ["X"] * 5 + ["Y"]
    assert found["first_shown"].tolist() == ["left", "left", "right", "left", "left", "left"]
    assert found["annotator_kind"].tolist() == ["human"] * 4 + ["llm", "human"]
    assert found["context"].tolist() == ["p1"] * 5 + ["p2"]
    assert found["tie"].fillna("").tolist() == ["", "", "", "both bad", "", ""]


def test_a_kind_of_tie_that_is_scored_as_a_win_is_refused(tmp_path):
    with pytest.raises(DataError, match="expected a tie: the score 0, found 'both bad'"):
        studies.read(tmp_path, YAML.replace("tie (bothbad): 0", "tie (bothbad): 1"), votes_csv=CSV)


def test_which_kind_of_tie_a_word_says():
    bad, good = ("tie (bothbad)", "Both are bad"), ("both_good", "Tie (both responses are good)")
    assert {*map(tie_of, bad)} == {"both bad"}
    assert {*map(tie_of, good)} == {"both good"}
    assert {*map(tie_of, ("both badly written", "neither is better", "both"))} == {None}


def test_a_winner_by_name_is_the_same(tmp_path):
    named = CSV.replace("v1,model_a", "v1,X").replace("v3,model_a", "v3,Y").replace("gpt-4,model_b", "gpt-4,Y")
    assert marks(tmp_path, named.replace("v1,model_b", "v1,Z"))["score"].tolist() == [1, 0, -1, 0, -1, -1]


def test_a_winner_that_took_no_part_is_refused(tmp_path):
    with pytest.raises(DataError, match="expected a number, found 'W'"):
        marks(tmp_path, CSV.replace("v1,model_a", "v1,W"))


ANSWERS = """\
title: Votes with answers
method: comparative
sources:
  - adapter: table
    file: votes.csv
    columns: {annotator: v, context: p, system: a, system_b: b, score: w, system_text: said_a, system_text_b: said_b}
    layout: long
    identify: {dialogue: [p, a], dialogue_b: [p, b]}
    constants: {label: better}
    values: {A: 1, B: -1}
    metrics: {tokens: n_a}
    metrics_b: {tokens: n_b}
    derived_metrics: {more: tokens + 1}
labels: {better: {scale: [-1, 1], direction: 1}}
"""
SAID = "p,a,b,v,w,said_a,said_b,n_a,n_b\np1,X,Y,v1,A,Yes.,No.,2,3\np1,Y,X,v2,A,No.,Yes.,3,2\np2,X,Z,v1,B,,Why?,0,4\n"


@pytest.mark.parametrize("layout", ["table", "records"])
def test_answers_and_numbers_of_both_sides(tmp_path, layout):
    yaml = ANSWERS if layout == "table" else ANSWERS.replace("adapter: table", "adapter: records, scores: w")
    yaml = yaml if layout == "table" else yaml.replace("score: w, ", "").replace("    layout: long\n", "")
    yaml = yaml.replace("adapter: records, scores: w", "adapter: records\n    scores: w")
    frames = studies.read(tmp_path, yaml, votes_csv=SAID).frames
    texts = frames["dialogues"].set_index("dialogue")
    assert texts["system_text"].dropna().to_dict() == {"p1_X": "Yes.", "p1_Y": "No.", "p2_Z": "Why?"}
    assert texts.loc["p2_Z", "system"] == "Z"
    scores = frames["metric_scores"].set_index(["metric", "dialogue"])["score"]
    assert scores["tokens"].to_dict() == {"p1_X": 2, "p1_Y": 3, "p2_X": 0, "p2_Z": 4}
    assert scores["more", "p2_Z"] == 5


def test_an_answer_with_two_texts_and_a_metric_of_one_side_are_refused(tmp_path):
    with pytest.raises(DataError, match="one text in all rows of a dialogue"):
        studies.read(tmp_path, ANSWERS, votes_csv=SAID.replace("v2,A,No.", "v2,A,Never."))
    with pytest.raises(params.ParamsError, match="metrics_b: expected names of `metrics`, which has no words"):
        studies.read(tmp_path, ANSWERS.replace("metrics_b: {tokens", "metrics_b: {words"), votes_csv=SAID)
