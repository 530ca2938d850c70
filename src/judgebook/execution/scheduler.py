"""A connection of an analysis to the Dask cluster that runs it (extra `cluster`)."""

from __future__ import annotations

import json
import logging
import os
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from judgebook.execution import seats
from judgebook.study import params

#: how the keys of notebooks begin, among the tasks of the cluster
NOTEBOOK = "notebook-"
#: set where workers have a copy of the project instead of the folder itself
COPIED = "COMPENDIUM_COPIED"


class _Send:
    """Sends packed work to workers that have room for it, but not to those that refused some."""

    def __init__(self, client: Any):
        self.client, self.function = client, seats.ByValue(seats.call)
        root = None if os.environ.get(COPIED) else str(params.ROOT)
        expected = json.loads(os.environ.get(seats.EXPECTED, "{}"))
        self.place = seats.setting(os.environ.get(seats.RUN, "none"), root, {}, expected=expected)
        self.refused: set[str] = set()
        self.free: dict[str, int] = {}

    def idle(self) -> int:
        """Threads of the cluster that run no notebook."""
        self.free = free(self.client, self.refused)
        return sum(self.free.values())

    def share(self, packed: dict[str, bytes]) -> dict[str, Any]:
        """Put what several pieces need on every worker, once: one of them may be lost."""
        return {name: self.client.scatter(value, broadcast=True) for name, value in packed.items()}

    def refused_by(self, error: seats.SeatRefusedError) -> None:
        """Send no more to this worker. Raises `error` where no other is left."""
        self.refused.add(error.address)
        if self.refused.issuperset(self.client.nthreads()):
            raise error

    def __call__(self, payload: bytes, shared: dict[str, Any]) -> Any:
        key = f"piece-{uuid.uuid4().hex}"
        where = preferring([a for a in self.free if a not in self.refused]) or elsewhere(self.client, self.refused)
        return self.client.submit(self.function, self.place, payload, shared, key=key, priority=10, **where)


def free(client: Any, refused: set[str]) -> dict[str, int]:
    """Workers with threads that run no notebook, and how many: a notebook keeps its thread busy with pieces, too."""
    notebooks = {a: sum(str(k).startswith(NOTEBOOK) for k in keys) for a, keys in client.processing().items()}
    threads = {a: n - notebooks.get(a, 0) for a, n in client.nthreads().items() if a not in refused}
    return {address: n for address, n in threads.items() if n > 0}


def for_notebook(client: Any, refused: set[str]) -> dict[str, Any]:
    """Options of a notebook's task. To the scheduler a worker looks free whose notebook mostly waits for pieces."""
    return preferring([*free(client, refused)]) or elsewhere(client, refused)


def elsewhere(client: Any, refused: set[str]) -> dict[str, Any]:
    """Options of a task that keep it from workers; should all others be lost, one of these may refuse it again."""
    return preferring([address for address in client.nthreads() if address not in refused] if refused else [])


def preferring(workers: list[str]) -> dict[str, Any]:
    """Options of a task for these workers, and for others only where none of them is left; none for no workers."""
    return {"workers": workers, "allow_other_workers": True} if workers else {}


@contextmanager
def connected(address: str) -> Iterator[_Send]:
    """Yields what sends work to the scheduler at `address`."""
    from distributed import Client

    # what it has to say would land in the cell that is running
    for name in [n for n in logging.root.manager.loggerDict if n.partition(".")[0] in ("distributed", "tornado")]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module=r"distributed|dask|tornado")
    with Client(address, timeout=20, set_as_default=False) as client:
        yield _Send(client)
