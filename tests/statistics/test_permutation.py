"""Permutation tests: counted by hand and against scipy."""

import numpy as np
import pytest
from scipy import stats

from judgebook.statistics import permutation as rs
from judgebook.statistics.permutation import from_null


def rng():
    return np.random.default_rng(11)


def test_sign_flips_counted_by_hand():
    # 1, 2, 3: of 8 sign patterns +++ and --- are as extreme as a sum of 6; one-sided only +++
    two = rs.sign_flip_test([1, 2, 3], rng=rng())
    assert (two.observed, two.p_value, two.exact, len(two.null)) == (2.0, 2 / 8, True, 8)
    assert from_null(two.observed, two.null, exact=True, alternative="greater").p_value == 1 / 8
    # a pair without a difference changes nothing but the mean
    assert rs.sign_flip_test([1, 2, 3, 0], rng=rng()).p_value == 2 / 8


def test_ties_up_to_rounding_count():
    # 0.1 + 0.2 - 0.3 is not exactly 0: all arrangements whose sum is 0 up to rounding must count as 0
    found = rs.sign_flip_test([0.1, 0.2, -0.3], rng=rng())
    assert found.observed == pytest.approx(0, abs=1e-15)
    assert found.p_value == 1.0


@pytest.mark.parametrize("alternative", rs.ALTERNATIVES)
def test_sign_flips_equal_scipy(alternative):
    d = np.random.default_rng(1).normal(0.4, size=11).round(2)
    theirs = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", alternative=alternative, n_resamples=np.inf
    )
    found = rs.sign_flip_test(d, rng=rng())
    p = from_null(found.observed, found.null, exact=True, alternative=alternative).p_value
    assert p == pytest.approx(theirs.pvalue)


def test_monte_carlo_is_never_zero_and_agrees_with_enumeration(monkeypatch):
    d = np.random.default_rng(2).normal(0.5, size=12)
    exact = rs.sign_flip_test(d, rng=rng()).p_value
    monkeypatch.setattr(rs, "EXACT_LIMIT", 1)
    drawn = rs.sign_flip_test(d, rng=rng(), n_permutations=20_000)
    assert not drawn.exact
    assert drawn.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    assert rs.sign_flip_test(np.ones(40), rng=rng(), n_permutations=99).p_value == 1 / 100


def test_undefined_arrangements_count_as_extreme():
    found = rs.permutation_test(1.0, None, rng=rng(), exact=np.array([1.0, 0.5, np.nan, -0.2]))
    assert (found.p_value, found.n_undefined) == (2 / 4, 1)
    assert np.isnan(rs.permutation_test(np.nan, None, rng=rng(), exact=np.array([1.0, 0.0])).p_value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rs.sign_flip_test([1, np.nan], rng=rng()), "finite"),
        (lambda: from_null(1.0, np.ones(2), exact=True, alternative="both"), "two-sided, greater, found 'both'"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_mid_p_value_counts_ties_half():
    found = rs.sign_flip_test([1.0, 1.0, 1.0, -1.0, 0.0], rng=rng())
    # by hand: 3 wins of 4 have probability 4 / 16, more extreme splits 1 / 16; twice for both sides
    assert (found.p_value, found.mid_p) == (10 / 16, 2 * (1 / 16 + 4 / 32))
    drawn = rs.sign_flip_test(np.ones(40), rng=rng(), n_permutations=99)
    assert drawn.mid_p == 0.5 / 100
