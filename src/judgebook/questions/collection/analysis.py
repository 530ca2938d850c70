"""What do the data contain, what passed the pilots, what was collected, at what cost? Notebooks 00, 01 and 02."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgebook.annotations import summary
from judgebook.questions.agreement.analysis import plain_alphas
from judgebook.questions.collection import pilot, screening
from judgebook.questions.collection.answers import answers
from judgebook.questions.collection.costs import costs, medians
from judgebook.questions.collection.question import Costs, Pilot
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect


def data_set(
    annotations: pd.DataFrame,
    dialogues: pd.DataFrame,
    labels: Sequence[Label],
    *,
    seed: int = 1,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> Results:
    """Notebook 00, of the evaluation itself: data-set card, facts of design, alpha without intervals, coverage, scores,
    answers.

    annotations, dialogues : DataFrame, all that was read, pilots included. seed, n_resamples, confidence : of shares of
    answers.
    """
    boot = {"seed": seed, "n_resamples": n_resamples, "confidence": confidence}
    main = summary.evaluated(annotations)
    return collect(
        summary.card(main, dialogues),
        summary.design(main, summary.evaluated(dialogues)),
        plain_alphas(main, labels).assign(statistic="alpha"),
        summary.coverage(main, dialogues),
        summary.shares(main, labels),
        answers(main, labels, **boot),
        [{"statistic": "count", "what": "annotations kept", "estimate": float(len(annotations))}],
    )


def pilots(
    annotations: pd.DataFrame,
    attempts: pd.DataFrame,
    labels: Sequence[Label],
    section: Pilot,
    *,
    seed: int,
    n_resamples: int,
    confidence: float,
) -> Results:
    """Notebook 01: ratings of systems in pilots, agreement of pilot annotators, and who passed the screening.

    Parameters
    ----------
    annotations, attempts : DataFrame
        Columns of `schema.ANNOTATIONS` and `schema.SCREENING`.
    labels : sequence of Label
    section : Pilot
        The rating and mean with which a system passes, and the mistakes with which an annotator does.
    """
    boot = {"seed": seed, "n_resamples": n_resamples, "confidence": confidence}
    rule = {"below": section.mistakes_below, "other": section.other_tasks_below}
    verdicts = screening.verdicts(attempts, deciding=section.deciding_dialogue, **rule)
    rounds = collect(pilot.agreements(annotations, labels, verdicts[verdicts["passed"]], **boot))
    rated = annotations["corpus"].str.fullmatch(pilot.BOT_PILOT)
    least = pilot.least_mean(section.least, section.label, labels) if rated.any() else 0.0
    return collect(
        pilot.bots(annotations, section.label, least=least, confidence=confidence),
        Results({statistic: rows.assign(seed=seed) for statistic, rows in rounds.items()}),
        pilot.gains(rounds["alpha"], confidence),
        screening.pass_rates(verdicts, **boot),
        screening.quiz_pass_rates(annotations, section.quiz, confidence),
    )


def collection(
    annotations: pd.DataFrame,
    dialogues: pd.DataFrame,
    times: pd.DataFrame,
    labels: Sequence[Label],
    section: Costs,
    *,
    confidence: float,
) -> Results:
    """Notebook 02: how much was judged and by whom, how long conversations are, what annotation took and cost.

    Parameters
    ----------
    annotations, dialogues : DataFrame
        Of the evaluation itself (`summary.evaluated`).
    times : DataFrame
        From `costs.minutes`.
    labels : sequence of Label
    section : Costs
        Hourly rate, planned dialogues, payments and final labels.
    """
    minutes = collect(medians(times, confidence))
    plan = section.model_dump(include={"hourly_rate", "planned_dialogues", "payments", "final_labels"})
    return collect(
        summary.counts(annotations),
        summary.comparisons(annotations),
        summary.workload_summary(summary.workload(annotations)),
        summary.texts(dialogues),
        minutes,
        costs(minutes["median_minutes"], labels, **plan),
    )
