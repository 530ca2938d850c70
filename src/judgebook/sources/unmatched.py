"""Names that a YAML gives and the data do not have: most often misspelt, and without effect where nobody says so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from judgebook.study.labels import TEXT_METRICS
from judgebook.study.params import Study
from judgebook.study.schema import Problem

Names = Iterable[Any]


def problems(study: Study, raw: dict[str, pd.DataFrame], labels: set[str]) -> list[Problem]:
    """A problem for each name of the YAML that nothing in the data is called.

    raw : the frames as the sources give them, before any filter. labels : ids of the declared labels.

    Keys that are inherited, or left at their default, are not looked at.
    """
    place = study.path.name if study.path else study.key
    out = []
    for key, kind, names, known in _named(study, raw, labels):
        known = {str(k) for k in known if pd.notna(k)}
        for name in dict.fromkeys(str(n) for n in names):
            if name in known:
                continue
            near = difflib.get_close_matches(name, known, n=1)
            near = [k for k in known if k.lower() == name.lower()] or near
            there = ", ".join(sorted(known)[:8]) + (", …" if len(known) > 8 else "")
            hint = f"did you mean {near[0]!r}?" if near else f"there are {there}" if known else ""
            out.append(Problem(place, "", key, f"{kind} of the data", repr(name), hint))
    return out


def _named(study: Study, raw: dict[str, pd.DataFrame], labels: set[str]) -> Iterator[tuple[str, str, Names, Names]]:
    """(key of the YAML, what it names, the names, those of the data)."""
    marks, dialogues = raw["annotations"], raw["dialogues"]
    systems = {*marks["system"].unique(), *marks["system_b"].unique(), *dialogues["system"].unique()}
    ids = {"dialogue": {*marks["dialogue"].unique(), *marks["dialogue_b"].unique(), *dialogues["dialogue"].unique()}}
    ids["session"] = {*marks["session"].unique(), *dialogues["session"].unique()}
    corpora = {*marks["corpus"].unique(), *dialogues["corpus"].unique()}
    groups = {*marks["group"].unique(), *raw["work_units"]["group"].unique(), *raw["screening"]["group"].unique()}
    metrics = {*raw["metric_scores"]["metric"].unique(), *TEXT_METRICS}
    yield "systems", "a system", study.systems, systems
    yield "unranked_systems", "a system", study.unranked_systems, systems
    yield "control_system", "a system", [study.control_system] if study.control_system else [], systems
    yield "metric_directions", "a metric", study.metric_directions, metrics
    yield "groups", "an evaluator group", [g for g, spec in study.groups.items() if not spec.annotators], groups
    if study.scope is not None:
        for key, kind in (("exclude_dialogues", "dialogue"), ("exclude_sessions", "session")):
            for method, listed in getattr(study.scope, key).items():
                yield f"scope.{key}.{method}", f"a {kind}", listed, ids[kind]
    if study.metrics.paper is None:  # else titles are also of metrics that the paper prints only
        yield "metrics.titles", "a metric", study.metrics.titles, metrics
    yield "metrics.corpora", "a corpus", study.metrics.corpora, corpora
    control = study.quality_control
    yield "quality_control.labels", "a label", control.labels, labels
    yield "quality_control.runs", "a corpus", control.runs, corpora
    families = [s for many in control.families.values() for s in many]
    yield "quality_control.families", "a system", families, systems
    yield "group_effects.objective", "a label", study.group_effects.objective, labels
    yield "group_effects.source_order", "an evaluator group", study.group_effects.source_order, groups
    yield "costs.payments", "an evaluator group", study.costs.payments, groups
    for method, listed in study.costs.final_labels.items():
        yield f"costs.final_labels.{method}", "a label", listed, labels
    yield from _of_sections(study, systems, corpora, groups, labels)


def _of_sections(
    study: Study, systems: Names, corpora: Names, groups: Names, labels: set[str]
) -> Iterator[tuple[str, str, Names, Names]]:
    """Single names in sections that have defaults: looked at only where the YAML gives them."""
    for section, key, kind, known in (
        ("importance", "target", "a label", labels),
        ("importance", "group", "an evaluator group", {*groups, *study.parts}),
        ("importance", "quality_group", "an evaluator group", {*groups, *study.parts}),
        ("pilot", "label", "a label", labels),
        ("coverage", "exclude", "a label", labels),
        ("moderation", "reference_system", "a system", systems),
    ):
        part = getattr(study, section)
        value = getattr(part, key)
        if key in part.model_fields_set and value is not None:
            yield f"{section}.{key}", kind, value if isinstance(value, list) else [value], known
    for decision, options in study.importance.vary.items():
        for option, change in options.items():
            for key in ("group", "quality_group"):
                named = getattr(change, key) or []
                named = named if isinstance(named, list) else [named]
                where = f"importance.vary.{decision}.{option}.{key}"
                yield where, "an evaluator group", named, {*groups, *study.parts}
    for name, pair in study.techniques.pairs.items():
        yield f"techniques.pairs.{name}", "a system", pair, systems
    for name, technique in study.techniques.compare.items():
        yield f"techniques.compare.{name}.corpus", "a corpus", [technique.corpus] if technique.corpus else [], corpora
