"""Printed win rates of Smith et al. 2022: statsmodels, cases by hand, and simulations with known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from statsmodels.stats.contingency_tables import Table as Contingency
from statsmodels.stats.power import normal_power
from statsmodels.stats.proportion import proportion_confint

from compendium.papers import technique_rates
from compendium.published import numbers


@pytest.fixture(scope="module")
def printed():
    return numbers.load()


def test_intervals_are_wilson_s_of_all_that_rounds_to_the_printed_rate():
    rows = technique_rates.with_intervals(pd.DataFrame({"value": [63.0, 100.0]}), 40)
    low = proportion_confint(0.625 * 40, 40, method="wilson")[0]
    high = proportion_confint(0.635 * 40, 40, method="wilson")[1]
    assert rows.loc[0, ["low", "high"]].tolist() == pytest.approx([100 * low, 100 * high])
    assert rows.at[1, "high"] == 100


@pytest.mark.parametrize("shape", [0.05, 0.5, 3.0])
def test_the_interval_of_shares_of_turns_is_never_too_narrow(shape):
    """Shares of 40 conversations from a beta distribution with mean 0.7, 2,000 runs, Monte Carlo error 0.5%: nearly all
    won or lost as a whole, and shares around the mean."""
    means = np.random.default_rng(3).beta(0.7 * shape, 0.3 * shape, (2_000, 40)).mean(axis=1)
    rows = technique_rates.with_intervals(pd.DataFrame({"value": 100 * means}), 40)
    assert ((rows["low"] <= 70) & (rows["high"] >= 70)).mean() >= 0.94


def test_sizes_are_those_of_section_4_1(printed):
    assert technique_rates.conversations(printed, "pw_turn", "mean") == 231 / 6
    assert technique_rates.conversations(printed, "pw_turn", "min") == 24
    assert technique_rates.conversations(printed, "pw_dialog_self", "min") == 191
    assert technique_rates.conversations(printed, "sm_turn", "mean") == 68


def test_trends_are_those_of_numpy_and_statsmodels():
    won, n = np.array([16, 22, 27, 27, 30, 29]), 40
    (row,) = technique_rates.trends(pd.DataFrame([100 * won / n]), n).itertuples()
    assert row.slope == pytest.approx(np.polyfit(np.arange(6), 100 * won / n, 1)[0])
    test = Contingency(np.column_stack([won, n - won])).test_ordinal_association(np.arange(6), np.array([1, 0]))
    # statsmodels conditions on the margins: its variance is larger by N / (N - 1), N = 240 answers
    assert row.p == pytest.approx(2 * norm.sf(abs(test.zscore) * np.sqrt(240 / 239)))


def test_a_mean_trend_covers_the_truth_and_correlated_answers_make_it_conservative():
    """1,000 studies of nine evaluations with 38 conversations, Monte Carlo error 0.7%; 3 points a turn."""
    rng, rates = np.random.default_rng(8), 0.5 + 0.03 * np.arange(6)
    for own in (0.0, 0.6):  # the share of answers that a conversation decides as a whole
        whole = rng.random((1_000, 9, 38, 1)) * np.ones(6)
        u = np.where(rng.random((1_000, 9, 38, 1)) < own, whole, rng.random((1_000, 9, 38, 6)))
        shares = 100 * (u < rates).mean(axis=2)
        found = [technique_rates.mean_trend(pd.DataFrame(one), 38) for one in shares]
        inside = np.mean([f["ci_low"] <= 3 <= f["ci_high"] for f in found])
        assert inside >= 0.94, own


def test_hours_have_the_stated_power(printed):
    rows = technique_rates.standardised(printed).set_index(["technique", "comparison"])
    for row in rows[rows["d"] > 0.3].itertuples():
        assert normal_power(row.d, row.hours / technique_rates.PART, 0.05) == pytest.approx(0.8, abs=1e-4)
    one = rows.loc["pw_turn", "length"]
    # (67 + 68 + 70) / 3 - 50 over 10; 3 evaluations of 5.73 hours in parts of 0.75; 0.75 (2.8016 / 1.8333)²
    assert one["d"] == pytest.approx(1.8333, abs=1e-4)
    assert one["hours"] == pytest.approx(1.7514, abs=1e-3)
    ends = [(18.3333 + sign * 0.5) / (10 - sign * 0.5) for sign in (-1, 1)]  # what rounds to the printed numbers
    half = [1.959964 * np.sqrt(1 / 22.92 + d**2 / 45.84) for d in ends]
    assert (one["low"], one["high"]) == pytest.approx((ends[0] - half[0], ends[1] + half[1]), abs=1e-3)
    assert np.isinf(rows.loc[("pw_turn_wta", "size"), "most"])


@pytest.mark.parametrize("d", [0.4, 1.8, 3.0])
def test_the_interval_of_a_standardised_distance_covers(d):
    """Three metrics with eight parts each, deviations averaged as in Table 8; 2,000 runs, Monte Carlo error 0.5%. It is
    a large-sample interval, and covers 94% at this size."""
    parts = np.random.default_rng(6).normal(d, 1, (2_000, 3, 8))
    found = parts.mean(axis=(1, 2)) / parts.std(axis=2, ddof=1).mean(axis=1)
    inside = np.abs(found - d) <= technique_rates._half(found, 24)
    assert inside.mean() == pytest.approx(0.94, abs=0.02)
