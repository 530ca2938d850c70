from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from fixtures.panels import panel_of
from fixtures.reference import TWO_SAMPLES
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from judgebook.questions.sensitivity import power


def known(estimates, se, df, per_system, systems=("a", "b")):
    """Differences of one label between all pairs of systems, as of `differences.differences`."""
    pairs = pd.DataFrame(list(combinations(systems, 2)), columns=["system", "system_b"])
    same = {"method": "dialogue_likert", "label": "x", "level": "dialogue", "resample_unit": "session"}
    numbers = {"estimate": estimates, "se": se, "df": df, "per_system": per_system}
    return pairs.assign(**same, **numbers)


def test_detectable_difference_equals_r_and_the_paper():
    """Two samples of n with standard deviation 1: the standard error is sqrt(2 / n), Welch's df 2 n - 2."""
    for n, expected, close in ((32, TWO_SAMPLES["detectable"], 1e-5), (100, 0.40, 0.005)):  # section 10 of the paper
        found = known([0.0], np.sqrt(2 / n), 2 * n - 2, n)
        assert power.detectable(found) == pytest.approx([expected], abs=close)
    small = known([0.0], np.sqrt(2 / 16), 30, 16)
    assert power.detectable(small, 32) == pytest.approx([TWO_SAMPLES["detectable"]], rel=0.01)


@pytest.mark.parametrize("n_systems", [2, 3, 40])
def test_the_median_of_detectable_differences_is_that_of_all(n_systems):
    rng, systems = np.random.default_rng(n_systems), [f"s{i}" for i in range(n_systems)]
    n = n_systems * (n_systems - 1) // 2
    df = rng.choice([0.6, 1.0, 3.0, 200.0], n) * rng.random(n)
    found = known(np.zeros(n), rng.exponential(size=n), df, 9, systems)
    for size in (None, 5, 100):
        assert power.median_detectable(found, size) == np.median(power.detectable(found, size))


def test_detectable_difference_of_pairs_equals_statsmodels():
    """A mean of 25 differences with standard deviation 2."""
    found = known([0.0], 2 / 5, 24, 25)
    expected = 2 * TTestPower().solve_power(nobs=25, alpha=0.05, power=0.8)
    assert power.detectable(found) == pytest.approx([expected], rel=1e-4)


def test_detectable_differences_are_those_of_the_first_step_of_holm():
    """Six pairs of four systems: statsmodels' two samples of 40 at the level 0.05 / 6."""
    found = known([0.0] * 6, np.sqrt(2 / 40), 78, 40, "abcd")
    rows = pd.DataFrame(power.detectable_differences(found, power.SAME, [80])).set_index("n_dialogues")["estimate"]
    each = [TTestIndPower().solve_power(nobs1=n, alpha=0.05 / 6, power=0.8) for n in (40, 80)]
    assert rows.tolist() == pytest.approx(each, rel=0.003)
    assert list(power.detectable_differences(found.assign(se=np.nan), power.SAMPLE)) == []


def test_expected_power_is_the_mean_over_true_differences():
    """By quadrature over a normal true difference, of the power of statsmodels for each."""
    n, variance = 40, 0.09
    found = known([0.0], np.sqrt(2 / n), 2 * n - 2, n)
    grid = np.linspace(-6, 6, 1201) * np.sqrt(variance)
    weight = np.exp(-(grid**2) / (2 * variance))
    each = TTestIndPower().power(np.abs(grid) + 1e-12, n, 0.05)
    assert power.expected_power(found, variance, n) == pytest.approx(np.sum(weight * each) / weight.sum(), abs=1e-4)


def test_the_spread_of_systems_is_their_variance_without_the_errors_with_an_interval_of_chi_squared():
    """Means of 5 systems with standard error 0.3: 4 s2 over the sum of both variances is chi-squared with 4 degrees of
    freedom, and a difference of two has twice the variance of one."""
    i, j = np.triu_indices(5, 1)
    for scale in (0.05, 2.0):
        x = scale * np.array([1.0, -0.5, 0.2, 0.9, -1.6])
        frame = known(x[i] - x[j], 0.3 * np.sqrt(2), 30, 31, "abcde")
        ends = 4 * x.var(ddof=1) / stats.chi2(4).ppf([0.975, 0.025])
        expected = 2 * (np.array([x.var(ddof=1), *ends]) - 0.09)
        assert power.spread(frame) == pytest.approx(np.maximum(expected, 0))


def test_sessions_are_drawn_whole():
    rng = np.random.default_rng(2)
    system = np.r_[np.tile([0, 1], 10), np.zeros(10, int), np.ones(10, int)]
    session = np.r_[np.repeat(np.arange(10), 2), np.arange(100, 120)]
    data = panel_of(system, rng.normal(size=40), session)
    (weights,) = power.resample(data, 30, 5, rng)
    assert (weights[:, system == 0].sum(axis=1) == 30).all()
    assert (weights[:, system == 1].sum(axis=1) == 30).all()
    assert np.array_equal(weights[:, 0:20:2], weights[:, 1:20:2])
    assert (weights[:, :20].sum(axis=1) == 30).all()  # half of each system's dialogues are in such sessions


@pytest.mark.verify
def test_tests_of_dialogues_keep_their_level_where_turns_depend_on_each_other_and_z_tests_do_not():
    """15 turns a dialogue, whose log-odds vary with a standard deviation of 1."""
    rng = np.random.default_rng(3)
    total = rng.binomial(15, 1 / (1 + np.exp(1.5 - rng.normal(size=600)))).astype(float)[:, None]
    data = panel_of(np.repeat([0, 1], 300), total)
    data = replace(data, method="behavior", n=np.full(total.shape, 15.0), squares=total, unit="turn")
    found = power.null_rejection(data, ["z", "dialogue_welch"], n=32, n_runs=1500, seed=1)
    # 3 binomial standard errors of 1,500 runs are 1.7 points
    at = found.query("alpha == 0.05").set_index("test")["estimate"]
    assert at["z"] > 0.12
    assert at["dialogue_welch"] == pytest.approx(0.05, abs=0.017)


def test_placebos_have_the_proportions_of_the_study():
    """10, 60 and 60 dialogues: 10 against 60 is 1 to 6, and 60 against 60 are halves."""
    data = panel_of(np.repeat([0, 1, 2], [10, 60, 60]), np.zeros(130))
    sizes = {tuple(np.bincount(power._placebo(data, run, 28, np.random.default_rng(run)).system)) for run in range(12)}
    assert sizes == {(2, 8), (8, 48), (28, 28)}


def test_few_dialogues_are_halved_and_labels_that_are_missing_are_counted():
    rng = np.random.default_rng(6)
    value = rng.normal(size=(20, 2))
    value[3, 1] = np.nan
    data = panel_of(np.repeat([0, 1], 10), value, labels=("x", "y"))
    found = power.null_rejection(data, ["session"], n=32, n_runs=10, seed=1, n_permutations=99).set_index("label")
    assert (found.loc["x", "n_undefined"] == 0).all()
    assert (found.loc["y", "n_undefined"] == 5).all()  # the system with the gap has every second run
