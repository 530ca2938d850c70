"""Who notices the degraded control: pairs by hand, scipy's Mann-Whitney statistic, and a known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu, norm

from judgebook.questions.metrics.analysis import above_control
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import collect

SAMPLING = Sampling(500, 0.95, 1)
LABELS = [Label("nice", "continuous", "Nice", (0, 100)), Label("odd", "continuous", "Odd", (0, 100), direction=-1)]


def ratings(rng, n=40, gap=1.0):
    """Each annotator rates two chats of the control and five others, which are `gap` standard deviations better."""
    systems = ["qc", "qc", "a", "b", "c", "d", "e"]
    score = rng.normal(size=(n, len(systems))) + gap * (np.array(systems) != "qc")
    rows = pd.DataFrame({"annotator": np.repeat([f"w{i}" for i in range(n)], len(systems)), "system": systems * n})
    rows = rows.assign(dialogue=[f"d{i}" for i in rows.index], corpus="main", method="continuous", score=score.ravel())
    rows["turn"] = pd.array([pd.NA] * len(rows), dtype="Int32")
    return pd.concat([rows.assign(label="nice"), rows.assign(label="odd", score=-rows["score"])])


def metric(rows, score):
    once = rows[rows["label"] == "nice"]
    return once[["corpus", "dialogue", "turn"]].assign(metric="m", score=score(once))


def found(rows, scores):
    return collect(above_control(rows, scores, LABELS, "qc", sampling=SAMPLING))["above_control"]


def test_share_of_pairs_is_that_of_mann_whitney_by_annotator():
    rows = ratings(np.random.default_rng(0)).assign(score=lambda f: f["score"].round())  # with ties
    out = found(rows, metric(rows, lambda f: f["score"])).set_index(["label", "metric"])["estimate"]
    shares = []
    for _, own in rows[rows["label"] == "nice"].groupby("annotator"):
        control = own["system"] == "qc"
        shares.append(mannwhitneyu(own["score"][~control], own["score"][control]).statistic / 10)
    assert out.to_list() == pytest.approx([np.mean(shares)] * 3)  # the label of direction -1 was reversed


def test_interval_covers_the_known_share():
    rows = ratings(np.random.default_rng(1), n=400, gap=1.0)
    row = found(rows, metric(rows, lambda f: 0 * f["score"])).iloc[0]
    assert row["ci_low"] < norm.cdf(1 / np.sqrt(2)) < row["ci_high"]
    assert (row["n"], row["n_clusters"]) == (4000, 400)


def test_a_constant_metric_is_at_chance_and_people_without_the_control_do_not_count():
    rows = ratings(np.random.default_rng(2), n=6)
    rows = rows[~((rows["annotator"] == "w0") & (rows["system"] == "qc"))]
    out = found(rows, metric(rows, lambda f: 0 * f["score"]))
    assert out.set_index("metric")["estimate"]["m"] == 0.5
    assert set(out["n_clusters"]) == {5}
