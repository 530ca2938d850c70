"""Which turns count for the final rating: statsmodels, and a rating made from known weights."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t

from helpers.turns import coefficients
from judgebook.questions.techniques import turn_ratings
from judgebook.questions.techniques.turn_ratings import paired
from judgebook.study.labels import Label
from judgebook.study.results import collect


def test_coefficients_and_intervals_are_those_of_statsmodels():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (60, 4)).astype(float)
    y = x @ [0.1, 0.2, 0.3, 0.9] + rng.normal(0, 0.3 + x[:, 0])
    fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True)
    kernel = np.column_stack(turn_ratings.coefficients(x, y))
    assert kernel == pytest.approx(np.column_stack([fit.params, fit.conf_int()])[1:], abs=1e-9)
    as_published = coefficients(pd.DataFrame(x, columns=[1, 2, 3, 4]).assign(rating=y), [1, 2, 3, 4])
    assert as_published[["estimate", "ci_low", "ci_high"]].to_numpy() == pytest.approx(kernel, abs=1e-9)


def test_what_is_not_identified_is_missing():
    x = np.zeros((30, 2))
    assert np.isnan(turn_ratings.coefficients(x, np.arange(30.0))[0]).all()
    assert np.isnan(turn_ratings.coefficients(np.eye(4), np.arange(4.0))[0]).all()
    assert coefficients(pd.DataFrame(x, columns=[1, 2]).assign(rating=1.0), [1, 2])["estimate"].isna().all()


def test_rows_of_one_cluster_count_together():
    """Against the definition: the sum of squared changes when each cluster is left out; singletons give HC3."""
    rng = np.random.default_rng(3)
    x, clusters = rng.normal(size=(60, 2)), np.repeat(np.arange(20), [1, 2, 3, 6] * 5)
    y = x @ [0.5, -0.2] + rng.normal(size=20)[clusters] + rng.normal(size=60)

    def fit(keep):
        return sm.OLS(y[keep], sm.add_constant(x[keep])).fit().params[1:]

    every = fit(np.full(60, True))
    changes = np.array([every - fit(clusters != c) for c in range(20)])
    beta, low, high = turn_ratings.coefficients(x, y, clusters=clusters)
    assert beta == pytest.approx(every)
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 19) * np.sqrt((changes**2).sum(axis=0)))
    alone = turn_ratings.coefficients(x, y, clusters=np.arange(60))
    assert np.array(alone) == pytest.approx(np.array(turn_ratings.coefficients(x, y)))
    _, *plain = turn_ratings.coefficients(x, y)
    assert not np.allclose(plain, [low, high])


def test_a_contrast_is_that_of_statsmodels():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(50, 4))
    y = x @ [0.1, 0.2, 0.3, 0.9] + rng.normal(size=50)
    contrast = np.array([-0.5, -0.5, 0.5, 0.5])
    fitted = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True).t_test(np.r_[0, contrast])
    estimate, low, high = turn_ratings.coefficients(x, y, contrasts=contrast)
    assert estimate == pytest.approx(fitted.effect)
    assert [low[0], high[0]] == pytest.approx(fitted.conf_int()[0])


def made(n, weights):
    """Marks at three turns on two questions and ratings that follow them, of n conversations with two systems."""
    rng, marks, ratings = np.random.default_rng(2), [], []
    for i in range(n):
        head = {"corpus": "main", "group": "all", "system": "ab"[i % 2], "dialogue": f"d{i}", "annotator_known": True}
        seen = rng.integers(0, 2, (3, 2))  # three turns, two questions
        own = head | {"annotator": f"w{i}", "method": "single_turn"}
        marks += [own | {"turn": t, "label": f"q{q}", "score": seen[t, q]} for t in range(3) for q in range(2)]
        rating, other = 1 + seen.mean(axis=1) @ weights, head | {"annotator": f"w{i}"}
        both = enumerate((-0.5, 0.5))
        ratings += [other | {"method": "single_dialogue", "label": f"q{q}", "score": rating + s} for q, s in both]
    scales = {"single_turn": (0, 1), "single_dialogue": (0, 6)}
    labels = [Label(f"q{q}", method, f"Q{q}", scale) for q in (0, 1) for method, scale in scales.items()]
    return pd.DataFrame(marks), pd.DataFrame(ratings), labels


def test_conversations_by_hand_and_weights_come_back():
    marks, ratings, labels = made(80, [0.5, 1.0, 2.0])
    (both,) = paired(marks, ratings, labels)
    assert (both.people, both.counted, len(both.rows)) == ("same", "start", 80)
    first = both.rows.set_index("dialogue").loc["d0"]
    seen = marks.query("dialogue == 'd0'").groupby("turn")["score"].mean()
    assert first[[1, 2, 3]].tolist() == seen.tolist()
    assert first["rating"] == pytest.approx(1 + seen @ [0.5, 1.0, 2.0])
    overall = coefficients(both.rows, both.turns).set_index("turn")["estimate"]
    assert overall.to_dict() == pytest.approx({1: 0.5, 2: 1.0, 3: 2.0})
    halves = collect(turn_ratings.recency(both))["turn_recency"].set_index("half")["estimate"]
    assert halves.to_dict() == pytest.approx({"first": 0.5, "second": 2.0, "difference": 1.5})


def test_people_who_judged_several_conversations_are_the_clusters():
    marks, ratings, labels = made(80, [0.5, 1.0, 2.0])
    few = {f"w{i}": f"v{i // 2}" for i in range(80)}
    marks, ratings = (f.assign(annotator=f["annotator"].map(few)) for f in (marks, ratings))
    (both,) = paired(marks, ratings, labels)
    assert set(collect(turn_ratings.recency(both))["turn_recency"]["resample_unit"]) == {"annotator"}
