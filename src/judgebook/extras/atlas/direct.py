"""What notebooks 14 and 16 compute of one group of annotators, computed for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judgebook.annotations.summary import in_sessions
from judgebook.questions.fragility import analysis as fragility
from judgebook.questions.planning import analysis as planning
from judgebook.questions.planning.pilot_study import pilots
from judgebook.study.results import Results, collect
from judgebook.summary.evidence import Evidence


def computed(evidence: Evidence) -> dict[str, Results]:
    """Notebook -> results: `pilot_variance` of every corpus and group, and what each conclusion depends on."""
    return {"14_planning": collect(_pilots(evidence)), "16_fragility": _fragility(evidence)}


def _systems(evidence: Evidence) -> list[str]:
    return evidence.names.systems(without=[evidence.study.control_system, *evidence.study.unranked_systems])


def _pilots(evidence: Evidence) -> Iterator[dict[str, Any]]:
    study = evidence.study
    people = evidence.counted[evidence.counted["annotator_kind"] == "human"]
    for (corpus, group), judged in people.groupby(["corpus", "group"], sort=False):
        about = (in_sessions(judged)[0], study.label_list(), _systems(evidence))
        for pilot in pilots(*about, declared=study.inference.annotators):
            head = {"corpus": corpus, "group": group, "method": pilot.method, "label": pilot.label}
            yield from (head | row for row in planning.pilot_variances(pilot))


def _fragility(evidence: Evidence) -> Results:
    study = evidence.study
    out = []
    for _, judged in evidence.people.groupby("group", sort=False):
        parts = fragility.parts(
            judged, study.label_list(), systems=_systems(evidence), control=study.control_system,
            options=study.quality_control, pick_seed=study.seeds.pick,
        )  # fmt: skip
        out.append(fragility.analyse(list(parts), study.fragility))
    return collect(*out)
