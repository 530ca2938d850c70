"""What a study lacks to be part of the atlas, as the command says and as its page shows."""

import re
from pathlib import Path

import pytest
import yaml
from fixtures import yaml_studies as studies

from judgebook import project
from judgebook.extras.atlas import contributing, declared
from judgebook.sources import registry

PAGE = (project.ROOT / "docs" / "adding_a_study.md").read_text(encoding="utf-8")
SHOWN = next(block for block in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) if "to be done" in block)
ENTRY = next(block for block in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) if "upstream:" in block)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A study that is only a YAML: its file is not there."""
    monkeypatch.setattr(project, "INSTALLED", True)
    for name in ("COMPENDIUM_FOLDER", "COMPENDIUM_OUT", "COMPENDIUM_RAW"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "params").mkdir()
    studies.write(tmp_path / "params", studies.WIDE, name="my_study")
    return tmp_path


def lacking(name="my_study"):
    return {step.what: step.lacks for step in contributing.steps(name) if step.lacks}


def test_the_page_shows_what_the_command_prints(mine, capsys):
    assert contributing.command("my_study") == 1
    assert capsys.readouterr().out == SHOWN


def test_each_step_that_is_done_is_no_longer_lacking(mine, monkeypatch):
    data = studies.wide_csv().encode()
    digest = registry.git_blob(data)
    entry = yaml.safe_load(ENTRY)["my_study"]
    entry["files"] = {"my.csv": {"upstream": [{"path": "my.csv", "blob": digest}]}}
    monkeypatch.setattr(registry, "_data", lambda: {"my_study": entry})
    registry.entries.cache_clear()
    assert {"citation", "licence", "raw files", "labels.yaml"} == {*lacking()}
    (mine / "params" / "my.csv").write_bytes(data + b"\n")
    assert lacking()["raw files"] == "not the files that the registry describes: my.csv"
    (mine / "params" / "my.csv").write_bytes(data)
    path = mine / "params" / "my_study.yaml"
    path.write_text(studies.WIDE + "licence: CC0\ncitation: Doe (2026).\n", encoding="utf-8")
    assert {*lacking()} == {"labels.yaml"}
    about = declared.About(genre="other", judges="crowd", labels={"fluency": "fluency", "quality": "overall"})
    every = declared.declared()
    with_it = every.model_copy(update={"studies": every.studies | {"my_study": about}})
    monkeypatch.setattr(declared, "declared", lambda: with_it)
    assert {*lacking()} == {"atlas"}
    registry.entries.cache_clear()


def test_a_yaml_that_cannot_be_read_is_the_only_step(mine):
    path: Path = mine / "params" / "my_study.yaml"
    path.write_text("title: T\nsauces: []\n", encoding="utf-8")
    assert {*lacking()} == {"YAML"}
    assert "sauces" in lacking()["YAML"]


def test_an_undeclared_direction_and_simulated_data_are_named(mine, monkeypatch):
    path = mine / "params" / "my_study.yaml"
    (mine / "params" / "my.csv").write_text(studies.wide_csv(), encoding="utf-8")
    path.write_text(studies.WIDE.replace("ordinal, direction: 1}", "ordinal}"), encoding="utf-8")
    assert lacking()["directions"] == "write `direction:` of fluency, quality"
    path.write_text(studies.WIDE + "simulated: true\n", encoding="utf-8")
    assert "real ones only" in lacking()["real data"]
