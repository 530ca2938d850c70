"""How much more data would separate neighbours in a ranking that the present data do not.

The standard error of a difference falls with the root of the data, if units (prompts, sessions) and annotators grow in
proportion: more votes by the same people on the same prompts would not do. The difference is taken to be as estimated,
so this is a rough guide, and too optimistic for a pair that was selected because it looks far apart.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from judgebook.statistics.clusters import LEAST_DF
from judgebook.statistics.multiplicity import simultaneous_t

#: chance of separating a pair whose difference is as estimated
POWER = 0.8
#: times the data beyond which no number is given
MOST = 100


def neighbours(
    estimate: np.ndarray, errors: np.ndarray, df: np.ndarray, confidence: float = 0.95
) -> list[tuple[int, int, float]]:
    """Each two neighbours in the ranking, the better first, and how many times the present data would separate them.

    1 where they are separated; NaN where it would take more than MOST times the data, or where the error is unknown.

    Parameters
    ----------
    estimate : (m,)
        More being better. Without missing values.
    errors, df : (pairs,)
        Of differences, in the order of `itertools.combinations`; NaN, or too few degrees of freedom, where unknown.
    """
    m, order = len(estimate), np.argsort(-estimate, kind="stable")
    pair = np.zeros((m, m), dtype=int)
    pair[np.triu_indices(m, 1)] = np.arange(len(errors))
    out = []
    for a, b in pairwise(order):
        at = pair[min(a, b), max(a, b)]
        out.append((int(a), int(b), times(estimate[a] - estimate[b], errors[at], df[at], len(errors), confidence)))
    return out


def times(difference: float, error: float, df: float, n_pairs: int, confidence: float = 0.95) -> float:
    """How many times the data separate two systems with probability POWER; 1 if they are separated, NaN beyond MOST.

    The number f for which difference / error * sqrt(f) is the critical t of f times the clusters plus the normal
    quantile of POWER (Cohen 1988, Statistical Power Analysis, section 2.4).
    """
    if not (error > 0 and df >= LEAST_DF and difference > 0):
        return np.nan
    if difference > simultaneous_t(df, n_pairs, confidence) * error:
        return 1.0
    grid = np.geomspace(1, MOST, 2000)
    separated = difference / error * np.sqrt(grid) >= simultaneous_t((df + 1) * grid - 1, n_pairs, confidence) + ndtri(
        POWER
    )
    return float(grid[separated.argmax()]) if separated.any() else np.nan
