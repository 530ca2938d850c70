"""Running notebooks on a Dask cluster: `--executor local:4` or `--executor dask://host:8786`.

The scheduler and its workers are Dask's. Notebooks go to them through `client.get_executor()`; data are read, and pages
rendered, where the run was started. Workers see the project and the output folder at the same paths.
"""

from __future__ import annotations

import logging
import os
import re
import site
import sys
import tomllib
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import ExitStack
from typing import Any

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.extras.cluster import LOCAL, on_worker
from judgebook.pipeline import worker
from judgebook.pipeline.surroundings import THREADS, installed
from judgebook.study import store

#: how often a notebook is begun again elsewhere after its worker was lost
LIVES = 5
WAIT = 120  # seconds for a first worker: a batch system starts them when there is room
#: distributions on which results depend and that those in pyproject.toml bring with them
_BELOW = ("numpy", "pillow", "fonttools", "ipykernel", "ipython", "nbformat", "jinja2", "safetensors", "tokenizers")
#: extra without which notebooks compute less
_EXTRA = "metrics"


class ClusterError(JudgebookError, ValueError):
    """The cluster named cannot be used; the message says why."""


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
        if local := LOCAL.fullmatch(text):
            config.set({"distributed.nanny.pre-spawn-environ": dict.fromkeys(THREADS, "1")})
            started = distributed.LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                memory_limit=0,
                dashboard_address="127.0.0.1:0",  # any free port: two runs may be at work
                silence_logs=logging.CRITICAL,
            )
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
    """An executor that sends notebooks to the workers of a Dask cluster. places : how many it takes at a time.

    home : makes the executor for all else. started : the cluster, where this run has started it.
    """

    def __init__(self, client: Any, home: Callable[[], Executor], started: Any = None):
        self.client, self.started, self._home = client, started, home
        self._made_home: Executor | None = None
        try:
            client.wait_for_workers(1, timeout=WAIT)
        except TimeoutError:
            raise ClusterError(f"--executor: the cluster has no workers after {WAIT} s") from None
        out = store.out_root().absolute()
        store.sweep(out, deep=False)
        self._open = ExitStack()
        # a folder that workers must see; it stays to the end, for those that join later
        self.expected = expectations(str(self._open.enter_context(store.scratch(out))))
        self.variables = {"COMPENDIUM_OUT": str(out)}
        if raw := os.environ.get("COMPENDIUM_RAW"):
            self.variables["COMPENDIUM_RAW"] = os.path.abspath(raw)
        self._executor = client.get_executor(pure=False)
        self._looked_at: dict[str, str] = {}
        try:
            unfit = [f"{address} has {why}" for address, why in self._look().items() if why]
            if unfit:  # the manifest would name the wrong versions
                raise ClusterError("\n".join(f"--executor: the worker {one}; results might differ" for one in unfit))
        except BaseException:
            self._open.close()
            raise
        self.places = len(self._looked_at)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._send(args[0]) if fn is worker.notebook else self._at_home(fn, *args)

    def _at_home(self, fn: Callable[..., Any], *args: Any) -> Future[Any]:
        if self._made_home is None:
            self._made_home = self._home()
        try:
            return self._made_home.submit(fn, *args)
        except BrokenExecutor:  # one of its processes died; the cluster is none the worse for that
            self._made_home.shutdown(wait=False)
            self._made_home = self._home()
            return self._made_home.submit(fn, *args)

    def _send(self, job: worker.NotebookJob) -> Future[Any]:
        """Send a notebook to the workers that can be used; an error is its answer."""
        answer: Future[Any] = Future()
        try:
            workers = self._fit()
            options = {"workers": workers, "allow_other_workers": True}  # these may all be lost, and others come
            call = on_worker.sent(self.expected, self.variables, job)
            asked = self._executor.submit(*call, **options)
        except Exception as error:
            answer.set_exception(_explained(error))
        else:
            asked.add_done_callback(lambda done: _pass_on(done, answer))
        return answer

    def _fit(self) -> list[str]:
        """Addresses of the workers that can be used; new ones that cannot are reported. Raises ClusterError."""
        if self.client.status != "running":
            raise CancelledError
        for address, why in self._look().items():
            if why:
                print(f"--executor: the worker {address} has {why}: it is not used", file=sys.stderr, flush=True)
        workers = [a for a in self.client.nthreads() if self._looked_at.get(a) == ""]
        if not workers:
            raise ClusterError("the cluster has no worker that can be used")
        return workers

    def _look(self) -> dict[str, str]:
        """What is wrong with workers that nobody has looked at yet: address -> what they have instead."""
        new = [address for address in self.client.nthreads() if address not in self._looked_at]
        if not new:
            return {}
        if not project.INSTALLED:  # what they have installed comes first
            self.client.run(site.addsitedir, str(project.ROOT / "src"), workers=new, on_error="ignore")
        answers = self.client.run(on_worker.unfit, self.expected, workers=new, on_error="return")
        problems = {a: _no_project(why) if isinstance(why, Exception) else str(why) for a, why in answers.items()}
        self._looked_at |= problems
        return problems

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel what still runs, wait until it has cleaned up, and let go of the cluster."""
        self._open.close()
        if self._made_home is not None:
            self._made_home.shutdown(wait=wait, cancel_futures=cancel_futures)
        if self.client.status == "closed":
            return
        try:
            self._executor.shutdown(wait=False)
            self.client.run(on_worker.at_rest, on_error="ignore")
        finally:
            self.client.close(timeout=5)
            if self.started is not None:
                self.started.close(timeout=10)


def _no_project(error: Exception) -> str:
    """What a worker has instead of the project, where it could not answer."""
    return f"not the project at {project.ROOT}, or cannot load it ({type(error).__name__}: {error})"


def _pass_on(done: Future[Any], answer: Future[Any]) -> None:
    try:
        answer.set_result(done.result())
    except (Exception, CancelledError) as error:
        answer.set_exception(_explained(error))


def _explained(error: BaseException) -> BaseException:
    """An error of Dask as what it means for the run."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    if isinstance(error, CancelledError | CommClosedError):
        return ClusterError("the connection to the scheduler was lost")
    if isinstance(error, KilledWorker):
        return ClusterError(f"a worker died each time that the notebook ran: {error}")
    return error


def expectations(seen: str) -> on_worker.Expected:
    """What workers must have: Python, the project, and all distributions on which results depend, as they are here.

    seen : a folder in the output folder
    """
    packages = installed()
    needed = {name: packages.get(name) for name in _needed()}
    return on_worker.Expected(on_worker.PYTHON, needed, on_worker.loaded(), on_worker.notebooks(), seen)


def _needed() -> list[str]:
    """Distributions on which results depend; what the extra brings counts also where it is not installed here."""
    declared = tomllib.loads((project.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [*declared["dependencies"], *declared["optional-dependencies"][_EXTRA]]
    return sorted({*(re.split(r"[<>=!~;\[ ]", name)[0].lower().replace("-", "_") for name in names), *_BELOW})
