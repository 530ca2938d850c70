"""The installed package: what a wheel holds is enough to work in any folder, and nothing is written beside it."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest
from conftest import ROOT
from packaging.version import Version

from judgebook import project
from judgebook.study import params, store

SECONDS = 60

ROWS = "dialogue,annotator,system,fluency\n" + "".join(
    f"d{i},{who},{'xyz'[i % 3]},{1 + (i * k) % 5}\n" for i in range(24) for k, who in enumerate("abc", start=2)
)


def build(folder):
    """Make the wheel in `folder`, of a copy: building leaves files beside the sources."""
    copy = folder / "copy"
    for name in ("src", "notebooks", "params", "docs", "data/embedded", "data/published", "data/atlas"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "requirements.lock", "codemeta.json"):
        shutil.copy(ROOT / name, copy)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    try:  # with the setuptools of requirements-test.lock nothing is fetched
        here = ["--no-build-isolation"] if Version(version("setuptools")) >= Version("77") else []
    except PackageNotFoundError:
        here = []
    subprocess.run([*pip, "wheel", "--no-deps", *here, "--wheel-dir", folder, copy], check=True)
    (wheel,) = folder.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", wheel], check=True)
    return folder / "site"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def judgebook(site, tmp_path_factory):
    """The command, called in a folder of its own outside the checkout."""
    return command_of(site, tmp_path_factory.mktemp("anywhere"))


def command_of(site, folder):
    """What calls the command of an installation in `folder`, which has a file of data."""
    names = ("COMPENDIUM_OUT", "COMPENDIUM_FOLDER", "COMPENDIUM_COMMAND")
    environment = {k: v for k, v in os.environ.items() if k not in names} | {"PYTHONPATH": str(site)}

    def call(*arguments, code=0):
        script = shutil.which("judgebook", path=site / "bin")
        # Python itself runs the script where it is one: its first line may be longer than a system allows
        command = [script] if script.endswith(".exe") else [sys.executable, script]
        done = subprocess.run(
            [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    call.folder = folder
    (folder / "my.csv").write_text(ROWS, encoding="utf-8")
    return call


def files(folder):
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"}


@pytest.mark.evidence
def test_a_study_of_ones_own_from_a_file_to_a_report(judgebook):
    said = judgebook("new", "mine", "--data", "my.csv", "--yes")
    assert "wrote params/mine.yaml" in said
    assert 'file: "../my.csv"' in (judgebook.folder / "params" / "mine.yaml").read_text("utf-8")
    assert (judgebook.folder / "params" / "schema.json").is_file()
    judgebook("--study", "mine", "--only", "00", "--jobs", "1", "--set", "figures.formats=[svg]")
    assert (judgebook.folder / "reports" / "mine" / "00_build_annotations.html").is_file()
    page = (judgebook.folder / "reports" / "mine" / "index.html").read_text("utf-8")
    assert "judgebook --study mine" in page
    assert "run_all.py" not in page
    judgebook("audit", "my.csv", "--yes", "--out", "audited")
    assert [*(judgebook.folder / "audited").glob("data/processed/*/results/03_iaa.parquet")]


@pytest.mark.evidence
def test_a_study_that_comes_with_the_package_runs_and_nothing_is_written_into_it(judgebook, site):
    before = files(site)
    told = judgebook("--study", "llmfao", "--only", "02", "--jobs", "1", "--set", "figures.formats=[svg]")
    assert "report: reports/llmfao/index.html" in told
    results = judgebook.folder / "data" / "processed" / "llmfao" / "results" / "02_collection_stats.csv"
    assert results.is_file()
    assert files(site) == before


@pytest.mark.evidence
def test_a_project_is_made_of_what_the_wheel_holds(judgebook):
    """What concerns the project itself needs a checkout."""
    assert "judgebook: schema is for contributors" in judgebook("schema", code=2)
    assert "judgebook check example" in judgebook("init", "project")
    made = files(judgebook.folder / "project")
    assert {"params/example.yaml", "params/schema.json", "notebooks/20_good_scores.ipynb", ".gitignore"} <= made


@pytest.mark.evidence
def test_without_the_compendium_a_file_is_audited(site, tmp_path):
    alone = shutil.copytree(site, tmp_path / "site")
    shutil.rmtree(alone / "compendium")
    (tmp_path / "anywhere").mkdir()
    judgebook = command_of(alone, tmp_path / "anywhere")
    assert "failed" not in judgebook("audit", "my.csv", "--yes", "--out", "audited")
    assert [*(judgebook.folder / "audited").glob("data/processed/*/results/03_iaa.parquet")]
    assert "91_consistency_audit" not in judgebook("--list")
    assert "unknown command 'atlas'" in judgebook("atlas", code=2)


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """As if the package were installed, in an empty folder."""
    monkeypatch.setattr(project, "INSTALLED", True)
    monkeypatch.delenv("COMPENDIUM_OUT", raising=False)
    monkeypatch.delenv("COMPENDIUM_FOLDER", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_installed_package_works_in_the_current_folder(installed):
    (installed / "params").mkdir()
    (installed / "params" / "mine.yaml").write_text("title: Mine\n")
    assert params.find("mine") == installed / "params" / "mine.yaml"
    assert params.find("ji2022") == ROOT / "params" / "ji2022.yaml"
    assert {"mine", "ji2022"} <= set(params.names())
    assert store.processed("mine") == installed / "data" / "processed" / "mine"


@pytest.mark.parametrize(
    ("script", "command", "program"),
    [
        ("run_all.py", "python run_all.py", "run_all.py"),
        ("/site/judgebook/__main__.py", "python -m judgebook", "judgebook"),
    ],
)
def test_messages_name_the_command_as_it_was_called(monkeypatch, script, command, program):
    monkeypatch.setenv("COMPENDIUM_FOLDER", "/left/over")  # and both are as they were afterwards
    monkeypatch.setenv("COMPENDIUM_COMMAND", "left over")
    project.called(script)
    assert project.command() == command
    assert project.program() == program
    assert project.in_words("run `python run_all.py --list`") == f"run `{command} --list`"


def test_a_folder_stays_that_of_the_call_when_a_process_moves_on(installed, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_FOLDER", "/left/over")
    monkeypatch.setenv("COMPENDIUM_COMMAND", "left over")
    project.called("judgebook")
    (installed / "deeper").mkdir()
    monkeypatch.chdir(installed / "deeper")
    assert project.folder() == installed
