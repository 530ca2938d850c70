"""A study that was run, as its folder has it: what it is of, the files it was read from, its steps."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

from judgebook import project
from judgebook.extras.bundle.parts import BundleError
from judgebook.sources import registry
from judgebook.sources.ids import private
from judgebook.sources.ids.naming import Names
from judgebook.study import params, store
from judgebook.study.params import Study


@dataclass(frozen=True)
class RawFile:
    """A file that the data were read from. url : empty where there is no public address. licence : of the file."""

    name: str
    sha256: str
    url: str = ""
    licence: str = ""
    size: int | None = None


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
    def failed(self) -> dict[str, Path]:
        """Notebooks whose last run failed -> how far it came."""
        paths = sorted((self.folder / "notebooks").glob("*.failed.ipynb"))
        return {path.name.removesuffix(".failed.ipynb"): path for path in paths}

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
                out.append(RawFile(name, sha, entry.upstream[0].url, entry.licence, entry.size))
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
