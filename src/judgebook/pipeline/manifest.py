"""What a study's folder was made from: `data/processed/<study>/manifest.json`, written last; and its lock."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from judgebook.errors import JudgebookError
from judgebook.pipeline.cache import Cache, digest
from judgebook.pipeline.surroundings import installed
from judgebook.study import params, store
from judgebook.study.params import Study

FORMAT = 1
#: made of the printed numbers of all studies, beside their reports
SHARED = "reports/replication.csv"


class BusyError(JudgebookError, RuntimeError):
    """Another run is at work on the same study."""


@contextmanager
def lock(study: str) -> Iterator[None]:
    """Hold the study for this process. The system releases it when the process ends, however it ends.

    Raises BusyError with who holds it.
    """
    path = store.processed(study) / ".lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8", errors="replace") as stream:
        if not _try_lock(stream.fileno()):
            stream.seek(0)
            who = stream.read().strip() or "another process"
            raise BusyError(
                f"study {study!r} is being run by {who}: wait until it ends, or write elsewhere with --out DIR"
            )
        stream.truncate(0)
        stream.write(f"process {os.getpid()}, started at {_now()}\n")
        stream.flush()
        yield


def _try_lock(descriptor: int) -> bool:
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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def environment() -> str:
    """Digest of Python and all installed packages."""
    return digest([platform.python_version(), installed()])


class _Node(BaseModel):
    """What is kept of a node."""

    model_config = ConfigDict(extra="forbid", strict=True)
    hash: str
    parts: dict[str, str | None]
    outputs: dict[str, str | None]
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    finished: str


class Manifest:
    """Nodes of one study: its inputs (`parts`), what it wrote (`outputs`), when, and how long it took.

    A file that is not as a run has left it is ignored, with a line that says so; and so is a node that names outputs
    elsewhere than in the study's own folders, as outdated outputs are removed.
    """

    def __init__(self, study: str):
        self.study, self.path = study, store.processed(study) / "manifest.json"
        self.data: dict[str, Any] = {}
        self.nodes: dict[str, dict] = {}
        if not self.path.is_file():
            return
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            if stored["format"] != FORMAT:
                return
            nodes = {str(k): v.model_dump() for k, v in _NODES.validate_python(stored["nodes"]).items()}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            self._say("not as the last run wrote it; ignored and rebuilt")
            return
        for name, node in nodes.items():
            folders = store.folders(study) if name != "simulate" else [store.raw(study)]
            outside = [
                p for p in node["outputs"] if p != SHARED and not (_plain(p) and _below(store.out_root() / p, folders))
            ]
            if outside:
                self._say(f"{name} names {outside[0]!r}, outside the study's folders; ignored, nothing is removed")
            else:
                self.nodes[name] = node
        self.data = {**stored, "study": study, "nodes": self.nodes}

    def _say(self, what: str) -> None:
        print(f"{self.study}: {self.path.name}: {what}", file=sys.stderr)

    def why(self, name: str, parts: dict[str, str | None], cache: Cache) -> str:
        """Why the node must run: new, changed: …; an empty string where it is up to date."""
        recorded = self.nodes.get(name)
        if recorded is None:
            return "new"
        before = recorded["parts"]
        changed = [p for p in {**parts, **before} if before.get(p) != parts.get(p)]
        if changed:
            more = f" and {len(changed) - 4} more" if len(changed) > 4 else ""
            return f"changed: {', '.join(changed[:4])}{more}"
        lost = [p for p, content in recorded["outputs"].items() if cache.file(store.out_root() / p) != content]
        return f"missing or altered: {Path(lost[0]).name}" if lost else ""

    def record(self, name: str, parts: dict, outputs: Iterable[Path], seconds: float, cache: Cache) -> None:
        contents = {p.relative_to(store.out_root()).as_posix(): cache.file(p) for p in sorted(outputs)}
        self.nodes[name] = {
            "hash": digest(parts),
            "parts": parts,
            "outputs": contents,
            "seconds": round(seconds, 2),
            "finished": _now(),
        }

    def seconds(self, name: str) -> float | None:
        """How long a node took when it last ran; None where unknown."""
        return self.nodes.get(name, {}).get("seconds")

    def date(self) -> str:
        """Day on which the newest notebook of the study ran; empty where none has."""
        made = (node["finished"][:10] for name, node in self.nodes.items() if name[:1].isdigit())
        return max(made, default="")

    def yaml(self) -> Path | None:
        """The YAML that the last run read; None where that is not known, or it is no longer there."""
        recorded = self.data.get("yaml")
        path = store.out_root() / recorded if isinstance(recorded, str) else None
        try:
            return path if path is not None and path.is_file() else None
        except (OSError, ValueError):  # no path at all
            return None

    def drop(self, name: str) -> None:
        self.nodes.pop(name, None)

    def outputs(self, name: str) -> list[Path]:
        return [store.out_root() / p for p in self.nodes.get(name, {}).get("outputs", {})]

    def save(self, study: Study) -> None:
        """Write the manifest with the versions, seeds and commit of this run."""
        self.data = {
            "format": FORMAT,
            "study": self.study,
            "yaml": _from_root(study.path),
            "simulated": study.simulated,
            "seeds": study.seeds.model_dump(),
            "commit": _commit(),
            "python": platform.python_version(),
            "platform": platform.system(),
            "packages": installed(),
            "nodes": self.nodes,
        }
        with store.atomic(self.path) as temporary:
            temporary.write_text(json.dumps(self.data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


_NODES = TypeAdapter(dict[str, _Node])


def _from_root(path: Path | None) -> str | None:
    """A path relative to the folder of output, so that both can be moved together; None for none."""
    if path is None:
        return None
    try:
        return Path(os.path.relpath(path, store.out_root())).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_posix()


def _plain(path: str) -> bool:
    """Whether a path leads down only, and is written as `record` writes it: what it begins with tells where it is."""
    return PurePosixPath(path).as_posix() == path and ".." not in path.split("/") and "\\" not in path


def _below(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file lies below one of the folders; where it is a link, whether the link does."""
    try:
        place = path.parent.resolve() / path.name
        return path.name not in ("", "..") and any(folder.resolve() in place.parents for folder in folders)
    except (OSError, ValueError):  # no path at all
        return False


@cache
def _commit() -> str | None:
    """The commit of the project, with `+` where files differ from it; None outside a repository."""
    if not (params.ROOT / ".git").exists():
        return None
    command = ["git", "-C", str(params.ROOT), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
