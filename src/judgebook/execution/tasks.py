"""Tasks of one analysis in a notebook's run, with notes on progress.

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
    """`statistics.run_tasks` with the progress notes of this run.

    doing : what is computed, in a word or two: "permutation tests"
    """
    from judgebook.statistics.parallel import run_tasks  # imports NumPy, which a run without work does not need

    return run_tasks(function, tasks, progress=_Progress(doing))


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
