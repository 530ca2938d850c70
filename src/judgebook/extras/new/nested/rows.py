"""Nested records as flat rows, one for each score: the keys and places above it, and all that is said beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from judgebook.extras.new.nested.tree import LIST, MAP, Place
from judgebook.sources.formats import Records, scalar

#: rows from which roles are told
_ROWS = 6_000
#: what is computed of a list of scores and may stand beside it
_SUMMARIES = (np.mean, np.sum, np.median, np.max, np.min, len)
#: rounding of a mean
_ROUNDED = 0.051
#: of all objects, the share in which a number is what was computed
_MOST = 0.9


def levels_of(place: Place) -> list[Place]:
    """The lists and keys that are values on the way to a place."""
    return [place[: i + 1] for i, part in enumerate(place) if part in (LIST, MAP)]


def nodes(read: Records, place: Place) -> Iterator[tuple[dict[Place, str], dict[Place, Any], Any]]:
    """What stands at a place: the key or number at each level above, what stands at each level, and the value."""
    for n, record in enumerate(read.records):
        stack: list[tuple[int, Any, dict[Place, str], dict[Place, Any]]] = [(0, record, {}, {(): record})]
        while stack:
            i, node, keys, held = stack.pop()
            if i == len(place):
                yield {(): str(n), **keys}, held, node
                continue
            part, level = place[i], place[: i + 1]
            inner: list[tuple[Any, Any]]
            if part == LIST:
                inner = list(enumerate(node)) if isinstance(node, list) else []
            elif part == MAP:
                inner = list(node.items()) if isinstance(node, dict) else []
            else:
                inner = [(None, node[part])] if isinstance(node, dict) and part in node else []
            for key, value in reversed(inner):
                at = (keys, held) if key is None else ({**keys, level: str(key)}, {**held, level: value})
                stack.append((i + 1, value, *at))


def flat(read: Records, scores: dict[Place, str], beside: list[Place]) -> pd.DataFrame:
    """One row for each score: a column for each level (its Place) and for what is `beside`, `label` and `score`.

    scores : place -> label. beside : places that go through no other levels than the scores.
    """
    rows: list[dict[Any, str]] = []
    first = levels_of(next(iter(scores)))
    for place, label in scores.items():
        same = dict(zip(levels_of(place), first, strict=True))  # but for the label above a list
        for keys, held, value in nodes(read, place):
            if isinstance(value, dict | list) or value in (None, ""):
                continue
            row: dict[Any, str] = {same[level]: key for level, key in keys.items() if level}
            for other in beside:
                above = next((v for v in reversed(levels_of(other))), ())
                said = value_at(held.get(above), other[len(above) :])
                row[other] = "" if isinstance(said, dict | list) else scalar(said) or ""
            rows.append(row | {"label": label, "score": scalar(value) or ""})
            if len(rows) >= _ROWS * len(scores):
                break
    return pd.DataFrame(rows).fillna("").astype(str)


def value_at(node: Any, keys: Place) -> Any:
    """What stands below keys of objects; None where nothing does."""
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def summary(read: Records, place: Place, lists: list[Place]) -> Place | None:
    """The list of scores beside a number that is computed from it, such as their mean; None where there is none."""
    for other in lists:
        if other[-1:] != (LIST,) or other[:-2] != place[:-1] or other == place:
            continue
        objects = [o for _, _, o in nodes(read, place[:-1]) if isinstance(o, dict)]
        pairs = [(_numbers([o.get(place[-1])]), _numbers(o.get(other[-2]))) for o in objects]
        numbers = [(x[0], held) for x, held in pairs if x and held]
        for tell in _SUMMARIES:
            if numbers and np.mean([abs(x - tell(held)) < _ROUNDED for x, held in numbers]) > _MOST:
                return other
    return None


def _numbers(values: Any) -> list[float]:
    held = values if isinstance(values, list) else []
    return [float(v) for v in held if isinstance(v, int | float) and not isinstance(v, bool)]
