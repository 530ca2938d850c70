"""Fetching the raw files of a study: from upstream, from a folder or archive, or from another address.

Every file is verified before it stands in `data/raw/<key>`: by its git blob id where it is the upstream file, by
SHA-256 where it is the pseudonymised or derived copy (or is made of an upstream file whose blob id is not known).
Upstream files may hold ids of a crowd platform: they stay in `data/raw`, which is never rendered; `sources.build`
replaces the ids.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import quote, urlsplit

import pandas as pd
import pooch
import requests

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.sources import archives, registry
from judgebook.sources.registry import Entry, Upstream
from judgebook.study import store
from judgebook.study.schema import DataError, Problem

RETRIES = 3
#: bytes beyond twice the known size that a file may have: upstream files differ from our copies by ids of people
SLACK = 1_000_000
#: bytes of a download whose size is not known; the largest public file has a tenth of it
MOST = 512 * 1024**2
#: bytes a second below which a download is given up after `PATIENCE` seconds, and seconds after which it is anyway
SLOWEST, PATIENCE, LONGEST = 5_000, 60.0, 3600.0
Converter = Callable[[list[Path], Path], dict[str, pd.DataFrame]]


@cache
def converters() -> dict[str, Converter]:
    """By name: from upstream files (in the registry's order) and the study's folder to derived tables, by file name; of
    the packages that have some, as `CONVERTERS` in `sources/convert.py`."""
    having = [name for name, path in project.packages().items() if (path / "sources" / "convert.py").is_file()]
    return {k: one for name in having for k, one in import_module(f"{name}.sources.convert").CONVERTERS.items()}


@dataclass(frozen=True)
class Fetched:
    """how: present, copied, downloaded, converted, or absent (only files the study can do without)."""

    entry: Entry
    path: Path
    how: str


def fetch(
    key: str,
    from_: str | None = None,
    to: Path | None = None,
    *,
    progress: bool = True,
    say: Callable[[str], None] = print,
) -> list[Fetched]:
    """Bring the raw files of `key` to the folder `to` (default: data/raw), as `<to>/<key>/<file>`.

    from_ : a folder, an archive or an address that holds `<key>/<file>` or `<file>`; None: the public repositories.
    say : takes lines for the reader: licence, citation, and one line per file.

    Raises DataError when a file is absent, does not verify, or cannot be fetched publicly, and ParamsError for a key
    that the registry does not have. Files that verified stay.
    """
    folder = to / key if to else store.raw(key)
    for line in notices(key):
        say(line)
    done: list[Fetched] = []
    problems: list[Problem] = []
    store.sweep(folder)
    with store.scratch(folder) as scratch, _opened(from_, scratch, progress) as get:
        for entry in registry.entries(key):
            try:
                done.append(_one(entry, folder, get, from_ is not None))
                say(f"  {entry.file}: {done[-1].how}")
            except DataError as error:
                if entry.needed:
                    problems += error.problems
                else:
                    done.append(Fetched(entry, folder / entry.file, "absent"))
                    say(f"  {entry.file}: not taken ({error.problems[0]}). {entry.note}")
    if problems:
        raise DataError(problems)
    return done


def command(key: str, from_: str | None = None) -> int:
    """`run_all.py fetch`: print what is done, or (`list`) what can be fetched; returns the exit code."""
    if key == "list":
        for study in registry.studies():
            public = all(e.fetchable for e in registry.entries(study) if e.needed)
            print(f"{study:<14} {'' if public else '(only from a copy: --from) '}{registry.citation(study)}")
        return 0
    try:
        fetch(key, from_)
    except DataError as error:
        print(f"fetch {key}: {error}", file=sys.stderr)
        return 2
    return 0


def notices(key: str) -> list[str]:
    """What a reader must know before the files of a study are fetched: source, licence, people."""
    entries = registry.entries(key)
    sources = dict.fromkeys(f"{u.repository} at {u.commit[:10]}" for e in entries for u in e.upstream)
    lines = [f"{key}: {registry.citation(key)}", f"  from {', '.join(sources)}"]
    lines += [f"  licence: {licence}" for licence in dict.fromkeys(e.licence for e in entries)]
    if not all(e.licensed for e in entries):
        lines.append("  No licence is stated upstream: the files are for your own use, and are never packaged.")
    if any(e.kind == "pseudonymised" for e in entries):
        lines.append("  The upstream files hold ids or names of annotators: they stay in data/raw and are never shown.")
    return lines


#: takes the places to look in turn and the upstream file; returns a local path, or raises DataError
Get = Callable[[Entry, str, Upstream], Path]


@contextmanager
def _opened(from_: str | None, scratch: Path, progress: bool) -> Iterator[Get]:
    """How files are got: `get(entry, name, upstream)` gives a local path of the file called `name`."""
    pooch.get_logger().setLevel(logging.WARNING)
    if from_ is None:
        yield lambda entry, name, upstream: _download(upstream.url, scratch, progress, _most(entry, upstream))
        return
    if urlsplit(from_).scheme in ("http", "https"):
        if not archives.is_archive(urlsplit(from_).path):
            base = from_
            yield lambda entry, name, upstream: _from_address(base, entry, name, scratch, progress)
            return
        from_ = str(_download(from_, scratch, progress))
    place = Path(from_)
    if place.is_file() and archives.is_archive(place.name):
        archives.unpack(place, scratch / "unpacked")
        place = scratch / "unpacked"
    if not place.is_dir():
        raise DataError([Problem(from_, "", "", "a folder, an archive or an address", "none of these", "check --from")])
    yield lambda entry, name, upstream: _from_folder(place, entry, name)


def _one(entry: Entry, folder: Path, get: Get, local: bool) -> Fetched:
    target = folder / entry.file
    if target.is_file() and entry.accepts(target.read_bytes()):
        return Fetched(entry, target, "present")
    direct = entry.kind != "derived" and entry.member is None
    if direct or local:
        try:
            path = get(entry, entry.file, entry.upstream[0])
        except DataError:
            if direct or not entry.fetchable:
                raise
        else:
            return _placed(entry, path.read_bytes(), target, "copied" if local else "downloaded")
    if not entry.fetchable or (entry.convert is not None and entry.convert not in converters()):
        expected, hint = "a public address of this file", "take it from a copy: `fetch … --from DIR`"
        raise DataError(
            [Problem(f"{entry.key}/{entry.file}", "", "", expected, f"none ({entry.note.rstrip('.')})", hint)]
        )
    parts = [_verified(get(entry, PurePosixPath(u.path).name, u), u) for u in entry.upstream]
    if entry.member is not None:
        return _from_archive(entry, parts[0], target)
    made = converters()[str(entry.convert)](parts, folder)[entry.file]
    if all(u.blob for u in entry.upstream):
        store.write_frame(made, target, raw=True)
        return Fetched(entry, target, "converted")
    with store.scratch(folder) as scratch:
        store.write_frame(made, scratch / target.name, raw=True)
        return _placed(entry, (scratch / target.name).read_bytes(), target, "converted")


def _placed(entry: Entry, data: bytes, target: Path, how: str) -> Fetched:
    if not entry.accepts(data):
        blob, sha256 = entry.upstream[0].blob, entry.sha256
        expected = ", or ".join(filter(None, [blob and f"git blob {blob}", sha256 and f"SHA-256 {sha256}"]))
        content = f"git blob {registry.git_blob(data)} ({len(data)} bytes)"
        raise DataError([Problem(f"{entry.key}/{entry.file}", "", "", expected, content, "the file was not kept")])
    with store.atomic(target) as temporary:
        temporary.write_bytes(data)
    return Fetched(entry, target, how)


def _from_archive(entry: Entry, archive: Path, target: Path) -> Fetched:
    with store.scratch(target.parent) as scratch:
        members = {p.relative_to(scratch).as_posix(): p for p in archives.unpack(archive, scratch)}
        path = next((p for name, p in members.items() if PurePosixPath(name).name == entry.member), None)
        if path is None:
            names = ", ".join(members)[:200]
            raise DataError([Problem(archive.name, "", "", f"a member {entry.member}", names, "fetch it again")])
        return _placed(entry, path.read_bytes(), target, "unpacked")


def _verified(path: Path, upstream: Upstream) -> Path:
    blob = registry.git_blob(path.read_bytes())
    if upstream.blob and blob != upstream.blob:
        raise DataError(
            [Problem(upstream.path, "", "", f"git blob {upstream.blob}", blob, "the download is damaged: try again")]
        )
    return path


def _from_folder(place: Path, entry: Entry, name: str) -> Path:
    for path in (place / entry.key / name, place / name, *sorted(place.glob(f"*/{entry.key}/{name}"))):
        if path.is_file():
            if (size := path.stat().st_size) > (most := _most(entry, entry.upstream[0])):
                raise DataError([Problem(str(path), "", "", f"at most {most} bytes", str(size), "it is another file")])
            return path
    neither = f"neither {entry.key}/{name} nor {name} in it"
    raise DataError([Problem(str(place), "", "", f"the file {name}", neither, "check --from")])


def _from_address(base: str, entry: Entry, name: str, scratch: Path, progress: bool) -> Path:
    errors: list[DataError] = []
    for path in (f"{entry.key}/{name}", name):
        try:
            address = f"{base.rstrip('/')}/{quote(path, safe='/()')}"
            return _download(address, scratch, progress, _most(entry, entry.upstream[0]))
        except DataError as error:
            errors.append(error)
    raise errors[-1]


def _most(entry: Entry, upstream: Upstream) -> int:
    """Bytes that a file may have: by the size of our copy, which is the upstream file or differs from it in ids."""
    if entry.size is None or entry.kind == "derived" or entry.member is not None or upstream != entry.upstream[0]:
        return MOST
    return 2 * entry.size + SLACK


def _download(url: str, scratch: Path, progress: bool, most: int = MOST) -> Path:
    """The file at `url`, retried on failures of network or server; what is there already is not downloaded again."""
    name = f"{len(url)}-{registry.git_blob(url.encode())[:12]}-{PurePosixPath(urlsplit(url).path).name}"
    source = pooch.create(scratch, base_url="", registry={name: None}, urls={name: url}, retry_if_failed=RETRIES)
    try:
        return Path(source.fetch(name, downloader=_Download(most, progressbar=progress, timeout=60)))
    except _RefusedError as error:
        raise error.args[0] from None
    except (requests.RequestException, ValueError, OSError) as error:
        local = isinstance(error, OSError) and not isinstance(error, requests.RequestException)
        if local and (said := store.remedy(error)):
            raise store.DeniedError(said) from error
        raise _no_download(url, str(error)) from None


class _Download(pooch.HTTPDownloader):  # type: ignore[misc]  # pooch declares no types
    """As pooch's, within bounds of size and time; does not ask again for what a server does not have.

    A server that sends a byte a second, or headers without end, never lets a read time out: the connection has a thread
    of its own, which is left alone when it takes too long.
    """

    def __init__(self, most: int, **options: Any):
        super().__init__(**options)
        self.most = most

    def __call__(self, url: str, output_file: str, pooch: Any, check_only: bool = False) -> None:
        with open(output_file, "w+b") as file:
            bounded, answers, errors = _Bounded(file, self.most), [], []
            self.kwargs["hooks"] = {"response": lambda answer, **_: answers.append(answer)}

            def work() -> None:
                try:
                    super(_Download, self).__call__(url, bounded, pooch)
                except BaseException as error:
                    errors.append(error)
                finally:
                    for answer in answers:
                        answer.close()

            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            slow = _too_slow(thread, bounded)
            if slow:
                bounded.closed = True
                for answer in answers:
                    getattr(answer.raw, "shutdown", lambda: None)()  # urllib3 2.3 and newer: ends a read that waits
                raise _RefusedError(_no_download(url, slow))
        if errors:
            (error,) = errors
            # DataError is a ValueError, on which pooch would try again
            answer = getattr(error, "response", None)
            if _refused(error):
                raise _RefusedError(_no_download(url, "a server that refuses connections")) from None
            if isinstance(error, _TooLargeError) or (answer is not None and _final(answer)):
                raise _RefusedError(_no_download(url, str(error))) from None
            raise error


def _final(answer: requests.Response) -> bool:
    """Whether asking again would be of no use."""
    return 400 <= answer.status_code < 500


def _refused(error: BaseException | None) -> bool:
    """Whether nothing listens at the address: that a second try finds something there is rare."""
    while error is not None and not isinstance(error, ConnectionRefusedError):
        error = error.__cause__ or error.__context__
    return error is not None


def _too_slow(thread: threading.Thread, file: _Bounded) -> str:
    """Wait for a download; what is wrong where it takes too long."""
    start = time.monotonic()
    while thread.is_alive():
        thread.join(0.05)
        spent = time.monotonic() - start
        if spent > LONGEST or (spent > PATIENCE and file.written < SLOWEST * spent):
            return f"{file.written} bytes in {spent:.0f} seconds: given up"
    return ""


class _TooLargeError(JudgebookError):
    """More was sent than the file can have."""


class _Bounded:
    """A file that takes so many bytes and no more."""

    def __init__(self, file: IO[bytes], most: int):
        self.file, self.most, self.written, self.closed = file, most, 0, False

    def write(self, chunk: bytes) -> None:
        self.written += len(chunk)
        if self.written > self.most or self.closed:
            raise _TooLargeError(f"more than the {self.most} bytes allowed")
        self.file.write(chunk)

    def flush(self) -> None:
        """Called after each chunk; one flush, on closing, is enough."""


class _RefusedError(JudgebookError):
    """Carries a DataError past pooch's retries."""


def _no_download(url: str, content: str) -> DataError:
    hint = "check the network, or take a copy: `fetch … --from DIR`"
    return DataError([Problem(url, "", "", "a file to download", " ".join(content.split())[:200], hint)])
