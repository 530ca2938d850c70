"""What do the data contain, what passed the pilots, what was collected, at what cost? Notebooks 00, 01 and 02.

Of labels without order, and of choices: how often each answer was given, and which one most people gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgebook.annotations import summary
from judgebook.questions.agreement.analysis import plain_alphas
from judgebook.questions.collection import pilot
from judgebook.questions.collection.costs import medians, unit_minutes
from judgebook.questions.collection.question import Costs, Pilot
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.statistics.resampling import bootstrap_sums
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import CELL, ITEM, Annotations, Dialogues, unordered


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
        pilot.quiz_pass_rates(annotations, section.quiz, confidence),
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


#: answers up to which a label has a row for each
MOST = 11
#: of a comparison, for one system: the sign of its score
OUTCOMES = {"win": 1, "tie": 0, "loss": -1}


def titles(label: Label) -> dict[float, str]:
    """Score -> the answer in words, where the YAML gives words; of comparisons, which side."""
    low = label.scale[0]
    if label.level == "sets":
        return {2.0**i: word for i, word in enumerate(label.categories)}
    if label.categories:
        return {low + i: word for i, word in enumerate(label.categories)}
    if METHODS[label.method].unit == "pair":
        return {1.0: "shown first", 0.0: "tie", -1.0: "shown second"}
    return {v: f"{v:g}" for v in np.arange(low, label.scale[1] + 1)}


def of_interest(label: Label) -> bool:
    """Whether shares of answers say more of a label than a mean: answers without order, and choices."""
    few = label.integer and label.scale[1] - label.scale[0] < MOST
    return label.level == "sets" or (few and (METHODS[label.method].unit == "pair" or label.unordered))


def answers(annotations: Annotations, labels: Iterable[Label], *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Shares of answers with dialogues (of choices pairs) resampled, and majorities.

    Yields `answer_share` by group (every annotation counts once) and, of ratings of several systems, by system; and
    `majority_count`, the items by the answer that more of two people or more gave than any other (`answer` is none
    where there is no such answer).
    """
    by_key = {(x.method, x.id): x for x in labels}
    for key, rows in annotations.groupby(CELL, sort=False):
        label = by_key[key[2:]]
        if not of_interest(label):
            continue
        if METHODS[label.method].unit == "pair":
            rows = _as_shown(rows)
            if rows is None:
                continue
        words = titles(label)
        head = dict(zip(CELL, key, strict=True)) | {"level": METHODS[label.method].unit}
        parts = [(None, rows)]
        if METHODS[label.method].unit != "pair" and len(set(rows["system"])) > 1:
            parts += list(rows.groupby("system"))
        for system, part in parts:
            head_of_part = head | {"statistic": "answer_share", "system": system, "n": len(part), "seed": sampling.seed}
            for word, interval in _shares(part, label, words, (*key, system or ""), sampling):
                yield head_of_part | {"answer": word} | interval.row()
        for word, n, total in _majorities(rows, words) if label.level != "sets" else ():
            yield head | {"statistic": "majority_count", "answer": word, "estimate": float(n), "n": total}


def of_systems(annotations: Annotations) -> pd.DataFrame:
    """What became of the systems that were compared: every judgement counts once for either system, of people and
    models together by group.

    Returns rows of `system_outcomes` by `outcome` (win, tie, loss) and of `best_worst`, wins less losses per judgement
    (the score of best-worst scaling), with n judgements; empty without comparisons.
    """
    pairs = annotations[annotations["dialogue_b"].notna() & (annotations["system"] != annotations["system_b"])]
    turned = pairs.assign(system=pairs["system_b"], score=-pairs["score"])
    rows = []
    for key, scores in pd.concat([pairs, turned]).groupby([*CELL, "system"], sort=False)["score"]:
        head = dict(zip([*CELL, "system"], key, strict=True)) | {"level": METHODS[key[2]].unit, "n": len(scores)}
        sign = np.sign(scores)
        for outcome, value in OUTCOMES.items():
            n = float((sign == value).sum())
            rows.append(head | {"statistic": "system_outcomes", "outcome": outcome, "estimate": n})
        rows.append(head | {"statistic": "best_worst", "estimate": float(sign.mean())})
    return pd.DataFrame(rows)


def _as_shown(rows: Annotations) -> Annotations | None:
    """Comparisons as they were shown; None where the order is not known, or not the same for all votes on a pair."""
    first = rows["first_shown"]
    if first.isna().any() or rows[[*ITEM, "first_shown"]].drop_duplicates().duplicated(ITEM).any():
        return None
    return rows.assign(score=rows["score"].where(first == "left", -rows["score"]) + 0.0)


def _shares(
    rows: Annotations, label: Label, words: dict[float, str], key: tuple[str, ...], sampling: Sampling
) -> Iterator[tuple[str, Interval]]:
    """Each answer in words with its share; of sets the share of annotations that hold it."""
    pair = rows["dialogue_b"].notna().all()
    ends = unordered(rows)
    unit = ends["low"].astype(str) + "\x1f" + ends["high"].astype(str) if pair else rows["dialogue"].astype(str)
    codes = pd.factorize(unit)[0]
    sums = np.zeros((codes.max() + 1, len(words) + 1))
    sums[:, 0] = np.bincount(codes)
    for i, score in enumerate(words, start=1):
        chosen = rows["score"] == score
        if label.level == "sets":
            chosen = (rows["score"].astype(int) & int(score)) > 0
        sums[:, i] = np.bincount(codes, chosen, len(sums))
    intervals = bootstrap_sums(
        sums,
        lambda s: s[:, 1:] / s[:, :1],
        unit="pair" if pair else "dialogue",
        rng=sampling.stream("answers", *key),
        n_resamples=sampling.n_resamples,
        confidence=sampling.confidence,
    )
    assert isinstance(intervals, list)  # one for each answer
    yield from zip(words.values(), intervals, strict=True)


def _majorities(rows: Annotations, words: dict[float, str]) -> Iterator[tuple[str, int, int]]:
    people = rows[rows["annotator_kind"] == "human"]
    if people.empty:
        return
    table = people.groupby([*ITEM, "score"], dropna=False, sort=False).size().unstack("score", fill_value=0)  # noqa: PD010
    table = table[table.sum(axis=1) >= 2]
    if table.empty:
        return
    scores, counts = table.columns.to_numpy(float), table.to_numpy()
    most = counts.max(axis=1)
    clear = (counts == most[:, None]).sum(axis=1) == 1
    first = scores[counts.argmax(axis=1)]
    for score, word in words.items():
        yield word, int((clear & (first == score)).sum()), len(counts)
    yield "none", int((~clear).sum()), len(counts)
