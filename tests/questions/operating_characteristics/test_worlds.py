"""Placebo worlds: their variances and means, and the procedures tried in them, each against a second source."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons
from fixtures.placebo_systems import rated, rng
from scipy import stats

from judgebook.questions.operating_characteristics import as_used, many_data_sets, worlds
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
