"""What effect sizes of pairs of systems are computed from, many samples of scores at once, and what is said of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Sample:
    """Scores of systems in each of k samples: their number, mean, and sum of squared deviations, (k, systems) each."""

    n: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def of(self, systems: np.ndarray) -> "Sample":
        return Sample(self.n[:, systems], self.mean[:, systems], self.squares[:, systems])


def samples(times: np.ndarray, kinds: pd.DataFrame, systems: list[str]) -> Sample:
    """Sample of the scores that are drawn `times` (k, kinds). kinds : `system` and `score`, a row each.

    Of scores that are all equal, rounding leaves no deviation.
    """
    mine = kinds["system"].to_numpy()[:, None] == np.array(systems, dtype=object)
    x = kinds["score"].to_numpy(float)[:, None]
    n, total, of_squares = times @ mine, times @ (mine * x), times @ (mine * x**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = of_squares - total**2 / n
        return Sample(n, total / n, np.where(squares <= 1e-12 * of_squares, 0.0, squares))


def at_once(systems: list[str]) -> int:
    """How many resamples of the effects of all pairs of systems fit a processor's cache."""
    return max(1, 200_000 // len(systems) ** 2)


def check(difference: float, packages: str) -> str:
    """What the largest difference from the same computed by other packages means."""
    return f"Largest difference from {packages}: {difference:.0e}{', not the same' if difference > 1e-9 else ''}."


def scales(rows: pd.DataFrame, effect_sizes: dict[str, tuple[Any, ...]]) -> str:
    """Which effect sizes rows have, as a caption says it. effect_sizes : keys -> names first."""
    return " or ".join(effect_sizes[e][0] for e in sorted(set(rows["effect"].dropna()))) or "value"
