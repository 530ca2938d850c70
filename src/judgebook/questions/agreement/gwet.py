"""Gwet's AC1 and AC2: agreement beyond chance that does not collapse when nearly all items get the same value.

AC = (p_a - p_e) / (1 - p_e). p_a is the weighted share of pairs of annotations of an item that agree. Chance agreement
p_e = T_w / (q (q - 1)) sum_k pi_k (1 - pi_k) supposes that annotators guess on some items only, those that are hard:
it falls as one value comes to dominate, where that of alpha, Scott's pi and kappa rises to 1. T_w is the sum of all
weights, q the number of values that the scale has, pi_k the mean over items of the share of annotations with value k.

References: Gwet 2008, Computing inter-rater reliability and its variance in the presence of high agreement, British
Journal of Mathematical and Statistical Psychology 61, 29-48 (AC1: equations 5 and 6 for two raters; section 5 for
more); Gwet 2014, Handbook of Inter-Rater Reliability (4th ed.), section 4.4 (AC2: weights, missing ratings: an item
with one rating enters pi_k, not p_a), chapter 3 (weights).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf, nan
from typing import TypeVar

import numpy as np
from scipy import sparse

from judgebook.questions.agreement.coincidences import distances
from judgebook.questions.agreement.two_way import Judgements, interval
from judgebook.statistics import resampling
from judgebook.statistics.intervals import Interval

#: numbers, or arrays of them
Shares = TypeVar("Shares", float, np.ndarray)
#: level of measurement -> name of its weights in Gwet 2014, chapter 3
WEIGHTS = {"nominal": "identity", "ordinal": "ordinal", "interval": "quadratic", "ratio": "ratio", "sets": "MASI"}


def weights(values: np.ndarray, level: str) -> np.ndarray:
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


def coefficient(counts: np.ndarray, values: np.ndarray, level: str) -> float:
    """AC1 (nominal) or AC2 of (n, q) counts of the values that items received; NaN where no item has two."""
    rows, shares = terms(values, level)
    return float(beyond_chance(*shares(rows(counts).sum(axis=0)[None]))[0])


def beyond_chance(observed: Shares, chance: Shares) -> Shares:
    """(p_a - p_e) / (1 - p_e)."""
    return (observed - chance) / (1 - chance)


def terms(
    values: np.ndarray, level: str, *, mirrored: bool = False
) -> tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]]:
    """From (n, q) counts to what items add to the sums, and from (k, q + 3) sums to p_a and p_e, (k,) each.

    mirrored : comparisons count in both orientations, so that values and their negatives are equally frequent.
    """
    w, q = weights(values, level), len(values)

    def rows(counts: np.ndarray) -> np.ndarray:
        m = counts.sum(axis=1, keepdims=True)
        pairs = np.maximum(m * (m - 1), 1)
        agreeing = np.sum(counts * (counts @ w - 1), axis=1, keepdims=True) / pairs  # r_k (r*_k - 1)
        return np.concatenate([counts / np.maximum(m, 1), m >= 1, np.where(m >= 2, agreeing, 0), m >= 2], axis=1)

    def shares(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            pi, observed = sums[:, :q] / sums[:, [q]], sums[:, q + 1] / sums[:, q + 2]
        pi = (pi + pi[:, ::-1]) / 2 if mirrored else pi
        return observed, w.sum() / max(q * (q - 1), 1) * np.sum(pi * (1 - pi), axis=1)

    return rows, shares


def intervals(
    judged: Judgements,
    values: np.ndarray,
    level: str,
    raw: Interval,
    *,
    unit: str,
    rng: np.random.Generator,
    mirrored: bool = False,
    others: bool = False,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> dict[str, Interval]:
    """The coefficient with its BCa interval over clusters, for these annotators, by what was resampled; with `others`
    also the interval for other annotators (`two_way`, cautious: it covers 92% otherwise with five or eight annotators).

    Parameters
    ----------
    judged : Judgements
        Of all items, those with one annotation too; values are codes of `values`, all that the scale has, ascending.
        With sampling weights, p_a and pi_k are weighted means over items (Hájek's estimator).
    raw : Interval
        Of raw agreement. Where it is no bootstrap interval (rare marks, no disagreement: `bounds`), neither is that of
        the coefficient: its ends take those of raw agreement for p_a, with p_e as estimated.
    """
    rows, shares = terms(values, level, mirrored=mirrored)
    ones = np.ones(len(judged.item)), (judged.item, judged.value)
    counts = sparse.csr_array(ones, shape=(judged.item.max() + 1, len(values))).toarray()
    of_item = judged.item_weights()[:, None] * rows(counts)
    sums = np.zeros((judged.cluster.max() + 1, of_item.shape[1]))
    item, first = np.unique(judged.item, return_index=True)
    np.add.at(sums, judged.cluster[first], of_item[item])
    (observed,), (chance,) = shares(sums.sum(axis=0)[None])
    estimate = float(beyond_chance(observed, chance))
    unit_and_annotator = f"{unit} and annotator"
    if raw.kind not in ("bca", "percentile"):
        by_unit = {unit: _carried(raw, estimate, float(chance))}
        none = Interval(
            estimate, nan, nan, "not_estimable", unit_and_annotator, raw.n_units, note="too few marks or disagreements"
        )
        return by_unit | ({unit_and_annotator: none} if others else {})

    def statistic(sums: np.ndarray) -> np.ndarray:
        return beyond_chance(*shares(sums))

    of_these = resampling.bootstrap_sums(
        sums, statistic, unit=unit, rng=rng, n_resamples=n_resamples, confidence=confidence
    )
    assert isinstance(of_these, Interval)  # of one value per resample
    by_unit = {unit: of_these}
    if others:
        several = counts.sum(axis=1)
        by_unit[unit_and_annotator] = interval(
            judged,
            len(values),
            rows,
            statistic,
            estimate=estimate,
            unit=unit,
            confidence=confidence,
            cautious=True,
            lowest=lowest_ac(int(several[several >= 2].min()), values, level),
        )
    return by_unit


def lowest_ac(m: int, values: np.ndarray, level: str) -> float:
    """No AC is lower where items have m judgements or more: AC1 is at least -1 / (q - 1) and -1 / (m - 1).

    AC = 1 - (1 - p_a) / (1 - p_e). p_e is at most T_w / q², where all values are equally frequent. 1 - p_a is at most
    1, and at most m / (m - 1) times the largest mean difference 1 - w of two draws from one distribution: 1 - 1 / q of
    identity weights, 1/2 of ordinal and quadratic ones (half of the values at each end). AC1 reaches its bound; AC2
    lies higher, as not all of this is possible at once.
    """
    w, q = weights(values, level), len(values)
    if q < 2:
        return -inf
    apart = 1 - 1 / q if level == "nominal" or q == 2 else 0.5
    disagreement = 1.0 if level in ("ratio", "sets") else min(1.0, m / (m - 1) * apart)
    return float(1 - disagreement / (1 - w.sum() / q**2))


def _carried(raw: Interval, estimate: float, chance: float) -> Interval:
    """The interval of p_a as one of the coefficient."""
    if not np.isfinite(estimate) or not np.isfinite(raw.low):
        return replace(raw, estimate=estimate, low=nan, high=nan, kind="not_estimable")
    low, high = (beyond_chance(end, chance) for end in (raw.low, raw.high))
    return replace(raw, estimate=estimate, low=min(low, estimate), high=max(high, estimate))
