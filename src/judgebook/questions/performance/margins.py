"""By how much the first system of a ranking leads, with intervals that agree with those of its ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from judgebook.statistics.clusters import LEAST_DF
from judgebook.statistics.multiplicity import simultaneous_t


def leads(
    estimate: np.ndarray, errors: np.ndarray, df: np.ndarray | float, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(m,) lead of the first system over each, and the ends of its interval; the lead over itself is 0, without ends.

    Intervals hold simultaneously for all pairs of systems, not only for those with the first, which the data chose. One
    excludes 0 where, and only where, `ranking.rank_intervals` takes the system to be worse than the first.

    Parameters
    ----------
    estimate : (m,)
        The value of each system, more being better; of equal ones the first in order leads.
    errors, df : (pairs,)
        Of differences, in the order of `itertools.combinations`. Ends are NaN where the error is missing or 0, or has
        too few degrees of freedom.

    Examples
    --------
    >>> lead, low, high = leads(np.array([1.0, 3.0]), np.array([0.5]), 20.0, 0.95)
    >>> lead.tolist(), low.round(2).tolist(), high.round(2).tolist()
    ([2.0, 0.0], [0.96, nan], [3.04, nan])
    """
    m = len(estimate)
    none = np.full(m, np.nan)
    if not np.isfinite(estimate).all():
        return none, none, none
    first, (i, j) = int(np.argmax(estimate)), np.triu_indices(m, 1)
    lead = estimate[first] - estimate
    degrees = np.broadcast_to(np.asarray(df, float), errors.shape)
    usable = np.isfinite(errors) & (errors > 0) & (degrees >= LEAST_DF)
    half = np.where(usable, simultaneous_t(np.where(usable, degrees, np.nan), len(i), confidence) * errors, np.nan)
    of_first, other = (i == first) | (j == first), np.where(i == first, j, i)
    width = none.copy()
    width[other[of_first]] = half[of_first]
    return lead, lead - width, lead + width


def lead_row(lead: np.ndarray, reason: str) -> dict[str, Any]:
    """lead : the estimate and its ends, of `margins.leads`. reason : why ranks have no intervals; else empty."""
    estimated = not reason and np.isfinite(lead[1:]).all()
    ends = dict(zip(("ci_low", "ci_high"), lead[1:] if estimated else (np.nan, np.nan), strict=True))
    return {"estimate": lead[0], **ends, "ci_kind": "simultaneous" if estimated else None, "note": reason or None}
