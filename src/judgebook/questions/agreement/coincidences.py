"""Coincidences of values: the components of Krippendorff's alpha and specific agreement, in additive form.

Only the number of values of each kind that an item received matters, not who gave them. Items therefore fall into few
patterns, everything alpha needs is additive over items, and a resample of any number of items costs one row of a
product.

Symbols as in Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, and Content Analysis (4th ed. 2019, chapter
12): n_uc values c in item u, m_u values in it, o_ck coincidences, n_c their marginals, n their total, d_ck the
difference between two values at the level of measurement.

Sampling weights w_u: an item counts w_u times in every sum (Hájek's estimator: D_o is the weighted mean over values of
how far each is from the others of its item, D_e that of the weighted marginals). Krippendorff's n - 1 makes D_e right
for values drawn independently: n (n - 1) is the number of pairs of values, n squared, less those of a value with
itself. With weights, these pairs add up to n squared less the sum of w_u^2 m_u. Where weights are multiplied by
sum w_u m_u / sum w_u^2 m_u, this is n (n - 1) again, and n the effective number of values (Kish 1965, Survey Sampling,
section 11.7).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy import sparse

from judgebook.study.labels import LEVELS

#: possible values
Domain: TypeAlias = Sequence[float] | np.ndarray
#: values with a smaller share do not occur: sums of weights from which some were taken leave a rounding error
_NONE = 1e-9


@dataclass(frozen=True)
class Patterns:
    """Items that received two values or more, by the pattern of their values.

    values : (v,) the possible values, ascending; counts : (p, v), how often each value occurs in an item of this
    pattern; weights : (p,), how many items have it; index : (n,) the pattern of each item, -1 where it has fewer than
    two values; sampling : (p,) the sampling weight of an item, scaled as above, where weights differ (`with_sampling`):
    items of one pattern have the same.
    """

    values: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    index: np.ndarray
    sampling: np.ndarray | None = None

    @property
    def n_items(self) -> int:
        """How many items have at least two annotations."""
        return int(self.weights.sum())

    @property
    def marginals(self) -> np.ndarray:
        """How often each value occurs."""
        return self.weights @ self.counts

    @property
    def n_minority(self) -> int:
        """Annotations off the most frequent value; for a label of two values, marks of the rarer one."""
        return int(self.marginals.sum() - self.marginals.max(initial=0))

    @property
    def n_disagreeing(self) -> int:
        """How many items have annotations that differ."""
        return int(self.weights[(self.counts > 0).sum(axis=1) > 1].sum())


def patterns(values: np.ndarray, domain: Domain | None = None) -> Patterns:
    """Patterns of an (items, annotators) matrix.

    values : numbers, NaN where an annotator did not judge an item. Which column a value stands in does not matter.
    domain : the values that are possible; those that occur when left out. Raises ValueError for a value not in it.
    """
    values = np.atleast_2d(np.asarray(values, dtype=float))
    rows, columns = np.nonzero(~np.isnan(values))
    kinds = _domain(values, domain)
    return patterns_long(rows, values[rows, columns], len(values), kinds)


def patterns_long(items: np.ndarray, scores: np.ndarray, n_items: int, domain: Domain | None = None) -> Patterns:
    """As `patterns`, from one row a judgement: `items` holds codes from 0 to n_items - 1."""
    scores = np.asarray(scores, dtype=float)
    kinds = _domain(scores, domain)
    v = len(kinds)
    cell = np.asarray(items) * (v + 1) + positions(scores, kinds)
    table = sparse.csr_array((np.ones(len(cell), np.int64), (cell // (v + 1), cell % (v + 1))), (n_items, v + 1))
    counts = table[:, :v].toarray()
    base = int(counts.max(initial=0)) + 1
    if v * math.log2(base) <= 62:  # a pattern as a number: sorted in a fraction of the time
        place = base ** np.arange(v)
        key, index, weights = np.unique(counts @ place, return_inverse=True, return_counts=True)
        distinct = key[:, None] // place % base
    else:
        distinct, index, weights = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    repeated = distinct.sum(axis=1) >= 2
    of_repeated = np.where(repeated, np.cumsum(repeated) - 1, -1)
    return Patterns(kinds, distinct[repeated], weights[repeated], of_repeated[index.reshape(-1)])


def _domain(values: np.ndarray, domain: Domain | None) -> np.ndarray:
    if domain is not None:
        return np.unique(np.asarray(domain, dtype=float))
    distinct = np.asarray(pd.unique(values.ravel()), dtype=float)
    return np.sort(distinct[~np.isnan(distinct)])


def positions(column: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Place of each value among `kinds`; their number where it is missing."""
    missing = np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)
    codes = np.searchsorted(kinds, column)
    codes[missing] = len(kinds)
    wrong = ~missing & ((codes == len(kinds)) | (np.append(kinds, np.nan)[codes] != column))
    if wrong.any():
        raise ValueError(f"expected values among {kinds.tolist()}, found {column[wrong][0]:g}")
    return codes


def with_sampling(items: Patterns, weights: np.ndarray | None) -> Patterns:
    """Patterns of items that have sampling weights, (n,) in the order of `index`, of any scale; unchanged where those
    of the items with two values are equal, or None."""
    repeated = items.index >= 0
    if weights is None or not repeated.any() or np.ptp(weights[repeated]) <= 1e-9 * weights[repeated].min():
        return items
    pairs = np.stack([items.index[repeated], weights[repeated]], axis=1)
    pairs, index, times = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    counts, w = items.counts[pairs[:, 0].astype(np.int64)], pairs[:, 1]
    n = times * counts.sum(axis=1)
    place = np.full(len(repeated), -1)
    place[repeated] = index.reshape(-1)
    return replace(items, counts=counts, weights=times, index=place, sampling=w * (n @ w) / (n @ w**2))


@dataclass(frozen=True)
class Terms:
    """What each pattern (or item, or cluster) adds to the sums that alpha is made of, and how to read these sums.

    rows : (p, q) columns: n_uc n_uk / (m_u - 1) for every pair c < k at the ordinal level, and these times d_ck summed
    over pairs at the others; the same summed without d_ck; the marginals n_uc. The first kinds are multiplied by
    `scale`, which makes whole numbers of them, so that sums are exact without sampling weights.
    """

    rows: np.ndarray
    values: np.ndarray
    level: str
    scale: int

    def measures(self, sums: np.ndarray) -> dict[str, np.ndarray]:
        """alpha, D_o, D_e and raw agreement of k resamples from their (k, q) sums; NaN where undefined.

        At the ordinal level D_o and D_e are in squared shares of the n ranks (Krippendorff's, divided by n squared).
        Raw agreement is the mean over annotations of the share of the item's other annotations that are the same: the
        share of all pairs only where items have equally many.
        """
        pairs = sums.shape[1] - len(self.values) - 1
        apart, differing, n_c = sums[:, :pairs] / self.scale, sums[:, pairs] / self.scale, sums[:, pairs + 1 :]
        n = n_c.sum(axis=1)
        if self.level == "ordinal":
            rank = midranks(n_c)  # each resample has its own
            # by columns, each of which is one piece of memory where it matters: several times as fast as at once
            observed = 2 * sum(apart[:, i] * (rank[:, c] - rank[:, k]) ** 2 for i, (c, k) in enumerate(_pairs(rank)))
            first, second = (sum(n_c[:, j] * rank[:, j] ** e for j in range(len(self.values))) for e in (1, 2))
            expected = 2 * (n * second - first**2)
        else:
            observed = 2 * apart[:, 0]
            expected = np.sum((n_c @ distances(self.values, self.level)) * n_c, axis=1)
        expected = np.where(np.sum(n_c > _NONE * n[:, None], axis=1) > 1, expected, 0.0)
        return {
            "alpha": 1 - (n - 1) * observed / np.where(expected > 0, expected, np.nan),
            "observed": observed / n,
            "expected": expected / (n * (n - 1)),
            "raw_agreement": 1 - 2 * differing / n,
        }

    def binary_measures(self, sums: np.ndarray) -> dict[str, np.ndarray]:
        """Specific agreement and prevalence of a label with two values, the larger one counting as the mark.

        Specific agreement: of the pairs in which one annotator gives a value, the share in which the other does too
        (Cicchetti and Feinstein 1990; two annotators: 2a / (2a + b + c)).

        """
        differing, n_c = sums[:, -3] / self.scale, sums[:, -2:]
        n_0, n_1 = np.where(n_c > _NONE * n_c.sum(axis=1, keepdims=True), n_c, 0.0).T
        return {
            "positive_agreement": 1 - differing / n_1,
            "negative_agreement": 1 - differing / n_0,
            "prevalence": n_1 / (n_0 + n_1),
        }


def _pairs(columns: np.ndarray) -> Iterable[tuple[int, int]]:
    return combinations(range(columns.shape[1]), 2)


def terms(
    counts: np.ndarray,
    values: np.ndarray,
    level: str,
    *,
    mirrored: bool = False,
    sampling: np.ndarray | None = None,
) -> Terms:
    """Terms of value counts (p, v) at a level of measurement. sampling : (p,) as of `Patterns`.

    mirrored : also count every item with its values negated, as comparisons are that are stored in both orientations;
    both stay together in one row. `values` must then be symmetric about 0.
    """
    _check(values, level, mirrored)
    m = counts.sum(axis=1)
    scale = math.lcm(*np.unique(m - 1).tolist()) if m.max(initial=0) < 20 else 1  # 1: sums are no longer whole numbers
    c, k = np.triu_indices(len(values), 1)
    pairs = counts[:, c] * counts[:, k] * (scale / (m - 1))[:, None]
    total = pairs.sum(axis=1, keepdims=True)
    if level != "ordinal":
        pairs = pairs @ distances(values, level)[c, k][:, None]
    rows = np.concatenate([_whole(pairs), _whole(total), counts], axis=1)
    if mirrored:
        rows = rows + terms(counts[:, ::-1], values, level).rows
    return Terms(rows if sampling is None else rows * sampling[:, None], values, level, scale)


def _whole(numbers: np.ndarray) -> np.ndarray:
    """Rounded where all are whole up to rounding; as they are where not (the ratio level, values with decimals)."""
    rounded = np.round(numbers)
    off = np.abs(numbers - rounded)  # as `np.allclose`, without its overhead: called for thousands of samples
    return rounded if np.all(off <= 1e-9 + 1e-12 * np.abs(rounded)) else numbers


def _check(values: np.ndarray, level: str, mirrored: bool = False) -> None:
    if level not in LEVELS:
        raise ValueError(f"level: expected one of {', '.join(LEVELS)}, found {level!r}")
    if level == "ratio" and len(values) and values.min() < 0:
        raise ValueError(f"the ratio level needs values of 0 or more, found {values.min():g}")
    if mirrored and not np.array_equal(values, -values[::-1]):
        raise ValueError(f"mirrored: expected values symmetric about 0, found {values.tolist()}")


def distances(values: np.ndarray, level: str) -> np.ndarray:
    """Squared differences d_ck between values at the nominal, interval and ratio levels (Krippendorff 2011); of sets
    (numbers whose bits are what they hold) the MASI distance (Passonneau 2006, Measuring agreement on set-valued items,
    LREC): one minus the Jaccard index, times 2/3 where one holds the other and 1/3 where they only overlap.
    """
    a, b = values[:, None], values[None, :]
    if level == "sets":
        return _masi(a.astype(np.int64), b.astype(np.int64))
    if level == "nominal":
        return (a != b).astype(float)
    if level == "interval":
        return (a - b) ** 2
    total = np.where(a + b == 0, 1, a + b)  # 0 and 0 do not differ
    return ((a - b) / total) ** 2


def _masi(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    common, either = a & b, a | b
    jaccard = np.bitwise_count(common) / np.maximum(np.bitwise_count(either), 1)
    monotonic = np.where(a == b, 1.0, np.where((common == a) | (common == b), 2 / 3, np.where(common > 0, 1 / 3, 0.0)))
    return 1 - np.where(a == b, 1.0, jaccard * monotonic)


def midranks(n_c: np.ndarray) -> np.ndarray:
    """Mean rank of each value, from 0 to 1, for k resamples with marginals n_c (k, v).

    The ordinal metric, sum of n_g from c to k less half of n_c and n_k, is the distance of these times n.
    """
    rank, total, below = np.empty(n_c.shape, order="F"), n_c.sum(axis=1), np.zeros(len(n_c))
    for j in range(n_c.shape[1]):
        rank[:, j] = (below + n_c[:, j] / 2) / total
        below = below + n_c[:, j]
    return rank
