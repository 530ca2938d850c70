"""What can be wrong with the frames of a study: cells, kinds, repeated rows, and names that the data do not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pandas as pd

from judgebook import codes
from judgebook.sources import typed
from judgebook.sources.joining import present
from judgebook.sources.rows import advice
from judgebook.study import limits, schema
from judgebook.study.labels import TEXT_METRICS
from judgebook.study.params import Study
from judgebook.study.schema import Problem, several

Names = Iterable[Any]


def wrong_kinds(marks: pd.DataFrame, where: pd.DataFrame) -> list[Problem]:
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
    people = marks.loc[
        marks["annotator_known"].astype(bool) & kind.isin(schema.KINDS) & marks["annotator"].notna(),
        ["annotator", "annotator_kind"],
    ]
    if people["annotator_kind"].nunique() < 2:
        return problems
    first = people.groupby("annotator", sort=False)["annotator_kind"].transform("first")
    also = "{}, as in other judgements by this annotator"
    two = people.index[people["annotator_kind"] != first]
    return problems + several(two, lambda i: wrong(i, also.format(first[i]), "correct one of them"))


#: what to do about a cell that is no number of its kind
_MEND = {
    "score": "correct it in the file",
    "turn": "in the YAML, `first_turn` gives the number of the first turn, and `columns` the column with turns",
}


def conform(name: str, frame: pd.DataFrame, study: Study, where: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """`frame` in the schema's types. Rows with cells that are no numbers or dates are reported and left out."""
    spec, problems = schema.FRAMES[name], list[Problem]()
    if not len(frame):  # most studies have no metrics, screening or work units: nothing to parse, cell by cell
        return schema.conform(frame, spec, study=study.key), problems
    out, bad = frame.copy(deep=False), pd.Series(False, frame.index)
    for column in (c for c in spec if c in frame and not spec[c].dtype.startswith(("str", "bool"))):
        out[column], expected = typed.parsed(frame[column], spec[column])
        odd = frame[column].notna() & out[column].isna()
        bad |= odd
        hint = _MEND.get(column, "correct it in the file")

        at = frame.loc[odd, []]
        if name == "annotations":
            at = where.loc[odd[odd].index, ["file", "where"]]
            at = schema.by_row(at) if column != "score" else at

        def wrong(
            i: int, column: str = column, expected: str = expected, hint: str = hint, at: pd.DataFrame = at
        ) -> Problem:
            file, place = (at.at[i, "file"], at.at[i, "where"]) if len(at.columns) else (name, f"row {i + 1}")
            cell = str(frame.at[i, column])
            content = repr(frame.at[i, column])[: limits.QUOTED]
            return Problem(
                file, place, column, expected, content, hint, kind="score" if column == "score" else "cell", of=(cell,)
            )

        problems += several(at.index, wrong)
    for column in (c for c in spec if name != "annotations" and c in frame and not spec[c].missing):
        empty = frame.index[frame[column].isna()]
        problems += several(empty, partial(_no_value, name, column))
    out = out[~bad] if bad.any() else out
    return schema.conform(out, spec, study=study.key).set_axis(out.index), problems


def _no_value(frame: str, column: str, row: int) -> Problem:
    return Problem(frame, f"row {row + 1}", column, "a value", "nothing")


def repeated_rows(frames: dict[str, pd.DataFrame]) -> list[Problem]:
    """Dialogues that sources give to two systems, and metric scores that two rows give to one item."""
    dialogues, scores = frames["dialogues"], frames["metric_scores"]
    owners = dialogues[["corpus", "dialogue", "system"]].drop_duplicates()
    shared = owners[owners.duplicated(["corpus", "dialogue"], keep=False)]
    systems = shared.groupby(["corpus", "dialogue"], sort=False)["system"].unique()
    problems = [
        Problem("dialogues", f"dialogue {d}", "system", "one system per dialogue", ", ".join(map(repr, s)))
        for (_, d), s in systems.items()
    ]
    twice = scores[scores.duplicated(["corpus", "dialogue", "turn", "metric"])]
    return problems + [
        Problem("metric scores", f"dialogue {d}", m, "one score per item", "a second one")
        for d, m in zip(twice["dialogue"], twice["metric"], strict=True)
    ]


def never_judged(study: Study, annotations: pd.DataFrame, unused: Iterable[str] = ()) -> list[Problem]:
    """Labels that the YAML declares and the data do not have: most often a name spelt otherwise.

    unused : columns of the files that the YAML does not name.
    """
    if not study.labels or len(present(study)) < len(study.sources):
        return []
    judged = set(annotations[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    wanted = set(study.label_list())
    place = study.path.name if study.path else study.key
    return [
        Problem(
            place,
            "",
            f"labels.{key}",
            "judgements by this label",
            "none",
            "; ".join(advice.spelt(sorted(unused), [label.id])[0]) or "remove it, or check how the data spell it",
        )
        for key, label in zip(study.labels, study.label_list(every=True)[-len(study.labels) :], strict=True)
        if label in wanted and (label.method, label.id) not in judged
    ]


def unmatched(study: Study, raw: dict[str, pd.DataFrame], labels: set[str]) -> list[Problem]:
    """A problem for each name of the YAML that nothing in the data is called.

    raw : the frames as the sources give them, before any filter. labels : ids of the declared labels.

    Keys that are inherited, or left at their default, are not looked at.
    """
    place = study.path.name if study.path else study.key
    out = []
    for key, kind, names, values in _named(study, raw, labels):
        wanted = dict.fromkeys(str(n) for n in names)
        in_data = {str(k) for k in values if pd.notna(k)} if wanted else set()
        for name in wanted:
            if name in in_data:
                continue
            near = difflib.get_close_matches(name, in_data, n=1)
            near = [k for k in in_data if k.lower() == name.lower()] or near
            first = ", ".join(sorted(in_data)[:8]) + (", …" if len(in_data) > 8 else "")
            hint = f"did you mean {near[0]!r}?" if near else f"there are {first}" if in_data else ""
            out.append(Problem(place, "", key, f"{kind} of the data", repr(name), hint))
    return out


def _named(study: Study, raw: dict[str, pd.DataFrame], labels: set[str]) -> Iterator[tuple[str, str, Names, Names]]:
    """(key of the YAML, what it names, the names, those of the data)."""
    marks, dialogues = raw["annotations"], raw["dialogues"]
    systems = codes.distinct(marks["system"], marks["system_b"], dialogues["system"])
    ids = {"dialogue": codes.distinct(marks["dialogue"], marks["dialogue_b"], dialogues["dialogue"])}
    ids["session"] = codes.distinct(marks["session"], dialogues["session"])
    corpora = codes.distinct(marks["corpus"], dialogues["corpus"])
    groups = codes.distinct(marks["group"], raw["work_units"]["group"], raw["screening"]["group"])
    metrics = {*codes.distinct(raw["metric_scores"]["metric"]), *TEXT_METRICS}
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
    for section, key, kind, values in (
        ("importance", "target", "a label", labels),
        ("importance", "group", "an evaluator group", {*groups, *study.parts}),
        ("importance", "quality_group", "an evaluator group", {*groups, *study.parts}),
        ("pilot", "label", "a label", labels),
        ("coverage", "exclude", "a label", labels),
    ):
        part = getattr(study, section)
        value = getattr(part, key)
        if key in part.model_fields_set and value is not None:
            yield f"{section}.{key}", kind, value if isinstance(value, list) else [value], values
    for name, pair in study.techniques.pairs.items():
        yield f"techniques.pairs.{name}", "a system", pair, systems
    for name, technique in study.techniques.compare.items():
        yield f"techniques.compare.{name}.corpus", "a corpus", [technique.corpus] if technique.corpus else [], corpora
