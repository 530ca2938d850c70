"""Public files in four versions, and facts of their judgements that names do not enter."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

import pandas as pd

from doors import reading

VERSIONS = ("as_is", "shuffled", "nameless", "translated")
FACTS = ("systems", "people", "items", "n_labels", "judgements", "spread", "total")
#: rows or records that are read at most, and characters
_ROWS, _SIZE = 1000, 3_000_000
#: an object with more keys has items or people as keys, not fields
_FIELDS = 40
_WORDS = {
    **dict(annotator="Bewerter", worker="trabajador", judge="jurado", rater="Gutachter", user="utilisateur"),
    **dict(system="Anlage", model="modelo", bot="automate", item="Stück", id="Kennung", context="Vorlage"),
    **dict(response="respuesta", output="sortie", question="Frage", dialogue="charla", conversation="Gespräch"),
    **dict(score="Punkte", rating="valoración", label="étiquette", winner="ganador", summary="résumé", text="Wortlaut"),
}


def word(name: str) -> str:
    """A name in other languages: words of roles by a dictionary, others by words that mean nothing."""

    def one(found: re.Match) -> str:
        drawn = random.Random(crc32(found[0].lower().encode()))
        return _WORDS.get(found[0].lower()) or "".join(
            drawn.choice("bdfgklmprtvz") + drawn.choice("aeiou") for _ in "123"
        )

    return re.sub(r"[A-Z]?[a-z]+|[A-Z]+", one, name)


def _kept(rows: list, item: Callable[[Any], Any]) -> list:
    """The rows of the items that come first: at most `_ROWS` and `_SIZE`, and one item at least."""
    sizes: dict[Any, list[int]] = {}
    for row in rows:
        sizes.setdefault(item(row), []).append(len(str(row)))
    held = pd.DataFrame([(len(x), sum(x)) for x in sizes.values()]).cumsum()
    chosen = set([*sizes][: max(1, int(((held[0] <= _ROWS) & (held[1] <= _SIZE)).sum()))])
    return [row for row in rows if item(row) in chosen]


def content(path: Path, by: str) -> Any:
    """A table as its header and rows, JSON as it is parsed; of large files the items that come first.

    by : columns or keys of items, divided by `+`; `#3` is the fourth column of a table without a header.
    """
    keys = [k for k in by.split("+") if k]
    if path.suffix in (".json", ".jsonl"):
        text = path.read_text(encoding="utf-8")
        read = [*map(json.loads, text.splitlines())] if path.suffix == ".jsonl" else json.loads(text)
        if isinstance(read, list):
            return _kept(read, (lambda r: str([r[k] for k in keys])) if keys else id)
        return {k: _kept(v, id) if isinstance(v, list) else v for k, v in read.items()}
    if path.suffix == ".xlsx":
        rows = pd.read_excel(path, dtype=str, header=None, engine="calamine", keep_default_na=False).to_numpy().tolist()
    else:
        text = path.read_text(encoding="utf-8-sig")
        rows = [*csv.reader(io.StringIO(text, newline=""), delimiter="\t" if path.suffix == ".tsv" else ",")]
    head = [] if by.startswith("#") else rows.pop(0)
    places = [int(k[1:]) if k[0] == "#" else head.index(k) for k in keys]
    return head, _kept(rows, (lambda r: tuple(r[p] for p in places)) if places else id)


def _shuffled(read: Any) -> Any:
    drawn = random.Random(7)
    if isinstance(read, tuple):
        return read[0], drawn.sample(read[1], len(read[1]))
    if isinstance(read, list):
        return drawn.sample(read, len(read))
    if len(read) > _FIELDS:
        return dict(drawn.sample([*read.items()], len(read)))
    return {k: _shuffled(v) if isinstance(v, list | dict) else v for k, v in read.items()}


def _renamed(read: Any, name: Callable[[str], str]) -> Any:
    """With other names for columns, or for keys whose values are no objects."""
    if isinstance(read, tuple):
        return [*map(name, read[0] or map(str, range(len(read[1][0]))))], read[1]
    if isinstance(read, list):
        return [_renamed(x, name) for x in read]
    if not isinstance(read, dict):
        return read
    field = {k for k, v in read.items() if len(read) <= _FIELDS and not re.match(r"\[?\{", str(v))}
    return {name(k) if k in field else k: _renamed(v, name) for k, v in read.items()}


def version(path: Path, by: str, which: str) -> tuple[str, str, dict[str, str]]:
    """A file as text, how its name ends, and the new names."""
    read, names = content(path, by), {}
    if which == "shuffled":
        read = _shuffled(read)
    if which == "nameless":
        read = _renamed(read, lambda c: names.setdefault(c, f"c{len(names) + 1}"))
    if which == "translated" and not by.startswith("#"):
        read = _renamed(read, lambda c: names.setdefault(c, word(c)))
    if not isinstance(read, tuple):
        lines = map(json.dumps, read) if path.suffix == ".jsonl" else [json.dumps(read)]
        return "\n".join(lines), path.suffix, names
    out, end = io.StringIO(newline=""), ".tsv" if path.suffix == ".tsv" else ".csv"
    csv.writer(out, delimiter="\t" if end == ".tsv" else ",").writerows([*([read[0]] if read[0] else []), *read[1]])
    return out.getvalue(), end, names


def facts(held: Iterable[reading.Judgement]) -> dict[str, str]:
    """Facts of judgements that do not depend on names.

    spread : the sum of squares of how often each score was given to each system (or pair) by each label.
    total : the sum of scores; of comparisons, of cubes of wins less losses of each system and label. Empty where
    answers are words.
    """
    rows = [r if isinstance(r.score, str) else reading._sided(r) for r in held]
    words = any(isinstance(r.score, str) for r in rows)
    people, balance = {r.annotator for r in rows}, Counter()
    for r in rows if not words else ():
        balance[r.label, r.system] += r.score
        balance[r.label, r.other] -= r.score
    pairs = any(r.other is not None for r in rows)
    cells = Counter((r.label, r.system, r.other, r.score) for r in rows)
    out = {
        "systems": len({r.system for r in rows} | {r.other for r in rows} - {None}),
        "people": "none" if None in people else len(people),
        "items": len({(r.item, r.system, r.other) for r in rows}),
        "n_labels": len({r.label for r in rows}),
        "judgements": len(rows),
        "spread": sum(n * n for n in cells.values()),
        "total": "" if words else round(sum(n**3 for n in balance.values()) if pairs else sum(r.score for r in rows)),
    }
    return {k: str(v) for k, v in out.items()}
