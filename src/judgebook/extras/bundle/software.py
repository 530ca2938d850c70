"""What a bundle says of the software: versions, digests of the source, and what was changed in it or added to it."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgebook import __version__, project
from judgebook.extras.bundle.finished import Finished
from judgebook.extras.bundle.parts import Part, json_bytes
from judgebook.study import params

LOCK, PACKAGES, SOURCE = "software/requirements.lock", "software/packages.json", "software/source.json"
CHANGES, OWN = "software/changes.patch", "software/own/"
#: folders and files whose content decides what a study's numbers are
_CODE = ("src", "notebooks", "params/defaults.yaml")
_SUFFIXES = (".py", ".ipynb", ".yaml", ".j2", ".bib")


def parts(of: Finished) -> list[Part]:
    """Versions and source of the software; where a repository tells, what differs from its commit."""
    return [
        Part(LOCK, (params.ROOT / "requirements.lock").read_bytes(), "Versions and hashes to install, for pip"),
        Part(PACKAGES, json_bytes(_installed(of)), "Versions installed when the study was run"),
        Part(SOURCE, json_bytes({"version": __version__, "files": digests()}), "SHA-256 of each file of the source"),
        *_changed(),
    ]


def digests() -> dict[str, str]:
    """File of the source -> SHA-256, by its place in a checkout, wherever the project is installed."""
    out = {}
    for name, path in _sources():
        out[name] = hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
    return dict(sorted(out.items()))


def differing(bundled: dict[str, str]) -> list[str]:
    """Files of the source that are not here as a bundle has them, those that only one of the two has included."""
    here = digests()
    return sorted(name for name in {*bundled, *here} if bundled.get(name) != here.get(name))


def _sources() -> Iterator[tuple[str, Path]]:
    roots = {"src/judgebook": project.PACKAGE, "notebooks": project.ROOT / "notebooks"}
    folders = (project.ROOT / "src" / "helpers", project.PACKAGE.parent / "helpers")
    roots["src/helpers"] = next(folder for folder in folders if folder.is_dir())
    for name, root in roots.items():
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root).as_posix()
            if path.suffix in _SUFFIXES and not inside.startswith("carried/") and ".ipynb_checkpoints" not in inside:
                yield f"{name}/{inside}", path
    yield "params/defaults.yaml", project.ROOT / "params" / "defaults.yaml"


def _changed() -> Iterator[Part]:
    """What differs from the commit of the repository: changes as a patch, and files that it does not have."""
    if patch := _git("diff", "HEAD", "--no-color", "--no-ext-diff", "--", *_CODE):
        yield Part(CHANGES, patch, "Changes of the source since the commit, for `git apply`")
    for name in filter(
        None, _git("ls-files", "-z", "--others", "--exclude-standard", "--", *_CODE).decode().split("\0")
    ):
        if Path(name).suffix in _SUFFIXES:
            yield Part(OWN + name, project.ROOT / name, "A file of the source that the commit does not have")


def _git(*arguments: str) -> bytes:
    """What git says of the project's repository; nothing where there is none."""
    if not (project.ROOT / ".git").exists():
        return b""
    command = ["git", "-C", str(project.ROOT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return b""


def _installed(of: Finished) -> dict[str, Any]:
    names = ("commit", "python", "platform", "seeds", "packages")
    return {"judgebook": __version__, **{name: of.manifest.get(name) for name in names}}
