"""What is recorded of a run's parameters, and repeated on its pages, names nobody."""

import json

import pandas as pd
import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook.sources import build
from judgebook.sources.ids import naming, pseudonyms, recorded
from judgebook.study import escape, params

CSV = "who,bot,chat,fluency\n" + "".join(
    f"{who},{bot},{bot}{i},{1 + i}\n"
    for who in ("workerAAA17", "workerBBB18", "workerCCC19", "gpt")
    for bot in "ab"
    for i in (1, 2)
)
CSV += "workerAAA17,a,a_workerAAA17,3\n"
STUDY = {
    "title": "Ours",
    "sources": [
        {
            "adapter": "table",
            "file": "my.csv",
            "columns": {"annotator": "who", "system": "bot", "dialogue": "chat"},
            "judges": {"gpt": "llm"},
        }
    ],
    "labels": {"fluency": {"scale": [1, 5]}},
    "groups": {
        "crowd": {
            "annotators": ["workerAAA17", "workerBBB18", "workerCCC19"],
            "parts": {"early": ["workerAAA17", "workerCCC19"]},
        },
        "models": {"annotators": ["gpt"]},
    },
}
LEAVING_OUT = {"drop": {"annotator": "workerCCC19", "dialogue": "a_workerAAA17"}, "seeds": {"bootstrap": 3}}


@pytest.fixture
def home(tmp_path):
    path = studies.write(tmp_path, yaml.safe_dump(STUDY), my_csv=CSV)
    study = params.load(path, LEAVING_OUT)
    build.build(study, out=tmp_path / "home")
    (tmp_path / "home" / "params.yaml").write_text(recorded.text(study, tmp_path / "home"))
    return tmp_path / "home"


def test_members_of_a_group_who_are_left_out_are_not_recorded(home):
    text = (home / "params.yaml").read_text()
    assert "worker" not in text
    groups = yaml.safe_load(text)["groups"]
    assert groups["crowd"]["annotators"] == ["A0001", "A0002"]
    assert groups["crowd"]["parts"] == {"early": ["A0001"]}
    assert groups["models"]["annotators"] == ["gpt"]
    assert params.load(home / "params.yaml").drop == {"annotator": "1 not named here", "dialogue": "a_A0001"}


def test_extra_names_nobody_and_changes_of_it_are_repeated_as_recorded(home):
    """One whom the YAML leaves out has no pseudonym, and a model needs none; an id in a text is replaced, too."""
    values = ["workerAAA17", {"workerBBB18": "of workerBBB18, late"}, "workerCCC19", "of all", "gpt", 4, None]
    study = params.load(home.parent / "mine.yaml", LEAVING_OUT | {"extra": {"a": values, "b": 1}})
    (home / "params.yaml").write_text(recorded.text(study, home))
    expected = ["A0001", {"A0002": "of A0002, late"}, "not named here", "of all", "gpt", 4, None]
    again = params.load(home / "params.yaml")
    assert again.extra == recorded.extra(again, home) == {"a": expected, "b": 1}
    assert recorded.changes({"extra": {"a": values}}, home) == {"extra": {"a": expected}}
    (home / "params.yaml").unlink()
    assert recorded.changes({"extra": {"a": values}}, home) == {"extra": {"a": "not named here"}}


@pytest.mark.parametrize("read", [True, False])
def test_changes_are_repeated_without_ids(home, read):
    if not read:
        (home / recorded.SECTIONS).unlink()
    groups = {"crowd": {"annotators": ["workerAAA17", "workerCCC19"], "note": "of ours"}}
    said = recorded.changes(LEAVING_OUT | {"groups": groups}, home)
    assert said["seeds"] == {"bootstrap": 3}
    assert "worker" not in json.dumps(said)


def test_the_private_list_is_read_as_it_was_written(tmp_path):
    """As docs/own_data.md says: ids that a spreadsheet would run are led by an apostrophe in the file."""
    listed = [("person", "A0001", "@ann"), ("person", "A0002", "=cmd()"), ("work unit", "U00001", "007")]
    own = pd.DataFrame(listed, columns=["kind", "pseudonym", "own_id"])
    pseudonyms.write_own_ids(own, tmp_path / naming.OWN_IDS)
    assert pd.read_csv(tmp_path / naming.OWN_IDS)["own_id"].tolist() != own["own_id"].tolist()
    assert escape.read_csv(tmp_path / naming.OWN_IDS).equals(own)
