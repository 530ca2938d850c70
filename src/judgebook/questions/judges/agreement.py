"""Does a judge agree with people: by alpha as another person does, or with one label an item, gold?

Gold is a column of the data, or what one person said of each item. As nothing is then known of how people agree, it is
taken to be right, and the judge's agreement with it is compared with nothing but chance (kappa).

Items are clustered in dialogues, those with gold in what they share: the prompt or context where all have one.

References
----------
Cohen 1960, Educational and Psychological Measurement 20, 37-46 (kappa). Cohen 1968, Psychological Bulletin 70, 213-220
(weighted). Altman and Bland 1994, BMJ 308, 1552 (sensitivity and specificity). McGraw and Wong 1996, Psychological
Methods 1, 30-46, Table 4 (ICC(A,1), also called ICC(2,1)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.agreement.coincidences import patterns, terms
from judgebook.questions.judges.choices import JudgedPairs
from judgebook.questions.judges.items import JudgedItems, checked, over_clusters
from judgebook.questions.metrics.correlations import intervals_of
from judgebook.questions.metrics.items import ScoredItems
from judgebook.questions.performance.rates import clustered_wilson
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.study.labels import Label

#: whose alphas are given
PAIRS = ("mean", "people", "difference")
#: items of the rarer value of two that gold and judge must each have for an interval of kappa
LEAST_MARKS = 5


def judge_alpha(items: JudgedItems, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Alpha of the judge with each person, of the people, and the difference, at the label's level of measurement.

    Yields `judge_alpha` of PAIRS: mean (plain mean over people), people (all people together) and difference (mean
    minus people): below 0 the judge agrees with a person less than people do. Dialogues are resampled, the same in all.
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
        return np.column_stack([mean, each[:, m], mean - each[:, m]])

    rows = np.concatenate([t.rows[p.index] for t, p in zip(parts, counted, strict=True)], axis=1)
    marks = min(p.n_minority for p in counted) if items.label.binary else inf
    for pair, interval in zip(PAIRS, items.resample(rows, alphas, "judge_alpha", sampling), strict=True):
        row = {"statistic": "judge_alpha", "pair": pair, "measurement": items.label.level}
        yield items.head | items.sizes | row | checked(interval, marks).row()


@dataclass(frozen=True)
class AgainstGold:
    """One label by gold and by one judge.

    head : what identifies its result rows. gold, judge : (n,) scores. cluster : (n,) numbers from 0. unit : what a
    cluster is. paired : whether these are comparisons, of which either side may stand first.
    """

    head: dict[str, Any]
    label: Label
    gold: np.ndarray
    judge: np.ndarray
    cluster: np.ndarray
    unit: str
    paired: bool = False


def of_items(items: JudgedItems) -> AgainstGold:
    """Ratings and marks that one person gave, and those of the judge."""
    shared = items.context is not None
    cluster = pd.factorize(items.context)[0] if shared else items.dialogue
    unit = "context" if shared else "dialogue"
    return AgainstGold(items.head, items.label, items.human[:, 0], items.judge, cluster, unit)


def of_pairs(pairs: JudgedPairs) -> AgainstGold:
    """Choices on pairs with one vote each, and those of the judge."""
    return AgainstGold(pairs.head, pairs.label, pairs.votes[:, 0], pairs.judge, pairs.cluster, pairs.unit, paired=True)


def against_gold(data: AgainstGold, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Agreement with gold.

    Yields `gold_agreement`: `measure` accuracy (share of items with the same score; not of decimals), and of labels of
    two values sensitivity (share of gold's 1 that the judge finds) and specificity (of its 0), with Wilson's interval
    at the effective number of items; and `gold_kappa` with `weights` none and, of labels with an order and more than
    two values, quadratic, with a BCa interval over clusters. Of these labels also those of `on_scale`.
    """
    same = data.gold == data.judge
    trials = {"accuracy": np.ones(len(same), dtype=bool)} if data.label.integer else {}
    if data.label.binary:
        trials |= {"sensitivity": data.gold == 1, "specificity": data.gold == 0}
    size = int(data.cluster.max()) + 1
    for measure, tried in trials.items():
        n, hits = (np.bincount(data.cluster[m], minlength=size) for m in (tried, tried & same))
        row = {"statistic": "gold_agreement", "measure": measure}
        yield data.head | row | clustered_wilson(n, hits, data.unit, sampling.confidence)
    for weights in _weights(data):
        row = {"statistic": "gold_kappa", "weights": weights}
        yield data.head | row | _kappa(data, weights, sampling).row() | {"n": len(same)}
    if "quadratic" in _weights(data):
        for row, interval in on_scale(data, sampling):
            yield data.head | row | interval.row() | {"n": len(same)}


def on_scale(data: AgainstGold, sampling: Sampling) -> Iterator[tuple[dict[str, str], Interval]]:
    """How scores of the judge on a scale, taken as numbers, follow gold's and how far they lie from them.

    Yields `gold_correlation` (`coefficient` spearman, pearson), `gold_icc` (ICC(A,1): 1 only where the scores are the
    same) and `gold_error` (`measure` absolute, the mean distance, and bias, the mean of judge minus gold; on the scale
    of the label), each with a BCa interval over clusters; correlations over many clusters as in `intervals_of`. What
    is undefined, as nothing varies, is NaN and says so in its note.
    """
    gold, judge, cluster = data.gold, data.judge, data.cluster
    corpus, method, label, metric = (str(data.head[key]) for key in ("corpus", "method", "label", "metric"))
    rng = sampling.stream("gold scale", corpus, method, label, metric)
    items = ScoredItems(corpus, method, [metric], [label], judge[:, None], gold[:, None], cluster, data.unit)
    for coefficient in ("spearman", "pearson"):
        each = intervals_of(items, coefficient, rng, n_resamples=sampling.n_resamples, confidence=sampling.confidence)
        yield {"statistic": "gold_correlation", "coefficient": coefficient}, each[0][0]
    both, apart = judge + gold, judge - gold
    both = both - both.mean()
    rows = np.column_stack([np.ones(len(both)), both, both**2, apart, apart**2, np.abs(apart)])
    icc, absolute, bias = over_clusters(rows, _on_scale, cluster, data.unit, rng, sampling)
    if np.isnan(icc.estimate):
        icc = replace(icc, note="only one value occurs" if len(gold) > 1 else "one item only")
    yield {"statistic": "gold_icc"}, icc
    yield {"statistic": "gold_error", "measure": "absolute"}, absolute
    yield {"statistic": "gold_error", "measure": "bias"}, bias


def _on_scale(sums: np.ndarray) -> np.ndarray:
    """(k, 3): ICC(A,1), mean distance and mean difference, from sums of 1, a + b, its square, a - b, its square and
    size. In the symbols of McGraw and Wong, k = 2."""
    n, both, both_2, apart, apart_2, size = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        ms_r = (both_2 - both**2 / n) / 2 / (n - 1)
        ms_e = (apart_2 - apart**2 / n) / 2 / (n - 1)
        total = ms_r + ms_e + (apart**2 / n - 2 * ms_e) / n
        icc = np.where(total > 1e-12 * (both_2 + apart_2) / n, (ms_r - ms_e) / total, np.nan)
        return np.column_stack([icc, size / n, apart / n])


def _weights(data: AgainstGold) -> tuple[str, ...]:
    label = data.label
    if label.level == "sets":
        return ()
    if label.binary or label.unordered or data.paired:
        return ("none",)
    return ("none", "quadratic") if label.integer else ("quadratic",)


def _kappa(data: AgainstGold, weights: str, sampling: Sampling) -> Interval:
    """Kappa; without an interval where a value of two hardly occurs."""
    gold, judge, cluster = data.gold, data.judge, data.cluster
    rows, statistic = kappa_sums(gold, judge, weights)
    if data.paired:  # the same pairs from their other side: which one is stored is arbitrary
        rows = rows + kappa_sums(-gold, -judge, weights)[0]
    if data.label.binary:
        rarer = int(min(min(x.sum(), len(x) - x.sum()) for x in (gold, judge)))
        if rarer < LEAST_MARKS:
            value = float(statistic(rows.sum(axis=0, keepdims=True))[0])
            note = f"{rarer} items of the rarer value by gold or by the judge: {LEAST_MARKS} are needed"
            units = len(set(cluster.tolist()))
            return Interval(value, np.nan, np.nan, "not_estimable", data.unit, units, note=note)
    case = [str(data.head[key]) for key in ("corpus", "method", "label", "metric")]
    rng = sampling.stream("gold kappa", *case, weights)
    return over_clusters(rows, statistic, cluster, data.unit, rng, sampling)[0]


def kappa_sums(
    gold: np.ndarray, judge: np.ndarray, weights: str
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """What Cohen's kappa is made from: (n, q) additive rows of items, and the function of (k, q) sums that gives (k,).

    weights : none; or quadratic, by the distance between scores. Kappa is missing where chance alone would agree fully.
    """
    ones = np.ones(len(gold))
    if weights == "quadratic":
        rows = np.column_stack([ones, (gold - judge) ** 2, gold, judge, gold**2 + judge**2])
    else:
        values = np.unique(np.r_[gold, judge, -gold, -judge])
        rows = np.column_stack([ones, gold != judge, *(gold == v for v in values), *(judge == v for v in values)])

    def statistic(sums: np.ndarray) -> np.ndarray:
        n, apart = sums[:, 0], sums[:, 1]
        if weights == "quadratic":
            by_chance = sums[:, 4] - 2 * sums[:, 2] * sums[:, 3] / n
        else:
            first, second = np.split(sums[:, 2:], 2, axis=1)
            by_chance = n - (first * second).sum(axis=1) / n
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(by_chance > 1e-9 * n, 1 - apart / by_chance, np.nan)

    return rows.astype(float), statistic
