"""Which annotators lie outside the others: the generalised extreme Studentised deviate (ESD) test.

Good annotators differ, too. An annotator is therefore not compared with a fixed limit, nor with the hypothesis that
all are alike, but with the spread of the others: with the largest deviation that so many values from one normal
distribution have. Several outliers, which inflate the spread and so hide each other, are taken out one after the other.

References
----------
Rosner 1983, Technometrics 25, 165-172.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import stdtr

from judgebook.statistics.intervals import generator

#: fewer values have no spread that an outlier could stand out from
MIN_VALUES = 5
#: largest share of outliers that is looked for
MOST = 0.25
SIDES = ("both", "high", "low")
#: with fewer values Rosner's limits are exceeded too often, because each step has the full level: see `_calibrated`
ROSNER_FROM = 40
#: samples of normal values for calibration; of the smallest p-values, fewer than TAIL are extrapolated
SAMPLES, TAIL = 40_000, 100


def esd(values: np.ndarray, side: str = "both") -> np.ndarray:
    """p-value of each value, adjusted for the number of values; 1 for those that are not among the most extreme.

    Parameters
    ----------
    values : (n,)
        One for each annotator; missing ones stay missing and do not count.
    side : {"both", "high", "low"}
        Which values can be outliers.

    Returns
    -------
    (n,) p-values: with values of one normal distribution the smallest is below p in about a share of p of samples. NaN
    with fewer than `MIN_VALUES` values, or if these are all equal.

    Notes
    -----
    Rosner's test finds as many outliers as the last of the deviates R_1, R_2, … that exceeds its limit; the p-value of
    the i-th value taken out is therefore the least one of R_i, R_i+1, …. With fewer than `ROSNER_FROM` values, the
    p-value is the share of samples of as many normal values whose least one is not larger.
    """
    if side not in SIDES:
        raise ValueError(f"side: expected one of {', '.join(SIDES)}, found {side!r}")
    values = np.asarray(values, dtype=float)
    out = np.full(len(values), np.nan)
    finite = np.flatnonzero(np.isfinite(values))
    if len(finite) < MIN_VALUES or np.ptp(values[finite]) == 0:
        return out
    p, taken = (x[0] for x in _steps(values[finite][None, :], side))
    p = np.minimum.accumulate(p[::-1])[::-1]
    out[finite] = 1.0
    out[finite[taken]] = _calibrated(p, len(finite), side) if len(finite) < ROSNER_FROM else p
    return out


def _steps(x: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
    """(samples, steps) p-values of the most extreme values of (samples, n), taken out one after the other, and their
    places."""
    rows, n = np.arange(len(x)), x.shape[1]
    places, p, taken = np.tile(np.arange(n), (len(x), 1)), [], []
    for size in range(n, n - max(1, int(MOST * n)), -1):
        deviate = x - x.mean(axis=1, keepdims=True)
        sd = np.sqrt(np.square(deviate).sum(axis=1, keepdims=True) / (size - 1))
        deviate /= np.where(sd > 0, sd, np.inf)
        signed = {"both": np.abs(deviate), "high": deviate, "low": -deviate}[side]
        at = signed.argmax(axis=1)
        p.append(_p_value(signed[rows, at], size, two_sided=side == "both"))
        taken.append(places[rows, at])
        stays = np.ones(x.shape, dtype=bool)
        stays[rows, at] = False
        x, places = (a[stays].reshape(len(rows), size - 1) for a in (x, places))
    return np.stack(p, axis=1), np.stack(taken, axis=1)


def _calibrated(p: np.ndarray, n: int, side: str) -> np.ndarray:
    """Shares of samples of n normal values whose least p-value is not larger than p; in proportion to p below the
    TAIL-th smallest of SAMPLES."""
    least = _least(n, "high" if side == "low" else side)
    share = np.searchsorted(least, p, side="right") / len(least)
    return np.where(p >= least[TAIL - 1], share, p * TAIL / (len(least) * least[TAIL - 1]))


@lru_cache(maxsize=64)
def _least(n: int, side: str) -> np.ndarray:
    """(SAMPLES,) least p-values of samples of n normal values, in order."""
    return np.sort(_steps(generator(0, "esd", str(n), side).normal(size=(SAMPLES, n)), side)[0].min(axis=1))


def _p_value(deviate: np.ndarray, n: int, *, two_sided: bool) -> np.ndarray:
    """Bonferroni's bound for the largest Studentised deviate of n values (equation 2.5, solved for the level)."""
    rest = (n - 1) ** 2 / n - np.square(deviate)
    t = np.where(rest > 0, deviate * np.sqrt((n - 2) / np.where(rest > 0, rest, 1.0)), np.inf)
    return np.minimum(1.0, (1 + two_sided) * n * stdtr(n - 2, -t))
