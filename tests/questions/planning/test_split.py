"""The split of a budget between people and a model: by hand, by search, and in simulated studies with known truth."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from fixtures.made_annotations import monte_carlo

from judgebook.questions.judges.prediction_powered import Sums, estimate
from judgebook.questions.planning.pilot_study import of_differences
from judgebook.questions.planning.split import (
    LEAST,
    Split,
    Spread,
    Tariff,
    best_split,
    gain,
    helps,
    people_alone,
    pooled,
    within,
)
from judgebook.statistics.intervals import Sampling

HALF = Spread(shared=0.75, each=0.25, explained=0.5)
#: a person's judgement costs 1, a model's 0.01, dialogues are there
CHEAP = Tariff(dialogue=0.0, person=1.0, model=0.01)


def test_a_model_that_costs_nothing_judges_what_there_is_or_more_than_shows():
    free = Tariff(dialogue=0.0, person=1.0, model=0.0)
    assert best_split(HALF, free, 110.0, 1, most=500) == Split(110, 500, 1)
    unlimited = best_split(HALF, free, 110.0, 1)
    assert unlimited.n == 110
    assert unlimited.variance(HALF) == pytest.approx((1 - 0.5) / 110, rel=0.02)  # of an endless pool
    assert best_split(HALF, free, 5.0, 1) is None


def test_by_hand():
    """V = 1, E = 0.5: n / N = sqrt(0.5 * 0.01 / 0.5) = 0.1, so N = 110 / 0.11 and n = 100."""
    split = best_split(HALF, CHEAP, 110.0, 1)
    assert split == Split(100, 1000, 1)
    assert split.variance(HALF) == pytest.approx(0.5 / 100 + 0.5 / 1000)
    alone = people_alone(CHEAP, 110.0, 1)
    assert alone == Split(110, 0, 1)
    # Cochran 1977, section 12.7: variance times cost is (sqrt(0.5 * 1) + sqrt(0.5 * 0.01))^2
    assert gain(split, alone, HALF) == pytest.approx(1 / (sqrt(0.5) + sqrt(0.005)) ** 2)
    # two annotators of a dialogue: V = 0.875, and the model explains as much
    assert best_split(HALF, CHEAP, 110.0, 2).variance(HALF) > split.variance(HALF)
    # where each dialogue costs 15 to have, the second annotator is worth it
    talked = Tariff(dialogue=15.0, person=1.0, model=0.01)
    one, two = (people_alone(talked, 6000.0, m).variance(HALF) for m in (1, 2))
    assert two < one == pytest.approx(1 / 375)
    # the share of one annotator's variance is a smaller one of the mean of many; what annotators disagree about is none
    assert replace(HALF, explained=0).with_share(0.5, 1) == HALF
    assert replace(HALF, explained=0).with_share(0.9, 1).explained == 0.75
    assert replace(HALF, explained=0).with_share(-0.1, 1).explained == 0
    both = pooled([HALF, Spread(7.5, 2.5, 0.0)])
    assert (both.shared, both.each, both.explained) == pytest.approx((0.75, 0.25, 0.25))


@pytest.mark.parametrize(
    ("tariff", "explained", "most"),
    [(CHEAP, 0.4, float("inf")), (CHEAP, 0.7, 400), (Tariff(0.5, 1.0, 0.2), 0.7, float("inf"))],
)
def test_no_other_split_within_the_budget_is_better(tariff, explained, most):
    spread, budget = replace(HALF, explained=explained), 600.0
    split = best_split(spread, tariff, budget, 2, most=most)
    assert split.pool * (tariff.dialogue + tariff.model) + split.n * 2 * tariff.person <= budget
    assert split.n <= split.pool <= most
    others = [within(tariff, budget, 2, pool) for pool in range(20, int(min(most, 60_000)) + 1, 5)]
    least = min(s.variance(spread) for s in others if s)
    assert split.variance(spread) <= least * 1.01  # whole dialogues


def test_a_model_that_explains_too_little_or_costs_as_much_does_not_gain():
    """The border of Cochran's section 12.7: E / V = 4 x / (1 + x)^2."""
    dear = replace(CHEAP, model=1.0)
    assert gain(best_split(HALF, dear, 500.0, 1), people_alone(CHEAP, 500.0, 1), HALF) < 1
    x = CHEAP.model / CHEAP.person
    for factor, better in ((1.3, True), (0.7, False)):
        spread = replace(HALF, explained=factor * 4 * x / (1 + x) ** 2)
        assert (gain(best_split(spread, CHEAP, 1e6, 1), people_alone(CHEAP, 1e6, 1), spread) > 1) == better


def test_a_budget_that_is_too_small_has_no_split():
    assert best_split(HALF, CHEAP, LEAST, 1) is None
    assert people_alone(CHEAP, 1.5, 1) is None


@pytest.mark.parametrize(("low", "expected"), [(1.2, 1.0), (0.9, None)])
def test_a_model_is_recommended_where_it_gains_at_the_lower_end_too(low, expected):
    decided = helps(1.5, low, 1.1)["estimate"]
    assert decided == expected or (expected is None and np.isnan(decided))
    assert helps(1.05, low, 1.1)["estimate"] == 0.0


def study(rng, split, *, explained, bias=0.0, sessions=0.0, spreads=(1.0, 1.0)):
    """Values by people of two systems with means 0, a model that explains a share of them and is off by `bias` for the
    second system; people judge the first n dialogues. Sessions add to both systems' values."""
    rows, n = [], split.pool
    shared = sqrt(sessions) * rng.standard_normal(n)
    for s, sd in enumerate(spreads):
        seen = rng.standard_normal(n)
        truth = sqrt(explained) * seen + sqrt(0.75 - explained) * rng.standard_normal(n)
        noise = sqrt(0.25 / split.annotators) * rng.standard_normal(n)
        people = np.where(np.arange(n) < split.n, sd * (truth + noise) + shared, np.nan)
        cluster = np.arange(n) if sessions else s * n + np.arange(n)
        rows.append((people, sd * 0.5 * seen + bias * s, np.ones(n), np.full(n, s), cluster))
    people, model, items, system, cluster = (np.concatenate(x) for x in zip(*rows, strict=True))
    return Sums(["a", "b"], people, model, items, system, cluster, scale=(-50.0, 50.0))


@pytest.mark.parametrize(
    "runs", [pytest.param(250, marks=pytest.mark.verify), pytest.param(3000, marks=pytest.mark.evidence)]
)
@pytest.mark.parametrize(
    ("annotators", "world"),
    [
        (1, {"explained": 0.0}),
        (3, {"explained": 0.5, "bias": 3.0, "sessions": 1.0}),
        (1, {"explained": 0.4, "spreads": (1.0, 2.0)}),
    ],
)
def test_simulated_studies_vary_as_planned_and_intervals_cover(annotators, world, runs):
    """Estimated variances are the planned one on average, within 2%; the realised one and the coverage are within three
    Monte Carlo errors."""
    spread = replace(HALF, explained=world["explained"])
    useful = best_split(spread, CHEAP, 200.0 * annotators, annotators)
    split = useful if world["explained"] else Split(150, 400, annotators)
    rng, difference = np.random.default_rng(len(world)), np.array([1.0, -1.0])
    values, variances, inside = [], [], []
    for _ in range(runs):
        both = estimate(study(rng, split, **world))[1]
        row = both.contrast(difference)
        values.append(row["estimate"])
        variances.append(both.se(difference) ** 2)
        inside.append(row["ci_low"] <= 0 <= row["ci_high"])
    planned = sum(sd**2 for sd in world.get("spreads", (1.0, 1.0))) * split.variance(spread)
    assert np.mean(variances) == pytest.approx(planned, rel=0.02 + 0.3 / sqrt(runs))
    assert np.var(values) == pytest.approx(planned, rel=3 * sqrt(2 / runs))
    assert abs(np.mean(values)) < 3 * sqrt(planned / runs)
    assert np.mean(inside) == pytest.approx(0.95, abs=monte_carlo(0.95, runs) + 0.005)


def test_what_sessions_share_is_no_help_for_differences_within_them():
    """The model sees sessions only, or dialogues only; and a share by hand, with the weight that means ask for."""
    rng, n = np.random.default_rng(3), 400
    session, own = rng.normal(size=(n, 1)), rng.normal(size=(n, 2))
    sampling, explained = Sampling(200, 0.95, 1), {}
    for name, seen in (("session", session + 0 * own), ("dialogue", own), ("both", session + own)):
        model = seen + 0.01 * rng.normal(size=(n, 2))
        data = Sums(["a", "b"], (session + own).ravel(), model.ravel(), np.ones(2 * n), np.tile([0, 1], n),
                    np.repeat(np.arange(n), 2))  # fmt: skip
        explained[name] = of_differences(data, sampling.stream("x"), sampling)
    assert explained["session"].estimate < 0.01
    assert explained["both"].estimate == pytest.approx(1, abs=0.01)
    assert explained["dialogue"].estimate == pytest.approx(1, abs=0.02)
    assert explained["both"].low < explained["both"].estimate <= 1
