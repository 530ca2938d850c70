"""Tasks of one analysis as a notebook's run has them done: with help from a cluster, and notes on progress.

`$COMPENDIUM_EXECUTOR` is the address of a Dask scheduler whose workers help when an analysis takes more than a moment;
meanwhile tasks are computed here, too, and so are those that the cluster fails to return. `$COMPENDIUM_PROGRESS` names
a file that says how far the analysis is; the pipeline shows it.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from judgebook.execution import seats
from judgebook.statistics.parallel import run_tasks
from judgebook.study.labels import METHODS, Method

_EVERY = 1.0  # seconds between two notes on progress
_ALONE = 1.0  # seconds before the cluster is asked: connecting and sending take about as long
_AHEAD = 2  # tasks sent to each idle thread of the cluster at a time
_LOOK = 1.0  # seconds between two looks at which threads are idle
_LARGE = 50_000  # bytes of an argument of several tasks that is sent once


def run(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, doing: str) -> list[Any]:
    """`statistics.run_tasks` with the executor and the progress notes of this run.

    doing : what is computed, in a word or two: "permutation tests"
    """
    progress = _Progress(doing)
    if not (address := os.environ.get(seats.EXECUTOR)):
        return run_tasks(function, tasks, progress=progress)
    if METHODS.declared:
        function = partial(_with_methods, METHODS.declared, function)
    with Helped(address, doing) as helped:
        return run_tasks(function, tasks, executor=helped, progress=progress)


def _with_methods(declared: list[Method], function: Callable[..., Any], *arguments: Any) -> Any:
    """The task, in a process that has not read the YAML of the study."""
    METHODS.declare(declared)
    return function(*arguments)


class _Progress:
    """Notes, at most one a second, how many tasks are done and how long the others will take."""

    def __init__(self, doing: str):
        self.doing = doing
        self.started = self.noted = time.monotonic()

    def __call__(self, done: int, n: int) -> None:
        now = time.monotonic()
        if now - self.noted > _EVERY and done < n:
            self.noted = now
            _note(f"{self.doing} {done} of {n}", (now - self.started) / done * (n - done))


class Helped(Executor):
    """Computes tasks in order in the thread that waits for their results, and on a cluster meanwhile.

    address : of the scheduler; None has no help. doing : what is computed, for notes.
    """

    def __init__(self, address: str | None = None, doing: str = "tasks"):
        self.address, self.doing = address, doing
        self.tasks: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self.results: dict[int, Any] = {}
        self.failed: dict[int, Exception] = {}
        self.todo: deque[int] = deque()
        self.taking, self.over = threading.Lock(), threading.Event()
        self.help: threading.Thread | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        self.todo.append(len(self.tasks))
        self.tasks.append((fn, args))
        return _Awaited(self, len(self.tasks) - 1)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the help."""
        self.over.set()

    def result(self, index: int) -> Any:
        """That of a task. Raises what the first task that failed raised, first in the order of tasks."""
        if self.help is None and self.address and len(self.todo) > 1:
            self.help = threading.Thread(target=self._get_help, args=(self.address,), daemon=True)
            self.help.start()
        while index not in self.results:
            if (nearest := self.take()) is not None:
                self._compute(nearest)
                continue
            self.over.set()
            if self.help:
                self.help.join()  # it gives back what the cluster did not return
            if self.failed:
                raise self.failed[min(self.failed)]
        return self.results[index]

    def take(self) -> int | None:
        """The next task that nobody does; None where none is left or one has failed."""
        with self.taking:
            return self.todo.popleft() if self.todo and not self.failed else None

    def give_back(self, index: int) -> None:
        with self.taking:
            self.todo.append(index)

    def _compute(self, index: int) -> None:
        function, arguments = self.tasks[index]
        try:
            self.results[index] = function(*arguments)
        except Exception as error:
            self.failed[index] = error

    def _get_help(self, address: str) -> None:
        if self.over.wait(_ALONE) or not self.todo:
            return
        try:
            from judgebook.execution.scheduler import connected

            with connected(address) as send:
                _Helper(self, send).work_through()
        except Exception as error:  # a cluster that is gone only costs its help
            if os.environ.get("COMPENDIUM_DEBUG"):
                raise
            _note(f"{self.doing}: without the cluster ({type(error).__name__})", 0.0)


class _Awaited(Future):
    """The result of a task, for which who asks for it works."""

    def __init__(self, executor: Helped, index: int):
        super().__init__()
        self.executor, self.index = executor, index

    def result(self, timeout: float | None = None) -> Any:
        return self.executor.result(self.index)


class _Helper:
    """Sends tasks to the cluster, a bounded number at a time, and collects their results.

    send : a function of packed work and what it shares -> a future of the packed answer. Nothing is sent while
    `send.idle()` threads are none: where each has a notebook, tasks sent only take time from each other.
    `send.refused_by(error)` is told of workers that cannot be used.
    """

    def __init__(self, run: Helped, send: Any):
        self.run, self.send = run, send
        self.names: dict[int, str] = {}

    def _shared(self) -> dict[str, bytes]:
        """Large arguments of more than one task: packed, by the hash of their content."""
        of_tasks = [{id(a): a for a in arguments} for _, arguments in self.run.tasks]
        times = Counter(identity for arguments in of_tasks for identity in arguments)
        several = {i: a for arguments in of_tasks for i, a in arguments.items() if times[i] > 1}
        shared = {}
        for identity, argument in several.items():
            if argument is None or isinstance(argument, str | int | float | bool):
                continue
            packed = seats.pack(argument)
            if len(packed) > _LARGE:
                name = hashlib.sha256(packed).hexdigest()
                self.names[identity], shared[name] = name, packed
        return shared

    def work_through(self) -> None:
        while not (idle := self.send.idle()):
            if self.run.over.wait(_LOOK) or not self.run.todo:
                return
        shared, looked = self.send.share(self._shared()), time.monotonic()
        under_way: deque[tuple[int, Any]] = deque()
        try:
            while True:
                while len(under_way) < _AHEAD * idle and (index := self.run.take()) is not None:
                    under_way.append((index, None))
                    payload = seats.pack(self.run.tasks[index], lambda v: self.names.get(id(v)))
                    under_way[-1] = index, self.send(payload, shared)
                if under_way:
                    self._collect(*under_way[0])
                    under_way.popleft()
                elif idle or self.run.over.wait(_LOOK) or not self.run.todo:
                    return
                if time.monotonic() - looked > _LOOK:
                    idle, looked = self.send.idle(), time.monotonic()
        finally:
            for index, _ in under_way:
                self.run.give_back(index)

    def _collect(self, index: int, future: Any) -> None:
        packed = future.result()
        try:
            result = seats.answer(packed)
        except seats.SeatRefusedError as error:
            self.send.refused_by(error)
            self.run.give_back(index)
        except seats.SeatLostError:
            raise
        except Exception as error:
            self.run.failed[index] = error
        else:
            self.run.results[index] = result


def _note(text: str, left: float) -> None:
    """Say how far the analysis is and how many seconds this step has left, where somebody asked."""
    if path := os.environ.get(seats.PROGRESS):
        with suppress(OSError):  # a note that cannot be made is no reason to stop
            temporary = Path(f"{path}.tmp")
            temporary.write_text(f"{text}\n{left:.0f}", encoding="utf-8")
            temporary.replace(path)
