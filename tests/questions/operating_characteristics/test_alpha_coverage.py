"""How often intervals hold the truth: the kernels against the library they imitate, and coverage of known truths."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import monte_carlo
from fixtures.placebo_systems import PLAN, SPEC, rng, simulated, value

from compendium.simulation import study as simulate
from judgebook.questions.agreement.bounds import degenerate
from judgebook.questions.agreement.coincidences import patterns
from judgebook.questions.groups.joint_resampling import mean_square_difference
from judgebook.questions.operating_characteristics import alpha_coverage as operating_coverage
from judgebook.questions.operating_characteristics import estimate_coverage as operating_estimates
from judgebook.questions.operating_characteristics.alpha_coverage import Repeated, alpha_over_dialogues
from judgebook.questions.operating_characteristics.many_data_sets import bca_ends, cluster_ends, pattern_ends
from judgebook.questions.operating_characteristics.monte_carlo import (
    SimulationPlan,
    coverage_rows,
    mean,
    share,
    shared_out,
)
from judgebook.questions.performance.rate_intervals import design_effect, rare_bound, student_t
from judgebook.statistics.intervals import Replicates, exact_binomial, jackknife_t
from judgebook.statistics.resampling import bootstrap_sums
from judgebook.study.labels import Label

# --- kernels ----------------------------------------------------------------------------------------------------------


MANY = SimulationPlan(n_resamples=20_000)


def ratio(sums):
    return sums[:, 1] / sums[:, 0]


@pytest.mark.parametrize("missing", [0, 2, 60])
def test_ends_of_many_samples_are_those_of_one(missing):
    r = rng(1)
    values, jackknife = r.gamma(2.0, size=(6, 400)), 1 + 0.1 * r.standard_normal((6, 30))
    values[1, :missing] = np.nan
    values[2] = 1.0  # every resample gives the same
    values[3] += 10  # the estimate lies below all
    jackknife[4, 3] = np.nan
    estimate = np.array([2.0, 2.0, 1.0, 2.0, 2.0, np.nan])
    n, mean = 30, jackknife.mean(axis=1, keepdims=True)
    both = bca_ends(estimate, values, (n - 1) * (mean - jackknife) / n, np.ones_like(jackknife), 0.95)
    for i in range(6):
        weights = np.ones(n), np.zeros(n, int)
        one = Replicates(estimate[i : i + 1], values[i][:, None], jackknife[i][:, None], *weights, "x", n, True, 1)
        found = one.interval(expanded=False)
        np.testing.assert_allclose(both[0][i], [found.low, found.high], equal_nan=True)
        expected = [np.nan] * 2 if found.kind == "not_estimable" else found.percentile
        np.testing.assert_allclose(both[1][i], expected, equal_nan=True)


def test_cluster_ends_agree_with_the_bootstrap():
    table = np.column_stack([rng(2).integers(5, 20, 40), rng(3).integers(0, 9, 40)]).astype(float)
    drawn = rng(4).integers(0, 40, (3, 40))
    found = cluster_ends(table, drawn, ratio, MANY, rng(5))
    for i, units in enumerate(drawn):
        one = bootstrap_sums(table[units], ratio, unit="dialogue", rng=rng(6), n_resamples=20_000)
        assert found.estimate[i] == one.estimate
        np.testing.assert_allclose(found.bca[i], [one.low, one.high], atol=0.03 * (one.high - one.low))
        np.testing.assert_allclose(found.percentile[i], one.percentile, atol=0.03 * (one.high - one.low))


def test_several_populations_are_resampled_apart():
    one, other = rng(7).normal(1, 1, (30, 1)), rng(8).normal(0, 1, (50, 1))
    drawn = [np.arange(30)[None], np.arange(50)[None]]
    difference = lambda a, b: a[:, 0] / 30 - b[:, 0] / 50  # noqa: E731
    found = cluster_ends([one, other], drawn, difference, MANY, rng(9))
    two = bootstrap_sums([one, other], difference, unit="x", rng=rng(10), n_resamples=20_000)
    np.testing.assert_allclose(found.bca[0], [two.low, two.high], atol=0.03 * (two.high - two.low))


def test_pattern_ends_agree_with_the_bootstrap_and_treat_alike_samples_alike():
    rows, counts = np.array([[1.0, 0], [1, 0.5], [1, 1]]), np.array([[400, 200, 400], [900, 80, 20], [400, 200, 400]])
    found = pattern_ends(counts, rows, ratio, MANY, rng(11))
    np.testing.assert_array_equal(found.bca[0], found.bca[2])
    for i in (0, 1):
        one = bootstrap_sums(rows, ratio, unit="item", rng=rng(12), counts=counts[i], n_resamples=20_000)
        assert found.estimate[i] == pytest.approx(one.estimate)
        np.testing.assert_allclose(found.bca[i], [one.low, one.high], atol=0.05 * (one.high - one.low))


def test_coverage_width_and_power_are_counted():
    ends = np.array([[0.1, 0.5], [-0.2, 0.2], [0.4, 0.8], [np.nan, np.nan]])
    found = coverage_rows({"bca": ends}, 0.3, {"of": "r"}, power=True)
    rows = {r["statistic"]: r for r in found}
    assert all((r["of"], r["interval"]) == ("r", "bca") for r in found)
    assert rows["interval_coverage"]["estimate"] == pytest.approx(1 / 3)
    assert rows["interval_coverage"]["n"] == 3
    assert rows["interval_coverage"]["n_undefined"] == 1
    assert rows["interval_width"]["estimate"] == pytest.approx(0.4)
    assert rows["interval_power"]["estimate"] == pytest.approx(2 / 3)


def test_closed_forms_are_those_used_for_one_sample():
    plan = SimulationPlan()
    scores = rng(13).integers(1, 6, (4, 30)).astype(float)
    scores[3] = 2.0
    found = operating_estimates.student(np.full(4, 30.0), scores.sum(axis=1), (scores**2).sum(axis=1), plan)
    for both, x in zip(found, scores, strict=True):
        np.testing.assert_allclose(both, student_t(x)[:2], equal_nan=True)


def test_jackknife_interval_is_that_of_validity():
    jackknife = 0.4 + 0.02 * rng(14).standard_normal((3, 20))
    found = operating_estimates.jackknife_ends(np.full(3, 0.4), jackknife, 0.95)
    for both, one in zip(found, jackknife, strict=True):
        expected = jackknife_t(0.4, one, "interactor")
        np.testing.assert_allclose(both, [expected.low, expected.high])


@pytest.mark.parametrize("truth", [0.0, 0.05])
def test_the_debiased_interval_holds_the_truth_where_its_ends_say_so(truth):
    r = rng(15)
    estimate = r.normal(0, 0.2, (40, 3))
    half = r.normal(0, 0.15, (40, 3, 3))
    covariance = half @ half.swapaxes(1, 2) + 0.005 * np.eye(3)
    found = operating_estimates.holds(estimate, covariance, truth, 0.95)
    for hit, d, c in zip(found, estimate, covariance, strict=True):
        _, low, high = mean_square_difference(d, c)
        assert hit == (low <= truth <= high)
    assert 0 < found.sum() <= 40


def test_rows_of_shares_and_means_by_hand():
    row = share("null_rejection", 3, 60)
    assert (row["estimate"], row["n"], row["ci_low"], row["ci_high"]) == (0.05, 60, *exact_binomial(3, 60))
    assert np.isnan(share("x", 0, 0)["estimate"])
    row = mean("bias", np.array([1.0, 2.0, 6.0]))
    half = 1.96 * np.sqrt(7.0 / 3)
    assert (row["estimate"], row["ci_low"], row["ci_high"]) == pytest.approx((3, 3 - half, 3 + half))
    assert mean("bias", np.array([1.0]))["note"] == "no run gave an interval"
    assert shared_out(10, 4) == [3, 3, 2, 2]


def test_dialogues_that_groups_share_by_hand():
    rows = [("a", "d1", "g", 1.0), ("a", "d1", "h", 2.0), ("b", "d2", "h", 5.0), ("b", "d2", "g", 4.0)]
    rows += [("b", "d3", "g", 3.0), ("b", "d4", "i", 3.0), ("b", "d3", "i", 3.0)]
    frame = pd.DataFrame(rows, columns=["system", "dialogue", "group", "value"])
    frame = frame.assign(method="dialogue_likert", label="quality", dialogue_b=None)
    found = operating_estimates.shared_scores(frame, "dialogue_likert", "quality", ("g", "h"))
    assert [part.tolist() for part in found] == [[[1, 2]], [[4, 5]]]
    assert operating_estimates.shared_scores(frame, "dialogue_likert", "quality", ("g", "x")) == []
    assert operating_estimates.most_shared(frame, ("dialogue_likert",)) == ("dialogue_likert", "g", "h")
    assert operating_estimates.most_shared(frame[frame["group"] == "g"], ("dialogue_likert",)) is None


# --- coverage ---------------------------------------------------------------------------------------------------------


def twice(n_sessions=300, label="empathetic", seed=21):
    measure = simulate.measure(SPEC, "sur_x", "behavior", label)
    sample = simulate.annotate(measure, n_sessions, SPEC, rng(seed))
    return Repeated(Label(label, "behavior", label, (0, 1), "ordinal"), patterns(sample.scores), sample.dialogue)


@pytest.mark.evidence
def test_intervals_over_dialogues_hold_alpha_and_those_over_turns_do_not():
    rows = alpha_over_dialogues(twice(), SimulationPlan(n_runs=1000, n_resamples=500), sizes=[25, 100], turns=[100])
    ours = value(rows, "interval_coverage", interval="policy", over="dialogue", sample_size=100)
    turns = value(rows, "interval_coverage", interval="bca", over="turn", sample_size=100)
    assert abs(ours["estimate"] - 0.95) < monte_carlo(0.95, 1000)
    assert turns["ci_high"] < 0.95
    assert turns["estimate"] < ours["estimate"] - 0.02
    assert value(rows, "interval_coverage", interval="policy", over="dialogue", sample_size=25)["estimate"] > 0.88


def test_the_bound_of_a_run_is_that_of_its_items():
    one = twice(n_sessions=20, label="uninterpretable", seed=22)
    table = np.zeros((one.clusters.max() + 1, len(one.judged.weights)))
    np.add.at(table, (one.clusters, one.judged.index), 1.0)
    units = rng(23).integers(0, len(table), 25)
    counts = table[units].sum(axis=0).astype(int)
    (found,), taken = operating_coverage._bounds(one, counts[None], PLAN, every=True, drawn=[table[units]])
    items = [np.flatnonzero(one.clusters == d) for d in units]
    pattern = np.concatenate([one.judged.index[i] for i in items])
    scores = np.array([np.repeat(one.judged.values, c) for c in one.judged.counts[pattern]])
    clusters = np.repeat(np.arange(25), [len(i) for i in items])
    expected = degenerate(
        patterns(scores), "ordinal", ["alpha"], unit="x", clusters=clusters, mirrored=False, confidence=0.95
    )["alpha"]
    assert taken.all()
    np.testing.assert_allclose(found, [expected.low, expected.high], equal_nan=True)


def test_a_rare_rate_has_the_bound_of_notebook_07():
    table = np.zeros((20, 3))
    table[:, 0], table[:3, 1], table[:3, 2] = 15, 1, 1
    drawn = np.arange(20)[None]
    ends = cluster_ends(table[:, :2], drawn, ratio, PLAN, rng(24))
    found = operating_estimates._policy(table, drawn, ends, PLAN)
    np.testing.assert_allclose(found[0], rare_bound(3, 300, 20, design_effect(*table.T)), rtol=1e-5)


@pytest.mark.evidence
def test_rates_over_dialogues_hold_and_wilson_on_turns_does_not():
    plan = SimulationPlan(n_runs=1000, n_resamples=500)
    rows = operating_estimates.estimate_coverage(simulated("incorrect_fact"), 0, plan)
    assert value(rows, "interval_coverage", interval="wilson")["ci_high"] < 0.92
    ours = value(rows, "interval_coverage", interval="policy")
    assert abs(ours["estimate"] - 0.95) < 0.01 + monte_carlo(0.95, 1000)


@pytest.mark.evidence
def test_groups_that_do_not_differ():
    g = rng(26)
    scores = [np.clip(np.rint(g.normal(3 + 0.2 * s, 1, (30, 2))), 1, 5) for s in range(4)]
    plan = SimulationPlan(n_runs=300, n_resamples=200)
    rows = operating_estimates.group_coverage(scores, "quality", "dialogue_likert", ("a", "b"), plan)
    ours = value(rows, "interval_coverage", interval="noncentral_chi2", scenario="null")
    assert ours["estimate"] > 0.95 - monte_carlo(0.95, 300)
    bias = value(rows, "group_difference_bias", of="debiased_square", scenario="null")
    assert bias["ci_low"] - 0.01 < 0 < bias["ci_high"] + 0.01
    assert value(rows, "group_difference_bias", of="published", scenario="null")["ci_low"] > 0.1
