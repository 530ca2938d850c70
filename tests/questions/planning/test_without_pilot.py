"""Sizes of studies without a pilot: against statsmodels and an exact enumeration."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from judgebook.questions.planning.assumed.stated import sizes


@pytest.mark.parametrize(
    ("difference", "sd", "power", "systems", "tests"), [(0.3, 1.0, 0.8, 2, 1), (8.0, 21.0, 0.95, 5, 10)]
)
def test_one_annotator_or_complete_agreement_is_the_t_test(difference, sd, power, systems, tests):
    wanted = TTestIndPower().solve_power(difference / sd, power=power, alpha=0.05 / tests)
    one = sizes(difference, sd=sd, annotators=1, power=power, systems=systems)
    three = sizes(difference, sd=sd, annotators=3, agreement=1.0, power=power, systems=systems)
    assert one.dialogues == three.dialogues == [[int(np.ceil(wanted))]]


@pytest.mark.parametrize(("agreement", "annotators"), [(0.0, 2), (0.4, 2), (0.4, 3), (0.8, 5)])
def test_annotators_who_agree_less_average_out_more(agreement, annotators):
    """Variance of a mean of m that correlate r: s² (1 + (m - 1) r) / m."""
    sd = np.sqrt((1 + (annotators - 1) * agreement) / annotators)
    wanted = TTestIndPower().solve_power(0.3 / sd, power=0.8, alpha=0.05)
    found = sizes(0.3, sd=1.0, agreement=agreement, annotators=annotators)
    assert found.dialogues == [[int(np.ceil(wanted))]]


@pytest.mark.parametrize(("rate", "difference"), [(0.3, 0.3), (0.65, 0.25)])
def test_rates_have_their_power_under_fishers_exact_test(rate, difference):
    """The permutation test of marks is Fisher's; its power, gone through exactly."""
    ((n,),) = sizes(difference, rate=rate, annotators=1).dialogues

    marks = np.arange(n + 1)
    chance = [stats.hypergeom(2 * n, total, n).pmf(marks) for total in range(2 * n + 1)]
    p = [[chance[i + j][chance[i + j] < chance[i + j][i] * (1 + 1e-9)].sum() for j in marks] for i in marks]
    a, b = (stats.binom(n, share).pmf(marks) for share in (rate, rate + difference))
    assert a @ (np.array(p) < 0.05) @ b == pytest.approx(0.8, abs=0.05)
