"""What a run depends on beside the project: settings of the user, threads, installed packages, streams to print to, and
a slow import."""

from __future__ import annotations

import io
import os
import sys
import sysconfig
from importlib.util import find_spec
from math import inf
from pathlib import Path

from judgebook.study.store import DeniedError

#: scripts, styles and places for settings that would be read where a kernel starts
PERSONAL = (
    "PYTHONSTARTUP",
    "PYTHONOPTIMIZE",
    "PYTHONWARNINGS",
    "JUPYTER_CONFIG_PATH",
    "JUPYTER_PATH",
    "JUPYTER_PREFER_ENV_PATH",
)
#: what has one thread: with more the last digits of matrix products vary
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

#: files that a run needs to have open at a time, and that it asks the system for
FILES, ASKED = 256, 1024


def allow_files() -> None:
    """Let this process and those that it starts open as many files as the system allows, up to `ASKED`.

    Raises DeniedError where it allows too few: libraries would fail in the middle of a notebook without saying why.
    """
    if sys.platform == "win32":
        return
    import resource

    soft, hard = (inf if n == resource.RLIM_INFINITY else n for n in resource.getrlimit(resource.RLIMIT_NOFILE))
    if hard < FILES:
        raise DeniedError(
            f"a run has up to {FILES} files open, and {hard:.0f} are allowed: raise the limit (`ulimit -n {ASKED}`)"
        )
    if soft < ASKED:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (int(min(hard, ASKED)), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        )


def installed() -> dict[str, str]:
    """Version of each installed distribution, by their folders: reading metadata is slow."""
    versions = {}
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in os.listdir(folder):
            if entry.endswith(".dist-info"):
                name, _, version = entry.removesuffix(".dist-info").partition("-")
                versions[name.lower()] = version
    return dict(sorted(versions.items()))


def impersonal() -> dict[str, str]:
    """What the environment of a kernel gains: text is UTF-8, and Matplotlib reads the settings it comes with."""
    out = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}
    spec = find_spec("matplotlib")
    if spec and spec.submodule_search_locations:
        out["MATPLOTLIBRC"] = str(Path(spec.submodule_search_locations[0]) / "mpl-data" / "matplotlibrc")
    return out


def without_iri_grammar() -> None:
    """Spare this process a second: jsonschema, which nbformat imports, would build a grammar of IRIs, and no notebook
    holds one. For processes of this project's own only."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def streams() -> None:
    """Make printing safe: what an encoding does not have is escaped, and a closed stream takes everything.

    A file opened later would otherwise get the descriptor of a closed stream, and what children print.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 open while the process lives
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
