"""`init`: a project of one's own works as it is, as its guide says, and is made whole or not at all."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT
from fixtures.library_alone import place

import judgebook as jb
from judgebook.extras.init import writing
from judgebook.pipeline.cli import main
from judgebook.sources import build

SECONDS = 60
GUIDE = (ROOT / "docs" / "own_project.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A folder outside the checkout, and what carries out a line there as if the package were installed."""
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("anywhere")
    environment = place(site, "paper")

    def call(line, *more):
        words = [*line.split(), *more]
        if words[0] == "cd":
            call.folder /= words[1]
            return ""
        assert words[0] == "judgebook", line
        command = [sys.executable, "-m", *words]
        done = subprocess.run(
            command, cwd=call.folder, env=environment, capture_output=True, text=True, timeout=1800, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call.folder = folder
    return call


@pytest.fixture(scope="module")
def project(shell):
    """The project of the guide; of its report, the page of the notebook that comes with it."""
    *before, whole = blocks("")[0].splitlines()
    outputs = [shell(line) for line in before]
    shell.whole, shell.checked = whole, outputs[-1]
    shell(whole, "--only", "20", "--jobs", "1")
    return shell


@pytest.mark.verify
def test_a_new_project_is_right_and_runs_as_the_guide_says(project):
    assert "240 annotations of 40 items in 40 dialogues of 2 systems by 8 annotators" in project.checked
    page = (project.folder / "reports" / "example" / "20_good_scores.html").read_text(encoding="utf-8")
    assert "Simulated data." in page
    assert "0.666667" in page


@pytest.mark.verify
def test_the_statistic_is_read_as_the_guide_says(project, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(project.folder))
    code = blocks("python")[-1].strip().replace('jb.open_study("example")', "rows = jb.open_study('example')")
    scope = {}
    exec(code, scope)
    assert scope["rows"]["estimate"].round(3).tolist() == [0.55, 0.317]
    assert scope["rows"]["n"].tolist() == [60, 60]


@pytest.mark.evidence
def test_the_whole_report_is_made_and_the_requirement_is_met(project):
    assert "report: reports/example/index.html" in project(project.whole, "--jobs", "1")
    assert project("judgebook gate example").startswith("Met: new not worse than old on quality by 0.5")


@pytest.fixture
def made(tmp_path, capsys):
    """What `init` makes in a checkout."""
    assert main(["init", str(tmp_path / "my-project")]) == 0
    return tmp_path / "my-project"


def test_what_is_made_is_described_and_simulated(made, capsys):
    files = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert files == {*writing.FILES, "data/example.csv", "params/schema.json"}
    study = jb.load_study(made / "params" / "example.yaml")
    assert study.simulated
    assert len(build.build(study).frames["annotations"]) == 240
    assert f"judgebook-{jb.__version__}-py3-none-any.whl" in (made / "requirements.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: (path / "x").mkdir(parents=True), "p is not empty (it has x): choose a new folder. To add to a"),
        (lambda path: path.write_text(""), "p is a file: choose another name"),
    ],
)
def test_what_is_there_is_left_alone_and_said(tmp_path, capsys, make, message):
    make(tmp_path / "p")
    before = sorted(tmp_path.rglob("*"))
    assert main(["init", str(tmp_path / "p")]) == 2
    assert message in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_the_empty_folder_that_one_is_in_becomes_a_project(made, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert main(["init", "."]) == 0
    assert sorted(p.name for p in (tmp_path / "here").iterdir()) == sorted(p.name for p in made.iterdir())


def test_where_writing_fails_nothing_is_left(tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.shutil, "copyfile", fails)
    assert main(["init", str(tmp_path / "p")]) == 2
    assert list(tmp_path.iterdir()) == []
