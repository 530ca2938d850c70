"""Unpacking archives that came from elsewhere: within bounds, never outside the folder they are unpacked to."""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from judgebook.study.schema import DataError, Problem

SUFFIXES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
MAX_MEMBERS = 10_000
MAX_BYTES = 2 * 1024**3
_CHUNK = 1024**2


def is_archive(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def unpack(path: Path, to: Path, *, max_members: int = MAX_MEMBERS, max_bytes: int = MAX_BYTES) -> list[Path]:
    """Unpack the files of a zip or tar archive below `to`; links and devices are passed over.

    Bytes are counted as they are written: what an archive says of its own size is not believed. Raises DataError for
    more members or bytes than allowed, for a member whose path leaves `to`, and for a file that is no archive.
    """
    written, left = [], max_bytes
    try:
        for n, (name, source) in enumerate(_members(path)):
            if n >= max_members:
                raise _refused(path, "", f"at most {max_members} members", "more")
            target = _inside(path, to, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            with source, target.open("wb") as out:
                while chunk := source.read(_CHUNK):
                    left -= len(chunk)
                    if left < 0:
                        raise _refused(path, name, f"at most {max_bytes} bytes when unpacked", "more")
                    out.write(chunk)
            written.append(target)
    except Exception as error:
        shutil.rmtree(to, ignore_errors=True)
        if isinstance(error, DataError):
            raise
        # libraries raise all kinds: passwords, unknown methods of compression, wrong checksums, names that cannot be
        message = " ".join(str(error).split())[:200] or type(error).__name__
        raise _refused(path, "", "a complete zip or tar archive without a password", message) from None
    return written


def _members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """(name, content) of every regular file."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16):
                    yield info.filename, archive.open(info)
        return
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and (content := archive.extractfile(member)) is not None:
                yield member.name, content


def _inside(path: Path, to: Path, name: str) -> Path:
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or ":" in name.partition("/")[0]:
        raise _refused(path, name, "a path inside the archive", "one that leads out of it")
    if not parts.parts or not name.isprintable():
        raise _refused(path, name, "a member with a name", repr(name)[:80])
    return to / parts


def _refused(path: Path, member: str, expected: str, content: str) -> DataError:
    return DataError([Problem(path.name, member, "", expected, content, "nothing of it was kept")])
