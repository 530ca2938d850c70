"""Saddlepoint p-values against all arrangements, many permutations, the binomial distribution and their own level."""

import numpy as np
import pytest
from scipy import stats

from judgebook.statistics import permutation, saddlepoint


def samples(kind, n, shift, seed=1):
    """Two samples of n dialogues and five variables, the first better by `shift`."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(2 * n, 5))
    y[:n] += shift
    return {"real": y, "likert": np.clip(np.rint(3 + y), 1, 5), "marks": (y > 1).astype(float)}[kind]


@pytest.mark.parametrize(("kind", "error"), [("real", 0.12), ("likert", 0.15), ("marks", 0.05)])
def test_two_samples_of_eight_agree_with_all_arrangements(kind, error, monkeypatch):
    monkeypatch.setattr(permutation, "EXACT_LIMIT", 20_000)
    system = np.repeat([0, 1], 8)
    for shift in (0, 1):
        y = samples(kind, 8, shift)
        exact = permutation.blocked_permutation(y, system, np.zeros(16), rng=None)
        assert exact.exact
        found, p = saddlepoint.blocked_saddlepoint(y, system, np.zeros(16))
        assert found == pytest.approx(exact.observed)
        inside = exact.p_value > 1e-3  # in the last arrangements one more or less is a third
        assert p[inside] == pytest.approx(exact.p_value[inside], rel=error)


def test_sessions_and_others_agree_with_many_permutations():
    rng = np.random.default_rng(3)
    block = np.r_[np.repeat(np.arange(10), 2), np.full(20, 99)]
    system = np.r_[np.tile([0, 1], 10), np.repeat([0, 1], 10)]
    y = np.clip(np.rint(3 + rng.normal(size=(40, 4)) + np.where(system == 0, 0.6, 0)[:, None]), 1, 5)
    drawn = permutation.blocked_permutation(y, system, block, rng=rng, n_permutations=20_000)
    found, p = saddlepoint.blocked_saddlepoint(y, system, block)
    assert found == pytest.approx(drawn.observed)
    error = 4 * np.sqrt(drawn.p_value * (1 - drawn.p_value) / 20_000)
    assert np.all(np.abs(p - drawn.p_value) < error + 0.03 * drawn.p_value)


def test_the_far_tail_is_that_of_the_hypergeometric_distribution():
    # 60 of 400 marked, 50 of them in the first half: Fisher's exact test, whose tails are equal here
    y = np.repeat([1.0, 0, 1, 0], [50, 150, 10, 190])[:, None]
    p = saddlepoint.blocked_saddlepoint(y, np.repeat([0, 1], 200), np.zeros(400))[1]
    exact = 2 * stats.hypergeom(400, 60, 200).sf(49)
    assert exact < 1e-7
    assert p[0] == pytest.approx(exact, rel=0.05)


def test_a_sample_wholly_above_the_other_has_the_smallest_p_value_there_is():
    y = np.r_[np.linspace(5, 6, 10) ** 2, np.linspace(1, 2, 10) ** 2][:, None] * np.pi
    p = saddlepoint.blocked_saddlepoint(y, np.repeat([0, 1], 10), np.zeros(20))[1]
    assert p[0] == pytest.approx(2 / 184_756, rel=1e-6)


@pytest.mark.parametrize(
    ("wins", "losses", "ties"), [(1, 0, 39), (1, 1, 20), (2, 1, 0), (3, 1, 10), (3, 3, 0), (31, 9, 5)]
)
def test_signs_of_few_differences_have_the_binomial_mid_p_value(wins, losses, ties):
    n, apart = wins + losses, abs(wins - losses)
    distance, chance = np.abs(2 * np.arange(n + 1) - n), stats.binom(n, 0.5).pmf(np.arange(n + 1))
    exact = chance[distance > apart].sum() + chance[distance == apart].sum() / 2
    d = np.repeat([1.0, -1.0, 0.0], [wins, losses, ties])[:, None]
    for sign in (1, -1):
        found, p = saddlepoint.sign_flip_saddlepoint(sign * d)
        assert found[0] == pytest.approx(sign * (wins - losses) / (n + ties))
        assert p[0] == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_near_no_difference_blocks_agree_with_all_arrangements(n):
    """Marks and scores of two systems in two blocks of n and n + 1 each, whose sums are on a lattice."""
    rng = np.random.default_rng(n)
    system, block = np.repeat([0, 1, 0, 1], [n, n, n + 1, n + 1]), np.repeat([0, 1], [2 * n, 2 * n + 2])
    y = rng.integers(0, [2] * 20 + [4] * 20, size=(len(system), 40)).astype(float)
    y = y[:, np.ptp(y, axis=0) > 0]
    exact = permutation.blocked_permutation(y, system, block, rng=np.random.default_rng(0), n_permutations=20_000)
    p = saddlepoint.blocked_saddlepoint(y, system, block)[1]
    assert (exact.p_value > 0.9).sum() > 3
    assert p == pytest.approx(exact.p_value, abs=0.03)
    assert np.all(p[exact.p_value == 1] == 1)


def test_no_difference_and_no_spread_are_no_evidence():
    y = np.column_stack([np.tile([1.0, 2], 20), np.full(40, 3.0)])
    assert saddlepoint.blocked_saddlepoint(y, np.repeat([0, 1], 20), np.zeros(40))[1] == pytest.approx([1, 1])
    assert saddlepoint.sign_flip_saddlepoint(np.zeros((30, 1)))[1] == pytest.approx([0.5])
    with pytest.raises(ValueError, match="nothing to exchange"):
        saddlepoint.blocked_saddlepoint(y, np.repeat([0, 1], 20), np.arange(40))


@pytest.mark.parametrize("marked", [0, 1, 2])
def test_rare_marks_have_a_p_value_where_only_one_side_can_be_as_extreme(marked):
    # of two marks among 30 dialogues, `marked` are among the 12 of one system
    y = np.r_[np.arange(12) < marked, np.arange(18) < 2 - marked].astype(float)[:, None]
    of_marks, shares = stats.hypergeom(30, 2, 12), [m / 12 - (2 - m) / 18 for m in range(3)]
    exact = sum(of_marks.pmf(m) for m in range(3) if abs(shares[m]) >= abs(shares[marked]) - 1e-12)
    p = saddlepoint.blocked_saddlepoint(y, np.repeat([0, 1], [12, 18]), np.zeros(30))[1]
    assert p[0] == pytest.approx(exact, rel=0.15)


def test_throws_of_a_coin():
    rng = np.random.default_rng(1)
    n = rng.integers(0, 3000, 2000)
    heads = rng.integers(0, n + 1)
    np.testing.assert_allclose(saddlepoint.coin_cdf(heads, n), stats.binom.cdf(heads, n, 0.5), rtol=1e-10)
    for p in (0.005, 0.025, 0.05, 0.1):
        np.testing.assert_array_equal(saddlepoint.coin_ppf(p, n), stats.binom.ppf(p, n, 0.5))


def test_signs_agree_with_the_binomial_distribution():
    wins, losses = 31, 9
    d = np.r_[np.ones(wins), -np.ones(losses), np.zeros(5)][:, None]
    found, p = saddlepoint.sign_flip_saddlepoint(d)
    half = stats.binom(wins + losses, 0.5)
    assert found[0] == pytest.approx((wins - losses) / 45)
    assert p[0] == pytest.approx(2 * (half.sf(wins) + half.pmf(wins) / 2), rel=0.02)


def test_the_level_is_kept():
    # 2,000 comparisons of equal systems: at 0.05 an exact test rejects in 5%, give or take 1.5 with this many
    rng = np.random.default_rng(5)
    y = np.clip(np.rint(3 + rng.normal(size=(24, 2000))), 1, 5)
    p = saddlepoint.blocked_saddlepoint(y, np.repeat([0, 1], 12), np.zeros(24))[1]
    for alpha in (0.01, 0.05, 0.1):
        assert np.mean(p < alpha) < alpha + 3 * np.sqrt(alpha * (1 - alpha) / 2000)
    assert np.mean(p < 0.05) > 0.02  # with five scores few p-values are possible
