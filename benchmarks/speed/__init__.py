"""What `benchmark.py` times: analyses of ours beside what computes the same, one module for each kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

#: resamples unless stated otherwise
K = 10_000
#: numbers that a careful user holds at once while resampling
AT_ONCE = 20_000_000


@dataclass(frozen=True)
class Peer:
    """Another way to the same result.

    agrees : whether results of ours and theirs are the same, as far as they can be. scale : theirs is 1 / `scale` of
    the work, and its time is multiplied. package : what must be installed, besides what ours needs. differs : in what
    it is not the same work. wins : why ours is not 1.5 times as fast.
    """

    name: str
    work: Callable[[], Any]
    agrees: Callable[[Any, Any], bool]
    scale: float = 1.0
    package: str = ""
    differs: str = ""
    wins: str = ""


@dataclass(frozen=True)
class Case:
    name: str
    work: Callable[[], Any]
    peers: Sequence[Peer] = field(default_factory=list)


def close(ours: Any, theirs: Any, tolerance: float = 1e-6) -> bool:
    """Whether two (arrays of) estimates are equal."""
    return bool(np.allclose(ours, theirs, rtol=tolerance, atol=tolerance))


def same_interval(ours: Any, theirs: Any) -> bool:
    """Whether (estimate, low, high) have the same estimate, and ends that differ as those of other resamples do."""
    (estimate, low, high), (other, *ends) = np.asarray(ours, float), np.asarray(theirs, float)
    near = np.abs(np.array(ends) - [low, high]) < 0.15 * (high - low)
    return close(estimate, other) and bool(near.all())


def resampled(rows: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], seed: int = 1) -> tuple[float, ...]:
    """Estimate and BCa interval as a careful user of NumPy would write them: all resamples in a few array operations.

    rows : (units, q), whose sums a statistic is made from. statistic : (k, q) sums to (k,).
    """
    n, rng, values = len(rows), np.random.default_rng(seed), []
    for start in range(0, K, step := max(1, AT_ONCE // n)):
        k = min(step, K - start)
        drawn = rng.integers(0, n, (k, n)) + n * np.arange(k)[:, None]
        values.append(statistic(np.bincount(drawn.ravel(), minlength=k * n).reshape(k, n) @ rows))
    total = rows.sum(axis=0)
    return bca(statistic(total[None])[0], np.concatenate(values), statistic(total - rows))


def bca(estimate: float, values: np.ndarray, without: np.ndarray, confidence: float = 0.95) -> tuple[float, ...]:
    """Estimate and BCa interval from (K,) resampled values and (n,) values without each unit."""
    apart = without.mean() - without
    acceleration = np.sum(apart**3) / (6 * np.sum(apart**2) ** 1.5)
    bias = ndtri(np.mean(values < estimate) + np.mean(values == estimate) / 2)
    z = bias + ndtri(np.array([1 - confidence, 1 + confidence]) / 2)
    low, high = np.quantile(values, ndtr(bias + z / (1 - acceleration * z)))
    return float(estimate), float(low), float(high)
