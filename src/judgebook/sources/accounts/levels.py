"""Scores that stand apart from the levels of a scale, as codes for no answer do; and scores that are all alike."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import pandas as pd

from judgebook.study.labels import METHODS, Label

#: numbers that stand for no answer in exports of surveys and annotation tools
CODES = {-1, -9, -50, -77, -88, -98, -99, -999, 0, 9, 88, 98, 99, 999, 9999}


def apart(numbers: pd.Series) -> tuple[list[float], list[float]] | None:
    """Codes away from the levels of a rating, and these levels; None where there are none.

    Levels are three to eleven whole numbers in a row, from -3 to 10. What is next to them may be a further level.
    """
    seen = sorted(numbers.dropna().unique().tolist())
    runs = [[n for _, n in run] for _, run in groupby(enumerate(seen), lambda pair: pair[1] - pair[0])]
    levels = max(runs, key=len, default=[])
    if not 3 <= len(levels) <= 11 or levels[0] % 1 or levels[0] < -3 or levels[-1] > 10:
        return None
    codes = [n for n in seen if n not in levels]
    return (codes, levels) if codes and set(codes) <= CODES else None


def doubts(label: Label, scores: pd.Series) -> Iterator[str]:
    """What is odd about the scores of a label: codes among them, or one score only."""
    if METHODS[label.method].unit == "pair" or label.categories:
        return
    if stand := apart(scores):
        codes, levels = stand
        many = ", ".join(f"{(scores == n).sum():,} times {n:g}" for n in codes)
        wanted = ", ".join(f'"{n:g}"' for n in codes)
        yield (
            f"question: {label.id}: {many}, away from {levels[0]:g} to {levels[-1]:g}: scores, or no answer? "
            f'If no answer, write `na_values: ["", {wanted}]` in the source'
        )


def alike(label: Label | None, scores: pd.Series) -> str:
    """What all scores are, where they are the same; "" where they differ, or there is one."""
    if len(scores) < 2 or (scores != scores.iloc[0]).any():
        return ""
    value = scores.iloc[0]
    if label is not None and label.binary and not label.categories and METHODS[label.method].unit != "pair":
        who = "nobody" if value == 0 else "everybody"
        return f"{who} marked it ({len(scores) if value else 0:,} of {len(scores):,})"
    return f"all {len(scores):,} are {value:g}"
