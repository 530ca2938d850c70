"""Estimates of systems with sampling weights, against hand calculation, statsmodels and formulas of survey sampling."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, ratings
from scipy import stats

from judgebook.annotations import scores
from judgebook.questions.fragility import differences
from judgebook.questions.performance import analysis, rates
from judgebook.questions.performance.fitted import standardised
from judgebook.questions.performance.rates import composition
from judgebook.statistics.clusters import clustered_variances
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import collect


@pytest.fixture
def rng():
    return np.random.default_rng(31)


def drawn(rng, n=80, systems=("a", "b"), each=(1, 2, 3), method="dialogue_likert", **columns):
    """Dialogues with 1 to 3 ratings each, and weights that go with the ratings."""
    rows, more = [], []
    for i in range(n):
        flagged = rng.random() < 0.4
        value = rng.normal(3 + flagged)
        for j in range(rng.choice(each)):
            rows.append((f"d{i:03d}", systems[i % len(systems)], f"s{i:03d}", value + rng.normal()))
            more.append((f"A{(i + 3 * j) % 5}", 1.0 if flagged else 4.0))
    annotator, weight = zip(*more, strict=True)
    return ratings(rows, method=method, **columns).assign(annotator=annotator, sampling_weight=weight)


def items(frame):
    return frame.groupby(["system", "dialogue"]).agg(x=("score", "mean"), w=("sampling_weight", "first"))


def test_hajek_and_its_variance_by_hand():
    """Scores 0, 1, 1 with weights 4, 1, 1: mean 2/6. Shares 2/3, 1/6, 1/6 of the weight, so without a dialogue the mean
    moves by s(x - m)/(1 - s): -2/3, 2/15, 2/15; variance (4/9 + 8/225) * 2/3."""
    marks = ratings([("d1", "a", 0), ("d2", "a", 1), ("d3", "a", 1)], method="behavior")
    weighted = scores.weighted(marks.assign(sampling_weight=[4.0, 1.0, 1.0]))
    assert weighted["weight"].tolist() == pytest.approx([2, 0.5, 0.5])  # they add up to the three dialogues
    codes, clusters = np.zeros(3, int), np.arange(3)
    mean, variance, n = clustered_variances(
        codes, weighted["score"].to_numpy(), weighted["weight"].to_numpy(), [clusters]
    )
    assert (mean[0], variance[0], n[0]) == (pytest.approx(1 / 3), pytest.approx((4 / 9 + 8 / 225) * 2 / 3), 3)


def test_annotations_of_a_dialogue_share_its_weight():
    """A dialogue with two ratings counts as often as its weight says, not twice."""
    frame = ratings([("d1", "a", 1), ("d1", "a", 3), ("d2", "a", 5)]).assign(sampling_weight=[1.0, 1.0, 3.0])
    frame = frame.assign(annotator=["A1", "A2", "A1"])
    found = collect(rates.clustered(frame, sampling=Sampling(10_000, 0.95, 1)))["mean"]
    assert found["estimate"].item() == pytest.approx((1 * 2 + 3 * 5) / 4)
    assert found["n"].item() == 2


def test_the_bootstrap_resamples_weights_with_dialogues(rng):
    frame = drawn(rng, n=60, systems=("a",))
    found = collect(rates.clustered(frame, sampling=Sampling(4000, 0.95, 1)))["mean"].iloc[0]
    own = items(frame)
    theirs = stats.bootstrap(
        (own["x"].to_numpy(), own["w"].to_numpy()), lambda x, w: np.sum(w * x) / np.sum(w), paired=True,
        vectorized=False, n_resamples=4000, method="BCa", rng=np.random.default_rng(3),
    ).confidence_interval  # fmt: skip
    width = theirs.high - theirs.low
    assert found["ci_low"] == pytest.approx(theirs.low, abs=0.08 * width)
    assert found["ci_high"] == pytest.approx(theirs.high, abs=0.08 * width)


def test_the_design_effect_holds_that_of_weights(rng):
    """Of independent scores that have nothing to do with their weights it is about Kish's 1 + CV²."""
    weight = rng.choice([1.0, 5.0], 4000)
    frame = ratings([(f"d{i}", "a", x) for i, x in enumerate(rng.normal(size=4000))]).assign(sampling_weight=weight)
    found = collect(rates.clustered(frame, sampling=Sampling(10, 0.95, 1)))["design_effect"]["estimate"].item()
    assert scores.kish(weight) == pytest.approx(1 + weight.var() / weight.mean() ** 2)
    assert found == pytest.approx(scores.kish(weight), rel=0.06)


def test_equal_weights_change_nothing(rng):
    frame = drawn(rng)
    for weighted in (frame.assign(sampling_weight=3.0), frame.assign(sampling_weight=np.nan)):
        for f in (rates.with_annotators, lambda x: rates.clustered(x, sampling=Sampling(50, 0.95, 1))):
            pd.testing.assert_frame_equal(f(weighted), f(frame.drop(columns="sampling_weight")))
    more = frame.assign(sampling_weight=frame["sampling_weight"] * 40)  # nor does the scale of unequal weights
    ours, theirs = (rates.with_annotators(f)[["estimate", "ci_low", "n"]] for f in (frame, more))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("people", [False, True])
def test_means_and_differences_weigh_dialogues(rng, people):
    frame = drawn(rng).assign(system_b=None, dialogue_b=None)
    found = differences.differences(frame, "dialogue_likert", ["a", "b"], people=people).iloc[0]
    own = items(frame)
    means = {s: np.average(own.loc[s, "x"], weights=own.loc[s, "w"]) for s in "ab"}
    assert found["estimate"] == pytest.approx(means["a"] - means["b"])
    assert found["n"] == 80
    by_system = collect(rates.with_annotators(frame))["mean"].set_index("system")["estimate"]
    assert by_system.to_dict() == pytest.approx(means)


def test_standardised_scores_weigh_standard_deviations_too():
    """Repeating a dialogue as often as its weight says gives the same scores."""
    frame = drawn(np.random.default_rng(3), n=40, each=(1,)).assign(dialogue_b=None)
    times = frame["sampling_weight"].astype(int)
    again = frame.loc[frame.index.repeat(times)].drop(columns="sampling_weight").reset_index(drop=True)
    copy = again.groupby("dialogue").cumcount().astype(str)
    ours, theirs = (standardised(f, 1) for f in (frame, again.assign(dialogue=again["dialogue"] + copy)))
    repeated = np.repeat(ours["score"].to_numpy(), times)
    np.testing.assert_allclose(repeated, theirs["score"], rtol=0.02)  # SD with n and with n - 1


def test_shares_and_strengths_of_comparisons_are_those_of_votes_repeated(rng):
    """A vote with weight 3 is worth three votes."""
    votes = [(*rng.permutation(["a", "b", "c"])[:2], rng.choice([-1, 0, 1])) for _ in range(90)]
    frame = comparisons(votes).assign(annotator_kind="human")
    weight = rng.choice([1, 3], len(frame))
    again = frame.loc[frame.index.repeat(weight)].reset_index(drop=True)
    again = again.assign(dialogue=[f"x{i}" for i in range(len(again))], dialogue_b=[f"y{i}" for i in range(len(again))])
    frame = frame.assign(sampling_weight=weight.astype(float))
    ours, theirs = analysis.point(frame, frame["sampling_weight"].to_numpy()), analysis.point(again)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)
    shares = [
        collect(rates.clustered(f, sampling=Sampling(20, 0.95, 1), unit="session"))["share"] for f in (frame, again)
    ]
    shares = [s.set_index(["system", "outcome"])["estimate"].sort_index() for s in shares]
    np.testing.assert_allclose(shares[0], shares[1])


def test_the_effect_of_composition_by_hand():
    """Flagged dialogues, all bad, make up half of the sample and a fifth of the population."""
    rows = [(f"d{i}", "a", float(i < 10)) for i in range(20)]
    frame = ratings(rows, method="behavior").assign(sampling_weight=np.where(np.arange(20) < 10, 1.0, 4.0))
    found = collect(composition(frame))
    assert {s: found[s]["estimate"].item() for s in found} == pytest.approx(
        {"unweighted": 0.5, "composition_effect": -0.3, "weight_effect": 1 + 1.5**2 / 2.5**2}
    )
    assert not list(composition(frame.drop(columns="sampling_weight")))
