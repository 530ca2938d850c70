"""Permutation tests: counted by hand, against scipy, against each other."""

import itertools

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


@pytest.mark.parametrize("n", [20, 33])
@pytest.mark.parametrize("value", [8 / 3, 4.2])
def test_where_all_values_are_the_same_there_is_no_difference(n, value):
    """Rounding errors of the difference are not compared with rounding errors; also where blocks differ."""
    systems, blocks = np.tile([0, 1], n), np.repeat([0, 1], n)
    values = np.full((2 * n, 2), value)
    values[:, 1] += blocks
    for one in (np.zeros(2 * n), blocks):
        found = rs.blocked_permutation(
            values[:, :1] if one is not blocks else values,
            systems, one, rng=rng(), n_permutations=200,
        )  # fmt: skip
        assert found.observed.tolist() == [0] * len(found.observed)
        assert found.p_value.tolist() == [1] * len(found.observed)


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


def test_one_block_equals_scipy():
    r = np.random.default_rng(4)
    a, b = r.normal(1, size=4).round(2), r.normal(size=5).round(2)
    theirs = stats.permutation_test((a, b), lambda x, y: x.mean() - y.mean(), alternative="greater", n_resamples=np.inf)
    found = rs.blocked_permutation(np.r_[a, b], np.repeat(["a", "b"], [4, 5]), np.zeros(9), rng=rng())
    assert found.observed == pytest.approx(a.mean() - b.mean())
    assert found.exact
    assert len(found.null) == 126
    p = from_null(found.observed, found.null, exact=True, alternative="greater").p_value
    assert p == pytest.approx(theirs.pvalue)


def test_blocks_of_two_equal_sign_flips():
    r = np.random.default_rng(5)
    a, b = r.normal(0.6, size=(2, 10))
    values, systems, blocks = np.r_[a, b], np.repeat(["a", "b"], 10), np.tile(np.arange(10), 2)
    shuffled = r.permutation(20)
    found = rs.blocked_permutation(values[shuffled], systems[shuffled], blocks[shuffled], rng=rng())
    flips = rs.sign_flip_test(a - b, rng=rng())
    assert found.observed == pytest.approx(flips.observed)
    assert found.p_value == pytest.approx(flips.p_value)
    # a unit alone in its block changes nothing
    more = rs.blocked_permutation(np.r_[values, 99.0], np.append(systems, "a"), np.r_[blocks, 10], rng=rng())
    assert (more.observed, more.p_value) == pytest.approx((found.observed, found.p_value))


def test_unequal_blocks_against_a_plain_loop():
    values = np.array([3.0, 1, 2, 5, 4, 0, 2])
    systems = np.array(["b", "a", "a", "b", "a", "b", "a"])
    blocks = np.array([0, 0, 0, 1, 1, 2, 2])

    def fixed_effects(y):
        x = (systems == "a").astype(float)
        design = np.column_stack([x, *(blocks == b for b in range(3))]).astype(float)
        return np.linalg.lstsq(design, y, rcond=None)[0][0]

    parts = [itertools.permutations(values[blocks == b]) for b in range(3)]
    null = [fixed_effects(np.concatenate(p)) for p in itertools.product(*parts)]
    observed = fixed_effects(values)
    found = rs.blocked_permutation(values, systems, blocks, rng=rng())
    assert found.observed == pytest.approx(observed)
    assert len(found.null) == 3 * 2 * 2
    assert found.p_value == pytest.approx(np.mean(np.abs(null) >= abs(observed) - 1e-9))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rs.sign_flip_test([1, np.nan], rng=rng()), "finite"),
        (lambda: from_null(1.0, np.ones(2), exact=True, alternative="both"), "two-sided, greater, found 'both'"),
        (lambda: rs.blocked_permutation([1, 2], ["a", "b"], [0, 1], rng=rng()), "nothing to exchange"),
        (lambda: rs.blocked_permutation([1, 2, 3], ["a", "b", "c"], [0, 0, 0], rng=rng()), "expected two, found"),
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


def test_placebo_size_is_nominal():
    # dialogues of one session share its level; sessions differ much: within blocks the test keeps its size
    r = np.random.default_rng(7)
    systems, blocks = np.tile(["a", "b"], 12), np.repeat(np.arange(12), 2)
    values = r.normal(size=(12, 400)).repeat(2, axis=0) * 3 + r.normal(size=(24, 400))
    found = rs.blocked_permutation(values, systems, blocks, rng=rng(), n_permutations=2000)
    assert np.mean(found.p_value <= 0.05) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 400))
