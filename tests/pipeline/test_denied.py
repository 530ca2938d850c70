"""What the machine refuses (a folder that cannot be written, a full disk, too many open files) is said in one line."""

import errno
import os
import subprocess
import sys

import pytest
from fixtures.project_copy import Project

from judgebook.pipeline import cli, worker
from judgebook.study import store


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("denied"))
    project.notebook("03_own")
    project.dag("03_own: {}\n")
    return project


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_write_that_fails_says_which_file_and_what_to_do(tmp_path, number):
    target = tmp_path / "x.csv"

    def write() -> None:
        with store.atomic(target) as temporary:
            temporary.write_text("half")
            raise OSError(number, os.strerror(number))

    with pytest.raises(store.DeniedError, match=r"x\.csv: .*--out DIR$"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_another_kind_stays_what_it_is(tmp_path):
    with pytest.raises(FileNotFoundError), store.atomic(tmp_path / "x.csv"):
        (tmp_path / "none").read_text()
    with pytest.raises(store.DeniedError, match=r"^/elsewhere/raw\.csv: access"), store.atomic(tmp_path / "x.csv"):
        raise PermissionError(errno.EACCES, "Permission denied", "/elsewhere/raw.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[Errno 24] Too many open files", "ulimit -n"),
        ("Cannot write. Detail: [errno 28] No space left on device", "no space"),
        ("[Errno 111] Connection refused", ""),
    ],
)
def test_what_libraries_and_notebooks_pass_on_is_recognised(text, said):
    assert said in store.remedy(text)
    assert bool(store.remedy(text)) == bool(said)


def test_a_piece_of_work_that_is_refused_is_no_failure_of_the_analysis():
    @worker.timed
    def work():
        try:
            raise OSError(errno.ENOSPC, "No space left on device", "/a/b")
        except OSError as error:
            raise RuntimeError("could not finish") from error

    outcome = work()
    assert outcome.state == "denied"
    assert outcome.message.startswith("/a/b: no space is left on the disk: free some")


@pytest.mark.parametrize("command", [["--study", "ji2022"], ["fetch", "gpt_abceval", "--from", "."]])
def test_out_that_is_a_file(tmp_path, monkeypatch, capsys, command):
    monkeypatch.setenv("COMPENDIUM_OUT", "")  # and it is as it was afterwards
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    (tmp_path / "taken").write_text("mine")
    assert cli.main([*command, "--out", str(tmp_path / "taken")]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "taken" in line
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.skipif(os.name == "nt", reason="no limits of this kind")
@pytest.mark.parametrize(
    ("limit", "n", "said"),
    [
        pytest.param("RLIMIT_FSIZE", 20_000, "ulimit -f", marks=pytest.mark.verify),
        pytest.param("RLIMIT_NOFILE", 35, "ulimit -n", marks=pytest.mark.evidence),
        ("RLIMIT_NOFILE", 64, "a run has up to 256 files open, and 64 are allowed: raise the limit (`ulimit -n 1024`)"),
    ],
)
def test_a_run_that_meets_a_limit_ends_with_one_line(project, tmp_path, limit, n, said):
    """Writing fails half-way, as on a full disk, and ZeroMQ ends a process that has no files left."""
    source = f"""\
import resource, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.{limit}, ({n}, {n}))
sys.argv = ["run_all.py", "--study", "tiny", "--jobs", "1", "--out", {str(tmp_path / "out")!r}]
runpy.run_path("run_all.py", run_name="__main__")
"""
    command = [sys.executable, "-B", "-c", source]
    done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, env=project.environment())
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert [p for p in (tmp_path / "out").rglob("*.tmp") if p.is_file()] == []
