"""Options of the command line: what several commands have, and types, each of which reads a text or raises what
argparse tells the user."""

from __future__ import annotations

import argparse
from math import nan
from typing import Any

from judgebook.study import limits, questions


def told(key: str) -> str:
    """What an option does that is a key of the YAML, in the words of its model; with its default."""
    section, _, name = key.partition(".")
    field = questions.options()[section].model_fields[name]
    return f"{field.description}" + (f" ({field.default})" if field.default is not None else "")


def _whole(text: str, low: int, high: int, expected: str) -> int:
    digits = text if text.isascii() and text.isdigit() and len(text) <= len(str(high)) else "-1"
    if not low <= int(digits) <= high:
        raise argparse.ArgumentTypeError(f"expected a whole number {expected}, found {text[:40]!r}")
    return int(digits)


def jobs(text: str) -> int:
    return _whole(text, 1, limits.JOBS, f"from 1 to {limits.JOBS}")


def count(text: str) -> int:
    return _whole(text, 1, limits.COUNT, f"above 0 and up to {limits.COUNT:,}")


def count_or_none(text: str) -> int:
    return _whole(text, 0, limits.COUNT, f"up to {limits.COUNT:,}")


def _number(text: str, low: float, high: float, expected: str, *, ends: bool = False) -> float:
    """ends : whether `low` is a value, too; otherwise it lies below all."""
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not (low < value <= high or (ends and value == low)):
        raise argparse.ArgumentTypeError(f"expected a number {expected}, found {text[:40]!r}")
    return value


def amount(text: str) -> float:
    above = f" and up to {limits.AMOUNT:,.0f}" if len(text) > len(f"{limits.AMOUNT:.0f}") else ""
    return _number(text, 0, limits.AMOUNT, f"above 0{above}")


def share(text: str) -> float:
    return _number(text, 0.5, 1 - 1e-9, "between 0.5 and 1")


def unit(text: str) -> float:
    """From 0 to 1."""
    return _number(text, 0, 1, "from 0 to 1", ends=True)


def ends(text: str) -> tuple[float, float]:
    """Lowest and highest score of a scale, such as `1:5`."""
    try:
        low, high = (float(part) for part in text.split(":"))
    except ValueError:
        low = high = 0.0
    if not low < high <= limits.AMOUNT or low < -limits.AMOUNT:
        raise argparse.ArgumentTypeError(f"expected two numbers, as in 1:5, found {text[:40]!r}")
    return low, high


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


#: options that several commands have -> what argparse is told of each; a command adds its own words
SHARED: dict[str, dict[str, Any]] = {
    "--set": {"dest": "values", "nargs": "+", "action": "extend", "default": [], "metavar": "KEY=VALUE"},
    "--out": {"default": argparse.SUPPRESS, "metavar": "DIR"},
    "--jobs": {"default": argparse.SUPPRESS, "type": jobs, "metavar": "N"},
}


def add(parser: argparse.ArgumentParser, option: str, about: str, **other: Any) -> None:
    """Add an option of `SHARED`. other : what this command tells argparse instead."""
    parser.add_argument(option, help=about, **SHARED[option] | other)
