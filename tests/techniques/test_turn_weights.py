"""Which turns count for the final rating: statsmodels, and a rating made from known weights."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from helpers.techniques import turn_weights


def test_coefficients_and_intervals_are_those_of_statsmodels():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (60, 4)).astype(float)
    y = x @ [0.1, 0.2, 0.3, 0.9] + rng.normal(0, 0.3 + x[:, 0])
    fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True)
    beta, low, high = turn_weights.coefficients(x, y)
    assert beta == pytest.approx(fit.params[1:])
    assert np.column_stack([low, high]) == pytest.approx(fit.conf_int()[1:])


def test_what_is_not_identified_is_missing():
    x = np.zeros((30, 2))
    assert np.isnan(turn_weights.coefficients(x, np.arange(30.0))[0]).all()
    assert np.isnan(turn_weights.coefficients(np.eye(4), np.arange(4.0))[0]).all()


def test_conversations_by_hand_and_weights_come_back():
    rng, marks, ratings = np.random.default_rng(2), [], []
    for i in range(80):
        head = {"corpus": "main", "group": "all", "system": "ab"[i % 2], "dialogue": f"d{i}", "annotator": f"w{i}"}
        seen = rng.integers(0, 2, (3, 2))  # three turns, two questions
        marks += [head | {"turn": t, "score": seen[t, q]} for t in range(3) for q in range(2)]
        rating = 1 + seen.mean(axis=1) @ [0.5, 1.0, 2.0]
        ratings += [head | {"score": rating + shift} for shift in (-0.5, 0.5)]
    both = turn_weights.conversations(pd.DataFrame(marks), pd.DataFrame(ratings))
    assert len(both) == 80
    first = both.set_index("dialogue").loc["d0"]
    seen = pd.DataFrame(marks).query("dialogue == 'd0'").groupby("turn")["score"].mean()
    assert first[[1, 2, 3]].tolist() == seen.tolist()
    assert first["rating"] == pytest.approx(1 + seen @ [0.5, 1.0, 2.0])
    found = pd.DataFrame(turn_weights.by_turn(both))
    overall = found[found["system"].isna()].set_index("turn")["estimate"]
    assert overall.to_dict() == pytest.approx({1: 0.5, 2: 1.0, 3: 2.0})
    assert set(found["system"].dropna()) == {"a", "b"}


def test_few_conversations_give_a_reason():
    marks = pd.DataFrame(
        [
            {"corpus": "m", "group": "g", "system": "a", "dialogue": "d", "annotator": "w", "turn": t, "score": 1}
            for t in range(3)
        ]
    )
    rating = marks.drop(columns="turn").iloc[:1].assign(score=4)
    found = pd.DataFrame(turn_weights.by_turn(turn_weights.conversations(marks, rating)))
    assert found["estimate"].isna().all()
    assert found["note"].str.startswith("too few").all()
