"""Definitions of labels, by the titles that readers see."""

from fixtures import yaml_studies

from judgebook.study import params
from judgebook.study.definitions import meanings


def test_titles_with_the_words_of_a_paper_once_where_methods_share_them():
    found = meanings(params.load("demo"))
    assert found["Ignore"] == "The response ignores what the user just said."
    assert found["Quality"] == "The overall quality of and satisfaction with the responses."  # of three methods


def test_methods_that_tell_annotators_different_things_are_named(tmp_path):
    labels = "label_set: abc_eval\nlabels:\n  quality: {title: Ignore, scale: [1, 5], method: dialogue_rating}\n"
    told = "elicitation: {definitions: {quality: It ignores much.}}\n"
    study = params.load(yaml_studies.write(tmp_path, yaml_studies.LONG.partition("labels:")[0] + labels + told))
    found = meanings(study)["Ignore"]
    assert found.startswith("ABC-Eval behaviour: The response ignores what the user just said. ")
    assert found.endswith(": It ignores much.")
