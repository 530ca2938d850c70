"""Who was counted: people, dialogues and judgements at each step from the data to the first answer."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.questions.performance.analysis import chosen
from judgebook.summary.answers.parts import Stage
from judgebook.summary.evidence import Evidence, first_part, of_part, once


@once
def stages(evidence: Evidence) -> list[Stage]:
    """Who judged in all corpora (where there are pilots and others), was enrolled (where some did not answer),
    answered, passed quality control (where there is one), was used for the first answer; and models that judged."""
    return list(_stages(evidence))


def _stages(evidence: Evidence) -> Iterator[Stage]:
    people, every = evidence.people, evidence.annotations
    answered = _stage("answered", people)
    if evidence.everything is not None:
        whole = evidence.everything
        yield _stage("everything", whole[whole["annotator_kind"] == "human"])
    if answered.per_run and not answered.others and evidence.enrolled > answered.per_run:
        yield Stage("enrolled", None, evidence.enrolled)
    if len(people):
        yield answered
    models = every[every["annotator_kind"] != "human"]
    if len(models):
        yield _stage("models", models)
    if len(evidence.counted) < len(every):
        yield _stage("passed", evidence.counted)
    if one := first_part(evidence):
        yield _stage("used", used(evidence, one))


def used(evidence: Evidence, part: tuple[str, str, str]) -> pd.DataFrame:
    """The judgements from which the systems of an evaluation (PART) are ranked."""
    study = evidence.study
    rows = chosen(evidence.counted, study.unranked_systems, study.label_list())
    rows = of_part(rows, part)
    aside = [*study.unranked_systems, *([study.control_system] if study.control_system else [])]
    return rows[~rows["system"].isin(aside) & ~rows["system_b"].isin(aside)]


def _stage(kind: str, rows: pd.DataFrame) -> Stage:
    identified = rows[rows["annotator_known"].astype(bool)]
    people = identified["annotator"].nunique() if len(identified) else None
    per_run = len(identified[["corpus", "annotator"]].drop_duplicates()) if len(identified) else None
    sides = [rows[["corpus", side]].dropna().set_axis(["corpus", "dialogue"], axis=1) for side in
             ("dialogue", "dialogue_b")]  # fmt: skip
    dialogues = len(pd.concat(sides).drop_duplicates())
    return Stage(kind, people, per_run, dialogues, len(rows), len(identified) < len(rows))
