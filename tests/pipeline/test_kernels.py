"""Kernels are forked from a process that has imported what all need, and are as if each had been started alone."""

import json
import os
import signal

import nbformat
import pytest

from judgebook.pipeline import kernel, worker

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="kernels are forked on Linux only")
ABOUT = """\
import json, os, sys
loaded = [m for m in sys.modules if m.split(".")[0] == "judgebook"]
about = {"pid": os.getpid(), "parent": os.getppid(), "folder": os.getcwd(), "path": sys.path, "judgebook": loaded}
about |= {"plots": "matplotlib.pyplot" in sys.modules, "mark": os.environ.get("MARK"), "session": os.getsid(0)}
print(json.dumps(about))
"""
PLOT = "import matplotlib.pyplot as plt\nplt.figure(figsize=(1, 1)).add_subplot().plot([0, 1])"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a notebook of these cells; its cells with outputs, or what the worker says where it failed."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    kept = dict(os.environ)  # a worker process keeps what its kernels need; this one is no worker

    def run(name, *cells, allowed=()):
        made = [nbformat.v4.new_code_cell("x = 1", metadata={"tags": ["parameters"]})]
        made += [nbformat.v4.new_code_cell(cell) for cell in cells]
        source, done, failed = (tmp_path / f"{name}.{kind}.ipynb" for kind in ("source", "done", "failed"))
        nbformat.write(nbformat.v4.new_notebook(cells=made), source)
        outcome = worker.notebook(worker.NotebookJob(name, source, {}, allowed, done, failed, tmp_path / "work"))
        return nbformat.read(done, 4).cells[1:] if outcome.state == "done" else outcome.message

    yield run
    kernel._kernels.close()
    os.environ.clear()
    os.environ.update(kept)


@pytest.mark.verify
def test_each_kernel_is_its_own_and_none_holds_judgebook(run, monkeypatch):
    found = []
    for mark in ("a", "b", "c"):
        monkeypatch.setenv("MARK", mark)
        cells = run(mark, ABOUT, PLOT, allowed=("judgebook.display.style",) if mark == "c" else ())
        found.append(json.loads(cells[0].outputs[0].text))
        # a figure is shown, as where Matplotlib was imported in the kernel
        assert [sorted(o.data) for o in cells[1].outputs][-1] == ["image/png", "text/plain"]
    assert {f["parent"] for f in found} == {kernel._kernels._server.pid}
    assert [f["pid"] for f in found] == [f["session"] for f in found]
    assert [f["mark"] for f in found] == ["a", "b", "c"]
    assert [f["judgebook"] for f in found] == [[], [], []]
    assert found[0]["path"] == found[1]["path"] == found[2]["path"]
    assert not any(path.endswith("pipeline") for path in found[0]["path"])
    assert len({f["folder"] for f in found}) == len({f["pid"] for f in found}) == 3
    assert [f["plots"] for f in found] == [False, False, True]


def test_a_kernel_that_dies_says_so_and_the_next_one_runs(run):
    assert run("dies", "import os", "os._exit(3)").startswith("the kernel died")
    assert run("runs", "print(1)")[0].outputs[0].text == "1\n"
    assert os.readlink(f"/proc/{kernel._kernels._server.pid}/cwd") == "/"


@pytest.mark.verify
def test_without_the_process_that_forks_kernels_start_alone(run, monkeypatch):
    assert run("forked", "print(1)")
    os.kill(kernel._kernels._server.pid, signal.SIGKILL)
    assert run("again", "print(2)")[0].outputs[0].text == "2\n"

    def none(*_):
        raise OSError

    monkeypatch.setattr(kernel.Kernels, "fork", none)
    alone = json.loads(run("alone", ABOUT)[0].outputs[0].text)
    assert alone["parent"] == os.getpid()
