"""What a bundle says of the software: versions, and what was changed in the source or added to it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgebook import __version__, project
from judgebook.extras.bundle.finished import Finished
from judgebook.extras.bundle.parts import Part, json_bytes
from judgebook.study import params

LOCK, PACKAGES = "software/requirements.lock", "software/packages.json"
CHANGES, OWN = "software/changes.patch", "software/own/"
#: folders and files whose content decides what a study's numbers are
_CODE = ("src", "notebooks", "params/defaults.yaml")
_SUFFIXES = (".py", ".ipynb", ".yaml", ".j2", ".bib")


def parts(of: Finished) -> list[Part]:
    """Versions and source of the software; where a repository tells, what differs from its commit."""
    return [
        Part(LOCK, (params.ROOT / "requirements.lock").read_bytes(), "Versions and hashes to install, for pip"),
        Part(PACKAGES, json_bytes(_installed(of)), "Versions installed when the study was run"),
        *_changed(),
    ]


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
