"""Who was counted: people, dialogues and judgements at each step from the data to the first answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from judgebook.questions.performance.analysis import chosen
from judgebook.questions.performance.leading import PART
from judgebook.study.results import where
from judgebook.summary.evidence import Evidence, parts


@dataclass(frozen=True)
class Stage:
    """kind : enrolled, answered, passed, used, or models. people : different ones, over all runs; None where the data
    do not identify them. per_run : people counted once in each run. dialogues, judgements : None where none were
    made."""

    kind: str
    people: int | None
    per_run: int | None
    dialogues: int | None = None
    judgements: int | None = None


def stages(evidence: Evidence) -> list[Stage]:
    """Who was enrolled (only where some did not answer), answered, passed quality control (where there is one) and was
    used for the first answer; and models that judged, of which none are people."""
    return list(_stages(evidence))


def _stages(evidence: Evidence) -> Iterator[Stage]:
    people, every = evidence.people, evidence.annotations
    answered = _stage("answered", people)
    if answered.per_run and evidence.enrolled > answered.per_run:
        yield Stage("enrolled", None, evidence.enrolled)
    if len(people):
        yield answered
    models = every[every["annotator_kind"] != "human"]
    if len(models):
        yield _stage("models", models)
    if len(evidence.counted) < len(every):
        yield _stage("passed", evidence.counted)
    main = next(iter(parts(evidence)), None)
    if main:
        yield _stage("used", used(evidence, main))


def used(evidence: Evidence, main: tuple[str, str, str]) -> pd.DataFrame:
    """The judgements from which the systems of an evaluation (PART) are ranked."""
    study = evidence.study
    rows = chosen(evidence.counted, study.unranked_systems, study.label_list())
    rows = where(rows, **dict(zip(PART, main, strict=True)))
    aside = [*study.unranked_systems, *([study.control_system] if study.control_system else [])]
    return rows[~rows["system"].isin(aside) & ~rows["system_b"].isin(aside)]


def _stage(kind: str, rows: pd.DataFrame) -> Stage:
    identified = len(rows) > 0 and bool(rows["annotator_known"].all())
    people = rows["annotator"].nunique() if identified else None
    per_run = len(rows[["corpus", "annotator"]].drop_duplicates()) if identified else None
    sides = [rows[["corpus", side]].dropna().set_axis(["corpus", "dialogue"], axis=1) for side in
             ("dialogue", "dialogue_b")]  # fmt: skip
    return Stage(kind, people, per_run, len(pd.concat(sides).drop_duplicates()), len(rows))
