"""A study that was run, as its folder has it, and the files that a bundle of it is made of."""

from __future__ import annotations

import hashlib
import json
import posixpath
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.sources import registry
from judgebook.sources.ids import private
from judgebook.sources.ids.naming import Names
from judgebook.study import params, store
from judgebook.study.params import Study


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


@dataclass(frozen=True)
class RawFile:
    """A file that the data were read from. url : empty where there is no public address. licence : of the file."""

    name: str
    sha256: str
    url: str
    licence: str


@dataclass(frozen=True)
class Finished:
    """A study that was run. manifest : what the pipeline stored of it. outdated : notebook of an earlier run -> what
    has changed since."""

    study: Study
    folder: Path
    manifest: dict[str, Any]
    outdated: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.study.key

    @property
    def steps(self) -> dict[str, dict]:
        return self.manifest["nodes"]

    @property
    def notebooks(self) -> list[str]:
        return sorted(name for name in self.steps if name[:1].isdigit())

    @property
    def failed(self) -> list[str]:
        """Notebooks whose last run failed."""
        paths = (self.folder / "notebooks").glob("*.failed.ipynb")
        return sorted(path.name.removesuffix(".failed.ipynb") for path in paths)

    @property
    def date(self) -> str:
        """Day of the newest notebook."""
        return max(self.steps[name]["finished"][:10] for name in self.notebooks)


def finished(study: str, manifest: dict[str, Any], outdated: dict[str, str]) -> Finished:
    """The study as its last run left it. Raises BundleError where no notebook of it was run."""
    folder = store.processed(study)
    if not any(name[:1].isdigit() for name in manifest.get("nodes", ())):
        run = f"{project.command()} --study {study}"
        raise BundleError(f"{study}: none of its notebooks has been run; run `{run}` first")
    return Finished(params.load(folder / "params.yaml", key=study), folder, manifest, outdated)


def raw_files(of: Finished) -> list[RawFile]:
    """The files that the data were read from, with their digests, and where the public ones come from."""
    registered = {e.file: e for e in registry.entries(of.key)} if of.key in registry.studies() else {}
    names, out = Names(private.own_ids(of.folder)), []
    for part, sha in of.steps.get("annotations", {}).get("parts", {}).items():
        for kind in ("raw file ", "embedded "):
            if not part.startswith(kind) or sha is None:
                continue
            name = plain_name(part.removeprefix(kind))
            entry = registered.get(name)
            if entry:
                out.append(RawFile(name, sha, entry.upstream[0].url, entry.licence))
                continue
            shown = f"data/embedded/{of.key}/{name}" if kind == "embedded " else names.within(name)
            out.append(RawFile(shown, sha, "", of.study.licence))
    return out


def refuse_changed(name: str, sha: str | None, study: str) -> None:
    """Raises BundleError where a file, named by its place in the folder for output, is not what the run wrote."""
    try:
        with (store.out_root() / name).open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == sha
    except OSError:
        same = False
    if not same:
        raise BundleError(f"{name} is not what the run wrote; run `{project.command()} --study {study}` again")


def plain_name(path: str) -> str:
    """The last component of an absolute path; other text as it is."""
    absolute = PurePath(path).is_absolute() or PureWindowsPath(path).is_absolute()
    return PureWindowsPath(path).name if absolute else path
