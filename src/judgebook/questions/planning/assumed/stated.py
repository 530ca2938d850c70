"""Designs where somebody says how scores vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgebook.questions.planning.designs import Plan, Prices, cheapest

#: agreements that are gone through where none is stated, and annotators per dialogue
AGREEMENTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
PER_DIALOGUE = (1, 2, 3)
#: without times, every judgement costs the same
_PRICES = Prices(0.0, 1.0, 60.0)


@dataclass(frozen=True)
class StatedVariances:
    """What stands in for a pilot (`designs.Variances`).

    agreement : correlation of the scores that two annotators give to the same dialogues of a system. sd : standard
    deviation of one annotator's scores of dialogues of a system. rate : instead of it, the share of dialogues of the
    first system that one annotator marks. pairwise : whether scores compare two systems; a mean is then that of a pair.
    """

    agreement: float
    sd: float = np.nan
    rate: float | None = None
    pairwise: bool = False

    label = ""
    items = 1.0
    values = shape = np.zeros(0)

    @property
    def step(self) -> float:
        """Between two scores that can be given; 0 for scores of which only the spread is known."""
        return 0.0 if self.rate is None else 1.0

    @property
    def widest(self) -> float:
        """No two systems differ by so much."""
        return np.inf if self.rate is None else max(self.rate, 1 - self.rate)

    def means(self, difference: float) -> tuple[float, ...]:
        """Of two systems, or of a pair; those of scores do not matter."""
        if self.pairwise:
            return (difference,)
        low = self.rate or 0.0
        return (low, low + difference)

    def at(self, mean: float) -> dict[str, float]:
        """Variances of one annotator's scores of a system with this mean. How strict annotators are, and what they like
        about one system, is in the residual, as is all else in which they differ."""
        total = self.sd**2 if self.rate is None else mean * (1 - mean)
        return {"dialogue": self.agreement * total, "residual": (1 - self.agreement) * total}


@dataclass(frozen=True)
class Sizes:
    """What is needed.

    agreements : of the rows. per_dialogue : annotators, of the columns. dialogues : rows of columns, per system; None
    where no number of dialogues is enough.
    """

    agreements: Sequence[float]
    per_dialogue: Sequence[int]
    dialogues: list[list[int | None]]


def sizes(
    difference: float,
    *,
    sd: float = np.nan,
    rate: float | None = None,
    agreement: float | None = None,
    annotators: int | None = None,
    systems: int = 2,
    power: float = 0.8,
    alpha: float = 0.05,
) -> Sizes:
    """Dialogues per system that find `difference` with probability `power`, of all pairs of systems, by agreement and
    annotators per dialogue: those that are stated, else several.

    The test is two-sided, of two independent means, and the pairs share alpha (Bonferroni).
    """
    tests = systems * (systems - 1) // 2
    per_dialogue = PER_DIALOGUE if annotators is None else (annotators,)
    agreements = (1.0,) if max(per_dialogue) == 1 else AGREEMENTS
    agreements = agreements if agreement is None else (agreement,)

    def needed(together: float, each: int) -> int | None:
        found = cheapest(
            StatedVariances(together, sd, rate), _PRICES, difference, annotators_per_dialogue=(each,),
            people=each * 1000, paired=False, tests=tests, n_systems=systems, wanted=power, alpha=alpha,
        )  # fmt: skip
        return found.n_dialogues if isinstance(found, Plan) else None

    return Sizes(agreements, per_dialogue, [[needed(r, m) for m in per_dialogue] for r in agreements])
