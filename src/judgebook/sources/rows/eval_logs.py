"""Logs of Inspect (`.eval`): a zip with a header and a file for each sample, as the one JSON object they stand for.

The format is that of https://inspect.aisi.org.uk/eval-logs.html, whose JSON logs hold the same object.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa

from judgebook.sources import json_text
from judgebook.sources.files import UNPACK, unpacked_at_most
from judgebook.study import limits
from judgebook.study.schema import DataError, Problem

_SAMPLE = re.compile(r"samples/[^/]+\.json")
#: members compressed by Zstandard, which `zipfile` reads from Python 3.14 on
_ZSTD = 93
#: fields of a member's header before its name: to its signature, and lengths of its name and of what follows
_LOCAL = struct.Struct("<26xHH")
#: keys of a sample that say how it was run, not what came of it: most of a log
_RUN = ("events", "events_data", "attachments", "store", "timelines")


def read(path: Path, name: str) -> dict[str, Any]:
    """The header of a log with its `samples`, without the events of their runs.

    Raises DataError for a file that is no complete log, or unpacks to far more than its size suggests.
    """
    try:
        with zipfile.ZipFile(path) as log:
            members = [m for m in log.infolist() if m.filename == "header.json" or _SAMPLE.fullmatch(m.filename)]
            most = unpacked_at_most(path.stat().st_size)
            if sum(m.file_size for m in members) > most:
                raise DataError([Problem(name, "", "", f"at most {most:,} bytes when unpacked", "more", UNPACK)])
            held = {m.filename: json_text.parse(_content(log, m).decode(), name, m.filename) for m in members}
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError, zlib.error) as error:
        hint = "is the run finished? `inspect log convert` writes the log again, also as JSON"
        raise DataError([Problem(name, "", "", "a log of Inspect", str(error)[: limits.QUOTED], hint)]) from None
    if "header.json" not in held:
        raise DataError([Problem(name, "", "", "a log with header.json", "none", "is the run finished?")])
    samples = [{k: v for k, v in held[n].items() if k not in _RUN} for n in held if _SAMPLE.fullmatch(n)]
    return {**held["header.json"], "samples": samples}


def _content(log: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.compress_type != _ZSTD or log.fp is None:
        return log.read(member)
    log.fp.seek(member.header_offset)
    log.fp.seek(sum(_LOCAL.unpack(log.fp.read(_LOCAL.size))), 1)
    packed = log.fp.read(member.compress_size)
    return pa.decompress(packed, decompressed_size=member.file_size, codec="zstd", asbytes=True)
