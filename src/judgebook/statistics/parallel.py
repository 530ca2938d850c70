"""Independent tasks of one analysis, such as its labels or blocks of pairs: one after the other, or by an executor.

A task receives everything it needs, its own random generator included, so its result is the same wherever it runs and
in whatever order. Nothing here starts a process or writes a file: callers bring what does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def run_tasks(
    function: Callable[..., T],
    tasks: Iterable[tuple[Any, ...]],
    *,
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> list[T]:
    """`function(*task)` for each task, in order.

    Parameters
    ----------
    function : of a module, if the executor has other processes
    tasks : positional arguments, not changed by `function`; random generators come from `rng.spawn`, one per task
    executor : any of `concurrent.futures`, or Dask's `client.get_executor()`; None computes in this process
    progress : called after each task with the number of tasks done and that of all

    Raises
    ------
    Exception
        What the first task that fails raises, first in the order of tasks.

    Examples
    --------
    >>> run_tasks(pow, [(2, 3), (3, 2)], progress=lambda done, n: print(f"{done} of {n}"))
    1 of 2
    2 of 2
    [8, 9]
    """
    listed = list(tasks)
    same: dict[int, Any] = {}  # an argument of many tasks stays one object
    todo = [tuple(same.setdefault(id(a), _contiguous(a)) for a in task) for task in listed]
    futures = [executor.submit(function, *task) for task in todo] if executor else []
    results: list[T] = []
    try:
        for result in (future.result() for future in futures) if executor else (function(*task) for task in todo):
            results.append(_contiguous(result))
            if progress:
                progress(len(results), len(todo))
    finally:
        for future in futures:
            future.cancel()  # where one has failed, no other is begun
    return results


def _contiguous(value: Any) -> Any:
    """Arrays as they are after being sent: functions may round otherwise for an array with gaps."""
    if isinstance(value, np.ndarray) and not (value.flags.c_contiguous or value.flags.f_contiguous):
        return value.copy(order="C")
    return tuple(map(_contiguous, value)) if type(value) is tuple else value
