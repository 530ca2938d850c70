"""What goes wrong in an analysis (exit 1, the others run), or in the call, the YAML or the data (2, nothing runs)."""

import os

import pytest
from fixtures.project_copy import Project, result, states

from judgebook.pipeline import manifest


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "project")


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """A run in which notebooks fail in every way."""
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


def test_the_others_run_and_the_failed_are_kept_and_named(failing):
    found = states(failing.done.stdout)
    folder = "data/processed/tiny/notebooks"
    assert failing.done.returncode == 1
    assert found["01_raises"] == ("failed", f"cell 5: ValueError: no such thing; see {folder}/01_raises.failed.ipynb")
    assert found["02_needs_it"] == ("not run", "needs 01_raises, which failed")
    assert found["05_fine"][0] == "done"
    assert failing.out(folder, "01_raises.failed.ipynb").is_file()
    assert not failing.out(folder, "01_raises.ipynb").exists()


def test_a_notebook_that_stops_before_its_end_has_failed(failing):
    assert "the last cell did not run" in failing.done.stdout


def test_a_helper_loaded_behind_the_imports_is_found(failing):
    line = next(line for line in failing.done.stdout.splitlines() if "04_hides_an_import" in line)
    assert "failed" in line
    assert "judgebook.report.blocks, which its imports do not show" in line
    assert not failing.out("data", "processed", "tiny", "results", "04_hides_an_import.parquet").exists()


def test_failures_are_on_the_index_and_have_no_page(failing):
    index = failing.out("reports", "tiny", "index.html").read_text()
    assert "ValueError: no such thing" in index
    assert "needs 01_raises, which failed" in index
    assert not failing.out("reports", "tiny", "01_raises.html").exists()
    assert failing.out("reports", "tiny", "05_fine.html").is_file()


def test_stray_files_of_a_notebook_do_not_stay(failing):
    assert not list(failing.folder.rglob("stray.txt"))


def test_values_never_become_code(failing):
    """A title full of quotes and code arrives as the text it is."""
    assert states(failing.done.stdout)["06_given"][0] == "done"
    page = failing.out("reports", "tiny", "06_given.html").read_text()
    assert "os._exit(3)" in page
    assert "<script>alert" not in page


def wrong(project, *arguments):
    """Run the command line; it must end with 2 before anything ran. Returns what it said."""
    done = project.run("--study", "tiny", *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "done" not in done.stdout
    assert not project.out("data", "processed", "tiny", "notebooks").exists()
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{knobs: {sead: seeds.bootstrap}}", "'sead' is not in its parameters cell; known: study, run_id, seed"),
        ("{knobs: {seed: title}}", "seed: expected int, found 'Tiny study'"),
        ("{knobs: {seed: seeds.bootstrp}}", "'seeds.bootstrp' is not in the YAML"),
        ("{knobs: {study: title}}", "study is set by the pipeline"),
        ("{sections: [iaaa]}", "did you mean 'iaa'?"),
        ("{needs: [02_b]}", "needs '02_b', which does not come before it"),
        ("{requires: [miracles]}", "requires 'miracles'; there are repeated"),
    ],
)
def test_a_wrong_question_runs_nothing(project, entry, said):
    project.notebook("01_a", knobs="seed: int = 0\n")
    project.dag(f"01_a: {entry}\n")
    done = project.run("--study", "tiny")
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not project.out("data", "processed", "tiny", "notebooks").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--study", "tinny"], "did you mean 'tiny'?"),
        (["--study", "absent.yaml"], "absent.yaml: no such file"),
        (["--only", "02"], "no notebook '02'"),
        (["--set", "seeds.bootstrp=1"], "did you mean 'bootstrap'?"),
        (["--set", "seeds.bootstrap=one"], "seeds.bootstrap"),
        (["--set", "import os=1"], "expected section.key=value"),
        (["--jobs", "0"], "expected a whole number from 1"),
        (["--forse"], "did you mean '--force'?"),
        (["polish"], "invalid choice"),
    ],
)
def test_a_wrong_call_runs_nothing(project, arguments, said):
    project.notebook("01_a")
    project.dag("01_a: {}\n")
    assert said in wrong(project, *arguments)


def test_wrong_data_run_nothing(project):
    project.notebook("01_a")
    project.dag("01_a: {}\n")
    project.edit("params/tiny.csv", "d2,3", "d2,9")
    said = wrong(project)
    assert "tiny.csv" in said
    assert "a whole number from 1 to 5 (fluency), found 9" in said
    assert not project.out("data", "processed", "tiny", "annotations.parquet").exists()


def test_a_parameters_cell_that_computes_is_refused(project):
    project.notebook("01_a", knobs="seed: int = 0\nimport os\n")
    project.dag("01_a: {}\n")
    assert "the parameters cell holds `name: type = default` only, found `import os`" in wrong(project)


def test_two_runs_at_once_on_one_study(project, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(project.folder))
    with manifest.lock("tiny"):
        said = wrong(project)
    assert f"study 'tiny' is being run by process {os.getpid()}" in said
    assert project.run("--study", "tiny").returncode == 0
