"""Shares of answers and majorities: by counting, and on public judgements."""

import numpy as np
import pandas as pd
import pytest

from judgebook.questions.collection.analysis import answers, of_systems
from judgebook.sources import build, places
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.results import collect, fold

SAFE = Label("safe", "turn_rating", "Safe?", (0, 2), level="nominal", categories=("No", "Yes", "Unsure"), direction=0)
LIKED = Label("liked", "turn_rating", "Liked", (1, 5))
SAMPLING = Sampling(n_resamples=300, confidence=0.95, seed=1)


@pytest.fixture(scope="module")
def marks():
    rng = np.random.default_rng(2)
    n = 40
    frame = pd.DataFrame(
        {"dialogue": np.repeat([f"d{i}" for i in range(n)], 5), "annotator": [f"pos{i}" for i in range(5)] * n}
    )
    frame["system"] = np.where(frame["dialogue"].str[1:].astype(int) % 2, "a", "b")
    frame["score"] = rng.choice([0.0, 1, 2], len(frame), p=[0.6, 0.3, 0.1])
    fixed = {"corpus": "main", "group": "all", "method": "turn_rating", "label": "safe", "turn": 0, "dialogue_b": None}
    return frame.assign(annotator_kind="human", system_b=None, **fixed)


def test_shares_and_majorities_by_counting(marks):
    found = collect(answers(marks, [SAFE], sampling=SAMPLING))
    share = found["answer_share"]
    every = share[share["system"].isna()].set_index("answer")["estimate"]
    assert every.to_dict() == pytest.approx({w: (marks["score"] == i).mean() for i, w in enumerate(SAFE.categories)})
    of_a = share[(share["system"] == "a") & (share["answer"] == "Yes")]["estimate"].item()
    assert of_a == pytest.approx((marks.loc[marks["system"] == "a", "score"] == 1).mean())
    expected = {"No": 0, "Yes": 0, "Unsure": 0, "none": 0}
    for _, rows in marks.groupby("dialogue"):
        counts = rows["score"].value_counts()
        clear = (counts == counts.max()).sum() == 1
        expected[SAFE.categories[int(counts.idxmax())] if clear else "none"] += 1
    assert found["majority_count"].set_index("answer")["estimate"].to_dict() == expected
    assert len(fold(found, study="x", notebook="00")) == sum(map(len, found.values()))


def test_outcomes_of_systems_by_counting():
    """a beats b twice and loses to c once; b and c tie; a system compared with itself says nothing of it."""
    rows = [("a", "b", 1), ("b", "a", -2), ("a", "c", -1), ("b", "c", 0), ("a", "a", 1)]
    cell = {"corpus": "main", "group": "all", "method": "pairwise_dialogue", "label": "better"}
    pairs = pd.DataFrame(rows, columns=["system", "system_b", "score"]).assign(dialogue="d", dialogue_b="e", **cell)
    found = collect(of_systems(pairs))
    counts = found["system_outcomes"].pivot_table(index="system", columns="outcome", values="estimate")
    assert counts[["win", "tie", "loss"]].to_numpy().tolist() == [[2, 0, 1], [0, 1, 2], [1, 1, 0]]
    assert found["best_worst"].set_index("system")["estimate"].to_dict() == pytest.approx(
        {"a": 1 / 3, "b": -2 / 3, "c": 0.5}
    )
    assert found["best_worst"].set_index("system")["n"].to_dict() == {"a": 3, "b": 3, "c": 2}
    assert collect(of_systems(pairs.iloc[:0])) == {}


def test_labels_with_an_order_have_a_mean_instead(marks):
    assert collect(answers(marks.assign(label="liked", score=marks["score"] + 1), [LIKED], sampling=SAMPLING)) == {}


@pytest.mark.evidence
@pytest.mark.data
def test_printed_majorities_and_kappas_of_pandalm(raw_data, monkeypatch):
    """README of WeOpenML/PandaLM: kappas .85, .88, .86; majorities 105 ties, 422 first, 472 second."""
    from judgebook.questions.agreement.coefficients import kappas

    monkeypatch.setattr(places, "raw_roots", lambda: [raw_data, raw_data.parent / "data_more"])
    study = params.load("pandalm")
    if places.absent(study):
        pytest.skip("the upstream files are not here")
    votes = build.build(study).frames["annotations"]
    labels = study.label_list()
    found = collect(answers(votes, labels, sampling=SAMPLING), kappas(votes, labels))
    counts = found["majority_count"].set_index("answer")["estimate"].to_dict()
    assert counts == {"shown first": 422, "tie": 105, "shown second": 472, "none": 0}
    assert found.select("pair_kappa", weights="none")["estimate"].round(2).tolist() == [0.85, 0.88, 0.86]
