"""What a notebook says without being run: its code, its knobs, its question.

Parameter names become code when a notebook runs. Only names declared in its parameters cell are passed, each with a
value of the declared type.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from judgebook.errors import JudgebookError
from judgebook.pipeline.cache import Cache, digest
from judgebook.pipeline.closure import imported
from judgebook.report.blocks import Knob, parameters
from judgebook.study.own_notebook import OwnNotebookError, arguments

#: what every parameters cell declares in addition to the notebook's own knobs
ALWAYS = ("study", "run_id")
_TYPES: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "None": None, "list": list}


class NotebookError(JudgebookError, ValueError):
    """A notebook or its question breaks the contract. The message says how to mend it."""


@dataclass(frozen=True)
class Facts:
    """source : digest of cells and tags. imports : what it imports of this project. title, question : first cell.
    declares : what a notebook of somebody's own says that it reads; None where it does not declare itself."""

    source: str
    imports: tuple[str, ...]
    knobs: tuple[Knob, ...]
    title: str
    question: str
    declares: dict[str, Any] | None = None

    def knob(self, name: str) -> Knob | None:
        return next((k for k in self.knobs if k.name == name), None)


def facts(path: Path, cache: Cache) -> Facts:
    """What the file says. Raises NotebookError where it is not a notebook or has no parameters cell."""
    read = cache.derived("notebook", path, lambda p: asdict(_read(p)))
    knobs = tuple(Knob(**k) for k in read["knobs"])
    return Facts(**{**read, "knobs": knobs, "imports": tuple(read["imports"])})


def _read(path: Path) -> Facts:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        cells = [{**c, "source": "".join(c["source"]), "tags": c.get("metadata", {}).get("tags", [])} for c in cells]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotebookError(f"{path.name}: not a notebook: {error}") from None
    code = [c["source"] for c in cells if c["cell_type"] == "code"]
    heads = [c["source"] for c in cells if c["cell_type"] == "code" and "parameters" in c["tags"]]
    if len(heads) != 1:
        raise NotebookError(f"{path.name}: expected one code cell tagged `parameters`, found {len(heads)}")
    code = [_without_magics(source) for source in code]
    try:
        imports = sorted({name for source in code for name in imported(source)})
        knobs = tuple(parameters(heads[0]))
        declares = arguments(path.stem, code)
    except OwnNotebookError as error:
        raise NotebookError(str(error)) from None
    except SyntaxError as error:
        raise NotebookError(f"{path.name}: not Python: {error}") from None
    missing = [name for name in ALWAYS if name not in {k.name for k in knobs}]
    if missing:
        raise NotebookError(f"{path.name}: the parameters cell does not declare {', '.join(missing)}")
    title, question = _heading(cells, path.stem)
    content = [[c["cell_type"], c["source"], c["tags"]] for c in cells]
    return Facts(digest(content), tuple(imports), knobs, title, question, declares)


def _without_magics(source: str) -> str:
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines())


def _heading(cells: list[dict], stem: str) -> tuple[str, str]:
    """The first heading of the first text cell, and the paragraph after it, as one line each."""
    text = next((c["source"] for c in cells if c["cell_type"] == "markdown"), "")
    match = re.search(r"^#\s+(.+)$", text, re.MULTILINE)
    title = match[1].strip() if match else stem
    paragraphs = [" ".join(p.split()) for p in (text[match.end() :] if match else text).split("\n\n")]
    return title, next((p for p in paragraphs if p and not p.startswith("#")), "")


def _type(node: ast.expr) -> Any:
    """The type an annotation names, without evaluating it: a few names, `|`, `list[…]` and `Literal[…]`."""
    if isinstance(node, ast.Name) and node.id in _TYPES:
        return _TYPES[node.id]
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _type(node.left) | _type(node.right)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        if node.value.id == "list":
            return list[_type(node.slice)]  # type: ignore[misc]  # known when it runs
        if node.value.id == "Literal":
            return Literal[ast.literal_eval(node.slice)]
    raise ValueError("known are str, int, float, bool, None, list[…], Literal[…] and | between them")


def check_knobs(name: str, declared: Facts, values: dict[str, Any]) -> dict[str, Any]:
    """`values` as they may be passed to the notebook `name`.

    Raises NotebookError naming every value whose name the parameters cell does not declare, or whose type is another.
    """
    problems = []
    for key, value in values.items():
        knob = declared.knob(key) if key.isidentifier() else None
        if knob is None:
            names = ", ".join(k.name for k in declared.knobs)
            problems.append(f"{name}: {key!r} is not in its parameters cell; known: {names}")
            continue
        try:
            kind = _type(ast.parse(knob.type, mode="eval").body)
            TypeAdapter(kind, config=ConfigDict(strict=True)).validate_python(value)
        except ValidationError:
            problems.append(f"{name}: {key}: expected {knob.type}, found {value!r}")
        except ValueError as error:
            problems.append(f"{name}: {key}: the parameters cell says {knob.type!r}: {error}")
    if problems:
        raise NotebookError("\n".join(problems))
    return values
