"""Names of systems, annotators and labels as the YAML wants them spelt (`spelling`), whatever reads them."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import yaml

from judgebook.sources.ids.look_alikes import LATIN, groups
from judgebook.sources.reading import Reading
from judgebook.study.labels import METHODS
from judgebook.study.params import Study
from judgebook.study.schema import Problem

#: our columns -> what they name
NAMED = {"system": "system", "system_b": "system", "annotator": "annotator", "label": "label"}
#: column of `cells`, of `base` and `marks`: what was spelt otherwise in the row. No file has a column called so
CELL, SPELT = "{.spelt}", "_spelt"


class Spelling:
    """Puts one spelling of each name in the place of others, and keeps what the data had.

    rules : system, annotator or label -> name -> its other spellings.
    """

    def __init__(self, rules: Mapping[Any, Mapping[str, list[str]]]):
        self.names = {k: {v: name for name, many in of.items() for v in many} for k, of in rules.items() if of}
        self._seen: dict[str, set[str]] = {kind: set() for kind in self.names}

    def of(self, kind: str, values: pd.Series) -> pd.Series:
        """The values with one spelling of each name; missing ones stay."""
        names = self.names.get(kind)
        if names is None:
            return values
        text = values.astype(object).where(values.isna(), values.astype(str).str.strip())
        self._seen[kind] |= set(text.dropna().unique())
        return values.where(~text.isin(list(names)), text.map(names))

    def cells(self, cells: pd.DataFrame, columns: Mapping[str, list[str]]) -> pd.DataFrame:
        """Cells of a file, with what was changed noted in `CELL`. columns : our column -> those of the file."""
        for ours, many in columns.items():
            for column in (c for c in many if ours in NAMED and c in cells):
                cells = self._noted(cells, column, NAMED[ours], CELL)
        return cells

    def frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A frame with our columns, with what was changed noted in `SPELT`."""
        for ours, kind in NAMED.items():
            if ours in frame:
                frame = self._noted(frame, ours, kind, SPELT)
        return frame

    def _noted(self, frame: pd.DataFrame, column: str, kind: str, note: str) -> pd.DataFrame:
        if kind not in self.names:
            return frame
        spelt = self.of(kind, frame[column])
        changed = spelt.ne(frame[column]) & frame[column].notna()
        if not changed.any():
            return frame
        notes = frame[note].fillna("") if note in frame else pd.Series("", frame.index, dtype=object)
        return frame.assign(**{column: spelt, note: notes.where(~changed, notes + kind + " ")})

    def reading(self, reading: Reading) -> None:
        """Spell the names of a reading, in place, and count judgements whose names an adapter left as they were."""
        if not self.names:
            return
        reading.annotations = self.frame(reading.annotations)
        if SPELT in reading.annotations:
            counted = set(reading.counts.frame()["what"])
            for kind, rows in noted(reading.annotations):
                units = rows["method"].map(lambda m: f"{METHODS[m].unit} annotations" if m in METHODS else "")
                corpus = rows["corpus"] if "corpus" in rows else pd.Series("main", rows.index)
                for (file, of, unit), n in rows.groupby([rows["file"], corpus, units], sort=False).size().items():
                    what = unit if unit in counted else "annotations"
                    reading.counts.add(file, what, "mended", reason(kind), n, corpus=of)
            reading.annotations = reading.annotations.drop(columns=SPELT)
        for name in ("dialogues", "work_units", "screening"):
            frame = getattr(reading, name)
            if frame is not None:
                setattr(reading, name, self.frame(frame).drop(columns=SPELT, errors="ignore"))

    def unknown(self, place: str) -> list[Problem]:
        """Problems of spellings that no name of the data has. place : what the YAML is called."""
        out = []
        for kind, names in self.names.items():
            seen = sorted(self._seen[kind])
            for other in (v for v in names if v not in self._seen[kind]):
                near = difflib.get_close_matches(other, seen, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(seen[:8])}"
                out.append(
                    Problem(place, "", f"spelling.{kind}", f"a spelling of the data ({kind})", repr(other), hint)
                )
        return out


def noted(rows: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """What was spelt otherwise (system, annotator, label) -> the rows, of `base` or `marks`."""
    for kind in dict.fromkeys(NAMED.values()) if SPELT in rows else ():
        with_kind = rows[rows[SPELT].fillna("").str.contains(f"{kind} ", regex=False)]
        if len(with_kind):
            yield kind, with_kind


def reason(kind: str) -> str:
    return f"{kind} spelt otherwise: one spelling counts (`spelling`)"


def proposed(study: Study, marks: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """`spelling` that merges names which differ in spelling only, by what they name: the most frequent of each counts,
    of labels the one with the shortest id.

    marks : judgements with own ids; annotators of whom only positions are known are left out.
    """
    known = marks["annotator_known"].astype(bool) if "annotator_known" in marks else pd.Series(True, marks.index)
    seen = {c: marks[c].dropna().astype(str) for c in NAMED if c in marks}
    ranks = {
        "system": -pd.concat([seen[c] for c in ("system", "system_b") if c in seen]).value_counts(),
        "annotator": -seen["annotator"][known].value_counts() if "annotator" in seen else pd.Series(dtype=int),
        "label": _labels(study, set(seen["label"])),
    }
    out: dict[str, dict[str, list[str]]] = {}
    for kind, rank in ranks.items():
        for same in groups({name: name for name in rank.index}):
            name, *others = sorted(same, key=rank.__getitem__)
            out.setdefault(kind, {})[name] = others
    return out


def _labels(study: Study, judged: set[str]) -> pd.Series:
    """Labels that were judged, as the files spell them -> how long their ids are."""
    names = {spelt: id_ for source in study.sources for spelt, id_ in getattr(source, "label_names", {}).items()}
    ids = {id_: id_ for id_ in judged if id_ not in names.values()}
    return pd.Series({spelt: len(id_) for spelt, id_ in (names | ids).items() if id_ in judged}, dtype=int)


def written(rules: Mapping[str, Mapping[str, list[str]]]) -> str:
    """`spelling` as a line of YAML; letters that look like others are escaped."""
    kinds = []
    for kind, names in rules.items():
        each = [f"{scalar(name)}: [{', '.join(map(scalar, others))}]" for name, others in names.items()]
        kinds.append(f"{kind}: {{{', '.join(each)}}}")
    return f"spelling: {{{', '.join(kinds)}}}"


def scalar(text: str) -> str:
    """A name as a YAML has it, with escapes for what a reader could not see."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", text) and isinstance(yaml.safe_load(text), str):
        return text
    odd = not text.isprintable() or text.casefold().translate(LATIN) != text.casefold()
    odd |= not unicodedata.is_normalized("NFC", text)
    return json.dumps(text, ensure_ascii=odd)
