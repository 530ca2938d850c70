"""Runs a function of `tasks` in a process of its own, with limits of memory and time.

A few bytes can ask a library for more memory or time than there is, in more ways than a check of the file can foresee,
and some libraries end the process then. Of a child, that is an answer.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from judgebook.errors import JudgebookError
from judgebook.sources.files import unpacked_at_most
from judgebook.sources.foreign import tasks
from judgebook.study import limits
from judgebook.study.schema import DataError, Problem

#: one thread, and memory as it is asked for: address space that a library reserves would count as used
_FRUGAL = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
_FRUGAL |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "PYTHONUTF8": "1"}
#: a busy machine gives a process a part of its time: it is stopped after as many times its CPU seconds
_PATIENCE = 20
_OUT_OF_TIME = -getattr(signal, "SIGXCPU", 0)


def of_file(task: str, path: Path, name: str, expected: str, hint: str, large: str, **arguments: Any) -> Any:
    """What a task makes of a file, whose size sets its limits.

    name : of the file, for messages. expected, hint : what it should be, and what to do where it is not. large : what
    to do where it takes too much. Raises DataError.
    """
    try:
        size = path.stat().st_size
        return run(task, size, path=str(path), **arguments)
    except RefusedError as error:
        refused = tasks.Refusal(*error.args)
        problem = Problem(name, refused.where, "", refused.expected, refused.content, refused.hint or hint)
    except TooMuchError as error:
        problem = Problem(name, "", "", f"{expected} that can be read with {error}", "one that takes more", large)
    except (OSError, RuntimeError) as error:
        problem = Problem(name, "", "", expected, str(error)[: limits.QUOTED], hint)
    raise DataError([problem]) from None


def of_texts(task: str, expression: str, cells: pd.Series, file: str, column: str) -> pd.Series:
    """What a task makes of each text with a regular expression of a YAML. Raises DataError where it takes too long."""
    texts = [*dict.fromkeys(cells)]
    try:
        answers = run(task, sum(map(len, texts)), expression=expression, texts=texts)
    except TooMuchError as error:
        most = f"an expression that needs at most {error} for {len(texts):,} texts"
        hint = "write it without a repetition of repetitions such as (a+)+, or without alternatives that overlap"
        raise DataError([Problem(file, "", column, most, f"/{expression}/, which needs more", hint)]) from None
    return cells.map(dict(zip(texts, answers, strict=True)).get).astype(object)


class RefusedError(JudgebookError):
    """The file holds what it should not: the arguments are those of a `tasks.Refusal`."""


class TooMuchError(JudgebookError):
    """The task takes more than it may: the message says how much that is, such as "700 MB of memory"."""


def run(task: str, size: int, **arguments: Any) -> Any:
    """What the function `task` of `tasks` returns.

    size : bytes that it has to read. Raises TooMuchError, RefusedError, and RuntimeError with the message of any other
    error.
    """
    memory = limits.CHILD_MEMORY + 4 * unpacked_at_most(size)
    seconds = limits.CHILD_SECONDS + size // limits.CHILD_BYTES
    request = pickle.dumps((task, arguments, memory, seconds))
    patience = seconds * (_PATIENCE if tasks.resource else 1)
    try:
        done = subprocess.run(
            [sys.executable, "-P", tasks.__file__],
            input=request,
            capture_output=True,
            timeout=patience,
            env=os.environ | _FRUGAL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TooMuchError(f"{seconds:,} seconds") from None
    if done.returncode > 0:  # it could not even begin
        raise RuntimeError(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    if done.returncode < 0 and done.returncode == _OUT_OF_TIME:
        raise TooMuchError(f"{seconds:,} seconds")
    state: str
    content: Any
    state, content = pickle.loads(done.stdout) if not done.returncode else ("memory", None)
    if state == "memory":
        raise TooMuchError(f"{memory // 10**6:,} MB of memory")
    if state == "refused":
        raise RefusedError(*content)
    if state == "failed":
        raise RuntimeError(content)
    return content
