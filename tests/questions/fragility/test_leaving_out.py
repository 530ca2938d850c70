"""Leaving out few: against going through all subsets, and planted cases."""

from itertools import combinations

import numpy as np
import pytest

from judgebook.questions.fragility import leaving_out
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

    found = leaving_out.sign_of_two(a.astype(float), b)
    least = smallest(x, turned)
    assert found == (least if least <= 0.5 * 11 else None)


@pytest.mark.parametrize("seed", range(2))
def test_the_sign_of_a_mean_is_exact(seed):
    x = np.random.default_rng(seed).integers(-1, 2, 12).astype(float) + 0.05
    found = leaving_out.sign_of_one(x)
    least = smallest(x, lambda kept: np.sign(x.mean()) * x[kept].mean() <= 1e-12)
    assert found == (least if least <= 6 else None)


def test_one_dialogue_makes_a_difference():
    a, b = np.array([1.0, 1.0, 1.0, 1.0, 9.0]), np.array([1.1, 1.1, 1.1, 1.1, 1.1])
    assert leaving_out.sign_of_two(a, b) == leaving_out.sign_of_two(b, a) == 1


def test_the_level_that_holm_leaves_is_where_the_adjusted_p_value_passes_it():
    """By hand: with others at 0.001 and 0.5, the second of three steps decides: 0.05 / 2; against the adjustment."""
    assert leaving_out.holm_level(np.array([0.001, 0.5])) == pytest.approx(0.025)
    assert leaving_out.holm_level(np.array([])) == 0.05
    assert leaving_out.holm_level(np.array([0.001, 0.002])) == 0.05
    rng = np.random.default_rng(5)
    for _ in range(50):
        others = rng.random(rng.integers(1, 6)) ** 6
        level = leaving_out.holm_level(others)
        below, above = (adjust_p_values(np.append(others, level * f))[-1] for f in (0.999, 1.001))
        assert below < 0.05 <= above
