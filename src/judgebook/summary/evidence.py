"""What the answers of a study's first page follow from: its judgements, and the stored results of its notebooks.

Where several evaluations (run, group and method) could answer, the main one does: see `parts`. All answers are about
one population of annotators (`annotations.population`): others like those who judged, or these only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TypeVar

import pandas as pd

from judgebook.annotations import population, summary
from judgebook.annotations.dialogue_values import all_own
from judgebook.annotations.population import UNKNOWN, Population
from judgebook.display.names import DisplayNames, display_names
from judgebook.questions.performance.analysis import chosen
from judgebook.questions.performance.arrangement import in_order
from judgebook.questions.performance.fitted import LEAST_RUNS
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.study import params, questions, results, store
from judgebook.study.params import Study
from judgebook.study.results import ResultRows, Results, where
from judgebook.study.schema import ALL_RUNS, ANNOTATIONS, Annotations

T = TypeVar("T")
COST, AGREEMENT = "02_collection_stats", "03_iaa"
PERFORMANCE, GROUPS, REPEAT = "07_bot_performance", "08_group_effects", "10_quality_control"
JUDGES = "13_judges"
#: the notebooks that answer
NOTEBOOKS = questions.answering("order", "labels", "judges", "sample", "cost", "next")


@dataclass(frozen=True)
class Evidence:
    """What the answers follow from.

    annotations : those of the evaluation (`summary.evaluated`). results : notebook -> its results, empty where it was
    not run. reasons : notebook -> why it was not: a sentence, or (Markup) the command that runs it. own_chats : whether
    people judged only what they had talked about themselves. enrolled : people with a work unit, counted once per run,
    whether or not they answered, and work_units, how many there are; 0 where the data have none. everything : all
    annotations, also of pilots, gold units and extra corpora; None where there are no others.
    """

    study: Study
    annotations: Annotations
    results: Mapping[str, Results]
    reasons: Mapping[str, str]
    own_chats: bool = False
    enrolled: int = 0
    work_units: int = 0
    everything: Annotations | None = None

    @cached_property
    def people(self) -> Annotations:
        return self.annotations[self.annotations["annotator_kind"] == "human"]

    @cached_property
    def evaluations(self) -> list[tuple[str, str, str]]:
        return summary.evaluations(self.annotations)

    @cached_property
    def counted(self) -> Annotations:
        """The annotations on which systems are compared: of workers who passed quality control, where there is one."""
        study = self.study
        return of_those_who_passed(self.annotations, study.label_list(), study.control_system, study.quality_control)

    @cached_property
    def names(self) -> DisplayNames:
        """Display names, systems from best to worst."""
        names = display_names(self.study, self.annotations)
        return in_order(names, self.study, self.annotations, self.results[PERFORMANCE])

    @cached_property
    def populations(self) -> dict[tuple[str, str], Population]:
        """As notebook 07 has them."""
        judged = chosen(self.counted, self.study.unranked_systems, self.study.label_list())
        found = population.modelled(judged, self.study.inference.annotators)
        if judged["corpus"].nunique() >= LEAST_RUNS:
            whole = population.modelled(judged.assign(corpus=ALL_RUNS), self.study.inference.annotators)
            for key, one in whole.items():  # of other annotators only where each run is (`fitted.over_runs`)
                why = next((run.why for place, run in found.items() if place[1] == key[1] and not run.others), one.why)
                whole[key] = replace(one, others=not why, why=why)
            found |= whole
        return found

    def population(self, corpus: str, group: str) -> Population:
        """Whose judgements statements on a run and group are about."""
        return self.populations.get((corpus, group), Population(False, None, 0, 0.0, UNKNOWN))

    @cached_property
    def tests(self) -> ResultRows:
        """Differences of two systems on each label of the main run and group, by the fit of notebook 07; without ends
        where two systems cannot be compared."""
        return of_main(self, self.results[PERFORMANCE]["contrast"])

    @property
    def confidence(self) -> float:
        return self.study.bootstrap.confidence


def once(function: Callable[[Evidence], T]) -> Callable[[Evidence], T]:
    """The same function of an Evidence, which never changes, computed once."""

    @wraps(function)
    def found(evidence: Evidence) -> T:
        known: dict[str, T] = evidence.__dict__.setdefault("_once", {})
        if function.__name__ not in known:
            known[function.__name__] = function(evidence)
        return known[function.__name__]

    return found


def read(study: str, reasons: Mapping[str, str], *, computed: bool = True) -> Evidence:
    """The evidence that the last run of a study stored. reasons : notebook -> why it was not run, empty where it was.
    computed : with what notebooks stored; else only what was read."""
    home = store.processed(study)
    loaded = params.load(home / "params.yaml", key=study)
    path = home / "annotations.parquet"
    # a study across others has no judgements of its own
    annotations = pd.read_parquet(path) if path.is_file() else pd.DataFrame(columns=[*ANNOTATIONS], dtype=object)
    paths = {name: home / "results" / f"{name}.parquet" for name in (*NOTEBOOKS, *questions.on_first_page())}
    current = {name for name, path in paths.items() if computed and not reasons.get(name) and path.is_file()}
    stored = {name: results.read(p) if name in current else Results() for name, p in paths.items()}
    judged, path = summary.evaluated(annotations), home / "dialogues.parquet"
    people = judged[judged["annotator_kind"] == "human"]
    own_chats = path.is_file() and all_own(people, pd.read_parquet(path, columns=["corpus", "dialogue", "interactor"]))
    everything = annotations if len(annotations) > len(judged) else None
    enrolled, work_units = _enrolled(home / "work_units.parquet", judged)
    return Evidence(loaded, judged, stored, reasons, own_chats, enrolled, work_units, everything)


def _enrolled(path: Path, judged: Annotations) -> tuple[int, int]:
    """People with a work unit in the runs of the evaluation, counted once per run, and these work units."""
    if not path.is_file():
        return 0, 0
    units = pd.read_parquet(path, columns=["corpus", "annotator"]).dropna()
    units = units[units["corpus"].isin(judged["corpus"].unique())]
    return len(units.drop_duplicates()), len(units)


def of_main(evidence: Evidence, rows: ResultRows) -> ResultRows:
    """Of the rows of several runs and groups those of the main one that has any."""
    with_rows = set(rows[["corpus", "group"]].drop_duplicates().itertuples(index=False, name=None))
    main = next((part[:2] for part in parts(evidence) if part[:2] in with_rows), None)
    return where(rows, corpus=main[0], group=main[1]) if main else rows.iloc[:0]


def first_part(evidence: Evidence) -> tuple[str, str, str] | None:
    """The evaluation that the first answer is about: all runs together, where notebook 07 has fitted them, else the
    main one; also where the YAML has margins, which are compared with differences in one run."""
    main = next(iter(parts(evidence)), None)
    if main is None or evidence.study.margins:
        return main
    whole = where(evidence.results[PERFORMANCE]["overall_level"], corpus=ALL_RUNS, group=main[1], method=main[2])
    return (ALL_RUNS, *main[1:]) if len(whole) else main


def of_part(rows: pd.DataFrame, part: tuple[str, str, str]) -> pd.DataFrame:
    """Annotations of an evaluation, or of all its runs."""
    keys = dict(zip(("corpus", "group", "method"), part, strict=True))
    return where(rows, **{k: v for k, v in keys.items() if v != ALL_RUNS})


def parts(evidence: Evidence) -> list[tuple[str, str, str]]:
    """`annotations.summary.evaluations` of the study."""
    return evidence.evaluations
