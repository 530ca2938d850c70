"""Conditions on cells in `keep` and `drop`: `< 60`, `= model_b`, `is empty`, `matches ^test`. Nothing is run as Python.

Any other value of `keep` and `drop` is a value that cells have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_COMPARED = re.compile(r"(<=|>=|!=|<|>|=)(?:\s*(-?[0-9]+(?:\.[0-9]+)?)|\s+(\S.*))")
_MATCHED = re.compile(r"matches\s+(\S.*)")


@dataclass(frozen=True)
class Condition:
    """sign : a comparison, `empty` or `matches`. number, column : what is compared with. expression : what to match."""

    sign: str
    number: float | None = None
    column: str = ""
    expression: str = ""


def parse(value: Any) -> Condition | None:
    """The condition that a value of `keep` or `drop` is; None for a plain value.

    Raises ValueError for an expression after `matches` that is none.
    """
    text = value.strip() if isinstance(value, str) else ""
    if text == "is empty":
        return Condition("empty")
    if match := _MATCHED.fullmatch(text):
        try:
            re.compile(match[1])
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"{text!r}: expected a regular expression, found {match[1]!r} ({error})") from None
        return Condition("matches", expression=match[1])
    if match := _COMPARED.fullmatch(text):
        return Condition(match[1], None if match[2] is None else float(match[2]), (match[3] or "").strip())
    return None


def columns(*rules: Mapping[Any, Any]) -> list[str]:
    """The columns that rules look at: those they are about, and those these are compared with."""
    of_rules = [(str(column), values) for rule in rules for column, values in rule.items()]
    named = [column for column, _ in of_rules]
    for _, values in of_rules:
        conditions = map(parse, listed(values))
        named += [condition.column for condition in conditions if condition and condition.column]
    return list(dict.fromkeys(named))


def listed(values: Any) -> list[Any]:
    """The value or values of a rule."""
    return values if isinstance(values, list) else [values]
