"""A notebook of one's own: the call at its top declares all that it reads, and gives it just that.

The pipeline reads the declaration without running it (`arguments`), so its values are written out.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from judgebook.errors import JudgebookError
from judgebook.study import store
from judgebook.study.questions import Question

CALL = "own_notebook"
#: of its arguments, those that declare something
LISTS = ("reads", "needs", "extra")
_LIKE = f"""{CALL}("20_lengths", study, run_id, reads=["annotations"])"""


class OwnNotebookError(JudgebookError, ValueError):
    """A notebook of one's own does not say what it is and reads, or says what cannot be."""


def own_notebook(
    name: str,
    study: str,
    run_id: str | None = None,
    *,
    reads: Sequence[str] = (),
    needs: Sequence[str] = (),
    extra: Sequence[str] = (),
) -> store.Run:
    """What a notebook of one's own calls first; docs/own_project.md has an example.

    A run makes the notebook again when something it declares has changed, and refuses what it does not declare.

    name : of its file, without suffix: two digits, then lower-case letters, digits and `_`. study, run_id : as in its
    parameters cell. reads : frames of the study, and files below the project's folder (with a slash). needs : notebooks
    whose results it reads. extra : keys of the YAML's `extra`.

    Raises OwnNotebookError for a declaration that cannot be, ParamsError for the study's YAML.
    """
    question = declaration(name, {"reads": reads, "needs": needs, "extra": extra})
    return store.start(study, name, run_id).of(question)


def declaration(name: str, lists: dict[str, Any], title: str = "") -> Question:
    """What a notebook declares, by the arguments of its call. Raises OwnNotebookError naming all that is wrong."""
    from judgebook.study.schema import FRAMES

    problems = [
        f"{key}: expected a list of texts, found {values!r}"
        for key, values in lists.items()
        if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values)
    ]
    for read in () if problems else lists.get("reads", ()):
        if "/" in read and (read.startswith("/") or ".." in read.split("/") or ":" in read):
            problems.append(f"reads: expected a file below the project's folder, found {read!r}")
        elif "/" not in read and read not in FRAMES:
            near = difflib.get_close_matches(read, FRAMES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(FRAMES)}; a file has a slash"
            problems.append(f"reads: no frame {read!r}; {hint}")
    if problems:
        raise OwnNotebookError(f"{name}: {'; '.join(problems)}")
    try:
        written = {key: [*lists.get(key, ())] for key in LISTS}
        return Question.model_validate({"notebook": name, "asks": title, "own": True, **written})
    except ValidationError:
        raise OwnNotebookError(
            f"{name}: expected a name of two digits, then lower-case letters, digits and _, such as 20_lengths"
        ) from None


def arguments(file: str, sources: Iterable[str]) -> dict[str, Any] | None:
    """The arguments of the call that declares a notebook, read without running it; None where there is none.

    file : its name, without suffix. sources : its code cells. Raises OwnNotebookError where they are not written out.
    """
    nodes = (node for source in sources for node in ast.walk(ast.parse(source)))
    calls = [node for node in nodes if isinstance(node, ast.Call) and _called(node.func) == CALL]
    if not calls:
        return None
    if len(calls) > 1:
        raise OwnNotebookError(f"{file}: expected one call of {CALL}, found {len(calls)}")
    passed = {**dict(zip(("name", "study", "run_id"), calls[0].args, strict=False))}
    passed |= {keyword.arg or "**": keyword.value for keyword in calls[0].keywords}
    if unknown := sorted({*passed} - {"name", "study", "run_id", *LISTS}):
        raise OwnNotebookError(f"{file}: {CALL} has no argument {unknown[0]!r}; expected e.g. {_LIKE}")
    for variable in ("study", "run_id"):  # else it would always read the same study, or never be of a run
        if not (isinstance(node := passed.get(variable), ast.Name) and node.id == variable):
            raise OwnNotebookError(f"{file}: expected `{variable}` of its parameters cell in the call: {_LIKE}")
    try:
        written = {key: ast.literal_eval(node) for key, node in passed.items() if key in ("name", *LISTS)}
    except (ValueError, TypeError):
        raise OwnNotebookError(
            f"{file}: expected values written out, since they are read before the notebook runs: {_LIKE}"
        ) from None
    if written.pop("name", None) != file:
        raise OwnNotebookError(f"{file}: expected the name of its file first: {CALL}({file!r}, study, run_id, …)")
    return written


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
