"""How much is simulated, and the result rows of a simulation: shares and means with their Monte Carlo error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from judgebook.statistics.intervals import exact_binomial, generator

#: a result row
Row = dict[str, Any]


@dataclass(frozen=True)
class SimulationPlan:
    """Runs (simulated samples), bootstrap resamples of each, the seed, and the confidence level."""

    n_runs: int = 200
    n_resamples: int = 1000
    seed: int = 1
    confidence: float = 0.95

    def rng(self, *names: str) -> np.random.Generator:
        """The random numbers of one part of the simulation, which do not depend on the other parts."""
        return generator(self.seed, "operating", *names)


def share(statistic: str, hits: np.ndarray) -> Row:
    """The share of runs with a hit, with its exact binomial interval; runs that are missing do not count."""
    n, lost = int(np.isfinite(hits).sum()), {"n_undefined": int(np.isnan(hits).sum())}
    if not n:
        return {"statistic": statistic, "estimate": np.nan, "n": 0, "note": "no run gave an interval"} | lost
    low, high = exact_binomial(found := int(np.nansum(hits)), n)
    result = {"estimate": found / n, "ci_low": low, "ci_high": high, "ci_kind": "exact", "resample_unit": "run"}
    return {"statistic": statistic, "n": n} | result | lost


def mean(statistic: str, values: np.ndarray) -> Row:
    """The mean of one value per run with its normal 95% interval; runs that are missing do not count."""
    known, lost = values[np.isfinite(values)], {"n_undefined": int(np.isnan(values).sum())}
    if len(known) < 2:
        return {"statistic": statistic, "estimate": np.nan, "n": len(known), "note": "no run gave an interval"} | lost
    estimate, half = float(np.mean(known)), 1.96 * float(np.std(known, ddof=1)) / np.sqrt(len(known))
    result = {"ci_low": estimate - half, "ci_high": estimate + half, "ci_kind": "monte_carlo", "resample_unit": "run"}
    return {"statistic": statistic, "n": len(known), "estimate": estimate} | result | lost
