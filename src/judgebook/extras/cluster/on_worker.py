"""Notebooks in the workers of a Dask cluster, and whether a worker may run them: it must be like the machine where the
run was started.

A worker has one thread and a process of its own, with the project loaded in it. It may be somebody else's, too, so a
notebook leaves its environment as it was.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.pipeline import worker
from judgebook.pipeline.surroundings import THREADS, installed

#: what Dask's nannies set and kernels must not have: by this one memory is given back to the system after each large
#: array and asked for again with the next, which doubles the time of what works with arrays
FOREIGN = ("MALLOC_TRIM_THRESHOLD_",)
GRACE = 20.0  # seconds a notebook is given to clean up
_LOOK = 0.5  # seconds between two looks at whether a notebook is still wanted
#: states of a Dask task that somebody waits for
_WANTED = ("executing", "long-running")
#: variables that bound the threads of BLAS, as Dask's nannies set them: with more the last digits of matrix products
#: vary
BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PYTHON = ".".join(map(str, sys.version_info[:2]))


class WorkerUnfitError(JudgebookError, RuntimeError):
    """A worker cannot be used, as it is not like the machine where the run was started; the message says how."""


@dataclass(frozen=True)
class Expected:
    """What a worker must have. python : its version. packages : version by distribution, None for one that must not be
    there. project : `loaded()`. notebooks : `notebooks()`. seen : a file in the output folder."""

    python: str
    packages: dict[str, str | None]
    project: str
    notebooks: str
    seen: str


@cache
def loaded() -> str:
    """Digest of the project's code at the first call in this process, which has loaded it: files may change later."""
    return _digest(*project.packages().values())


def notebooks() -> str:
    """Digest of the notebooks and what they import, which each kernel reads anew."""
    return _digest(project.ROOT / "notebooks", project.ROOT / "src" / "helpers")


def _digest(*folders: Path) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def unfit(expected: Expected, dask_worker: Any = None) -> str:
    """What this worker has instead of what is expected, in words; empty where all is as expected.

    dask_worker : as `client.run` gives it.
    """
    packages = installed()
    pairs = [("Python", PYTHON, expected.python)]
    pairs += [(name, packages.get(name, "missing"), version or "none") for name, version in expected.packages.items()]
    other = [
        f"{name} {has} (expected {wanted})"
        for name, has, wanted in pairs
        if has != wanted and (has, wanted) != ("missing", "none")
    ]
    if expected.project != loaded():
        other.append(f"loaded another version of the project from {project.PACKAGE} (restart it if that was changed)")
    if expected.notebooks != notebooks():
        other.append(f"other notebooks in {project.ROOT}")
    if not os.path.exists(expected.seen):
        other.append(f"not the output folder {os.path.dirname(expected.seen)}")
    if dask_worker is not None and dask_worker.state.nthreads != 1:
        other.append(f"{dask_worker.state.nthreads} threads (expected 1, by --nthreads 1)")
    if any(os.environ.get(name) != "1" for name in BLAS):
        other.append(f"several threads for BLAS (expected {', '.join(f'{name}=1' for name in BLAS)}, as nannies set)")
    return ", ".join(other)


def sent(*arguments: Any) -> tuple[Callable[[bytes], Any], bytes]:
    """A call of `notebook` as it is submitted: Dask's scheduler reads the first part, and need not have the project."""
    packed = pickle.dumps(partial(notebook, *arguments), protocol=5)
    # a function without a name is sent as it is, and not by the name of its module
    return (lambda packed: __import__("pickle").loads(packed)()), packed


def notebook(expected: Expected, variables: dict[str, str], job: worker.NotebookJob) -> worker.Outcome:
    """Execute a notebook; it ends when nobody waits for it any more.

    variables : of the environment. Raises WorkerUnfitError.
    """
    from distributed import get_worker

    dask_worker = get_worker()
    if why := unfit(expected, dask_worker):  # it may have joined just now
        raise WorkerUnfitError(f"the worker {dask_worker.address} has {why}; results might differ")
    key, over = dask_worker.get_current_task(), threading.Event()
    watch = threading.Thread(target=_stop_unwanted, args=(dask_worker, key, over), daemon=True)
    with _environment(variables):
        watch.start()
        try:
            return worker.notebook(job)
        except SystemExit:
            return worker.Outcome("failed", message="it was stopped")
        finally:
            over.set()
            watch.join()
            worker.resume()


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """That of this process with other variables, and as it was afterwards."""
    before = dict(os.environ)
    os.environ.update(dict.fromkeys(THREADS, "1") | variables)
    for name in FOREIGN:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _stop_unwanted(dask_worker: Any, key: str, over: threading.Event) -> None:
    """Stop the notebook whose task was cancelled, or whose run is gone: Dask itself does not stop what has begun."""
    while not over.wait(_LOOK):
        task = dask_worker.state.tasks.get(key)
        if task is None or task.state not in _WANTED:
            worker.stop()


async def at_rest(dask_worker: Any) -> None:
    """Return when no cancelled notebook is at work in this worker, or after `GRACE` seconds."""
    end = time.monotonic() + GRACE
    while time.monotonic() < end and worker.at_work():
        if any(task.state in _WANTED for task in dask_worker.state.tasks.values()):
            return  # somebody else's
        await asyncio.sleep(0.1)
