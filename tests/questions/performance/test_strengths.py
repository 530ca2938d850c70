"""Strengths of compared systems by votes alone, and as leaderboards print them: other libraries and cases by hand."""

import evalica
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fixtures.made_annotations import comparisons
from hypothesis import given
from hypothesis import strategies as st

from judgebook.questions.performance import davidson


def two(won, tied, lost):
    return comparisons([("a", "b", 1)] * won + [("b", "a", 0)] * tied + [("b", "a", 1)] * lost)


def counted(wins, ties):
    """(m, m) wins of row over column, and ties, as votes with weights."""
    (i, j), (k, l) = np.nonzero(wins), np.nonzero(np.triu(ties))
    score = np.r_[np.ones(len(i)), np.zeros(len(k))]
    frame = pd.DataFrame({"system": np.r_[i, k].astype(str), "system_b": np.r_[j, l].astype(str), "score": score})
    return davidson.point(frame, np.r_[wins[i, j], ties[k, l]]).to_numpy()


def test_two_systems_by_hand():
    """Odds are those of wins and losses."""
    half = np.log(50 / 20) / 2
    assert davidson.point(two(50, 30, 20)).to_dict() == pytest.approx({"a": half, "b": -half})
    again = davidson.point(two(5, 1, 2), np.r_[np.full(5, 10.0), 30, 10, 10])
    assert again.to_dict() == pytest.approx({"a": half, "b": -half})


@pytest.mark.parametrize("votes", [[("a", "b", 1), ("b", "a", 1), ("a", "c", 1)], [("a", "b", 0), ("a", "b", 0)],
                                   [("a", "b", 1), ("b", "a", 1), ("c", "d", 1), ("d", "c", 1)]])  # fmt: skip
def test_strengths_may_not_exist(votes):
    assert davidson.point(comparisons(votes)).isna().all()


def test_systems_that_did_alike_are_tied_in_nine_digits():
    """In a ring each system beats the next as often."""
    votes = [(a, b, x) for a, b in ("ab", "bc", "cd", "da") for x in (1, 1, 1, -1, 0)]
    votes += [("e", "a", 1), ("c", "e", 1), ("e", "b", 1), ("d", "e", 1)]
    found = davidson.point(comparisons(votes))
    assert found["a"] + found["b"] == pytest.approx(-found["c"] - found["d"], abs=1e-12)
    assert davidson.point(comparisons(votes[:20])).abs().max() < 1e-12


def table(rng, strengths, nu, n=40):
    m = len(strengths)
    wins, ties = np.zeros((m, m)), np.zeros((m, m))
    for i, j in zip(*np.triu_indices(m, 1), strict=True):
        odds = np.exp([strengths[i], strengths[j], nu + (strengths[i] + strengths[j]) / 2])
        wins[i, j], wins[j, i], ties[i, j] = rng.multinomial(n, odds / odds.sum())
    return wins, ties


def poisson(wins, ties):
    """Strengths with mean 0, by a Poisson model with a level for every pair."""
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
    return strengths - strengths.mean()


def test_estimates_are_those_of_the_poisson_model():
    rng = np.random.default_rng(3)
    for _ in range(3):
        wins, ties = table(rng, [0.8, 0.2, 0.0, -0.4, -0.6], 0.9)
        assert counted(wins, ties) == pytest.approx(poisson(wins, ties), abs=1e-7)


@pytest.mark.parametrize(("won", "lost"), [(1283787.05, 0.158), (3000000.3, 0.5)])
def test_a_loss_among_millions_is_enough_for_strengths(won, lost):
    """Of two systems their odds are wins over losses; rounding errors of so many votes are not mistaken for steps."""
    found = counted(np.array([[0, won], [lost, 0]]), np.array([[0, 133.0], [133.0, 0]]))
    assert found[0] - found[1] == pytest.approx(np.log(won / lost))


@given(st.lists(st.integers(0, 9), min_size=16, max_size=16))
def test_without_ties_strengths_are_those_of_evalica(numbers):
    w = np.array(numbers, dtype=float).reshape(4, 4)
    np.fill_diagonal(w, 0)
    reach = np.linalg.matrix_power((w > 0) + np.eye(4), 4)
    present = (w.sum(axis=0) + w.sum(axis=1)) > 0
    if not present.all():
        return
    found = counted(w, np.zeros((4, 4)))
    assert np.isnan(found).any() == (not (reach > 0).all())
    if np.isnan(found).any():
        return
    i, j = np.nonzero(w)
    options = {"weights": w[i, j].tolist(), "tolerance": 1e-12, "limit": 100_000, "index": pd.Index(range(4))}
    expected = evalica.bradley_terry(i.tolist(), j.tolist(), [evalica.Winner.X] * len(i), **options)
    log = np.log(expected.scores.sort_index().to_numpy())
    assert found == pytest.approx(log - log.mean(), abs=1e-5)


def test_strengths_allow_for_whom_a_system_met():
    """x wins more often than y, but only against the weakest: nearly on a par with the strongest, y is the better."""
    met = [("s", "w", 18, 2), ("x", "w", 14, 6), ("y", "s", 9, 11)]
    rows = [(a, b, score) for a, b, won, lost in met for score in [1] * won + [-1] * lost]
    odds = {a: np.log(won / lost) for a, _, won, lost in met}
    expected = pd.Series({"s": 0, "y": odds["y"], "w": -odds["s"], "x": odds["x"] - odds["s"]})
    found = davidson.point(comparisons(rows))
    assert found.sort_values().index.tolist() == ["w", "x", "y", "s"]
    assert found.to_dict() == pytest.approx((expected - expected.mean()).to_dict())


def test_printed_scores_add_up_to_1_and_are_of_the_model_of_bradley_and_terry():
    frame = two(6, 2, 1).assign(method="comparative", label="quality", corpus="c", group="g")
    rows = list(davidson.printed_scores(frame))
    assert [(r["system"], r["n"], r["level"]) for r in rows] == [("a", 9, "pair"), ("b", 9, "pair")]
    assert [r["estimate"] for r in rows] == pytest.approx([7 / 9, 2 / 9])
