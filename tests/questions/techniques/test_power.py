"""Hours until systems are distinguished: scipy, statsmodels, simulation, cases by hand."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from helpers.working_time import first_significant
from judgebook.questions.techniques import power
from judgebook.statistics.intervals import exact_binomial


class FixedDraws:
    """In place of a generator: draws that are known."""

    def __init__(self, *draws):
        self.draws = list(draws)

    def multinomial(self, n, p, size):
        counts = self.draws.pop(0)
        assert counts.sum() == n
        return np.tile(counts, (size, 1))


def mean(sample):
    return sample.share @ sample.values


class TestTests:
    def test_one_sample_is_the_t_test_of_scipy(self):
        a = power.sample([-1, -0.2, 0.2, 1])
        counts = np.array([2, 3, 4, 6])
        found = power.p_values(a, None, 15, 1, FixedDraws(counts))
        assert found[0] == pytest.approx(stats.ttest_1samp(np.repeat(a.values, counts), 0).pvalue)

    def test_two_samples_are_welchs_test_of_scipy(self):
        a, b = power.sample([1, 2, 5]), power.sample([2, 3, 4, 5])
        x, y = np.array([5, 3, 2]), np.array([1, 2, 3, 4])
        found = power.p_values(a, b, 10, 1, FixedDraws(x, y))
        theirs = stats.ttest_ind(np.repeat(a.values, x), np.repeat(b.values, y), equal_var=False).pvalue
        assert found[0] == pytest.approx(theirs)

    def test_without_spread_it_is_the_sign_test(self):
        a = power.sample([-1, 1])
        assert power.p_values(a, None, 8, 1, FixedDraws(np.array([0, 8])))[0] == stats.binomtest(8, 8).pvalue
        assert power.p_values(power.sample([0]), None, 8, 1, FixedDraws(np.array([8])))[0] == 1

    def test_a_sample_by_hand(self):
        a = power.sample([1, 2, 0.1 + 0.2, 0.3])
        assert a.values.tolist() == pytest.approx([0.3, 1, 2])  # rounding tells 0.1 + 0.2 and 0.3 apart
        assert (a.counts.tolist(), a.n, a.share.tolist()) == ([2, 1, 1], 4, [0.5, 0.25, 0.25])
        assert mean(a) == pytest.approx(0.9)

    def test_equal_systems_have_equal_means(self):
        a, b = power.sample([1, 2, 2, 5]), power.sample([4, 5, 5])
        assert mean(power.mirrored(power.sample([-1, 1, 1]))) == 0
        both = power.pooled(a, b)
        assert mean(both) == pytest.approx((mean(a) + mean(b)) / 2)


class TestPower:
    @pytest.mark.evidence
    @pytest.mark.parametrize(("theirs", "d", "sizes", "two"), [(TTestPower, 0.3, [20, 60, 120], False),
                                                               (TTestIndPower, 0.5, [30, 64], True)])  # fmt: skip
    def test_power_is_that_of_statsmodels(self, theirs, d, sizes, two):
        rng = np.random.default_rng(1)
        x = rng.normal(size=4000)
        x = (x - x.mean()) / x.std()
        b = power.sample(x) if two else None
        curve = power.power_curve(power.sample(x + d), b, sizes, runs=2000, alpha=0.05, rng=rng)
        for _, row in curve[curve["statistic"] == "technique_power"].iterrows():
            assert row["estimate"] == pytest.approx(theirs().power(d, row["conversations"], 0.05), abs=0.035)
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(exact_binomial(2000 * row["estimate"], 2000))
        wrong = curve.loc[curve["statistic"] == "technique_false_positive", "estimate"]
        assert wrong.tolist() == pytest.approx([0.05] * len(sizes), abs=0.02)

    def test_size_is_read_off_the_curve(self):
        curve = [8, 16, 32, 64], [0.2, 0.6, 0.5, 0.9]
        assert power.size_for(*curve, 0.8) == pytest.approx(32 * 2 ** (2 / 3))  # the fall at 32 counts as level
        assert power.size_for(*curve, 0.2) == 8
        assert np.isnan(power.size_for(*curve, 0.95))

    def test_interval_of_the_size_holds_that_of_statsmodels(self):
        rng = np.random.default_rng(3)
        values = rng.normal(0.5, 1, 200)
        d = values.mean() / values.std(ddof=1)
        needed = TTestPower().solve_power(d, alpha=0.05, power=0.8)
        low, high = power.size_interval(
            power.sample(values), None, 0.8, 0.05, rng=rng, n_resamples=2000, confidence=0.95
        )
        assert low < needed < high
        # at the ends of the interval of d, to which it should come close
        ends = d + np.array([1, -1]) * 1.96 / np.sqrt(200)
        by_formula = [TTestPower().solve_power(e, alpha=0.05, power=0.8) for e in ends]
        assert [low, high] == pytest.approx(by_formula, rel=0.2)

    @pytest.mark.parametrize("d", [0.4, 1.6])
    def test_few_conversations_are_those_that_the_t_test_needs(self, d):
        """Where a difference is large a t test needs more than its normal approximation says."""
        rng = np.random.default_rng(5)
        x = rng.normal(size=20_000)
        x = (x - x.mean()) / x.std(ddof=1)
        given = {"rng": rng, "n_resamples": 300, "confidence": 0.95}
        ends = power.size_interval(power.sample(x + d), None, 0.8, 0.05, **given)
        needed = TTestPower().solve_power(d, alpha=0.05, power=0.8)
        assert np.mean(ends) == pytest.approx(needed, abs=0.7)
        ends = power.size_interval(power.sample(x + d), power.sample(x), 0.8, 0.05, **given)
        assert np.mean(ends) == pytest.approx(TTestIndPower().solve_power(d, alpha=0.05, power=0.8), rel=0.03, abs=0.3)

    def test_without_spread_the_sign_test_says_how_many(self):
        low, high = power.size_interval(
            power.sample([1.0] * 30), None, 0.8, 0.05, rng=np.random.default_rng(1), n_resamples=200, confidence=0.95
        )
        p = power.p_values(power.sample([1.0]), None, int(np.ceil(low)), 1, np.random.default_rng(1))
        before = power.p_values(power.sample([1.0]), None, int(np.ceil(low)) - 1, 1, np.random.default_rng(1))
        assert low == high
        assert p[0] < 0.05 <= before[0]

    def test_an_absent_difference_has_no_upper_end(self):
        values = np.repeat([-1.0, 1.0], 20)
        _, high = power.size_interval(
            power.sample(values), None, 0.8, 0.05, rng=np.random.default_rng(1), n_resamples=500, confidence=0.95
        )
        assert np.isinf(high)


class TestHours:
    def test_cost_by_hand(self):
        assert power.Cost(60, 1).hours(30) == 0.5
        assert power.Cost(60, 2).hours(30) == 1
        # 25 comparisons need five conversations of either system
        assert power.Cost(60, 1, 360).hours(25) == pytest.approx((25 * 60 + 10 * 360) / 3600)

    @pytest.mark.filterwarnings("ignore:Precision loss occurred:RuntimeWarning")  # scipy, of two or three equal ratings
    def test_ratings_until_a_test_is_significant_are_those_of_scipy_rating_by_rating(self):
        for a, b in ((np.array([-1.0, -1, 0, 1, 1, 1, 1]), None), (np.array([1.0, 4, 5, 5]), np.array([1.0, 2, 4, 5]))):
            samples = [a] if b is None else [a, b]
            found, equal = first_significant(np.random.default_rng(4), samples, 20, 80, 0.05)
            again = np.random.default_rng(4)
            drawn = [again.choice(x, (20, 80), p=np.full(len(x), 1 / len(x))) for x in samples]
            for i, first in enumerate(found):
                assert first == next((n for n in range(1, 81) if significant([x[i, :n] for x in drawn])), 81)
            assert np.mean(equal) > np.mean(found)


def significant(samples):
    """Whether the test of Smith et al. 2022, appendix F, is, after these ratings."""
    if len(samples) == 1:
        won, lost = (int((samples[0] == sign).sum()) for sign in (1, -1))
        return won + lost > 0 and stats.binomtest(won, won + lost).pvalue < 0.05
    if len(samples[0]) < 2 or max(np.ptp(x - x.mean()) for x in samples) < 1e-12:
        return False
    return stats.ttest_ind(*samples).pvalue < 0.05


@pytest.mark.parametrize("second", [True, False])
@pytest.mark.parametrize("factor", [0.0, 0.4, 1.0])
def test_shrunken_samples_have_the_difference_multiplied(second, factor):
    rng = np.random.default_rng(3)
    a = power.sample(rng.choice([-1.0, 0, 1], 40, p=[0.2, 0.2, 0.6]))
    b = power.sample(rng.choice([-1.0, 0, 1], 30)) if second else None
    mean = [x.share @ x.values if x else 0.0 for x in (a, b)]
    found = power.shrunken(a, b, factor)
    left, right = (x.share @ x.values if x else 0.0 for x in found)
    assert left - right == pytest.approx(factor * (mean[0] - mean[1]))
    assert [x.n for x in found if x] == [x.n for x in (a, b) if x]


def test_shrinkage_is_that_of_the_normal_model():
    """True differences with standard deviation 0.5, 60 conversations per system: 0.25 / (0.25 + 1 / 30)."""
    rng = np.random.default_rng(4)
    pairs = [[power.sample(rng.normal(m, 1, 60)) for m in (rng.normal(0, 0.5), 0)] for _ in range(400)]
    assert np.mean(power.shrinkage(pairs)) == pytest.approx(0.25 / (0.25 + 1 / 30), abs=0.02)
    equal = [[power.sample(rng.normal(size=60)) for _ in range(2)] for _ in range(400)]
    assert np.mean(power.shrinkage(equal)) < 0.2
