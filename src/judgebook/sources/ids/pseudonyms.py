"""Pseudonyms of people and work units, in columns of ids, inside other ids, and in texts."""

from __future__ import annotations

import itertools
import os
import re
import secrets
from pathlib import Path
from typing import Any

import pandas as pd

from judgebook import codes
from judgebook.sources.ids import naming
from judgebook.sources.ids.private import own_ids as recorded_ids
from judgebook.sources.reading import Counts
from judgebook.study import escape, schema, store

#: frame -> its column of people
_PEOPLE = {"annotations": "annotator", "work_units": "annotator", "screening": "annotator", "dialogues": "interactor"}
_NUMBERED = re.compile(r"A\d{4,}")
_POSITION = re.compile(r"pos\d+")
#: columns of ids that may hold those of people and tasks; long ones made of several columns get numbers like these
_IDS = {"dialogue": "D{:05d}", "dialogue_b": "D{:05d}", "session": "S{:05d}", "context": "C{:05d}"}


def replaced(raw: dict[str, pd.DataFrame]) -> tuple[dict[str, pd.DataFrame], pd.DataFrame, naming.Names]:
    """Replace people's ids by A0001… and work units' by U00001…, numbered by first appearance in the study, also inside
    other ids.

    Positions (`pos0`…) and the names of models are no people's ids and stay; no pseudonym equals one. Also returned:
    `Built.own_ids`, and what replaces ids inside other text.
    """
    marks = raw["annotations"]
    human = ~marks["annotator_kind"].isin(schema.KINDS[1:])
    known = marks["annotator_known"].astype(bool)
    odd = marks.loc[human & ~known, "annotator"].dropna()
    odd = odd[~odd.astype(str).str.fullmatch(_POSITION)]
    if len(odd):
        raise ValueError("an adapter marks annotators as unknown whose names are not pos0, pos1, …")
    # who is a person anywhere gets a pseudonym everywhere
    stay = set(marks.loc[~(human & known), "annotator"].dropna().unique())
    stay -= set(marks.loc[human & known, "annotator"].unique())
    places = _PEOPLE
    units = {"annotations": "work_unit", "work_units": "work_unit", "screening": "work_unit"}
    # a position is nobody, even where a person has its name as an id
    positions = marks.loc[human & ~known, "annotator"]
    named = raw | {"annotations": marks[["annotator"]].drop(index=positions.index)}
    people, tasks = _numbered(named, places, "A{:04d}", stay), _numbered(raw, units, "U{:05d}", set())
    rows = [("person", new, old) for old, new in people.items()] + [
        ("work unit", new, old) for old, new in tasks.items()
    ]
    rows = [(kind, new, old) for kind, new, old in rows if new != old]
    own_ids = pd.DataFrame([(k, new, naming.plain(old)) for k, new, old in rows])
    own_ids = own_ids.set_axis(["kind", "pseudonym", "own_id"], axis=1) if rows else pd.DataFrame()
    within = naming.Names.of(rows)
    named = _renamed(_renamed(raw, places, people), units, tasks)
    if len(positions):
        annotator = codes.decoded(named["annotations"]["annotator"])
        annotator.loc[positions.index] = codes.decoded(positions)
        named["annotations"] = named["annotations"].assign(annotator=annotator)
    named = naming.numbered(named, _IDS)
    named = naming.renamed(named, _IDS, within)
    facts = named["dialogue_facts"]
    known = {v: v if _is_number(v) else within.within(str(v)) for v in facts["value"].unique()}
    return named | {"dialogue_facts": facts.assign(value=facts["value"].map(known))}, own_ids, within


def shuffled(raw: dict[str, pd.DataFrame], folder: Path | None) -> dict[str, pd.DataFrame]:
    """Frames whose rows are sorted by a random order of people, by which `replaced` then numbers people and tasks.

    It is drawn by the machine, so that no seed and no list of ids gives it. Data that were read before keep theirs.

    folder : of the study, where it may have been read before; None: nowhere.
    """
    marks = raw["annotations"]
    nobody = (marks["annotator_kind"] != "human") | ~marks["annotator_known"].astype(bool)
    others = set(marks.loc[nobody, "annotator"].unique())
    ids = _distinct(raw, _PEOPLE)
    people = [p for p in ids if p not in others]
    before = recorded_ids(folder) if folder is not None else {}
    numbers = {p: before.get(naming.plain(p), p) for p in people}
    if len(set(numbers.values())) == len(people) and all(_NUMBERED.fullmatch(str(n)) for n in numbers.values()):
        people.sort(key=lambda p: int(numbers[p][1:]))
    else:
        secrets.SystemRandom().shuffle(people)
    place = {p: i for i, p in enumerate(people)}
    rows = {
        name: codes.decoded(raw[name][column]).map(place).sort_values(kind="stable").index
        for name, column in _PEOPLE.items()
    }
    out = raw | {name: raw[name].loc[index] for name, index in rows.items()}
    return out | {"annotations": out["annotations"].assign(source_row=range(len(marks)))}


def _is_number(value: Any) -> bool:
    return bool(re.fullmatch(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?", str(value)))


def texts_cleared(
    frames: dict[str, pd.DataFrame], within: naming.Names
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Texts without the ids of people and tasks that stand in them, and how many were taken out."""
    counts, out = Counts(), dict(frames)
    for name, columns in naming.TEXTS.items():
        for column in columns:
            texts = frames[name][column]
            cleared = {t: within.texts(t) for t in texts.dropna().unique() if isinstance(t, str)}
            taken = {t: n for t, (_, n) in cleared.items() if n}
            if n := int(codes.decoded(texts).map(taken).sum()) if taken else 0:
                out[name] = out[name].assign(**{column: [cleared[t][0] if t in cleared else t for t in texts]})
                counts.add(name, "texts", "mended", "an id of a person or task taken out", n)
    return out, counts.frame()


def _numbered(raw: dict[str, pd.DataFrame], places: dict[str, str], pattern: str, stay: set) -> dict[str, str]:
    """Id -> pseudonym, by first appearance; what is in `stay` keeps its name."""
    ids = _distinct(raw, places)
    free = (name for i in itertools.count(1) if (name := pattern.format(i)) not in stay)
    return {id_: id_ if id_ in stay else next(free) for id_ in ids} | {id_: id_ for id_ in stay}


def _distinct(raw: dict[str, pd.DataFrame], places: dict[str, str]) -> list[Any]:
    """What columns hold, in the order of its first appearance."""
    return list(dict.fromkeys(v for name, column in places.items() for v in codes.seen(raw[name][column])))


def _renamed(raw: dict[str, pd.DataFrame], places: dict[str, str], names: dict[str, str]) -> dict[str, pd.DataFrame]:
    return {n: f.assign(**{places[n]: _named(f[places[n]], names)}) if n in places else f for n, f in raw.items()}


def _named(ids: pd.Series, names: dict[str, str]) -> pd.Series:
    return codes.mapped(ids, names.get) if codes.is_coded(ids) else ids.map(names)


def write_own_ids(own_ids: pd.DataFrame, path: Path) -> None:
    """Keep the ids that pseudonyms stand for, readable by nobody else; a list of other data goes."""
    path.unlink(missing_ok=True)
    if own_ids.empty:
        return
    with store.atomic(path) as temporary:
        private = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(private, "w", encoding="utf-8", newline="") as file:
            file.write(escape.csv(own_ids))
