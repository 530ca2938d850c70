import numpy as np
import pytest
from scipy.stats import t as t_distribution

from judgebook.statistics.intervals import jackknife_t
from judgebook.statistics.resampling import bootstrap_sums


def test_jackknife_t_of_a_mean_is_students_interval():
    x = np.random.default_rng(8).normal(size=12)
    without = (x.sum() - x) / 11
    found = jackknife_t(x.mean(), without, "interactor", bounded=False)
    expected = t_distribution.interval(0.95, 11, x.mean(), x.std(ddof=1) / np.sqrt(12))
    assert (found.low, found.high) == pytest.approx(expected)
    assert (found.kind, found.n_units) == ("jackknife_t", 12)


@pytest.mark.parametrize(
    ("estimate", "values", "reason"),
    [
        (np.nan, np.zeros(9), "undefined on these data"),
        (0.2, np.full(4, 0.2), "4 clusters (interactor) are too few"),
        (0.2, np.r_[np.full(8, 0.2), np.nan], "undefined without one interactor"),
        (1.0, np.ones(9), "at its bound"),
    ],
)
def test_jackknife_t_refuses_with_a_reason(estimate, values, reason):
    found = jackknife_t(estimate, values, "interactor")
    assert found.kind == "not_estimable"
    assert reason in found.note
    assert np.isnan([found.low, found.high]).all()


def test_two_units_have_the_range_of_their_resamples_and_the_reason():
    """Student's t with one degree of freedom has quantiles beyond those of any normal level below 1."""
    rows = np.array([[1.0, 1.0], [3.0, 1.0]])
    means = lambda sums: sums[:, 0] / sums[:, 1]  # noqa: E731
    found = bootstrap_sums(rows, means, unit="dialogue", rng=np.random.default_rng(1), n_resamples=500)
    assert (found.low, found.high) == (1.0, 3.0)
    assert "outermost resample" in found.note
