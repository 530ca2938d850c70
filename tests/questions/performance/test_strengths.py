"""Strengths of compared systems by votes alone, and as leaderboards print them: other libraries and cases by hand."""

import evalica
import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons
from hypothesis import assume, given
from hypothesis import strategies as st

from judgebook.questions.performance import analysis


def counted(wins, ties):
    """(m, m) wins of row over column, and ties, as votes with weights."""
    (i, j), (k, l) = np.nonzero(wins), np.nonzero(np.triu(ties))
    score = np.r_[np.ones(len(i)), np.zeros(len(k))]
    frame = pd.DataFrame({"system": np.r_[i, k].astype(str), "system_b": np.r_[j, l].astype(str), "score": score})
    return analysis.point(frame, np.r_[wins[i, j], ties[k, l]]).to_numpy()


def test_systems_that_did_alike_are_tied_in_nine_digits():
    """In a ring each system beats the next as often."""
    votes = [(a, b, x) for a, b in ("ab", "bc", "cd", "da") for x in (1, 1, 1, -1, 0)]
    votes += [("e", "a", 1), ("c", "e", 1), ("e", "b", 1), ("d", "e", 1)]
    found = analysis.point(comparisons(votes))
    assert found["a"] + found["b"] == pytest.approx(-found["c"] - found["d"], abs=1e-12)
    assert analysis.point(comparisons(votes[:20])).abs().max() < 1e-12


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
    assume(present.all())
    found = counted(w, np.zeros((4, 4)))
    assert np.isnan(found).any() == (not (reach > 0).all())
    if np.isnan(found).any():
        return
    i, j = np.nonzero(w)
    options = {"weights": w[i, j].tolist(), "tolerance": 1e-12, "limit": 100_000, "index": pd.Index(range(4))}
    expected = evalica.bradley_terry(i.tolist(), j.tolist(), [evalica.Winner.X] * len(i), **options)
    log = np.log(expected.scores.sort_index().to_numpy())
    assert found == pytest.approx(log - log.mean(), abs=1e-5)


def test_printed_scores_add_up_to_1_and_are_of_the_model_of_bradley_and_terry():
    votes = [("a", "b", 1)] * 6 + [("b", "a", 0)] * 2 + [("b", "a", 1)]
    frame = comparisons(votes).assign(method="comparative", label="quality", corpus="c", group="g")
    rows = list(analysis.printed_scores(frame))
    assert [(r["system"], r["n"], r["level"]) for r in rows] == [("a", 9, "pair"), ("b", 9, "pair")]
    assert [r["estimate"] for r in rows] == pytest.approx([7 / 9, 2 / 9])
