"""A run that finds nothing to do leaves a list of all it looked at; while nothing on it changes, the same call prints
the same lines again, and nothing is imported but the standard library.

What is looked at is not enumerated anywhere: Python tells of every file that is opened and every folder that is listed
(`sys.addaudithook`), and code that only asks for the state of a file raises the event `judgebook.seen`. Each is
recorded before it is read, so that a change in between is one. Packages that add to this one, whose files count as its
own where all are installed, are told of by `judgebook.package`. Deleting the lists (`data/processed/.unchanged/`) only
costs time.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import source_from_cache  # here: what is told of a file must import none
from typing import IO, Any

PACKAGE = os.path.dirname(os.path.abspath(__file__))
#: variables that decide what a run reads, writes or prints, by how their names begin
VARIABLES = ("COMPENDIUM_", "PYTHON", "LANG", "LC_")
#: nanoseconds in which a file may change again without another time: of clocks, and of file systems that count seconds
RECENT, SECONDS = 50_000_000, 2_000_000_000
#: calls whose lists are kept
CALLS = 20
FOLDER = os.path.join("data", "processed")
_WRITES = os.O_WRONLY | os.O_RDWR


class _Watch:
    """What a run has looked at. call : what distinguishes it from other calls. root : the folder it probably writes to.
    states : path -> size and times of a file, names in a folder, or None where there was nothing. locks : of the
    studies. printed : number of the stream, and the text.
    """

    def __init__(self) -> None:
        self.call, self.root, self.start = _call(), _root(), time.time_ns()
        self.states: dict[str, Any] = {}
        self.locks: list[str] = []
        self.printed: list[tuple[int, str]] = []
        #: whose folders are looked at up to the top: what an analysis needs may appear in any of them
        self.roots = {self.root, _project()}
        self.own = os.path.join(self.root, FOLDER)
        self.libraries, self.packages = _libraries(), {PACKAGE}

    def see(self, path: str) -> None:
        if os.path.dirname(path).endswith("__pycache__"):
            path = _source(path)
        if path in self.states or self._of_library(path):
            return
        folder, name = os.path.split(path)
        if folder == self.own and name.startswith("."):  # caches, and these lists
            return
        self.states[path] = None  # listing a folder is told of, too
        self.states[path] = _state(path)
        if path not in self.roots and any(path.startswith(root + os.sep) for root in self.roots):
            self.see(folder)

    def _of_library(self, path: str) -> bool:
        inside = path.startswith(tuple(folder + os.sep for folder in self.libraries))
        return (
            inside
            and path not in self.libraries
            and not path.startswith(tuple(folder + os.sep for folder in self.packages))
        )


_watch: _Watch | None = None


def watch() -> None:
    """Begin to record what this process looks at. For the process of the command line only, and once."""
    global _watch
    if _watch is None:
        _watch = _Watch()
        sys.addaudithook(_told)


def _told(event: str, arguments: tuple) -> None:
    if _watch is None or event not in ("judgebook.package", "judgebook.seen", "open", "os.listdir", "os.scandir"):
        return
    path = arguments[0]
    if event == "judgebook.package":
        _watch.packages.add(path)
        return
    if isinstance(path, int) or (event == "open" and _writing(*arguments[1:])):
        return
    with suppress(ValueError):  # a null character: no path at all
        _watch.see(os.path.abspath(os.fsdecode(path or ".")))


def _writing(mode: str | None, flags: int) -> bool:
    return bool(flags & _WRITES) if mode is None else not {"w", "a", "x", "+"}.isdisjoint(mode)


def locked(path: Any) -> None:
    """Record the lock of a study of this run."""
    if _watch is not None:
        _watch.locks.append(os.path.abspath(os.fspath(path)))


def changed() -> None:
    """Something is being done: the run leaves no list."""
    global _watch
    _watch = None


@contextmanager
def recorded() -> Iterator[None]:
    """Within the block what is printed is recorded, too, if a run is being watched."""
    if _watch is None:
        yield
        return
    before, printed = (sys.stdout, sys.stderr), _watch.printed
    sys.stdout, sys.stderr = _Recorded(sys.stdout, 1, printed), _Recorded(sys.stderr, 2, printed)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Recorded:
    """A stream that also keeps what it is given."""

    def __init__(self, stream: IO[str], number: int, printed: list[tuple[int, str]]):
        self.stream, self.number, self.printed = stream, number, printed

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        self.printed.append((self.number, text))
        return self.stream.write(text)


def keep(root: Any) -> None:
    """Write the list of a run that ended well, wrote below `root` and had nothing to do."""
    run = _watch
    changed()
    if run is None or os.path.abspath(root) != run.root or _recent(run):
        return
    path = _place(run.root, run.call)
    content = {"call": run.call, "locks": run.locks, "printed": run.printed, "states": run.states}
    temporary = f"{path}.{os.getpid()}"
    with suppress(OSError):  # the next run is slower, no more
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            with open(temporary, "w", encoding="utf-8") as stream:
                json.dump(content, stream)
            os.replace(temporary, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        for old in sorted(os.scandir(os.path.dirname(path)), key=lambda entry: -entry.stat().st_mtime_ns)[CALLS:]:
            os.unlink(old)


def _recent(run: _Watch) -> bool:
    """Whether a file changed so shortly before the run that it may have changed again unseen."""
    times = [time for state in run.states.values() if state and isinstance(state[0], int) for time in state[:2]]
    return any(time > run.start - (RECENT if time % 1_000_000_000 else SECONDS) for time in times)


def repeated() -> bool:
    """Print what this call last printed, if it had nothing to do and nothing has changed; else do nothing."""
    call = _call()
    try:
        with open(_place(_root(), call), encoding="utf-8") as stream:
            kept = json.load(stream)
        if kept["call"] != call or any(_state(path) != state for path, state in kept["states"].items()):
            return False
        if not all(map(_free, kept["locks"])):  # another run is at work
            return False
        streams: tuple[Any, ...] = (sys.stdout, sys.stderr)
        for number, text in [(int(number), str(text)) for number, text in kept["printed"]]:
            streams[number - 1].reconfigure(errors="backslashreplace")
            streams[number - 1].write(text)
            streams[number - 1].flush()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False  # there is none, or it is not as it was written, or nothing can be printed
    return True


def try_lock(descriptor: int) -> bool:
    """Hold an open file for this process until it is closed; False where another process holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # a byte beyond the text, so that others can read who it is
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _free(lock: str) -> bool:
    with open(lock, "a", encoding="utf-8") as stream:
        return try_lock(stream.fileno())


def _call() -> list:
    """What distinguishes this call: Python and its options, the command line, the folder and the variables."""
    variables = sorted([name, value] for name, value in os.environ.items() if name.startswith(VARIABLES))
    encodings = [getattr(stream, "encoding", None) for stream in (sys.stdout, sys.stderr)]
    return [sys.version, sys.executable, sys.orig_argv, os.getcwd(), variables, encodings]


def _project() -> str:
    """The checkout; of an installed package, the folder somebody works in."""
    return os.getcwd() if os.path.isdir(os.path.join(PACKAGE, "carried")) else os.path.dirname(os.path.dirname(PACKAGE))


def _root() -> str:
    """The folder that this call probably writes to: where it writes elsewhere, it leaves no list."""
    named = os.environ.get("COMPENDIUM_OUT") or _project()
    for option, value in zip(sys.argv, [*sys.argv[1:], ""], strict=True):
        if option == "--out" or option.startswith("--out="):
            named = value if option == "--out" else option.removeprefix("--out=")
    return os.path.abspath(named)


def _place(root: str, call: list) -> str:
    name = f"{zlib.crc32(json.dumps(call).encode()):08x}.json"
    return os.path.join(root, FOLDER, ".unchanged", name)


def _state(path: str) -> Any:
    """Times, size and inode of a file, the names in a folder, or None where there is neither."""
    try:
        about = os.stat(path)
        if not stat.S_ISDIR(about.st_mode):
            return [about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino]
        return sorted(name for name in os.listdir(path) if name[0] != "." and name != "__pycache__")
    except OSError:
        return None


def _source(compiled: str) -> str:
    try:
        return source_from_cache(compiled)
    except ValueError:
        return compiled


def _libraries() -> set[str]:
    """Folders of Python's own modules and of installed ones, which a run knows by their versions: their lists of names
    are looked at, their files are not."""
    import sysconfig

    return {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
