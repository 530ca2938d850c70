import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from evaluations import SYSTEMS, comparisons, monte_carlo, ratings, study
from hypothesis import given
from hypothesis import strategies as st

from helpers import ranking, rates, schema
from helpers.labels import Label
from helpers.resampling import replicate_sums

LABELS = [
    Label("quality", "continuous", "Quality", (-9, 9)),
    Label("quality", "comparative", "Quality", (-1, 1)),
    Label("bad", "continuous", "Bad", (-9, 9), direction=-1),
    Label("neither", "continuous", "Neither", (-9, 9), direction=0),
]


def values(found, statistic):
    rows = found[found["statistic"] == statistic].set_index("system")
    return rows["estimate"].to_dict(), rows


def simulate(rng, means, n=50):
    """Replicates of the means of systems, each judged in every session."""
    x = rng.normal(means, 1, (n, len(means)))
    sums = np.concatenate([np.ones_like(x), x], axis=1)
    m = len(means)
    return replicate_sums(sums, lambda s: s[:, m:] / s[:, :m], unit="session", rng=rng, n_resamples=400)


def test_clear_order_by_hand():
    rows = [(f"d{i}{s}", s, f"s{i}", 10 * k + i % 3) for i in range(30) for k, s in enumerate(SYSTEMS)]
    frame = ratings(rows, method="continuous")
    ranks, table = values(ranking.ranks(frame, LABELS, seed=1, n_resamples=500), "rank")
    assert ranks == {"a": 4, "b": 3, "c": 2, "d": 1}
    # every session has the same differences: nothing varies, and nothing is concluded
    assert table["ci_kind"].unique() == ["not_estimable"]
    assert table["note"].unique() == ["no difference between systems varies over resamples"]


def test_direction_turns_the_order_and_labels_without_one_are_left_out():
    frame = study(np.random.default_rng(1), n_sessions=400, groups=("all",))
    up, table = values(ranking.ranks(frame, LABELS, seed=1, n_resamples=500), "rank")
    assert up == {"a": 4, "b": 3, "c": 2, "d": 1}
    assert (table["ci_low"] <= table["estimate"]).all()
    assert (table["estimate"] <= table["ci_high"]).all()
    down, _ = values(ranking.ranks(frame.assign(label="bad"), LABELS, seed=1, n_resamples=500), "rank")
    assert down == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert ranking.ranks(frame.assign(label="neither"), LABELS, seed=1).empty
    assert ranking.ranks(frame.assign(label="unnamed"), LABELS, seed=1).empty


def test_equal_systems_share_rank_and_first_place():
    rng = np.random.default_rng(2)
    x = rng.normal(size=40)
    rows = [(f"d{i}{s}", s, f"s{i}", v) for i, v in enumerate(x) for s in "ab"]
    rows += [(f"d{i}c", "c", f"s{i}", v - 5 + 0.1 * rng.normal()) for i, v in enumerate(x)]
    found = ranking.ranks(ratings(rows, method="continuous"), LABELS, seed=1, n_resamples=500)
    assert values(found, "rank")[0] == {"a": 1, "b": 1, "c": 3}
    assert values(found, "first_place_share")[0] == {"a": 0.5, "b": 0.5, "c": 0.0}
    ends = values(found, "rank")[1]
    assert ends.loc["c", ["ci_low", "ci_high"]].tolist() == [3, 3]
    assert ends.loc["a", ["ci_low", "ci_high"]].tolist() == [1, 2]


def test_a_system_in_one_session_has_a_reason():
    frame = ratings([("d1", "a", "s1", 3), ("d2", "b", "s1", 4)], method="continuous")
    _, table = values(ranking.ranks(frame, LABELS, seed=1, n_resamples=100), "rank")
    assert table["note"].unique() == ["too few units of a system to resample"]


@pytest.mark.parametrize("means", [(0, 0, 0, 0), (0, 0, 0.5, 0.5), (0, 0.2, 0.4, 1.0)])
def test_rank_intervals_cover_all_ranks_at_once(means):
    n, means = 300, np.array(means, dtype=float)
    best = 1 + np.sum(means > means[:, None], axis=1)
    worst = len(means) - np.sum(means < means[:, None], axis=1)
    covered, top = [], []
    for i in range(n):
        _, low, high, first, reason = ranking.rank_intervals(simulate(np.random.default_rng([3, i]), means))
        assert reason == ""
        covered.append(np.all(low <= best) and np.all(worst <= high))
        top.append(first.max())
    assert np.mean(covered) > 0.95 - monte_carlo(0.95, n)
    if not np.ptp(means):  # no evidence for any, and yet one comes first more often than not
        assert np.median(top) == pytest.approx(0.56, abs=0.05)


def test_win_rates_by_hand():
    frame = comparisons([("a", "b", 1), ("a", "b", 0), ("b", "a", 1), ("a", "c", 1), ("c", "b", 0)])
    found = ranking.win_rates(frame, seed=1, n_resamples=200)
    rate = found.set_index(["system", "system_b", "condition"])["estimate"]
    half, drop = "interval=session;ties=half", "interval=session;ties=drop"
    assert rate["a"][np.nan, half] == pytest.approx(2.5 / 4)
    assert rate["a"][np.nan, drop] == pytest.approx(2 / 3)
    assert rate["a", "b", half] == 0.5
    assert rate["b", "a", half] == 0.5
    assert rate["a", "c", drop] == 1
    only_ties = found[(found["system"] == "c") & (found["system_b"] == "b") & (found["condition"] == drop)]
    assert only_ties["note"].item() == "all comparisons are ties"
    assert len(schema.make_results(found, study="x", notebook="07")) == len(found)


def test_win_rates_agree_with_shares():
    rng = np.random.default_rng(3)
    frame = comparisons([(*rng.choice(SYSTEMS, 2, replace=False), rng.integers(-1, 2)) for _ in range(200)])
    found = ranking.win_rates(frame, seed=1, n_resamples=300)
    half = found[found["system_b"].isna() & found["condition"].str.contains("half")].set_index("system")["estimate"]
    shares = rates.published(frame).set_index(["system", "condition"])["estimate"].unstack()  # noqa: PD010
    shares.columns = shares.columns.str.split("=").str[-1]
    assert half.to_dict() == pytest.approx((shares["win"] + shares["tie"] / 2).to_dict())


wins = st.lists(st.integers(0, 9), min_size=16, max_size=16)


@given(wins)
def test_strengths_are_those_of_the_iteration_written_out(numbers):
    w = np.array(numbers, dtype=float).reshape(4, 4)
    np.fill_diagonal(w, 0)
    found = ranking.strengths(w)
    assert ranking.resampled_strengths(w[None])[0] == pytest.approx(found, nan_ok=True, abs=1e-6)
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
    found = ranking.bradley_terry(frame, seed=1, n_resamples=500)
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
    a = ranking.bradley_terry(
        comparisons([("a", "b", 1)] * 3 + [("b", "a", 1)] + [("a", "b", 0)] * 2), seed=1, n_resamples=100
    )
    assert a["estimate"].tolist() == pytest.approx([np.log(2) / 2, -np.log(2) / 2])


def test_a_system_that_never_wins_has_no_strength():
    found = ranking.bradley_terry(comparisons([("a", "b", 1), ("b", "a", 1), ("a", "c", 1)]), seed=1)
    assert found["estimate"].isna().all()
    assert found["note"].unique() == ["one group of systems never wins against the others: strengths do not exist"]
    assert len(schema.make_results(found, study="x", notebook="07")) == 3


def test_ranks_of_comparisons_are_those_of_win_rates():
    rng = np.random.default_rng(5)
    frame = comparisons([(*rng.choice(SYSTEMS, 2, replace=False), rng.integers(-1, 2)) for _ in range(300)])
    ranks, table = values(ranking.ranks(frame, LABELS, seed=1, n_resamples=300), "rank")
    rate = ranking.win_rates(frame, seed=1, n_resamples=100)
    rate = rate[rate["system_b"].isna() & rate["condition"].str.contains("half")].set_index("system")["estimate"]
    assert ranks == rate.rank(ascending=False).to_dict()
    assert table["condition"].unique() == ["of=win_rate;resample=session"]


def test_an_unknown_unit_is_an_error():
    frame = comparisons([("a", "b", 1)]).drop(columns="session")
    for function in (ranking.win_rates, ranking.bradley_terry):
        with pytest.raises(ValueError, match="the column 'session' must be known"):
            function(frame, seed=1)
    assert isinstance(frame, pd.DataFrame)
