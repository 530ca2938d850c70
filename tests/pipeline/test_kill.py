"""A run that is killed leaves nothing half-made, no kernel behind, and the next run starts where it was."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from fixtures.project_copy import Project, result
from fixtures.waiting import wait_for

SECONDS = 31


@contextmanager
def sleeper(project, *arguments):
    """A run whose notebook waits after it has written something: the process, and the process id of its kernel."""
    cells = [
        "from pathlib import Path",
        result("a"),
        "import os, time",
        f"Path({str(project.folder)!r}, 'pid').write_text(str(os.getpid()))",
    ]
    project.notebook("01_sleeps", [*cells, "time.sleep(600)"])
    project.dag("01_sleeps: {}\n")
    process = subprocess.Popen(
        [sys.executable, "run_all.py", "--study", "tiny", *arguments],
        text=True,
        cwd=project.folder,
        env=project.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # shells start background jobs with SIGINT ignored, which a child inherits
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        wait_for(lambda: project.out("pid").exists() and project.out("pid").read_text())
        yield process, int(project.out("pid").read_text())
    finally:
        process.kill()
        process.communicate()


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


#: an interrupted run cleans up in its own code; these are stopped as it is, or by the system
OTHERS = ((signal.SIGTERM, "processes"), (signal.SIGKILL, "processes"), (signal.SIGINT, "local:1"))


@pytest.mark.parametrize(
    ("number", "where"),
    [(signal.SIGINT, "processes"), *(pytest.param(*other, marks=pytest.mark.slow) for other in OTHERS)],
)
def test_a_killed_run_leaves_nothing_half_made(tmp_path, number, where):
    if where != "processes":
        pytest.importorskip("distributed")
    project = Project(tmp_path / "project")
    with sleeper(project, "--executor", where) as (process, kernel):
        process.send_signal(number)
        _, errors = process.communicate(timeout=600)
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert "interrupted" in errors
        assert not project.out("data", "processed", "tiny", ".work").exists()
    wait_for(lambda: gone(kernel))
    assert not project.out("data", "processed", "tiny", "notebooks").exists()
    assert "01_sleeps" not in project.manifest()["nodes"]
    assert not [*project.folder.rglob(".*.tmp")]
    project.edit("notebooks/01_sleeps.ipynb", "time.sleep(600)", "time.sleep(0)")
    assert project.states()["01_sleeps"] == ("done", "new")
    assert not project.out("data", "processed", "tiny", ".work").exists()
