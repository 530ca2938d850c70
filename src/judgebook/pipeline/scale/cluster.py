"""Running notebooks on a Dask cluster: `--executor local:4` or `--executor dask://host:8786`.

The scheduler and its workers are Dask's. Notebooks go to them through `client.get_executor()`; on each worker a process
of our own (`judgebook.execution.seats`) does the work, so notebooks run there as they do at home. Data are read, and
pages rendered, where the run was started. Workers that do not see the project and the output folder at the same paths
are sent them: the project once, and what a notebook reads by the hash of its content.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import pickle
import re
import sys
import tarfile
import threading
import tomllib
import uuid
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.execution import scheduler, seats
from judgebook.execution.seats import THREADS
from judgebook.pipeline import worker
from judgebook.study import params, store

HOME = "processes"
#: how often a notebook is begun again elsewhere after its worker was lost
LIVES = 5
_GONE = "the connection to the scheduler was lost"
WAIT = 120  # seconds for a first worker: a batch system starts them when there is room
_LOCAL = re.compile(r"local:([1-9][0-9]{0,2})")
_REMOTE = re.compile(r"(?:dask|tcp|tls)://\S+")
#: what notebooks need of the project: not the YAMLs of studies, in which ids of people may stand
_PROJECT = ("src", "notebooks", "params/defaults.yaml", "data/published", "data/embedded")
_PROJECT += ("docs/glossary.md", "pyproject.toml")
#: distributions on which results depend and that those in pyproject.toml bring with them
_BELOW = ("numpy", "pillow", "fonttools", "ipykernel", "ipython", "nbformat", "jinja2", "safetensors", "tokenizers")
#: extra without which notebooks compute less
_EXTRA = "metrics"
#: what a notebook reads of its study's folder: not `own_ids.csv`, which never leaves this machine
_READ = ("*.parquet", "params.yaml", "results/*.parquet", "cache/*.parquet")


class ClusterError(JudgebookError, ValueError):
    """The cluster named cannot be used; the message says why."""


def check(text: str) -> str:
    """`text` if `--executor` may have it. Raises ClusterError."""
    if text != HOME and not _LOCAL.fullmatch(text) and not _REMOTE.fullmatch(text):
        expected = f"{HOME}, local:N, or dask://, tcp:// or tls:// with host:port"
        raise ClusterError(f"--executor: expected {expected}, found {text!r}")
    return text


def connect(text: str, home: Callable[[], Executor]) -> Cluster:
    """The cluster that `--executor` names, started here where it is local.

    home : makes the executor for what is not sent. Raises ClusterError.
    """
    try:
        import distributed
    except ImportError:
        install = 'the extra `cluster`, which is not installed: python -m pip install "distributed>=2025.1"'
        raise ClusterError(f"--executor {text} needs {install}") from None
    from dask import config

    logging.getLogger("distributed").setLevel(logging.ERROR)
    config.set({"distributed.scheduler.allowed-failures": LIVES})
    started, address = None, re.sub("^dask://", "tcp://", text)
    with ExitStack() as undo:
        if local := _LOCAL.fullmatch(text):
            os.environ.update(dict.fromkeys(THREADS, "1"))
            size = {"n_workers": int(local[1]), "threads_per_worker": 1, "processes": True, "memory_limit": 0}
            quiet = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
            started = distributed.LocalCluster(host="127.0.0.1", **size, **quiet)
            undo.callback(started.close)
            address = started.scheduler_address
        try:
            client = distributed.Client(address, timeout=30, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClusterError(f"--executor {text}: no scheduler responds there: {error}") from None
        undo.callback(client.close)
        made = Cluster(client, home, started)
        undo.pop_all()
    return made


class Cluster(Executor):
    """An executor that sends notebooks to the workers of a Dask cluster. places : how many it takes at a time."""

    def __init__(self, client: Any, home: Callable[[], Executor], started: Any = None):
        self.client, self.started = client, started
        try:
            client.wait_for_workers(1, timeout=WAIT)
        except TimeoutError:
            raise ClusterError(f"--executor: the cluster has no workers after {WAIT} s") from None
        self.places = sum(client.nthreads().values())
        self.run = uuid.uuid4().hex[:12]
        self._executor = client.get_executor(pure=False)
        self._home, self._made_home = home, None
        self._blobs: dict[str, Any] = {}
        self._out = store.out_root().absolute()
        self._mark, self._refused = self._out / f".{self.run}.mark", set[str]()
        expected = expectations() if started is None else {}
        if expected:
            self._refuse_others(expected)
        self.copied = started is None and not self._shared()
        if expected and not self.copied:
            root = str(params.ROOT)
            expected |= {"root": root, "project": seats.sees(root, "")[0], "mark": str(self._mark)}
        variables = {scheduler.COPIED: "1"} if self.copied else {seats.OUT: str(self._out)}
        if (raw := os.environ.get("COMPENDIUM_RAW")) and not self.copied:
            variables["COMPENDIUM_RAW"] = os.path.abspath(raw)
        root = None if self.copied else str(params.ROOT)
        self._place = seats.setting(self.run, root, variables, lead=True, expected=expected)
        if self.copied:
            client.register_plugin(_plugin(self.run, _project()), name=f"compendium-{self.run}")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        if fn is not worker.notebook:
            return self._at_home(fn, *args)
        answer: Future = Future()
        self._send(args[0], answer)
        return answer

    def _at_home(self, fn: Callable[..., Any], *args: Any) -> Future:
        try:
            self._made_home = self._made_home or self._home()
            return self._made_home.submit(fn, *args)
        except BrokenExecutor:  # one of its processes died; the cluster is none the worse for that
            assert self._made_home is not None
            self._made_home.shutdown(wait=False)
            self._made_home = self._home()
            return self._made_home.submit(fn, *args)

    def _send(self, job: worker.NotebookJob, answer: Future) -> None:
        """Send a notebook to a worker; what cannot be sent is answered at once."""
        try:
            if self.client.status != "running":
                raise ClusterError(_GONE)
            key = f"{scheduler.NOTEBOOK}{uuid.uuid4().hex}"
            options = {"key": key, **scheduler.for_notebook(self.client, self._refused)}
            payload = seats.pack((worker.notebook, (job,)), self._named)
            if self.copied:
                files = {name: self._blob(self._out / name) for name in _read(job)}
                asked = self._executor.submit(seats.ByValue(seats.call_apart), self._place, payload, files, **options)
            else:
                asked = self._executor.submit(seats.ByValue(seats.call), self._place, payload, **options)
        except Exception as error:
            _answer_with(error, answer)
        else:
            asked.add_done_callback(lambda done: self._pass_on(done, job, answer))

    def _pass_on(self, done: Future, job: worker.NotebookJob, answer: Future) -> None:
        try:
            answer.set_result(self._received(done.result(), job))
        except seats.SeatRefusedError as refusal:
            # in a thread: this is the client's own, which cannot wait for the scheduler
            threading.Thread(target=self._elsewhere, args=(refusal, job, answer), daemon=True).start()
        except Exception as error:
            _answer_with(error, answer)

    def _received(self, packed: bytes, job: worker.NotebookJob) -> Any:
        """The outcome that a worker sent, once its files are in place. Raises DeniedError where they cannot be."""
        if not self.copied:
            return seats.answer(packed)
        packed, written, removed = pickle.loads(packed)
        outcome = seats.answer(packed)
        try:
            for name, content in written.items():
                with store.atomic(self._inside(name)) as temporary:
                    temporary.write_bytes(content)
            for path in [*map(self._inside, removed), *([job.failed] if outcome.state == "done" else [])]:
                path.unlink(missing_ok=True)
        except OSError as error:
            if said := store.remedy(error):
                raise store.DeniedError(said) from error
            raise
        return outcome

    def _elsewhere(self, refusal: seats.SeatRefusedError, job: worker.NotebookJob, answer: Future) -> None:
        """Send a notebook that a worker refused to another, and no more to that one. If there is no other, an error."""
        if refusal.address not in self._refused:
            print(f"--executor: {refusal}: it is not used", file=sys.stderr, flush=True)
        self._refused.add(refusal.address)
        try:
            if self._refused.issuperset(self.client.nthreads()):
                raise ClusterError(str(refusal))
        except Exception as error:
            _answer_with(error, answer)
        else:
            self._send(job, answer)

    def _inside(self, name: str) -> Path:
        """The file of the output folder that a worker names. Raises ValueError for one elsewhere."""
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"a worker names a file outside the output folder: {name!r}")
        return self._out / name

    def _named(self, value: Any) -> Any:
        """Where workers have folders of their own: a path below ours, by the variable that names the folder there."""
        if not self.copied or not isinstance(value, Path):
            return None
        path = value.absolute()
        out, root = (
            path.relative_to(folder).parts if path.is_relative_to(folder) else None
            for folder in (self._out, params.ROOT)
        )
        sent = root is not None and any(Path(*root).is_relative_to(part) for part in _PROJECT)
        # the deeper folder; without --out both are the same
        if root is not None and (out is None or (sent and len(root) <= len(out))):
            return seats.ROOT, root
        return None if out is None else (seats.OUT, out)

    def _blob(self, path: Path) -> Any:
        """A file's content on the cluster, sent there once; all workers hold it, as one of them may be lost."""
        content = path.read_bytes()
        name = f"file-{hashlib.sha256(content).hexdigest()}"
        if name not in self._blobs:
            self._blobs |= self.client.scatter({name: content}, broadcast=True)
        return self._blobs[name]

    def _refuse_others(self, expected: dict[str, Any]) -> None:
        """Raise ClusterError where a worker has other versions: the manifest would name the wrong ones."""
        for address, why in self.client.run(seats.ByValue(seats.unfit), expected).items():
            if why:
                raise ClusterError(f"--executor: {seats.SeatRefusedError(address, why)}")

    def _shared(self) -> bool:
        """Whether every worker sees this project and the output folder, at these paths.

        If so the file by which they see it stays until the end, for workers that join later.
        """
        self._mark.parent.mkdir(parents=True, exist_ok=True)
        self._mark.touch()
        found = {}
        try:
            found = self.client.run(seats.ByValue(seats.sees), str(params.ROOT), str(self._mark))
        finally:
            own, _ = seats.sees(str(params.ROOT), "")
            shared = bool(found) and all(saw == (own, True) for saw in found.values())
            if not shared:
                self._mark.unlink()
        return shared

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End what still runs, wait until it has cleaned up, and let go of the cluster."""
        with suppress(OSError):
            self._mark.unlink(missing_ok=True)
        if self._made_home is not None:
            self._made_home.shutdown(wait=wait, cancel_futures=cancel_futures)
        if self.client.status == "closed":
            return
        try:
            self._executor.shutdown(wait=False)
            if self.copied:
                self.client.unregister_worker_plugin(f"compendium-{self.run}")
            self.client.run(seats.ByValue(seats.close), self.run, on_error="ignore")
        finally:
            self.client.close(timeout=5)
            if self.started is not None:
                self.started.close(timeout=10)


def _answer_with(error: Exception, answer: Future) -> None:
    """Answer with an error; with the outcome `denied` where a file cannot be written here."""
    from distributed.comm import CommClosedError

    if isinstance(error, store.DeniedError):
        answer.set_result(worker.Outcome("denied", message=str(error)))
    else:
        gone = isinstance(error, CancelledError | CommClosedError)
        answer.set_exception(ClusterError(_GONE) if gone else error)


def expectations() -> dict[str, Any]:
    """Versions that workers must have, as `seats.unfit` reads them: of Python and of all on which results depend."""
    python, here = seats.versions()
    return {"python": python, "packages": {name: here.get(name) for name in _needed()}}


def _needed() -> list[str]:
    """Distributions on which results depend; what the extra brings counts also where it is not installed here."""
    project = tomllib.loads((params.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"][_EXTRA]]
    return sorted({*(re.split(r"[<>=!~;\[ ]", name)[0].lower().replace("-", "_") for name in declared), *_BELOW})


def _project() -> bytes:
    """What notebooks need of the project, as a tar archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
        for part in _PROJECT:
            if (params.ROOT / part).exists():
                archive.add(params.ROOT / part, part, filter=_code)
        if project.INSTALLED:
            archive.add(project.PACKAGE, "src/judgebook", filter=_code)
    return stream.getvalue()


def _code(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """What is sent of a folder; an installed package carries the rest of the project, which is sent as it is here."""
    left_out = "__pycache__" in member.name or member.name == f"src/judgebook/{project.CARRIED.name}"
    return None if left_out else member


def _plugin(run: str, packed: bytes) -> Any:
    """Unpacks the project on every worker, those that join later included. Made here, it is sent by value."""
    from distributed import WorkerPlugin

    install = seats.ByValue(seats.install)

    class Project(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            install(run, packed, dask_worker=worker)

    return Project()


def _read(job: worker.NotebookJob) -> list[str]:
    """Files of the output folder that a notebook may read: frames, parameters and results of its study.

    A study without judgements of its own reads results of the others.
    """
    home = store.processed(job.parameters["study"])
    paths = [path for pattern in _READ for path in home.glob(pattern)]
    if not (home / "annotations.parquet").is_file():
        paths += [p for part in ("results/*.parquet", "params.yaml") for p in store.processed("").glob(f"[!.]*/{part}")]
    root = store.out_root()
    return sorted({p.relative_to(root).as_posix() for p in paths if p.is_file() and not p.name.startswith(".")})
