"""The command line apart from runs: help, lists, new, check, schema, what is missing."""

import argparse
import json
import os
import subprocess
import sys
from pkgutil import resolve_name

import pandas as pd
import pytest
from fixtures.project_copy import ROOT, Project, states

import judgebook
from judgebook import plugins
from judgebook import project as places
from judgebook.pipeline import cli
from judgebook.pipeline.commands import core, options
from judgebook.study import params

SECONDS = 32

WIDE = "id,fluency_a1,fluency_a2,fluency_a3,quality_a1,quality_a2,quality_a3\n" + "".join(
    f"{i},{1 + i % 5},{1 + i % 4},{1 + i % 5},{5 - i % 5},{1 + i % 3},{5 - i % 4}\n" for i in range(12)
)
REASON = "No two groups of annotators judged the same label for two systems, so groups cannot be compared."


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("cli"))
    project.notebook("03_own", title="Do they agree?")
    project.notebook("08_groups", title="Does it matter who judges?")
    project.dag("03_own: {requires: [repeated]}\n08_groups: {requires: [groups, two_systems]}\n")
    (project.folder / "mine.csv").write_text(WIDE)
    return project


@pytest.mark.parametrize("name", core.schema_files())
def test_what_describes_yamls_results_and_questions_is_current(name):
    """Editors complete and check YAMLs by the schema, people read the guides; `make schema` makes them anew."""
    assert (ROOT / name).read_text(encoding="utf-8") == core.schema_files()[name]


def test_schema_describes_every_section():
    schema = json.loads(core.schema_files()["params/schema.json"])
    assert set(schema["properties"]) == set(params.Study.model_fields)


def test_help_shows_every_command_and_examples(project):
    text = project.run("--help").stdout
    for word in ("fetch", "new", "check", "gallery", "--dry-run", "--set", "examples:", "exit codes: 0 done"):
        assert word in text


def test_version_is_that_of_the_package(project):
    assert project.run("--version").stdout == f"judgebook {judgebook.__version__}\n"


def test_list_names_studies_and_notebooks(project):
    text = project.run("--list").stdout
    assert "tiny             Tiny study" in text
    assert "03_own                        Do they agree?  [needs repeated]" in text


def test_new_then_check_then_run(project):
    """Somebody's table becomes a YAML, and `check` says what each notebook will do and why not."""
    done = project.run("new", "mine", "--data", "mine.csv")
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("wrote params/mine.yaml")
    assert "1 open question (`open_questions` of the YAML):\n  system: Which column or key names" in done.stdout
    checked = project.run("check", "mine")
    assert checked.returncode == 3, checked.stderr
    assert "open question: system: Which column or key names the system? Assumed: none" in checked.stdout
    assert "72 annotations of 12 items in 12 dialogues" in checked.stdout
    assert "03_own                        Do they agree?" in checked.stdout
    assert f"08_groups                     skipped: {REASON}" in checked.stdout
    assert not project.out("data", "processed").exists()
    ran = project.run("--study", "mine")
    assert ran.returncode == 0, ran.stderr
    assert "mine: warning: 12 items per label on average, fewer than 25" in ran.stdout
    assert project.out("reports", "mine", "03_own.html").is_file()
    first = project.out("reports", "mine", "index.html").read_text("utf-8")
    assert "<strong>Not confirmed: system.</strong> Which column or key names the system?" in first
    both = project.run("--study", "mine", "--study", "tiny", "--study", "mine", "--dry-run")
    assert both.returncode == 0, both.stderr
    assert both.stdout.count("mine/03_own") == both.stdout.count("tiny/03_own") == 1


def test_a_notebook_run_by_hand_finds_judgebook_and_writes_to_scratch(project, monkeypatch):
    """What `lab` starts is replaced by the execution of one notebook, in the same environment and folder."""
    calls, kernels = [], []
    monkeypatch.setattr(places, "ROOT", project.folder)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr("judgebook.extras.lab.jupyter.install", lambda **kernel: kernels.append(kernel))
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", calls.append)
    assert cli.main(["lab", "--no-browser", "--port", "8890", "--allow-root"]) == 0
    ((*_, browser, port, root),) = calls
    assert f"--ServerApp.root_dir={project.folder}" in calls[0]
    assert (browser, port, root) == ("--no-browser", "--port=8890", "--allow-root")
    (chosen,) = [option for option in calls[0] if "kernel_spec_manager_class" in option]
    listed = resolve_name(chosen.partition("=")[2])().get_all_specs()
    named = json.loads((ROOT / "notebooks" / "03_iaa.ipynb").read_text())["metadata"]["kernelspec"]["name"]
    assert listed[named]["spec"]["argv"][0] == sys.executable
    (kernel,) = kernels
    assert [name for name, each in listed.items() if each["spec"]["display_name"] == kernel["display_name"]] == [named]
    assert kernel["display_name"] in (ROOT / "notebooks" / "helpers.py").read_text()
    assert (kernel["prefix"], kernel["env"]["PYTHONPATH"]) == (sys.prefix, str(project.folder / "src"))
    by_hand = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--stdout", "03_own.ipynb"]
    env = project.environment() | {"PYTHONPATH": os.environ["PYTHONPATH"]}
    done = subprocess.run(by_hand, cwd=project.notebooks, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    home = project.out("data", "processed", "tiny")
    assert [p.name for p in home.iterdir()] == ["scratch"]
    assert (home / "scratch" / "results" / "03_own.parquet").is_file()


@pytest.mark.evidence
def test_which_id_a_pseudonym_stands_for_is_for_the_user_alone(project):
    """It is kept beside the frames with mode 600; nothing else that a run writes or prints has an own id."""
    rows = "".join(f"d{i},{who},{3 + i % 3}\n" for i in range(8) for who in ("zoe@mail.net", "Yan K."))
    project.out("params", "own.csv").write_text("id,who,fluency\n" + rows)
    source = "{adapter: table, file: own.csv, columns: {dialogue: id, annotator: who}}"
    project.study("own", f"title: Own ids\nsources: [{source}]\nlabels: {{fluency: {{scale: [1, 5]}}}}\n")
    kept = project.out("data", "processed", "own", "own_ids.csv")
    assert "data/processed/own/own_ids.csv, for you alone" in project.run("check", "own").stdout
    ran = project.run("--study", "own")
    assert ran.returncode == 0, ran.stderr
    assert kept.read_text() == "kind,pseudonym,own_id\nperson,A0001,zoe@mail.net\nperson,A0002,Yan K.\n"
    assert kept.stat().st_mode & 0o777 == 0o600
    given = {kept, project.out("params", "own.csv")}
    made = [path for path in project.folder.rglob("*") if path.is_file() and path not in given]
    told = [ran.stdout, ran.stderr]
    for path in made:
        told.append(pd.read_parquet(path).to_csv() if path.suffix == ".parquet" else path.read_text(errors="replace"))
    assert any("A0002" in text for text in told)
    assert [text for text in told if "zoe@mail.net" in text or "Yan K." in text] == []
    kept.unlink()
    assert {state for state, _ in states(project.run("--study", "own").stdout).values()} == {"up to date", "skipped"}
    assert not kept.exists()
    ignored = subprocess.run(["git", "check-ignore", "data/processed/own/own_ids.csv"], cwd=ROOT, capture_output=True)
    assert ignored.returncode in (0, 128)  # 128: the project was not cloned


@pytest.mark.parametrize(("codes", "done"), [((0, 0), 2), ((1, 0), 2), ((2, 0), 1)])
def test_a_call_without_a_study_runs_what_comes_with_the_project(monkeypatch, codes, done):
    """Judgements of people first, then the simulated study; a study whose data are wrong ends it."""
    calls, left = [], list(codes)
    monkeypatch.setattr(
        "judgebook.pipeline.run.run", lambda studies, options: calls.append((studies, options)) or left.pop(0)
    )
    assert cli.main([]) == max(codes[:done])
    real, simulated = (*calls, None)[:2]
    assert [params.load(s).simulated for s in real[0]] == [False, False]
    assert real[1].only
    assert "first run" in real[1].rest
    if done == 2:
        assert simulated[0] == ["demo"]
        assert simulated[1].only == []
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
    ("arguments", "said"),
    [
        (["--stdy", "tiny"], "unknown option '--stdy'; did you mean '--study'?"),
        (["tiny"], "unknown command 'tiny'; did you mean `--study tiny`?"),
        (["chek", "tiny"], "unknown command 'chek'; did you mean 'check'?"),
        (["--study", "tiny", "b.yaml"], "--study takes one study; did you mean `--study tiny --study b.yaml`?"),
        (["--study", "tiny", "polish"], "invalid choice: 'polish'"),
        (
            ["--study", "tiny", "--set", "bootstrp.confidence=0.9"],
            "--set: 'bootstrp': unknown key; did you mean 'bootstrap'?",
        ),
        (["--study", "tiny", "--set", "labels.fluency.scale=[5, 1]"], "--set: 'labels.fluency.scale'"),
    ],
)
def test_calls_that_cannot_be_carried_out_say_what_was_meant(project, arguments, said):
    done = project.run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_whoever_stops_reading_gets_no_traceback(project):
    reader = f"{sys.executable} run_all.py --list | {sys.executable} -c 'import sys; sys.stdin.read(1)'"
    done = subprocess.run(
        reader, shell=True, cwd=project.folder, env=project.environment(), capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["new", "tiny", "--data", "mine.csv"], "params/tiny.yaml exists already"),
        (["new", "not-a-name", "--data", "mine.csv"], "expected letters, digits and _"),
        (["new", "other", "--data", "absent.csv"], "absent.csv"),
        (["check", "absent"], "no study 'absent'"),
        (["check", "tiny", "--set", "iaa.frst=2"], "did you mean 'first'?"),
    ],
)
def test_new_and_check_refuse(project, arguments, said):
    done = project.run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_check_tells_wrong_data(project):
    (project.folder / "params" / "bad.csv").write_text("id,fluency_a1,fluency_a2\nd1,3,9\n")
    project.study("bad", (project.folder / "params" / "tiny.yaml").read_text().replace("tiny.csv", "bad.csv"))
    done = project.run("check", "bad")
    assert done.returncode == 2
    assert "bad.csv" in done.stderr
    assert "found 9" in done.stderr


def test_all_passes_over_studies_whose_data_are_not_here(project):
    project.study("away", (project.folder / "params" / "tiny.yaml").read_text().replace("tiny.csv", "away.csv"))
    done = project.run("--study", "all", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "away: skipped, its data are missing: away.csv" in done.stdout
    assert "tiny/03_own" in done.stdout
    for words in (["--dry-run"], []):
        named = project.run("--study", "away", *words)
        assert named.returncode == 2
        assert "away.csv" in named.stderr
    project.out("params", "away.yaml").unlink()


def test_a_missing_package_gives_the_four_lines(tmp_path):
    """Without site-packages nothing the project needs is there."""
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
    """run_all.py asks for each dependency of pyproject.toml before it imports anything."""
    import tomllib

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    other = {"fonttools": "fontTools", "ipython": "IPython", "pillow": "PIL", "pyyaml": "yaml"}
    names = [d.split(">")[0].lower() for d in declared]
    source = (ROOT / "run_all.py").read_text()
    assert [name for name in names if f'"{other.get(name, name.replace("-", "_"))}"' not in source] == []


@pytest.mark.evidence
def test_a_unit_of_resampling_that_the_data_do_not_have_stops_the_run(project):
    for command in (["--study", "tiny"], ["check", "tiny"]):
        done = project.run(*command, "--set", "bootstrap.unit=session")
        assert done.returncode == 2
        assert (
            "bootstrap.unit: 'session' is not known for every judgement; expected one of turn, dialogue" in done.stderr
        )
    assert project.run("check", "tiny", "--set", "bootstrap.unit=dialogue").returncode == 0
    assert "expected 'turn', 'dialogue'" in project.run("check", "tiny", "--set", "bootstrap.unit=people").stderr


@pytest.mark.parametrize("text", ["1000001", "1000000123", "9" * 30, "9" * 5000, "0000000001000000000", "٣", "-1", ""])
def test_a_count_has_a_limit_however_long_it_is(text):
    with pytest.raises(argparse.ArgumentTypeError, match="whole number up to 1,000,000"):
        options.count_or_none(text)
    assert options.count_or_none("1000000") == 1_000_000


@pytest.mark.parametrize(
    "words",
    [
        ["--dry-run", "fetch", "list"],
        ["--set=seeds.bootstrap=2", "check", "demo"],
        ["--study", "demo", "plan", "--study", "demo"],
        ["--exec", "local:2", "bundle", "demo"],
    ],
)
def test_an_option_that_a_command_would_not_see_is_refused(words, monkeypatch, capsys):
    monkeypatch.setattr(plugins.Command, "__call__", lambda *_: pytest.fail("something was done"))
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)  # the handler would outlive the test
    assert cli.main(words) == 2
    assert f"{words[0].partition('=')[0]} has no effect before" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--out", "x", "fetch", "list"], ["--jobs", "2", "plan", "--study", "demo"]])
def test_what_a_command_sees_may_stand_before_it(words, monkeypatch, tmp_path):
    monkeypatch.setattr(plugins.Command, "__call__", lambda *_: 7)
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    assert cli.main(words) == 7
