"""Digests of files, kept until size, inode or a time of change differ."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judgebook.study import store

FORMAT = 3
#: a file changed this recently may change again within the clock's resolution: its digest is not kept
RECENT = 2_000_000_000  # nanoseconds
#: files up to this size are read each time: it costs no more than it takes to look them up
SMALL = 16_384
#: what this process has derived from contents: the same for every cache, a run that writes elsewhere included
_COMPUTED: dict[str, Any] = {}


def digest(value: Any) -> str:
    """A short digest of a JSON value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Cache:
    """Digests of files, and values derived from their contents, kept in one JSON file between runs.

    Deleting the file only costs time.
    """

    def __init__(self, path: Path | None):
        self.path, self._changed = path, False
        self._files: dict[str, list] = {}
        self._derived: dict[str, Any] = {}
        self._listed: dict[Path, list[Path]] = {}
        self._momentary: dict[Path, str | None] | None = None
        if path and path.is_file():
            self._load(path)

    def _load(self, path: Path) -> None:
        """Take what an earlier run kept, unless the file is not as it was written."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            sound = stored["digest"] == digest([stored["format"], stored["files"], stored["derived"]])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            sound = False
        if not sound:
            print(f"{path.name}: not as the last run wrote it; ignored and rebuilt", file=sys.stderr)
        elif stored["format"] == FORMAT:
            self._files, self._derived = stored["files"], stored["derived"]

    def file(self, path: Path) -> str | None:
        """Digest of a file's content; None where there is no such file."""
        if self._momentary is None:
            return self._digest(path)
        if path not in self._momentary:
            self._momentary[path] = self._digest(path)
        return self._momentary[path]

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Within the block each file is looked at once, however often its digest is asked for."""
        self._momentary = {}
        try:
            yield
        finally:
            self._momentary = None

    def _digest(self, path: Path) -> str | None:
        try:
            stat = path.stat()
        except OSError:
            return None
        # the time of the last change to content or place (on Windows that of creation) cannot be set back by hand
        key, now = str(path), [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino]
        stored = self._files.get(key)
        if stored and stored[:-1] == now and stat.st_size > SMALL:
            return stored[-1]
        with path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        if stat.st_size > SMALL and time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) > RECENT:
            self._files[key], self._changed = [*now, content], True
        return content

    def listed(self, folder: Path) -> list[Path]:
        """Files below a folder, sorted, as they were when first asked for: one run asks for the package many times."""
        if folder not in self._listed:
            found = (p for p in folder.rglob("*") if p.parent.name != "__pycache__")
            self._listed[folder] = sorted(p for p in found if p.is_file())
        return self._listed[folder]

    def derived(self, kind: str, path: Path, compute: Callable[[Path], Any]) -> Any:
        """`compute(path)`, a JSON value that depends on the file's content only, computed once for that content."""
        key = f"{kind}:{self.file(path)}"
        if key not in self._derived:
            if key not in _COMPUTED:
                _COMPUTED[key] = compute(path)
            self._derived[key], self._changed = _COMPUTED[key], True
        return self._derived[key]

    def save(self) -> None:
        """Write the digests for the next run."""
        if self._changed and self.path:
            content = {"format": FORMAT, "files": self._files, "derived": self._derived}
            text = json.dumps({**content, "digest": digest([*content.values()])})
            with store.atomic(self.path) as temporary:
                temporary.write_text(text, encoding="utf-8")
            self._changed = False
