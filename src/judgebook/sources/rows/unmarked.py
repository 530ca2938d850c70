"""Judgements in which nothing was marked, where the YAML says that this is an answer (`empty`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgebook.sources.adapters.options.records import Records, prefixes
from judgebook.sources.rows.record_rows import Env, Walk
from judgebook.study import paths
from judgebook.study.labels import Label
from judgebook.study.paths import Step

#: columns of ours that say what was judged, and by whom
_WHO_AND_WHAT = (
    *("corpus", "group", "annotator", "work_unit", "session", "context"),
    *("dialogue", "system", "dialogue_b", "system_b", "turn"),
)
Key = tuple[tuple[str, Any], ...]


def spelt(source: Records, labels: Iterable[Label]) -> dict[str, str]:
    """Labels that have `empty` among their answers, as the file spells them -> their ids."""
    ids = {label.id for label in labels if source.empty is not None and source.empty in label.categories}
    return {id_: id_ for id_ in ids} | {name: id_ for name, id_ in source.label_names.items() if id_ in ids}


@dataclass
class Unit:
    """What one annotator was asked about one item. labels : those that were marked, as the file spells them."""

    record: int
    path: str
    place: str
    env: Env
    labels: set[str] = field(default_factory=set)


class Units:
    """The units of a file: elements of the innermost list (or keys) on the way to scores that says whose or of what
    they are, else whole records."""

    def __init__(self, source: Records):
        self.source = source
        named = [path for ours, path in source.columns.items() if ours in _WHO_AND_WHAT]
        named += [path for ours, many in source.either.items() for path in many if ours in _WHO_AND_WHAT]
        named += [path for many in source.identify.values() for path in many]
        self._names = {name for path in named for name in paths.names(path)} | {*_WHO_AND_WHAT}
        plain = [source.steps(path)[1] for path in named if not paths.ALONE.fullmatch(path)]
        self._above = {p for steps in plain for p, s in zip(prefixes(steps), steps, strict=True) if s.iterates}
        self._steps = {
            path: self._of(steps) for path in source.scores for join, steps in [source.steps(path)] if not join
        }
        self._levels = {path: ".".join(f"{s}{s.name or ''}" for s in steps) for path, steps in self._steps.items()}
        #: level and number of a record -> its units, by what their names and places stand for
        self._all: dict[tuple[str, int], dict[Key, Unit]] = {}

    def _of(self, steps: list[Step]) -> list[Step]:
        """The steps from a record to a unit."""
        end = 0
        for i, (prefix, step) in enumerate(zip(prefixes(steps), steps, strict=True), start=1):
            names = {step.name} if step.kind == "list" else {*paths.placeholders(step.text)} - {"label", "score"}
            if (step.iterates and prefix in self._above) or names & self._names:
                end = i
        return steps[:end]

    def enter(self, walk: Walk, record: Any, n: int, where: str, env: Env) -> None:
        """Take up the units of a record, which has the number `n`."""
        for path, steps in self._steps.items():
            units = self._all.setdefault((self._levels[path], n), {})
            for _, place, of in walk.each(record, steps, where, env):
                units.setdefault(tuple(sorted(of.items())), Unit(n, path, place, of))

    def mark(self, path: str, n: int, env: Mapping[str, Any], label: str) -> None:
        """Note that a label has a score where names and places stand for what is in `env`."""
        units = self._all.get((self._levels.get(path, ""), n))
        if units:
            names = next(iter(units.values())).env
            units[tuple(sorted((name, env[name]) for name in names))].labels.add(label)

    def marked(self) -> dict[str, set[str]]:
        """Level of units -> the labels with scores there."""
        out: dict[str, set[str]] = {}
        for (level, _), units in self._all.items():
            out.setdefault(level, set()).update(*(unit.labels for unit in units.values()))
        return out

    def without(self, marked: Mapping[str, set[str]]) -> Iterator[tuple[Unit, str]]:
        """Units in which a label has no score. marked : level -> labels with scores there, in any file."""
        for (level, _), units in self._all.items():
            for unit in units.values():
                for label in sorted(marked[level] - unit.labels):
                    yield unit, label
