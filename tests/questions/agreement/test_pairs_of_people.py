"""Cohen's kappa of every two people, against statsmodels."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from judgebook.questions.agreement.kappa_icc import kappas
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import collect

SAMPLING = Sampling(n_resamples=300, confidence=0.95, seed=1)
LABEL = Label("fine", "turn_rating", "Fine", (1, 3))


def judged(n=80, known=True):
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 4, n)
    rows = []
    for who in ("A1", "A2", "A3"):
        said = np.where(rng.random(n) < 0.7, truth, rng.integers(1, 4, n)).astype(float)
        kept = rng.random(n) < 0.9
        rows.append(pd.DataFrame({"annotator": who, "score": said, "dialogue": [f"d{i // 2}" for i in range(n)],
                                  "turn": np.arange(n) % 2})[kept])  # fmt: skip
    fixed = {"corpus": "main", "group": "all", "method": "turn_rating", "label": "fine", "dialogue_b": None}
    return pd.concat(rows, ignore_index=True).assign(annotator_known=known, annotator_kind="human", **fixed)


@pytest.mark.parametrize(("weights", "wt"), [("none", None), ("quadratic", "quadratic")])
def test_kappas_are_those_of_statsmodels(weights, wt):
    frame = judged()
    found = collect(kappas(frame, [LABEL], sampling=SAMPLING))["pair_kappa"].set_index("weights").loc[weights]
    found = found.set_index("pair")
    wide = frame.pivot_table(index=["dialogue", "turn"], columns="annotator", values="score")
    for a, b in (("A1", "A2"), ("A1", "A3"), ("A2", "A3")):
        both = wide[[a, b]].dropna()
        table = pd.crosstab(both[a], both[b]).to_numpy()
        assert found.loc[f"{a} and {b}", "estimate"] == pytest.approx(cohens_kappa(table, wt=wt, return_results=False))
        assert found.loc[f"{a} and {b}", "n"] == len(both)
        assert found.loc[f"{a} and {b}", "ci_low"] < found.loc[f"{a} and {b}", "estimate"]
    assert found["n_clusters"].max() <= 40  # dialogues, not turns


def test_values_without_an_order_have_no_weights():
    names = Label("fine", "turn_rating", "Fine", (1, 3), level="nominal")
    found = collect(kappas(judged(), [names], sampling=SAMPLING))["pair_kappa"]
    assert found["weights"].tolist() == ["none"] * 3


def test_positions_and_few_items_have_none():
    assert collect(kappas(judged(known=False), [LABEL], sampling=SAMPLING)) == {}
    assert collect(kappas(judged(n=20), [LABEL], sampling=SAMPLING)) == {}
