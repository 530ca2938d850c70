"""Krippendorff's alpha at four levels of measurement, with intervals.

alpha = 1 - D_o / D_e compares how far apart the values of one item are (D_o) with how far apart any two values are
(D_e). 1: perfect agreement; 0: no better than chance; below 0: worse than chance. References in `coincidences`.

Intervals that hold for other dialogues and other annotators are those of a two-way jackknife. The variance of alpha, on
the scale of log(1 - alpha), is V_c + max(V_a - V_ca, 0): jackknife variances that leave out each cluster (dialogue,
pair, context), each annotator, and each annotator's judgements of each cluster (Cameron, Gelbach and Miller 2011,
Robust inference with multiway clustering, Journal of Business and Economic Statistics 29, 238-249, section 2.2, whose
V_c + V_a - V_ca need not be positive). Intervals take Student's t with one degree of freedom fewer than the effective
number of clusters or annotators, whichever is smaller, as those of means do (`statistics.clusters`).

How often 95% intervals cover with 5 to 40 annotators of equal or Zipf loads, and with 13 contexts, is in
`benchmarks/levels/alpha.csv`. Percentile intervals of the pigeonhole bootstrap (Owen 2007) count the noise of single
judgements twice: in most of these designs they cover 97% to 100% and are up to 1.8 times as wide (100 runs each).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, nan, sqrt

import numpy as np
from scipy import sparse
from scipy.special import stdtrit

from judgebook.questions.agreement import bounds
from judgebook.questions.agreement.coincidences import (
    Domain,
    Patterns,
    Terms,
    midranks,
    patterns,
    patterns_long,
    terms,
    with_sampling,
)
from judgebook.statistics import resampling
from judgebook.statistics.intervals import Interval

#: ordinal alpha of more distinct values than this takes the path that does not hold all pairs of values
MANY_VALUES = 25
#: numbers that one part of the leave-one-out sums may hold
_AT_ONCE = 4_000_000
#: so near to 1 a coefficient is 1 up to rounding
_EQUAL = 1e-12
#: clusters and annotators (effective numbers) below which nothing is said of others
LEAST = 5
#: what is said of an interval that is cut off
AT_LOWEST = "the lower end is the least value that is possible with so few judgements of an item"


@dataclass(frozen=True)
class Alpha:
    """Alpha with its evidence: D_o and D_e as in `Terms.measures`, items with two values or more, their values."""

    estimate: float
    observed: float
    expected: float
    n_items: int
    n_values: int


def alpha(values: np.ndarray, level: str = "nominal", domain: Domain | None = None) -> Alpha:
    """Krippendorff's alpha of an (items, annotators) matrix, NaN where an annotator did not judge an item.

    level : nominal, ordinal, interval or ratio. domain : as in `patterns`.

    Items with fewer than two values are left out. The estimate is NaN when all values are equal (no disagreement could
    be expected) or no item has two.
    """
    return alpha_of(patterns(values, domain), level)


def alpha_of(items: Patterns, level: str, *, mirrored: bool = False) -> Alpha:
    """As `alpha`, from patterns."""
    t = terms(items.counts, items.values, level, mirrored=mirrored, sampling=items.sampling)
    with np.errstate(divide="ignore", invalid="ignore"):
        measures = t.measures((items.weights @ t.rows)[None])
    estimate, observed, expected = (float(measures[name][0]) for name in ("alpha", "observed", "expected"))
    return Alpha(estimate, observed, expected, items.n_items, int(items.marginals.sum()))


def alpha_intervals(
    items: Patterns,
    level: str,
    *,
    unit: str,
    rng: np.random.Generator,
    clusters: np.ndarray | None = None,
    mirrored: bool = False,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    method: str = "bca",
    expanded: bool = True,
    only: Sequence[str] = (),
) -> dict[str, Interval]:
    """Alpha and raw agreement with intervals; for a label of two values also specific agreement and prevalence.

    Parameters
    ----------
    items : Patterns
        With sampling weights (`with_sampling`), items are resampled with theirs.
    unit : str
        What is resampled: the name of an item, or of a cluster where `clusters` is given.
    clusters : (n,) array, optional
        The cluster (say, dialogue) of each item, in the order of the matrix that `items` was made from.
    mirrored : bool
        Count comparisons in both orientations; the pair stays the unit.
    method, expanded
        As for `resampling.bootstrap_sums`.
    only : sequence of str
        Which of the measures are wanted; all of them by default.

    Returns
    -------
    dict from alpha, raw_agreement, positive_agreement, negative_agreement, prevalence to Interval. When all items
    agree, or a label of two values has fewer than 20 marks of the rarer one, there is no bootstrap interval: see
    `bounds.degenerate`.
    """
    names = ["alpha", "raw_agreement"]
    names += ["positive_agreement", "negative_agreement", "prevalence"] if len(items.values) == 2 else []
    names = [name for name in names if not only or name in only]
    item_clusters = None if clusters is None else _clusters(items, clusters)
    if bounds.is_degenerate(items, mirrored=mirrored):
        return bounds.degenerate(
            items, level, names, unit=unit, clusters=item_clusters, mirrored=mirrored, confidence=confidence
        )
    if items.sampling is not None and item_clusters is None:  # an item is a cluster: patterns are nearly as many
        item_clusters = np.where(items.index >= 0, np.cumsum(items.index >= 0) - 1, -1)
    if level == "ordinal" and len(items.values) > MANY_VALUES:
        n_units, of_weights, width = _many_values(items, item_clusters, names)
        intervals = resampling.bootstrap_weights(
            n_units,
            of_weights,
            unit=unit,
            rng=rng,
            n_resamples=n_resamples,
            confidence=confidence,
            method=method,
            expanded=expanded,
            width=width,
        )
    else:
        t = terms(items.counts, items.values, level, mirrored=mirrored, sampling=items.sampling)
        rows, weights = (
            (t.rows, items.weights) if item_clusters is None else _alike(_sum_by(t.rows, items, item_clusters))
        )
        intervals = resampling.bootstrap_sums(
            rows,
            _statistic(t, names),
            unit=unit,
            rng=rng,
            counts=weights,
            n_resamples=n_resamples,
            confidence=confidence,
            method=method,
            expanded=expanded,
        )
    assert isinstance(intervals, list)  # one for each name
    return dict(zip(names, intervals, strict=True))


def _statistic(t: Terms, names: list[str]) -> Callable[[np.ndarray], np.ndarray]:
    def statistic(sums: np.ndarray) -> np.ndarray:
        measures = t.measures(sums)
        measures |= t.binary_measures(sums) if not measures.keys() >= set(names) else {}
        return np.stack([measures[name] for name in names], axis=1)

    return statistic


def _clusters(items: Patterns, clusters: np.ndarray) -> np.ndarray:
    """Codes from 0 of the clusters that hold an item with two values; -1 for other items."""
    clusters = np.asarray(clusters)
    if clusters.shape != items.index.shape:
        raise ValueError(f"clusters: expected one for each of {len(items.index)} items, found shape {clusters.shape}")
    codes = np.full(len(clusters), -1)
    codes[items.index >= 0] = np.unique(clusters[items.index >= 0], return_inverse=True)[1]
    return codes


def _sum_by(rows: np.ndarray, items: Patterns, clusters: np.ndarray) -> np.ndarray:
    """(clusters, q): the rows of the items of each cluster added up."""
    has_pattern = items.index >= 0
    times = sparse.csr_array(
        (np.ones(has_pattern.sum()), (clusters[has_pattern], items.index[has_pattern])),
        shape=(clusters.max() + 1, len(rows)),
    )
    return times @ rows


def _alike(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows and how often each occurs, where that is far fewer than there are (clusters of one item); else no counts."""
    distinct, times = np.unique(rows, axis=0, return_counts=True)
    return (distinct, times) if 4 * len(distinct) < len(rows) else (rows, None)


def _many_values(
    items: Patterns, clusters: np.ndarray | None, names: list[str]
) -> tuple[int, Callable[[np.ndarray], np.ndarray], int]:
    """Ordinal alpha where pairs of values are too many to hold: midranks of every annotation in every resample.

    Returns the number of units, the measures from (k, units) how often each is drawn, and the numbers these hold.
    """
    pattern, codes = np.nonzero(items.counts)
    times = items.counts[pattern, codes]
    starts = np.flatnonzero(np.r_[True, np.diff(pattern) > 0])
    m = items.counts.sum(axis=1)
    same = np.sum(items.counts * (items.counts - 1), axis=1) / (m - 1)
    pattern_of = items.index[items.index >= 0]
    units = np.arange(len(pattern_of)) if clusters is None else clusters[items.index >= 0]
    sampling = np.ones(len(pattern_of)) if items.sampling is None else items.sampling[pattern_of]
    spread = sparse.csr_array((sampling, (units, pattern_of)), shape=(units.max() + 1, len(m)))

    def statistic(weights: np.ndarray) -> np.ndarray:
        w = weights @ spread  # (k, patterns)
        n_c = w @ items.counts
        n = n_c.sum(axis=1)
        rank = midranks(n_c)
        of_value = rank[:, codes]
        first = np.add.reduceat(times * of_value, starts, axis=1)
        second = np.add.reduceat(times * of_value**2, starts, axis=1)
        observed = 2 * np.sum(w * (m * second - first**2) / (m - 1), axis=1)
        expected = 2 * (n * np.sum(n_c * rank**2, axis=1) - np.sum(n_c * rank, axis=1) ** 2)
        expected = np.where(np.sum(n_c > 0, axis=1) > 1, expected, nan)
        coefficients = {"alpha": 1 - (n - 1) * observed / expected, "raw_agreement": (w @ same) / n}
        return np.stack([coefficients[name] for name in names], axis=1)

    return int(units.max()) + 1, statistic, 4 * (len(codes) + len(m) + len(items.values))


@dataclass(frozen=True)
class Judgements:
    """Judgements one by one: (n,) codes from 0 of the item, the annotator, the item's cluster and the value given;
    weight : (n,) the sampling weight of the item, None where all are equal."""

    item: np.ndarray
    annotator: np.ndarray
    cluster: np.ndarray
    value: np.ndarray
    weight: np.ndarray | None = None

    def item_weights(self) -> np.ndarray:
        """(items,) sampling weights, 1 without any; 0 of an item that nobody judged."""
        out = np.zeros(self.item.max() + 1)
        out[self.item] = 1.0 if self.weight is None else self.weight
        return out


def alpha_two_way(
    judged: Judgements, values: np.ndarray, level: str, *, unit: str, mirrored: bool = False, confidence: float = 0.95
) -> Interval:
    """Interval of alpha that holds for other clusters and other annotators (`two_way`).

    judged : whose values are codes of `values`, the (v,) possible values, ascending. unit : what a cluster is. mirrored
    : as in `alpha_intervals`.

    There is none with fewer than five effective annotators or clusters, nor where `bounds.is_degenerate` (rare marks).
    log(1 - alpha) knows no lowest alpha, and where five annotators differ much the interval would end far below
    `lowest_alpha`. What cannot be is left out, which loses no truth.
    The standard error of ordinal alpha of more than MANY_VALUES values is that of the values in as many groups of about
    the same size.
    """
    item_patterns = patterns_of(judged, values)
    estimate, n = alpha_of(item_patterns, level, mirrored=mirrored).estimate, len(np.unique(judged.cluster))
    what = f"{unit} and annotator"
    if bounds.is_degenerate(item_patterns, mirrored=mirrored):
        reason = "too few marks of the rarer value, or no disagreement"
        return Interval(estimate, nan, nan, "not_estimable", what, n, note=reason)
    if item_patterns.sampling is not None:
        at = item_patterns.index[judged.item]
        judged = replace(judged, weight=np.where(at >= 0, item_patterns.sampling[at], 0.0))
    if level == "ordinal" and len(values) > MANY_VALUES:
        groups = _groups_of_values(item_patterns, mirrored)
        judged, values = replace(judged, value=groups[judged.value]), np.arange(groups.max() + 1.0)
        values = values - values.mean() if mirrored else values

    def rows(counts: np.ndarray) -> np.ndarray:
        repeated = counts.sum(axis=1) >= 2
        t = terms(counts[repeated], values, level, mirrored=mirrored)
        out = np.zeros((len(counts), t.rows.shape[1]))
        out[repeated] = t.rows
        out[:, : -len(values)] /= t.scale
        return out

    measures = Terms(np.empty((0, 0)), values, level, 1).measures
    spread, df, reason = _spread(judged, len(values), rows, lambda sums: measures(sums)["alpha"])
    if not reason and not estimate < 1:
        reason = "all judgements of an item agree"
    if reason:
        return Interval(estimate, nan, nan, "not_estimable", what, n, note=reason)
    half = stdtrit(df, (1 + confidence) / 2) * spread
    low, high = (float(1 - (1 - estimate) * np.exp(sign * half)) for sign in (1, -1))
    lowest = lowest_alpha(int(item_patterns.counts.sum(axis=1).min()), level)
    note, error = AT_LOWEST if low < lowest else "", float((1 - estimate) * spread)
    return Interval(estimate, max(low, lowest), high, "jackknife_t", what, n, note=note, standard_error=error)


def lowest_alpha(m: int, level: str) -> float:
    """The lowest alpha of any population whose items have m judgements or more: -1 / (m - 1).

    Differences in alpha are squared distances between points (nominal: corners of a simplex; ordinal: ranks; ratio:
    1 - sech² of half the difference of logarithms, which is of negative type). Over the ordered pairs of n values they
    add up to 2 n T, where T = W + B are the sums of squares about the mean, within items and between them. Hence
    D_e = 2 T / (n - 1), D_o = 2 / n times the sum over items of m W_item / (m - 1), and D_o / D_e is at most
    (n - 1) / n * m / (m - 1) for the smallest m. Alpha of n values is 1 less this or more, with equality where all
    items have m values and the same mean; it falls to -1 / (m - 1) as n grows. The intraclass correlation has the same
    bound (Fisher 1925, Statistical Methods for Research Workers, section 38). Differences of sets need be no squared
    distances: no bound is known.
    """
    return -inf if level == "sets" else -1 / (m - 1)


def patterns_of(judged: Judgements, values: np.ndarray) -> Patterns:
    """Patterns of judgements whose values are codes of `values`, with the sampling weights of their items."""
    n = int(judged.item.max()) + 1
    return with_sampling(patterns_long(judged.item, values[judged.value], n, values), judged.item_weights())


def _groups_of_values(items: Patterns, mirrored: bool) -> np.ndarray:
    """(v,) codes from 0 of MANY_VALUES groups of neighbouring values, each given about equally often."""
    n_c = items.marginals + (items.marginals[::-1] if mirrored else 0)
    group = (midranks(n_c[None].astype(float))[0] * MANY_VALUES).astype(np.int64)
    if mirrored:  # a value and its negative are in opposite groups
        half = len(group) // 2
        group[len(group) - half :] = MANY_VALUES - 1 - group[:half][::-1]
    return np.unique(group, return_inverse=True)[1]


def _spread(
    judged: Judgements,
    n_values: int,
    terms_of: Callable[[np.ndarray], np.ndarray],
    statistic: Callable[[np.ndarray], np.ndarray],
) -> tuple[float, float, str]:
    """Standard error of log(1 - coefficient), degrees of freedom, and the reason where there is none.

    judged : no annotator judges an item twice. terms_of : from (p, n_values) counts of the values that items received
    to the (p, q) quantities whose sums over items (weighted by their sampling weights) the coefficient depends on.
    statistic : from (k, q) sums to (k,) coefficients, NaN where undefined.
    """
    effective = [_effective(codes, judged.weight) for codes in (judged.cluster, judged.annotator)]
    for number, what in zip(effective, ("clusters", "annotators"), strict=True):
        if round(number, 1) < LEAST:
            return nan, nan, f"{number:.1f} effective {what}, of {LEAST} needed"
    received = sparse.csr_array(
        (np.ones(len(judged.item)), (judged.item, judged.value)), shape=(judged.item.max() + 1, n_values)
    )
    distinct, pattern = np.unique(np.c_[received.toarray(), judged.item_weights()], axis=0, return_inverse=True)
    counts, weight, pattern = distinct[:, :-1].astype(np.int64), distinct[:, -1:], pattern.reshape(-1)
    of_pattern = weight * terms_of(counts)
    total = np.bincount(pattern, minlength=len(counts)) @ of_pattern
    whole = _log(statistic(total[None]))[0]
    p, v = np.nonzero(counts)
    fewer = counts[p]
    fewer[np.arange(len(p)), v] -= 1
    changes = weight[p] * terms_of(fewer) - of_pattern[p]  # of an item of this pattern that loses this value
    place = np.zeros(counts.shape, dtype=np.int64)
    place[p, v] = np.arange(len(p))
    change = place[pattern[judged.item], judged.value]
    item, first = np.unique(judged.item, return_index=True)
    left_out = [
        (pattern[item], judged.cluster[first], -of_pattern),
        (change, judged.annotator, changes),
        (change, judged.cluster * (judged.annotator.max() + 1) + judged.annotator, changes),
    ]
    by_cluster, by_annotator, by_both = (_jackknife(*part, total, whole, statistic) for part in left_out)
    variance = by_cluster + max(by_annotator - by_both, 0.0)
    if not np.isfinite(variance):
        return nan, nan, "undefined without one of the annotators or clusters"
    if variance <= 1e-24:
        return nan, nan, "no cluster or annotator changes the coefficient"
    return sqrt(variance), min(effective) - 1, ""


def _jackknife(
    kind: np.ndarray,
    group: np.ndarray,
    rows: np.ndarray,
    total: np.ndarray,
    whole: float,
    statistic: Callable[[np.ndarray], np.ndarray],
) -> float:
    """Jackknife variance of log(1 - coefficient) over groups: each loses the `rows` of the `kind` of its members."""
    codes = np.unique(group, return_inverse=True)[1]
    size = codes.max() + 1
    if size == len(group):  # groups of one: those that lose the same are one
        members, weights = None, np.bincount(kind, minlength=len(rows))
    else:
        members = sparse.csr_array((np.ones(len(kind)), (codes, kind)), shape=(size, len(rows)))
        weights = np.ones(size)
    out, step = 0.0, max(1, _AT_ONCE // rows.shape[1])
    for start in range(0, len(weights), step):
        lost = rows[start : start + step] if members is None else members[start : start + step] @ rows
        apart = _log(statistic(total + lost)) - whole
        part_weights = weights[start : start + step]
        out += float(np.sum(part_weights[part_weights > 0] * apart[part_weights > 0] ** 2))
    return (size - 1) / size * out


def _log(coefficients: np.ndarray) -> np.ndarray:
    rest = 1 - coefficients
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(np.where(np.abs(rest) < _EQUAL, 0.0, rest))


def _effective(codes: np.ndarray, weight: np.ndarray | None) -> float:
    n = np.bincount(codes, weight)
    return float(n.sum() ** 2 / np.sum(n.astype(float) ** 2))
