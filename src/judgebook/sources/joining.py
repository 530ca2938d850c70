"""The sources of a study, each read by its adapter, and their frames as those of one study."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes, project
from judgebook.sources import typed
from judgebook.sources.files import Files
from judgebook.sources.instead import embedded
from judgebook.sources.places import find, names
from judgebook.sources.reading import Counts, Reading
from judgebook.sources.rows import repeats, training
from judgebook.sources.rows.cells import TEXTS
from judgebook.sources.rows.spelling import Spelling
from judgebook.study import limits, schema
from judgebook.study.labels import Label
from judgebook.study.params import ParamsError, Study
from judgebook.study.schema import DataError, Problem

#: frames with annotators, and the group of each
WITH_GROUPS = ("annotations", "work_units", "screening")
#: columns of texts of which most differ: as objects, they would take several times the memory
_AS_READ = ("where", "completed_at")
#: said where no check has foreseen what a file holds
UNFORESEEN = "if the file is correct, this is a bug: please report it"


def present(study: Study) -> list[Any]:
    """The sources without the optional ones whose files are absent."""
    beside = study.path.parent if study.path else None
    return [
        source
        for source in study.sources
        if not source.optional or all(find(name, study.key, beside) for name in names(source, study.key, beside))
    ]


def left_out(study: Study) -> pd.DataFrame:
    counts, read = Counts(), present(study)
    beside = study.path.parent if study.path else None
    for source in study.sources:
        for name in names(source, study.key, beside) if source not in read else ():
            counts.add(name, "files", "dropped", "optional, and not here")
    return counts.frame()


def files_of(study: Study, source: Any, spelling: Spelling | None = None) -> Files:
    beside = study.path.parent if study.path else None
    hint = f"`{project.command()} --study {study.key}` generates it" if study.simulate is not None else ""
    return Files(study.key, names(source, study.key, beside), beside, study.label_list(every=True), hint, spelling)


def unforeseen(read: Iterable[str], expected: str, error: Exception) -> Problem:
    """What went wrong with files in a way that no check names, with the line of code where it did."""
    place = Path(traceback.extract_tb(error.__traceback__)[-1].filename).name
    line = traceback.extract_tb(error.__traceback__)[-1].lineno
    files = ", ".join(dict.fromkeys(read))[: limits.QUOTED]
    if isinstance(error, MemoryError):
        hint = "use a machine with more, or leave out columns that no judgement needs"
        return Problem(files, "", "", "data that fit into the memory", "more than there is of it", hint)
    what = f"{type(error).__name__}: {error}"[: limits.QUOTED] + f" ({place}, line {line})"
    return Problem(files, "", "", expected, what, UNFORESEEN)


def read_all(study: Study) -> tuple[list[Reading], list[Problem]]:
    """Every source read; one that cannot be read at all leaves its problems, and the others are read none the less."""
    spelling = Spelling(study.spelling)
    if embedded.files(study):
        reading = embedded.read(study)
        spelling.reading(reading)
        return [reading], []
    readings: list[Reading] = []
    problems: list[Problem] = []
    for source in present(study):
        try:
            adapter = importlib.import_module(type(source).__module__.replace(".options.", "."))  # of the same name
            reading = adapter.read(source, files_of(study, source, spelling))
            typed.check(reading, source.names()[0])
            spelling.reading(reading)
            repeats.settle(reading, source.repeats, [*study.label_list(every=True), *reading.labels])
        except (DataError, ParamsError) as error:
            problems += getattr(
                error, "problems", [Problem(study.key, "", "", "a source that can be read", str(error))]
            )
            continue
        except Exception as error:
            problems.append(unforeseen(source.names(), f"what `adapter: {source.adapter}` reads", error))
            continue
        readings.append(reading)
        problems += reading.problems
    if len(readings) == len(study.sources):
        problems += spelling.unknown(study.path.name if study.path else study.key)
    if not any(len(r.annotations) for r in readings):
        raise DataError(problems or [Problem(study.key, "", "", "at least one judgement", "none", "check `sources:`")])
    return readings, problems


def joined(readings: list[Reading], name: str) -> pd.DataFrame:
    """The frame `name` of all readings, one below the other, with the columns an adapter may leave out filled in."""
    spec = schema.FRAMES[name]
    parts = []
    for reading in readings:
        part = getattr(reading, name)
        if part is None or part.empty:
            continue
        defaults = {"corpus": "main", "group": "all", "annotator_known": True, "annotator_kind": "human"}
        missing = {c: v for c, v in defaults.items() if c in spec and c not in part}
        whole = codes.is_coded(part["file"]) if "file" in part else False
        as_objects = {
            c: codes.mapped(part[c], str)
            for c in part
            if part[c].dtype != object and not codes.is_coded(part[c]) and c not in _AS_READ
        }
        part = part.assign(**as_objects)
        parts.append(part.assign(**{c: _repeated(v, part.index, whole) for c, v in missing.items()}))
    if not parts:
        return pd.DataFrame(columns=[c for c in spec if c != "study"], dtype=object)
    out = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0].reset_index(drop=True)
    absent = [c for c in spec if c not in out and c != "study"]
    whole = codes.is_coded(out["file"]) if "file" in out else False
    out = out.assign(**{c: _absent(spec[c].dtype, out.index, whole) for c in absent})
    if "source_row" in spec:
        # one order over all sources, the adapter's own within each
        out["source_row"] = np.arange(len(out))
    return out


def _repeated(value: Any, index: pd.Index, coded: bool) -> pd.Series:
    """A column that holds one value; a text as codes."""
    if coded and isinstance(value, str):
        return codes.constant(value, index)
    return pd.Series(np.full(len(index), value, dtype=object), index)


def _absent(dtype: str, index: pd.Index, coded: bool) -> pd.Series:
    """A column of which all is missing; as objects, or of a type that takes less where others are coded."""
    if coded and dtype == "str":
        return codes.coded(np.full(len(index), -1, np.int8), [], index)
    if coded and dtype.startswith("datetime"):
        return pd.Series(np.full(len(index), "NaT", dtype="datetime64[us]"), index)
    return pd.Series(np.full(len(index), np.nan, dtype=float if coded else object), index)


def map_groups(study: Study, raw: dict[str, pd.DataFrame]) -> list[Problem]:
    """Where the source leaves the group open, give annotators that the YAML lists under a group that group.

    Listed ids that the data do not have are reported.
    """
    group_of = {id_: group for group, spec in study.groups.items() for id_ in spec.annotators}
    seen: set[str] = set()
    for name in WITH_GROUPS:
        frame = raw[name]
        seen |= codes.distinct(frame["annotator"])
        if not group_of:
            continue
        open_ = frame["group"] == "all"
        frame["group"] = (
            frame["annotator"].map(group_of).astype(object).where(open_).fillna(codes.decoded(frame["group"]))
        )
    place = study.path.name if study.path else study.key
    return [
        Problem(place, "", f"groups.{g}.annotators", "an annotator of the data", repr(i), "check the spelling")
        for i, g in group_of.items()
        if i not in seen
    ]


def training_apart(
    study: Study, raw: dict[str, pd.DataFrame], file: pd.Series, labels: list[Label]
) -> tuple[pd.DataFrame, list[Problem]]:
    """Judgements of training items become attempts: counts of them, and problems with the intended answers."""
    if not study.elicitation.training:
        return Counts().frame(), []
    marks = codes.plain(raw["annotations"])
    mask, attempts, counts, problems = training.taken_out(study, marks.assign(file=file), labels)
    raw["annotations"] = marks[~mask]
    only = set(marks.loc[mask, "work_unit"].dropna()) - set(marks.loc[~mask, "work_unit"])
    raw["work_units"] = raw["work_units"][~raw["work_units"]["work_unit"].isin(only)]
    if len(attempts):
        recorded = [raw["screening"]] if len(raw["screening"]) else []
        raw["screening"] = pd.concat([*recorded, attempts.astype(object)], ignore_index=True)
    return counts.frame(), problems


def all_dialogues(dialogues: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """Dialogues of the sources, and those that only judgements name; a turn once, no turnless row where turns are."""
    side = {"dialogue_b": "dialogue", "system_b": "system"}
    left = ["corpus", "dialogue", "system", "session", "context", "turn"]
    right = annotations.loc[annotations["dialogue_b"].notna(), ["corpus", *side, "session", "context", "turn"]]
    key = ["corpus", "dialogue", "system", "turn"]
    once = [codes.plain(sides.drop_duplicates(key)) for sides in (annotations[left], right.rename(columns=side))]
    judged = pd.concat(once, ignore_index=True)
    judged = judged[judged["dialogue"].notna()]
    if (again := dialogues.duplicated(key, keep=False)).any():  # each source may have some of its texts
        same, texts = dialogues[again], [c for c in TEXTS if c in dialogues]
        held = same.groupby(key, dropna=False, sort=False)[texts].transform("first").astype(object)
        dialogues = dialogues.assign(**{c: dialogues[c].where(dialogues[c].notna(), held[c]) for c in texts})
    every = pd.concat([dialogues[key], judged[key]], ignore_index=True)
    # a missing corpus is reported later
    item = every.groupby(["corpus", "dialogue"], dropna=False, sort=False).ngroup()
    of_sources = every.index < len(dialogues)
    stay = ~every[["system", "turn"]].assign(item=item).duplicated()
    stay &= of_sources | ~item.isin(item[of_sources].unique())
    turns = every["turn"].notna()
    stay &= turns | ~turns.groupby(item.where(stay, -1)).transform("any")
    parts = [frame[stay[rows].to_numpy()] for frame, rows in ((dialogues, of_sources), (judged, ~of_sources))]
    out = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return out.reindex(columns=dialogues.columns)
