"""Extras are found by what they declare, and can be removed: what is left works, and says what is missing."""

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint

import pytest
from fixtures.project_copy import ROOT, Project

from judgebook import plugins

SECONDS = 40
EXTRAS = ("annotate", "bundle", "cluster", "compare", "gate", "init", "lab", "new", "paper")
#: those that the compendium adds: folders that can be removed, and others
REMOVABLE, NEEDED = ("atlas", "gallery"), ("published", "simulation")
#: extra -> its commands, where these are called otherwise
COMMANDS = {"annotate": ["annotate", "degrade"], "bundle": ["bundle", "verify"], "cluster": [], "paper": []}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("extras"), paper=True)
    project.notebook("03_own")
    project.dag("03_own: {}")
    assert project.states()["03_own"][0] == "done"
    return project


def without(project, folder, *names):
    copy = project.copy(folder)
    for name in names:
        own = copy.out("src", "judgebook", "extras", name)
        shutil.rmtree(own if own.is_dir() else copy.out("src", "compendium", name))
    return copy


def test_pyproject_registers_what_the_folder_has():
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    points = [EntryPoint(name, value, plugins.GROUP) for name, value in table[plugins.GROUP].items()]
    here = plugins.here()
    assert {point.name: point.load() for point in points} == {name: here[name] for name in EXTRAS}
    assert {*here} == {*EXTRAS, *REMOVABLE, *NEEDED}
    assert plugins.removed() == []


#: one that adds a page
TELLING = "paper"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.verify if n == TELLING else pytest.mark.evidence)
        for n in (*EXTRAS, *REMOVABLE)
    ],
)
def test_without_one_a_study_runs_and_its_command_is_said_to_be_removed(project, tmp_path, name):
    copy = without(project, tmp_path / "copy", name)
    assert copy.states()["03_own"][0] == "up to date"
    assert ("paper" in copy.manifest()["nodes"]) == (name != "paper")
    assert copy.out("reports", "tiny", "paper.html").is_file() == (name != "paper")
    for command in COMMANDS.get(name, [name]):
        done = copy.run(command)
        assert done.returncode == 2
        removed = (f"'{name}' is an extra that was removed", f"removed extras: {name}")
        said = (f"unknown command '{command}'",) if name in REMOVABLE else removed
        assert any(words in done.stderr for words in said)
    shown = copy.run("--help").stdout
    assert ("local:N" in shown) == (name != "cluster")
    every = (*EXTRAS, *REMOVABLE)
    here = {word for extra in every for word in COMMANDS.get(extra, [extra]) if f"\n    {word} " in shown}
    assert here == {word for extra in every if extra != name for word in COMMANDS.get(extra, [extra])}


@pytest.mark.verify
def test_without_any_a_study_runs(project, tmp_path):
    copy = without(project, tmp_path / "copy", *EXTRAS)
    shutil.rmtree(copy.out("data", "processed"))
    assert copy.states()["03_own"][0] == "done"
    assert f"removed extras: {', '.join(EXTRAS)}" in copy.run("none_such").stderr


def test_the_command_line_loads_no_dask():
    loaded = "import sys; print(sorted({'dask', 'distributed'} & {*sys.modules}))"
    code = f"from judgebook.pipeline import cli; from judgebook import plugins; plugins.here(); {loaded}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "[]\n"
