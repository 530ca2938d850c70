"""What goes wrong in an analysis (exit 1, the others run), or in the call, the YAML or the data (2, nothing runs)."""

import os
import re

import pytest
from fixtures import yaml_studies as studies
from fixtures.project_copy import Project, notebook, result, states

from judgebook.pipeline import dag, manifest, nodes, worker
from judgebook.pipeline.cache import Cache
from judgebook.pipeline.dag import NotebookError
from judgebook.study import params
from judgebook.study.questions import Question


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("failing"))
    project.notebook("01_raises", ["x = 1", "raise ValueError('no such thing')", result("a")])
    project.notebook("02_needs_it", ["run.read_results('01_raises')", result("b")])
    project.notebook("03_leaves", ["import sys", "sys.exit(0)", result("c")])
    hidden = ["import importlib", "importlib.import_module('judgebook.report.blocks')", result("d")]
    project.notebook("04_hides_an_import", hidden)
    project.notebook("05_fine", ["from pathlib import Path", "Path('stray.txt').write_text('x')", result("e")])
    given = ["import os", "stamp = os.environ['PYTHONHASHSEED'] + os.environ['OMP_NUM_THREADS']", result("f")]
    project.notebook("06_given", [*given, "print(what)"], knobs='what: str = ""  # any text\n')
    project.dag(
        "01_raises: {}\n02_needs_it: {needs: [01_raises]}\n03_leaves: {}\n04_hides_an_import: {}\n05_fine: {}\n"
        "06_given: {knobs: {what: title}}\n"
    )
    project.done = project.run("--study", "tiny", "--set", f"title={HOSTILE}")
    return project


HOSTILE = """'"; import os; os._exit(3) #\\\\ {x} <script>alert(1)</script>'"""


@pytest.mark.verify
class TestFailing:
    def test_the_others_run_and_the_failed_are_kept_and_named(self, failing):
        found = states(failing.done.stdout)
        folder = "data/processed/tiny/notebooks"
        assert failing.done.returncode == 1
        assert found["01_raises"] == (
            "failed",
            f"cell 5: ValueError: no such thing; see {folder}/01_raises.failed.ipynb",
        )
        assert found["02_needs_it"] == ("not run", "needs 01_raises, which failed")
        assert "the last cell did not run" in found["03_leaves"][1]
        assert "judgebook.report.blocks, which its imports do not show" in found["04_hides_an_import"][1]
        assert found["05_fine"][0] == "done"
        assert failing.out(folder, "01_raises.failed.ipynb").is_file()
        assert not failing.out(folder, "01_raises.ipynb").exists()
        assert not failing.out("data", "processed", "tiny", "results", "04_hides_an_import.parquet").exists()
        assert not list(failing.folder.rglob("stray.txt"))

    def test_failures_are_on_the_index_and_have_no_page(self, failing):
        assert "ValueError: no such thing" in failing.out("reports", "tiny", "index.html").read_text()
        assert not failing.out("reports", "tiny", "01_raises.html").exists()
        assert failing.out("reports", "tiny", "05_fine.html").is_file()

    def test_values_never_become_code(self, failing):
        assert states(failing.done.stdout)["06_given"][0] == "done"
        page = failing.out("reports", "tiny", "06_given.html").read_text()
        assert "os._exit(3)" in page
        assert "<script>alert" not in page


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A study and a notebook of a project, and what is declared of it, in this process: the nodes of a run."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    study = params.load(studies.write(tmp_path, studies.WIDE, my_csv=studies.wide_csv()))

    def made(declared, knobs="seed: int = 0\n"):
        notebook(tmp_path, "01_a", [], knobs=knobs)
        question = Question(notebook="01_a", asks="", **declared)
        monkeypatch.setattr(dag, "declared", lambda: {"01_a": question})
        entries = dag.load(tmp_path)
        spec = worker.Spec(str(study.path), "mine")
        of = nodes.StudyNodes(spec, study, dag.of(entries, study), Cache(None), tmp_path)
        nodes.missing(question, {"repeated": None}, study)
        return of

    return made


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"knobs": {"sead": "seeds.bootstrap"}}, "'sead' is not in its parameters cell; known: study, run_id, seed"),
        ({"knobs": {"seed": "seeds.bootstrp"}}, "'seeds.bootstrp' is not in the YAML"),
        ({"needs": ["02_b"]}, "needs '02_b', which there is not"),
        ({"requires": ["miracles"]}, "requires 'miracles'; there are repeated"),
    ],
)
def test_a_wrong_question_is_refused_before_anything_runs(tiny, declared, said):
    with pytest.raises(NotebookError, match=re.escape(said)):
        tiny(declared)


def test_a_parameters_cell_that_computes_is_refused(tiny):
    assert tiny({}).knobs == {"01_a": {}}
    with pytest.raises(NotebookError, match="holds `name: type = default` only, found `import os`"):
        tiny({}, knobs="seed: int = 0\nimport os\n")


@pytest.mark.verify
def test_wrong_data_and_a_second_run_at_once_run_nothing(tmp_path, monkeypatch):
    project = Project(tmp_path / "project")
    project.notebook("01_a")
    project.dag("01_a: {}\n")
    monkeypatch.setenv("COMPENDIUM_OUT", str(project.folder))
    with manifest.lock("tiny"):
        at_once = project.run("--study", "tiny")
    project.edit("params/tiny.csv", "d2,3", "d2,9")
    wrong = project.run("--study", "tiny")
    for done, said in (
        (at_once, f"study 'tiny' is being run by process {os.getpid()}"),
        (wrong, "a whole number from 1 to 5 (fluency), found 9"),
    ):
        assert done.returncode == 2, done.stdout + done.stderr
        assert said in done.stderr
        assert "done" not in done.stdout
        assert "Traceback" not in done.stderr
    home = project.out("data", "processed", "tiny")
    assert not [*home.glob("notebooks"), *home.glob("*.parquet")]
