"""Does a judge agree with people? Krippendorff's alpha as of another person, and precision, recall and specific
agreement of labels of two values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import inf
from typing import Any

import numpy as np

from judgebook.questions.agreement.coincidences import patterns, terms
from judgebook.questions.judges.items import JudgedItems, checked
from judgebook.statistics.intervals import Sampling


def judge_alpha(items: JudgedItems, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Alpha of the judge with each person, of the people, and the difference, at the label's level of measurement.

    Yields `judge_alpha` with `pair` each position in turn, mean (plain mean over people), people (all people together)
    and difference (mean minus people): below 0 the judge agrees with a person less than people do. Dialogues are
    resampled, the same in all.
    """
    rows, alphas, pairs, marks = alpha_sums(items)
    for pair, interval in zip(pairs, items.resample(rows, alphas, "judge_alpha", sampling), strict=True):
        row = {"statistic": "judge_alpha", "pair": pair, "measurement": items.label.level}
        yield items.head | items.sizes | row | checked(interval, marks).row()


def alpha_sums(
    items: JudgedItems,
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray], list[str], float]:
    """What the intervals of `judge_alpha` are made from.

    Returns (n, q) additive quantities of each item; the (k, m) alphas and their difference from (k, q) sums of these;
    the m names of `pair`; and the fewest marks of the rarer value in any of the alphas (infinite unless binary).
    """
    human, judge, m = items.human, items.judge, items.human.shape[1]
    domain = [0.0, 1.0] if items.label.binary else np.unique(np.r_[human.ravel(), judge]).tolist()
    counted = [patterns(columns, domain) for columns in (*(np.stack([judge, h], axis=1) for h in human.T), human)]
    parts = [terms(p.counts, p.values, items.label.level) for p in counted]
    ends = np.cumsum([t.rows.shape[1] for t in parts])[:-1]

    def alphas(sums: np.ndarray) -> np.ndarray:
        blocks = zip(parts, np.split(sums, ends, axis=1), strict=True)
        each = np.stack([t.measures(block)["alpha"] for t, block in blocks], axis=1)
        mean = each[:, :m].mean(axis=1)
        return np.column_stack([each, mean, mean - each[:, m]])

    rows = np.concatenate([t.rows[p.index] for t, p in zip(parts, counted, strict=True)], axis=1)
    marks = min(p.n_minority for p in counted) if items.label.binary else inf
    return rows, alphas, [*(f"position {i + 1}" for i in range(m)), "people", "mean", "difference"], marks


#: results of `detection`: statistic, and whom it compares people with
ROWS = (
    ("precision", "people"),
    ("recall", "people"),
    ("positive_agreement", "people"),
    ("negative_agreement", "people"),
    ("positive_agreement", "each other"),
    ("negative_agreement", "each other"),
)


def detection(items: JudgedItems, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Which of the judge's marks people confirm, and which of people's marks it finds.

    Yields `precision`, `recall`, `positive_agreement` (their harmonic mean, F1) and `negative_agreement`, with
    `against` people: sums over people, each taken as the truth once; and the last two for people compared with each
    other (no metric), for whom precision and recall are equal on average. Dialogues are resampled.
    Nothing for labels of more than two values.
    """
    if not items.label.binary:
        return
    h, j, m = items.human, items.judge, items.human.shape[1]
    a, b = (h[:, at] for at in np.array(list(combinations(range(m), 2))).T)
    sides = [h * j[:, None], m * j[:, None], h, (1 - h) * (1 - j[:, None]), np.full((len(h), 1), m)]
    sides += [2 * a * b, a + b, 2 * (1 - a) * (1 - b), 2 - a - b]

    def measures(s: np.ndarray) -> np.ndarray:
        hit, judged, marked, neither, n, both, either, none, nothing = s.T
        negative = 2 * neither / (2 * n - judged - marked)
        columns = [hit / judged, hit / marked, 2 * hit / (judged + marked), negative, both / either, none / nothing]
        return np.stack(columns, axis=1)

    sums = np.stack([side.sum(axis=1) for side in sides], axis=1)
    marks = min(j.sum(), h.sum() / m)
    intervals = items.resample(sums, measures, "detection", sampling)
    for (statistic, against), interval in zip(ROWS, intervals, strict=True):
        metric = items.key["metric"] if against == "people" else None
        row = {"statistic": statistic, "against": against, "metric": metric}
        yield items.head | items.sizes | row | checked(interval, marks).row()
