"""How should a budget be split between people, who judge some dialogues, and a model, which judges all of them? What
it buys, and whether the model helps.

People judge n of the N dialogues of a system, m of them each; a model judges all N. A dialogue's value by people varies
around the mean of its system by V(m) = a + b / m; E of that is explained by the model's scores, whatever m, as these
know nothing of what annotators disagree about. The variance of the corrected mean (`judges.prediction_powered`), the
regression estimator of double sampling, is

    (V(m) - E) / n + E / N.

A dialogue costs d, a model's judgement of it c, and a person's p. Within a budget B = N (d + c) + n m p this is least
for n / N = sqrt((V - E) (d + c) / (E m p)), at most 1. People alone have V(m) / n with B = n (d + m p). With d = 0 a
model saves something where E / V > 4 x / (1 + x)^2, x = c / (m p): never if it explains nothing, nor if it costs as
much as people.

One design serves all labels of a method, as each judgement gives them all: the split of least variance on average
over labels, each relative to its own (`pooled`). What a model explains is known from the pilot with an interval; at its
lower end the same design may be less precise than people alone, who cost less than people and a model. A model is
recommended where it gains enough (`planning.least_gain`) and gains even there.

References
----------
Neyman 1938, Journal of the American Statistical Association 33, 101-116 (double sampling). Cochran 1977, Sampling
Techniques, third edition, sections 12.6 and 12.7. Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382,
669-674. Angelopoulos, Duchi and Zrnic 2023, PPI++, arXiv:2311.01453.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np

from judgebook.questions.judges.prediction_powered import ASSISTED, HUMAN
from judgebook.questions.planning.pilot_study import Judged, Pilot, PlanningInput
from judgebook.questions.planning.question import Planning
from judgebook.study.labels import METHODS

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


def budget_rows(data: PlanningInput, options: Planning, budgets: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """What each model whose cost is stated adds to each method within its budget (`budgets`; methods without one are
    left out).

    Yields, with `budget` and the judge as `metric`: `split_dialogues`, that people and the model judge (`judged_by`),
    alone and together (`raters`), `split_gain` and `split_helps`.
    """
    for method, budget in budgets.items():
        prices, own = data.prices.get(method), {p.label: p for p in data.pilots if p.method == method}
        for judge in dict.fromkeys(j.judge for j in data.judged if j.method == method):
            labels = [j for j in data.judged if (j.method, j.judge) == (method, judge) and j.label in own]
            cost = data.judge_costs.get(judge, data.judge_costs.get("*"))
            if prices is None or not labels or cost is None:
                continue
            pilots = [own[j.label] for j in labels]
            pairwise, n, hour = pilots[0].pairwise, data.n_systems, prices.hourly_rate / 60
            talked = (prices.minutes_per_dialogue or 0.0) * hour * (2 if pairwise else 1)
            tariff = Tariff(talked, prices.minutes_per_judgement * hour, cost)
            twice = all(p.judged_twice for p in pilots)
            each = [m for m in options.per_dialogue if m <= (options.annotators or m)] if twice else [1]
            spreads = [
                pooled(_spread(p, j, data, end) for p, j in zip(pilots, labels, strict=True)) for end in range(3)
            ]
            bought = designs(spreads[0], tariff, budget / (n * (n - 1) / 2 if pairwise else n), each, options.pool)
            head = {"method": method, "metric": judge, "level": METHODS[method].unit, "budget": budget}
            yield from (head | row for row in _rows(*bought, spreads, options.least_gain))


def designs(
    spread: Spread, tariff: Tariff, budget: float, annotators: Sequence[int], pool: int | None
) -> tuple[Split | None, Split | None]:
    """The best of people alone and of people and the model; None where the budget is too small.

    budget : for one system (of comparisons, one pair). annotators : numbers per dialogue that are considered. pool :
    `planning.pool`.
    """
    most = pool or inf
    alone = best((people_alone(tariff, budget, m, most=most) for m in annotators), spread)
    return alone, best((best_split(spread, tariff, budget, m, most=most) for m in annotators), spread)


def _spread(pilot: Pilot, judged: Judged, data: PlanningInput, end: int) -> Spread:
    """Variances of one system's part in a difference. end : 0 for the estimate of what the model explains, 1 and 2 for
    the ends of its interval; without one, nothing and the estimate."""
    same, each = pilot.variances(paired=data.paired)
    share = judged.share
    low, high = (share.low, share.high) if np.isfinite([share.low, share.high]).all() else (0.0, share.estimate)
    return Spread(same, each).with_share((share.estimate, low, high)[end], judged.annotators if each else 1.0)


def _rows(
    alone: Split | None, both: Split | None, spreads: Sequence[Spread], least_gain: float
) -> Iterator[dict[str, Any]]:
    for raters, split in ((HUMAN, alone), (ASSISTED, both)):
        row: dict[str, Any] = {"statistic": "split_dialogues", "raters": raters, "judged_by": "people"}
        if split is None:
            yield row | {"estimate": np.nan, "note": "the budget is too small"}
            continue
        row["annotators_per_dialogue"] = split.annotators
        yield row | {"estimate": split.n}
        if split.pool:
            yield row | {"judged_by": "model", "estimate": split.pool}
    if alone and both:
        gains = [gain(both, alone, spread) for spread in spreads]
        yield {"statistic": "split_gain"} | _ends(gains)
        yield {"statistic": "split_helps"} | helps(gains[0], gains[1], least_gain)
    elif alone:
        yield {"statistic": "split_helps", "estimate": 0.0, "note": "too few dialogues for people and a model"}


def helps(estimate: float, low: float, least: float) -> dict[str, Any]:
    """Whether a model is recommended: 1, 0, or missing where the pilot cannot tell."""
    if estimate < least:
        return {"estimate": 0.0, "note": f"a gain below {least:g}"}
    if low < 1:
        return {"estimate": np.nan, "note": "the interval of the gain includes a loss"}
    return {"estimate": 1.0}


def _ends(values: Sequence[float]) -> dict[str, Any]:
    """Values at the estimate of what the model explains, and at the ends of its interval; without these where they are
    the same: a model that explains nothing, or all that dialogues can differ by, has no interval."""
    if np.ptp(values) <= 1e-12:
        note = "the model explains nothing, or all that it can: this has no interval"
        return {"estimate": values[0], "ci_kind": "not_estimable", "note": note}
    return {"estimate": values[0], "ci_low": min(values), "ci_high": max(values), "ci_kind": "bca"}
