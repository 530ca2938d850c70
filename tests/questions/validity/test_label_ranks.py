import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, rankdata

from judgebook.annotations import dialogue_values as values
from judgebook.questions.validity import importance
from judgebook.study.results import collect, fold


def ranks(one):
    return collect(importance.importance_ranks(one))["importance_rank"]


def shared(values, known=("dialogue_likert",)):
    return {s: frame.iloc[0] for s, frame in collect(importance.shared_source(values, known)).items()}


def design(x, y, clusters):
    names = pd.MultiIndex.from_tuples([("m", f"x{i}") for i in range(x.shape[1])], names=["method", "label"])
    people = np.array([f"I{c}" for c in clusters], dtype=object)
    frame = pd.DataFrame(x, columns=names)
    return values.Design(values.DIALOGUE_QUALITY, np.asarray(y, float), frame, people, "interactor", "dialogue")


def drawn(rng, strengths, n=300, n_people=50):
    clusters = np.arange(n) % n_people
    y = 0.4 * rng.normal(size=n_people)[clusters] + rng.normal(size=n)
    x = np.asarray(strengths) * y[:, None] + 0.4 * rng.normal(size=(n_people, len(strengths)))[clusters]
    return design(x + rng.normal(size=x.shape), y, clusters)


def test_ranks_are_those_of_absolute_correlations():
    one = drawn(np.random.default_rng(1), [0.2, -1.5, 0.0, 0.4, -0.1])
    one.x.iloc[:40, 3] = np.nan
    found = ranks(one)
    known = [one.x.iloc[:, i].notna() for i in range(5)]
    r = [abs(pearsonr(one.x.iloc[:, i][k], one.y[k]).statistic) for i, k in enumerate(known)]
    assert found["estimate"].tolist() == rankdata(-np.array(r)).tolist()
    assert found["n"].tolist() == [300, 300, 300, 260, 300]
    assert (found["ci_low"] <= found["estimate"]).all()
    assert (found["estimate"] <= found["ci_high"]).all()
    strongest = found.set_index("label").loc["x1"]
    assert (strongest["ci_low"], strongest["ci_high"]) == (1, 1)
    fold(collect(importance.importance_ranks(one)), study="test", notebook="04_importance")


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


def test_one_person_gives_ranks_without_intervals():
    x, y = np.random.default_rng(4).normal(size=(20, 2)), np.arange(20.0)
    found = ranks(design(x, y, np.zeros(20, int)))
    assert set(found["ci_kind"]) == {"not_estimable"}
    assert found["ci_low"].isna().all()
    assert found["note"].str.contains("too few units").all()


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
