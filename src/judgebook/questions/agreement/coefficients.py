"""Coefficients of agreement beside alpha, for one label each, and the reason where they are undefined.

`cohen_kappa`, `fleiss_kappa` and `icc` take an (items, annotators) matrix, NaN where an annotator did not judge an
item, and return the coefficient with a note that is empty unless it is undefined. `COEFFICIENTS` says for which labels
each is computed and how notebook 03 shows it: to add one, write its function and add it there. `kappas` is Cohen's
kappa of every two people who are known, for few people who judged the same items.

Gwet's AC1 and AC2 do not collapse when nearly all items get the same value: AC = (p_a - p_e) / (1 - p_e). p_a is the
weighted share of pairs of annotations of an item that agree. Chance agreement p_e = T_w / (q (q - 1)) sum_k pi_k (1 -
pi_k) supposes that annotators guess on some items only, those that are hard: it falls as one value comes to dominate,
where that of alpha and kappa rises to 1. T_w is the sum of all weights, q the number of values that the scale has, pi_k
the mean over items of the share of annotations with value k.

References: Gwet 2008, Computing inter-rater reliability and its variance in the presence of high agreement, British
Journal of Mathematical and Statistical Psychology 61, 29-48 (AC1: equations 5 and 6 for two raters; section 5 for
more); Gwet 2014, Handbook of Inter-Rater Reliability (4th ed.), section 4.4 (AC2: weights, missing ratings: an item
with one rating enters pi_k, not p_a), chapter 3 (weights).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.agreement.coincidences import distances
from judgebook.questions.agreement.items import first_annotations, item_weights, matrix, scale_values
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import CELL, Annotations


def cohen_kappa(values: np.ndarray, weights: str = "none") -> tuple[float, str]:
    """Cohen's kappa of two annotators (Cohen 1960; weighted: Cohen 1968) over the items that both judged.

    weights : none or quadratic. Weights go by rank of the values that occur.

    As `statsmodels.stats.inter_rater.cohens_kappa`, to the last digit: to import that takes as long as
    all of notebook 03.
    """
    if values.ndim != 2 or values.shape[1] != 2:
        return nan, "Cohen's kappa compares two annotators"
    judged_twice = values[~np.isnan(values).any(axis=1)]
    kinds, codes = np.unique(judged_twice, return_inverse=True)
    if len(kinds) < 2:
        return nan, "undefined: fewer than two values occur"
    codes = codes.reshape(judged_twice.shape)
    table = np.bincount(codes[:, 0] * len(kinds) + codes[:, 1], minlength=len(kinds) ** 2)
    table, n = table.reshape(len(kinds), len(kinds)), len(codes)
    by_chance = table.sum(axis=0) / n * (table.sum(axis=1) / n)[:, None]
    if weights == "none":
        expected = np.trace(by_chance)
        return float((np.trace(table) / n - expected) / (1 - expected)), ""
    rank = np.arange(len(kinds), dtype=float)
    apart = (rank[:, None] - rank) ** 2 / rank[-1] ** 2
    return float(1 - (apart * table).sum() / n / (apart * by_chance).sum()), ""


def fleiss_kappa(values: np.ndarray) -> tuple[float, str]:
    """Fleiss' kappa (Fleiss 1971, equations 1 to 7), where every item with an annotation has equally many."""
    m = (~np.isnan(values)).sum(axis=1)
    if len(set(m[m > 0].tolist())) != 1 or m.max(initial=0) < 2:
        return nan, "Fleiss' kappa needs equally many annotations of every item, at least two"
    kinds = np.unique(values[~np.isnan(values)])
    if len(kinds) < 2:
        return nan, "undefined: only one value occurs"
    table = np.stack([(values[m > 0] == kind).sum(axis=1, dtype=float) for kind in kinds], axis=1)
    expected = ((table.sum(axis=0) / table.sum()) ** 2).sum()
    observed = (((table**2).sum(axis=1) - m.max()) / (m.max() * (m.max() - 1.0))).mean()
    return float((observed - expected) / (1 - expected)), ""


def icc(values: np.ndarray) -> tuple[float, str]:
    """ICC(1,1), the intraclass correlation of single annotations, whoever gave them, of a matrix without gaps.

    McGraw and Wong 1996, Forming inferences about some intraclass correlation coefficients, Psychological Methods 1,
    Table 4.
    """
    n, k = values.shape
    if np.isnan(values).any():
        return nan, "an intraclass correlation needs every annotation of every item"
    if n < 3 or k < 2:
        return nan, f"an intraclass correlation needs 3 items and 2 annotations each; there are {n} and {k}"
    if np.ptp(values) == 0:
        return nan, "undefined: only one value occurs"
    means = values.mean(axis=1)
    within = np.sum((values - means[:, None]) ** 2) / (n * (k - 1))
    if within == 0:
        return nan, "all annotators agree on every item: there is no error variance"
    ratio = k * np.sum((means - values.mean()) ** 2) / (n - 1) / within
    return float((ratio - 1) / (ratio + k - 1)), ""


#: level of measurement -> name of its weights in Gwet 2014, chapter 3
WEIGHTS = {"nominal": "identity", "ordinal": "ordinal", "interval": "quadratic", "ratio": "ratio", "sets": "MASI"}


def gwet_weights(values: np.ndarray, level: str) -> np.ndarray:
    """(q, q) how far two values agree, from 0 to 1 on the diagonal.

    Ordinal: 1 less the number of pairs of values that lie from one to the other, over that of all values, which makes
    them depend on order only. Other levels: 1 less the squared difference of alpha (`coincidences.distances`), over
    the largest: 0 and 1 at the nominal level, quadratic weights at the interval level.
    """
    if level == "ordinal":
        apart = np.abs(np.subtract.outer(np.arange(len(values)), np.arange(len(values)))) + 1.0
        d = apart * (apart - 1) / 2
    else:
        d = distances(values, level)
    return 1 - d / (d.max(initial=0) or 1)


def gwet_ac(
    counts: np.ndarray,
    values: np.ndarray,
    level: str,
    *,
    sampling: np.ndarray | None = None,
    mirrored: bool = False,
) -> float:
    """AC1 (nominal) or AC2 of (n, q) counts of the values that items received; NaN where no item has two.

    values : all that the scale has, ascending. sampling : (n,) weights of items: p_a and pi_k are weighted means over
    items (Hájek's estimator). mirrored : comparisons count in both orientations, so that values and their negatives
    are equally frequent.
    """
    w, q, m = gwet_weights(values, level), len(values), counts.sum(axis=1)
    share = (m > 0) * (1.0 if sampling is None else sampling)
    pi = share @ (counts / np.maximum(m, 1)[:, None]) / share.sum()
    pi = (pi + pi[::-1]) / 2 if mirrored else pi
    chance = w.sum() / max(q * (q - 1), 1) * np.sum(pi * (1 - pi))
    several = share * (m > 1)
    if not several.any():
        return nan
    agreeing = np.sum(counts * (counts @ w - 1), axis=1) / np.maximum(m * (m - 1), 1)  # r_k (r*_k - 1)
    return float((several @ agreeing / several.sum() - chance) / (1 - chance))


@dataclass(frozen=True)
class Ratings:
    """The annotations (`items.first_annotations`) of one label; frame: those of items judged twice or more."""

    everything: Annotations
    label: Label

    @cached_property
    def frame(self) -> Annotations:
        return self.everything[self.everything.groupby("item")["item"].transform("size") >= 2]

    @cached_property
    def paired(self) -> bool:
        """Whether two dialogues are compared."""
        return METHODS[self.label.method].unit == "pair"

    @cached_property
    def scores(self) -> np.ndarray:
        """(items, positions) scores, NaN where an item has fewer annotations; comparisons in both orientations."""
        values = matrix(self.frame).to_numpy()
        return np.concatenate([values, -values]) if self.paired else values


@dataclass(frozen=True)
class CoefficientColumn:
    """How a table shows a coefficient: the values of its keys, and why a cell may be empty."""

    keys: Mapping[str, str]
    missing: str


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement beside alpha.

    statistic : its name in `statistics.yaml`. rows : its rows for one label, none where it does not apply: keys,
    estimate, an interval where it has one (`Interval.row`), and the note where it is undefined. columns : heading ->
    column of the table of what alpha is made of.
    """

    statistic: str
    rows: Callable[[Ratings], Iterable[dict[str, Any]]]
    columns: Mapping[str, CoefficientColumn]


def _ordered(label: Label) -> bool:
    return label.level not in ("nominal", "sets") and not label.binary


def _gwet(ratings: Ratings) -> Iterator[dict[str, Any]]:
    frame, label = ratings.everything, ratings.label
    values = scale_values(frame["score"], label)
    item, codes = pd.factorize(frame["item"])[0], np.searchsorted(values, frame["score"])
    counts = np.zeros((item.max() + 1, len(values)))
    np.add.at(counts, (item, codes), 1)
    ac = gwet_ac(counts, values, label.level, sampling=item_weights(frame), mirrored=ratings.paired)
    yield {"weights": WEIGHTS["nominal" if len(values) == 2 else label.level], "estimate": ac}


def _cohen(ratings: Ratings) -> Iterator[dict[str, Any]]:
    if ratings.scores.shape[1] != 2:
        return
    for weights in ("none", "quadratic") if _ordered(ratings.label) else ("none",):
        kappa, note = cohen_kappa(ratings.scores, weights)
        yield {"weights": weights, "estimate": kappa, "note": note or None}


def _fleiss(ratings: Ratings) -> Iterator[dict[str, Any]]:
    kappa, note = fleiss_kappa(ratings.scores)
    yield {"estimate": kappa, "note": note or None}


def _intraclass(ratings: Ratings) -> Iterator[dict[str, Any]]:
    if not (ratings.label.binary or ratings.label.unordered or ratings.paired):
        correlation, note = icc(ratings.scores)
        yield {"estimate": correlation, "note": note or None}


#: in the order of their columns
COEFFICIENTS = (
    Coefficient("ac", _gwet, {"Gwet's AC": CoefficientColumn({}, "No item has two annotations.")}),
    Coefficient(
        "cohen_kappa",
        _cohen,
        {
            "Kappa": CoefficientColumn({"weights": "none"}, "Items do not all have two annotations."),
            "Weighted kappa": CoefficientColumn(
                {"weights": "quadratic"}, "Items do not all have two annotations, or the label is binary."
            ),
        },
    ),
    Coefficient(
        "fleiss_kappa",
        _fleiss,
        {"Fleiss' kappa": CoefficientColumn({}, "Items have different numbers of annotations.")},
    ),
    Coefficient(
        "icc",
        _intraclass,
        {
            "ICC(1,1)": CoefficientColumn(
                {}, "Not computed for comparisons, binary labels, and items with a missing annotation."
            )
        },
    ),
)

#: people of a label up to which each two are compared, and common items needed
MOST_PEOPLE, MIN_COMMON, MOST_VALUES = 10, 30, 11


def kappas(annotations: Annotations, labels: Iterable[Label]) -> Iterator[dict[str, Any]]:
    """Kappa of each two known people of a group over the items that both judged.

    Comparisons are taken as they are stored, in one orientation each.

    Yields `pair_kappa` with `weights` none and, of labels with an order, quadratic; `pair` names the two people.
    """
    whole = {(x.method, x.id): x for x in labels if x.integer and x.scale[1] - x.scale[0] < MOST_VALUES}
    people = first_annotations(annotations[annotations["annotator_known"].astype(bool)], first=None)
    people = people.assign(score=people["score"].where(~people["turned"], -people["score"]))
    for key, rows in people.groupby(CELL, sort=False):
        if key[2:] not in whole or not 2 <= rows["annotator"].nunique() <= MOST_PEOPLE:
            continue
        head = dict(zip(CELL, key, strict=True)) | {"level": METHODS[key[2]].unit, "statistic": "pair_kappa"}
        weights = ("none", "quadratic") if _ordered(whole[key[2:]]) else ("none",)
        wide = matrix(rows, "annotator")
        for a, b in combinations(sorted(wide), 2):
            both = wide[[a, b]].dropna().to_numpy(dtype=float)
            if len(both) >= MIN_COMMON:
                row = head | {"pair": f"{a} and {b}", "n": len(both), "n_annotators": 2}
                for kind in weights:
                    kappa, note = cohen_kappa(both, kind)
                    yield row | {"weights": kind, "estimate": kappa, "note": note or None}
