"""Leaving out few: against going through all subsets, and planted cases."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from judgebook.questions.fragility import drop_few
from judgebook.statistics.multiplicity import adjust_p_values


def smallest(values, changed) -> int:
    """The least number of places whose removal changes something, by going through all of them."""
    for k in range(1, len(values)):
        for gone in combinations(range(len(values)), k):
            if changed(np.delete(np.arange(len(values)), gone)):
                return k
    return len(values)


@pytest.mark.parametrize("seed", range(3))
def test_the_sign_of_a_difference_is_exact(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(1, 6, 6) + 0.6 * (seed % 2), rng.integers(1, 5, 5).astype(float)
    if a.mean() == b.mean():
        a = a + 0.1
    x, sign = np.r_[a, b], np.sign(a.mean() - b.mean())

    def turned(kept):
        one, other = x[kept[kept < 6]], x[kept[kept >= 6]]
        return len(one) and len(other) and sign * (one.mean() - other.mean()) <= 1e-12

    found = drop_few.sign_of_two(a.astype(float), b)
    least = smallest(x, turned)
    assert found.needed == (least if least <= 0.5 * 11 else None)
    if found.needed is not None:
        assert turned(np.delete(np.arange(11), found.which))


@pytest.mark.parametrize("seed", range(2))
def test_the_sign_of_a_mean_is_exact(seed):
    x = np.random.default_rng(seed).integers(-1, 2, 12).astype(float) + 0.05
    found = drop_few.sign_of_one(x)
    least = smallest(x, lambda kept: np.sign(x.mean()) * x[kept].mean() <= 1e-12)
    assert found.needed == (least if least <= 6 else None)


def test_one_dialogue_makes_a_difference():
    a, b = np.array([1.0, 1.0, 1.0, 1.0, 9.0]), np.array([1.1, 1.1, 1.1, 1.1, 1.1])
    found = drop_few.sign_of_two(a, b)
    assert (found.needed, list(found.which)) == (1, [4])
    assert list(drop_few.sign_of_two(b, a).which) == [9]


@pytest.mark.parametrize("step", [0, 0.5])
@pytest.mark.parametrize("two", [True, False])
def test_each_value_left_out_lowers_t_most(two, step):
    """Of equal values, which are gone through together, the first goes."""
    rng = np.random.default_rng(4)
    x, of = np.r_[rng.normal(1.2, 1, 15), rng.normal(0, 1, 15)], np.arange(30) // 15
    x, of = (x, of) if two else (x[:15], of[:15])
    x = step * np.rint(x / step) if step else x

    def test(kept):
        a, b = x[kept[of[kept] == 0]], x[kept[of[kept] == 1]]
        return ttest_ind(a, b, equal_var=False) if two else ttest_1samp(a, 0)

    found, kept = drop_few.significance(x[of == 0], x[of == 1] if two else None), np.arange(len(x))
    assert found.needed > 1
    for _ in range(found.needed):
        assert test(kept).pvalue < 0.05
        kept = min((np.setdiff1d(kept, [i]) for i in kept), key=lambda k: round(abs(test(k).statistic), 12))
    assert test(kept).pvalue >= 0.05
    assert sorted(found.which) == sorted(set(range(len(x))) - set(kept))


def test_what_is_not_significant_is_refused():
    with pytest.raises(ValueError, match="not significant"):
        drop_few.significance(np.array([1.0, -1.0, 0.5, -0.4]))


def test_one_person_makes_a_difference():
    totals = np.array([[10.0, 10.0], [8.0, 8.1], [9.0, 9.1], [30.0, 5.0]])
    counts = np.full((4, 2), 5.0)
    found = drop_few.people(totals, counts)
    assert (found.needed, list(found.which)) == (1, [3])


def test_a_person_without_whom_nothing_is_left_stays():
    totals, counts = np.array([[5.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    found = drop_few.people(totals, counts)
    assert (found.needed, found.emptied) == (None, True)
    # the third alone turns it
    assert drop_few.people(np.array([[1.0, 0], [0, 4], [9, 0]]), np.array([[1.0, 0], [0, 2], [2, 0]])).needed == 1


@pytest.mark.parametrize("two", [True, False])
def test_values_without_spread_stay_significant(two):
    a = np.full(8, 2.0)
    b = np.ones(8) if two else None
    found = drop_few.significance(a, b)
    assert found.needed is None
    assert not len(found.which)


def test_the_level_that_holm_leaves_is_where_the_adjusted_p_value_passes_it():
    """By hand: with others at 0.001 and 0.5, the second of three steps decides: 0.05 / 2; against the adjustment."""
    assert drop_few.holm_level(np.array([0.001, 0.5])) == pytest.approx(0.025)
    assert drop_few.holm_level(np.array([])) == 0.05
    assert drop_few.holm_level(np.array([0.001, 0.002])) == 0.05
    rng = np.random.default_rng(5)
    for _ in range(50):
        others = rng.random(rng.integers(1, 6)) ** 6
        level = drop_few.holm_level(others)
        below, above = (adjust_p_values(np.append(others, level * f))[-1] for f in (0.999, 1.001))
        assert below < 0.05 <= above
