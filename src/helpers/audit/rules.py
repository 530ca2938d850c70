"""Relations between printed numbers: pure functions on ranges.

A rule says "no" only when no values that are rounded to the printed numbers satisfy it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil, floor

from helpers.audit.ranges import Range, certain, possible


def grim(mean: Range, n: int) -> bool | None:
    """Whether some sum of `n` whole numbers has a mean in the range; None where every range so wide holds one.

    Brown and Heathers 2017, "The GRIM test", Social Psychological and Personality Science 8, 363-369: means of whole
    numbers are multiples of 1 / n. Checked by counting all sums of small n.
    """
    if n <= 0:
        raise ValueError(f"n: expected a positive number of ratings, found {n}")
    if mean.width * n >= 1:
        return None
    return floor(mean.high * n) >= ceil(mean.low * n)


def out_of_order(values: Sequence[Range], relation: str) -> list[int]:
    """Positions of values that cannot stand in the relation to the one before."""
    return [i + 1 for i, (before, value) in enumerate(pairwise(values)) if not possible(before, relation, value)]


def tally(pairs: Sequence[tuple[Range, Range]], relation: str) -> Range:
    """How many of the pairs stand in the relation: at least `low`, at most `high`."""
    sure = sum(certain(left, relation, right) for left, right in pairs)
    return Range(Fraction(sure), Fraction(sum(possible(left, relation, right) for left, right in pairs)))


def divided(total: int, parts: int) -> list[tuple[int, ...]]:
    """Every way to write `total` as a sum of so many positive whole numbers, order mattering."""
    cuts = combinations(range(1, total), parts - 1)
    return [tuple(b - a for a, b in zip((0, *c), (*c, total), strict=True)) for c in cuts]


def weights(
    means: Sequence[Range], columns: Sequence[Sequence[Range]], total: int
) -> list[tuple[tuple[int, ...], set]]:
    """Whole-number weights under which most of the means are weighted means of their columns.

    means : one a column. columns : of each column the values averaged, in one order. total : what the weights sum to.
    Gives every best choice of weights, each with the positions of the means that it does not fit.
    """
    found = []
    for choice in divided(total, len(columns[0])):
        fits = [possible(m, "==", weighted(column, choice)) for m, column in zip(means, columns, strict=True)]
        found.append((choice, {i for i, fit in enumerate(fits) if not fit}))
    fewest = min(len(missed) for _, missed in found)
    return [(choice, missed) for choice, missed in found if len(missed) == fewest]


def weighted(values: Sequence[Range], by: Sequence[int]) -> Range:
    """The mean of the values with fixed weights."""
    total = sum(by)
    return Range(*(sum(w * end for w, end in zip(by, ends, strict=True)) / total for ends in _ends(values)))


def _ends(values: Sequence[Range]) -> tuple[list, list]:
    return [v.low for v in values], [v.high for v in values]


def fixes(value: Range, decimals: int, exact: bool) -> bool:
    """Whether a recomputed range is narrow enough to determine a number printed with so many decimals.

    It must be narrower than one unit of the last decimal to either side; for a number that is not rounded, it must
    leave no other whole number.
    """
    unit = Fraction(1, 10**decimals)
    return value.width < (unit if exact else 2 * unit)
