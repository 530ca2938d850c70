"""Notebooks of one's own: a file that declares itself is run with the study, and nothing in the package changes."""

import re

import nbformat
import pytest
from fixtures.project_copy import Project, notebook, result

from judgebook import project as folders
from judgebook.pipeline import dag
from judgebook.pipeline.check import check
from judgebook.pipeline.dag import NotebookError
from judgebook.study.stored import open_study

SECONDS = 40
PEOPLE = """\
title: People
sources:
  - {adapter: table, file: people.csv, layout: wide, columns: {dialogue: id, annotator: who}, scores: "{label}"}
labels:
  fluency: {scale: [1, 5], level: ordinal, direction: 1}
extra: {least: 2, experts: {bettina: [anneliese, cosima]}}
"""
ROWS = "id,who,fluency\n" + "".join(
    f"d{i},{who},{1 + (i * k) % 5}\n" for i in range(12) for k, who in enumerate(("anneliese", "bettina", "cosima"), 1)
)
CALL = 'own_notebook("{name}", study, run_id, reads=["annotations", "data/prices.csv"], extra=["least", "experts"])'
OWN = [
    "scores = run.read('annotations').groupby('annotator')['score'].mean().rename('estimate').reset_index()\n"
    "scores = scores.assign(people=scores['annotator'], least=run.extra['least']).drop(columns='annotator')\n"
    "run.save_statistic('mean_of', scores, title='Mean of a person', keys=['people', 'least'])",
    "print(run.file('data/prices.csv').read_text(), run.extra['experts'])\nscores",
]


def own(project, name, cells, call=CALL, **kwargs):
    project.notebook(name, cells, **kwargs)
    edited(project.notebooks / f"{name}.ipynb", f"from judgebook import own_notebook\nrun = {call.format(name=name)}")


def edited(path, start):
    """Begin a notebook, after its parameters, with this code."""
    nb = nbformat.read(path, 4)
    nb.cells[2]["source"] = start
    nbformat.write(nb, path)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A study of named people with two notebooks of somebody's own, one of a fork, and one that declares nothing."""
    project = Project(tmp_path_factory.mktemp("own"))
    project.study("people", PEOPLE)
    (project.folder / "params" / "people.csv").write_text(ROWS)
    (project.folder / "data").mkdir()
    (project.folder / "data" / "prices.csv").write_text("twelve")
    project.notebook("01_fork", ["run.read('dialogues')", result("a")])
    project.dag("01_fork: {}")
    own(project, "20_people", OWN, title="What do people give?")
    own(project, "21_absent", [], CALL.replace('"experts"', '"absent"'), title="Without")
    project.notebook("22_other", [])
    project.done = project.run("--study", "people")
    return project


def states_of(project, *arguments):
    done = project.run("--study", "people", "--only", "20", *arguments)
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    return {line[0]: line[1] for line in lines if len(line) == 2}


@pytest.mark.verify
class TestRun:
    def test_it_is_run_with_the_study_and_has_a_page_in_its_report(self, project):
        assert "20_people    done" in project.done.stdout, project.done.stdout + project.done.stderr
        reports = project.out("reports", "people")
        page = (reports / "20_people.html").read_text(encoding="utf-8")
        assert "<h1>What do people give?" in page
        assert "twelve" in page
        assert "<table" in page
        assert 'href="20_people.html"' in (reports / "index.html").read_text(encoding="utf-8")

    def test_its_statistic_is_read_with_those_of_the_study(self, project, monkeypatch):
        monkeypatch.setenv("COMPENDIUM_OUT", str(project.folder))
        rows = open_study("people").results("mean_of", least=2)
        assert sorted(rows["people"]) == ["A0001", "A0002", "A0003"]

    def test_extra_has_pseudonyms_in_the_place_of_ids(self, project):
        home = project.out("data", "processed", "people")
        executed = (home / "notebooks" / "20_people.ipynb").read_text(encoding="utf-8")
        assert "{'A0002': ['A0001', 'A0003']}" in executed
        recorded = (home / "params.yaml").read_text(encoding="utf-8")
        assert "least: 2" in recorded
        assert not [who for who in ("anneliese", "bettina", "cosima") if who in recorded + executed]

    def test_what_is_skipped_fails_or_is_left_out_says_why(self, project):
        said = project.done.stdout
        assert "The YAML has no `extra: {absent: …}`." in said
        assert project.done.returncode == 1
        (line,) = [line for line in said.splitlines() if line.startswith("  01_fork")]
        assert "UndeclaredError: 01_fork reads 'dialogues', which it does not declare: add it to `reads` in" in line
        assert "notebooks/22_other.ipynb is left out: it does not begin with own_notebook(…)" in said
        assert "  22_other" not in said

    def test_a_change_of_what_it_declares_runs_it_again_and_nothing_else_does(self, project, tmp_path):
        copy = project.copy(tmp_path / "copy")
        assert states_of(copy, "--set", "extra.another=1")["20_people"] == "up to date"
        told = states_of(copy, "--set", "extra.least=3")
        assert told["20_people"].endswith("changed: extra.least (YAML)")
        assert told["annotations"] == "up to date"
        (copy.folder / "data" / "prices.csv").write_text("thirteen")
        assert states_of(copy, "--dry-run", "--set", "extra.least=3")["20_people"].endswith("changed: data/prices.csv")


def made(folder, monkeypatch, name, call):
    """As if the folder were somebody's, with one notebook."""
    monkeypatch.setattr(folders, "INSTALLED", True)
    monkeypatch.setenv("COMPENDIUM_FOLDER", str(folder))
    (folder / "notebooks").mkdir()
    notebook(folder / "notebooks", name, [])
    edited(folder / "notebooks" / f"{name}.ipynb", f"import judgebook as jb\nrun = {call}")


@pytest.mark.parametrize(
    ("call", "more", "says"),
    [
        ("None", "", 'left out: it does not begin with own_notebook.*: write `run = own_notebook."20_a"'),
        ("None", '{"cells": [{}]}', "left out: not a notebook: 'source'"),
        ('jb.own_notebook("20_a", study, run_id, reads=["data/p.csv"])', "", "reads: .*found no data/p.csv"),
    ],
)
def test_check_names_what_is_left_out_or_lacks_a_file(monkeypatch, tmp_path, capsys, call, more, says):
    made(tmp_path, monkeypatch, "20_a", call)
    if more:
        (tmp_path / "notebooks" / "20_a.ipynb").write_text(more)
    assert check("demo", []) == 0
    assert re.search(f"  notebooks/20_a.ipynb.*{says}", capsys.readouterr().out)


def test_it_stands_where_its_number_says_and_audit_does_without(monkeypatch, tmp_path):
    made(tmp_path, monkeypatch, "04_mine", 'jb.own_notebook("04_mine", study, run_id, needs=["03_iaa"])')
    names = list(dag.load())
    assert names.index("04_importance") + 1 == names.index("04_mine") == names.index("05_sensitivity") - 1
    assert dag.load()["04_mine"].needs == ["03_iaa"]
    assert "04_mine" not in dag.load(own=False)
    assert dag.file("04_mine") == tmp_path / "notebooks" / "04_mine.ipynb"


@pytest.mark.parametrize(
    ("name", "call", "message"),
    [
        ("20_a", "20_b{}", "notebooks/20_a: expected the name of its file first"),
        ("03_iaa", "03_iaa{}", "03_iaa: a notebook of the project has this name"),
        ("20_a", '20_a{, needs=["80_x"]}', "20_a: needs '80_x', which there is not"),
        ("20_a", "20_a{}\njb.open_study(study)", "20_a: it reads by open_study, which no declaration covers"),
    ],
)
def test_one_that_cannot_be_is_refused_with_what_to_write(monkeypatch, tmp_path, name, call, message):
    made(tmp_path, monkeypatch, name, 'jb.own_notebook("' + call.replace("{", '", study, run_id').replace("}", ")"))
    with pytest.raises(NotebookError, match=message):
        dag.load()


def test_a_notebook_that_is_opened_in_its_folder_finds_the_project_around_it(monkeypatch, tmp_path):
    made(tmp_path, monkeypatch, "20_a", "None")
    monkeypatch.delenv("COMPENDIUM_FOLDER")
    monkeypatch.chdir(tmp_path / "notebooks")
    assert folders.folder() == tmp_path / "notebooks"
    (tmp_path / "params").mkdir()
    assert folders.folder() == tmp_path
