"""CV* against values printed by Belz, Popović and Mille (2022), hand-worked cases and its sampling distribution."""

import numpy as np
import pytest

from judgebook.extras.compare.analysis import cv_star, factor, folded, of_two, relative_difference
from judgebook.statistics.intervals import jackknife_t

#: Table 4: scores of repetitions of one system, and CV* (three decimals from the authors' repository, asbelz/coeff-var)
PRINTED = [
    ([84.51, 84.50, 87.46, 85.60, 84.20, 86.61, 86.20], 1.562),
    ([30.65, 30.65, 29.13, 30.65, 29.96], 2.487),
    ([87.50, 80.75, 89.36, 88.10, 89.64, 88.80], 4.176),
    ([31.11, 30.28, 31.11, 29.12], 3.572),
]


@pytest.mark.parametrize(("scores", "printed"), PRINTED)
def test_printed_values(scores, printed):
    assert round(float(cv_star(np.array(scores))), 3) == printed


def test_a_case_worked_by_hand():
    """3 and 5: mean 4, standard deviation √2; c4(2) = √(2/π); (1 + 1/8) √2 / √(2/π) / 4 = 49.85%."""
    assert cv_star(np.array([3.0, 5.0])) == pytest.approx(100 * 1.125 * np.sqrt(np.pi) / 4)
    assert cv_star(np.array([3.0, 5.0])) == pytest.approx(49.850, abs=1e-3)


def test_of_two_measurements_it_is_a_multiple_of_the_relative_difference():
    a, b = np.random.default_rng(1).uniform(0.1, 5, (2, 50))
    np.testing.assert_allclose(of_two(relative_difference(a, b)), cv_star(np.stack([a, b], axis=-1)))


def test_what_does_not_vary_has_none_and_what_has_no_zero_is_undefined():
    found = cv_star(np.array([[2.0, 2.0], [0.0, 0.0], [-1.0, 0.5], [np.nan, 1.0]]))
    assert found[0] == 0
    assert np.isnan(found[1:]).all()
    assert np.isnan(cv_star(np.array([3.0])))
    assert factor(10**6) == pytest.approx(100, rel=1e-5)


def test_intervals_of_absolute_values():
    low, high = folded(np.array([-1.0, 0.5, -3.0]), np.array([2.0, 1.0, -1.0]))
    assert low.tolist() == [0, 0.5, 1]
    assert high.tolist() == [2, 1, 3]


@pytest.mark.evidence
@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_intervals_hold_the_true_value_as_often_as_they_say(shift):
    """600 repetitions of two runs of 15 people each with means 2 and 2 + shift (Monte Carlo error 0.9 points). Where
    the truth is 0 the interval holds it unless it excludes 0, in 95%."""
    rng, hits, truth = np.random.default_rng(5), 0, of_two(relative_difference(2.0, 2.0 + shift))
    groups = np.repeat([0, 1], 15)
    for _ in range(600):
        a, b = rng.normal([[2.0], [2.0 + shift]], 0.6, (2, 15))
        left = [(x.sum() - x) / 14 for x in (a, b)]
        ones = np.ones(15)
        pairs = np.concatenate([left[0], a.mean() * ones]), np.concatenate([b.mean() * ones, left[1]])
        d = relative_difference(a.mean(), b.mean())
        interval = jackknife_t(float(d), relative_difference(*pairs), "person", groups=groups)
        low, high = of_two(np.array(folded(interval.low, interval.high)))
        hits += low <= truth <= high
    assert 0.925 <= hits / 600 <= 0.98
