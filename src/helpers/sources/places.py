"""Where raw files are sought. Without pandas: the command line asks this before it knows whether anything must run."""

from __future__ import annotations

import os
from pathlib import Path

from helpers.study import params, store


def raw_roots() -> list[Path]:
    """Folders that may hold raw files, in the order they are searched."""
    given = os.environ.get("COMPENDIUM_RAW")
    roots = [store.out_root() / "data" / "raw", params.ROOT / "data" / "raw"]
    roots += [Path(given)] if given else []
    return list(dict.fromkeys([*roots, params.ROOT.parent / "shared" / "data"]))


def candidates(name: str, study: str, beside: Path | None = None) -> list[Path]:
    """Every place where the raw file `name` of `study` may be, in order; `beside` is the folder of the YAML."""
    path = Path(name)
    if path.is_absolute():
        return [path]
    first = [beside / path] if beside is not None else []
    return first + [place for root in raw_roots() for place in (root / study / path, root / path)]


def find(name: str, study: str, beside: Path | None = None) -> Path | None:
    """The raw file `name` of `study`, or None where no candidate exists."""
    return next((path for path in candidates(name, study, beside) if path.is_file()), None)


def absent(study: params.Study) -> list[str]:
    """Raw files that the study needs and that are not here; optional sources do without theirs."""
    beside = study.path.parent if study.path else None
    names = [name for source in study.sources if not source.optional for name in source.names()]
    return [name for name in dict.fromkeys(names) if find(name, study.key, beside) is None]
