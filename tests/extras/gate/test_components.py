"""The components of variance that a gate is planned from, and its intervals of many releases at once."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons
from fixtures.rated_systems import rated, rng

from judgebook.extras.gate import components
from judgebook.statistics import clusters, reml

SYSTEMS = ["a", "b"]


def test_variances_of_balanced_data_are_those_of_the_analysis_of_variance():
    r, m = rng(2), 4
    code = np.repeat(np.arange(30), m)
    y = r.normal(0, 1, 30)[code] + r.normal(0, 0.7, 30 * m)
    found = components.variances(y, np.zeros(len(y), int), {"dialogue": code})
    table = y.reshape(30, m)
    within = table.var(axis=1, ddof=1).mean()
    assert found["residual"] == pytest.approx(within)
    assert found["dialogue"] == pytest.approx(table.mean(axis=1).var(ddof=1) - within / m)


def test_variances_of_crossed_data_are_near_those_of_reml():
    r = rng(3)
    frame = rated(r, n=400, people=20, sd_dialogue=0.8, sd_person=0.6)
    y, system = frame["score"].to_numpy(float), pd.factorize(frame["system"])[0]
    factors = {f: pd.factorize(frame[f])[0] for f in ("dialogue", "annotator")}
    found = components.variances(y, system, factors)
    fit = reml.fit_linear_mixed(y, np.eye(2)[system], list(factors.values()), confidence=None)
    assert [found["dialogue"], found["annotator"]] == pytest.approx(fit.variances.tolist(), rel=0.1)
    assert found["residual"] == pytest.approx(fit.residual, rel=0.1)


def test_factors_that_repeat_others_are_left_out():
    d = components.design(rated(rng(5), sessions=False), SYSTEMS)
    assert list(d.factors) == ["dialogue", "annotator", "annotator_of_system"]  # a session is a dialogue here
    once = components.design(rated(rng(5), each=1).assign(annotator_known=False), SYSTEMS)
    assert list(once.factors) == ["session"]
    assert once.annotator is None


def test_comparisons_are_turned_to_the_order_of_systems():
    r = rng(6)
    rows = [(*("ab" if r.random() < 0.5 else "ba"), r.choice([-1, 0, 1])) for _ in range(80)]
    frame = comparisons(rows).assign(annotator=[f"A{i % 5}" for i in range(80)])
    d = components.design(frame, SYSTEMS)
    left = np.where(frame["system"] == "a", 1, -1) * frame["score"]
    assert d.score.tolist() == left.tolist()
    assert "annotator" not in d.factors


@pytest.mark.parametrize("ways", [1, 2])
def test_covariances_of_many_releases_are_those_of_one(ways):
    d = components.design(rated(rng(1), sd_favour=0.3), SYSTEMS)
    over, scores = [d.session[d.row], d.annotator][:ways], rng(8).integers(1, 6, (5, len(d.score))).astype(float)
    used = clusters.Clustered(d.system, d.weight, over)
    means, found = used.covariance(scores)
    for i in range(5):
        one = clusters.clustered_covariance(d.system, scores[i], d.weight, over)
        assert means[i] == pytest.approx(one[0])
        assert found.first[i] == pytest.approx(one[1].first, abs=1e-12)
        assert found.variances[i] == pytest.approx(one[1].variances)
        assert used.fewest.tolist() == one[2].tolist()
        assert found.pair_errors()[i] == pytest.approx(one[1].pair_errors())
