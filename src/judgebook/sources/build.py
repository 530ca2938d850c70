"""The one choke point: every source of a study becomes validated, pseudonymised, tidy frames.

`build` reads all sources, joins them, maps groups, replaces the ids of people and work units by pseudonyms, reports
every problem at once, and only then writes.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.annotations.features import profile
from judgebook.sources import checks, filters, joining, sampling
from judgebook.sources.accounts import balance, physical
from judgebook.sources.ids import naming, pseudonyms, recorded
from judgebook.sources.instead import embedded, shared
from judgebook.sources.places import names
from judgebook.sources.reading import Reading, first_places
from judgebook.sources.rows import advice, table_cells, transcripts
from judgebook.study import schema, store
from judgebook.study.labels import Label
from judgebook.study.params import ParamsError, Study
from judgebook.study.schema import DataError, Problem


@dataclass(frozen=True)
class Built:
    """What became of a study's sources.

    coded : one frame per key of `schema.FRAMES`, columns of texts coded where reading had them so (`codes`). frames :
    the same with all texts as such. profile : what the study offers (`annotations.features`).
    seen : some judgements as the sources have them, with own ids, `file` and `where`: for the user's eyes only.
    unused : file -> column that nothing in the YAML names -> its cells. notes : what adapters have to say.
    own_ids : kind (person or work unit), pseudonym and id of the source, where these differ: for the user alone.
    sections : those of the YAML that may name people, as they are recorded (`recorded.sections`).
    of_bundle : frames that only a bundle has (`shared.read`).
    """

    coded: dict[str, pd.DataFrame]
    profile: dict[str, Any]
    seen: pd.DataFrame = field(default_factory=pd.DataFrame)
    unused: dict[str, dict[str, pd.Series]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    own_ids: pd.DataFrame = field(default_factory=pd.DataFrame)
    sections: dict[str, Any] = field(default_factory=dict)
    of_bundle: dict[str, pd.DataFrame] = field(default_factory=dict)

    @cached_property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {name: codes.texts(frame) for name, frame in self.coded.items()}


def files(study: Study) -> list[Path]:
    """The files a study reads, in order, each once: raw ones, or the embedded judgements where these are not here.

    Raises DataError naming every file that is absent.
    """
    if instead := shared.files(study) or embedded.files(study):
        return instead
    paths: list[Path] = []
    problems: list[Problem] = []
    beside = study.path.parent if study.path else None
    for source in joining.present(study):
        open_file = joining.files_of(study, source)
        for name in names(source, study.key, beside):
            try:
                paths.append(open_file(name))
            except DataError as error:
                problems += error.problems
    if problems:
        raise DataError(problems)
    return list(dict.fromkeys(paths))


def build(study: Study, *, out: Path | None = None) -> Built:
    """Read, check and join the sources of `study`; write the frames to the folder `out` (None: write nothing).

    Written are `<frame>.parquet` for each of `schema.FRAMES`, `profile.json`, `recorded.SECTIONS`, and where
    ids were replaced `naming.OWN_IDS`.
    Raises DataError with all problems before anything is written, and for whatever else goes wrong while reading.
    """
    try:
        built = _built(study, out)
    except DataError as error:
        raise DataError(advice.advised(study, error.problems)) from None
    except (ParamsError, store.DeniedError):
        raise
    except Exception as error:
        if remedy := store.remedy(error):
            raise store.DeniedError(remedy) from error
        read = [name for source in study.sources for name in source.names()]
        raise DataError([joining.unforeseen(read, "judgements that can be joined and checked", error)]) from error
    if out is not None:
        _write(built, out)
    return built


@dataclass
class _Joined:
    """The sources of a study as one, on the way to its frames.

    raw : frames with own ids. where : `file` and `where` of each judgement. labels : declared ones, and those that
    sources bring. counts : frames of `Counts`. counted : file and kind of what is counted in it.
    """

    raw: dict[str, pd.DataFrame]
    where: pd.DataFrame
    labels: list[Label]
    counts: list[pd.DataFrame]
    counted: set[tuple[str, str]]
    problems: list[Problem]
    unused: set[str]


def _built(study: Study, out: Path | None) -> Built:
    files(study)
    if shared.files(study):
        frames, features, more = shared.read(study)
        return Built(frames, features, sections=recorded.as_written(study), of_bundle=more)
    readings, problems = joining.read_all(study)
    table_cells.alike(readings)
    problems += transcripts.complete(readings)
    joined = _join(study, readings, problems)
    seen = codes.plain(_some(joined.raw["annotations"]).join(joined.where))
    for reading in readings:  # joined by now: of millions of judgements one copy fewer in memory
        reading.annotations = reading.annotations.iloc[:0].copy()
    people = {i for name in joining.WITH_GROUPS for i in joined.raw[name]["annotator"].dropna().unique()}
    raw = pseudonyms.shuffled(joined.raw, out) if study.pseudonyms == "shuffled" else joined.raw
    named, own_ids, within = pseudonyms.replaced(raw)
    raw.clear()
    joined.raw.clear()
    named, cleared = pseudonyms.texts_cleared(named, within)
    frames = _checked(study, named, joined)
    frames["annotations"], differing, problems = filters.by_agreement(
        study, frames["annotations"], joined.where, joined.counted
    )
    if problems:
        raise DataError(problems)
    unused = _unused(readings)
    # where one column says how dialogues were drawn, others that could are not missed
    missed = {} if frames["annotations"]["sampling_weight"].notna().any() else unused
    joined.counts += [joining.left_out(study), differing, cleared, sampling.not_used(missed)]
    frames["counts"] = _counts(joined.counts, within)
    if problems := balance.problems(frames["counts"], len(frames["annotations"])):
        raise DataError(problems)
    frames = {name: frame.reset_index(drop=True) for name, frame in frames.items()}
    return Built(
        frames,
        profile(frames, recorded.renamed(study, within)),
        seen,
        unused,
        [note for r in readings for note in r.notes],
        own_ids,
        recorded.sections(study, within, people),
    )


def _join(study: Study, readings: list[Reading], problems: list[Problem]) -> _Joined:
    """All judgements that the YAML does not leave out. Raises DataError where none is left."""
    raw = {name: joining.joined(readings, name) for name in schema.FRAMES if name != "counts"}
    where = raw["annotations"][["file", "where"]].assign(cell=raw["annotations"]["score"])
    raw["annotations"] = raw["annotations"].drop(columns=["file", "where"])
    problems = problems + checks.wrong_kinds(raw["annotations"], where) + joining.map_groups(study, raw)
    labels = study.label_list() + [label for r in readings for label in r.labels]
    trained, odd = joining.training_apart(study, raw, where["file"], labels)
    problems += odd
    if len(joining.present(study)) == len(study.sources):
        problems += checks.unmatched(study, raw, {label.id for label in labels})
    counts = [physical.once([r.counts.frame() for r in readings]), trained]
    counted = {pair for f in counts for pair in f[["file", "what"]].itertuples(index=False, name=None)}
    raw, filtered, unknown = filters.of_study(study, raw, where, counted)
    problems += unknown
    if raw["annotations"].empty:
        raise DataError(problems)
    problems += sampling.completed(raw["annotations"], where)
    unused = {column for columns in _unused(readings).values() for column in columns}
    raw["dialogues"] = joining.all_dialogues(raw["dialogues"], raw["annotations"])
    return _Joined(raw, where, labels, [*counts, filtered], counted, problems, unused)


def _checked(study: Study, named: dict[str, pd.DataFrame], joined: _Joined) -> dict[str, pd.DataFrame]:
    """The frames in the types of the schema. `named` is empty afterwards. Raises DataError with all problems."""
    frames: dict[str, pd.DataFrame] = {}
    problems, elsewhere = joined.problems, list[Problem]()
    for name in list(named):
        frames[name], odd = checks.conform(name, named.pop(name), study, joined.where)
        (problems if name == "annotations" else elsewhere).extend(odd)
    where = joined.where.loc[frames["annotations"].index]
    problems += schema.validate(frames["annotations"], joined.labels, where)
    # what is wrong with a judgement is mostly wrong with its dialogue too: said once, where it can be mended
    problems = problems or elsewhere + checks.repeated_rows(frames) + checks.never_judged(
        study, frames["annotations"], joined.unused
    )
    if problems:
        raise DataError(problems)
    return frames


def _counts(counts: list[pd.DataFrame], within: naming.Names) -> pd.DataFrame:
    """The frame `counts`, without ids in the names of files."""
    out = pd.concat(counts, ignore_index=True)
    for column in ("file", "where"):
        out[column] = out[column].map({text: within.within(text) for text in out[column].dropna().unique()})
    groups = out.groupby([c for c in schema.COUNTS if c not in ("where", "n")], dropna=False, sort=False)
    out = groups.agg({"where": lambda texts: first_places(texts.dropna()) or None, "n": "sum"}).reset_index()
    return schema.conform(out, schema.COUNTS)


def _some(marks: pd.DataFrame) -> pd.DataFrame:
    """Three judgements that differ: the first, one of another label or by another annotator, and a late one."""
    others = marks["annotator"].ne(marks["annotator"].iloc[0]).to_numpy()
    both = others & marks["label"].ne(marks["label"].iloc[0]).to_numpy()
    other = np.flatnonzero(both if both.any() else others)[:1]
    return codes.plain(marks.iloc[list(dict.fromkeys([0, *other, len(marks) * 2 // 3]))])


def _unused(readings: list[Reading]) -> dict[str, dict[str, pd.Series]]:
    """Columns that no source uses; of a file that several read, those that none of them does."""
    out: dict[str, dict[str, pd.Series]] = {}
    for reading in readings:
        for file, columns in reading.unused.items():
            out[file] = {c: v for c, v in columns.items() if c in out[file]} if file in out else dict(columns)
    return out


def _write(built: Built, out: Path) -> None:
    for name, frame in built.coded.items():
        store.write_coded(frame, out / f"{name}.parquet")
    for name, content in (("profile.json", built.profile), (recorded.SECTIONS, built.sections)):
        with store.atomic(out / name) as temporary:
            temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    shutil.rmtree(out / store.OF_BUNDLE, ignore_errors=True)
    for name, frame in built.of_bundle.items():
        store.write_frame(frame, out / store.OF_BUNDLE / f"{name}.parquet")
    pseudonyms.write_own_ids(built.own_ids, out / naming.OWN_IDS)
