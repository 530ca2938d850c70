"""What is sent to a cluster and what comes back, without one: stand-ins for its client, executor and workers."""

import errno
import io
import os
import pickle
import tarfile
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from judgebook.execution import scheduler, seats
from judgebook.pipeline import execute, worker
from judgebook.pipeline.scale import cluster
from judgebook.sources.ids.naming import OWN_IDS
from judgebook.study import params, store

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")


def made(out, **values):
    """A Cluster that is connected to nothing."""
    one = object.__new__(cluster.Cluster)
    one.__dict__.update({"copied": True, "_out": Path(out), "_refused": set(), "_made_home": None, **values})
    return one


def job(out):
    home = Path(out) / "data" / "processed" / "tiny"
    done, failed = home / "notebooks" / "01.ipynb", home / "notebooks" / "01.failed.ipynb"
    values = {"study": "tiny", "run_id": "x"}
    return worker.NotebookJob("01", params.ROOT / "notebooks" / "01.ipynb", values, (), done, failed, home / ".work")


@pytest.mark.parametrize("out", [".", "..", "output", "notebooks/output"])
def test_paths_are_named_by_the_folder_that_workers_have_them_in(tmp_path, monkeypatch, out):
    root = tmp_path / "here" / "project"
    (root / "notebooks").mkdir(parents=True)
    monkeypatch.setattr(params, "ROOT", root)
    home = made((root / out).resolve())
    assert home._named(root / "notebooks" / "05.ipynb") == (seats.ROOT, ("notebooks", "05.ipynb"))
    assert home._named(root / "data" / "published" / "x.csv") == (seats.ROOT, ("data", "published", "x.csv"))
    assert home._named(home._out / "data" / "processed" / "tiny") == (seats.OUT, ("data", "processed", "tiny"))
    assert home._named(tmp_path.parent / "elsewhere") is None
    assert home._named("notebooks") is None


def test_the_list_of_own_ids_is_never_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    home = store.processed("tiny")
    needed = ["annotations.parquet", "params.yaml", "results/02.parquet", "results/02.cells.parquet", "cache/x.parquet"]
    private = [
        OWN_IDS,
        "sections.json",
        "manifest.json",
        f"results/{OWN_IDS}",
        "notes.txt",
        "scratch/results/a.parquet",
    ]
    for name in [*needed, *private]:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("x")
    assert cluster._read(job(tmp_path)) == sorted(f"data/processed/tiny/{name}" for name in needed)


def test_yamls_of_studies_are_not_sent_with_the_project(tmp_path, monkeypatch):
    for name in ("src/a.py", "params/defaults.yaml", "params/mine.yaml", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("groups: {crowd: {annotators: [W1]}}\n")
    monkeypatch.setattr(params, "ROOT", tmp_path)
    with tarfile.open(fileobj=io.BytesIO(cluster._project())) as archive:
        sent = [member.name for member in archive if member.isfile()]
    assert sent == ["src/a.py", "params/defaults.yaml", "pyproject.toml"]


def test_what_reads_results_of_other_studies_gets_them_with_their_parameters(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    for name in ("tiny/params.yaml", "other/params.yaml", "other/results/02.parquet", f"other/{OWN_IDS}"):
        (store.processed("") / name).parent.mkdir(parents=True, exist_ok=True)
        (store.processed("") / name).write_text("x")
    sent = [name.removeprefix("data/processed/") for name in cluster._read(job(tmp_path))]
    assert sent == ["other/params.yaml", "other/results/02.parquet", "tiny/params.yaml"]


def test_versions_are_compared_in_both_directions_and_extras_count(monkeypatch):
    needed = cluster._needed()
    assert {"numpy", "pandas", "sacrebleu", "nltk", "rouge_score", "wordllama"} <= set(needed)
    assert seats.unfit({}) == ""
    assert seats.unfit(cluster.expectations()) == ""
    python, _ = seats.versions()
    expected = {"python": python, "packages": {"nltk": None, "numpy": "2.0", "rouge_score": None, "wordllama": "0.3"}}
    monkeypatch.setattr(seats, "versions", lambda: ("3.9", {"numpy": "1.26", "nltk": "3.9"}))
    why = seats.unfit(expected)
    assert why.split(", ") == [
        f"Python 3.9 (expected {python})",
        "nltk 3.9 (expected none)",
        "numpy 1.26 (expected 2.0)",
        "wordllama missing (expected 0.3)",
    ]


def test_a_worker_must_see_the_same_project_and_the_output_folder(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n")
    (mark := tmp_path / ".mark").touch()
    monkeypatch.setattr(seats, "versions", lambda: ("3.12", {}))
    expected = {"python": "3.12", "packages": {}, "root": str(tmp_path), "mark": str(mark)}
    expected["project"] = seats.sees(str(tmp_path), str(mark))[0]
    assert seats.unfit(expected) == ""
    (tmp_path / "src" / "a.py").write_text("a = 2\n")
    mark.unlink()
    why = seats.unfit(expected)
    assert "another version of the project" in why
    assert "not the output folder" in why
    assert seats.unfit({**expected, "root": str(tmp_path / "none")}).startswith("not the project")


class Taken(list):
    """Seats of which another thread takes the last between two looks."""

    def __bool__(self):
        return True


def joined(monkeypatch, place):
    """A Dask worker in which `seats.call` runs; its seats answer what they are asked."""
    tasks = {"key": SimpleNamespace(state="executing")}
    here = SimpleNamespace(address="tcp://late", get_current_task=lambda: "key", state=SimpleNamespace(tasks=tasks))
    here.compendium_seats = {(place.run, place.lead): Taken()}
    monkeypatch.setattr(distributed, "get_worker", lambda: here)
    monkeypatch.setattr(seats, "_start", lambda place, root: object())
    monkeypatch.setattr(seats, "_ask", lambda seat, payload, *rest: pickle.dumps(("done", payload, "")))
    return here


def test_a_worker_that_joins_later_is_looked_at_before_it_does_anything(monkeypatch):
    monkeypatch.setattr(seats, "versions", lambda: ("3.12", {"numpy": "1.26"}))
    place = seats.setting("run", "/none", {}, expected={"python": "3.12", "packages": {"numpy": "2.0"}})
    here = joined(monkeypatch, place)
    with pytest.raises(seats.SeatRefusedError, match=r"tcp://late has numpy 1\.26 \(expected 2\.0\)") as refusal:
        seats.answer(seats.call(place, b"work"))
    assert refusal.value.address == "tcp://late"
    assert here.compendium_seats[place.run, place.lead] == []


def test_a_seat_that_another_thread_takes_is_replaced_by_a_new_one(monkeypatch):
    place = seats.setting("run", "/none", {})
    here = joined(monkeypatch, place)
    assert seats.answer(seats.call(place, b"work")) == b"work"
    assert len(here.compendium_seats[place.run, place.lead]) == 1


def test_a_seat_keeps_its_memory_whatever_dask_set_for_its_worker(monkeypatch):
    """With Dask's setting each large array costs a call of the system."""
    preset = dask.config.get("distributed.nanny.pre-spawn-environ")
    for name, value in preset.items():
        monkeypatch.setenv(name, str(value))
    found = []
    monkeypatch.setattr("subprocess.Popen", lambda *_, env, **__: found.append(env) or SimpleNamespace())
    seats._start(seats.setting("run", "/none", {"COMPENDIUM_OUT": "/out"}), "/none")
    (own,) = found
    assert {name: own[name] for name in preset if name in own} == dict.fromkeys(preset.keys() & seats.THREADS, "1")
    assert "MALLOC_TRIM_THRESHOLD_" in preset
    assert own["COMPENDIUM_OUT"] == "/out"


def answered(one, packed, own):
    """The answer that the pipeline gets where a worker sends this."""
    done, answer = Future(), Future()
    done.set_result(packed) if isinstance(packed, bytes) else done.set_exception(packed)
    one._pass_on(done, own, answer)
    return answer


def sent_back(outcome, written=None, removed=()):
    return pickle.dumps((pickle.dumps(("done", outcome, "")), written or {}, list(removed)))


def test_files_come_back_and_a_failed_notebook_goes_when_it_succeeds(tmp_path):
    own = job(tmp_path)
    own.failed.parent.mkdir(parents=True)
    own.failed.touch()
    name = own.done.relative_to(tmp_path).as_posix()
    failed = answered(made(tmp_path), sent_back(worker.Outcome("failed", 1.0, "cell 2")), own).result()
    assert (failed.state, own.failed.exists()) == ("failed", True)
    done = answered(made(tmp_path), sent_back(worker.Outcome("done"), {name: b"{}"}), own).result()
    assert (done.state, own.failed.exists(), own.done.read_bytes()) == ("done", False, b"{}")


def test_a_file_that_cannot_be_written_here_is_no_death_of_a_worker(tmp_path, monkeypatch):
    (tmp_path / "data").write_text("a file, where a folder is needed")
    own = job(tmp_path)
    name = own.done.relative_to(tmp_path).as_posix()
    outcome = answered(made(tmp_path), sent_back(worker.Outcome("done"), {name: b"{}"}), own).result()
    assert outcome.state == "denied"
    assert "where a folder is needed" in outcome.message

    def full(path, missing_ok=False):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "unlink", full)
    outcome = answered(made(tmp_path), sent_back(worker.Outcome("done"), {}, ["a"]), own).result()
    assert outcome.state == "denied"
    assert "read-only" in outcome.message


@pytest.mark.parametrize("failing", ["connecting", "waiting for workers"])
def test_a_cluster_that_was_started_here_is_closed_where_it_cannot_be_used(monkeypatch, failing):
    closed = []

    def client(address, **options):
        if failing == "connecting":
            raise OSError("refused")
        return SimpleNamespace(close=lambda: closed.append("client"), wait_for_workers=wait)

    def wait(n, timeout):
        raise TimeoutError

    here = SimpleNamespace(scheduler_address="tcp://127.0.0.1:1", close=lambda: closed.append("cluster"))
    monkeypatch.setattr(distributed, "LocalCluster", lambda **options: here)
    monkeypatch.setattr(distributed, "Client", client)
    with pytest.raises(cluster.ClusterError):
        cluster.connect("local:1", ThreadPoolExecutor)
    assert closed == (["cluster"] if failing == "connecting" else ["client", "cluster"])


class Client:
    """A cluster of two workers, the first of which refuses whatever it gets."""

    status = "running"

    def __init__(self, addresses=("tcp://bad", "tcp://good")):
        self.addresses, self.sent, self.working = addresses, [], {}

    def processing(self):
        return self.working

    def nthreads(self):
        return dict.fromkeys(self.addresses, 1)

    def submit(self, function, *args, key, workers=None, allow_other_workers=False):
        to = next(a for a in self.addresses if workers is None or a in workers)
        self.sent.append(to)
        good = ("done", worker.Outcome("done"), "")
        answer: Future = Future()
        answer.set_result(pickle.dumps(("refused", (to, "numpy 1.26"), "") if to == "tcp://bad" else good))
        return answer


def test_what_a_worker_refuses_goes_to_another_and_fails_where_there_is_none(tmp_path, capsys):
    client = Client()
    one = made(tmp_path, copied=False, client=client, _executor=client, _place=None)
    assert one.submit(worker.notebook, job(tmp_path)).result().state == "done"
    assert one.submit(worker.notebook, job(tmp_path)).result().state == "done"
    assert client.sent == ["tcp://bad", "tcp://good", "tcp://good"]
    assert capsys.readouterr().err.count("tcp://bad has numpy 1.26") == 1
    client = Client(("tcp://bad",))
    one = made(tmp_path, copied=False, client=client, _executor=client, _place=None)
    with pytest.raises(cluster.ClusterError, match=r"tcp://bad has numpy 1\.26"):
        one.submit(worker.notebook, job(tmp_path)).result()


def test_what_cannot_be_sent_is_an_answer_and_no_traceback(tmp_path):
    client = Client()
    client.status = "closed"
    one = made(tmp_path, copied=False, client=client, _executor=client, _place=None)
    with pytest.raises(cluster.ClusterError, match="connection"):
        one.submit(worker.notebook, job(tmp_path)).result()
    client.status = "running"
    client.submit = None
    with pytest.raises(TypeError):
        one.submit(worker.notebook, job(tmp_path)).result()


def test_pieces_go_to_workers_without_a_notebook():
    client = Client()
    client.working = {"tcp://good": ("piece-1", "notebook-2"), "tcp://bad": ("piece-3",)}
    assert scheduler.free(client, set()) == {"tcp://bad": client.nthreads()["tcp://bad"]}
    assert scheduler.free(client, {"tcp://bad"}) == {}


def test_a_notebook_goes_to_a_worker_without_one(tmp_path):
    """Whose process for notebooks is idle: another one would have to start where a notebook runs."""
    client = Client(("tcp://busy", "tcp://idle"))
    one = made(tmp_path, copied=False, client=client, _executor=client, _place=None)
    for working, sent in (("tcp://busy", "tcp://idle"), ("tcp://idle", "tcp://busy")):
        client.working = {working: ("notebook-1",)}
        one.submit(worker.notebook, job(tmp_path)).result()
        assert client.sent[-1] == sent
    client.working = dict.fromkeys(client.addresses, ("notebook-1",))
    one.submit(worker.notebook, job(tmp_path)).result()
    assert len(client.sent) == 3


def test_pieces_avoid_workers_that_refused(monkeypatch):
    client = Client()
    assert scheduler.elsewhere(client, set()) == {}
    assert scheduler.elsewhere(client, {"tcp://bad"})["workers"] == ["tcp://good"]
    send = object.__new__(scheduler._Send)
    send.client, send.refused = client, set()
    send.refused_by(seats.SeatRefusedError("tcp://bad", "numpy 1.26"))
    with pytest.raises(seats.SeatRefusedError):
        send.refused_by(seats.SeatRefusedError("tcp://good", "numpy 1.25"))


class Pool:
    """A pool that is broken or does its work at once."""

    def __init__(self, broken):
        self.broken, self.over = broken, False

    def submit(self, fn, *args):
        if self.broken:
            raise BrokenExecutor("a process in the pool was terminated abruptly")
        answer: Future = Future()
        answer.set_result(fn(*args))
        return answer

    def shutdown(self, **how):
        self.over = True


def test_a_broken_pool_here_does_not_cost_the_cluster(tmp_path):
    pools = [Pool(broken=True), Pool(broken=False)]
    left = iter(pools)
    one = made(tmp_path, _home=lambda: next(left))
    assert one.submit(len, "abc").result() == 3
    assert [p.over for p in pools] == [True, False]
    assert one.submit(len, "abcd").result() == 4


def test_a_broken_pool_is_shut_down_and_replaced(tmp_path):
    pools = [Pool(broken=True), Pool(broken=False)]
    left = iter(pools)
    study = SimpleNamespace(manifest=SimpleNamespace(outputs=lambda name: []))
    quiet = {"say": lambda *a: None, "news": lambda line: None}
    runner = execute.Runner({"tiny": study}, None, lambda jobs: next(left), 1, **quiet)
    node = execute.Node("tiny", "01", (), dict, list, len, lambda: "abc")
    runner._ready[node] = {}, "new"
    assert runner._places() == 1
    runner._submit(node, *runner._ready.pop(node))
    (future,) = runner._running
    assert future.result() == 3
    assert [p.over for p in pools] == [True, False]
    assert runner._executor is pools[1]


def test_an_outcome_of_a_dead_process_leaves_the_executor_where_it_is():
    with ThreadPoolExecutor(1) as pool:
        runner = execute.Runner({}, None, lambda jobs: pool, 1, say=None, news=None)
        runner._executor, future = pool, Future()
        future.set_exception(BrokenExecutor("terminated abruptly"))
        status = runner._outcome(execute._Job(None, {}, "", None, {}, 0.0), future)
        assert status.state == "failed"
        assert "a worker process died: terminated abruptly" in status.reason
        assert runner._executor is pool


@pytest.mark.parametrize("text", ["dask://host:8786", "tcp://host:8786", "tls://host:8786", "local:2", "processes"])
def test_what_can_be_named_as_executor(text):
    assert cluster.check(text) == text


def test_an_executor_of_another_kind_is_refused_with_what_there_is():
    with pytest.raises(cluster.ClusterError, match="tls://"):
        cluster.check("http://host")
