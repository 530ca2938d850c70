"""A run that has nothing to do imports nothing but the standard library, and sees every change."""

import json
import os
import shutil
import sys
import sysconfig
from types import SimpleNamespace

import pytest
from fixtures.project_copy import Project

from judgebook import unchanged
from judgebook.pipeline.manifest import lock

SLOW = {"judgebook.pipeline.cli", "judgebook.study.params", "pydantic"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project that was run, and then had nothing to do until that was remembered."""
    made = Project(tmp_path_factory.mktemp("unchanged"))
    made.notebook("01_counts")
    made.dag("01_counts: {}")
    made.first = made.run("--study", "tiny")
    assert made.first.returncode == 0, made.first.stderr
    made.slow = again(made)
    until_remembered(made)
    return made


def again(project, *options):
    done = project.run("--study", "tiny", *options, python=["-X", "importtime"])
    assert done.returncode == 0, done.stderr
    return done


def imported(done):
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def quick(done):
    return not imported(done) & SLOW


def until_remembered(project):
    """Run again: a file that has just changed may change again unseen, and is not relied on for a while."""
    assert any(quick(again(project)) for _ in range(20))


def lists(project):
    return sorted(project.out("data", "processed", ".unchanged").glob("*.json"))


def test_nothing_is_imported_and_the_same_is_printed(project):
    done = again(project)
    own = {name for name in imported(done) if name.partition(".")[0] in ("judgebook", "helpers")}
    assert own == {"judgebook", "judgebook.__main__", "judgebook.unchanged"}
    others = {name.partition(".")[0] for name in imported(done)} - sys.stdlib_module_names - {"judgebook", ""}
    assert not others & {"numpy", "pandas", "pydantic", "yaml", "pyarrow", "matplotlib"}
    assert done.stdout == project.slow.stdout
    assert "up to date" in done.stdout
    assert "report: reports/tiny/index.html" in done.stdout


@pytest.mark.parametrize(
    "path",
    [
        "params/tiny.yaml",
        "params/tiny.csv",
        "params/defaults.yaml",
        "notebooks/01_counts.ipynb",
        "src/judgebook/questions/own/question.py",
        "src/judgebook/study/results.py",
        "src/judgebook/study/schema.yaml",
        "src/judgebook/pipeline/run.py",
        "src/judgebook/display/style.py",
        "data/processed/tiny/annotations.parquet",
        "data/processed/tiny/manifest.json",
        "data/processed/tiny/params.yaml",
        "data/processed/tiny/profile.json",
        "data/processed/tiny/results/01_counts.parquet",
        "data/processed/tiny/notebooks/01_counts.ipynb",
        "reports/tiny/index.html",
        "reports/tiny/01_counts.html",
        # new files would be seen in these
        "notebooks",
        "params",
        "src/judgebook/extras",
        "src/judgebook/questions",
        "data",
        sysconfig.get_path("purelib"),
    ],
)
def test_what_a_run_depends_on_is_on_the_list(project, path):
    states = json.loads(lists(project)[0].read_text())["states"]
    assert states[str(project.folder / path)]


def test_folders_where_data_may_appear_are_on_the_list(project):
    states = json.loads(lists(project)[0].read_text())["states"]
    assert states[str(project.folder / "data" / "embedded" / "tiny" / "source.json")] is None


@pytest.mark.parametrize("change", ["content", "touched", "replaced", "removed", "new in its folder"])
def test_every_change_of_a_file_is_one(tmp_path, change):
    file = tmp_path / "file"
    file.write_text("one")
    before = [unchanged._state(str(path)) for path in (file, tmp_path)]
    about = file.stat()
    if change == "content":
        file.write_text("two")
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    elif change == "touched":
        os.utime(file, ns=(0, 0))
    elif change == "replaced":
        shutil.copy2(file, tmp_path / "other")
        os.replace(tmp_path / "other", file)
    elif change == "removed":
        file.unlink()
    else:
        (tmp_path / "other").touch()
    assert [unchanged._state(str(path)) for path in (file, tmp_path)] != before


@pytest.mark.parametrize(
    ("time", "before", "recent"),
    [
        (7_000_000_001, 0.01, True),
        (7_000_000_001, 0.06, False),
        (7_000_000_000, 0.06, True),
        (7_000_000_000, 2.1, False),
    ],
)
def test_a_file_is_recent_as_long_as_it_may_change_without_another_time(time, before, recent):
    """One whose time is a whole second may be of a file system that counts seconds."""
    states = {"file": [time, time, 1, 1], "folder": ["file"], "nothing": None}
    assert unchanged._recent(SimpleNamespace(states=states, start=time + before * 1e9)) == recent


@pytest.mark.parametrize(
    ("name", "value"),
    [("COMPENDIUM_RAW", "elsewhere"), ("PYTHONPATH", "elsewhere"), ("LC_ALL", "de_DE.UTF-8"), ("COMPENDIUM_NEW", "1")],
)
def test_variables_make_another_call(monkeypatch, name, value):
    before = unchanged._call()
    monkeypatch.setenv(name, value)
    assert unchanged._call() != before


def test_options_and_folders_make_another_call(monkeypatch, tmp_path):
    before = unchanged._call()
    monkeypatch.setattr(sys, "orig_argv", [*sys.orig_argv, "--force"])
    options = unchanged._call()
    monkeypatch.chdir(tmp_path)
    assert len({*map(str, (before, options, unchanged._call()))}) == 3


def test_other_options_are_not_taken_for_the_same(project):
    forced = again(project, "--dry-run", "--force")
    assert "forced" in forced.stdout
    assert "up to date" in again(project).stdout


def test_a_touched_file_is_looked_at_and_the_list_renewed(project):
    (project.folder / "params" / "tiny.yaml").touch()
    touched = again(project)
    assert not quick(touched)
    assert touched.stdout == project.slow.stdout
    until_remembered(project)
    assert again(project).stdout == project.slow.stdout


@pytest.mark.parametrize("spoil", [lambda text: text[:100], lambda text: "{}", lambda text: "[1]", lambda text: "\0"])
def test_a_list_that_cannot_be_read_is_ignored(project, spoil):
    until_remembered(project)
    for path in lists(project):
        path.write_text(spoil(path.read_text()))
    done = again(project)
    assert not quick(done)
    assert done.stdout == project.slow.stdout


def test_a_study_that_is_being_run_is_refused_as_ever(project, monkeypatch):
    until_remembered(project)
    monkeypatch.setenv("COMPENDIUM_OUT", str(project.folder))
    with lock("tiny"):
        monkeypatch.delenv("COMPENDIUM_OUT")
        done = project.run("--study", "tiny", python=["-X", "importtime"])
    assert done.returncode == 2
    assert "is being run by process" in done.stderr


def test_a_removed_output_is_made_again(project):
    until_remembered(project)
    page = project.out("reports", "tiny", "01_counts.html")
    page.unlink()
    assert not quick(again(project))
    assert page.is_file()


def test_few_lists_are_kept(project, monkeypatch):
    folder = project.out("data", "processed", ".unchanged")
    for number in range(unchanged.CALLS + 5):
        (folder / f"{number:08x}.json").touch()
    (project.folder / "params" / "tiny.yaml").touch()
    until_remembered(project)
    assert len(lists(project)) == unchanged.CALLS
