"""What a bundle is made of: files, each with its place and what it is; and what it says where it cannot be made."""

from __future__ import annotations

import json
import posixpath
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any

from judgebook.errors import JudgebookError


class BundleError(JudgebookError, ValueError):
    """The study cannot be bundled as it is; the message says why and what to do."""


@dataclass(frozen=True)
class Part:
    """A file of a bundle. path : in it. content : the file to copy, or bytes. about : what it is, in a line."""

    path: str
    content: Path | bytes
    about: str

    def __post_init__(self) -> None:
        down = posixpath.normpath(self.path) == self.path and not self.path.startswith(("/", ".."))
        if not down or "\\" in self.path or PureWindowsPath(self.path).drive:
            raise BundleError(f"{self.path!r} is no place in a bundle: run the study again")

    @property
    def size(self) -> int:
        return self.content.stat().st_size if isinstance(self.content, Path) else len(self.content)

    def read(self) -> bytes:
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content


def json_bytes(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
