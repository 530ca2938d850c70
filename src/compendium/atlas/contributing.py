"""What a public study still lacks to be part of the project and of the atlas, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd

from compendium.atlas import declared
from compendium.published import mapping, numbers
from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.pipeline import check
from judgebook.sources import places, registry
from judgebook.study import params
from judgebook.study.params import Study
from judgebook.study.schema import DataError


@dataclass(frozen=True)
class Step:
    """what : the step. lacks : what is to be done; empty where it is done. says : what there is."""

    what: str
    lacks: str = ""
    says: str = ""


def steps(name: str) -> list[Step]:
    """The steps of docs/adding_a_study.md for a study. name : of a YAML in `params/`."""
    try:
        study = params.load(name)
    except JudgebookError as error:
        return [Step("YAML", lacks=str(error))]
    return [Step("YAML", says=f"params/{study.key}.yaml"), *(step for make in _STEPS for step in make(study))]


def command(name: str) -> int:
    """Print the steps; 1 where something is lacking."""
    each = steps(name)
    wide = max(len(step.what) for step in each)
    for step in each:
        state, text = ("lacks", step.lacks) if step.lacks else ("ok", step.says)
        print(f"  {step.what:<{wide}}  {state:<5}  {text.replace(chr(10), chr(10) + ' ' * (wide + 11))}")
    lacking = sum(bool(step.lacks) for step in each)
    print(f"{name}: {'nothing is lacking' if not lacking else f'{lacking} of {len(each)} steps to be done'}")
    return int(bool(lacking))


def _registered(study: Study) -> Iterator[Step]:
    if study.simulated:
        yield Step("real data", lacks="the study is simulated, and the atlas has real ones only")
    if study.key not in registry.studies():
        entry = "licence, repository, commit, and bytes, sha256 and upstream of each file"
        yield Step("registry", lacks=f"write `{study.key}:` in src/judgebook/sources/registry.yaml ({entry})")
        return
    entries = registry.entries(study.key)
    unpinned = [entry.file for entry in entries if not (entry.sha256 or entry.upstream[0].blob)]
    lacks = f"write sha256 of {', '.join(unpinned)}, or the blob of its source" if unpinned else ""
    yield Step("registry", lacks, f"{len(entries)} files, licence: {entries[0].licence}")
    yield Step("citation", "" if study.citation else "write `citation:` in the YAML", study.citation)
    yield Step("licence", "" if study.licence else "write `licence:` in the YAML, as the data state it", study.licence)


def _read(study: Study) -> Iterator[Step]:
    if places.absent(study):
        known = study.key in registry.studies()
        do = f"{project.command()} fetch {study.key}" if known else f"put them into data/raw/{study.key}"
        yield Step("raw files", lacks=do)
        return
    beside = study.path.parent if study.path else None
    every = [name for source in study.sources for name in places.names(source, study.key, beside)]
    at = {name: path for name in every if (path := places.find(name, study.key, beside))}
    entries = {name: registry.entry_of(study.key, name) for name in at}
    unknown = [name for name, entry in entries.items() if entry is None]
    wrong = [name for name, entry in entries.items() if entry and not entry.accepts(at[name].read_bytes())]
    lacks = f"not in the registry: {', '.join(unknown)}" if unknown else ""
    lacks = f"not the files that the registry describes: {', '.join(wrong)}" if wrong else lacks
    yield Step("raw files", lacks, f"{len(at)} as the registry describes them")
    try:
        built, _ = check.look(study)
    except DataError as error:
        yield Step("data", lacks=str(error))
        return
    marks: pd.DataFrame = built.frames["annotations"]
    yield Step("data", says=f"{len(marks):,} judgements are read; compare the count with that of the source")
    questions = "\n".join(f"{fact}: {question}" for fact, question in study.open_questions.items())
    undirected = [label.id for label in study.label_list() if not label.direction_declared]
    yield Step("questions", questions, "none is open")
    yield Step("directions", f"write `direction:` of {', '.join(undirected)}" if undirected else "", "all are declared")


def _described(study: Study) -> Iterator[Step]:
    try:
        about = declared.declared()
    except declared.AtlasError as error:
        yield Step("labels.yaml", lacks=str(error))
        return
    if study.key in about.left_out:
        yield Step("labels.yaml", says=f"left out of the atlas: {about.left_out[study.key]}")
        return
    if study.key not in about.studies:
        yield Step("labels.yaml", lacks=f"write `{study.key}:` in data/atlas/{declared.LABELS}: genre, judges, labels")
        return
    yield Step("labels.yaml", says="every label has a kind")
    rows = pd.read_csv(declared.FOLDER / "studies.csv")
    redo = f"{project.command()} atlas --study {study.key}"
    yield Step("atlas", "" if (rows["study"] == study.key).any() else redo, "its rows are there")


def _printed(study: Study) -> Iterator[Step]:
    papers = [one for one in mapping.load() if any(entry.study == study.key for entry in one.entries)]
    if not papers:
        files = f"data/published/{study.key}_text.csv and _mapping.yaml"
        yield Step("printed numbers", says=f"none; where the source prints results of these data, write {files}")
    for one in papers:
        printed = numbers.load(one.paper)
        yield Step("printed numbers", says=f"{len(printed)} in data/published/{one.paper}_*.csv")


_STEPS: tuple[Callable[[Study], Iterator[Step]], ...] = (_registered, _read, _described, _printed)
