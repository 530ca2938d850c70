"""Boundaries of alpha spending: printed tables, the multivariate normal distribution, simulation."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from judgebook.questions.planning.sequential import boundaries, crossing, drift_for, inflation, spent

FIVE = np.arange(1, 6) / 5


def test_boundaries_are_those_of_ldbounds():
    """R's ldbounds 2.0.2, five equally spaced looks, two-sided 0.05."""
    np.testing.assert_allclose(boundaries(FIVE), [4.8769, 3.3569, 2.6803, 2.2898, 2.0310], atol=2e-4)


# Jennison and Turnbull 2000, Tables 2.1 and 2.3: constants at 0.05
@pytest.mark.parametrize(
    ("looks", "pocock", "obrien_fleming"), [(2, 2.178, 1.977), (3, 2.289, 2.004), (5, 2.413, 2.040)]
)
def test_constants_are_those_of_jennison_and_turnbull(looks, pocock, obrien_fleming):
    t = np.arange(1, looks + 1) / looks
    for power_of_t, printed in ((0.0, pocock), (-0.5, obrien_fleming)):
        found = brentq(lambda c, e=power_of_t: crossing(t, c * t**e).sum() - 0.05, 1.5, 3.5)
        assert round(found, 3) == printed


@pytest.mark.parametrize("drift", [0.0, 2.5])
def test_crossing_is_that_of_the_multivariate_normal(drift):
    t = np.array([0.3, 0.7, 1.0])
    z = boundaries(t)
    correlation = np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t))
    inside = multivariate_normal(drift * np.sqrt(t), correlation).cdf(z, lower_limit=-z, rng=np.random.default_rng(1))
    assert crossing(t, z, drift).sum() == pytest.approx(1 - inside, abs=2e-5)


def test_one_look_is_the_usual_test():
    assert boundaries([1.0]) == pytest.approx([norm.ppf(0.975)])
    assert drift_for(0.8, [1.0], [norm.ppf(0.975)]) == pytest.approx(norm.ppf(0.975) + norm.ppf(0.8), abs=1e-4)


# Jennison and Turnbull 2000, Tables 2.2 and 2.4: sample relative to one test, five looks, power 0.8
def test_inflation_is_that_of_jennison_and_turnbull():
    assert inflation(0.8, FIVE, np.full(5, 2.413)) == pytest.approx(1.228, abs=1e-3)
    assert inflation(0.8, FIVE, 2.040 / np.sqrt(FIVE)) == pytest.approx(1.028, abs=1e-3)


def test_all_of_alpha_is_spent_at_the_end_and_none_before_the_start():
    assert spent(1.0) == pytest.approx(0.05)
    assert np.all(np.diff(spent(np.linspace(0.01, 1, 50))) > 0)


@pytest.mark.parametrize("information", [[0.5], [0.5, 0.4, 1.0], [], [0.0, 1.0]])
def test_looks_that_make_no_sense_are_refused(information):
    with pytest.raises(ValueError, match="expected"):
        boundaries(information)
