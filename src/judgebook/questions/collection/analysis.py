"""What do the data contain, what passed the pilots, what was collected, at what cost? Notebooks 00, 01 and 02."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgebook.annotations import summary
from judgebook.questions.agreement.analysis import plain_alphas
from judgebook.questions.collection import pilot, quiz
from judgebook.questions.collection.answers import answers, of_systems
from judgebook.questions.collection.costs import medians, unit_minutes
from judgebook.questions.collection.question import Costs, Pilot
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations, Dialogues


def data_set(
    annotations: Annotations,
    dialogues: Dialogues,
    labels: Sequence[Label],
    *,
    sampling: Sampling,
) -> Results:
    """Notebook 00, of the evaluation itself: data-set card, facts of design, alpha without intervals, coverage, scores,
    answers.

    annotations, dialogues : all that was read, pilots included. sampling : of shares of answers.
    """
    main = summary.evaluated(annotations)
    return collect(
        summary.card(main, dialogues),
        summary.design(main, summary.evaluated(dialogues)),
        plain_alphas(main, labels).assign(statistic="alpha"),
        summary.coverage(main, dialogues),
        summary.shares(main, labels),
        answers(main, labels, sampling=sampling),
        of_systems(main),
        [{"statistic": "count", "what": "annotations kept", "estimate": float(len(annotations))}],
    )


def pilots(
    annotations: Annotations,
    attempts: pd.DataFrame,
    labels: Sequence[Label],
    section: Pilot,
    *,
    sampling: Sampling,
) -> Results:
    """Notebook 01, besides what was published: intervals that leave out people or dialogues, and who passed the quiz.

    Parameters
    ----------
    annotations, attempts : DataFrame
        Columns of `schema.ANNOTATIONS` and `schema.SCREENING`.
    labels : sequence of Label
    section : Pilot
        The rating with which a system passes, and the mistakes with which an annotator does.
    """
    confidence = sampling.confidence
    who = pilot.verdicts(attempts, section)
    marks = pilot.marks(annotations, labels, who[who["passed"]])
    return collect(
        pilot.means(pilot.rated(annotations, section.label), confidence=confidence),
        (row | {"seed": sampling.seed} for row in pilot.agreements(marks, confidence=confidence)),
        pilot.pass_rates(who, sampling=sampling),
        quiz.quiz_pass_rates(annotations, section.quiz, confidence),
    )


def collection(
    annotations: Annotations,
    dialogues: Dialogues,
    times: pd.DataFrame,
    labels: Sequence[Label],
    section: Costs,
    *,
    confidence: float,
) -> Results:
    """Notebook 02, besides what was published: who did most, how long conversations are, what annotation took.

    Parameters
    ----------
    annotations, dialogues : DataFrame
        Of the evaluation itself (`summary.evaluated`).
    times : DataFrame
        From `costs.minutes`.
    labels : sequence of Label
    section : Costs
        Final labels.
    """
    minutes = collect(medians(times, confidence))
    return collect(
        summary.comparisons(annotations),
        summary.workload_summary(summary.workload(annotations)),
        summary.texts(dialogues),
        minutes,
        unit_minutes(minutes["median_minutes"], labels, section.final_labels),
    )
