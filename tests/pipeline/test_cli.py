"""The command line apart from runs: help, lists, new, check, schema, what is missing."""

import argparse
import json
import os
import subprocess
import sys
import tomllib
from pkgutil import resolve_name

import pytest
from fixtures import yaml_studies as studies
from fixtures.project_copy import ROOT, Project

from judgebook import plugins
from judgebook import project as places
from judgebook.pipeline import cli, commands
from judgebook.pipeline.commands import options
from judgebook.pipeline.run import Options, run, specs
from judgebook.study import params

#: what `make schema` writes
FILES = commands.schema_files()
REASON = "No two groups of annotators judged the same label for two systems, so groups cannot be compared."


@pytest.fixture
def call(monkeypatch, tmp_path, capsys):
    """A call of the command line in this process: exit code, output, errors. Nothing but what it is told is written."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)  # the handler would outlive the test

    def call(*words):
        try:
            code = cli.main([*map(str, words)])
        except SystemExit as end:  # argparse
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def somebodys(monkeypatch, tmp_path):
    """A folder that somebody works in, as if the package were installed."""
    monkeypatch.setattr(places, "INSTALLED", True)
    monkeypatch.setenv("COMPENDIUM_FOLDER", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_what_describes_yamls_results_and_questions_is_current(name):
    assert (ROOT / name).read_text(encoding="utf-8") == FILES[name]


@pytest.mark.verify
def test_new_then_check_then_run(tmp_path):
    """Somebody's table becomes a YAML, and `check` says what each notebook will do and why not."""
    project = Project(tmp_path / "cli")
    project.notebook("03_own", title="Do they agree?")
    project.notebook("08_groups", title="Does it matter who judges?")
    project.dag("03_own: {requires: [repeated]}\n08_groups: {requires: [groups, two_systems]}\n")
    (project.folder / "mine.csv").write_text(studies.wide_csv())
    done = project.run("new", "mine", "--data", "mine.csv")
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("wrote params/mine.yaml")
    checked = project.run("check", "mine")
    assert checked.returncode == 3, checked.stderr
    assert "open question: system: Which column or key names the system? Assumed: none" in checked.stdout
    assert "72 annotations of 12 items in 12 dialogues" in checked.stdout
    assert f"08_groups                     skipped: {REASON}" in checked.stdout
    assert not project.out("data", "processed").exists()
    ran = project.run("--study", "mine")
    assert ran.returncode == 0, ran.stderr
    first = project.out("reports", "mine", "index.html").read_text("utf-8")
    assert "<strong>Not confirmed: system.</strong> Which column or key names the system?" in first
    both = project.run("--study", "mine", "--study", "tiny", "--study", "mine", "--dry-run")
    assert both.returncode == 0, both.stderr
    assert both.stdout.count("mine/03_own") == both.stdout.count("tiny/03_own") == 1


@pytest.mark.verify
def test_a_notebook_run_by_hand_finds_judgebook_and_writes_to_scratch(tmp_path, monkeypatch):
    project, calls = Project(tmp_path / "cli"), []
    project.notebook("03_own")
    project.dag("03_own: {}\n")
    monkeypatch.setattr(places, "ROOT", project.folder)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr("judgebook.extras.lab.jupyter.install", lambda **kernel: None)
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", calls.append)
    assert cli.main(["lab", "--port", "8890"]) == 0
    assert {f"--ServerApp.root_dir={project.folder}", "--port=8890"} <= {*calls[0]}
    (chosen,) = [option for option in calls[0] if "kernel_spec_manager_class" in option]
    listed = resolve_name(chosen.partition("=")[2])().get_all_specs()
    named = json.loads((ROOT / "notebooks" / "03_iaa.ipynb").read_text())["metadata"]["kernelspec"]["name"]
    assert listed[named]["spec"]["argv"][0] == sys.executable
    by_hand = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--stdout", "03_own.ipynb"]
    env = project.environment() | {"PYTHONPATH": os.environ["PYTHONPATH"]}
    done = subprocess.run(by_hand, cwd=project.notebooks, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    home = project.out("data", "processed", "tiny")
    assert [p.name for p in home.iterdir()] == ["scratch"]
    assert (home / "scratch" / "results" / "03_own.parquet").is_file()


@pytest.mark.parametrize(("codes", "done"), [((0, 0), 2), ((1, 0), 2), ((2, 0), 1)])
def test_a_call_without_a_study_runs_what_comes_with_the_project(monkeypatch, codes, done):
    """Judgements of people first, then the simulated study; a study whose data are wrong ends it."""
    calls, left = [], list(codes)
    monkeypatch.setattr(
        "judgebook.pipeline.run.run", lambda studies, options: calls.append((studies, options)) or left.pop(0)
    )
    assert cli.main([]) == max(codes[:done])
    assert [params.load(s).simulated for s in calls[0][0]] == [False, False]
    assert calls[0][1].only
    assert [(studies, options.only) for studies, options in calls[1:]] == [(["demo"], [])][: done - 1]
    calls.clear()
    left[:] = [0, 0]
    assert cli.main(["--only", "iaa"]) == 0
    assert [options.only for _, options in calls] == [["iaa"], ["iaa"]]


def in_notebooks(source, *, packages=True, folder="notebooks"):
    """Python as a notebook's kernel starts it: in its folder, without anything of the project on its path."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    options = [] if packages else ["-S"]
    command = [sys.executable, *options, "-c", source]
    return subprocess.run(command, cwd=ROOT / folder, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("folder", "first"), [("notebooks", "from helpers import pilot"), ("examples", "import judgebook")]
)
def test_a_notebook_in_any_kernel_finds_judgebook_or_says_what_to_do(folder, first):
    source = f"{first}; import judgebook, helpers; print(judgebook.__file__, helpers.__file__)"
    done = in_notebooks(source, folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(ROOT / "src" / name / "__init__.py") for name in ("judgebook", "helpers")]
    lacking = in_notebooks(first, packages=False, folder=folder)
    assert "lacks pandas" in lacking.stderr
    assert "run_all.py lab" in lacking.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--stdy", "demo"], "unknown option '--stdy'; did you mean '--study'?"),
        (["demo"], "unknown command 'demo'; did you mean `--study demo`?"),
        (["--study", "demo", "b.yaml"], "--study takes one study; did you mean `--study demo --study b.yaml`?"),
        (["--study", "demmo"], "did you mean 'demo'?"),
        (["--study", "absent.yaml"], "absent.yaml: no such file"),
        (["--study", "demo", "--only", "77"], "no notebook '77'"),
        (["--study", "demo", "--jobs", "0"], "expected a whole number from 1"),
        (["--study", "demo", "--set", "bootstrp.confidence=0.9"], "'bootstrp': unknown key; did you mean 'bootstrap'?"),
        (["--study", "demo", "--set", "import os=1"], "expected section.key=value"),
        (["new", "mine", "--data", "mine.csv"], "params/mine.yaml exists already"),
        (["new", "not-a-name", "--data", "mine.csv"], "expected letters, digits and _"),
        (["check", "mine", "--set", "labels.fluency.scale=[1, 3]"], "mine.csv"),
        (["check", "mine", "--set", "bootstrap.unit=session"], "'session' is not known for every judgement; expected"),
    ],
)
def test_calls_that_cannot_be_carried_out_say_what_was_meant(call, somebodys, words, said):
    studies.write(somebodys / "params", studies.WIDE.replace("my.csv", "../mine.csv"))
    (somebodys / "mine.csv").write_text(studies.wide_csv())
    code, out, told = call(*words)
    assert code == 2
    assert said in told
    assert "done" not in out
    assert not (somebodys / "out" / "data").exists()


def test_all_passes_over_studies_whose_data_are_not_here(somebodys, monkeypatch, capsys):
    studies.write(somebodys / "params", studies.WIDE.replace("my.csv", "away.csv"), "away")
    monkeypatch.setattr(params, "names", lambda: ["away", "ji2022"])
    assert [spec.key for spec in specs(["all"], [])] == ["ji2022"]
    assert "away: skipped, its data are missing: away.csv" in capsys.readouterr().out
    assert run(["away"], Options(dry=True)) == 2
    assert "away.csv" in capsys.readouterr().err


def test_a_missing_package_gives_the_four_lines(tmp_path):
    done = subprocess.run(
        [sys.executable, "-S", "-I", ROOT / "run_all.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "not installed: " in done.stderr
    assert "pandas" in done.stderr
    lines = [line for line in done.stderr.splitlines() if line][1:]
    assert [line.split()[0] for line in lines] == ["python3", ".", "pip", "python"]
    assert "Traceback" not in done.stderr


def test_every_needed_package_is_checked():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    other = {"fonttools": "fontTools", "ipython": "IPython", "pillow": "PIL", "pyyaml": "yaml"}
    names = [d.split(">")[0].lower() for d in declared]
    source = (ROOT / "run_all.py").read_text()
    assert [name for name in names if f'"{other.get(name, name.replace("-", "_"))}"' not in source] == []


@pytest.mark.parametrize("text", ["1000001", "9" * 5000, "0000000001000000000", "٣", "-1", ""])
def test_a_count_has_a_limit_however_long_it_is(text):
    with pytest.raises(argparse.ArgumentTypeError, match="whole number up to 1,000,000"):
        options.count_or_none(text)
    assert options.count_or_none("1000000") == 1_000_000


@pytest.mark.parametrize(
    "words",
    [
        ["--dry-run", "fetch", "list"],
        ["--set=seeds.bootstrap=2", "check", "demo"],
        ["--exec", "local:2", "bundle", "demo"],
    ],
)
def test_an_option_that_a_command_would_not_see_is_refused(words, call, monkeypatch):
    monkeypatch.setattr(plugins.Command, "__call__", lambda *_: pytest.fail("something was done"))
    code, _, told = call(*words)
    assert code == 2
    assert f"{words[0].partition('=')[0]} has no effect before" in told


@pytest.mark.parametrize("words", [["--out", "x", "fetch", "list"], ["--jobs", "2", "plan", "--study", "demo"]])
def test_what_a_command_sees_may_stand_before_it(words, call, monkeypatch):
    monkeypatch.setattr(plugins.Command, "__call__", lambda *_: 7)
    assert call(*words)[0] == 7
