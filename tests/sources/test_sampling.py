"""Sampling weights of dialogues: read from a column or from strata with known sizes, checked, and noticed if unused."""

import json
import re

import pandas as pd
import pytest
from fixtures import yaml_studies as studies

from judgebook.extras.new import draft
from judgebook.sources import in_words, sampling
from judgebook.study import params
from judgebook.study.params import ParamsError
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


def test_the_inverse_of_a_probability(tmp_path):
    assert weights(tmp_path, "inclusion_probability: p") == {"d1": 1, "d2": 5, "d3": 1, "d4": 4}


def test_a_weight_as_it_is(tmp_path):
    assert weights(tmp_path, "weight: p") == {"d1": 1, "d2": 0.2, "d3": 1, "d4": 0.25}


def test_strata_of_all_systems_together(tmp_path):
    """Two flagged dialogues of 4 in the population and two others of 20; one without a score was not judged."""
    found = weights(tmp_path, "stratum: queue\n    strata: {flagged: 4, rest: 20}")
    assert found == {"d1": 2, "d3": 2, "d2": 10, "d4": 10}


def test_strata_by_system(tmp_path):
    found = weights(tmp_path, "stratum: queue\n    strata: {A: {flagged: 3, rest: 7}, B: {flagged: 1, rest: 40}}")
    assert found == {"d1": 3, "d2": 7, "d3": 1, "d4": 40}


def test_records_read_them_too(tmp_path):
    yaml = """\
title: A queue
method: dialogue_rating
sources:
  - adapter: records
    file: my.json
    scores: "scores.{label}"
    columns: {dialogue: id, annotator: who}
    inclusion_probability: drawn.p
labels:
  bad: {scale: [0, 1]}
"""
    records = [{"id": f"d{i}", "who": "w", "scores": {"bad": i % 2}, "drawn": {"p": p}} for i, p in enumerate((1, 0.5))]
    marks = studies.read(tmp_path, yaml, my_json=json.dumps(records)).frames["annotations"]
    assert marks["sampling_weight"].tolist() == [1, 2]


def test_no_key_no_weight(tmp_path):
    assert pd.Series(weights(tmp_path, "")).isna().all()


@pytest.mark.parametrize(("cell", "found"), [("0", "'0'"), ("1.5", "'1.5'"), ("", "nothing"), ("x", "'x'")])
def test_what_is_no_probability_is_refused_with_its_place(tmp_path, cell, found):
    csv = CSV.replace("d2,A,w1,0,0.2", f"d2,A,w1,0,{cell}")
    said = refused(tmp_path, "inclusion_probability: p", csv)
    assert f"my.csv, row 4, bad, p: expected a probability above 0 and at most 1, found {found}" in said


def test_weights_above_one_are_weights(tmp_path):
    assert weights(tmp_path, "weight: p", CSV.replace("0.25", "40"))["d4"] == 40
    assert "a number above 0, found '-1'" in refused(tmp_path, "weight: p", CSV.replace("0.25", "-1"))


def test_a_dialogue_with_two_probabilities_is_refused(tmp_path):
    said = refused(tmp_path, "inclusion_probability: p", CSV.replace("d1,A,w2,0,1", "d1,A,w2,0,0.5"))
    assert "the same in all rows of a dialogue" in said
    assert "row 3" in said


@pytest.mark.parametrize(
    ("strata", "said"),
    [
        ("{flagged: 4, rests: 20}", "did you mean 'rests'?"),
        ("{flagged: 1, rest: 20}", "strata.flagged: expected at most 1 dialogues, found 2 in the file"),
        ("{flagged: 4, rest: 20, unseen: 9}", "strata.unseen: expected dialogues of this stratum, found none"),
        ("{A: {flagged: 3, rest: 7}}", "a stratum of B in `strata`"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(tmp_path, strata, said):
    assert said in refused(tmp_path, f"stratum: queue\n    strata: {strata}")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("weight: p\n    inclusion_probability: p", "expected one of"),
        ("stratum: queue", "expected both"),
        ("stratum: queue\n    strata: {flagged: 3, A: {rest: 4}}", "found both"),
        ("stratum: queue\n    strata: {flagged: 0, rest: 4}", "strata"),
    ],
)
def test_keys_that_contradict_each_other_are_refused(tmp_path, key, said):
    with pytest.raises(ParamsError, match=said):
        weights(tmp_path, key)


def test_a_column_that_is_absent_is_refused(tmp_path):
    assert "my.csv, row 1, prob: expected this column" in refused(tmp_path, "inclusion_probability: prob")


PAIRS = """\
pair,left,right,who,better,p
1,A,B,w1,1,1
2,B,A,w1,-1,0.1
2,B,A,w2,0,0.1
"""
OF_PAIRS = """\
title: Pairs
sources:
  - adapter: table
    file: my.csv
    columns: {system: left, system_b: right, annotator: who}
    identify: {dialogue: [pair, left], dialogue_b: [pair, right]}
    scores: "{label}"
    inclusion_probability: p
method: comparative
labels:
  better: {scale: [-1, 1]}
"""


def test_pairs_have_weights(tmp_path):
    marks = studies.read(tmp_path, OF_PAIRS, my_csv=PAIRS).frames["annotations"]
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


def test_a_column_that_looks_like_one_and_is_not_used_is_counted(tmp_path):
    counts = studies.read(tmp_path, YAML.format(key=""), my_csv=CSV.replace(",p,", ",Sampling_Probability,")).frames[
        "counts"
    ]
    found = counts[(counts["what"] == sampling.NOT_USED) & (counts["action"] == "dropped")]
    assert found["reason"].str.partition(":")[0].tolist() == ["Sampling_Probability", "queue"]
    assert "write `inclusion_probability: Sampling_Probability`" in found["reason"].iloc[0]
    used = studies.read(tmp_path, YAML.format(key="inclusion_probability: p"), my_csv=CSV.replace("queue", "note"))
    assert not used.frames["counts"]["what"].eq(sampling.NOT_USED).any()


@pytest.mark.parametrize(
    ("name", "cells", "key"),
    [
        ("inclusion_probability", ["1", "0.2"], "inclusion_probability"),
        ("propensity", ["0.3", "0.2"], "inclusion_probability"),
        ("inclusion_probability", ["1", "1"], None),  # nothing was drawn with another probability
        ("inclusion_probability", ["1", "2"], None),
        ("meta.sampling_weight", ["1", "2"], "weight"),
        ("weight", ["heavy", "light"], None),
        ("Stratum", ["a", "b"], "stratum"),
        ("stratum", [str(i) for i in range(30)], None),
        ("fluency", ["1", "0.2"], None),
    ],
)
def test_columns_are_known_by_name_and_content(name, cells, key):
    assert sampling.key_for(name, pd.Series(cells)) == key


PAGE = (params.ROOT / "docs" / "own_data.md").read_text(encoding="utf-8")
SECTION = re.search(r"## Items drawn with unequal probability\n(.*?)\n## ", PAGE, re.DOTALL)[1]


def test_the_documentation_shows_keys_that_work(tmp_path):
    """Each of its three ways, on a queue with all 2 of 130 flagged dialogues and 2 of 2,000 others."""
    csv = CSV.replace(",p,", ",p,w,").replace(",flagged", ",2,flagged").replace(",rest", ",7,rest")
    found = []
    for block in re.findall(r"```yaml\n(.*?)```", SECTION, re.DOTALL):
        key = "\n    ".join(line.split("  #")[0] for line in block.splitlines())
        found.append(weights(tmp_path, key, csv))
    assert found[0] == {"d1": 1, "d2": 5, "d3": 1, "d4": 4}
    assert found[1] == {"d1": 2, "d2": 7, "d3": 2, "d4": 7}
    assert found[2] == {"d1": 65, "d2": 1000, "d3": 65, "d4": 1000}


QUEUE = "id,bot,who,bad,fluency,inclusion_probability,weight,stratum\n" + "\n".join(
    f"d{d},{'AB'[d % 2]},w{j + 1},{(d + j) % 2},{1 + (2 * d + j) % 5},{0.2 if d % 3 else 1},{1 + d % 3},{d % 3 > 0}"
    for d in range(30)
    for j in (0, 1)
)


def test_a_first_yaml_uses_what_leaves_no_doubt(tmp_path):
    """And takes none of the columns for a metric or a label."""
    (tmp_path / "queue.csv").write_text(QUEUE + "\n", encoding="utf-8")
    text = draft.new_yaml("queue", tmp_path / "queue.csv")
    assert "    inclusion_probability: inclusion_probability  #" in text
    assert "metrics:" not in text
    assert re.search(r"# not used: weight: it looks like a sampling weight: .* write `weight: weight`", text)
    assert re.search(r"# not used: stratum: it looks like strata: .* write `stratum: stratum` and `strata`", text)
    path = studies.write(tmp_path, text, queue_csv=QUEUE)
    lines = in_words.describe(params.load(path))
    assert any(line.startswith("dialogues have sampling weights from 1 to 5") for line in lines)
    assert not any("it looks like" in line for line in lines)


def test_check_warns_of_what_is_not_used(tmp_path):
    study = params.load(studies.write(tmp_path, YAML.format(key=""), my_csv=CSV.replace(",p,", ",propensity,")))
    said = [line for line in in_words.describe(study) if "it looks like" in line]
    assert said[0].startswith("warning: not used from my.csv: propensity: it looks like a sampling probability")
    assert "write `inclusion_probability: propensity`" in said[0]
    assert "queue: it looks like strata" in said[1]


@pytest.mark.parametrize(("key", "column"), [("weight", "sampling_prob"), ("inclusion_probability", "survey_weight")])
def test_a_probability_taken_for_a_weight_is_refused(tmp_path, key, column):
    csv = CSV.replace(",p,", f",{column},")
    assert "a column that is not called like" in refused(tmp_path, f"{key}: {column}", csv)
    if key == "weight":
        assert weights(tmp_path, f"weight: {column}", csv.replace("0.25", "40"))["d4"] == 40


def test_records_keep_values_that_nothing_uses_with_their_dialogues(tmp_path):
    """Also where `{label}` would fit their keys, and some records lack them."""
    yaml = """\
title: A queue
method: dialogue_rating
sources:
  - {adapter: records, file: my.json, scores: "{label}", columns: {dialogue: id, annotator: who}}
labels:
  bad: {scale: [0, 1]}
"""
    records = [{"id": f"d{i}", "who": "w", "bad": i % 2, "drawn": {"p": 0.2 + 0.1 * i}} for i in range(4)]
    records[1].pop("drawn")
    records = [r | {"auto_flag": r["bad"] == 1} for r in records]
    built = studies.read(tmp_path, yaml, my_json=json.dumps(records))
    facts = built.frames["dialogue_facts"].query("key == @sampling.UNUSED + 'auto_flag'").set_index("dialogue")
    assert facts["value"].to_dict() == {"d0": "false", "d1": "true", "d2": "false", "d3": "true"}
    assert list(built.unused["my.json"]) == ["drawn.p", "auto_flag"]
