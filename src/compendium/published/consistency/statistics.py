"""Correlations of printed columns, a test and the power of printed numbers, with all that rounding allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod

import numpy as np
from scipy.stats import rankdata

from compendium.published.consistency.cells import Range

#: more ways to order ties than this are not gone through
MOST_ORDERS = 5_000
#: room for floating-point error in a correlation, far below any printed decimal
EPS = 1e-12
NOTHING = Range(1.0, -1.0)


@dataclass(frozen=True)
class Bounds:
    """`inner`: correlations that were reached, hence possible. `outer`: no correlation beyond these is possible."""

    inner: Range
    outer: Range


def pearson(x: Sequence[Range], y: Sequence[Range]) -> Bounds:
    """Pearson correlations that values rounded to the printed columns can have.

    Seen as vectors of deviations from their means, r is the cosine of an angle. Rounding moves each vector by at most
    the length of the half widths, hence turns it by at most asin(length / length of the vector); the outer bound adds
    both turns to the angle between the printed columns. The inner bound is reached by moving every value to the end of
    its range that raises (lowers) r, again and again; all r between are possible, because r is continuous.
    Checked against `scipy.stats.pearsonr` of random values inside the ranges. Columns that rounding alone could have
    made constant give an inner bound that is empty and an outer one of -1 to 1.
    """
    (x0, hx), (y0, hy) = _middle(x), _middle(y)
    turn = 0.0
    for values, half in ((x0, hx), (y0, hy)):
        length, most = np.linalg.norm(values - values.mean()), np.linalg.norm(half)
        if length <= most + EPS:
            return Bounds(NOTHING, Range(-1.0, 1.0))
        turn += np.arcsin(most / length)
    angle = np.arccos(np.clip(_r(x0, y0), -1, 1))
    outer = np.cos([min(angle + turn, np.pi), max(angle - turn, 0.0)])
    inner = [_climb(x0, hx, y0, hy, sign) for sign in (-1, 1)]
    return Bounds(Range(*inner), Range(float(outer[0]) - EPS, float(outer[1]) + EPS))


def _middle(ranges: Sequence[Range]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.array([[float(r.low), float(r.high)] for r in ranges])
    return ends.mean(axis=1), (ends[:, 1] - ends[:, 0]) / 2


def _unit(values: np.ndarray) -> np.ndarray:
    centred = values - values.mean()
    return centred / np.linalg.norm(centred)


def _r(x: np.ndarray, y: np.ndarray) -> float:
    return float(_unit(x) @ _unit(y))


def _climb(x0: np.ndarray, hx: np.ndarray, y0: np.ndarray, hy: np.ndarray, sign: int) -> float:
    """The largest (sign 1) or smallest (sign -1) r found by moving to the ends that the gradient points to."""
    x, y, best = x0, y0, _r(x0, y0)
    while True:
        u, v = _unit(x), _unit(y)
        x, y = x0 + sign * hx * np.sign(v - (u @ v) * u), y0 + sign * hy * np.sign(u - (u @ v) * v)
        r = _r(x, y)
        if sign * r <= sign * best + EPS:
            return best
        best = r


def spearman(x: Sequence[Range], y: Sequence[Range]) -> Bounds | None:
    """Spearman correlations that values rounded to the printed columns can have; None where there are too many orders.

    Rounding keeps the order of values that are printed differently. Values printed alike may have been in any order, or
    equal: all such orders are gone through, so that both bounds are the same. Checked against `scipy.stats.spearmanr`.
    None also where ranges overlap without being equal, and where a column may be constant.
    """
    orders = [_rankings(x), _rankings(y)]
    if not all(orders) or prod(len(o) for o in orders) > MOST_ORDERS:
        return None
    values = [_r(a, b) for a, b in product(*orders)]
    reach = Range(min(values) - EPS, max(values) + EPS)
    return Bounds(reach, reach)


def _rankings(values: Sequence[Range]) -> list[np.ndarray]:
    """All rankings that printed values allow; empty where they are too many or cannot be determined."""
    levels = sorted(set(values), key=lambda r: r.low)
    overlap = any(a.high > b.low for a, b in pairwise(levels))
    places = [[i for i, v in enumerate(values) if v == level] for level in levels]
    # a value of a rounded range can lie anywhere in it; equal numbers that were not rounded are equal
    free = [range(len(at)) if level.width else range(1) for at, level in zip(places, levels, strict=True)]
    ways = prod(len(f) ** len(at) for f, at in zip(free, places, strict=True))
    if overlap or len(levels) < 2 or ways > MOST_ORDERS:
        return []
    out = {}
    for offsets in product(*(product(f, repeat=len(at)) for f, at in zip(free, places, strict=True))):
        keys = np.empty(len(values))
        for height, (at, offset) in enumerate(zip(places, offsets, strict=True)):
            keys[at] = height + np.array(offset) / (len(at) + 1)
        ranks = rankdata(keys)
        out[tuple(ranks)] = ranks
    return list(out.values())


def homogeneity(shares: Sequence[Range], n: Sequence[int]) -> tuple[float, int]:
    """Largest p-value of the hypothesis that parts of one random split have the same share, and the odd part.

    shares : of parts of a split, from 0 to 1; or means of scores from 0 to 1, whose variance is at most
    m (1 - m) (Bhatia and Davis 2000), so that the p-value is too large rather than too small.
    n : sizes of the parts.

    Pearson's chi-squared with every deviation made smaller by as much as rounding allows, and with the largest variance
    that rounding allows. Checked against `scipy.stats.chi2_contingency`, and by simulation: never too small on average.
    """
    from scipy.stats import chi2

    sizes = np.asarray(n, float)
    low, high = (np.array([float(getattr(s, end)) for s in shares]) for end in ("low", "high"))
    middle, half = (low + high) / 2, (high - low) / 2
    pooled, slack = sizes @ middle / sizes.sum(), sizes @ half / sizes.sum()
    deviation = np.clip(np.abs(middle - pooled) - half - slack, 0, None)
    near_half = float(np.clip(0.5, pooled - slack, pooled + slack))  # where m (1 - m) is largest
    terms = sizes * deviation**2 / max(near_half * (1 - near_half), 1e-300)
    return float(chi2.sf(terms.sum(), len(sizes) - 1)), int(np.argmax(terms))


def power(test: str, effect: Range, n: int, alpha: float) -> Range:
    """Power of a two-sided test for effects in the range; it rises with the effect.

    test : `t`, of two independent groups of n each and Cohen's d; or `f`, of a regression of n cases on one predictor
    and Cohen's f. Checked against the noncentral distributions of scipy and R's `power.t.test`.

    Raises ValueError for another test.
    """
    from statsmodels.stats.power import FTestPower, TTestIndPower

    def at(size: float) -> float:
        if test == "t":
            return float(TTestIndPower().power(size, n, alpha))
        if test == "f":
            # statsmodels names the degrees of freedom the other way round; ncc=1: noncentrality is f² n
            return float(FTestPower().power(size, df_num=n - 2, df_denom=1, alpha=alpha, ncc=1))
        raise ValueError(f"test: expected t or f, found {test!r}")

    return Range(at(float(effect.low)), at(float(effect.high)))
