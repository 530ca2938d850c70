"""How much is simulated, and the result rows of a simulation: shares and means with their Monte Carlo error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgebook.statistics.intervals import exact_binomial, generator

#: a result row
Row = dict[str, Any]


@dataclass(frozen=True)
class SimulationPlan:
    """Runs (simulated samples), bootstrap resamples of each, the seed, and the confidence level."""

    n_runs: int = 2000
    n_resamples: int = 1000
    seed: int = 1
    confidence: float = 0.95

    def rng(self, *names: str) -> np.random.Generator:
        """The random numbers of one part of the simulation, which do not depend on the other parts."""
        return generator(self.seed, "operating", *names)


def shared_out(n_runs: int, n_parts: int) -> list[int]:
    """Runs of each of several parts: as equal as possible, `n_runs` in total."""
    return [n_runs // n_parts + (i < n_runs % n_parts) for i in range(n_parts)]


def share(statistic: str, hits: int, n: int) -> Row:
    """A share of n runs with its exact binomial interval."""
    if not n:
        return {"statistic": statistic, "estimate": np.nan, "n": 0, "note": "no run gave an interval"}
    low, high = exact_binomial(hits, n)
    result = {"estimate": hits / n, "ci_low": low, "ci_high": high, "ci_kind": "exact", "resample_unit": "run"}
    return {"statistic": statistic, "n": n} | result


def mean(statistic: str, values: np.ndarray) -> Row:
    """The mean of one value per run with its normal 95% interval."""
    if len(values) < 2:
        return {"statistic": statistic, "estimate": np.nan, "n": len(values), "note": "no run gave an interval"}
    estimate, half = float(np.mean(values)), 1.96 * float(np.std(values, ddof=1)) / np.sqrt(len(values))
    result = {"ci_low": estimate - half, "ci_high": estimate + half, "ci_kind": "monte_carlo", "resample_unit": "run"}
    return {"statistic": statistic, "n": len(values), "estimate": estimate} | result


def coverage_rows(
    intervals: Mapping[str, np.ndarray], truth: float | np.ndarray, base: Row, *, power: bool = False
) -> list[Row]:
    """Coverage, mean width and (if asked for) power of the intervals of many samples.

    Parameters
    ----------
    intervals : kind of interval -> (r, 2) array of its ends in r samples, missing where a sample has no interval
    truth : float or (r,) array
        The population value.
    base : what else identifies the rows
    power : add `interval_power`, the share of intervals that exclude 0.

    Returns
    -------
    Rows of `interval_coverage`, `interval_width` and `interval_power`. `n` counts the samples with an interval,
    `n_undefined` those without.
    """
    out = []
    slack = 1e-9 * np.maximum(1.0, np.abs(truth))
    for kind, ends in intervals.items():
        low, high = ends.T
        finite = np.isfinite(low) & np.isfinite(high)
        hits = finite & (low <= truth + slack) & (truth - slack <= high)
        results = [share("interval_coverage", int(hits.sum()), int(finite.sum()))]
        results.append(mean("interval_width", (high - low)[finite]))
        if power:
            results.append(share("interval_power", int(np.sum(finite & ((low > 0) | (high < 0)))), int(finite.sum())))
        out += [base | {"interval": kind, "n_undefined": int(np.sum(~finite))} | row for row in results]
    return out
