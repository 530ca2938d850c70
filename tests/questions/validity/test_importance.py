import numpy as np
import pandas as pd
import pytest
from fixtures.reference import REGRESSION as r_values
from fixtures.reference import REGRESSION_DATA as data
from scipy.stats import pearsonr, rankdata

from judgebook.annotations import dialogue_values as values
from judgebook.questions.validity import importance as validity
from judgebook.statistics.intervals import Interval, Sampling, generator
from judgebook.study.results import collect


def design(x, y, clusters=None, target=values.DIALOGUE_QUALITY):
    frame = pd.DataFrame({("behavior", name): v for name, v in x.items()})
    frame.columns = pd.MultiIndex.from_tuples(frame.columns, names=["method", "label"])
    y = np.asarray(y, dtype=float)
    clusters = np.arange(len(y)) if clusters is None else clusters
    level = "dialogue" if target == values.DIALOGUE_QUALITY else "pair"
    return values.Design(target, y, frame, np.asarray(clusters, dtype=object), "interactor", level)


def estimates(found, label=None):
    """Statistic -> estimate of one label, r with its primary interval."""
    return pd.Series({s: row(found, s, label)["estimate"] for s in found})


def sampling(n_resamples=10_000, seed=0):
    return Sampling(n_resamples=n_resamples, confidence=0.95, seed=seed)


def row(found, statistic, label=None):
    rows = found.select(statistic, **{"kind": None} if statistic == "r" else {})
    return rows[rows["label"] == (label or rows["label"].iloc[0])].iloc[0]


def test_linear_importance_equals_r_and_scipy():
    x = data["steady"].to_numpy()
    found = validity.importance(design({"steady": x}, data["y"]), sampling=sampling(200, seed=1))
    at = estimates(found)
    assert at["r"] == pytest.approx(pearsonr(x, data["y"]).statistic, abs=1e-12)
    assert at["r"] ** 2 == pytest.approx(r_values["one", "r2", ""], abs=1e-10)
    assert found["r"]["ci_kind"].tolist() == ["jackknife_t", "bca"]


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        (np.ones(30), np.arange(30), "same value, 1, throughout"),
        (np.arange(30), np.full(30, 4), "target has the same value, 4"),
        (np.r_[[0.0, 1, 2], np.full(27, np.nan)], np.arange(30), "3 rows have both"),
    ],
)
def test_what_cannot_be_used_gives_a_reason(x, y, reason):
    found = validity.importance(design({"label": x.astype(float)}, y), sampling=sampling())
    assert list(found) == ["r"]
    assert found["r"]["estimate"].isna().all()
    assert reason in found["r"]["note"].item()


def test_two_positives_in_four_hundred_have_an_estimate_but_no_interval():
    rng = np.random.default_rng(0)
    x = np.zeros(400)
    x[[3, 200]] = 1 / 15
    found = validity.importance(design({"rare": x}, rng.normal(size=400), np.arange(400) // 9), sampling=sampling())
    r = row(found, "r")
    assert np.isfinite(r["estimate"])
    assert np.isnan(r["ci_low"])
    assert "only 2 of 400 rows differ from 0" in r["note"]


def test_reliability_is_the_correlation_with_both_orders_counted():
    rng = np.random.default_rng(2)
    true = rng.normal(size=50)
    a, b = true + rng.normal(size=50), true + rng.normal(size=50)
    y, people = rng.normal(size=50), np.arange(50) // 5

    def found(first, second):
        repeats = tuple(design({"label": v}, y, people) for v in (first, second))
        main = design({"label": a}, y, people)
        return estimates(validity.importance(main, sampling=sampling(100), repeats=repeats))

    doubled = pearsonr(np.r_[a, b], np.r_[b, a]).statistic
    assert found(a, b)["repeat_reliability"] == pytest.approx(doubled, abs=1e-12)
    assert found(a, b)["corrected_r"] == pytest.approx(found(a, b)["r"] / np.sqrt(doubled))
    assert np.isnan(found(np.ones(50), np.ones(50))["corrected_r"])


@pytest.mark.parametrize(("noise", "known"), [(9.0, False), (0.3, True)])
def test_a_corrected_correlation_is_not_estimated_where_the_reliability_is_unknown(noise, known):
    rng = np.random.default_rng(5)
    true, people = rng.normal(size=60), np.arange(60) // 5
    first, second = (true + noise * rng.normal(size=60) for _ in range(2))
    repeats = tuple(design({"label": v}, true, people) for v in (first, second))
    main = design({"label": first}, true, people)
    rows = validity.importance(main, sampling=sampling(100), repeats=repeats)
    assert np.isfinite(rows["corrected_r"]["estimate"].item()) == known
    assert (rows["repeat_reliability"]["ci_low"].iloc[0] > 0) == known


def test_a_corrected_correlation_with_a_wide_interval_is_not_estimated():
    reliability = Interval(0.2, 0.01, 0.4, "jackknife_t", "interactor", 20)
    wide, narrow = (Interval(0.8, low, 1.1, "jackknife_t", "interactor", 20) for low in (0.0, 0.5))
    found = validity._estimable(wide, reliability)
    assert np.isnan([found.estimate, found.low, found.high]).all()
    assert "wider than 1" in found.note
    assert validity._estimable(narrow, reliability) is narrow


def simulated_people(rng, n, n_people, r):
    """x and y with correlation r; half the variance of both lies between people."""
    clusters = np.arange(n) % n_people
    u, e = rng.normal(size=(n_people, 2)), rng.normal(size=(n, 2))
    x, y = (u[clusters] + e).T / np.sqrt(2)
    return x, r * x + np.sqrt(1 - r**2) * y, clusters


@pytest.mark.evidence
def test_intervals_cover_when_people_differ():
    rng, n, n_people = np.random.default_rng(7), 100, 10
    covered, widths, n_runs = {"jackknife_t": 0, "bca": 0}, [], 600
    for run in range(n_runs):
        x, y, clusters = simulated_people(rng, n, n_people, 0.3)
        label = validity._Label(design({"x": x}, y, clusters), 0, [], generator(run, "x"), 400, 0.95)
        found = [r for r in label.rows() if r["statistic"] == "r"]
        for r in found:
            covered[r["ci_kind"]] += r["ci_low"] <= 0.3 <= r["ci_high"]
        widths.append(found[0]["ci_high"] - found[0]["ci_low"])
    # nominal 95 %, three binomial standard errors of 600 runs are 2.7 points
    assert covered["jackknife_t"] / n_runs == pytest.approx(0.95, abs=0.027)
    # why BCa is not the primary interval
    assert covered["bca"] / n_runs < 0.94
    # an interval that takes dialogues as independent
    assert np.mean(widths) > 1.2 * 2 * 1.96 * (1 - 0.09) / np.sqrt(n)


def test_one_person_or_a_perfect_relation_has_no_interval():
    x = np.arange(30.0)
    alone = validity.importance(design({"x": x}, x + np.tile([0, 3], 15), np.zeros(30)), sampling=sampling(100))
    assert "1 clusters (interactor) are too few" in row(alone, "r")["note"]
    perfect = validity.importance(design({"x": x}, 2 * x, np.arange(30) // 3), sampling=sampling(100))
    assert "at its bound" in row(perfect, "r")["note"]
    assert estimates(perfect)["r"] == pytest.approx(1)


def ranks(one):
    return collect(validity.importance_ranks(one))["importance_rank"]


def shared(values, known=("dialogue_likert",)):
    return {s: frame.iloc[0] for s, frame in collect(validity.shared_source(values, known)).items()}


def columns(x, y, clusters):
    return design({f"x{i}": v for i, v in enumerate(x.T)}, y, clusters)


def drawn(rng, strengths, n=300, n_people=50):
    clusters = np.arange(n) % n_people
    y = 0.4 * rng.normal(size=n_people)[clusters] + rng.normal(size=n)
    x = np.asarray(strengths) * y[:, None] + 0.4 * rng.normal(size=(n_people, len(strengths)))[clusters]
    return columns(x + rng.normal(size=x.shape), y, clusters)


def test_ranks_are_those_of_absolute_correlations():
    one = drawn(np.random.default_rng(1), [0.2, -1.5, 0.0, 0.4, -0.1])
    one.x.iloc[:40, 3] = np.nan
    found = ranks(one)
    known = [one.x.iloc[:, i].notna() for i in range(5)]
    r = [abs(pearsonr(one.x.iloc[:, i][k], one.y[k]).statistic) for i, k in enumerate(known)]
    assert found["estimate"].tolist() == rankdata(-np.array(r)).tolist()
    assert found["n"].tolist() == [300, 300, 300, 260, 300]
    strongest = found.set_index("label").loc["x1"]
    assert (strongest["ci_low"], strongest["ci_high"]) == (1, 1)


@pytest.mark.verify
def test_intervals_of_ranks_hold_all_at_once():
    """Three labels of different strength and two of none: all true ranks are inside in at least 95 %."""
    rng, n_runs, held = np.random.default_rng(2), 200, 0
    best, worst = np.array([1, 2, 3, 4, 4]), np.array([1, 2, 3, 5, 5])
    for _ in range(n_runs):
        found = ranks(drawn(rng, [0.7, 0.45, 0.25, 0, 0]))
        held += bool((found["ci_low"] <= best).all() and (found["ci_high"] >= worst).all())
    # three binomial standard errors of 200 runs below 95 %
    assert held / n_runs >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / n_runs)


def test_labels_without_variation_have_no_rank():
    one = drawn(np.random.default_rng(3), [0.5, 0.1, 0.2])
    one.x.iloc[:, 1] = 1.0
    found = ranks(one)
    assert found["label"].tolist() == ["x0", "x2"]
    one.x.iloc[:, 2] = np.nan
    assert ranks(one).empty


def judged(scores):
    """Values of dialogues by one method: scores is label -> [(dialogue, annotator, value), …]."""
    rows = [(label, d, who, v) for label, given in scores.items() for d, who, v in given]
    frame = pd.DataFrame(rows, columns=["label", "dialogue", "annotator", "value"])
    return frame.assign(method="dialogue_likert", dialogue_b=pd.NA, annotator=frame["annotator"].astype("str"))


def test_shared_source_by_hand():
    a = [("d1", "w", 1.0), ("d2", "w", 2.0), ("d3", "v", 3.0), ("d4", "v", 5.0)]
    b = [("d1", "w", 2.0), ("d2", "v", 4.0), ("d3", "v", 6.0), ("d4", None, 1.0)]
    found = shared(judged({"a": a, "b": b}))
    # d1 and d3 have one person for both labels; d2 has two, d4 several for b
    assert found["single_source_share"]["estimate"] == 0.5
    r = pearsonr([1, 2, 3, 5], [2, 4, 6, 1]).statistic
    assert found["label_intercorrelation"]["estimate"] == pytest.approx(abs(r))
    assert {row["n"] for row in found.values()} == {4}


def test_positions_in_a_list_are_not_one_person():
    ratings = [("d1", "pos0", 1.0), ("d2", "pos0", 2.0), ("d3", "pos0", 3.0)]
    found = shared(judged({"a": ratings, "b": ratings}), known=())
    assert set(found) == {"label_intercorrelation"}


def test_shared_source_of_one_label_is_nothing():
    assert not shared(judged({"a": [("d1", "w", 1.0), ("d2", "w", 2.0)]}))
