"""Boundaries of alpha spending: printed tables, the multivariate normal distribution, simulation."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from judgebook.questions.planning.analysis import boundaries, spent

FIVE = np.arange(1, 6) / 5


def test_boundaries_are_those_of_ldbounds():
    """R's ldbounds 2.0.2, five equally spaced looks, two-sided 0.05."""
    np.testing.assert_allclose(boundaries(FIVE), [4.8769, 3.3569, 2.6803, 2.2898, 2.0310], atol=2e-4)


def test_five_percent_of_studies_cross_under_the_multivariate_normal():
    t = np.array([0.3, 0.7, 1.0])
    z = boundaries(t)
    correlation = np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t))
    inside = multivariate_normal(np.zeros(3), correlation).cdf(z, lower_limit=-z, rng=np.random.default_rng(1))
    assert 1 - inside == pytest.approx(0.05, abs=2e-5)


def test_one_look_is_the_usual_test():
    assert boundaries([1.0]) == pytest.approx([norm.ppf(0.975)])


def test_all_of_alpha_is_spent_at_the_end_and_none_before_the_start():
    assert spent(1.0) == pytest.approx(0.05)
    assert np.all(np.diff(spent(np.linspace(0.01, 1, 50))) > 0)


@pytest.mark.parametrize("information", [[0.5], [0.5, 0.4, 1.0], [], [0.0, 1.0]])
def test_looks_that_make_no_sense_are_refused(information):
    with pytest.raises(ValueError, match="expected"):
        boundaries(information)
