"""Tasks in a Dask worker, and whether it may do them: it must be like the machine where the run was started."""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.pipeline.surroundings import installed

#: variables that bound the threads of BLAS, as Dask's nannies set them: with more the last digits of matrix products
#: vary
BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PYTHON = ".".join(map(str, sys.version_info[:2]))


class WorkerUnfitError(JudgebookError, RuntimeError):
    """A worker cannot be used, as it is not like the machine where the run was started; the message says how."""


@dataclass(frozen=True)
class Expected:
    """What a worker must have. python : its version. packages : version by distribution, None for one that must not be
    there. project : `loaded()`. notebooks : `notebooks()`. seen : a file in the output folder."""

    python: str
    packages: dict[str, str | None]
    project: str
    notebooks: str
    seen: str


@cache
def loaded() -> str:
    """Digest of the project's code at the first call in this process, which has loaded it: files may change later."""
    return _digest(*project.packages().values())


def notebooks() -> str:
    """Digest of the notebooks and what they import, which each kernel reads anew."""
    return _digest(project.ROOT / "notebooks", project.ROOT / "src" / "helpers")


def _digest(*folders: Path) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def unfit(expected: Expected, dask_worker: Any = None) -> str:
    """What this worker has instead of what is expected, in words; empty where all is as expected.

    dask_worker : as `client.run` gives it.
    """
    packages = installed()
    pairs = [("Python", PYTHON, expected.python)]
    pairs += [(name, packages.get(name, "missing"), version or "none") for name, version in expected.packages.items()]
    other = [
        f"{name} {has} (expected {wanted})"
        for name, has, wanted in pairs
        if has != wanted and (has, wanted) != ("missing", "none")
    ]
    if expected.project != loaded():
        other.append(f"loaded another version of the project from {project.PACKAGE} (restart it if that was changed)")
    if expected.notebooks != notebooks():
        other.append(f"other notebooks in {project.ROOT}")
    if not os.path.exists(expected.seen):
        other.append(f"not the output folder {os.path.dirname(expected.seen)}")
    if dask_worker is not None and dask_worker.state.nthreads != 1:
        other.append(f"{dask_worker.state.nthreads} threads (expected 1, by --nthreads 1)")
    if any(os.environ.get(name) != "1" for name in BLAS):
        other.append(f"several threads for BLAS (expected {', '.join(f'{name}=1' for name in BLAS)}, as nannies set)")
    return ", ".join(other)


def check(expected: Expected, dask_worker: Any) -> None:
    """Raise WorkerUnfitError where work has come to a worker that cannot be used: it may have joined just now."""
    if why := unfit(expected, dask_worker):
        raise WorkerUnfitError(f"the worker {dask_worker.address} has {why}; results might differ")


def sent(function: Callable[..., Any], *arguments: Any) -> tuple[Callable[..., Any], bytes]:
    """A call as it is submitted: Dask's scheduler reads the first part, and need not have the project.

    Further arguments may be added; they come last.
    """
    packed = pickle.dumps(partial(function, *arguments), protocol=5)
    # a function without a name is sent as it is, and not by the name of its module
    return (lambda packed, *more: __import__("pickle").loads(packed)(*more)), packed


def task(expected: Expected, packed: bytes, shared: dict[int, bytes]) -> bytes:
    """A task of an analysis, in a worker: its pickled result. Raises WorkerUnfitError, and what the task raises.

    packed : function and arguments. shared : arguments that other tasks have, too, by their place. All are pickled here
    and not by Dask, in whose buffers arrays may lie at odd addresses: numpy then takes other ways to some sums and
    products, and rounds otherwise.
    """
    from distributed import get_worker

    check(expected, get_worker())
    function, arguments = pickle.loads(packed)
    for place, value in shared.items():
        arguments[place] = unpacked(value)
    return pickle.dumps(function(*arguments), protocol=5)


@lru_cache(maxsize=4)
def unpacked(packed: bytes) -> Any:
    """An argument of several tasks, which does not change."""
    return pickle.loads(packed)
