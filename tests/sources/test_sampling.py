"""Sampling weights of dialogues: read from a column or from strata with known sizes, checked, and noticed if unused."""

import json

import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.sources import sampling
from judgebook.study.schema import DataError

YAML = """\
title: A queue
method: dialogue_rating
sources:
  - adapter: table
    file: my.csv
    layout: wide
    columns: {{dialogue: id, system: bot, annotator: who}}
    scores: "{{label}}"
    {key}
labels:
  bad: {{scale: [0, 1]}}
"""
CSV = """\
id,bot,who,bad,p,queue
d1,A,w1,1,1,flagged
d1,A,w2,0,1,flagged
d2,A,w1,0,0.2,rest
d3,B,w1,1,1,flagged
d4,B,w2,0,0.25,rest
d5,B,w2,,0.25,rest
"""


def weights(tmp_path, key, csv=CSV):
    marks = studies.read(tmp_path, YAML.format(key=key), my_csv=csv).frames["annotations"]
    return marks.groupby("dialogue")["sampling_weight"].unique().str[0].to_dict()


def refused(tmp_path, key, csv=CSV):
    with pytest.raises(DataError) as error:
        weights(tmp_path, key, csv)
    return str(error.value)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("inclusion_probability: p", {"d1": 1, "d2": 5, "d3": 1, "d4": 4}),
        ("weight: p", {"d1": 1, "d2": 0.2, "d3": 1, "d4": 0.25}),
        # 2 flagged dialogues of 4 in the population, 2 others of 20; d5 has no score: it was not judged
        ("stratum: queue\n    strata: {flagged: 4, rest: 20}", {"d1": 2, "d2": 10, "d3": 2, "d4": 10}),
        (
            "stratum: queue\n    strata: {A: {flagged: 3, rest: 7}, B: {flagged: 1, rest: 40}}",
            {"d1": 3, "d2": 7, "d3": 1, "d4": 40},
        ),
    ],
)
def test_weights_are_inverse_probabilities_their_own_or_those_of_strata(tmp_path, key, expected):
    assert weights(tmp_path, key) == expected


def test_no_key_no_weight(tmp_path):
    assert pd.Series(weights(tmp_path, "")).isna().all()


P = "inclusion_probability: p"
NO_P = "my.csv, row 4, bad, p: expected a probability above 0 and at most 1, found "


@pytest.mark.parametrize(
    ("key", "change", "said"),
    [
        *((P, ("d2,A,w1,0,0.2", f"d2,A,w1,0,{cell}"), f"{NO_P}'{cell}'") for cell in ("0", "1.5", "x")),
        (P, ("d2,A,w1,0,0.2", "d2,A,w1,0,"), f"{NO_P}nothing"),
        (P, ("d1,A,w2,0,1", "d1,A,w2,0,0.5"), "the same in all rows of a dialogue"),
        ("inclusion_probability: survey_weight", (",p,", ",survey_weight,"), "a column that is not called like"),
        ("weight: sampling_prob", (",p,", ",sampling_prob,"), "a column that is not called like"),
        ("weight: p", ("0.25", "-1"), "a number above 0, found '-1'"),
        (
            "stratum: queue\n    strata: {flagged: 1, rest: 20}",
            ("", ""),
            "strata.flagged: expected at most 1 dialogues, found 2 in the file",
        ),
        (
            "stratum: queue\n    strata: {flagged: 4, rest: 20, unseen: 9}",
            ("", ""),
            "strata.unseen: expected dialogues of this stratum, found none",
        ),
        ("stratum: queue\n    strata: {A: {flagged: 3, rest: 7}}", ("", ""), "a stratum of B in `strata`"),
    ],
)
def test_what_is_no_weight_is_refused_with_its_place(tmp_path, key, change, said):
    assert said in refused(tmp_path, key, CSV.replace(*change) if change[0] else CSV)


def test_pairs_have_weights(tmp_path):
    columns = "columns: {{system: left, system_b: right, annotator: who}}"
    columns += "\n    identify: {{dialogue: [pair, left], dialogue_b: [pair, right]}}"
    yaml = YAML.replace("columns: {{dialogue: id, system: bot, annotator: who}}", columns).replace("[0, 1]", "[-1, 1]")
    pairs = "pair,left,right,who,bad,p\n1,A,B,w1,1,1\n2,B,A,w1,-1,0.1\n2,B,A,w2,0,0.1\n"
    yaml = yaml.replace("dialogue_rating", "comparative").format(key=P)
    marks = studies.read(tmp_path, yaml, my_csv=pairs).frames["annotations"]
    assert marks["sampling_weight"].tolist() == pytest.approx([1, 10, 10])


def test_another_source_about_the_same_dialogues_gets_their_weights(tmp_path):
    """Judgements by a model in a file of their own; a dialogue that no source has a weight for is refused."""
    more = """\
  - {adapter: table, file: model.csv, columns: {dialogue: id, system: bot, annotator: who}, scores: "{label}",
     judges: {gpt: llm}}
"""
    yaml = YAML.format(key="inclusion_probability: p").replace("labels:", more + "labels:")
    model = "id,bot,who,bad\nd2,A,gpt,1\n"
    marks = studies.read(tmp_path, yaml, my_csv=CSV, model_csv=model).frames["annotations"]
    assert marks.loc[marks["annotator"] == "gpt", "sampling_weight"].tolist() == [5]
    with pytest.raises(DataError, match=r"model\.csv, row 3, bad, sampling_weight: expected a weight, found none"):
        studies.read(tmp_path, yaml, my_csv=CSV, model_csv=model + "d9,A,gpt,1\n")


@pytest.mark.parametrize(
    ("name", "cells", "key"),
    [
        ("inclusion_probability", ["1", "0.2"], "inclusion_probability"),
        ("propensity", ["0.3", "0.2"], "inclusion_probability"),
        ("inclusion_probability", ["1", "1"], None),  # nothing was drawn with another probability
        ("meta.sampling_weight", ["1", "2"], "weight"),
        ("Stratum", ["a", "b"], "stratum"),
        ("stratum", [str(i) for i in range(30)], None),
        ("fluency", ["1", "0.2"], None),
    ],
)
def test_columns_are_known_by_name_and_content(name, cells, key):
    assert sampling.key_for(name, pd.Series(cells)) == key


def test_records_keep_values_that_nothing_uses_with_their_dialogues(tmp_path):
    """Also where `{label}` would fit their keys, and some records lack them."""
    yaml = YAML.format(key="").replace("adapter: table", "adapter: records").replace("    layout: wide\n", "")
    yaml = yaml.replace("my.csv", "my.json").replace("system: bot, ", "")
    records = [{"id": f"d{i}", "who": "w", "bad": i % 2, "drawn": {"p": 0.2 + 0.1 * i}} for i in range(4)]
    records[1].pop("drawn")
    records = [r | {"auto_flag": r["bad"] == 1} for r in records]
    built = studies.read(tmp_path, yaml, my_json=json.dumps(records))
    facts = built.frames["dialogue_facts"].query("key == @sampling.UNUSED + 'auto_flag'").set_index("dialogue")
    assert facts["value"].to_dict() == {"d0": "false", "d1": "true", "d2": "false", "d3": "true"}
    assert list(built.unused["my.json"]) == ["drawn.p", "auto_flag"]
