"""What is sent to a cluster and what comes back, without one: stand-ins for its client, executor and workers."""

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest

from judgebook.extras.cluster import executor, on_worker
from judgebook.pipeline import worker
from judgebook.pipeline.surroundings import THREADS
from judgebook.study import params

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")


@pytest.fixture
def expected(tmp_path, monkeypatch):
    for name in on_worker.BLAS:
        monkeypatch.setenv(name, "1")
    (tmp_path / "mark").touch()
    return executor.expectations(str(tmp_path / "mark"))


def test_versions_are_compared_in_both_directions_and_extras_count(expected, monkeypatch):
    needed = executor._needed()
    assert {"numpy", "pandas", "sacrebleu", "nltk", "rouge_score", "wordllama"} <= set(needed)
    assert on_worker.unfit(expected) == ""
    packages = {"nltk": None, "numpy": "2.0", "rouge_score": None, "wordllama": "0.3"}
    monkeypatch.setattr(on_worker, "installed", lambda: {"numpy": "1.26", "nltk": "3.9"})
    why = on_worker.unfit(replace(expected, python="3.9", packages=packages))
    assert why.split(", ") == [
        f"Python {on_worker.PYTHON} (expected 3.9)",
        "nltk 3.9 (expected none)",
        "numpy 1.26 (expected 2.0)",
        "wordllama missing (expected 0.3)",
    ]


def test_a_worker_must_have_loaded_the_same_project_and_see_the_output_folder(expected, tmp_path):
    why = on_worker.unfit(
        replace(expected, project="older", notebooks="older", seen=str(tmp_path / "elsewhere" / "mark"))
    )
    assert "loaded another version of the project" in why
    assert "other notebooks" in why
    assert f"not the output folder {tmp_path / 'elsewhere'}" in why


def test_a_worker_has_one_thread_and_so_has_blas(expected, monkeypatch):
    several = SimpleNamespace(state=SimpleNamespace(nthreads=4))
    assert on_worker.unfit(expected, several) == "4 threads (expected 1, by --nthreads 1)"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    assert "OPENBLAS_NUM_THREADS=1" in on_worker.unfit(expected)


def job(out):
    home = out / "data" / "processed" / "tiny"
    done, failed = home / "notebooks" / "01.ipynb", home / "notebooks" / "01.failed.ipynb"
    values = {"study": "tiny", "run_id": "x"}
    return worker.NotebookJob("01", params.ROOT / "notebooks" / "01.ipynb", values, (), done, failed, home / ".work")


def in_worker(monkeypatch, state="executing"):
    """This process as a Dask worker that does a task of this state."""
    dask_worker = SimpleNamespace(address="tcp://one", get_current_task=lambda: "key")
    dask_worker.state = SimpleNamespace(nthreads=1, tasks={"key": SimpleNamespace(state=state)})
    monkeypatch.setattr(distributed, "get_worker", lambda: dask_worker)
    return dask_worker


def test_a_notebook_leaves_the_environment_of_a_worker_as_it_was(expected, tmp_path, monkeypatch):
    """With Dask's own setting of memory, each large array would cost a call of the system."""
    in_worker(monkeypatch)
    assert "MALLOC_TRIM_THRESHOLD_" in dask.config.get("distributed.nanny.pre-spawn-environ")
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    seen = {}
    monkeypatch.setattr(worker, "notebook", lambda job: seen.update(os.environ) or job)
    before = dict(os.environ)
    on_worker.notebook(expected, {"COMPENDIUM_OUT": "/out"}, job(tmp_path))
    assert dict(os.environ) == before
    assert seen["COMPENDIUM_OUT"] == "/out"
    assert {seen[name] for name in THREADS} == {"1"}
    assert "MALLOC_TRIM_THRESHOLD_" not in seen


def test_a_notebook_that_nobody_waits_for_is_stopped(expected, tmp_path, monkeypatch):
    in_worker(monkeypatch, state="cancelled")
    stopped = []
    monkeypatch.setattr(worker, "stop", lambda: stopped.append(1))

    def work(job):
        while not stopped:
            pass
        raise SystemExit(143)

    monkeypatch.setattr(on_worker, "_LOOK", 0.01)
    monkeypatch.setattr(worker, "notebook", work)
    assert on_worker.notebook(expected, {}, job(tmp_path)).state == "failed"


def test_a_worker_that_joins_later_is_looked_at_before_it_does_anything(expected, tmp_path, monkeypatch):
    in_worker(monkeypatch)
    with pytest.raises(on_worker.WorkerUnfitError, match=r"tcp://one has numpy .* \(expected 1\.0\)"):
        on_worker.notebook(replace(expected, packages={"numpy": "1.0"}), {}, job(tmp_path))


class Client:
    """A cluster; `unfit` says of some workers what is wrong with them."""

    status = "running"

    def __init__(self, unfit, **addresses):
        self.unfit, self.addresses, self.sent, self.looked_at = unfit, ["tcp://one"], [], []

    def wait_for_workers(self, n, timeout):
        pass

    def nthreads(self):
        return dict.fromkeys(self.addresses, 1)

    def get_executor(self, **options):
        return self

    def run(self, function, *args, workers, on_error):
        if function is not on_worker.unfit:
            return {}
        self.looked_at += workers
        return {address: self.unfit.get(address, "") for address in workers}

    def submit(self, function, *args, workers, allow_other_workers):
        self.sent.append(workers)
        answer: Future = Future()
        answer.set_result(worker.Outcome("done"))
        return answer


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    return tmp_path / "out"


def test_nothing_runs_where_a_worker_is_unfit_at_the_start(out):
    client = Client({"tcp://one": "numpy 1.26 (expected 2.0)"})
    with pytest.raises(executor.ClusterError, match=r"tcp://one has numpy 1\.26 \(expected 2\.0\); results might"):
        executor.Cluster(client, ThreadPoolExecutor)
    client = Client({"tcp://one": ModuleNotFoundError("No module named 'judgebook'")})
    with pytest.raises(executor.ClusterError, match=r"not the project at .* No module named 'judgebook'"):
        executor.Cluster(client, ThreadPoolExecutor)
    assert list(out.iterdir()) == []


def test_a_worker_that_joins_later_is_used_where_it_is_fit(out, capsys):
    client = Client({"tcp://bad": "numpy 1.26"})
    one = executor.Cluster(client, ThreadPoolExecutor)
    client.addresses += ["tcp://bad", "tcp://good"]
    for _ in range(2):
        assert one.submit(worker.notebook, job(out)).result().state == "done"
    assert client.sent == [["tcp://one", "tcp://good"]] * 2
    assert client.looked_at == ["tcp://one", "tcp://bad", "tcp://good"]
    assert capsys.readouterr().err.count("tcp://bad has numpy 1.26: it is not used") == 1
    client.addresses = ["tcp://bad"]
    with pytest.raises(executor.ClusterError, match="no worker that can be used"):
        one.submit(worker.notebook, job(out)).result()
    client.status = "closed"
    one.shutdown()
    assert list(out.iterdir()) == []
