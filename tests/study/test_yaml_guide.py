"""docs/yaml.md against the models: every key, with the type, default and meaning they have."""

import re

import pytest

from judgebook.sources.adapters.options.records import Records
from judgebook.study import guides, params


@pytest.fixture(scope="module")
def rows():
    """(heading, key) -> type, default, meaning."""
    found, heading = {}, ""
    for line in guides.yaml_keys().splitlines():
        if line.startswith("#"):
            heading = line.strip("# `")
        elif line.startswith("| `"):
            cells = re.split(r" (?<!\\)\| ", line.strip("| "))
            found[heading, cells[0].strip("`")] = tuple(cells[1:])
    return found


def test_types_defaults_and_bounds_are_those_of_the_models(rows):
    assert rows["bootstrap", "confidence"] == ("number > 0.5, < 1", "`0.95`", "confidence level of intervals")
    assert rows["bootstrap", "n_resamples"][:2] == ("whole number ≥ 100, ≤ 1,000,000", "`10000`")
    assert rows["The study", "title"][1] == "required"
    assert rows["adapter: records", "scores"][:2] == ("text, or list of text", "required")
    turn = "whole number ≥ 1, ≤ 2,147,483,647"
    assert rows["techniques", "compare.NAME.turns"][:2] == (f"[{turn}, {turn}] or null", "`null`")
    assert {key for heading, key in rows if heading == "Our columns"} == {*guides.OURS}


def test_examples_are_valid(rows):
    columns = {"dialogue": "id", "annotator": "rater", "system": "model"}
    source = {"adapter": "records", "file": "a.json", "scores": "{label}", "columns": columns}
    for name, field in Records.model_fields.items():
        for example in field.examples or []:
            assert Records.model_validate({**source, name: example}), name
    labels = {"fluency": {"scale": [1, 5]}}
    for name, field in params.Study.model_fields.items():
        for example in field.examples or []:
            assert params.Study.model_validate({"title": "T", "sources": [source], "labels": labels, name: example})


def test_a_key_without_meaning_or_place_is_refused():
    schema = params.json_schema()
    del schema["$defs"]["Iaa"]["properties"]["first"]["description"]
    with pytest.raises(ValueError, match="first: no description"):
        guides._Guide(schema, {}).text()
