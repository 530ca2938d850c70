"""Public raw files: where they come from, how a copy is verified, under which licence (`registry.yaml`)."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import yaml

from judgebook import project
from judgebook.study.params import ParamsError
from judgebook.study.yaml_file import Loader

KINDS = ("original", "pseudonymised", "derived")


@dataclass(frozen=True)
class Upstream:
    """A file of a public repository, pinned to a commit. `blob` is its git blob id, empty where it is not known."""

    repository: str
    commit: str
    path: str
    blob: str = ""

    @property
    def url(self) -> str:
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{quote(self.path, safe='/()')}"


@dataclass(frozen=True)
class Entry:
    """A raw file of a study.

    kind : original, pseudonymised (upstream with ids of people replaced) or derived (made by a converter, if any).
    upstream : what it is made of; `member` is its name inside an upstream archive.
    size, sha256 : of the copy the tests use; None where there is none. convert : a key of `fetch.converters`.
    """

    key: str
    file: str
    kind: str
    upstream: tuple[Upstream, ...]
    licence: str
    size: int | None = None
    sha256: str | None = None
    member: str | None = None
    convert: str | None = None
    needed: bool = True
    note: str = ""

    @property
    def fetchable(self) -> bool:
        """Whether the public addresses are enough to have it."""
        return self.kind != "derived" or self.convert is not None

    @property
    def licensed(self) -> bool:
        return not self.licence.startswith("none stated")

    def accepts(self, data: bytes) -> bool:
        """Whether `data` is this file: the copy the tests use, or the upstream file itself."""
        if self.sha256 is not None and hashlib.sha256(data).hexdigest() == self.sha256:
            return True
        return self.kind != "derived" and self.member is None and git_blob(data) == self.upstream[0].blob


def git_blob(data: bytes) -> str:
    """The id git gives to a file of this content (`git hash-object`)."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@cache
def _data() -> dict:
    return yaml.load(files("judgebook.sources").joinpath("registry.yaml").read_text(encoding="utf-8"), Loader)


def studies() -> list[str]:
    """Studies with files that can be fetched or taken from a folder."""
    return sorted(_data())


def citation(key: str) -> str:
    return _data()[key]["citation"]


@cache
def entries(key: str) -> tuple[Entry, ...]:
    """The raw files of a study. Raises ParamsError for an unknown study, with the nearest known one."""
    if key not in _data():
        near = difflib.get_close_matches(key, studies(), n=1)
        raise ParamsError(
            f"the registry has no {key!r}"
            + (f"; did you mean {near[0]!r}?" if near else ".")
            + f" It has {', '.join(studies())}"
        )
    study = _data()[key]
    shared = {name: study[name] for name in ("repository", "commit")}
    return tuple(
        Entry(
            key=key,
            file=name,
            kind=given.get("kind", "original"),
            upstream=tuple(Upstream(**{**shared, **source}) for source in given["upstream"]),
            licence=given.get("licence", study["licence"]),
            size=given.get("bytes"),
            **{k: given[k] for k in ("sha256", "member", "convert", "needed", "note") if k in given},
        )
        for name, given in study["files"].items()
    )


def entry_of(study: str, name: str) -> Entry | None:
    """The raw file `name` of `study`, which may be that of another (`other/file`); None where the registry has none."""
    first, _, rest = Path(name).as_posix().partition("/")
    for key, file in ((study, Path(name).as_posix()), (first, rest)):
        if key in _data() and (found := next((entry for entry in entries(key) if entry.file == file), None)):
            return found
    return None


def fetch_hint(study: str, name: str) -> str:
    """The command that fetches a raw file of `study`; empty when the registry does not have it."""
    entry = entry_of(study, name)
    return f"run `{project.command()} fetch {entry.key}`" if entry else ""
