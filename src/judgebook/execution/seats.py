"""Processes of our own alongside each worker of a Dask cluster, in which the work is done.

A Dask worker is somebody else's process: its threads share a working directory, an environment and modules, it cannot
stop a call that has begun, and it may outlive a version of the project. So a task hands its call to a *seat*: a Python
started for the run, with the project's `src/` and one BLAS thread, which ends with the worker, with the run, or after a
minute without work. `call` runs in the Dask worker and is sent there by value: workers need not have the project on
their path. It uses the standard library and `distributed` only.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from judgebook.errors import JudgebookError

#: folder below which everything is written, and that of the project
OUT, ROOT = "COMPENDIUM_OUT", "COMPENDIUM_ROOT"
#: address of the scheduler, and the run that seats belong to
EXECUTOR, RUN = "COMPENDIUM_EXECUTOR", "COMPENDIUM_RUN"
#: what a worker must have (`unfit`), as JSON
EXPECTED = "COMPENDIUM_EXPECTED"
#: file in which an analysis says how far it is
PROGRESS = "COMPENDIUM_PROGRESS"
IDLE = 60.0  # seconds without work after which a seat ends
GRACE = 20.0  # seconds a seat is given to clean up
_LOOK = 0.5  # seconds between two looks at whether a task is still wanted
#: what Dask sets for its workers and seats must not have: by this one memory is given back to the system after each
#: large array and asked for again with the next, which doubles the time of what works with arrays
FOREIGN = ("MALLOC_TRIM_THRESHOLD_",)
#: what has one thread: with more the last digits of matrix products vary
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def setting(
    run: str,
    root: str | None,
    variables: dict[str, str],
    *,
    lead: bool = False,
    expected: Mapping[str, Any] | None = None,
) -> SimpleNamespace:
    """Where and how a seat works, in a form that a worker without the project can read.

    run : token of the run. root : folder of the project as the worker sees it; None where the worker has a copy of its
    own (`site`). variables : of the environment. lead : whether the work is a node, which may ask the cluster for help.
    expected : what the worker must have (see `unfit`), as it may have joined after the others were checked.
    """
    return SimpleNamespace(run=run, root=root, variables=variables, lead=lead, expected=dict(expected or {}))


class SeatLostError(JudgebookError, RuntimeError):
    """The process that did the work ended before it answered."""


class SeatRefusedError(JudgebookError, RuntimeError):
    """A worker cannot be used: it joined later and is not like the others. address : of the worker."""

    def __init__(self, address: str, why: str):
        super().__init__(f"the worker {address} has {why}; results might differ")
        self.address = address


# --- what is sent


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, name: Callable[[Any], Any]):
        super().__init__(stream, protocol=5)
        self.persistent_id = name  # type: ignore[method-assign]  # as a method it would cost a call for each object


def pack(value: Any, name: Callable[[Any], Any] = lambda value: None) -> bytes:
    """`value` as bytes; objects for which `name` gives a name are replaced by it."""
    stream = io.BytesIO()
    _Pickler(stream, name).dump(value)
    return stream.getvalue()


# --- in the Dask worker


def site(worker: Any, run: str) -> str:
    """Folder of a worker for a run whose files it does not share."""
    return os.path.join(worker.local_directory, f"compendium-{run}")


def call(
    place: Any, payload: bytes, shared: Mapping[str, bytes] | None = None, variables: Mapping[str, str] | None = None
) -> bytes:
    """Have a seat of this worker do `payload`, a packed function with its arguments; returns the packed answer.

    shared : packed objects that the payload names. A seat keeps those of its last call. variables : of the environment,
    for this call.
    """
    from distributed import get_worker, secede

    worker = get_worker()
    key = worker.get_current_task()
    looked = worker.__dict__.setdefault("compendium_unfit", {})
    if place.run not in looked:  # once: what is edited during a run is nobody's fault
        looked[place.run] = unfit(place.expected)
    if looked[place.run]:
        return pickle.dumps(("refused", (worker.address, looked[place.run]), ""))
    if place.lead:
        secede()  # it mostly waits: the place is left to the pieces it asks for
    seats = worker.__dict__.setdefault("compendium_seats", {}).setdefault((place.run, place.lead), [])
    closed = worker.__dict__.setdefault("compendium_closed", set())
    while place.run not in closed:
        try:
            seat, used = seats.pop(), True
        except IndexError:
            root = place.root or os.path.join(site(worker, place.run), "project")
            seat, used = _start(place, root), False
        busy = worker.__dict__.setdefault("compendium_busy", {}).setdefault(place.run, set())
        busy.add(seat)
        try:
            answer = _ask(seat, payload, shared or {}, lambda: _wanted(worker, key), variables or {})
        finally:
            busy.discard(seat)
        if answer is not None:
            seats.append(seat)
            return answer
        if not used or not _wanted(worker, key):  # one that waited may have ended meanwhile; a new one takes its place
            return pickle.dumps(("lost", f"its process ended with code {seat.wait()}", ""))
    return pickle.dumps(("lost", "the run was ended", ""))


def _wanted(worker: Any, key: str) -> bool:
    task = worker.state.tasks.get(key)
    return task is not None and task.state in ("executing", "long-running")


def _start(place: Any, root: str) -> Any:
    import subprocess

    environment = {**os.environ, **place.variables, RUN: place.run, **dict.fromkeys(THREADS, "1")}
    environment |= {"PYTHONPATH": os.path.join(root, "src"), "PYTHONHASHSEED": "0", ROOT: root}
    for name in (EXECUTOR, *FOREIGN):
        environment.pop(name, None)
    if place.lead:
        from distributed import get_worker

        environment[EXECUTOR] = get_worker().scheduler.address
        environment[EXPECTED] = json.dumps(place.expected)
    command = [sys.executable, "-m", "judgebook.execution.seats"]
    seat = subprocess.Popen(command, env=environment, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    seat.known = set()  # type: ignore[attr-defined]
    return seat


def _ask(
    seat: Any,
    payload: bytes,
    shared: Mapping[str, bytes],
    wanted: Callable[[], bool],
    variables: Mapping[str, str] | None = None,
) -> bytes | None:
    """The seat's answer; None where it ended without one."""
    box: list[bytes] = []

    def talk() -> None:
        try:
            sent = {k: None if k in seat.known else v for k, v in shared.items()}
            pickle.dump((payload, sent, dict(variables or {})), seat.stdin)
            seat.stdin.flush()
            box.append(pickle.load(seat.stdout))
        except (OSError, EOFError, pickle.UnpicklingError):
            pass

    talker = threading.Thread(target=talk, daemon=True)
    talker.start()
    while talker.is_alive():
        talker.join(_LOOK)
        if talker.is_alive() and not wanted():
            _end(seat)
            break
    seat.known = set(shared)
    if not box:
        _end(seat)
    return box[0] if box else None


def _end(seat: Any) -> None:
    import subprocess

    seat.terminate()
    try:
        seat.wait(GRACE)
    except subprocess.TimeoutExpired:
        seat.kill()
        seat.wait()


def call_apart(place: Any, payload: bytes, files: Mapping[str, bytes]) -> bytes:
    """`call` on a worker that does not see the output folder: it gets one of its own, with `files`, for this call.

    files : path in the output folder -> content. Returns the packed answer with the files that were written, by their
    paths, and the paths of those that were removed.
    """
    import shutil
    import uuid

    from distributed import get_worker

    worker = get_worker()
    out = os.path.join(site(worker, place.run), f"out-{uuid.uuid4().hex}")
    try:
        for name, content in files.items():
            os.makedirs(os.path.dirname(os.path.join(out, name)), exist_ok=True)
            with open(os.path.join(out, name), "wb") as stream:
                stream.write(content)
        before = _written(out)
        answer = call(place, payload, None, {OUT: out})
        after = _written(out)
        changed = {}
        for name in [n for n, stamp in after.items() if before.get(n) != stamp]:
            with open(os.path.join(out, name), "rb") as stream:
                changed[name] = stream.read()
        return pickle.dumps((answer, changed, sorted(set(before) - set(after))))
    finally:
        shutil.rmtree(out, ignore_errors=True)


def _written(folder: str) -> dict[str, tuple[int, int]]:
    """Files below a folder, with what changes when they are written again; hidden ones are nobody's results."""
    found = {}
    for top, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in [n for n in names if not n.startswith(".")]:
            path = os.path.join(top, name)
            stat = os.stat(path)
            found[os.path.relpath(path, folder).replace(os.sep, "/")] = (stat.st_ino, stat.st_mtime_ns)
    return found


def sees(root: str, mark: str) -> tuple[str, bool]:
    """Digest of the project found at `root`, empty where there is none, and whether the file `mark` is seen."""
    import hashlib

    digest, found = hashlib.sha256(), False
    for part in ("src", "notebooks"):
        for top, folders, names in os.walk(os.path.join(root, part)):
            folders.sort()
            for name in sorted(n for n in names if not n.startswith(".") and not n.endswith(".pyc")):
                found = True
                digest.update(os.path.relpath(os.path.join(top, name), root).replace(os.sep, "/").encode())
                with open(os.path.join(top, name), "rb") as stream:
                    digest.update(stream.read())
    return digest.hexdigest() if found else "", os.path.exists(mark)


def versions() -> tuple[str, dict[str, str]]:
    """Version of this Python, and of the distributions installed in it, by their folders: reading metadata is slow."""
    import sysconfig

    found = {}
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in os.listdir(folder):
            if entry.endswith(".dist-info"):
                name, _, version = entry.removesuffix(".dist-info").partition("-")
                found[name.lower()] = version
    return ".".join(map(str, sys.version_info[:2])), found


def unfit(expected: Mapping[str, Any]) -> str:
    """What a worker has instead of what is expected, in words; empty where all is as expected, or nothing is.

    expected : `python`, its version; `packages`, version by distribution, None for one that must not be there; where
    folders are shared `root`, that of the project, `project`, its digest (see `sees`), and `mark`, a file it must see.
    """
    if not expected:
        return ""
    python, there = versions()
    pairs: list[tuple[str, str | None, Any]] = [("Python", python, expected["python"])]
    pairs += [(name, there.get(name), own) for name, own in expected["packages"].items()]
    other = [f"{name} {has or 'missing'} (expected {own or 'none'})" for name, has, own in pairs if has != own]
    if "root" in expected:
        project, seen = sees(expected["root"], expected["mark"])
        if project != expected["project"]:
            other.append(f"{'another version of' if project else 'not'} the project at {expected['root']}")
        if not seen:
            other.append(f"not the output folder {os.path.dirname(expected['mark'])}")
    return ", ".join(other)


def install(run: str, packed: bytes, dask_worker: Any = None) -> None:
    """Unpack the project, a tar archive, below this worker's own folder."""
    import tarfile

    target = os.path.join(site(dask_worker, run), "project")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(target, filter="data")


def close(run: str, dask_worker: Any = None) -> None:
    """End the seats of a run in this worker, those at work included, and remove its folder."""
    import shutil

    dask_worker.__dict__.setdefault("compendium_closed", set()).add(run)
    every = list(dask_worker.__dict__.get("compendium_busy", {}).pop(run, ()))
    for lead in (True, False):
        every += dask_worker.__dict__.get("compendium_seats", {}).pop((run, lead), [])
    for seat in every:
        seat.terminate()
    for seat in every:
        _end(seat)
    dask_worker.__dict__.get("compendium_unfit", {}).pop(run, None)
    shutil.rmtree(site(dask_worker, run), ignore_errors=True)


# --- in the process that asks


class ByValue:
    """A function of this module as it is sent to a worker in which the project is not installed."""

    def __init__(self, function: Callable[..., Any]):
        import cloudpickle

        module = sys.modules[function.__module__]
        cloudpickle.register_pickle_by_value(module)
        try:
            self.packed, self.name = cloudpickle.dumps(function), function.__name__
        finally:
            cloudpickle.unregister_pickle_by_value(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("only a worker calls it")

    def __reduce__(self) -> tuple:
        import cloudpickle

        return cloudpickle.loads, (self.packed,)


def answer(packed: bytes) -> Any:
    """What the work returned.

    Raises what it raised; SeatLostError where its process ended, SeatRefusedError where none was begun.
    """
    state, value, trace = pickle.loads(packed)
    if state == "done":
        return value
    if state == "refused":
        raise SeatRefusedError(*value)
    if state == "lost":
        raise SeatLostError(value)
    value.add_note(f"in a worker:\n{trace}")
    raise value


# --- in the seat


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, find: Callable[[Any], Any]):
        super().__init__(stream)
        self.persistent_load = find  # type: ignore[method-assign]  # as above


class _Work:
    """The objects of the last call, unpacked once."""

    def __init__(self) -> None:
        self.packed: dict[str, bytes] = {}
        self.objects: dict[str, Any] = {}

    def do(self, payload: bytes, shared: dict[str, bytes | None], variables: dict[str, str]) -> bytes:
        os.environ.update(variables)
        kept = {name: self.packed[name] if value is None else value for name, value in shared.items()}
        self.objects = {name: value for name, value in self.objects.items() if name in kept}
        self.packed = kept
        try:
            work, args = _Unpickler(io.BytesIO(payload), self._find).load()
            return pack(("done", work(*args), ""))
        except Exception as error:
            return _failed(error)

    def _find(self, name: Any) -> Any:
        if isinstance(name, tuple):  # a path below a folder that is elsewhere here
            return Path(os.environ[name[0]], *name[1])
        if name not in self.objects:
            self.objects[name] = pickle.loads(self.packed[name])
            self.packed[name] = b""
        return self.objects[name]


def _failed(error: Exception) -> bytes:
    trace = traceback.format_exc()
    try:
        packed = pack(("failed", error, trace))
        pickle.loads(packed)
    except Exception:  # some exceptions cannot be sent
        packed = pack(("failed", RuntimeError(f"{type(error).__name__}: {error}"), trace))
    return packed


_stopping = False


def _stop(number: int, frame: object) -> None:
    global _stopping
    if not _stopping:  # a second signal must not end the first one's cleaning up
        _stopping = True
        # an exception: `finally` blocks end kernels and remove unfinished files
        raise SystemExit(128 + number)


def main() -> None:
    """Do what comes through standard input, one call after the other."""
    asked, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what the work prints must not come between the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    calls: queue.Queue = queue.Queue()
    threading.Thread(target=_listen, args=(asked, calls), daemon=True).start()
    work = _Work()
    while True:
        try:
            call = calls.get(timeout=IDLE)
        except queue.Empty:
            return
        if call is None:
            return
        pickle.dump(work.do(*call), told)
        told.flush()


def _listen(asked: Any, calls: queue.Queue) -> None:
    """Pass on calls; when the worker is gone, end in good order, or without after a while."""
    try:
        while True:
            calls.put(pickle.load(asked))
    except (EOFError, OSError, pickle.UnpicklingError):
        calls.put(None)
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(GRACE)
    os._exit(1)


if __name__ == "__main__":
    main()
