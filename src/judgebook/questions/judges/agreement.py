"""Does a judge agree with a person as another person does? Krippendorff's alpha of both, and the difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

import numpy as np

from judgebook.questions.agreement.coincidences import patterns, terms
from judgebook.questions.judges.items import JudgedItems, checked


def judge_alpha(items: JudgedItems, **boot) -> Iterator[dict]:
    """Alpha of the judge with each person, of the people, and the difference, at the label's level of measurement.

    Yields `judge_alpha` with `pair` each position in turn, mean (plain mean over people), people (all people together)
    and difference (mean minus people): below 0 the judge agrees with a person less than people do. Dialogues are
    resampled, the same in all (boot : seed, n_resamples, confidence).
    """
    rows, alphas, pairs, marks = alpha_sums(items)
    for pair, interval in zip(pairs, items.resample(rows, alphas, "judge_alpha", **boot), strict=True):
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
    domain = np.array([0.0, 1.0]) if items.label.binary else np.unique(np.r_[human.ravel(), judge])
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
