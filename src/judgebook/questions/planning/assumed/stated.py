"""Designs where somebody says how scores vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

from judgebook.model.designs import chance, fewest

#: agreements that are gone through where none is stated, and annotators per dialogue
AGREEMENTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
PER_DIALOGUE = (1, 2, 3)


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
    sd: float = nan,
    rate: float | None = None,
    agreement: float | None = None,
    annotators: int | None = None,
    systems: int = 2,
    power: float = 0.8,
) -> Sizes:
    """Dialogues per system that find `difference` with probability `power`, of all pairs of systems at once, by
    agreement and annotators per dialogue: those that are stated, else several.

    sd : standard deviation of one annotator's scores of dialogues of a system. rate : instead of it, the share of
    dialogues of the first system that one annotator marks. agreement : correlation of the scores that two annotators
    give to the same dialogues of a system.
    """
    per_dialogue = PER_DIALOGUE if annotators is None else (annotators,)
    agreements = (1.0,) if max(per_dialogue) == 1 else AGREEMENTS
    agreements = agreements if agreement is None else (agreement,)
    of_two = 2 * sd**2 if rate is None else sum(p * (1 - p) for p in (rate, rate + difference))

    def needed(together: float, each: int) -> int | None:
        of_values = of_two * (together + (1 - together) / each)
        return fewest(lambda n: bool(chance(difference, sqrt(of_values / n), systems * (n - 1), systems) >= power))

    return Sizes(agreements, per_dialogue, [[needed(r, m) for m in per_dialogue] for r in agreements])
