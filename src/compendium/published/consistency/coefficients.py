"""What a correlation of two printed columns can have been before rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod

import numpy as np
from scipy.stats import rankdata

from compendium.published.consistency.ranges import Range

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
