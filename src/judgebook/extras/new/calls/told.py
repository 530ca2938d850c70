"""What is wrong with a frame, told by its index and the call's arguments: nobody sees the file it is stored as."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgebook.study.problems import DataError, Problem

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoDataFrame

#: our columns -> the arguments that name them
_ARGUMENTS = {"dialogue": "item", "system_b": "system"}
_ROW = re.compile(r"row (\d+)(?:, (.*))?", re.DOTALL)
#: rows of a file before those of its data: the header
_HEADER = 2
_IN_YAML = "this goes into the YAML that folder='DIR' leaves: pass its path instead of the frame"


@contextmanager
def of_frame(data: IntoDataFrame, named: Mapping[str, str], scores: Sequence[str]) -> Iterator[None]:
    """Errors of the file that a frame was stored as become errors of the frame.

    named : our column -> the frame's. Errors of what is no frame, or is not read as one, stay as they are.
    """
    import narwhals as nw

    if not hasattr(data, "columns"):
        yield
        return
    try:
        yield
    except DataError as error:
        frame = nw.from_native(data, eager_only=True)
        problems = [_told(p, frame, named, scores) for p in error.problems if not _follows(p, frame, named)]
        # a row without an id has as many of them as it has scores
        raise DataError(dict.fromkeys(problems or error.problems)) from None


def _position(problem: Problem) -> int | None:
    """The row of the frame, from 0; less than that for its columns, None for what is in no row."""
    match = _ROW.fullmatch(problem.where)
    return int(match[1]) - _HEADER if match else None


def _follows(problem: Problem, frame: nw.DataFrame[Any], named: Mapping[str, str]) -> bool:
    """Whether an item lacks an id although its own cell is filled: that of its system is told."""
    position, column = _position(problem), named.get(problem.column)
    if problem.kind != "empty" or problem.column != "dialogue" or column is None or position is None or position < 0:
        return False
    return bool(not frame[column].is_null()[position] and frame[column][position] != "")


def _told(problem: Problem, frame: nw.DataFrame[Any], named: Mapping[str, str], scores: Sequence[str]) -> Problem:
    match, position = _ROW.fullmatch(problem.where), _position(problem)
    where = problem.where if position is None else "columns" if position < 0 else _index(frame, position)
    column = (match[2] or "") if match else problem.where
    argument = problem.column
    if problem.column in named:
        argument = f"{_ARGUMENTS.get(problem.column, problem.column)}={named[problem.column]!r}"
    elif column in scores:
        argument = f"score={column!r}"
    hint = f"{problem.hint} ({_IN_YAML})" if "`" in problem.hint else problem.hint
    if problem.kind == "empty" and problem.column in named:
        hint = _filled(problem.column, named[problem.column], frame)
    return replace(problem, file="frame", where=where, column=argument, called="", hint=hint, of=())


def _index(frame: nw.DataFrame[Any], position: int) -> str:
    """A row by its index; by its place, from 0, where an index does not tell it from others."""
    index = getattr(frame.to_native(), "index", None)
    if index is None:
        return f"row {position} (from 0)"
    label = index[position : position + 1].tolist()[0]  # as Python has it: 4, not np.int64(4)
    return f"index {label!r}" + ("" if index.is_unique else f" (row {position} from 0)")


def _filled(ours: str, column: str, frame: nw.DataFrame[Any]) -> str:
    """How to do without rows that lack an id."""
    ways = ["fill it in"] + ["write annotator=None if nobody knows who judged"] * (ours == "annotator")
    pandas = frame.implementation.is_pandas_like()
    drop = f"frame.dropna(subset=[{column!r}])" if pandas else f"frame.drop_nulls({column!r})"
    return ", ".join([*ways, f"or leave such rows out: {drop}" if frame[column].is_null().any() else "or leave it out"])
