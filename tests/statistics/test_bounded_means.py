"""Bounds of means on a scale: against Clopper and Pearson, Fisher's exact test, and their level."""

import numpy as np
import pytest
from scipy import stats

from judgebook.statistics import bounded_means
from judgebook.statistics.bounded_means import at_one_end, away, compare_bounded_means

UNIT = np.zeros(1), np.ones(1)


def rng(seed=0):
    return np.random.default_rng(seed)


def column(*values):
    return np.array(values, dtype=float)[:, None]


def test_of_two_values_it_is_fishers_exact_test_doubled():
    one, two = column(0, 0, 0, 0, 1), column(*[1] * 6, *[0] * 4)
    p, low, high = compare_bounded_means(one, two, *UNIT, rng=rng(), draws=200_000)
    one_sided = min(stats.fisher_exact([[1, 4], [6, 4]], alternative=a).pvalue for a in ("less", "greater"))
    assert p == pytest.approx([2 * one_sided], rel=0.02)
    assert low < 0.2 - 0.6 < high


def test_of_one_mean_it_is_the_interval_of_clopper_and_pearson():
    """The other system has so many values that its mean is known."""
    _, low, high = compare_bounded_means(column(1, 0, 0, 0, 0, 0), np.zeros((4_000, 1)), *UNIT, rng=rng(), draws=20_000)
    exact = stats.binomtest(1, 6).proportion_ci(0.95, method="exact")
    assert [low[0], high[0]] == pytest.approx([exact.low, exact.high], abs=0.01)


def test_units_of_the_scale_and_the_order_of_systems_do_not_matter():
    one, two = rng(1).beta(0.2, 2, (8, 3)), rng(2).beta(4, 4, (12, 3))
    p, low, high = compare_bounded_means(one, two, np.zeros(3), np.ones(3), rng=rng(3))
    q, least, _ = compare_bounded_means(1 + 4 * one, 1 + 4 * two, np.ones(3), np.full(3, 5.0), rng=rng(3))
    assert q == pytest.approx(p)
    assert least == pytest.approx(4 * low)
    turned, start, end = compare_bounded_means(two, one, np.zeros(3), np.ones(3), rng=rng(4))
    assert turned == pytest.approx(p, abs=0.01)
    assert [*start, *end] == pytest.approx([*-high, *-low], abs=0.02)


def test_the_effective_number_away_from_an_end_by_hand():
    assert away(column(0, 0, 0, 1), *UNIT) == pytest.approx([1])
    assert away(column(0, 0, 0.2, 0.4), *UNIT) == pytest.approx([0.36 / 0.2])
    assert away(column(1, 1, 1, 0.5), *UNIT) == pytest.approx([1])  # from the upper end
    assert away(column(0, 0), *UNIT) == [0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 0, 0, 0, 0.8], True),
        ([0, 0, 0, 0.5, 0.8], True),  # 1.9 of 5
        ([0, 0, 0.5, 0.5, 0.8], False),  # 2.8 of 5
        ([1, 1, 1, 1, 1, 1, 0.2, 0.3], True),
        ([0] * 16 + [0.5] * 4, False),
        ([0] * 18 + [0.5] * 2, True),
        ([0] * 19 + [0.5] * 2, False),  # more than 20 dialogues
        ([0.4, 0.5, 0.5, 0.6, 0.7], False),
    ],
)
def test_values_at_one_end(values, expected):
    assert at_one_end(column(*values), *UNIT) == [expected]


def test_without_a_scale_nothing_is_at_its_end():
    assert at_one_end(column(0, 0, 0), np.array([np.nan]), np.array([np.nan])) == [False]


@pytest.mark.evidence
@pytest.mark.parametrize(("n", "m", "zeros"), [(5, 60, 0.9), (10, 60, 0.77), (20, 20, 0.9), (5, 5, 0.5)])
def test_equal_means_are_kept_apart_too_rarely_rather_than_too_often(n, m, zeros):
    r, runs = rng(5), 1000
    one = np.where(r.random((n, runs)) < zeros, 0, r.uniform(0.5, 1, (n, runs)))
    two = r.binomial(10, 0.75 * (1 - zeros), (m, runs)) / 10
    p, low, high = compare_bounded_means(one, two, np.zeros(runs), np.ones(runs), rng=r, draws=bounded_means.DRAWS)
    assert np.mean(p < 0.05) < 0.05
    assert np.mean((low <= 0) & (high >= 0)) > 0.95
    assert np.mean((p < 0.05) == ((low > 0) | (high < 0))) > 0.99
