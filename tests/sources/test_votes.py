"""Votes on two responses, as the documentation shows them and as files have them."""

import re

import pytest
from fixtures import yaml_studies as studies

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


def test_a_winner_by_name_is_the_same(tmp_path):
    named = CSV.replace("v1,model_a", "v1,X").replace("v3,model_a", "v3,Y").replace("gpt-4,model_b", "gpt-4,Y")
    assert marks(tmp_path, named.replace("v1,model_b", "v1,Z"))["score"].tolist() == [1, 0, -1, 0, -1, -1]


def test_a_winner_that_took_no_part_is_refused(tmp_path):
    with pytest.raises(DataError, match="expected a number, found 'W'"):
        marks(tmp_path, CSV.replace("v1,model_a", "v1,W"))
