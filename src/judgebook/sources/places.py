"""Where raw files are sought. Without pandas: the command line asks this before it knows whether anything must run."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Any

from judgebook import project
from judgebook.study import params, paths, store


def raw_roots() -> list[Path]:
    """Folders that may hold raw files, in the order they are searched."""
    given = os.environ.get("COMPENDIUM_RAW")
    roots = [store.out_root() / "data" / "raw", project.folder() / "data" / "raw"]
    roots += [Path(given)] if given else []
    return list(dict.fromkeys([*roots, project.folder().parent / "shared" / "data"]))


def candidates(name: str, study: str, beside: Path | None = None) -> list[Path]:
    """Every place where the raw file `name` of `study` may be, in order; `beside` is the folder of the YAML."""
    path = Path(name)
    if path.is_absolute():
        return [path]
    first = [beside / path] if beside is not None else []
    return first + [place for root in raw_roots() for place in (root / study / path, root / path)]


def find(name: str, study: str, beside: Path | None = None) -> Path | None:
    """The raw file `name` of `study`, or None where no candidate exists."""
    return next((path for path in candidates(name, study, beside) if params.is_file(path)), None)


def names(source: Any, study: str, beside: Path | None = None) -> list[str]:
    """The raw files a source reads. A name with {placeholders} or * stands for every file that fits, in order.

    They are sought in one folder, the first that has any; where none has, the name is returned as it is.
    """
    out: list[str] = []
    for name in source.names():
        out += _fitting(name, study, beside) if wild(name) else [name]
    return list(dict.fromkeys(out))


def wild(name: str) -> bool:
    """Whether a name stands for several files."""
    return "*" in name or bool(paths.names(name))


def matcher(name: str) -> paths.Matcher:
    """What the {names} in the name of a file or a sheet stand for, where * is any text."""
    return paths.Matcher(name.replace("*", "{any_text}"))


def wildcards(name: str) -> str:
    """A name with * for its placeholders, as `glob` reads it."""
    return re.sub(r"\{[a-z][a-z_0-9]*\}", "*", glob.escape(name).replace("[*]", "*"))


def _fitting(name: str, study: str, beside: Path | None) -> list[str]:
    for place in candidates(name, study, beside):
        fitting = sorted(Path(p) for p in glob.glob(wildcards(str(place))) if Path(p).is_file())
        if fitting:
            if Path(name).is_absolute():
                return [p.as_posix() for p in fitting]
            root = place.parents[len(Path(name).parts) - 1]
            return [p.relative_to(root).as_posix() for p in fitting]
    return [name]


def absent(study: params.Study) -> list[str]:
    """Raw files that the study needs and that are not here; optional sources do without theirs."""
    beside = study.path.parent if study.path else None
    needed = [name for source in study.sources if not source.optional for name in names(source, study.key, beside)]
    return [name for name in dict.fromkeys(needed) if find(name, study.key, beside) is None]
