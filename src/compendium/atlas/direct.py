"""What notebooks 14 and 16 compute of one group of annotators, computed for each; and tests by which claims stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.annotations.cells import adjust_rows
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import in_sessions, with_means
from judgebook.questions.fragility import analysis as fragility
from judgebook.questions.fragility.differences import differences
from judgebook.questions.planning import analysis as planning
from judgebook.questions.planning.pilot_study import pilots
from judgebook.questions.sensitivity.analysis import groups
from judgebook.study.results import Results, collect, where
from judgebook.study.schema import CELL
from judgebook.summary.evidence import Evidence

_TESTED = ["estimate", "p_value", "p_adjusted"]


def computed(evidence: Evidence) -> dict[str, Results]:
    """Notebook -> results: `pilot_variance` of every corpus and group, and what each conclusion depends on."""
    return {"14_planning": collect(_pilots(evidence)), "16_fragility": _fragility(evidence)}


def tests(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Differences of all pairs of systems without a model, with t tests, p adjusted by Holm within the label: over
    `dialogues` or sessions, of the one judgement of each item that the published tests have; and over `annotators`,
    too, of all judgements, of labels whose annotators are known."""
    study, out = evidence.study, {"dialogues": [pd.DataFrame()], "annotators": [pd.DataFrame()]}
    systems, people = _systems(evidence), with_means(evidence.counted, study.label_list())
    people = people[(people["annotator_kind"] == "human") & people["system"].isin(systems)]
    for one in groups(people, systems):
        every = in_sessions(where(people, corpus=one.corpus, group=one.group))[0]
        picked = next(picks(every, 1, study.seeds.pick))
        for method, kept in one.systems.items():
            alone = differences(picked, method, kept, people=False)
            both = differences(every, method, kept)
            both = both[both["resample_unit"].str.endswith("annotator")]
            for over, rows in (("dialogues", alone), ("annotators", both)):
                adjusted = adjust_rows(rows, ["label"], "systems of one label")
                out[over].append(adjusted.assign(corpus=one.corpus, group=one.group))
    keys = [*CELL, "system", "system_b"]  # texts also where there is no row
    tables = {over: pd.concat(frames).reindex(columns=[*keys, *_TESTED]) for over, frames in out.items()}
    return {over: table.astype(dict.fromkeys(keys, "str")) for over, table in tables.items()}


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
