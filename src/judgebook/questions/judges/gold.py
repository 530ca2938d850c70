"""How well does a judge reproduce one set of labels: a column of gold, or what one person said of each item?

With one label an item, nothing is known of how people agree, so the label is taken to be right. The judge's agreement
with it is compared with nothing but chance (kappa), and reported for each system: what favours one system misleads
more than what is wrong everywhere alike.

Items are clustered in what they share: the prompt or context where all have one, otherwise the dialogue.

References
----------
Cohen 1960, Educational and Psychological Measurement 20, 37-46 (kappa). Cohen 1968, Psychological Bulletin 70, 213-220
(weighted). Altman and Bland 1994, BMJ 308, 1552 (sensitivity and specificity). McGraw and Wong 1996, Psychological
Methods 1, 30-46, Table 4 (ICC(A,1), also called ICC(2,1)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.judges.choices import JudgedPairs
from judgebook.questions.judges.items import JudgedItems, over_clusters
from judgebook.questions.metrics.correlations import intervals_of
from judgebook.questions.metrics.items import ScoredItems
from judgebook.questions.performance.rate_intervals import clustered_wilson
from judgebook.statistics.intervals import Interval, Sampling
from judgebook.study.labels import Label

#: items of the rarer value of two that gold and judge must each have for an interval of kappa
LEAST_MARKS = 5


@dataclass(frozen=True)
class AgainstGold:
    """One label by gold and by one judge.

    head : what identifies its result rows. gold, judge : (n,) scores. cluster : (n,) numbers from 0. unit : what a
    cluster is. system : (n,) names; None of comparisons, of which either side may stand first.
    """

    head: dict[str, Any]
    label: Label
    gold: np.ndarray
    judge: np.ndarray
    cluster: np.ndarray
    unit: str
    system: np.ndarray | None

    def slices(self) -> Iterator[tuple[dict[str, str], np.ndarray]]:
        """What identifies a part, and its items: all of them, and those of each system where there are several."""
        yield {}, np.ones(len(self.gold), dtype=bool)
        systems = [] if self.system is None else sorted(set(self.system.tolist()))
        for system in systems if len(systems) > 1 else ():
            yield {"system": system}, self.system == system


def of_items(items: JudgedItems) -> AgainstGold:
    """Ratings and marks that one person gave, and those of the judge."""
    shared = items.context is not None
    cluster = pd.factorize(items.context)[0] if shared else items.dialogue
    system = items.system[items.dialogue]
    unit = "context" if shared else "dialogue"
    return AgainstGold(items.head, items.label, items.human[:, 0], items.judge, cluster, unit, system)


def of_pairs(pairs: JudgedPairs) -> AgainstGold:
    """Choices on pairs with one vote each, and those of the judge."""
    return AgainstGold(pairs.head, pairs.label, pairs.votes[:, 0], pairs.judge, pairs.cluster, pairs.unit, None)


def against_gold(data: AgainstGold, *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Agreement with gold, overall and by system.

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
    for of, part in data.slices():
        for measure, tried in trials.items():
            n, hits = (np.bincount(data.cluster[part & m], minlength=size) for m in (tried, tried & same))
            row = {"statistic": "gold_agreement", "measure": measure}
            yield data.head | of | row | clustered_wilson(n, hits, data.unit, sampling.confidence)
        for weights in _weights(data.label, paired=data.system is None):
            row = {"statistic": "gold_kappa", "weights": weights}
            yield data.head | of | row | _kappa(data, part, weights, of, sampling).row() | {"n": int(part.sum())}
        if "quadratic" in _weights(data.label, paired=data.system is None):
            for row, interval in on_scale(data, part, of, sampling):
                yield data.head | of | row | interval.row() | {"n": int(part.sum())}


def on_scale(
    data: AgainstGold, part: np.ndarray, of: dict[str, str], sampling: Sampling
) -> Iterator[tuple[dict[str, str], Interval]]:
    """How scores of the judge on a scale, taken as numbers, follow gold's and how far they lie from them.

    Yields `gold_correlation` (`coefficient` spearman, pearson), `gold_icc` (ICC(A,1): 1 only where the scores are the
    same) and `gold_error` (`measure` absolute, the mean distance, and bias, the mean of judge minus gold; on the scale
    of the label), each with a BCa interval over clusters; correlations over many clusters as in `intervals_of`. What
    is undefined, as nothing varies, is NaN and says so in its note. part : (n,) which items, which `of` identifies.
    """
    gold, judge, cluster = data.gold[part], data.judge[part], pd.factorize(data.cluster[part])[0]
    corpus, method, label, metric = (str(data.head[key]) for key in ("corpus", "method", "label", "metric"))
    rng = sampling.stream("gold scale", corpus, method, label, metric, *of.values())
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


def _weights(label: Label, *, paired: bool) -> tuple[str, ...]:
    if label.level == "sets":
        return ()
    if label.binary or label.unordered or paired:
        return ("none",)
    return ("none", "quadratic") if label.integer else ("quadratic",)


def _kappa(data: AgainstGold, part: np.ndarray, weights: str, of: dict[str, str], sampling: Sampling) -> Interval:
    """Kappa of a part; without an interval where a value of two hardly occurs."""
    gold, judge, cluster = data.gold[part], data.judge[part], pd.factorize(data.cluster[part])[0]
    rows, statistic = kappa_sums(gold, judge, weights)
    if data.system is None:  # the same pairs from their other side: which one is stored is arbitrary
        rows = rows + kappa_sums(-gold, -judge, weights)[0]
    if data.label.binary:
        rarer = int(min(min(x.sum(), len(x) - x.sum()) for x in (gold, judge)))
        if rarer < LEAST_MARKS:
            value = float(statistic(rows.sum(axis=0, keepdims=True))[0])
            note = f"{rarer} items of the rarer value by gold or by the judge: {LEAST_MARKS} are needed"
            units = len(set(cluster.tolist()))
            return Interval(value, np.nan, np.nan, "not_estimable", data.unit, units, note=note)
    case = [str(data.head[key]) for key in ("corpus", "method", "label", "metric")]
    rng = sampling.stream("gold kappa", *case, weights, *of.values())
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
