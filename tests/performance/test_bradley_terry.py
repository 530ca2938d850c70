import numpy as np
import pytest
import statsmodels.api as sm
from fixtures.made_annotations import SYSTEMS, comparisons
from hypothesis import given
from hypothesis import strategies as st

from helpers.performance import bradley_terry as strengths
from helpers.study.results import collect, fold

wins = st.lists(st.integers(0, 9), min_size=16, max_size=16)


@given(wins)
def test_strengths_are_those_of_the_iteration_written_out(numbers):
    w = np.array(numbers, dtype=float).reshape(4, 4)
    np.fill_diagonal(w, 0)
    found = strengths.strengths(w)
    assert strengths.resampled_strengths(w[None])[0] == pytest.approx(found, nan_ok=True, abs=1e-6)
    if np.isnan(found).any():
        reach = np.linalg.matrix_power((w > 0) + np.eye(4), 4)
        assert not (reach > 0).all()
        return
    p, games = np.ones(4), w + w.T
    for _ in range(100_000):  # Hunter 2004, Annals of Statistics 32, eq. 3
        before, p = p, w.sum(axis=1) / np.sum(games / (p[:, None] + p), axis=1)
        p /= np.exp(np.log(p).mean())
        if np.allclose(p, before, rtol=1e-12, atol=0):
            break
    assert found == pytest.approx(np.log(p), abs=1e-6)


def test_strengths_are_those_of_a_logit():
    rng = np.random.default_rng(4)
    frame = comparisons([(*rng.choice(SYSTEMS, 2, replace=False), rng.choice([-1, 1])) for _ in range(150)])
    x = np.zeros((len(frame), 4))
    rows = np.arange(len(frame))
    x[rows, [SYSTEMS.index(s) for s in frame["system"]]] = 1
    x[rows, [SYSTEMS.index(s) for s in frame["system_b"]]] = -1
    logit = sm.Logit(frame["score"] > 0, x[:, 1:]).fit(disp=0, tol=1e-12)
    reference = np.concatenate([[0], logit.params])
    found = strengths.bradley_terry(frame, seed=1, n_resamples=500)
    assert found["estimate"].to_numpy() == pytest.approx(reference - reference.mean(), abs=1e-6)
    assert (found["ci_low"] < found["estimate"]).all()
    assert (found["estimate"] < found["ci_high"]).all()
    # the interval is about as wide as the logit's standard errors say
    cov = np.zeros((4, 4))
    cov[1:, 1:] = logit.cov_params()
    contrast = np.eye(4) - 0.25
    se = np.sqrt(np.diag(contrast @ cov @ contrast.T))
    assert ((found["ci_high"] - found["ci_low"]) / (2 * 1.96 * se)).to_numpy() == pytest.approx(1, abs=0.15)


def test_a_tie_is_half_a_win_for_either():
    a = strengths.bradley_terry(
        comparisons([("a", "b", 1)] * 3 + [("b", "a", 1)] + [("a", "b", 0)] * 2), seed=1, n_resamples=100
    )
    assert a["estimate"].tolist() == pytest.approx([np.log(2) / 2, -np.log(2) / 2])


def test_a_system_that_never_wins_has_no_strength():
    found = strengths.bradley_terry(comparisons([("a", "b", 1), ("b", "a", 1), ("a", "c", 1)]), seed=1)
    assert found["estimate"].isna().all()
    assert found["note"].unique() == ["one group of systems never wins against the others: strengths do not exist"]
    assert len(fold(collect(found), study="x", notebook="07")) == 3


def test_an_unknown_unit_is_an_error():
    frame = comparisons([("a", "b", 1)]).drop(columns="session")
    with pytest.raises(ValueError, match="the column 'session' must be known"):
        strengths.bradley_terry(frame, seed=1)
