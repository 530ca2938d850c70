"""Differences, chances and tiers that follow from levels and their covariance: Tukey's range, simulation, symmetry."""

import numpy as np
import pytest
from scipy import stats

from judgebook.model.contrasts import DRAWS, Levels, of_pairs, tail

#: of a share p of DRAWS, four standard errors
ERROR = 4 * np.sqrt(0.25 / DRAWS)


def levels(estimates, covariance=None, df=np.inf):
    m = len(estimates)
    covariance = np.eye(m) if covariance is None else covariance
    return Levels(np.array(estimates, float), covariance, np.full((m, m), float(df)))


@pytest.mark.parametrize("m", [2, 3, 6])
@pytest.mark.parametrize("df", [3, 10, 60, np.inf])
def test_of_balanced_designs_the_critical_value_is_that_of_tukeys_range(m, df):
    found = levels(np.zeros(m), df=df).critical(np.array([float(df)]))
    assert found == pytest.approx(stats.studentized_range.ppf(0.95, m, df) / np.sqrt(2), rel=0.02)


def unequal(seed=1, m=5):
    root = np.random.default_rng(seed).normal(size=(m, m)) / np.sqrt(m)
    return root @ root.T + 0.05 * np.eye(m)


@pytest.mark.parametrize("df", [4.0, np.inf])
def test_with_any_covariance_it_is_the_multivariate_t(df):
    """Drawn with other numbers: normal levels over the root of chi-square."""
    covariance, n = unequal(), 200_000
    one, r = levels(np.zeros(5), covariance, df), np.random.default_rng(7)
    z = r.multivariate_normal(np.zeros(5), covariance, n)
    i, j = one.pairs
    t = np.abs(z[:, i] - z[:, j]) / np.sqrt(of_pairs(covariance))
    scale = np.ones(n) if np.isinf(df) else np.sqrt(r.chisquare(df, n) / df)
    largest = t.max(axis=1) / scale
    assert one.critical(np.array([df])) == pytest.approx(np.quantile(largest, 0.95), rel=0.02)


def test_many_degrees_of_freedom_are_interpolated():
    one, df = levels(np.zeros(8), unequal(m=8)), np.linspace(3.0, 200.0, 28)
    several = one.critical(df)
    alone = np.concatenate([one.critical(df[k : k + 1]) for k in range(28)])
    assert several == pytest.approx(alone, rel=0.003)


@pytest.mark.parametrize("df", [5, 40, np.inf])
def test_a_p_value_is_below_5_percent_where_the_interval_excludes_0(df):
    d = levels(np.random.default_rng(3).normal(0, 2, 7), unequal(m=7), df).differences()
    beyond = (d.low > 0) | (d.high < 0)
    assert beyond.tolist() == d.decided.tolist() == (d.p_adjusted < 0.05).tolist()
    assert 0 < beyond.sum() < len(beyond)
    assert (d.p_adjusted >= d.p_value - ERROR).all()
    assert (d.low + d.high) / 2 == pytest.approx(d.estimate)


def test_pairs_without_an_error_are_not_decided():
    df = np.full((3, 3), 20.0)
    df[0, 2] = df[2, 0] = np.nan
    d = Levels(np.array([3.0, 0.0, -3.0]), 0.01 * np.eye(3), df).differences()
    assert d.decided.tolist() == [True, False, True]
    assert np.isnan(d.low).tolist() == np.isnan(d.p_adjusted).tolist() == [False, True, False]
    none = levels([1.0, 2.0], np.full((2, 2), np.nan), np.nan)
    assert not none.comparable
    assert np.isnan(none.p_best).all()
    assert np.isnan(none.expected_rank).all()
    assert not none.differences().decided.any()


def test_equal_systems_have_equal_chances_and_ranks():
    one = levels(np.zeros(4), 0.2 * np.eye(4), 12)
    assert one.p_best == pytest.approx(np.full(4, 0.25), abs=ERROR)
    assert one.expected_rank == pytest.approx(np.full(4, 2.5), abs=0.05)


def test_chances_follow_the_order_and_turn_with_it():
    one = levels([2.0, 1.0, 0.0], 0.5 * np.eye(3), 15)
    assert one.p_best[0] > one.p_best[1] > one.p_best[2]
    assert one.p_best.sum() == pytest.approx(1)
    turned = levels([0.0, 1.0, 2.0], 0.5 * np.eye(3), 15)
    assert one.reversed().p_best == pytest.approx(turned.p_best, abs=2 * ERROR)
    assert one.reversed().estimates.tolist() == [-2, -1, 0]


def test_of_two_far_apart_the_first_is_best_and_among_many_alike_the_first_hardly():
    assert levels([10.0, 0.0], 0.1 * np.eye(2)).p_best[0] > 0.999
    best = np.sort(np.random.default_rng(5).normal(size=30))[::-1]
    alike = levels(best, np.eye(30))
    plain = (np.random.default_rng(6).normal(best, 1, (20_000, 30)).argmax(axis=1) == 0).mean()
    assert alike.p_best[0] < 0.8 * plain  # levels are drawn towards their mean


def test_levels_are_shrunk_as_the_posterior_of_normal_levels_says():
    """With errors known, by a sum over the shrinkage of independent normal levels (an integral in one dimension)."""
    x, v = np.array([1.5, 0.5, -0.5, -1.5]), 0.5
    kept = (np.arange(2000) + 0.5) / 2000  # of the error in the variance of an estimate; uniform beforehand
    density = kept ** (3 / 2) * np.exp(-np.sum(x**2) * kept / (2 * v))
    mean = np.sum(density * (1 - kept)) / density.sum() * x
    assert levels(x, v * np.eye(4)).posterior.mean(axis=0) == pytest.approx(mean, abs=0.02)


def test_tiers_are_of_systems_that_cannot_be_told_from_their_first():
    one = levels([0.0, 5.0, 4.8, 0.1, -6.0], 0.04 * np.eye(5), 30)
    assert one.tiers().tolist() == [2, 1, 1, 2, 3]
    assert levels(np.zeros(3)).tiers().tolist() == [1, 1, 1]


def test_critical_values_are_those_of_halving_to_the_last_digit():
    levels, df = (
        Levels(np.zeros(5), np.diag(np.arange(1.0, 6)), np.full((5, 5), 9.0)),
        np.array([0.8, 2.4, 9, 300, np.inf]),
    )
    low, high = np.zeros(5), np.full(5, 1e3)
    for _ in range(32):
        middle = (low + high) / 2
        above = tail(levels.largest, middle, df) > 1 - 0.95
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    assert levels.critical(df).tolist() == high.tolist()
