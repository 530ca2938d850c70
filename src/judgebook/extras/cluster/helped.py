"""Tasks of an analysis in a notebook that runs on a cluster: computed there, and by free workers meanwhile."""

from __future__ import annotations

import json
import logging
import os
import pickle
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import ExitStack, suppress
from typing import Any

from judgebook.execution import tasks
from judgebook.extras.cluster import fit

#: address of the scheduler, and what its workers must have (`fit.Expected`), as JSON
SCHEDULER, EXPECTED = "COMPENDIUM_SCHEDULER", "COMPENDIUM_EXPECTED"
ALONE = 1.0  # seconds before the cluster is asked: connecting and sending take about as long
_LARGE = 50_000  # bytes of an argument of several tasks that is sent once
_SMALL = (str, int, float, bool, type(None))


def helped() -> Helped:
    """The executor of a kernel, with the cluster that its environment names."""
    return Helped(os.environ[SCHEDULER], fit.Expected(**json.loads(os.environ[EXPECTED])))


class Helped(Executor):
    """Computes tasks, in order, where their results are awaited, and on a cluster meanwhile, the last ones first.

    What fails there is computed here as well: what the task itself raises is raised here, and a cluster that is gone
    costs only its help.
    """

    def __init__(self, address: str, expected: fit.Expected):
        self.address, self.expected = address, expected
        self.tasks: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self.sent: dict[int, Future[Any]] = {}
        self._began, self._asked, self._connected = time.monotonic(), False, ExitStack()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks.append((fn, args))
        return _Awaited(self, len(self.tasks) - 1)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the help."""
        with suppress(OSError, TimeoutError):  # the scheduler may be gone
            self._connected.close()

    def result(self, index: int) -> Any:
        """That of a task. Raises what the task raises."""
        if not self._asked and time.monotonic() - self._began >= ALONE and len(self.tasks) - index > 1:
            self._asked = True
            try:
                self._send(index + 1)
            except Exception as error:
                tasks.note(f"without the cluster ({type(error).__name__})")
        future = self.sent.pop(index, None)
        if future is not None:
            if future.done() and not future.cancelled() and future.exception() is None:
                return pickle.loads(future.result())
            future.cancel()
        function, arguments = self.tasks[index]
        return function(*arguments)

    def _send(self, first: int) -> None:
        """Send the tasks from `first` on to workers that can be used, the last of them first."""
        from distributed import Client

        # what it has to say would land in the cell that is running
        for name in [n for n in logging.root.manager.loggerDict if n.partition(".")[0] in ("distributed", "tornado")]:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        warnings.filterwarnings("ignore", module=r"distributed|dask|tornado")
        client = self._connected.enter_context(Client(self.address, timeout=20, set_as_default=False))
        looked_at = client.run(fit.unfit, self.expected, on_error="ignore")
        workers = [address for address, why in looked_at.items() if why == ""]
        if not workers:
            return
        shared = self._shared(first)
        # on every worker: one of them may be lost
        scattered = {key: client.scatter(value, broadcast=True, hash=False) for key, value in shared.items()}
        executor = client.get_executor(pure=False, workers=workers, allow_other_workers=True)
        for index in range(len(self.tasks) - 1, first - 1, -1):
            function, arguments = self.tasks[index]
            places = {place: scattered[id(one)] for place, one in enumerate(arguments) if id(one) in scattered}
            others = [None if place in places else one for place, one in enumerate(arguments)]
            packed = pickle.dumps((function, others), protocol=5)
            self.sent[index] = executor.submit(*fit.sent(fit.task, self.expected, packed), places, priority=10)

    def _shared(self, first: int) -> dict[int, bytes]:
        """Large arguments of more than one task: identity -> what is sent."""
        times = Counter(key for _, arguments in self.tasks[first:] for key in {id(one) for one in arguments})
        several = {id(one): one for _, arguments in self.tasks[first:] for one in arguments if times[id(one)] > 1}
        packed = {key: pickle.dumps(one, protocol=5) for key, one in several.items() if not isinstance(one, _SMALL)}
        return {key: value for key, value in packed.items() if len(value) > _LARGE}


class _Awaited(Future[Any]):
    """The result of a task, for which who asks for it works."""

    def __init__(self, executor: Helped, index: int):
        super().__init__()
        self.executor, self.index = executor, index

    def result(self, timeout: float | None = None) -> Any:
        return self.executor.result(self.index)
