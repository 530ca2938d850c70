"""Conclusions about pairs: against scipy, and a case worked by hand."""

import numpy as np
import pytest
from scipy import stats

from judgebook.extras.compare.analysis import changes, counts, gaps


def jackknife(values):
    """Means without each row of (clusters, systems)."""
    return (values.sum(axis=0) - values) / (len(values) - 1)


def runs(rng, truth, n=20, noise=1.0):
    return [t + rng.normal(0, noise, (n, len(t))) for t in truth]


def both(means, without):
    """Means of both runs without each cluster, of which none took part in both; and in which run it did."""
    runs = np.repeat([0, 1], [len(without[0]), len(without[1])])
    left = np.broadcast_to(means, (len(runs), *means.shape)).copy()
    for i in range(2):
        left[runs == i, i] = without[i]
    return left, runs


def found(data, alpha=0.05):
    means, without = np.stack([d.mean(axis=0) for d in data]), [jackknife(d) for d in data]
    pairs = gaps(means, without).assign(change_p=changes(means, *both(means, without)))
    return pairs, counts(pairs, alpha)


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
    assert (n["pairs"], n["same"]) == (2, 1)
    assert (n["same_sign"], n["opposite"], n["only_a"], n["only_b"]) == (1, 1, 1, 0)
    assert n["changed"] == 2


def test_a_change_is_tested_as_by_t_tests():
    """Other people in each run: pooled (Student) where both have as many; the same people: paired."""
    data = runs(np.random.default_rng(6), np.array([[0, 0.5, 1.0], [0, -0.5, 1.0]]))
    pairs, _ = found(data)
    means, without = np.stack([d.mean(axis=0) for d in data]), np.stack([jackknife(d) for d in data], axis=1)
    paired = changes(means, without, np.zeros(20, dtype=int))
    for place, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        a, b = (d[:, i] - d[:, j] for d in data)
        assert pairs["change_p"][place] == pytest.approx(stats.ttest_ind(a, b).pvalue)
        assert paired[place] == pytest.approx(stats.ttest_rel(a, b).pvalue)


def test_without_clusters_nothing_is_tested():
    means = np.array([[1.0, 2, 3], [1, 3, 2]])
    nobody = np.empty((0, 2, 3)), np.empty(0, dtype=int)
    n = counts(gaps(means, [np.empty((0, 3))] * 2).assign(change_p=changes(means, *nobody)), 0.05)
    assert (n["pairs"], n["same"], n["tested"]) == (3, 2, 0)
