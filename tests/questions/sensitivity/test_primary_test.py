"""The primary test of two systems against scipy, statsmodels, enumeration, hand-solved cases and its own level."""

import itertools

import numpy as np
import pytest
from scipy import stats

from judgebook.annotations.population import Population
from judgebook.questions.sensitivity import differences, power
from judgebook.questions.sensitivity.primary import with_primary
from judgebook.questions.sensitivity.primary_test import PRIOR, exchange, pairs, two_systems, unequal_t
from judgebook.statistics import saddlepoint
from judgebook.statistics.permutation import blocked_permutation
from judgebook.study.results import collect


def rng(seed=0):
    return np.random.default_rng(seed)


def at(n, m):
    """Systems and blocks of n and m dialogues without sessions."""
    return np.repeat([0, 1], [n, m]), np.zeros(n + m, dtype=int)


def shrunken_t(x, y, axis):
    """|t| whose variance is the common one of both systems to the extent of PRIOR more units of the smaller system."""
    n, m = x.shape[axis], y.shape[axis]
    a, b = x.var(axis=axis, ddof=1), y.var(axis=axis, ddof=1)
    common = ((n - 1) * a + (m - 1) * b) / (n + m - 2) * (1 / n + 1 / m)
    weight = PRIOR / (PRIOR + min(n, m) - 1)
    return np.abs(x.mean(axis=axis) - y.mean(axis=axis)) / np.sqrt((1 - weight) * (a / n + b / m) + weight * common)


@pytest.mark.parametrize("seed", range(4))
def test_unequal_samples_have_the_larger_of_two_p_values(seed):
    x, y = 2 * rng(seed).normal(size=4) + 2, rng(seed + 10).normal(size=6)
    found = two_systems(np.r_[x, y], *at(4, 6))
    options = {"vectorized": True, "n_resamples": np.inf, "alternative": "greater"}
    permuted = stats.permutation_test((x, y), shrunken_t, **options).pvalue
    welch = stats.ttest_ind(x, y, equal_var=False).pvalue
    assert found.p_value == pytest.approx(max(permuted, welch))
    assert found.difference == pytest.approx(x.mean() - y.mean())
    assert (found.n_blocks, found.approximate) == (1, False)


def test_two_values_are_permuted_as_they_are():
    """Equal means are then equal distributions; Welch's test would give p < 0.05 here."""
    x, y = np.zeros(5), np.repeat([0.0, 1], [8, 4])
    found = two_systems(np.r_[x, y], *at(5, 12))
    assert stats.ttest_ind(x, y, equal_var=False).pvalue < 0.05
    # by hand: 4 marks among 17 dialogues; none in five has the probability C(13, 5) / C(17, 5), and only three or four
    # of them in five are as extreme
    expected = stats.hypergeom(17, 4, 5).pmf([0, 3, 4]).sum()
    assert found.p_value == pytest.approx(expected)


def test_balanced_samples_are_permuted_as_they_are_and_t_would_give_the_same():
    values = np.r_[3 * rng(1).normal(size=(6, 3)), rng(2).normal(1, 1, size=(6, 3))]
    found = two_systems(values, *at(6, 6))
    plain, of_t = (blocked_permutation(values, *at(6, 6), rng=None, studentised=s).p_value for s in (False, True))
    assert found.p_value == pytest.approx(plain)
    assert of_t == pytest.approx(plain)


def test_signs_have_the_mid_p_value_of_t_too():
    """The sum of squares does not depend on signs: |t| of every pattern is a monotone function of |mean|."""
    d = rng(3).integers(-3, 4, 9).astype(float)
    flips = np.array(list(itertools.product([-1, 1], repeat=9))) * d
    t = np.abs(flips.mean(axis=1)) / np.sqrt(np.maximum(flips.var(axis=1, ddof=1), 1e-300))
    own = np.abs(d.mean()) / np.sqrt(d.var(ddof=1))
    above, ties = np.mean(t > own + 1e-9), np.mean(np.abs(t - own) <= 1e-9)
    assert pairs(d).p_value == pytest.approx(above + ties / 2)


def test_the_t_test_is_welchs_in_one_block_and_the_paired_one_in_pairs():
    x, y = rng(4).normal(size=(7, 2)), 2 * rng(5).normal(size=(9, 2))
    every = np.ones(2, dtype=bool)
    found = unequal_t(exchange(np.r_[x, y], *at(7, 9)), every)
    assert found == pytest.approx(stats.ttest_ind(x, y, equal_var=False).pvalue)
    paired = exchange(np.r_[x, y[:7]], np.repeat([0, 1], 7), np.tile(np.arange(7), 2))
    assert unequal_t(paired, every) == pytest.approx(stats.ttest_rel(x, y[:7]).pvalue)


def test_the_t_test_with_pairs_and_others_by_hand():
    """Two pairs and a block of 2 v 4: HC2 of statsmodels, degrees of freedom from three parts of the variance."""
    import statsmodels.api as sm

    y, second = rng(6).normal(size=10), np.array([0, 1, 0, 1, 0, 0, 1, 1, 1, 1])
    block = np.array([1, 1, 2, 2, *[0] * 6])
    x = np.column_stack([second == 0, *(block == k for k in range(3))]).astype(float)
    fit = sm.OLS(y, x).fit(cov_type="HC2")
    hat = x @ np.linalg.solve(x.T @ x, x.T)
    influence = np.linalg.solve(x.T @ x, x.T)[0]
    terms = influence**2 * fit.resid**2 / (1 - np.diag(hat))
    parts = np.array([terms[:4].sum(), terms[4:6].sum(), terms[6:].sum()])
    df = parts.sum() ** 2 / np.sum(parts**2 / [1, 1, 3])
    expected = 2 * stats.t.sf(abs(fit.tvalues[0]), df)
    assert unequal_t(exchange(y[:, None], second, block), np.array([True])) == pytest.approx([expected])


def test_systems_that_do_not_vary():
    same = two_systems(np.full((12, 1), 3.0), *at(4, 8))
    assert same.p_value == pytest.approx([1.0])
    apart = two_systems(np.r_[np.full(4, 5.0), np.full(8, 3.0)], *at(4, 8))
    assert apart.p_value == pytest.approx(1 / 495)  # the most extreme of C(12, 4) arrangements


def test_nothing_to_exchange():
    with pytest.raises(ValueError, match="nothing to exchange"):
        two_systems(np.arange(3.0), np.array([0, 0, 1]), np.array([0, 1, 2]))


def test_large_families_take_saddlepoints_and_keep_the_t_test():
    values = np.r_[2 * rng(7).normal(size=(30, 4)), rng(8).normal(size=(50, 4))]
    found = two_systems(values, *at(30, 50), n_permutations=None)
    p = saddlepoint.blocked_saddlepoint(values, *at(30, 50))[1]
    welch = stats.ttest_ind(values[:30], values[30:], equal_var=False).pvalue
    assert found.approximate
    assert found.p_value == pytest.approx(np.maximum(p, welch))
    few = two_systems(values[:7], *at(3, 4), n_permutations=None)
    assert not few.approximate


@pytest.mark.parametrize(("n", "one", "other"), [(5, 2, 1), (20, 1, 2)])
def test_equal_means_are_rejected_no_more_often_than_they_should_be(n, one, other):
    """Unequal n and spread: the permutation test of the difference rejects 20% to 40% of the first."""
    r, runs = rng(9), 1000
    values = np.r_[r.normal(0, one, (n, runs)), r.normal(0, other, (60, runs))]
    found = two_systems(values, *at(n, 60), rng=r, n_permutations=299)
    plain = blocked_permutation(values, *at(n, 60), rng=r, n_permutations=299).p_value
    assert np.mean(found.p_value < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert (np.mean(plain < 0.05) > 0.15) == (one > other)


def mostly_0(r, n, m, runs, zeros=0.9):
    """Shares that are 0 but for a few, and even ones with the same mean."""
    few = np.where(r.random((n, runs)) < zeros, 0, r.uniform(0.5, 1, (n, runs)))
    return np.r_[few, r.binomial(10, 0.75 * (1 - zeros), (m, runs)) / 10]


UNIT = np.array([0.0, 1.0])


@pytest.mark.verify
@pytest.mark.parametrize(("n", "m"), [(5, 60), (20, 20)])
def test_shares_that_are_mostly_0_are_not_told_from_even_ones(n, m):
    """Without the scale a true null is rejected in 12% to 50%: the sample may hold none of the few high values."""
    r, runs = rng(11), 400
    values, ends = mostly_0(r, n, m, runs), np.repeat(UNIT[:, None], runs, axis=1)
    found = two_systems(values, *at(n, m), ends=ends, rng=r, n_permutations=299)
    assert np.mean(found.p_value < 0.05) < 0.065
    assert found.bounded.mean() > 0.6
    assert np.mean(two_systems(values, *at(n, m), rng=r, n_permutations=299).p_value < 0.05) > 0.08


def test_bounds_take_the_place_of_tests_only_where_few_dialogues_lie_away_from_one_end():
    r = rng(12)
    values = np.r_[np.column_stack([np.zeros(6), r.uniform(size=6), np.zeros(6)]), r.uniform(size=(30, 3))]
    values[:, 2] = np.r_[np.zeros(6), np.repeat([0, 1], 15)]  # two values need no bounds
    ends = np.repeat(UNIT[:, None], 3, axis=1)
    found = two_systems(values, *at(6, 30), ends=ends, rng=rng(1), n_permutations=999)
    plain = two_systems(values, *at(6, 30), rng=rng(1), n_permutations=999)
    assert found.bounded.tolist() == [True, False, False]
    assert found.p_value[1:] == pytest.approx(plain.p_value[1:])
    assert found.difference == pytest.approx(plain.difference)
    assert found.p_value[0] > plain.p_value[0]
    more = two_systems(np.r_[np.zeros((21, 1)), r.uniform(size=(30, 1))], *at(21, 30), ends=UNIT, rng=rng(1))
    assert not more.bounded.any()


MAIN, OTHER = ("main", "all"), ("main", "few")
PEOPLE = {"test": differences.TEST, "resample_unit": "session and annotator"}


def row(place, label, p=0.01, **columns):
    head = dict(zip(("corpus", "group"), place, strict=True)) | {"method": "dialogue_likert", "label": label}
    pair = {"system": "a", "system_b": "b", "estimate": 0.5, "p_value": p, "resample_unit": "session"}
    return head | {"statistic": "system_difference", "test": "session"} | pair | columns


def found(place, label, people):
    about = {"statistic": "detectable_difference", "people": people, "estimate": 0.4, "system": None, "system_b": None}
    return row(place, label) | about | {"test": differences.TEST}


ROWS = [
    *(row(place, label) for place in (MAIN, OTHER) for label in ("x", "y")),
    *(row(place, "x", **PEOPLE) for place in (MAIN, OTHER)),
    row(MAIN, "y", None, **PEOPLE),  # too few sessions for a test with annotators as a sample
    *(row(MAIN, "x", **more) for more in ({"test": "student"}, {"sample": "pick"})),
    *(found(place, "x", people) for place in (MAIN, OTHER) for people in (power.SAME, power.SAMPLE)),
]


@pytest.mark.parametrize(
    ("others", "test", "people"),
    [
        (True, {"x": differences.TEST, "y": "session"}, power.SAMPLE),
        (False, {"x": "session", "y": "session"}, power.SAME),
    ],
)
def test_one_row_of_each_pair_speaks_of_the_population(others, test, people):
    """Of other annotators where they are a sample and the label has such a test; else of these."""
    whose = {MAIN: Population(others, 8, 8, 8.0, "" if others else "fixed"), OTHER: Population(False, 2, 2, 2.0, "few")}
    results = with_primary(collect(ROWS), whose)
    marked = results.select("system_difference", primary=True)
    here, there = (marked[marked["group"] == group] for _, group in (MAIN, OTHER))
    assert sorted(zip(here["label"], here["test"], strict=True)) == sorted(test.items())
    assert sorted(zip(there["label"], there["test"], strict=True)) == [("x", "session"), ("y", "session")]
    assert len(results["system_difference"]) == 9
    said = results.select("detectable_difference", primary=True).set_index("group")["people"]
    assert said.to_dict() == {"all": people, "few": power.SAME}
