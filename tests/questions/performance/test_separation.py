"""How much more data would separate neighbours: by hand, and by repeating the present data."""

import numpy as np
import pytest
from scipy import stats

from judgebook.questions.performance import separation
from judgebook.statistics.multiplicity import simultaneous_t


def test_with_many_degrees_of_freedom_it_is_the_textbook_formula():
    """n grows with the square of (critical value + z of the power) * standard error / difference."""
    expected = ((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) / 1.5) ** 2
    assert separation.times(1.5, 1.0, 1e7, 1) == pytest.approx(expected, rel=0.005)


def test_a_difference_of_that_size_is_then_found_with_the_power():
    df, gap = 11.0, 1.2
    factor = separation.times(gap, 1.0, df, 3)
    more = (df + 1) * factor - 1
    power = stats.nct.sf(simultaneous_t(more, 3), more, gap * np.sqrt(factor))
    assert power == pytest.approx(separation.POWER, abs=0.02)


@pytest.mark.parametrize(("difference", "df", "n_pairs"), [(2.8, 3.0, 1), (1.2, 11.0, 3)])
def test_degrees_of_freedom_grow_with_the_clusters(difference, df, n_pairs):
    """Twice the clusters less one; the grid of factors is finer than 0.3%."""
    factor = separation.times(difference, 1.0, df, n_pairs)
    needed = simultaneous_t((df + 1) * factor - 1, n_pairs) + stats.norm.ppf(separation.POWER)
    assert difference * np.sqrt(factor) == pytest.approx(needed, rel=2e-3)


def test_what_is_separated_needs_no_more_and_what_is_equal_cannot_be():
    assert separation.times(5.0, 1.0, 20, 3) == 1
    for difference, error, df in ((0.0, 1.0, 20), (0.1, 1.0, 20), (1.0, np.nan, 20), (1.0, 1.0, 0.5)):
        assert np.isnan(separation.times(difference, error, df, 3))


def test_neighbours_are_those_of_the_ranking():
    errors, df = np.array([1.0, np.nan, 2.0]), np.full(3, 30.0)  # pairs 0-1, 0-2, 1-2
    found = separation.neighbours(np.array([1.0, 9.0, 5.0]), errors, df)
    assert [pair[:2] for pair in found] == [(1, 2), (2, 0)]
    assert found[0][2] == separation.times(4.0, 2.0, 30, 3) > 1
    assert np.isnan(found[1][2])
