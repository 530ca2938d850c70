"""The parameters of a run as they are recorded: everything merged, nobody's id in them."""

from __future__ import annotations

import glob
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from judgebook.sources import places
from judgebook.sources.ids.naming import OWN_IDS, PEOPLE, Names, private
from judgebook.study import escape, paths, yaml_file
from judgebook.study.params import Study

#: beside the frames: the sections of the YAML that may name people, as `params.yaml` has them
SECTIONS = "sections.json"
_NOBODY = "not named here"
_NAMING = ("keep", "drop", "spelling", "groups", "sources", "scope")


def text(study: Study, home: Path) -> str:
    """`params.yaml` of the folder `home`, where the data have been read."""
    tree = resolved(study) | kept(home) | {"extra": extra(study, home)}
    return yaml.dump(tree, Dumper=yaml_file.Dumper, sort_keys=False, allow_unicode=True)


def kept(home: Path) -> dict[str, Any]:
    """The sections that may name people, by name, as the folder `home` has them; none where no data have been read."""
    path = home / SECTIONS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def extra(study: Study, home: Path) -> dict[str, Any]:
    """The section `extra` with pseudonyms in the place of ids, by what the folder `home` has of them.

    People whom the YAML names and who are not in the data, such as those it leaves out, are not named. It is looked
    through again in each run: a change of it does not read the data again.
    """
    if not study.extra:
        return {}
    path = home / OWN_IDS
    names = Names.of(escape.read_csv(path).itertuples(index=False, name=None) if path.is_file() else ())
    others = _people(study) - _in_data(home)

    def name(value: str) -> str:
        return names.pseudonyms.get(value) or (_NOBODY if value in others else names.within(value))

    def within(value: Any) -> Any:
        if isinstance(value, dict):
            return {name(key): within(inner) for key, inner in value.items()}
        return [within(inner) for inner in value] if isinstance(value, list) else _strings(value, name)

    return {key: within(value) for key, value in study.extra.items()}


def _in_data(home: Path) -> set[str]:
    """Who judged, as frames call them: models keep their names."""
    import pandas as pd

    path = home / "annotations.parquet"
    return {*pd.read_parquet(path, columns=["annotator"])["annotator"].dropna()} if path.is_file() else set()


def _people(study: Study) -> set[str]:
    """Ids of people that the YAML gives."""
    rules = [(study, PEOPLE), *((source, private(source)) for source in study.sources)]
    trees = [getattr(tree, key, {}) for tree, _ in rules for key in ("keep", "drop")]
    columns = frozenset().union(*(names for _, names in rules))
    listed: list[Any] = [values for tree in trees for column, values in tree.items() if column in columns]
    listed += [[one, *others] for one, others in study.spelling.get("annotator", {}).items()]
    listed += [ids for group in study.groups.values() for ids in (group.annotators, *group.parts.values())]
    return {str(value) for values in listed for value in (values if isinstance(values, list) else [values])}


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
    out = {key: _as_in(tree.get(key), value) if key in _NAMING else value for key, value in overrides.items()}
    path = home / "params.yaml"
    if "extra" in overrides:
        there = yaml.load(path.read_bytes(), yaml_file.Loader)["extra"] if path.is_file() else {}
        out["extra"] = {key: there.get(key, _NOBODY) for key in overrides["extra"]}
    return out


def _as_in(recorded: Any, given: Any) -> Any:
    """What `recorded` has in the place of each value of `given`."""
    if isinstance(given, dict) and isinstance(recorded, dict):
        return {key: _as_in(recorded.get(key), value) for key, value in given.items()}
    return _NOBODY if recorded is None and given is not None else recorded


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
