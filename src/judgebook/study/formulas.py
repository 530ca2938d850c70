"""Metrics made from others by plain arithmetic, such as words per utterance: `n_words / n_utterances`."""

from __future__ import annotations

import ast
import operator
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from judgebook.study import limits

_DO = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_ALLOWED = "names of metrics, numbers, + - * / and brackets"


def names(formula: str) -> set[str]:
    """The names in a formula. Raises ValueError where it holds anything but names, numbers, + - * / and brackets."""
    variables = set()
    for node in ast.walk(_parse(formula)):
        if isinstance(node, ast.Name):
            variables.add(node.id)
        elif not _known(node):
            raise ValueError(f"{formula!r}: expected {_ALLOWED}, found {ast.unparse(node)!r}")
    return variables


def evaluate(formula: str, values: Mapping[str, Any]) -> Any:
    """The value of a formula; values : name -> number, or a Series. Nothing in it is run as Python."""
    import numpy as np  # not above: reading a YAML must be quick

    names(formula)
    with np.errstate(all="ignore"):  # what comes of dividing by 0 is for the caller to see
        return _value(_parse(formula), values, np.float64)


def _parse(formula: str) -> ast.expr:
    if len(formula) > limits.FORMULA:
        length = f"{len(formula):,}, {formula[:40]!r}…"
        raise ValueError(f"expected a formula of at most {limits.FORMULA} characters, found {length}")
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{formula!r}: expected {_ALLOWED}") from None


def _known(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        value = node.value
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return isinstance(node, (ast.BinOp, ast.Load, *_DO))


def _value(node: ast.AST, values: Mapping[str, Any], number: Callable[[Any], Any]) -> Any:
    if isinstance(node, ast.BinOp):
        return _DO[type(node.op)](_value(node.left, values, number), _value(node.right, values, number))
    return number(node.value) if isinstance(node, ast.Constant) else values[node.id]  # type: ignore[attr-defined]  # a name
