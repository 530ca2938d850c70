"""Independent tasks of one analysis, such as its labels or blocks of pairs, with notes on progress.

A task receives everything it needs, its own random generator included. Functions may round otherwise for an array with
gaps than for one without, so gaps are closed first, and results do not depend on how arguments were cut.

`$COMPENDIUM_PROGRESS` names a file that says how far the analysis is; the pipeline shows it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

#: the file in which an analysis says how far it is
PROGRESS = "COMPENDIUM_PROGRESS"
_EVERY = 1.0  # seconds between two notes on progress


def run(function: Callable[..., T], tasks: Iterable[tuple[Any, ...]], *, doing: str) -> list[T]:
    """`function(*task)` for each task, in order.

    tasks : positional arguments, not changed by `function`; random generators come from `rng.spawn`, one per task.
    doing : what is computed, in a word or two: "permutation tests"
    """
    same: dict[int, Any] = {}  # an argument of many tasks stays one object
    listed = list(tasks)  # holds every argument, so that no two have the same id
    todo = [tuple(same.setdefault(id(a), _contiguous(a)) for a in task) for task in listed]
    progress, results = _Progress(doing), []
    for task in todo:
        results.append(_contiguous(function(*task)))
        progress(len(results), len(todo))
    return results


def _contiguous(value: Any) -> Any:
    import numpy as np  # which a run without work does not need

    if isinstance(value, np.ndarray) and not (value.flags.c_contiguous or value.flags.f_contiguous):
        return value.copy(order="C")
    return tuple(map(_contiguous, value)) if type(value) is tuple else value


class _Progress:
    """Notes, at most one a second, how many tasks are done and how long the others will take."""

    def __init__(self, doing: str):
        self.doing = doing
        self.started = self.noted = time.monotonic()

    def __call__(self, done: int, n: int) -> None:
        now = time.monotonic()
        if now - self.noted > _EVERY and done < n:
            self.noted = now
            note(f"{self.doing} {done} of {n}", (now - self.started) / done * (n - done))


def note(text: str, left: float = 0.0) -> None:
    """Say how far the analysis is and how many seconds this step has left, where somebody asked."""
    if path := os.environ.get(PROGRESS):
        with suppress(OSError):  # a note that cannot be made is no reason to stop
            temporary = Path(f"{path}.tmp")
            temporary.write_text(f"{text}\n{left:.0f}", encoding="utf-8")
            temporary.replace(path)
