"""Confidence sequences: values of other software, properties, and how often a year of looks misses."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma

from judgebook.statistics.intervals import confidence_sequence, log_mixture, mixture_boundary

#: weekly looks of a simulated year, and values between two looks
WEEKS, EACH = 52, 20


def test_the_boundary_is_that_of_confseq():
    """Howard, Waudby-Smith and Ramdas, ConfSeq: values that its own tests give for the R and C++ versions."""
    rho = 100 / (2 * np.log(10) + np.log1p(2 * np.log(10)))
    assert float(log_mixture(np.array(10.0), np.array(100.0), rho, 2.0)) == pytest.approx(-0.2490165, abs=1e-7)
    bound = mixture_boundary(np.array(100.0), 0.05, scale=2.0, narrowest=100.0)
    assert float(bound) == pytest.approx(33.02017, abs=1e-5)


@pytest.mark.parametrize(("s", "v"), [(0.0, 1.0), (2.0, 0.5), (10.0, 20.0)])
def test_the_mixture_is_the_integral_that_it_stands_for(s, v):
    """exp(λ s - ψ(λ) v), with ψ(λ) = -log(1 - λ) - λ, over a gamma density of 1 - λ that is cut off at 1."""
    rho = 1.5
    whole = gamma.cdf(1, rho, scale=1 / rho)

    def integrand(u):
        return np.exp((1 - u) * s + (np.log(u) + 1 - u) * v) * gamma.pdf(u, rho, scale=1 / rho) / whole

    value = quad(integrand, 0, 1)[0]
    assert float(log_mixture(np.array(s), np.array(v), rho, 1.0)) == pytest.approx(np.log(value), abs=1e-7)


def test_ends_move_with_the_scale_and_data_sets_do_not_mix():
    x = np.random.default_rng(1).uniform(size=(3, 40))
    low, high = confidence_sequence(x, 0.0, 1.0)
    turned_low, turned_high = confidence_sequence(5 - 4 * x, 1.0, 5.0)
    assert np.allclose(turned_low, 5 - 4 * high)
    assert np.allclose(turned_high, 5 - 4 * low)
    alone = confidence_sequence(x[1], 0.0, 1.0, looks=np.array([7, 40]))
    assert np.allclose(alone[0], low[1, [6, 39]])


@pytest.mark.parametrize("x", [[0.5, np.nan], [0.5, 1.1], [-0.1, 0.5]])
def test_values_outside_the_scale_are_refused(x):
    with pytest.raises(ValueError, match="values: expected numbers from 0 to 1"):
        confidence_sequence(np.array(x), 0.0, 1.0)


def answers(shape, kind, rng):
    """Values on a scale from -1 to 1 with mean 0, given those before."""
    if kind == "even":
        return rng.uniform(-1, 1, shape)
    if kind == "rare":  # nearly always a little below, now and then far above
        return np.where(rng.uniform(size=shape) < 0.02, 0.98, -0.02)
    size = np.clip(np.cumsum(rng.normal(0, 0.05, shape), axis=-1) + 0.3, 0.05, 1)  # ever more or less certain
    return size * rng.choice([-1, 1], shape)


@pytest.mark.evidence
@pytest.mark.parametrize("kind", ["even", "rare", "changing"])
def test_a_thousand_years_of_weekly_looks_miss_in_at_most_one_of_twenty(kind):
    values = answers((1000, WEEKS * EACH), kind, np.random.default_rng(3))
    low, high = confidence_sequence(values, -1.0, 1.0, looks=np.arange(1, WEEKS + 1) * EACH)
    assert ((low > 0) | (high < 0)).any(axis=-1).mean() <= 0.05


@pytest.mark.parametrize("kind", ["even", "rare", "changing"])
def test_a_year_of_weekly_looks_misses_rarely(kind):
    assert missed(100, kind) <= 0.05


def missed(worlds, kind):
    looks = np.arange(1, WEEKS + 1) * EACH
    low, high = confidence_sequence(
        answers((worlds, WEEKS * EACH), kind, np.random.default_rng(3)), -1.0, 1.0, looks=looks
    )
    return float(np.mean(((low > 0) | (high < 0)).any(axis=-1)))
