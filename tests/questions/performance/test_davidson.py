"""Davidson's model against the log-linear Poisson model it is equivalent to (Fienberg and Larntz 1976)."""

import numpy as np
import pytest
import statsmodels.api as sm

from judgebook.questions.performance.davidson_likelihood import chances, strengths_of


def table(rng, strengths, log_nu, n=40):
    m = len(strengths)
    wins, ties = np.zeros((m, m)), np.zeros((m, m))
    won, tied = chances(np.asarray(strengths), log_nu)
    for i, j in zip(*np.triu_indices(m, 1), strict=True):
        wins[i, j], wins[j, i], ties[i, j] = rng.multinomial(n, [won[i, j], won[j, i], tied[i, j]])
    return wins, ties + ties.T


def poisson(wins, ties):
    """Strengths with mean 0 and log nu, by a Poisson model with a level for every pair."""
    m, rows, y = len(wins), [], []
    pairs = list(zip(*np.triu_indices(m, 1), strict=True))
    for at, (i, j) in enumerate(pairs):
        for weights, tie, count in (((1, 0), 0, wins[i, j]), ((0, 1), 0, wins[j, i]), ((0.5, 0.5), 1, ties[i, j])):
            row = np.zeros(len(pairs) + m + 1)
            row[at], row[len(pairs) + i], row[len(pairs) + j], row[-1] = 1, *weights, tie
            rows.append(row)
            y.append(count)
    x = np.delete(np.array(rows), len(pairs), axis=1)
    fit = sm.GLM(y, x, family=sm.families.Poisson()).fit(tol=1e-14)
    strengths = np.r_[0.0, fit.params[len(pairs) : -1]]
    return strengths - strengths.mean(), fit.params[-1]


def test_estimates_are_those_of_the_poisson_model():
    rng = np.random.default_rng(3)
    tables = [table(rng, [0.8, 0.2, 0.0, -0.4, -0.6], 0.9) for _ in range(5)]
    strengths, log_nu = strengths_of(*(np.stack(part) for part in zip(*tables, strict=True)))
    for i, (wins, ties) in enumerate(tables):
        expected, nu = poisson(wins, ties)
        assert strengths[i] == pytest.approx(expected, abs=1e-7)
        assert log_nu[i] == pytest.approx(nu, abs=1e-7)


def test_without_ties_strengths_are_those_of_bradley_and_terry():
    wins = np.array([[0, 3.0], [1, 0]])
    strengths, log_nu = strengths_of(wins[None], np.zeros((1, 2, 2)))
    assert strengths[0, 0] - strengths[0, 1] == pytest.approx(np.log(3))
    assert log_nu[0] == -np.inf


@pytest.mark.parametrize(("won", "lost"), [(1283787.05, 0.158), (3000000.3, 0.5)])
def test_a_loss_among_millions_is_enough_for_strengths(won, lost):
    """Of two systems their odds are wins over losses; rounding errors of so many votes are not mistaken for steps."""
    strengths, _ = strengths_of(np.array([[[0, won], [lost, 0]]]), np.array([[[0, 133.0], [133.0, 0]]]))
    assert strengths[0, 0] - strengths[0, 1] == pytest.approx(np.log(won / lost))


def test_a_system_that_never_wins_nor_ties_has_no_strength():
    wins = np.array([[0, 3.0, 2.0], [1, 0, 2.0], [0, 0, 0]])
    strengths, _ = strengths_of(wins[None], np.zeros((1, 3, 3)))
    assert np.isnan(strengths).all()


def test_chances_of_an_outcome_add_up():
    won, tied = chances(np.array([0.5, -0.5]), 0.3)
    assert won[0, 1] + won[1, 0] + tied[0, 1] == pytest.approx(1)
