"""The parameters of a run as they are recorded: everything merged, nobody's id in them."""

from __future__ import annotations

import glob
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from judgebook.sources import places
from judgebook.sources.ids.naming import PEOPLE, Names, private
from judgebook.study import paths, yaml_file
from judgebook.study.params import Study

#: beside the frames: the sections of the YAML that may name people, as `params.yaml` has them
SECTIONS = "sections.json"
_NAMING = ("keep", "drop", "spelling", "groups", "sources", "scope")


def text(study: Study, home: Path) -> str:
    """`params.yaml` of the folder `home`, where the data have been read."""
    tree = resolved(study) | kept(home)
    return yaml.dump(tree, Dumper=yaml_file.Dumper, sort_keys=False, allow_unicode=True)


def kept(home: Path) -> dict[str, Any]:
    """The sections that may name people, by name, as the folder `home` has them; none where no data have been read."""
    path = home / SECTIONS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def raw_names(study: Study) -> list[str]:
    """Raw files the study reads, each once."""
    beside = study.path.parent if study.path else None
    return list(dict.fromkeys(name for source in study.sources for name in places.names(source, study.key, beside)))


def files_of_people(study: Study) -> set[str]:
    """Raw files whose names may tell who judged: manifests do not have them."""
    beside = study.path.parent if study.path else None
    patterns = [(s, n) for s in study.sources for n in s.names() if PEOPLE & set(paths.names(n)) or "*" in n]
    return {f for s, n in patterns for f in places.names(s, study.key, beside) if f != n}


def resolved(study: Study) -> dict[str, Any]:
    """The study with everything merged, as `params.load` reads it; raw files next to the YAML by full path."""
    out = study.model_dump(mode="json")
    folder = study.path.parent if study.path else None
    written = [*raw_names(study), *(n for source in study.sources for n in source.names())]
    in_folder = {n: str(folder / n) for n in written if glob.glob(places.wildcards(str(folder / n)))} if folder else {}
    sources = [_strings(source, lambda value: in_folder.get(value, value)) for source in out["sources"]]
    return {**out, "sources": sources}


def sections(study: Study, names: Names, present: Collection[str]) -> dict[str, Any]:
    """The sections that may name people, with pseudonyms in the place of ids.

    What `keep`, `drop` and `spelling` say of people is not repeated, nor are members of groups that they leave out:
    those left out have no pseudonyms.

    present : own ids of the annotators in the frames.
    """
    tree = resolved(study)

    def members(ids: list[str]) -> list[str]:
        return [names.pseudonyms.get(i, i) for i in ids if i in present]

    groups = {
        key: {
            **group,
            "annotators": members(group["annotators"]),
            "parts": {name: members(ids) for name, ids in group["parts"].items()},
        }
        for key, group in tree["groups"].items()
    }
    sources = [
        _strings(_silent(given, private(source)), names.within)
        for given, source in zip(tree["sources"], study.sources, strict=True)
    ]
    scope = _strings(tree["scope"], names.within)
    rules: dict[str, Any] = {key: _strings(tree[key], names.within) for key in ("keep", "drop") if key in tree}
    said = _silent(rules, PEOPLE)
    spelt = {kind: names_ for kind, names_ in tree["spelling"].items() if kind not in PEOPLE}
    return {**said, "spelling": spelt, "groups": groups, "sources": sources, "scope": scope}


def as_written(study: Study) -> dict[str, Any]:
    """The sections that may name people, of a YAML that has pseudonyms: `sections` once made it."""
    tree = resolved(study)
    return {key: tree[key] for key in _NAMING}


def renamed(study: Study, names: Names) -> Study:
    """The study with pseudonyms in the place of ids in parts of groups, as its frames have them."""
    groups = {
        key: group.model_copy(
            update={"parts": {name: [names.pseudonyms.get(i, i) for i in ids] for name, ids in group.parts.items()}}
        )
        for key, group in study.groups.items()
    }
    return study.model_copy(update={"groups": groups})


def changes(overrides: dict[str, Any], home: Path) -> dict[str, Any]:
    """`overrides` of a study as its page repeats them: of sections that may name people, what the folder `home` has.

    Where the data have not been read, nothing of these sections is repeated.
    """
    tree = kept(home)
    return {key: _as_in(tree.get(key), value) if key in _NAMING else value for key, value in overrides.items()}


def _as_in(recorded: Any, given: Any) -> Any:
    """What `recorded` has in the place of each value of `given`."""
    if isinstance(given, dict) and isinstance(recorded, dict):
        return {key: _as_in(recorded.get(key), value) for key, value in given.items()}
    return "not named here" if recorded is None and given is not None else recorded


def _silent(tree: dict[str, Any], people: frozenset[str]) -> dict[str, Any]:
    def said(column: str, values: Any) -> Any:
        n = len(values) if isinstance(values, list) else 1
        return f"{n} not named here" if column in people else values

    return tree | {
        key: {column: said(column, values) for column, values in tree[key].items()}
        for key in ("keep", "drop")
        if key in tree
    }


def _strings(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return {k: _strings(v, change) for k, v in value.items()}
    if isinstance(value, list):
        return [_strings(v, change) for v in value]
    return change(value) if isinstance(value, str) else value
