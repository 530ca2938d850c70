"""Dialogues to be judged next: probabilities by hand, exact draws, and estimates that are those of all dialogues."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import monte_carlo

from judgebook.questions.judges.prediction_powered import Sums, estimate
from judgebook.questions.planning.next_items import JUDGED, NEXT, expected_error, next_items, probabilities, systematic
from judgebook.questions.planning.pilot_study import Judged

DIFFERENCE = np.array([1.0, -1.0])


def test_probabilities_by_hand():
    assert probabilities(np.array([1.0, 3.0]), 1, 0.5) == pytest.approx([3 / 8, 5 / 8])
    assert probabilities(np.array([1.0, 3.0]), 1, 1.0) == pytest.approx([1 / 2, 1 / 2])
    # 10 of 12 parts of two draws are more than one: it is drawn for certain, and the others share the second
    assert probabilities(np.array([1.0, 1.0, 10.0]), 2, 1e-9) == pytest.approx([0.5, 0.5, 1.0])
    assert probabilities(np.zeros(4), 2, 0.5) == pytest.approx([0.5] * 4)
    assert probabilities(np.array([1.0, 9.0]), 5, 0.5).tolist() == [1.0, 1.0]


def test_each_is_drawn_with_its_probability_and_their_number_is_fixed():
    p, rng = probabilities(np.arange(1.0, 11.0), 4, 0.3), np.random.default_rng(1)
    draws = np.array([systematic(p, rng) for _ in range(4000)])
    assert set(draws.sum(axis=1)) == {4}
    assert draws.mean(axis=0) == pytest.approx(p, abs=monte_carlo(0.5, 4000))


def pool(rng, n=600, pilot=60, *, useful=True, sessions=False):
    """Two systems, whose model is right on scores below 0 and mostly guesses above; people judged some at random.
    Returns what is known, and what people would say of all."""
    size = 2 * n
    seen = rng.normal(size=size)
    truth = useful * seen + (np.where(seen < 0, 0.2, 1.5) if useful else 1.0) * rng.normal(size=size)
    cluster = np.tile(np.arange(n), 2) if sessions else np.arange(size)
    if sessions:
        truth = truth + 0.5 * rng.normal(size=n)[cluster]
    known = np.isin(np.arange(size) % n, rng.permutation(n)[:pilot])
    names = np.array([f"d{i}" for i in range(size)], dtype=object)
    data = Sums(["a", "b"], np.where(known, truth, np.nan), seen, np.ones(size), np.repeat([0, 1], n), cluster,
                scale=(-50.0, 50.0), name=names)  # fmt: skip
    return data, truth


def as_judged(data):
    return Judged("dialogue_rating", "fine", "llm", data, 1.0, None)


def after(data, truth, drawn):
    """The study when people have judged what was drawn."""
    p = pd.Series(drawn["inclusion_probability"].to_numpy(), drawn["dialogue"]).reindex(data.name).to_numpy()
    return replace(data, people=np.where(np.isfinite(p), truth, np.nan), chosen=1 / np.where(np.isfinite(p), p, 1.0))


def test_more_is_drawn_where_the_model_is_wrong():
    data, truth = pool(np.random.default_rng(2))
    error = expected_error(data)
    assert error[data.model > 0.5].min() > 1.5 * error[data.model < -0.5].max()
    drawn = next_items([as_judged(data)], 100, uniform=0.3, seed=1)
    later = drawn[drawn["people"] == NEXT]
    assert later.groupby("system").size().to_dict() == {"a": 100, "b": 100}
    assert (drawn.loc[drawn["people"] == JUDGED, "inclusion_probability"] == 1).all()
    assert set(drawn.loc[drawn["people"] == JUDGED, "dialogue"]) == set(data.name[data.labelled])
    assert not set(later["dialogue"]) & set(data.name[data.labelled])
    assert later["inclusion_probability"].min() >= 0.3 * 100 / 540  # all have at least the equal part
    equal = next_items([as_judged(data)], 100, uniform=1.0, seed=1)
    assert equal.loc[equal["people"] == NEXT, "inclusion_probability"].to_numpy() == pytest.approx(100 / 540)
    assert next_items([as_judged(replace(data, people=truth))], 9, uniform=0.5, seed=1).empty


def test_whole_sessions_are_drawn_and_earlier_weights_count():
    data, _ = pool(np.random.default_rng(3), sessions=True)
    later = next_items([as_judged(data)], 100, uniform=0.3, seed=1).query("people == 'to be judged'")
    session = later["dialogue"].str[1:].astype(int) % 600
    assert set(session.value_counts()) == {2}
    assert session.nunique() == 100
    flagged = np.where(np.arange(1200) % 3 == 0, 1.0, 4.0)
    single, _ = pool(np.random.default_rng(3))
    drawn = next_items([as_judged(replace(single, weight=flagged))], 100, uniform=1.0, seed=1)
    of = drawn["dialogue"].str[1:].astype(int).to_numpy()
    p = drawn["inclusion_probability"].to_numpy() * flagged[of]
    assert p[drawn["people"] == JUDGED] == pytest.approx(1.0)
    assert p[drawn["people"] == NEXT] == pytest.approx(100 / 540)


@pytest.mark.parametrize(
    "runs", [pytest.param(60, marks=pytest.mark.verify), pytest.param(600, marks=pytest.mark.evidence)]
)
@pytest.mark.parametrize("world", [{}, {"useful": False}, {"sessions": True}])
def test_estimates_from_what_was_drawn_are_unbiased_and_intervals_cover(world, runs):
    """The population is what dialogues are drawn from: both systems' means are 0."""
    rng, values, inside, variances = np.random.default_rng([4, len(world), runs]), [], [], []
    for i in range(runs):
        data, truth = pool(rng, **world)
        drawn = next_items([as_judged(data)], 120, uniform=0.5, seed=i)
        both = estimate(after(data, truth, drawn))[1]
        rows = [both.contrast(w) for w in (np.array([1.0, 0.0]), DIFFERENCE)]
        values.append([row["estimate"] for row in rows])
        variances.append([both.se(np.array([1.0, 0.0])) ** 2, both.se(DIFFERENCE) ** 2])
        inside.append([row["ci_low"] <= 0 <= row["ci_high"] for row in rows])
    error = np.std(values, axis=0) / np.sqrt(runs)
    assert (np.abs(np.mean(values, axis=0)) < 3 * error).all()
    assert np.mean(inside, axis=0) == pytest.approx(0.95, abs=max(0.02, monte_carlo(0.95, runs)))
    assert np.mean(variances, axis=0) == pytest.approx(np.var(values, axis=0), rel=3.5 * np.sqrt(2 / runs))


@pytest.mark.evidence
def test_the_same_labels_tell_more_where_the_model_is_wrong():
    """Variances by a draw in proportion to expected errors, over those by an equal one: about 0.7 in this world."""
    rng, ratio = np.random.default_rng(5), []
    for i in range(300):
        data, truth = pool(rng, n=1500, pilot=100)
        drawn = (next_items([as_judged(data)], 200, uniform=u, seed=i) for u in (0.3, 1.0))
        ratio.append([estimate(after(data, truth, d))[1].se(DIFFERENCE) ** 2 for d in drawn])
    focused, equal = np.mean(ratio, axis=0)
    assert focused < 0.9 * equal
