"""The one choke point: every source of a study becomes validated, pseudonymised, tidy frames.

`build` reads all sources, joins them, maps groups, replaces the ids of people and work units by pseudonyms, reports
every problem at once, and only then writes.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from judgebook import project
from judgebook.annotations.features import profile
from judgebook.sources import embedded, filters, sampling, typed, unmatched
from judgebook.sources.adapters import (
    abc_eval,
    behaviors,
    dstc7,
    fed,
    grade,
    ji2022,
    records,
    spot_the_bot,
    table,
    table_cells,
    training,
    usr,
)
from judgebook.sources.files import Files
from judgebook.sources.ids import naming, recorded
from judgebook.sources.places import find, names
from judgebook.sources.reading import Counts, Reading
from judgebook.study import escape, limits, schema, store
from judgebook.study.labels import Label
from judgebook.study.params import ParamsError, Study
from judgebook.study.schema import DataError, Problem, several

#: format -> how it is read. A new format is a line here, a model in `study.source_options`, and a module.
ADAPTERS: dict[str, Callable[[Any, Files], Reading]] = {
    "abc_eval": abc_eval.read,
    "behaviors": behaviors.read,
    "usr": usr.read,
    "fed": fed.read,
    "grade": grade.read,
    "dstc7": dstc7.read,
    "ji2022": ji2022.read,
    "spot_the_bot": spot_the_bot.read,
    "table": table.read,
    "records": records.read,
}
_POSITION = re.compile(r"pos\d+")
#: frames with annotators, and the group of each
_WITH_GROUPS = ("annotations", "work_units", "screening")
#: columns of ids that may hold those of people and tasks; long ones made of several columns get numbers like these
_IDS = {"dialogue": "D{:05d}", "dialogue_b": "D{:05d}", "session": "S{:05d}", "context": "C{:05d}"}


@dataclass(frozen=True)
class Built:
    """What became of a study's sources.

    frames : one frame per key of `schema.FRAMES`. profile : what the study offers (`annotations.features`).
    seen : some judgements as the sources have them, with own ids, `file` and `where`: for the user's eyes only.
    unused : file -> column that nothing in the YAML names -> its cells. notes : what adapters have to say.
    own_ids : kind (person or work unit), pseudonym and id of the source, where these differ: for the user alone.
    sections : those of the YAML that may name people, as they are recorded (`recorded.sections`).
    """

    frames: dict[str, pd.DataFrame]
    profile: dict[str, Any]
    seen: pd.DataFrame = field(default_factory=pd.DataFrame)
    unused: dict[str, dict[str, pd.Series]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    own_ids: pd.DataFrame = field(default_factory=pd.DataFrame)
    sections: dict[str, Any] = field(default_factory=dict)


def files(study: Study) -> list[Path]:
    """The files a study reads, in order, each once: raw ones, or the embedded judgements where these are not here.

    Raises DataError naming every file that is absent.
    """
    found: list[Path] = embedded.files(study)
    if found:
        return found
    problems: list[Problem] = []
    beside = study.path.parent if study.path else None
    for source in _present(study):
        open_file = _files_of(study, source)
        for name in names(source, study.key, beside):
            try:
                found.append(open_file(name))
            except DataError as error:
                problems += error.problems
    if problems:
        raise DataError(problems)
    return list(dict.fromkeys(found))


def build(study: Study, *, out: Path | None = None) -> Built:
    """Read, check and join the sources of `study`; write the frames to the folder `out` (None: write nothing).

    Written are `<frame>.parquet` for each of `schema.FRAMES`, `profile.json`, `recorded.SECTIONS`, and where
    ids were replaced `naming.OWN_IDS`.
    Raises DataError with all problems before anything is written, and for whatever else goes wrong while reading.
    """
    try:
        built = _built(study)
    except (DataError, ParamsError, store.DeniedError):
        raise
    except Exception as error:
        if said := store.remedy(error):
            raise store.DeniedError(said) from error
        read = [name for source in study.sources for name in source.names()]
        raise DataError([unforeseen(read, "judgements that can be joined and checked", error)]) from error
    if out is not None:
        _write(built, out)
    return built


def unforeseen(read: Iterable[str], expected: str, error: Exception) -> Problem:
    """What went wrong with files in a way that no check names, with the line of code where it did."""
    place = Path(traceback.extract_tb(error.__traceback__)[-1].filename).name
    line = traceback.extract_tb(error.__traceback__)[-1].lineno
    files_ = ", ".join(dict.fromkeys(read))[: limits.QUOTED]
    found = f"{type(error).__name__}: {error}"[: limits.QUOTED] + f" ({place}, line {line})"
    return Problem(files_, "", "", expected, found, UNFORESEEN)


#: said where no check has foreseen what a file holds
UNFORESEEN = "if the file is correct, this is a bug: please report it"


def _built(study: Study) -> Built:
    files(study)
    readings, problems = _read_all(study)
    table_cells.alike(readings)
    raw = {name: _joined(readings, name) for name in schema.FRAMES if name != "counts"}
    where = raw["annotations"][["file", "where"]]
    raw["annotations"] = raw["annotations"].drop(columns=["file", "where"])
    problems += _wrong_kinds(raw["annotations"], where)
    problems += _map_groups(study, raw)
    declared = study.label_list() + [label for r in readings for label in r.labels]
    trained, found = _training_apart(study, raw, where["file"], declared)
    problems += found
    if len(_present(study)) == len(study.sources):
        problems += unmatched.problems(study, raw, {label.id for label in declared})
    counts = [*(r.counts.frame() for r in readings), trained]
    told = {pair for f in counts for pair in f[["file", "what"]].itertuples(index=False, name=None)}
    raw, left_out, unknown = filters.of_study(study, raw, where, told)
    problems += unknown
    if raw["annotations"].empty:
        raise DataError(problems)
    problems += sampling.completed(raw["annotations"], where)
    raw["dialogues"] = _all_dialogues(raw["dialogues"], raw["annotations"])
    seen = _some(raw["annotations"]).join(where)
    for reading in readings:  # joined by now: of millions of judgements one copy fewer in memory
        reading.annotations = reading.annotations.iloc[:0].copy()
    frames: dict[str, pd.DataFrame] = {}
    elsewhere: list[Problem] = []
    present = {i for name in _WITH_GROUPS for i in raw[name]["annotator"].dropna().unique()}
    named, own_ids, within = _pseudonyms(raw)
    named, cleared = _texts_cleared(named, within)
    del raw
    for name in list(named):
        frames[name], found = _conform(name, named.pop(name), study, where)
        (problems if name == "annotations" else elsewhere).extend(found)
    problems += schema.validate(frames["annotations"], declared, where.loc[frames["annotations"].index])
    # what is wrong with a judgement is mostly wrong with its dialogue too: said once, where it can be mended
    problems = problems or elsewhere + _repeated_rows(frames) + _never_judged(study, frames["annotations"])
    if problems:
        raise DataError(problems)
    frames["annotations"], differing, problems = filters.by_agreement(study, frames["annotations"], where, told)
    if problems:
        raise DataError(problems)
    unused = _unused(readings)
    # where one column says how dialogues were drawn, others that could are not missed
    missed = {} if frames["annotations"]["sampling_weight"].notna().any() else unused
    counts += [_left_out(study), left_out, differing, cleared, sampling.not_used(missed)]
    counted = pd.concat(counts, ignore_index=True)
    counted["file"] = counted["file"].map({name: within.within(name) for name in counted["file"].unique()})
    by = [c for c in schema.COUNTS if c != "n"]
    counted = counted.groupby(by, dropna=False, sort=False)["n"].sum().reset_index()
    frames["counts"] = schema.conform(counted, schema.COUNTS)
    frames = {name: frame.reset_index(drop=True) for name, frame in frames.items()}
    return Built(
        frames,
        profile(frames, recorded.renamed(study, within)),
        seen,
        unused,
        [note for r in readings for note in r.notes],
        own_ids,
        recorded.sections(study, within, present),
    )


def _some(marks: pd.DataFrame) -> pd.DataFrame:
    """Three judgements that differ: the first, one of another label or by another annotator, and a late one."""
    first = marks.iloc[:1]
    other = marks[(marks["label"] != first["label"].iloc[0]) & (marks["annotator"] != first["annotator"].iloc[0])]
    other = other if len(other) else marks[marks["annotator"] != first["annotator"].iloc[0]]
    late = marks.iloc[[len(marks) * 2 // 3]]
    return pd.concat([first, other.iloc[:1], late]).pipe(lambda f: f[~f.index.duplicated()])


def _unused(readings: list[Reading]) -> dict[str, dict[str, pd.Series]]:
    """Columns that no source uses; of a file that several read, those that none of them does."""
    out: dict[str, dict[str, pd.Series]] = {}
    for reading in readings:
        for file, columns in reading.unused.items():
            out[file] = {c: v for c, v in columns.items() if c in out[file]} if file in out else dict(columns)
    return out


def _present(study: Study) -> list[Any]:
    """The sources without the optional ones whose files are absent."""
    beside = study.path.parent if study.path else None
    return [
        source
        for source in study.sources
        if not source.optional or all(find(name, study.key, beside) for name in names(source, study.key, beside))
    ]


def _left_out(study: Study) -> pd.DataFrame:
    counts, present = Counts(), _present(study)
    beside = study.path.parent if study.path else None
    for source in study.sources:
        for name in names(source, study.key, beside) if source not in present else ():
            counts.add(name, "files", "dropped", "optional, and not here")
    return counts.frame()


def _files_of(study: Study, source: Any) -> Files:
    beside = study.path.parent if study.path else None
    hint = f"`{project.command()} --study {study.key}` generates it" if study.simulate is not None else ""
    return Files(study.key, names(source, study.key, beside), beside, study.label_list(every=True), hint)


def _read_all(study: Study) -> tuple[list[Reading], list[Problem]]:
    """Every source read; one that cannot be read at all leaves its problems, and the others are read none the less."""
    if embedded.files(study):
        return [embedded.read(study)], []
    readings: list[Reading] = []
    problems: list[Problem] = []
    for source in _present(study):
        try:
            reading = ADAPTERS[source.adapter](source, _files_of(study, source))
            typed.check(reading, source.names()[0])
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
    if not any(len(r.annotations) for r in readings):
        raise DataError(problems or [Problem(study.key, "", "", "at least one judgement", "none", "check `sources:`")])
    return readings, problems


def _joined(readings: list[Reading], name: str) -> pd.DataFrame:
    """The frame `name` of all readings, one below the other, with the columns an adapter may leave out filled in."""
    spec = schema.FRAMES[name]
    parts = []
    for reading in readings:
        part = getattr(reading, name)
        if part is None or part.empty:
            continue
        defaults = {"corpus": "main", "group": "all", "annotator_known": True, "annotator_kind": "human"}
        missing = {c: v for c, v in defaults.items() if c in spec and c not in part}
        parts.append(part.assign(**missing).astype(object))
    if not parts:
        return pd.DataFrame(columns=[c for c in spec if c != "study"], dtype=object)
    out = pd.concat(parts, ignore_index=True)
    out = out.reindex(columns=[*out.columns, *(c for c in spec if c not in out and c != "study")])
    if "source_row" in spec:
        # one order over all sources, the adapter's own within each
        out["source_row"] = range(len(out))
    return out


def _map_groups(study: Study, raw: dict[str, pd.DataFrame]) -> list[Problem]:
    """Where the source leaves the group open, give annotators that the YAML lists under a group that group.

    Listed ids that the data do not have are reported.
    """
    group_of = {id_: group for group, spec in study.groups.items() for id_ in spec.annotators}
    seen: set[str] = set()
    for name in _WITH_GROUPS:
        frame = raw[name]
        seen |= set(frame["annotator"].dropna())
        open_ = frame["group"] == "all"
        frame["group"] = frame["annotator"].map(group_of).astype(object).where(open_).fillna(frame["group"])
    place = study.path.name if study.path else study.key
    return [
        Problem(place, "", f"groups.{g}.annotators", "an annotator of the data", repr(i), "check the spelling")
        for i, g in group_of.items()
        if i not in seen
    ]


def _training_apart(
    study: Study, raw: dict[str, pd.DataFrame], file: pd.Series, labels: list[Label]
) -> tuple[pd.DataFrame, list[Problem]]:
    """Judgements of training items become attempts: counts of them, and problems with the intended answers."""
    if not study.elicitation.training:
        return Counts().frame(), []
    marks = raw["annotations"]
    mask, attempts, counts, problems = training.taken_out(study, marks.assign(file=file), labels)
    raw["annotations"] = marks[~mask]
    only = set(marks.loc[mask, "work_unit"].dropna()) - set(marks.loc[~mask, "work_unit"])
    raw["work_units"] = raw["work_units"][~raw["work_units"]["work_unit"].isin(only)]
    if len(attempts):
        there = [raw["screening"]] if len(raw["screening"]) else []
        raw["screening"] = pd.concat([*there, attempts.astype(object)], ignore_index=True)
    return counts.frame(), problems


def _wrong_kinds(marks: pd.DataFrame, where: pd.DataFrame) -> list[Problem]:
    """Kinds of annotators that are none, and annotators of two: whose ids are to be replaced must be certain."""
    kind = marks["annotator_kind"]
    odd = marks.index[kind.notna() & ~kind.isin(schema.KINDS)]
    expected, hint = (
        ", ".join(schema.KINDS[:-1]) + f" or {schema.KINDS[-1]}",
        "correct it, or leave it out and name models in `judges`",
    )

    def wrong(i: int, expected: str, hint: str) -> Problem:
        return Problem(where.at[i, "file"], where.at[i, "where"], "annotator_kind", expected, repr(kind[i]), hint)

    problems = several(odd, lambda i: wrong(i, expected, hint))
    known = marks[marks["annotator_known"].astype(bool) & kind.isin(schema.KINDS) & marks["annotator"].notna()]
    first = known.groupby("annotator", sort=False)["annotator_kind"].transform("first")
    also = "{}, as in other judgements by this annotator"
    two = known.index[known["annotator_kind"] != first]
    return problems + several(two, lambda i: wrong(i, also.format(first[i]), "correct one of them"))


def _all_dialogues(dialogues: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """Dialogues of the sources, and those that only judgements name; a turn once, no turnless row where turns are."""
    side = {"dialogue_b": "dialogue", "system_b": "system"}
    left = ["corpus", "dialogue", "system", "session", "context", "turn"]
    right = annotations.loc[annotations["dialogue_b"].notna(), ["corpus", *side, "session", "context", "turn"]]
    judged = pd.concat([annotations[left], right.rename(columns=side)], ignore_index=True)
    judged = judged[judged["dialogue"].notna()].drop_duplicates(["corpus", "dialogue", "system", "turn"])
    known = pd.MultiIndex.from_frame(dialogues[["corpus", "dialogue"]])
    new = judged[~pd.MultiIndex.from_frame(judged[["corpus", "dialogue"]]).isin(known)]
    out = pd.concat([f for f in (dialogues, new) if len(f)] or [dialogues], ignore_index=True)
    out = out.reindex(columns=dialogues.columns)
    out = out.drop_duplicates(["corpus", "dialogue", "system", "turn"])
    # a missing corpus is reported later
    has_turns = out["turn"].notna().groupby([out["corpus"], out["dialogue"]], dropna=False).transform("any")
    return out[out["turn"].notna() | ~has_turns.astype(bool)].reset_index(drop=True)


def _pseudonyms(raw: dict[str, pd.DataFrame]) -> tuple[dict[str, pd.DataFrame], pd.DataFrame, naming.Names]:
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
    stay = set(marks.loc[~(human & known), "annotator"].dropna()) - set(marks.loc[human & known, "annotator"])
    places = {
        "annotations": "annotator",
        "work_units": "annotator",
        "screening": "annotator",
        "dialogues": "interactor",
    }
    units = {"annotations": "work_unit", "work_units": "work_unit", "screening": "work_unit"}
    # a position is nobody, even where a person has its name as an id
    positions = marks.loc[human & ~known, "annotator"]
    named = raw | {"annotations": marks[["annotator"]].drop(index=positions.index)}
    people, tasks = _numbered(named, places, "A{:04d}", stay), _numbered(raw, units, "U{:05d}", set())
    rows = [("person", new, old) for old, new in people.items()] + [
        ("work unit", new, old) for old, new in tasks.items()
    ]
    rows = [(kind, new, old) for kind, new, old in rows if new != old]
    own_ids = pd.DataFrame([(k, new, old.replace(naming.LONG, "")) for k, new, old in rows])
    own_ids = own_ids.set_axis(["kind", "pseudonym", "own_id"], axis=1) if rows else pd.DataFrame()
    within = naming.Names.of(rows)
    named = _renamed(_renamed(raw, places, people), units, tasks)
    named["annotations"].loc[positions.index, "annotator"] = positions
    named = naming.numbered(named, _IDS)
    named = naming.renamed(named, _IDS, within)
    facts = named["dialogue_facts"]
    known = {v: v if _is_number(v) else within.within(str(v)) for v in facts["value"].unique()}
    return named | {"dialogue_facts": facts.assign(value=facts["value"].map(known))}, own_ids, within


def _is_number(value: Any) -> bool:
    return bool(re.fullmatch(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?", str(value)))


def _texts_cleared(
    frames: dict[str, pd.DataFrame], within: naming.Names
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Texts without the ids of people and tasks that stand in them, and how many were taken out."""
    counts, out = Counts(), dict(frames)
    for name, columns in naming.TEXTS.items():
        for column in columns:
            texts = frames[name][column]
            found = {t: within.texts(t) for t in texts.dropna().unique() if isinstance(t, str)}
            if n := int(texts.map({t: n for t, (_, n) in found.items()}).sum()):
                out[name] = out[name].assign(**{column: [found[t][0] if t in found else t for t in texts]})
                counts.add(name, "texts", "mended", "an id of a person or task taken out", n)
    return out, counts.frame()


def _numbered(raw: dict[str, pd.DataFrame], places: dict[str, str], pattern: str, stay: set) -> dict[str, str]:
    """Id -> pseudonym, by first appearance; what is in `stay` keeps its name."""
    ids = pd.concat([raw[name][column] for name, column in places.items()]).dropna().unique()
    free = (name for i in itertools.count(1) if (name := pattern.format(i)) not in stay)
    return {id_: id_ if id_ in stay else next(free) for id_ in ids} | {id_: id_ for id_ in stay}


def _renamed(raw: dict[str, pd.DataFrame], places: dict[str, str], names: dict[str, str]) -> dict[str, pd.DataFrame]:
    return {n: f.assign(**{places[n]: f[places[n]].map(names)}) if n in places else f for n, f in raw.items()}


def _conform(name: str, frame: pd.DataFrame, study: Study, where: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """`frame` in the schema's types. Rows with cells that are no numbers or dates are reported and left out."""
    spec, problems = schema.FRAMES[name], list[Problem]()
    if not len(frame):  # most studies have no metrics, screening or work units: nothing to parse, cell by cell
        return schema.conform(frame, spec, study=study.key), problems
    out, bad = frame.copy(), pd.Series(False, frame.index)
    for column in (c for c in spec if c in frame and not spec[c].dtype.startswith(("str", "bool"))):
        out[column], expected = typed.parsed(frame[column], spec[column])
        odd = frame[column].notna() & out[column].isna()
        bad |= odd
        hint = _MEND.get(column, "correct it in the file")

        def wrong(i: int, column: str = column, expected: str = expected, hint: str = hint) -> Problem:
            known = name == "annotations"
            file, place = (where.at[i, "file"], where.at[i, "where"]) if known else (name, f"row {i + 1}")
            return Problem(file, place, column, expected, repr(frame.at[i, column])[: limits.QUOTED], hint)

        problems += several(frame.index[odd], wrong)
    for column in (c for c in spec if name != "annotations" and c in frame and not spec[c].null):
        empty = frame.index[frame[column].isna()]
        problems += several(empty, partial(_no_value, name, column))
    return schema.conform(out[~bad], spec, study=study.key).set_axis(out.index[~bad]), problems


def _no_value(frame: str, column: str, row: int) -> Problem:
    return Problem(frame, f"row {row + 1}", column, "a value", "nothing")


#: what to do about a cell that is no number of its kind
_MEND = {
    "score": (
        "correct it, map it to a number in `values`, or name it in `na_values`; "
        "to leave out a whole column of a table, use `skip_columns`"
    ),
    "turn": "in the YAML, `first_turn` gives the number of the first turn, and `columns` the column with turns",
}


def _repeated_rows(frames: dict[str, pd.DataFrame]) -> list[Problem]:
    """Dialogues that sources give to two systems, and metric scores that two rows give to one item."""
    dialogues, scores = frames["dialogues"], frames["metric_scores"]
    systems = dialogues.groupby(["corpus", "dialogue"], sort=False)["system"].unique()
    problems = [
        Problem("dialogues", f"dialogue {d}", "system", "one system per dialogue", ", ".join(map(repr, s)))
        for (_, d), s in systems[systems.str.len() > 1].items()
    ]
    twice = scores[scores.duplicated(["corpus", "dialogue", "turn", "metric"])]
    return problems + [
        Problem("metric scores", f"dialogue {d}", m, "one score per item", "a second one")
        for d, m in zip(twice["dialogue"], twice["metric"], strict=True)
    ]


def _never_judged(study: Study, annotations: pd.DataFrame) -> list[Problem]:
    """Labels that the YAML declares and the data do not have: most often a name spelt otherwise."""
    if not study.labels or len(_present(study)) < len(study.sources):
        return []
    judged = set(annotations[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    kept = set(study.label_list())
    place = study.path.name if study.path else study.key
    return [
        Problem(place, "", f"labels.{key}", "judgements by this label", "none", "check how the data spell it")
        for key, label in zip(study.labels, study.label_list(every=True)[-len(study.labels) :], strict=True)
        if label in kept and (label.method, label.id) not in judged
    ]


def _write(built: Built, out: Path) -> None:
    for name, frame in built.frames.items():
        store.write_frame(frame, out / f"{name}.parquet")
    for name, content in (("profile.json", built.profile), (recorded.SECTIONS, built.sections)):
        with store.atomic(out / name) as temporary:
            temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    _write_own_ids(built.own_ids, out / naming.OWN_IDS)


def _write_own_ids(own_ids: pd.DataFrame, path: Path) -> None:
    """Keep the ids that pseudonyms stand for, readable by nobody else; a list of other data goes."""
    path.unlink(missing_ok=True)
    if own_ids.empty:
        return
    with store.atomic(path) as temporary:
        private = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(private, "w", encoding="utf-8", newline="") as file:
            file.write(escape.csv(own_ids))
