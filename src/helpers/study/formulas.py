"""Metrics made from others by plain arithmetic, such as words per utterance: `n_words / n_utterances`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

_DO = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_ALLOWED = "names of metrics, numbers, + - * / and brackets"


def names(formula: str) -> set[str]:
    """The names in a formula. Raises ValueError where it holds anything but names, numbers, + - * / and brackets."""
    found = set()
    for node in ast.walk(_parse(formula)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif not _known(node):
            raise ValueError(f"{formula!r}: expected {_ALLOWED}, found {ast.unparse(node)!r}")
    return found


def evaluate(formula: str, values: Mapping[str, Any]) -> Any:
    """The value of a formula; values : name -> number, or a Series. Nothing in it is run as Python."""
    names(formula)
    return _value(_parse(formula), values)


def _parse(formula: str) -> ast.expr:
    try:
        return ast.parse(formula.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"{formula!r}: expected {_ALLOWED}") from None


def _known(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    return isinstance(node, (ast.BinOp, ast.Load, *_DO))


def _value(node: ast.AST, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.BinOp):
        return _DO[type(node.op)](_value(node.left, values), _value(node.right, values))
    return node.value if isinstance(node, ast.Constant) else values[node.id]
