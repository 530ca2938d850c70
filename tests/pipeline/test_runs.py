"""Runs of a small project through the command line: what runs again, what does not, and why."""

import json
import os

import pandas as pd
import pytest
from fixtures import answers_file
from fixtures.project_copy import ROOT, Project, result

from judgebook import read_answers

SECONDS = 60

DAG = """\
01_counts: {}
02_seeded: {needs: [01_counts], knobs: {seed: seeds.bootstrap}, answers: [cost]}
03_extra: {}
04_grouped: {requires: [groups]}
"""
FIGURE = """\
from judgebook.display import saving, style
fig, ax = style.subplots()
ax.plot([0, 1])
saving.save(fig, "line", alt="a line", run=run)
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("base") / "project")
    (project.folder / "src" / "judgebook" / "extra.py").write_text("VALUE = 1.0\n")
    (project.folder / "src" / "helpers" / "extra.py").write_text("from judgebook import extra\n")
    project.notebook("01_counts", [FIGURE, "annotations = run.read('annotations')", result("a", "len(annotations)")])
    seeded = ["before = run.read_results('01_counts')['count']['estimate'][0]", result("b", "before + seed")]
    project.notebook("02_seeded", seeded, knobs="seed: int = 0  # moves the result\n")
    project.notebook("03_extra", ["from helpers import extra", result("c", "extra.extra.VALUE")])
    project.notebook("04_grouped")
    project.dag(DAG)
    project.first = project.run("--study", "tiny")
    return project


@pytest.fixture
def project(base, tmp_path):
    return base.copy(tmp_path / "copy")


def test_the_first_run_makes_everything(base):
    lines = base.first.stdout.splitlines()
    assert base.first.returncode == 0, base.first.stderr
    assert lines[-1] == "report: reports/tiny/index.html"
    manifest = base.manifest()
    assert list(manifest["nodes"]["03_extra"]["outputs"]) == [
        "data/processed/tiny/notebooks/03_extra.ipynb",
        "data/processed/tiny/results/03_extra.csv",
        "data/processed/tiny/results/03_extra.parquet",
    ]
    assert manifest["seeds"]["bootstrap"] == 1
    assert base.out("reports", "tiny", "search.html").is_file()
    assert "skipped" in next(line for line in lines if "04_grouped" in line)
    assert not base.out("data", "processed", "tiny", ".work").exists()


def test_executed_notebooks_hold_no_traces_of_the_run(base):
    nb = json.loads(base.out("data", "processed", "tiny", "notebooks", "02_seeded.ipynb").read_text())
    assert "papermill" not in nb["metadata"]
    assert all("papermill" not in c["metadata"] for c in nb["cells"])
    assert all("pipeline-check" not in c["metadata"].get("tags", []) for c in nb["cells"])
    assert os.fspath(base.folder) not in json.dumps(nb)


def test_a_run_with_nothing_to_do_imports_no_numbers(project):
    done = project.run("--study", "tiny", python=["-X", "importtime"])
    assert done.returncode == 0, done.stderr
    assert "up to date" in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not imported & {"pandas", "numpy", "papermill", "nbconvert", "nbformat"}


@pytest.mark.verify
def test_only_what_depends_on_a_change_runs_again(project):
    """A helper one notebook imports and what that imports, a seed another is given, and raw data that differ without
    meaning anything."""
    project.edit("src/judgebook/extra.py", "1.0", "2.0")
    project.edit("src/helpers/extra.py", "extra\n", "extra  # changed\n")
    with project.out("params", "tiny.csv").open("a") as stream:
        stream.write("\n")  # an empty line is passed over: the annotations stay the same, so that nothing follows
    states = project.states("--set", "seeds.bootstrap=5")
    assert states["annotations"] == ("done", "changed: raw file tiny.csv")
    assert states["01_counts"] == ("up to date", "")
    assert states["02_seeded"] == ("done", "changed: seeds.bootstrap (YAML)")
    assert states["03_extra"] == ("done", "changed: helpers.extra, judgebook.extra")
    results = project.out("data", "processed", "tiny", "results")
    assert ",65.0," in (results / "02_seeded.csv").read_text()  # 60 annotations and the seed


KEPT = """\
from judgebook.execution import kept
from judgebook.questions.made import analysis, words
from judgebook.study import store
value = kept(store.kept(run.key, run.notebook), analysis.analyse, len(run.read("annotations")))
print(words.FOUND)
"""


@pytest.mark.verify
def test_other_words_and_colours_compute_nothing_again(project):
    """What an analysis gave is kept until its code, or what it is given, changes; a run that is forced computes all."""
    made = project.folder / "src" / "judgebook" / "questions" / "made"
    made.mkdir()
    (made / "__init__.py").write_text("")
    (made / "words.py").write_text("FOUND = 'found'\n")
    (made / "analysis.py").write_text("import time\n\n\ndef analyse(n):\n    return n + time.time_ns() % 10**9 / 1e9\n")
    project.notebook("01_counts", [KEPT, result("a", "value")])

    def run(*options):
        state = project.states("--only", "01", *options)["01_counts"]
        return state, (project.out("data", "processed", "tiny", "results") / "01_counts.csv").read_text()

    (_, first) = run()
    project.edit("src/judgebook/questions/made/words.py", "'found'", "'seen'")
    why = "changed: judgebook.questions.made.words"
    assert run("--dry-run") == (("would run", why), first)
    assert run() == (("done", why), first)
    why = "changed: figures (YAML)"
    assert run("--set", "figures.formats=[svg, pdf]") == (("done", why), first)
    project.edit("src/judgebook/questions/made/analysis.py", "1e9", "1e9 + 100")
    state, second = run("--set", "figures.formats=[svg, pdf]")
    assert state == ("done", "changed: judgebook.questions.made.analysis")
    assert second != first
    assert run("--force")[1] != second


@pytest.mark.verify
def test_changed_data_reach_what_reads_them_and_what_is_gone_leaves_nothing(project):
    """A figure that is no longer made, and all of a notebook that is taken out."""
    with project.out("params", "tiny.csv").open("a") as stream:
        stream.write("d30,5,5\n")
    project.notebook("01_counts", ["annotations = run.read('annotations')", result("a", "len(annotations)")])
    states = project.states("--only", "seeded")
    assert states["01_counts"][1].startswith("changed: notebook, annotations.parquet")
    assert states["02_seeded"] == ("done", "changed: annotations.parquet, results of 01_counts")
    assert not project.out("figures", "tiny", "01_counts_line.svg").exists()
    assert not project.out("reports", "tiny", "files", "01_counts_line.svg").exists()
    assert "<figure" not in project.out("reports", "tiny", "01_counts.html").read_text()
    project.dag(DAG.replace("03_extra: {}\n", ""))
    project.states("--only", "counts")
    assert not [p for p in project.folder.rglob("03_extra*") if p.parent.name != "notebooks" or "data" in p.parts]
    assert "03_extra" not in project.out("reports", "tiny", "index.html").read_text()


@pytest.mark.verify
def test_pictures_stay_beside_a_page_that_is_made_anew(project):
    """Another notebook's title changes the navigation of all pages, but no picture, to which the report has links."""
    picture = project.out("reports", "tiny", "files", "01_counts_line.svg")
    for title in ("Once", "Twice"):
        project.notebook("03_extra", title=title)
        assert project.run("--study", "tiny").returncode == 0
        assert title in project.out("reports", "tiny", "01_counts.html").read_text()
        assert picture.is_file()


def test_lost_and_altered_outputs_are_made_again(project):
    """And the same result stops what follows a changed notebook. A dry run says so before, and writes nothing."""
    project.out("data", "processed", "tiny", "results", "03_extra.csv").write_text("edited by hand\n")
    project.edit("notebooks/01_counts.ipynb", "a line", "a straight line")
    before = {p: p.stat().st_mtime_ns for p in project.folder.rglob("*")}
    states = project.states("--dry-run")
    assert states["01_counts"] == ("would run", "changed: notebook")
    assert states["02_seeded"] == ("may run", "if 01_counts changes")
    assert states["03_extra"] == ("would run", "missing or altered: 03_extra.csv")
    assert states["annotations"] == ("up to date", "")
    assert {p: p.stat().st_mtime_ns for p in project.folder.rglob("*")} == before
    project.out("figures", "tiny", "01_counts_line.svg").unlink()
    states = project.states()
    assert states["01_counts"] == ("done", "changed: notebook")
    assert states["02_seeded"] == ("up to date", "")
    assert states["03_extra"] == ("done", "missing or altered: 03_extra.csv")
    assert project.out("figures", "tiny", "01_counts_line.svg").is_file()
    assert "edited" not in project.out("data", "processed", "tiny", "results", "03_extra.csv").read_text()


@pytest.mark.evidence
def test_a_forced_run_gives_the_same_bytes(project):
    def contents():
        folders = [project.out(*f) for f in (("figures",), ("reports",), ("data", "processed", "tiny", "notebooks"))]
        return {p: p.read_bytes() for f in folders for p in f.rglob("*") if p.is_file()}

    before = contents()
    assert project.states("--force")["03_extra"] == ("done", "forced")
    assert contents() == before


def in_file(project, change=("", "")):
    report, results = project.out("reports", "tiny"), project.out("data", "processed", "tiny", "results")
    page, file = ((report / name).read_text(encoding="utf-8") for name in ("index.html", "answers.json"))
    assert change[0] in page
    return [*answers_file.wrong(page.replace(*change), file, lambda name: pd.read_parquet(results / f"{name}.parquet"))]


def test_answers_are_written_as_data_beside_the_first_page(base):
    assert in_file(base) == []
    sentence = "because there is only one system"
    assert len(in_file(base, (sentence, f"{sentence} of 37"))) == 2
    file = json.loads(base.out("reports", "tiny", "answers.json").read_text())
    assert (file["version"], file["study"], file["counted"][0]["judgements"]) == (1, "tiny", 60)
    verdicts = {answer["key"]: answer["verdict"] for answer in file["answers"]}
    first = {"order": "one_system", "labels": "not_run", "judges": "not_run", "sample": "not_run"}
    assert verdicts == first | {"cost": "unknown", "next": "time"}


def test_the_example_of_the_guide_prints_verdicts(base, monkeypatch, capsys):
    section = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").partition("## answers.json for a dashboard")[2]
    example = section.partition("```python\n")[2].partition("```")[0]
    monkeypatch.setenv("COMPENDIUM_OUT", str(base.folder))
    exec(example.replace('"ji2022"', '"tiny"'), {})
    assert capsys.readouterr().out.split()[:2] == ["order", "one_system"]


def test_answers_that_are_not_there_or_not_as_written_say_what_to_run(base, monkeypatch, tmp_path):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"answers.json is not there; run `.* --study tiny`"):
        read_answers("tiny")
    file = json.loads(base.out("reports", "tiny", "answers.json").read_text())
    path = tmp_path / "reports" / "tiny" / "answers.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(file | {"version": 2}))
    with pytest.raises(ValueError, match=r"answers.json: version: Input should be 1 .*; run `.* --study tiny`"):
        read_answers("tiny")


OLD = "This page is from an earlier run, with other settings or data (changed: seeds.bootstrap (YAML))."


@pytest.mark.verify
def test_pages_of_an_earlier_run_say_so_until_they_are_made_again(project):
    """`--only` with `--set` leaves pages of other settings: each says so, and the index, too."""
    done = project.run("--study", "tiny", "--only", "03_extra", "--set", "seeds.bootstrap=5")
    assert done.returncode == 0, done.stderr
    report = project.out("reports", "tiny")
    assert OLD in (report / "02_seeded.html").read_text()
    index = (report / "index.html").read_text()
    assert index.count("This page is from an earlier run") == 1
    for name in ("01_counts", "03_extra"):
        assert "earlier run" not in (report / f"{name}.html").read_text()
    marked = {key for key, text in answers_file.sections(index).items() if "From an earlier run" in text}
    answers = {answer["key"]: answer for answer in json.loads((report / "answers.json").read_text())["answers"]}
    assert marked == {key for key, answer in answers.items() if not answer["this_run"]} == {"cost"}
    assert answers["cost"]["earlier"] == ["02_seeded"]
    project.states("--set", "seeds.bootstrap=5")
    assert "earlier run" not in (report / "02_seeded.html").read_text() + (report / "index.html").read_text()


@pytest.mark.verify
def test_another_study_of_the_same_name_is_refused(project):
    data, folder = (project.folder / "params" / "tiny.csv").read_text(), project.folder / "others"
    folder.mkdir()
    (folder / "tiny.yaml").write_text((project.folder / "params" / "tiny.yaml").read_text())
    (folder / "tiny.csv").write_text(data + "d30,1,2\n")
    before = project.manifest()
    done = project.run("--study", str(folder / "tiny.yaml"))
    assert (done.returncode, project.manifest()) == (2, before)
    assert "data/processed/tiny has results of another study called 'tiny': those of params/tiny.yaml" in done.stderr
    (folder / "tiny.csv").write_text(data)  # the same data: a copy of the YAML
    assert project.run("--study", str(folder / "tiny.yaml"), "--dry-run").returncode == 0
