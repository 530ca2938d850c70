"""Sizes of studies without a pilot: against statsmodels, Tukey's range and an exact enumeration."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from judgebook.questions.planning.assumed import sizes


@pytest.mark.parametrize(("difference", "sd", "power"), [(0.3, 1.0, 0.8), (8.0, 21.0, 0.95), (1.0, 1.0, 0.8)])
def test_one_annotator_or_complete_agreement_of_two_systems_is_the_t_test(difference, sd, power):
    wanted = int(np.ceil(TTestIndPower().solve_power(difference / sd, power=power, alpha=0.05)))
    one = sizes(difference, sd=sd, annotators=1, power=power)
    three = sizes(difference, sd=sd, annotators=3, agreement=1.0, power=power)
    assert one.dialogues == three.dialogues
    assert one.dialogues[0][0] == pytest.approx(wanted, abs=1)


def test_several_systems_are_compared_by_tukeys_range():
    ((n,),) = sizes(8.0, sd=21.0, annotators=1, systems=5).dialogues

    def power(n):
        critical = stats.studentized_range.ppf(0.95, 5, 5 * (n - 1)) / np.sqrt(2)
        return stats.norm.cdf(8 / (21 * np.sqrt(2 / n)) - critical)

    assert power(n + 2) > 0.8 > power(n - 2)


@pytest.mark.parametrize(("agreement", "annotators"), [(0.0, 2), (0.4, 2), (0.4, 3), (0.8, 5)])
def test_annotators_who_agree_less_average_out_more(agreement, annotators):
    """Variance of a mean of m that correlate r: s² (1 + (m - 1) r) / m."""
    sd = np.sqrt((1 + (annotators - 1) * agreement) / annotators)
    wanted = TTestIndPower().solve_power(0.3 / sd, power=0.8, alpha=0.05)
    found = sizes(0.3, sd=1.0, agreement=agreement, annotators=annotators)
    assert found.dialogues[0][0] == pytest.approx(np.ceil(wanted), abs=1)


@pytest.mark.parametrize(("rate", "difference"), [(0.3, 0.3), (0.65, 0.25)])
def test_rates_have_their_power_under_the_t_test(rate, difference):
    """Of 0 and 1, gone through exactly."""
    ((n,),) = sizes(difference, rate=rate, annotators=1).dialogues
    marks = np.arange(n + 1) / n
    first, second = np.meshgrid(marks, marks, indexing="ij")
    se = np.sqrt((first * (1 - first) + second * (1 - second)) / (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        decided = np.abs(second - first) / se > stats.t.ppf(0.975, 2 * (n - 1))
    a, b = (stats.binom(n, share).pmf(np.arange(n + 1)) for share in (rate, rate + difference))
    assert a @ decided @ b == pytest.approx(0.8, abs=0.04)
