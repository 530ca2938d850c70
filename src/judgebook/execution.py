"""How analyses are carried out: what one gave is kept until its code or its arguments change, and independent tasks of
one, such as its labels or blocks of pairs, say how far they are.

`$COMPENDIUM_CODE` names a file that the pipeline writes: for each module that a notebook may call, the digest of all
the code behind it, packages included. Without it, in Jupyter, a value is kept as long as the kernel lives.
`$COMPENDIUM_PROGRESS` names a file that says how far the analysis is; the pipeline shows it.

A task receives everything it needs, its own random generator included. Functions may round otherwise for an array with
gaps than for one without, so gaps are closed first, and results do not depend on how arguments were cut.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from judgebook.study import store
from judgebook.study.labels import METHODS

if TYPE_CHECKING:
    import pandas as pd

P = ParamSpec("P")
T = TypeVar("T")

CODE = "COMPENDIUM_CODE"
#: the file in which an analysis says how far it is
PROGRESS = "COMPENDIUM_PROGRESS"
_EVERY = 1.0  # seconds between two notes on progress
_IN_MEMORY: dict[str, tuple[str, bytes]] = {}


def kept(folder: Path, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`function(*args, **kwargs)`, computed where its code or the arguments are not those of the value in `folder`.

    A value must follow from arguments, declared methods and code alone. Each time it is a copy, which may be changed.
    """
    if CODE not in os.environ and not _in_jupyter():
        return function(*args, **kwargs)
    name = f"{function.__module__}.{function.__name__}"
    arguments = _arguments((METHODS.declared, _laid_out(args), _laid_out(kwargs)))
    if listed := os.environ.get(CODE):
        code = json.loads(Path(listed).read_text(encoding="utf-8"))[function.__module__]
        return _on_disk(folder / name, f"{code} {arguments}", lambda: function(*args, **kwargs))
    if _IN_MEMORY.get(name, ("",))[0] != arguments:
        _IN_MEMORY[name] = arguments, pickle.dumps(function(*args, **kwargs))
    return pickle.loads(_IN_MEMORY[name][1])


def _arguments(value: Any) -> str:
    """As `joblib.hash`, without copies of the texts of a frame: of ten million judgements these do not fit."""
    import pyarrow as pa
    from joblib.hashing import NumpyHasher

    hasher = NumpyHasher()

    def in_place(obj: Any) -> Any:
        if not isinstance(obj, pa.Buffer):
            return NotImplemented
        hasher._hash.update(obj)
        return int, (obj.size,)

    hasher.reducer_override = in_place
    return str(hasher.hash(value))


def _laid_out(value: Any) -> Any:
    """Frames, also those in lists and dictionaries, as what they hold: how columns lie in memory, and what nullable
    types remember, depends on what else this process did with them."""
    import pandas as pd

    if type(value) in (list, tuple):
        return [_laid_out(part) for part in value]
    if type(value) is dict:
        return {key: _laid_out(part) for key, part in value.items()}
    if not isinstance(value, pd.DataFrame):
        return value
    return value.index, value.columns, value.attrs, [_values(value.iloc[:, i]) for i in range(value.shape[1])]


def _values(column: pd.Series) -> Any:
    import numpy as np

    kind = column.dtype
    if not hasattr(kind, "na_value"):
        return np.ascontiguousarray(column)
    if kind.kind in "iufb":
        return str(kind), column.isna().to_numpy(), column.to_numpy(kind.type, na_value=kind.type(0))
    return column.array.copy()


def _in_jupyter() -> bool:
    if "IPython" not in sys.modules:  # which takes its time to import
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


def _on_disk(path: Path, depends: str, compute: Callable[[], Any]) -> Any:
    """The value in a file whose first line says what it depends on and the digest of the rest; else it is computed."""
    with suppress(OSError), path.open("rb") as file:
        first, content = file.readline().decode(errors="replace").strip(), file.read()
        if first == f"{depends} {_digest(content)}":
            return pickle.loads(content)
    value = compute()
    content = pickle.dumps(value, protocol=5)
    with store.atomic(path) as temporary:
        temporary.write_bytes(f"{depends} {_digest(content)}\n".encode() + content)
    return pickle.loads(content)  # as the next run has it: the digest of arguments tells which objects in them are one


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def run(function: Callable[..., T], tasks: Iterable[tuple[Any, ...]], *, doing: str) -> list[T]:
    """`function(*task)` for each task, in order.

    tasks : positional arguments, not changed by `function`; random generators come from `rng.spawn`, one per task.
    doing : what is computed, in a word or two: "permutation tests"
    """
    same: dict[int, Any] = {}  # an argument of many tasks stays one object
    listed = list(tasks)  # holds every argument, so that no two have the same id
    todo = [tuple(same.setdefault(id(a), _contiguous(a)) for a in task) for task in listed]
    progress, results = _Progress(doing), []
    for task in todo:
        results.append(_contiguous(function(*task)))
        progress(len(results), len(todo))
    return results


def _contiguous(value: Any) -> Any:
    import numpy as np  # which a run without work does not need

    if isinstance(value, np.ndarray) and not (value.flags.c_contiguous or value.flags.f_contiguous):
        return value.copy(order="C")
    return tuple(map(_contiguous, value)) if type(value) is tuple else value


class _Progress:
    """Notes, at most one a second, how many tasks are done and how long the others will take."""

    def __init__(self, doing: str):
        self.doing = doing
        self.started = self.noted = time.monotonic()

    def __call__(self, done: int, n: int) -> None:
        now = time.monotonic()
        if now - self.noted > _EVERY and done < n:
            self.noted = now
            note(f"{self.doing} {done} of {n}", (now - self.started) / done * (n - done))


def note(text: str, left: float = 0.0) -> None:
    """Say how far the analysis is and how many seconds this step has left, where somebody asked."""
    if path := os.environ.get(PROGRESS):
        with suppress(OSError):  # a note that cannot be made is no reason to stop
            temporary = Path(f"{path}.tmp")
            temporary.write_text(f"{text}\n{left:.0f}", encoding="utf-8")
            temporary.replace(path)
