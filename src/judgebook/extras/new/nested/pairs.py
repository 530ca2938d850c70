"""Comparisons in nested records, as rows: of each record, or of each element of one of its lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.extras.new.columns import Guess
from judgebook.extras.new.comparisons import find
from judgebook.extras.new.nested.groups import CONTAINER
from judgebook.extras.new.roles import by_name
from judgebook.extras.new.spelling import quoted
from judgebook.extras.new.tables import guess
from judgebook.extras.new.words import ASPECT
from judgebook.sources.formats import scalar

#: records that show whether they hold comparisons
_SHOWN = 500
_KEY = re.compile(r"[^.\[\]{}*:\s][^.\[\]{}*:]*")


def compared_pairs(records: list[Any], given: dict[str, str]) -> Guess | None:
    """What the records hold, by paths, where they are comparisons; else None."""
    shown = records[:_SHOWN]
    keys: dict[str, Counter[str]] = {}
    for record in shown:
        for path, names in _inside(record, ""):
            keys.setdefault(path, Counter()).update(names)
    # names that only some records have are values: those of people
    people = {f"{path}.{{annotator}}" for path, n in keys.items() if len(n) > 1 and max(n.values()) < len(shown)}
    lists = {path for path, n in keys.items() if not n}
    for each in [*sorted(people), "", *sorted(lists, key=lambda p: (p.count("."), p))]:
        cells, _ = _cells(shown, each)
        seen = Guess()
        if len(cells) > 1:
            by_name(seen, cells, {})
            find(seen, cells)
        if seen.outcomes:
            cells, paths = _cells(records, each)
            spelt = {path: name for name, path in paths.items()}
            told = {ours: spelt.get(path, path) for ours, path in given.items()}
            out = guess(cells, told)
            if "each column" not in given and _people(out, paths):
                out = guess(cells, told | {"each column": "annotator"})
            return _by_paths(out, paths) if out.comparative and out.labels else None
    return None


def _inside(value: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    """Paths of lists of objects; and of objects of texts and numbers, with their keys."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        at = f"{path}.{key}".lstrip(".")
        if isinstance(inner, dict) and inner and not any(isinstance(v, list | dict) for v in inner.values()):
            yield at, [*inner]
        elif isinstance(inner, list) and inner and isinstance(inner[0], dict):
            yield at, []
        else:
            yield from _inside(inner, at)


def _cells(records: list[Any], each: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """A row for each record, or for each element of its list `each`; and name -> path of the columns."""
    rows: list[dict[str, str]] = []
    at = each.removesuffix(".{annotator}")
    for record in records:
        above, inner = dict(_leaves(record, "", at)), record
        for key in at.split(".") if at else ():
            inner = inner.get(key) if isinstance(inner, dict) else None
        if at != each:
            inner = inner if isinstance(inner, dict) else {}
            rows += [above | {"{annotator}": key, each: scalar(value) or ""} for key, value in inner.items()]
        elif each:
            rows += [above | dict(_leaves(e, f"{each}.[]", "")) for e in (inner if isinstance(inner, list) else ())]
        else:
            rows.append(above)
    paths = list(dict.fromkeys(path for row in rows for path in row))
    last = Counter(path.rpartition(".")[2] for path in paths)
    short = {path: end if last[end := path.rpartition(".")[2]] == 1 and end[:1] != "[" else path for path in paths}
    short |= {path: "vote" for path in paths if path == each}
    cells = pd.DataFrame([{short[p]: v for p, v in row.items()} for row in rows], dtype=object).fillna("").astype(str)
    return cells, {name: path for path, name in short.items()}


def _leaves(value: Any, path: str, each: str) -> Iterator[tuple[str, str]]:
    """Values below keys, and in lists of two, with their paths."""
    if isinstance(value, dict):
        for key, inner in value.items() if path != each or not each else ():
            if _KEY.fullmatch(str(key)):
                yield from _leaves(inner, f"{path}.{key}".lstrip("."), each)
    elif isinstance(value, list):
        if len(value) == 2 and path != each and not any(isinstance(inner, list | dict) for inner in value):
            yield from ((f"{path}.[{i}]", scalar(inner) or "") for i, inner in enumerate(value))
    elif path:
        yield path, scalar(value) or ""


def _people(out: Guess, paths: dict[str, str]) -> bool:
    """Whether outcomes stand below keys of people: nobody else is named, and the key above says that they voted."""
    above = {paths.get(c, c).rpartition(".")[0] for c in out.score_columns}
    judged = out.layout == "wide" and len(out.score_columns) > 1 and len(above) == 1 and CONTAINER.search(above.pop())
    return bool(judged) and "annotator" not in out.columns and not any(map(ASPECT.search, out.score_columns))


def _by_paths(out: Guess, paths: dict[str, str]) -> Guess | None:
    """The guess with paths for names; None where no pattern of paths reads the scores."""

    def at(name: str) -> str:
        return paths.get(name, name)

    places = {at(c).rpartition(".")[0] for c in out.score_columns}
    if out.layout == "wide" and len(out.score_columns) == 1:
        (out.one_label,) = out.labels
        out.scores = at(out.score_columns[0])
    elif out.layout == "wide":
        if len(places) > 1 or not isinstance(out.scores, str):
            return None
        place = places.pop()
        beside = [c for c, path in paths.items() if path.rpartition(".")[0] == place and c not in out.score_columns]
        if out.one_label and place and beside:
            out.more.append(f"keep: {{annotator: [{', '.join(quoted(c) for c in out.score_columns)}]}}")
        out.skip_columns = []
        out.scores = f"{place}.{out.scores}".lstrip(".")
    out.columns = {ours: at(c) for ours, c in out.columns.items()}
    out.identify, out.identify_b = [at(c) for c in out.identify], [at(c) for c in out.identify_b]
    out.patterns = {at(c): pattern for c, pattern in out.patterns.items()}
    out.unused = {at(c): why for c, why in out.unused.items()}
    return out
