"""Independent pieces of one analysis, such as its labels or blocks of pairs: here one after the other, or on a cluster.

A piece receives everything it needs, its own random generator included, so its result is the same wherever it runs and
in whatever order. `$COMPENDIUM_EXECUTOR` is the address of a Dask scheduler whose workers help when an analysis takes
more than a moment; meanwhile pieces are computed here, too, and so are those that the cluster fails to return.
`$COMPENDIUM_PROGRESS` names a file that says how far the analysis is; the pipeline shows it.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from judgebook.statistics import seats

_EVERY = 1.0  # seconds between two notes on progress
_ALONE = 1.0  # seconds before the cluster is asked: connecting and sending take about as long
_AHEAD = 2  # pieces sent to each idle thread of the cluster at a time
_LOOK = 1.0  # seconds between two looks at which threads are idle
_LARGE = 50_000  # bytes of an argument of several pieces that is sent once


def run(work: Callable[..., Any], pieces: Iterable[tuple], *, doing: str) -> list[Any]:
    """`work(*piece)` for each piece, in order.

    Parameters
    ----------
    work : a function of a module, so that it can be sent to another process
    pieces : positional arguments, picklable and not changed by `work`; generators come from `rng.spawn`, one per piece
    doing : what is computed, in a word or two: "permutation tests"

    Raises
    ------
    Exception
        What the first piece that fails raises, first in the order of pieces.
    """
    return _Run(work, list(pieces), doing).results()


class _Run:
    """Pieces taken in order, by this process and by those that send them to the cluster."""

    def __init__(self, work: Callable[..., Any], pieces: list[tuple], doing: str):
        kept: dict[int, Any] = {}  # an argument of many pieces stays one object
        self.pieces = [tuple(kept.setdefault(id(a), _contiguous(a)) for a in piece) for piece in pieces]
        self.work, self.doing = work, doing
        self.out: list[Any] = [None] * len(pieces)
        self.todo, self.taking = deque(range(len(pieces))), threading.Lock()
        self.failed: dict[int, Exception] = {}
        self.started = self.told = time.monotonic()
        self.done = 0

    def results(self) -> list[Any]:
        address = os.environ.get(seats.EXECUTOR) if len(self.pieces) > 1 else None
        over = threading.Event()
        help_ = threading.Thread(target=self._get_help, args=(address, over), daemon=True) if address else None
        if help_:
            help_.start()
        try:
            self._here()
            if help_:
                over.set()
                help_.join()
                self._here()  # what the cluster did not return
        finally:
            over.set()
        if self.failed:
            raise self.failed[min(self.failed)]
        return self.out

    def take(self) -> int | None:
        """The next piece that nobody does; None where none is left or one has failed."""
        with self.taking:
            return self.todo.popleft() if self.todo and not self.failed else None

    def give_back(self, index: int) -> None:
        with self.taking:
            self.todo.append(index)

    def finish(self, index: int, result: Any) -> None:
        self.out[index] = _contiguous(result)
        with self.taking:
            self.done += 1
            now = time.monotonic()
            if due := now - self.told > _EVERY and self.done < len(self.pieces):
                self.told = now
        if due:
            left = (now - self.started) / self.done * (len(self.pieces) - self.done)
            _note(f"{self.doing} {self.done} of {len(self.pieces)}", left)

    def _here(self) -> None:
        while (index := self.take()) is not None:
            try:
                self.finish(index, self.work(*self.pieces[index]))
            except Exception as error:
                self.failed[index] = error

    def _get_help(self, address: str, over: threading.Event) -> None:
        if over.wait(_ALONE) or not self.todo:
            return
        try:
            from judgebook.statistics.scheduler import connected

            with connected(address) as send:
                _Helper(self, send, over).work_through()
        except Exception as error:  # a cluster that is gone only costs its help
            if os.environ.get("COMPENDIUM_DEBUG"):
                raise
            _note(f"{self.doing}: without the cluster ({type(error).__name__})", 0.0)


class _Helper:
    """Sends pieces to the cluster, a bounded number at a time, and collects their results.

    send : a function of packed work and what it shares -> a future of the packed answer. Nothing is sent while
    `send.idle()` threads are none: where each has a notebook, pieces sent only take time from each other.
    `send.refused_by(error)` is told of workers that cannot be used. over : set once nothing is left to do.
    """

    def __init__(self, run: _Run, send: Any, over: threading.Event):
        self.run, self.send, self.over = run, send, over
        self.names: dict[int, str] = {}

    def _shared(self) -> dict[str, bytes]:
        """Large arguments of more than one piece: packed, by the hash of their content."""
        times = Counter(id(argument) for piece in self.run.pieces for argument in {id(a): a for a in piece}.values())
        looked = {id(a): a for piece in self.run.pieces for a in piece if times[id(a)] > 1}
        found = {}
        for identity, argument in looked.items():
            if argument is None or isinstance(argument, str | int | float | bool):
                continue
            packed = seats.pack(argument)
            if len(packed) > _LARGE:
                name = hashlib.sha256(packed).hexdigest()
                self.names[identity], found[name] = name, packed
        return found

    def work_through(self) -> None:
        while not (idle := self.send.idle()):
            if self.over.wait(_LOOK) or not self.run.todo:
                return
        shared, looked = self.send.share(self._shared()), time.monotonic()
        under_way: deque[tuple[int, Any]] = deque()
        try:
            while True:
                while len(under_way) < _AHEAD * idle and (index := self.run.take()) is not None:
                    under_way.append((index, None))
                    payload = seats.pack((self.run.work, self.run.pieces[index]), lambda v: self.names.get(id(v)))
                    under_way[-1] = index, self.send(payload, shared)
                if under_way:
                    self._collect(*under_way[0])
                    under_way.popleft()
                elif idle or self.over.wait(_LOOK) or not self.run.todo:
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
        except seats.Refused as error:
            self.send.refused_by(error)
            self.run.give_back(index)
        except seats.SeatLost:
            raise
        except Exception as error:
            self.run.failed[index] = error
        else:
            self.run.finish(index, result)


def _contiguous(value: Any) -> Any:
    """Arrays as they are after being sent: functions may round otherwise for an array with gaps."""
    if isinstance(value, np.ndarray) and not (value.flags.c_contiguous or value.flags.f_contiguous):
        return value.copy(order="C")
    return tuple(map(_contiguous, value)) if type(value) is tuple else value


def _note(text: str, left: float) -> None:
    """Say how far the analysis is and how many seconds this step has left, where somebody asked."""
    if path := os.environ.get(seats.PROGRESS):
        with suppress(OSError):  # a note that cannot be made is no reason to stop
            temporary = Path(f"{path}.tmp")
            temporary.write_text(f"{text}\n{left:.0f}", encoding="utf-8")
            temporary.replace(path)
