"""Notebooks in the workers of a Dask cluster.

A worker has one thread and a process of its own, with the project loaded in it. It may be somebody else's, too, so a
notebook leaves its environment as it was.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from judgebook.execution import tasks
from judgebook.extras.cluster import fit, helped
from judgebook.extras.cluster.fit import Expected
from judgebook.pipeline import worker
from judgebook.pipeline.surroundings import THREADS

#: what a notebook's kernel loads here beyond what its imports show; none of it computes results
_MODULES = (
    "errors",
    "extras",
    "extras.cluster",
    "extras.cluster.fit",
    "extras.cluster.helped",
    "pipeline",
    "pipeline.surroundings",
    "project",
)
#: what Dask's nannies set and kernels must not have: by this one memory is given back to the system after each large
#: array and asked for again with the next, which doubles the time of what works with arrays
FOREIGN = ("MALLOC_TRIM_THRESHOLD_",)
GRACE = 20.0  # seconds a notebook is given to clean up
_LOOK = 0.5  # seconds between two looks at whether a notebook is still wanted
#: states of a Dask task that somebody waits for
_WANTED = ("executing", "long-running")


def notebook(expected: Expected, variables: dict[str, str], job: worker.NotebookJob) -> worker.Outcome:
    """Execute a notebook; it ends when nobody waits for it any more.

    variables : of the environment. Raises WorkerUnfitError.
    """
    from distributed import get_worker

    dask_worker = get_worker()
    fit.check(expected, dask_worker)
    key, over = dask_worker.get_current_task(), threading.Event()
    watch = threading.Thread(target=_stop_unwanted, args=(dask_worker, key, over), daemon=True)
    variables = variables | {
        tasks.EXECUTOR: f"{helped.__name__}:{helped.helped.__name__}",
        helped.SCHEDULER: dask_worker.scheduler.address,
        helped.EXPECTED: json.dumps(asdict(expected)),
    }
    with _environment(variables):
        watch.start()
        try:
            allowed = (*job.allowed, *(f"judgebook.{name}" for name in _MODULES))
            return worker.notebook(replace(job, allowed=allowed))
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
    fit.unpacked.cache_clear()
    end = time.monotonic() + GRACE
    while time.monotonic() < end and worker.at_work():
        if any(task.state in _WANTED for task in dask_worker.state.tasks.values()):
            return  # somebody else's
        await asyncio.sleep(0.1)
