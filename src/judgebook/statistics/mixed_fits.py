"""What fits of mixed models have in common: random effects and shares of variance, and the search for the optimum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

#: searches, each from the best point of the one before, as rounding can end one early
SEARCHES = 3


@dataclass(frozen=True, kw_only=True)
class MixedFit:
    """A fitted model. All numbers are missing (NaN) where the optimiser did not converge.

    shares : (f + 1,) of the factors and, last, of the residual in the total variance; share_low, share_high : ends of
    their intervals (NaN where not asked for). effects : per factor the (levels,) predicted effects, shrunken towards 0;
    effect_se : their errors; total_se : those of the effect with the common level of all scores. pooled, pooled_se :
    (levels,) effect and common level of one factor, averaged over its variance, and the errors.
    """

    shares: np.ndarray
    share_low: np.ndarray
    share_high: np.ndarray
    effects: list[np.ndarray]
    effect_se: list[np.ndarray]
    total_se: list[np.ndarray]
    converged: bool
    pooled: np.ndarray | None = None
    pooled_se: np.ndarray | None = None


@dataclass(frozen=True)
class Point:
    """A point that a search has tried: value, what is searched over, the parameters that follow, slope of the value."""

    value: float
    free: np.ndarray
    parameters: np.ndarray
    slope: np.ndarray


def search(
    evaluate: Callable[[np.ndarray], Point],
    start: np.ndarray,
    limits: Sequence[tuple[float, float]],
    settles: Callable[[Point], bool],
    *,
    precision: float,
    gradient: float,
    most_calls: int = 15_000,
) -> tuple[Point, bool]:
    """The lowest point tried, and whether it settles the search. A start of which nothing is free does.

    settles : whether a point is an optimum. precision : relative change of the value at which a search ends; gradient :
    slope at which it does. most_calls : of `evaluate`, in one search.
    """
    # a search that starts at the optimum may end elsewhere; without an offset, changes relative to the value would grow
    # with the number of scores
    best = evaluate(start)
    offset, settled = best.value, len(start) == 0

    def objective(free: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        point = evaluate(free.copy())
        if point.value < best.value:
            best = point
        return point.value - offset, point.slope.copy()

    for _ in range(SEARCHES if np.isfinite(offset) and not settled else 0):
        optimize.minimize(
            objective,
            best.free,
            jac=True,
            method="L-BFGS-B",
            bounds=limits,
            options={"maxiter": 500, "maxfun": most_calls, "ftol": precision, "gtol": gradient},
        )
        if settled := settles(best):
            break
    return best, settled
