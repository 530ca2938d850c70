"""Order and conclusions about pairs: against scipy, a case worked by hand, and a simulation with known order."""

import numpy as np
import pytest
from scipy import stats

from judgebook.extras.compare.orders import agreement, counts, gaps


def jackknife(values):
    """Means without each row of (clusters, systems)."""
    return (values.sum(axis=0) - values) / (len(values) - 1)


def runs(rng, truth, n=20, noise=1.0):
    return [t + rng.normal(0, noise, (n, len(t))) for t in truth]


def found(data, alpha=0.05):
    pairs = gaps(np.stack([d.mean(axis=0) for d in data]), [jackknife(d) for d in data])
    return pairs, counts(pairs, alpha)


def test_the_share_in_the_same_order_is_kendalls_tau_moved_to_0_to_1():
    data = runs(np.random.default_rng(1), np.zeros((2, 9)))
    _, n = found(data)
    tau = stats.kendalltau(*(d.mean(axis=0) for d in data)).statistic
    assert agreement(n)[0] == pytest.approx((tau + 1) / 2)


def test_p_values_are_those_of_paired_t_tests():
    """Means of clusters that all judge every system: the jackknife is exact."""
    data = runs(np.random.default_rng(2), np.array([[0, 0.5, 1.0], [0, -0.5, 1.0]]))
    pairs, _ = found(data)
    for run, values in zip("ab", data, strict=True):
        expected = [stats.ttest_rel(values[:, i], values[:, j]).pvalue for i, j in ((0, 1), (0, 2), (1, 2))]
        np.testing.assert_allclose(pairs[f"{run}_p"], expected, rtol=1e-9)


def test_a_case_worked_by_hand():
    """Three systems: 1 < 2 < 3 in one run, 2 < 1 = 3 in the other, with next to no noise."""
    noise = np.array([-1.0, 0, 0, 0, 1]) * 1e-3
    each = np.outer(noise, [0, 1, 2])
    _, n = found([np.array([1.0, 2, 3]) + each, np.array([3.0, 2, 3]) + each])
    assert (n["pairs"], n["ties"], n["same"]) == (2, 1, 1)
    assert (n["same_sign"], n["opposite"], n["only_a"], n["only_b"], n["neither"]) == (1, 1, 1, 0, 0)
    assert agreement(n) == (0.5, 0.5, 0.5)


def test_every_tested_pair_is_counted_once():
    rng = np.random.default_rng(3)
    for _ in range(20):
        _, n = found(runs(rng, rng.normal(0, 0.5, (2, 6))))
        assert n["same_sign"] + n["opposite"] + n["only_a"] + n["only_b"] + n["neither"] == n["tested"] == 15
        assert n["sure_same"] <= n["same_sign"]
        assert n["sure_opposite"] <= n["opposite"]


@pytest.mark.parametrize("correlation", [0.0, 0.8, 1.0])
def test_the_interval_holds_the_share_of_the_true_order(correlation):
    """400 worlds of eight systems; the interval is conservative, so 95% is a floor (Monte Carlo error 1.1 points)."""
    rng, hits = np.random.default_rng(4), 0
    for _ in range(400):
        first = rng.normal(0, 1, 8)
        truth = np.stack([first, correlation * first + np.sqrt(1 - correlation**2) * rng.normal(0, 1, 8)])
        upper = np.triu_indices(8, 1)
        share = np.mean(np.prod([np.subtract.outer(t, t)[upper] for t in truth], axis=0) > 0)
        _, n = found(runs(rng, truth, n=12))
        _, low, high = agreement(n)
        hits += low - 1e-12 <= share <= high + 1e-12
    assert hits / 400 >= 0.95


def test_without_tests_there_is_a_share_and_no_interval():
    means = np.array([[1.0, 2, 3], [1, 3, 2]])
    n = counts(gaps(means, [np.empty((0, 3))] * 2), 0.05)
    share, low, high = agreement(n)
    assert share == pytest.approx(2 / 3)
    assert np.isnan(low)
    assert np.isnan(high)
