"""What dialogues and judgements take, and a design costs."""

from __future__ import annotations

from dataclasses import dataclass

from judgebook.model.designs import Design


@dataclass(frozen=True)
class Prices:
    """What a dialogue and a judgement take. minutes_per_dialogue : None, not counted, where they are not known.
    hourly_rate : in the study's currency."""

    minutes_per_dialogue: float | None
    minutes_per_judgement: float
    hourly_rate: float

    def hours(self, design: Design, pairwise: bool = False) -> float:
        """Hours of people's work: talking and judging."""
        pairs = design.systems * (design.systems - 1) / 2
        units = design.dialogues * (pairs if pairwise else design.systems)
        talked = units * (2 if pairwise else 1) * (self.minutes_per_dialogue or 0.0)
        return (talked + units * design.per_dialogue * self.minutes_per_judgement) / 60

    def cost(self, design: Design, pairwise: bool = False) -> float:
        """Money for these hours."""
        return self.hours(design, pairwise) * self.hourly_rate


#: of methods without times: every dialogue and judgement costs the same
UNPRICED = Prices(1.0, 1.0, 60.0)
