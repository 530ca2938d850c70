import numpy as np
import pytest
from fixtures.made_annotations import SYSTEMS, comparisons, ratings, study
from scipy import stats

from judgebook.questions.performance import ranking, rates
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label

LABELS = [
    Label("quality", "continuous", "Quality", (-9, 9)),
    Label("quality", "comparative", "Quality", (-1, 1)),
    Label("bad", "continuous", "Bad", (-9, 9), direction=-1),
    Label("neither", "continuous", "Neither", (-9, 9), direction=0),
]


def values(found, statistic):
    rows = found[found["statistic"] == statistic].set_index("system")
    return rows["estimate"].to_dict(), rows


def test_clear_order_by_hand():
    rows = [(f"d{i}{s}", s, f"s{i}", 10 * k + i % 3) for i in range(30) for k, s in enumerate(SYSTEMS)]
    frame = ratings(rows, method="continuous")
    ranks, table = values(ranking.ranks(frame, LABELS, sampling=Sampling(500, 0.95, 1)), "rank")
    assert ranks == {"a": 4, "b": 3, "c": 2, "d": 1}
    # every session has the same differences: nothing varies, and nothing is concluded
    assert table["ci_kind"].unique() == ["not_estimable"]
    assert table["note"].unique() == ["no difference between systems varies"]


def test_direction_turns_the_order_and_labels_without_one_are_left_out():
    frame = study(np.random.default_rng(1), n_sessions=400, groups=("all",))
    up, table = values(ranking.ranks(frame, LABELS, sampling=Sampling(500, 0.95, 1)), "rank")
    assert up == {"a": 4, "b": 3, "c": 2, "d": 1}
    assert (table["ci_low"] <= table["estimate"]).all()
    assert (table["estimate"] <= table["ci_high"]).all()
    down, _ = values(ranking.ranks(frame.assign(label="bad"), LABELS, sampling=Sampling(500, 0.95, 1)), "rank")
    assert down == {"a": 1, "b": 2, "c": 3, "d": 4}
    for label in ("neither", "unnamed"):
        assert ranking.ranks(frame.assign(label=label), LABELS, sampling=Sampling(100, 0.95, 1)).empty


def test_equal_systems_share_rank_and_first_place():
    rng = np.random.default_rng(2)
    x = rng.normal(size=40)
    rows = [(f"d{i}{s}", s, f"s{i}", v) for i, v in enumerate(x) for s in "ab"]
    rows += [(f"d{i}c", "c", f"s{i}", v - 5 + 0.1 * rng.normal()) for i, v in enumerate(x)]
    found = ranking.ranks(ratings(rows, method="continuous"), LABELS, sampling=Sampling(500, 0.95, 1))
    assert values(found, "rank")[0] == {"a": 1, "b": 1, "c": 3}
    assert values(found, "first_place_share")[0] == {"a": 0.5, "b": 0.5, "c": 0.0}
    ends = values(found, "rank")[1]
    assert ends.loc["c", ["ci_low", "ci_high"]].tolist() == [3, 3]
    assert ends.loc["a", ["ci_low", "ci_high"]].tolist() == [1, 2]


def test_a_system_in_one_session_has_a_reason_and_an_unknown_unit_is_an_error():
    frame = ratings([("d1", "a", "s1", 3), ("d2", "b", "s1", 4)], method="continuous")
    _, table = values(ranking.ranks(frame, LABELS, sampling=Sampling(100, 0.95, 1)), "rank")
    assert table["note"].unique() == ["a single session"]
    with pytest.raises(ValueError, match="the column 'session' must be known"):
        ranking.ranks(frame.drop(columns="session"), LABELS, sampling=Sampling(100, 0.95, 1))


@pytest.mark.parametrize(("m", "df"), [(2, 9.0), (4, 12.0)])
def test_systems_differ_beyond_the_simultaneous_quantile(m, df):
    """Sidak's: 1 - (1 - 0.95) of all pairs; the last two systems differ by just so much, or just not."""
    pairs = m * (m - 1) // 2
    quantile = stats.t.ppf((1 + 0.95 ** (1 / pairs)) / 2, df)
    for gap, apart in ((0.3 * quantile * (1 + 1e-6), True), (0.3 * quantile * (1 - 1e-6), False)):
        values = np.r_[np.full(m - 1, gap), 0.0]
        rank, low, high, reason = ranking.rank_intervals(values, np.full(pairs, 0.3), df, 0.95)
        assert (rank.tolist(), reason) == ([1] * (m - 1) + [m], "")
        assert low.tolist() == [1] * (m - 1) + [m if apart else 1]
        assert high.tolist() == [m - 1 if apart else m] * (m - 1) + [m]


def test_first_place_is_shared():
    values = np.array([[1.0, 2, 2], [3, 1, 1], [1, 4, 2], [9, np.nan, 1]])
    assert ranking.first_place(values).tolist() == pytest.approx([1 / 3, 1 / 2, 1 / 6])


def test_annotators_are_a_sample_where_they_are_known():
    """A wide spread between annotators, each of whom judged one system: nothing can be said of systems."""
    rng = np.random.default_rng(8)
    rows = [
        (f"d{i}{s}", s, f"s{i}", k + 2.0 * (i % 3) + rng.normal(0, 0.1)) for i in range(30) for k, s in enumerate("ab")
    ]
    frame = ratings(rows, method="continuous")
    frame["annotator"] = frame["system"] + (frame.index // 2 % 3).astype(str)
    _, known = values(ranking.ranks(frame, LABELS, sampling=Sampling(100, 0.95, 1)), "rank")
    _, unknown = values(
        ranking.ranks(frame.assign(annotator_known=False), LABELS, sampling=Sampling(100, 0.95, 1)), "rank"
    )
    assert known["ci_high"].tolist() == [2, 2]
    assert set(known["resample_unit"]) == {"session and annotator"}
    assert unknown["ci_high"].tolist() == [2, 1]


def test_ranks_of_comparisons_are_those_of_win_rates():
    rng = np.random.default_rng(5)
    frame = comparisons([(*rng.choice(SYSTEMS, 2, replace=False), rng.integers(-1, 2)) for _ in range(300)])
    ranks, table = values(ranking.ranks(frame, LABELS, sampling=Sampling(300, 0.95, 1)), "rank")
    shares = rates.published(frame).set_index(["system", "outcome"])["estimate"].unstack()
    assert ranks == (shares["win"] + shares["tie"] / 2).rank(ascending=False).to_dict()
    assert table[["of", "resample"]].drop_duplicates().to_numpy().tolist() == [["win_rate", "session"]]
