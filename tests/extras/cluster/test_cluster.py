"""Runs on a Dask cluster: a scheduler and four worker processes on this machine, one of which is killed in mid-run."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from fixtures.project_copy import ROOT, Project
from fixtures.sleeper import killed
from fixtures.waiting import wait_for

SECONDS = 45

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

#: a notebook that waits to be killed where it runs on a cluster, and only there
WAITS = """\
import os
import time
from pathlib import Path
from judgebook.study.results import collect
here = Path({folder!r})
if "ON_A_CLUSTER" in os.environ and not (here / "killed").exists():
    (here / "pid").write_text(str(os.getpid()))
    while not (here / "killed").exists():
        time.sleep(0.02)
run.save_results(collect([{{"statistic": "count", "what": "a", "estimate": 1.0}}]))
"""


def make(folder):
    project = Project(folder, paper=True)
    shutil.copy(ROOT / "pyproject.toml", project.folder)  # names the packages that workers must have
    project.notebook("01_first")
    project.notebook("02_waits", [WAITS.format(folder=str(folder))])
    project.notebook("03_last")
    project.dag("01_first: {}\n02_waits: {}\n03_last: {needs: [02_waits]}\n")
    return project


@contextmanager
def cluster(folder, workers=4):
    """A scheduler and its workers, as `dask scheduler` and `dask worker` start them; the scheduler's address."""
    noted = folder / "scheduler.json"
    dask, quiet = [sys.executable, "-m", "dask"], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    quiet["env"] = os.environ | {"ON_A_CLUSTER": "1"}
    where = ["--scheduler-file", str(noted), "--no-dashboard"]
    size = ["--nworkers", str(workers), "--nthreads", "1", "--local-directory", str(folder / "dask")]
    # no project on the path: a run says where it is
    started = [subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *where], **quiet)]
    try:
        # on a busy machine the file is there for a while before anything stands in it
        wait_for(lambda: noted.exists() and noted.read_text().rstrip().endswith("}"))
        started.append(subprocess.Popen([*dask, "worker", *size, *where], cwd=folder, **quiet))
        address = json.loads(noted.read_text())["address"]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=600)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(60)


def kill_worker_of(pid):
    started = psutil.Process(pid)
    next(p for p in [started, *started.parents()] if "multiprocessing.spawn" in " ".join(p.cmdline())).kill()


def contents(folder):
    """Every file a run has made, without manifests, which note times, and hidden files."""
    out = {}
    for part in ("data", "figures", "tables", "reports"):
        for path in sorted((folder / part).rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and "/." not in name and path.name != "manifest.json":
                out[name] = path.read_bytes()
    return out


def same(here, there):
    one, two = contents(here), contents(there)
    assert len(one) > 20
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project, and the output of a run without a cluster."""
    project = make(tmp_path_factory.mktemp("cluster") / "project")
    project.here = project.folder.parent / "here"
    done = project.run("--study", "tiny", "--out", str(project.here))
    assert done.returncode == 0, done.stderr + done.stdout
    return project


@pytest.mark.evidence
def test_a_run_survives_a_killed_worker_and_gives_the_same_bits(made, tmp_path):
    with cluster(tmp_path) as address:
        command = [sys.executable, "run_all.py", "--study", "tiny", "--out", str(tmp_path / "there")]
        command += ["--executor", address.replace("tcp", "dask")]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(command, cwd=made.folder, env=made.environment(), **pipes)
        try:
            noted = made.folder / "pid"
            wait_for(lambda: process.poll() is not None or (noted.exists() and noted.read_text()))
            assert process.poll() is None, process.stdout.read()
            kill_worker_of(int(noted.read_text()))
            (made.folder / "killed").touch()
            told, _ = process.communicate(timeout=1800)
        finally:
            process.kill()
    assert process.returncode == 0, told
    same(made.here, tmp_path / "there")


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("number", "where"), [(signal.SIGINT, "local:1"), (signal.SIGINT, None), (signal.SIGKILL, None)]
)
def test_a_killed_run_leaves_nothing_half_made_and_a_worker_that_takes_the_next(tmp_path, number, where):
    project = Project(tmp_path / "project")
    shutil.copy(ROOT / "pyproject.toml", project.folder)
    with cluster(tmp_path, workers=1) as address:
        killed(project, number, "--executor", where or address)
        project.edit("notebooks/01_sleeps.ipynb", "time.sleep(600)", "time.sleep(0)")
        assert project.states("--executor", address)["01_sleeps"] == ("done", "new")
    assert not [path for pattern in (".*.tmp", ".work") for path in project.folder.rglob(pattern)]
