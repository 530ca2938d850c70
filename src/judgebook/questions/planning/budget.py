"""What a budget buys where a model judges beside people: the best split, its intervals, and whether the model helps.

One design serves all labels of a method, as each judgement gives them all: the split of least variance on average
over labels, each relative to its own (`split.pooled`). What a model explains is known from the pilot with an interval;
at its lower end the same design may be less precise than people alone, who cost less than people and a model. A model
is recommended where it gains enough (`planning.least_gain`) and gains even there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from judgebook.questions.judges.prediction_powered import ASSISTED, HUMAN
from judgebook.questions.planning.judged import Judged
from judgebook.questions.planning.pilot_study import Pilot, PlanningInput
from judgebook.questions.planning.question import Planning
from judgebook.questions.planning.split import (
    Split,
    Spread,
    Tariff,
    best,
    best_split,
    gain,
    people_alone,
    pooled,
)
from judgebook.study.labels import METHODS


@dataclass(frozen=True)
class Team:
    """People and one model on the labels of a method that the model judged in the pilot.

    spreads : of each label, as the pilot has it; low and high at the ends of the interval of what the model explains.
    budget, tariff : for one system (of comparisons, one pair). annotators : numbers per dialogue that are considered.
    """

    method: str
    judge: str
    labels: list[Judged]
    spreads: list[Spread]
    low: list[Spread]
    high: list[Spread]
    tariff: Tariff
    budget: float
    annotators: Sequence[int]
    most: float

    def designs(self, spread: Spread) -> tuple[Split | None, Split | None]:
        """The best of people alone and of people and the model; None where the budget is too small."""
        alone = best((people_alone(self.tariff, self.budget, m, most=self.most) for m in self.annotators), spread)
        tried = (best_split(spread, self.tariff, self.budget, m, most=self.most) for m in self.annotators)
        return alone, best(tried, spread)


def teams(data: PlanningInput, options: Planning, budgets: dict[str, float]) -> Iterator[Team]:
    """Every method and model whose cost is stated. budgets : method -> money; those without are left out."""
    for method, budget in budgets.items():
        prices, own = data.prices.get(method), {p.label: p for p in data.pilots if p.method == method}
        if prices is None:
            continue
        for judge in dict.fromkeys(j.judge for j in data.judged if j.method == method):
            labels = [j for j in data.judged if (j.method, j.judge) == (method, judge) and j.label in own]
            cost = data.judge_costs.get(judge, data.judge_costs.get("*"))
            if not labels or cost is None:
                continue
            pilots = [own[j.label] for j in labels]
            pairwise, n = pilots[0].pairwise, data.n_systems
            hour = prices.hourly_rate / 60
            talked = (prices.minutes_per_dialogue or 0.0) * hour * (2 if pairwise else 1)
            fitted, low, high = (
                [_spread(p, j, data, end) for p, j in zip(pilots, labels, strict=True)] for end in range(3)
            )
            twice = all(p.judged_twice for p in pilots)
            each = [m for m in options.per_dialogue if m <= (options.annotators or m)] if twice else [1]
            yield Team(
                method, judge, labels, fitted, low, high,
                Tariff(talked, prices.minutes_per_judgement * hour, cost),
                budget / (n * (n - 1) / 2 if pairwise else n), each, options.pool or inf,
            )  # fmt: skip


def _spread(pilot: Pilot, judged: Judged, data: PlanningInput, end: int) -> Spread:
    """Variances of one system's part in a difference. end : 0 for the estimate of what the model explains, 1 and 2 for
    the ends of its interval; without one, nothing and the estimate."""
    same, each = pilot.variances(paired=data.paired)
    share = judged.share
    low, high = (share.low, share.high) if np.isfinite([share.low, share.high]).all() else (0.0, share.estimate)
    return Spread(same, each).with_share((share.estimate, low, high)[end], judged.annotators if each else 1.0)


def budget_rows(data: PlanningInput, options: Planning, budgets: dict[str, float]) -> Iterator[dict[str, Any]]:
    """What each model adds to each method within the budget.

    Yields, with `budget` and the judge as `metric`: `split_explained` of each label; `split_dialogues`, that people and
    the model judge (`judged_by`), alone and together (`raters`), `split_gain` and `split_helps`, for all labels;
    `split_gain` of each label in the design for all.
    """
    for team in teams(data, options, budgets):
        head: dict[str, Any] = {"method": team.method, "metric": team.judge, "level": METHODS[team.method].unit}
        for judged in team.labels:
            yield head | {"label": judged.label, "statistic": "split_explained"} | judged.share.row()
        head |= {"budget": budgets[team.method]}
        for row in _of_team(team, options):
            yield head | row


def _of_team(team: Team, options: Planning) -> Iterator[dict[str, Any]]:
    spread, low, high = (pooled(x) for x in (team.spreads, team.low, team.high))
    alone, both = team.designs(spread)
    yield from _dialogues(alone, both)
    if alone is None:
        return
    if both is None:
        yield {"statistic": "split_helps", "estimate": 0.0, "note": "too few dialogues for people and a model"}
        return
    yield from _of_labels(team, alone, both)
    gains = [gain(both, alone, x) for x in (spread, low, high)]
    yield {"statistic": "split_gain"} | _ends(gains)
    yield {"statistic": "split_helps"} | helps(gains[0], gains[1], options.least_gain)


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


def _dialogues(alone: Split | None, both: Split | None) -> Iterator[dict[str, Any]]:
    for raters, split in ((HUMAN, alone), (ASSISTED, both)):
        if split is None:
            note = "the budget is too small"
            yield {
                "statistic": "split_dialogues",
                "raters": raters,
                "judged_by": "people",
                "estimate": np.nan,
                "note": note,
            }
            continue
        row = {"statistic": "split_dialogues", "raters": raters, "annotators_per_dialogue": split.annotators}
        yield row | {"judged_by": "people", "estimate": split.n}
        if split.pool:
            yield row | {"judged_by": "model", "estimate": split.pool}


def _of_labels(team: Team, alone: Split, both: Split) -> Iterator[dict[str, Any]]:
    for i, judged in enumerate(team.labels):
        gains = [gain(both, alone, x[i]) for x in (team.spreads, team.low, team.high)]
        yield {"label": judged.label, "statistic": "split_gain"} | _ends(gains)
