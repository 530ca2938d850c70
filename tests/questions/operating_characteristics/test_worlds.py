"""Placebo worlds: their variances and means, and the procedures tried in them, each against a second source."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, monte_carlo
from fixtures.placebo_systems import rated, rng
from scipy import stats

from judgebook.questions.operating_characteristics import as_used, harder, many_data_sets, worlds
from judgebook.questions.operating_characteristics.monte_carlo import SimulationPlan
from judgebook.statistics import clusters, reml

SYSTEMS = ["a", "b"]


@pytest.fixture(scope="module")
def crossed():
    return worlds.world(worlds.design(rated(rng(1), sd_favour=0.3), SYSTEMS))


# --- variances and draws ----------------------------------------------------------------------------------------------


def test_variances_of_balanced_data_are_those_of_the_analysis_of_variance():
    r, m = rng(2), 4
    code = np.repeat(np.arange(30), m)
    y = r.normal(0, 1, 30)[code] + r.normal(0, 0.7, 30 * m)
    found = worlds.variances(y, np.zeros(len(y), int), {"dialogue": code})
    table = y.reshape(30, m)
    within = table.var(axis=1, ddof=1).mean()
    assert found["residual"] == pytest.approx(within)
    assert found["dialogue"] == pytest.approx(table.mean(axis=1).var(ddof=1) - within / m)


def test_variances_of_crossed_data_are_near_those_of_reml():
    r = rng(3)
    frame = rated(r, n=400, people=20, sd_dialogue=0.8, sd_person=0.6)
    y, system = frame["score"].to_numpy(float), pd.factorize(frame["system"])[0]
    factors = {f: pd.factorize(frame[f])[0] for f in ("dialogue", "annotator")}
    found = worlds.variances(y, system, factors)
    fit = reml.fit_linear_mixed(y, np.eye(2)[system], list(factors.values()), confidence=None)
    assert [found["dialogue"], found["annotator"]] == pytest.approx(fit.variances.tolist(), rel=0.1)
    assert found["residual"] == pytest.approx(fit.residual, rel=0.1)


def test_a_world_has_the_shares_of_variance_and_the_mean_of_the_study(crossed):
    d, drawn = crossed.design, next(crossed.draw(200, rng(4)))
    found = pd.DataFrame([worlds.variances(x, d.system, d.factors) for x in drawn])
    shares = (found.mean() / found.mean().sum())[list(crossed.shares)]
    assert shares.to_numpy() == pytest.approx(list(crossed.shares.values()), abs=0.04)
    of_systems = np.array([drawn[:, d.system == k].mean(axis=1) for k in (0, 1)])
    error = of_systems.std(axis=1) / np.sqrt(200)
    assert (np.abs(of_systems.mean(axis=1) - crossed.mean) < 4 * error).all()
    assert set(np.unique(drawn)) <= set(np.unique(d.score))


def test_systems_keep_the_shape_of_their_distributions():
    """Tilted to one mean, a system of twos and fours stays apart from one of threes."""
    p = worlds.tilted(np.array([0.0, 0.5, 0.0, 0.3, 0.2]), np.arange(1.0, 6), 3.0)
    assert p @ np.arange(1, 6) == pytest.approx(3.0)
    assert p[[0, 2]] == pytest.approx([0, 0])
    # exponential tilting: log odds to the old distribution are linear in the score
    assert np.log(p[4] / 0.2) - np.log(p[3] / 0.3) == pytest.approx((np.log(p[3] / 0.3) - np.log(p[1] / 0.5)) / 2)


def test_correlations_of_cut_normals_are_those_of_the_bivariate_normal():
    values, cuts = np.array([0.0, 1.0]), np.array([1.2])
    at = 20
    rho = worlds._GRID[at]
    joint = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([-1.2, -1.2])
    p = stats.norm.sf(1.2)
    assert worlds.correlations(values, cuts)[at] == pytest.approx((joint - p**2) / (p * (1 - p)), abs=1e-4)


def test_factors_that_repeat_others_are_left_out():
    d = worlds.design(rated(rng(5), sessions=False), SYSTEMS)
    assert list(d.factors) == ["dialogue", "annotator", "annotator_of_system"]  # a session is a dialogue here
    once = worlds.design(rated(rng(5), each=1).assign(annotator_known=False), SYSTEMS)
    assert list(once.factors) == ["session"]
    assert (once.n_annotators, once.ratings) == (None, 1.0)


def test_comparisons_are_symmetric_and_turned_to_the_order_of_systems():
    r = rng(6)
    rows = [(*("ab" if r.random() < 0.5 else "ba"), r.choice([-1, 0, 1])) for _ in range(80)]
    frame = comparisons(rows).assign(annotator=[f"A{i % 5}" for i in range(80)])
    d = worlds.design(frame, SYSTEMS)
    left = np.where(frame["system"] == "a", 1, -1) * frame["score"]
    assert d.score.tolist() == left.tolist()
    drawn = next(worlds.world(d).draw(400, rng(7)))
    assert abs(drawn.mean()) < 4 * drawn.mean(axis=1).std() / 20
    assert "annotator" not in d.factors


# --- many data sets at once -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ways", [1, 2])
def test_covariances_of_many_are_those_of_one(crossed, ways):
    codes, weights, over, arrange = as_used.samples(crossed.design, "session")
    scores = arrange(next(crossed.draw(5, rng(8))))
    used = many_data_sets.Clustered(codes, weights, over[:ways])
    means, found = used.covariance(scores)
    for i in range(5):
        one = clusters.clustered_covariance(codes, scores[i], weights, over[:ways])
        assert means[i] == pytest.approx(one[0])
        assert found.first[i] == pytest.approx(one[1].first, abs=1e-12)
        assert found.variances[i] == pytest.approx(one[1].variances)
        assert used.fewest.tolist() == one[2].tolist()
        assert found.pair_errors()[i] == pytest.approx(one[1].pair_errors())


# --- procedures with known truth --------------------------------------------------------------------------------------


@pytest.mark.evidence
def test_the_permutation_test_holds_for_the_same_annotators_and_not_for_others():
    frame = rated(rng(11), people=4, sd_favour=0.7)
    one = worlds.world(worlds.design(frame, SYSTEMS))
    found = [r for r in as_used.rejections(one, SimulationPlan(1500)) if r["statistic"] == "null_rejection"]
    rows = {(r["test"], r["people"]): r for r in found}
    assert abs(rows["session", "fixed"]["estimate"] - 0.05) < monte_carlo(0.05, 1500)
    assert rows["session", "sampled"]["ci_low"] > 0.15
    assert rows["two_way", "sampled"]["ci_low"] <= 0.05


def test_parts_of_one_chat_are_exchanged_together():
    """Three parts of each chat that share all: free exchange would reject two in five equal systems."""
    r, n = rng(13), 60
    chat = np.repeat(r.normal(0, 1, n), 3) + r.normal(0, 0.1, 3 * n)
    frame = pd.DataFrame({"score": chat.round(1), "system": np.repeat(np.tile(SYSTEMS, n // 2), 3)})
    frame["session"] = np.repeat(np.arange(n) // 2, 3).astype(str)
    fixed = rated(rng(13), n=2).iloc[0].drop(["score", "system", "session", "dialogue"]).to_dict()
    frame = frame.assign(**fixed | {"annotator_known": False}, dialogue=[f"d{i:03d}" for i in range(3 * n)])
    one = worlds.world(worlds.design(frame, SYSTEMS))
    assert one.shares["side"] > 0.8
    found = as_used.session_p(one, 1500, rng(14))["session"]
    assert abs(np.mean(found < 0.05) - 0.05) < monte_carlo(0.05, 1500)


PLAN = SimulationPlan(1000)


@pytest.fixture(scope="module")
def world():
    return worlds.world(worlds.design(rated(rng(1)), SYSTEMS))


@pytest.fixture(scope="module")
def designs(world):
    return dict(harder.of_two(world, rng(2)))


@pytest.fixture(scope="module")
def sizes(world):
    return {(r["scenario"], r["test"]): r for r in harder.tests(world, PLAN)}


# --- designs ----------------------------------------------------------------------------------------------------------


def sd(one):
    scores = np.concatenate(list(one.draw(500, rng(3))))
    assert scores.mean() == pytest.approx(one.mean, abs=0.1)
    return [scores[:, one.design.system == k].std() for k in (0, 1)]


def test_numbers_of_dialogues_and_spread_are_as_named(designs):
    for name in ("unequal_n", "few_vary_more", "few_vary_less", "polarised_v_peaked"):
        assert sorted(np.bincount(designs[name].design.row_kind)) == [10, 60]
        assert len(set(designs[name].design.session)) == 70
    small = np.bincount(designs["few_vary_more"].design.row_kind).argmin()
    for name, ratio in (("few_vary_more", 2), ("few_vary_less", 0.5), ("polarised_v_peaked", np.sqrt(3.4 / 0.2))):
        found = sd(designs[name])
        assert found[small] / found[1 - small] == pytest.approx(ratio, rel=0.05), name
    assert np.bincount(designs["unequal_spread"].design.row_kind).tolist() == [60, 60]


def test_a_lenient_annotator_adds_the_same_to_both_systems(designs):
    one = designs["unequal_spread"]
    loading = one.loadings[:, list(one.design.factors).index("annotator")]
    assert loading * sd(one) == pytest.approx(np.full(2, loading[0] * sd(one)[0]), rel=0.05)


def test_loads_are_zipf_and_teams_disjoint(world, designs):
    loads = np.bincount(designs["zipf_loads"].design.annotator)
    assert (loads.argmax(), loads.argmin() > 3) == (0, True)
    assert harder.effective(designs["zipf_loads"].design) < harder.effective(world.design) - 0.5
    apart = designs["disjoint_annotators"].design
    assert not set(apart.annotator[apart.system == 0]) & set(apart.annotator[apart.system == 1])
    assert harder.effective(apart) == 0
    for one in (designs["zipf_loads"], designs["disjoint_annotators"]):
        d = one.design
        assert not pd.DataFrame({"row": d.row, "who": d.annotator}).duplicated().any()
        assert np.sum(one.loadings**2, axis=1).max() < 1


def test_effective_annotators_by_hand(world):
    d = world.design
    assert harder.effective(d) == pytest.approx(1 / np.sum((np.bincount(d.annotator) / len(d.annotator)) ** 2))


# --- procedures -------------------------------------------------------------------------------------------------------


@pytest.mark.evidence
@pytest.mark.parametrize("design", ["few_vary_more", "polarised_v_peaked"])
def test_the_plain_permutation_test_is_found_out_and_the_primary_one_holds(sizes, design):
    assert sizes[design, "session_plain"]["ci_low"] > 0.12
    assert sizes[design, "session"]["estimate"] < 0.05 + monte_carlo(0.05, PLAN.n_runs)


@pytest.mark.evidence
@pytest.mark.parametrize("design", ["unequal_n", "unequal_spread", "few_vary_less", "zipf_loads"])
def test_tests_that_hold_are_found_to(sizes, design):
    for test in ("session", "two_way"):
        assert sizes[design, test]["estimate"] < 0.05 + monte_carlo(0.05, PLAN.n_runs)


@pytest.mark.evidence
def test_confounded_annotators_are_found_out(sizes):
    assert sizes["disjoint_annotators", "session"]["ci_low"] > 0.15
    assert sizes["disjoint_annotators", "two_way"]["n"] == 0
