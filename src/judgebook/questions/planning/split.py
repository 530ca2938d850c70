"""How should a budget be split between people, who judge some dialogues, and a model, which judges all of them?

People judge n of the N dialogues of a system, m of them each; a model judges all N. A dialogue's value by people varies
around the mean of its system by V(m) = a + b / m; E of that is explained by the model's scores, whatever m, as these
know nothing of what annotators disagree about. The variance of the corrected mean (`judges.prediction_powered`), the
regression estimator of double sampling, is

    (V(m) - E) / n + E / N.

A dialogue costs d, a model's judgement of it c, and a person's p. Within a budget B = N (d + c) + n m p this is least
for n / N = sqrt((V - E) (d + c) / (E m p)), at most 1. People alone have V(m) / n with B = n (d + m p). With d = 0 a
model saves something where E / V > 4 x / (1 + x)^2, x = c / (m p): never if it explains nothing, nor if it costs as
much as people.

References
----------
Neyman 1938, Journal of the American Statistical Association 33, 101-116 (double sampling). Cochran 1977, Sampling
Techniques, third edition, sections 12.6 and 12.7. Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382,
669-674. Angelopoulos, Duchi and Zrnic 2023, PPI++, arXiv:2311.01453.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

#: dialogues of a system that people must judge for the formula, and for the weight of the model's labels
LEAST = 10
#: dialogues that a model judges for nothing, for each that people judge: still more would narrow nothing that shows
FREE = 100


@dataclass(frozen=True)
class Spread:
    """What the value of a dialogue varies by around the mean of its system.

    shared : whatever the number of annotators (a). each : of a single annotator's judgement in addition (b). explained
    : of `shared`, by the model (E).
    """

    shared: float
    each: float
    explained: float = 0.0

    def alone(self, annotators: int) -> float:
        """Variance of the mean of so many annotators (V)."""
        return self.shared + self.each / annotators

    def relative(self) -> Spread:
        """As shares of the variance of a value by one annotator."""
        one = self.alone(1)
        return Spread(self.shared / one, self.each / one, self.explained / one)

    def with_share(self, share: float, annotators: float) -> Spread:
        """The same where the model explains a share of the variance of values by so many annotators, on average; no
        more than `shared`, as it cannot explain what annotators disagree about."""
        explained = share * (self.shared + self.each / annotators)
        return replace(self, explained=min(max(explained, 0.0), self.shared))


def pooled(spreads: Iterable[Spread]) -> Spread:
    """Of several labels that the same judgements give: the mean of what each varies by relative to its own variance."""
    parts = [(s.shared, s.each, s.explained) for s in (x.relative() for x in spreads)]
    shared, each, explained = np.mean(parts, axis=0)
    return Spread(float(shared), float(each), float(explained))


@dataclass(frozen=True)
class Tariff:
    """What is paid for each dialogue of a system: to have it, for a person's judgement of it, for a model's."""

    dialogue: float
    person: float
    model: float


@dataclass(frozen=True)
class Split:
    """Dialogues of a system that people judge, those that the model judges (0: people alone), and annotators of a
    dialogue."""

    n: int
    pool: int
    annotators: int

    def variance(self, spread: Spread) -> float:
        """Of the mean of a system."""
        alone = spread.alone(self.annotators)
        return (alone - spread.explained) / self.n + spread.explained / self.pool if self.pool else alone / self.n

    def cost(self, tariff: Tariff) -> float:
        """For one system."""
        had = self.pool * (tariff.dialogue + tariff.model) if self.pool else self.n * tariff.dialogue
        return had + self.n * self.annotators * tariff.person


def people_alone(tariff: Tariff, budget: float, annotators: int, *, most: float = inf) -> Split | None:
    """As many dialogues as the budget pays for, `most` at most; None where these are fewer than two."""
    n = _whole(min(budget / (tariff.dialogue + annotators * tariff.person), most))
    return Split(n, 0, annotators) if n >= 2 else None


def best_split(spread: Spread, tariff: Tariff, budget: float, annotators: int, *, most: float = inf) -> Split | None:
    """The split of least variance within the budget for one system; None where it pays for fewer than LEAST dialogues
    that people and the model judge.

    most : dialogues of a system that there are.
    """
    dear, cheap = annotators * tariff.person, tariff.dialogue + tariff.model
    rest = spread.alone(annotators) - spread.explained
    ratio = sqrt(rest * cheap / (spread.explained * dear)) if spread.explained > 0 and dear > 0 else 1.0
    if cheap > 0:
        pool = budget / (cheap + min(ratio, 1.0) * dear)
    elif dear > 0:
        pool = FREE * budget / dear
    else:
        pool = most
    return within(tariff, budget, annotators, _whole(min(pool, most)))


def within(tariff: Tariff, budget: float, annotators: int, pool: int) -> Split | None:
    """The split with a model that judges so many dialogues of a system, and people as many of them as the rest pays
    for."""
    dear, left = annotators * tariff.person, budget - pool * (tariff.dialogue + tariff.model)
    n = _whole(min(left / dear, pool)) if dear > 0 else pool
    return Split(n, pool, annotators) if n >= LEAST else None


def _whole(number: float) -> int:
    """The whole number below, in spite of rounding."""
    return int(number * (1 + 1e-9))


def best(splits: Iterable[Split | None], spread: Spread) -> Split | None:
    """The one of least variance; of equal ones the first."""
    return min((s for s in splits if s), key=lambda s: s.variance(spread), default=None)


def gain(split: Split, alone: Split, spread: Spread) -> float:
    """How many times as many judgements by people alone would be as precise: variance of people alone within the
    budget, over that of the split."""
    return alone.variance(spread) / split.variance(spread)
