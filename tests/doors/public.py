"""Files that others published, and what each holds: read with pandas alone, straight from the file.

They stand beside the project and are never part of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import yaml

from doors import reading
from judgebook.sources import build
from judgebook.study import params


@dataclass(frozen=True)
class File:
    """A published file.

    path : below the folder of all data. held : its judgements as a frame with item, system, annotator (None: the file
    does not say), label, score (a number, or the answer in words) and, of a pair, other. ways : label -> whether high
    is good. also : answers of the same people to other questions, which may be read or not. becomes : what `new` makes
    of it today.
    """

    path: str
    held: Callable[[Path], pd.DataFrame]
    ways: dict[str, int] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    becomes: str = reading.RIGHT


def plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def number(value: object) -> float | str:
    """A score as a number where it is one, yes and no as 1 and 0, else the answer as it stands."""
    if isinstance(value, bool):
        return float(value)
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        return {"yes": 1.0, "true": 1.0, "y": 1.0, "no": 0.0, "false": 0.0, "n": 0.0}.get(text.lower(), text)


def rows(many: Iterable[tuple], *, pairs: bool = False) -> pd.DataFrame:
    names = ["item", "system", "annotator", "label", "score", *(["other"] if pairs else [])]
    out = pd.DataFrame(list(many), columns=names)
    who = out["annotator"].map(str, na_action="ignore")
    return out.assign(annotator=who, score=[number(x) for x in out["score"]])


def csv(path: Path, **options: object) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False, **options)


def lines(path: Path) -> Iterator[dict]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def content(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def judgements(file: File, path: Path) -> list[reading.Judgement]:
    """The judgements of a file, by pandas."""
    held = file.held(path)
    held = held.astype(object).where(held.notna(), None)
    order = ["item", "system", "annotator", "label", "score", *(["other"] if "other" in held else [])]
    return [reading.Judgement(*row) for row in held[order].itertuples(index=False)]


def outcome(file: File, folder: Path, place: Path) -> reading.Reading:
    """What `new` and `build` make of a file below `folder`. place : an empty folder to write to."""
    path = folder / file.path
    link = place / path.name
    link.symlink_to(path)
    truth = [r for r in judgements(file, path) if r.label not in file.also]
    read = reading.read(link, [r._replace(score=0.0) for r in truth], file.ways)
    if not (place / "door.yaml").exists() or read.outcome in (reading.CRASHED, reading.REFUSED):
        return read
    study = params.load(place / "door.yaml")
    words = {x.id: (x.scale[0], x.categories) for x in study.label_list() if x.categories}
    seen = [
        r._replace(score=_answer(r.score, *words[r.label]) if r.label in words else r.score)
        for r in reading.judgements(build.build(study))
        if r.label not in file.also
    ]
    expected, got = reading.fingerprint(truth), reading.fingerprint(seen)
    differs = [f for f in expected if expected[f] != got[f]]
    people = [len({r.annotator for r in rows}) for rows in (truth, seen)]
    if {"labels", "annotators"} <= set(differs) and people[0] == people[1]:  # other scores of the same people
        differs.remove("annotators")
    directions = {x.id: x.direction for x in study.label_list() if x.direction_declared}
    if any(directions.get(x, way) != way for x, way in file.ways.items()):
        return reading.Reading(reading.WRONG, read.said, [*differs, "direction"])
    asked = [*(yaml.safe_load(read.said).get("open_questions") or {})]
    # of items side by side, what is one item says what is a label
    about = reading.ABOUT | {"labels": (*reading.ABOUT["labels"], "item")}
    all_asked = all(any(fact.startswith(about[f]) for fact in asked) for f in differs)
    found = reading.RIGHT if not differs else reading.ASKED if all_asked else reading.WRONG
    return reading.Reading(found, read.said, differs)


def _answer(score: float, lowest: float, categories: tuple[str, ...]) -> float | str:
    """An answer as the file spells it."""
    return number(categories[int(score - lowest)])
