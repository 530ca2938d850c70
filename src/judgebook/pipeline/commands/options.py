"""Types of the command line's options: each reads a text, or raises what argparse tells the user."""

from __future__ import annotations

import argparse

from judgebook.study import limits


def jobs(text: str) -> int:
    digits = text if text.isascii() and text.isdigit() and len(text) <= len(str(limits.JOBS)) else "0"
    if not 1 <= int(digits) <= limits.JOBS:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {limits.JOBS}, found {text[:40]!r}")
    return int(digits)


def count(text: str) -> int:
    if not (value := count_or_none(text)):
        raise argparse.ArgumentTypeError("expected a whole number above 0, found 0")
    return value


def count_or_none(text: str) -> int:
    few = len(text) <= len(str(limits.COUNT))
    if not (few and text.isascii() and text.isdigit() and int(text) <= limits.COUNT):
        raise argparse.ArgumentTypeError(f"expected a whole number up to {limits.COUNT:,}, found {text[:40]!r}")
    return int(text)


def amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= limits.AMOUNT:
        most = f" and up to {limits.AMOUNT:,.0f}" if value > limits.AMOUNT else ""
        raise argparse.ArgumentTypeError(f"expected a number above 0{most}, found {text[:40]!r}")
    return value


def share(text: str) -> float:
    value = amount(text)
    if not 0.5 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0.5 and 1, found {text!r}")
    return value


def unit(text: str) -> float:
    """From 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found {text[:40]!r}")
    return value


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
