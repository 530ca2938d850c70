"""Contrasts of effects: least squares, the jackknife itself, and what is not identified."""

import numpy as np
import pytest

from judgebook.questions.over_time.contrasts import contrasts, indicators


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    system, person, cluster = rng.integers(2, size=90), rng.integers(4, size=90), rng.integers(30, size=90)
    y = 1.0 * system + 0.5 * person + rng.normal(0, 1, 90) + rng.normal(0, 1, 30)[cluster]
    return indicators(system, person), y, cluster, np.array([[-1.0, 1.0, 0, 0, 0, 0]])


def test_estimate_and_error_are_those_of_fits_without_each_cluster(data):
    x, y, cluster, wanted = data
    made = contrasts(x, y, cluster, wanted)
    fit = lambda keep: float(wanted[0] @ np.linalg.lstsq(x[keep], y[keep], rcond=None)[0])  # noqa: E731
    whole = fit(np.full(90, True))
    without = np.array([fit(cluster != c) for c in np.unique(cluster)])
    assert made.estimate[0] == pytest.approx(whole)
    assert made.error[0] == pytest.approx(np.sqrt(29 / 30 * np.sum((without - whole) ** 2)))


def test_a_difference_of_two_means_has_the_error_of_welch():
    y, group = np.array([1.0, 2, 4, 7, 3, 3, 9, 5, 6]), np.repeat([0, 1], [4, 5])
    made = contrasts(indicators(group), y, np.arange(9), np.array([[-1.0, 1.0]]))
    parts = [y[group == g] for g in (0, 1)]
    scale = np.sqrt(8 / 9)  # the jackknife's factor for nine clusters; each mean has its own in Welch's
    expected = np.sqrt(sum(p.var(ddof=1) / (len(p) - 1) for p in parts)) * scale
    assert made.error[0] == pytest.approx(expected)
    assert made.df[0] == pytest.approx((4 / 16 + 5 / 25) ** 2 / (4 / 16**2 + 5 / 25**2) - 1)
    of_two = contrasts(indicators(group), y, np.arange(9), np.array([[-1.0, 1.0]]), group)
    assert (of_two.df[0], of_two.error[0]) == (pytest.approx(3), pytest.approx(expected))


def test_what_is_not_identified_or_rests_on_one_cluster_is_missing(data):
    x, y, cluster, wanted = data
    level = np.zeros((1, 6))
    level[0, 0] = 1  # the level of a system, where those of annotators are free
    assert np.isnan(contrasts(x, y, cluster, level).estimate).all()
    assert np.isnan(contrasts(x, y, cluster * 0, wanted).p_values).all()
