"""Equivalence of systems against statsmodels and pingouin, by hand, and by simulation at the margin."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.weightstats import DescrStatsW, ttost_ind, ttost_paired

from judgebook.annotations.dialogue_values import dialogue_values
from judgebook.questions.sensitivity import equivalence
from judgebook.questions.sensitivity.differences import differences
from judgebook.questions.sensitivity.panels import panel
from judgebook.study.results import collect, fold


def annotations(x, y, paired=True):
    """Values (n, labels) of dialogues of systems a and b; paired: the i-th of both are a session."""
    rows = []
    for system, values in (("a", x), ("b", y)):
        for i, own in enumerate(np.asarray(values, float).reshape(len(values), -1)):
            session = f"s{i}" if paired else f"s{system}{i}"
            rows += [(system, f"d{system}{i}", session, f"{system}{i}", f"l{j}", value) for j, value in enumerate(own)]
    out = pd.DataFrame(rows, columns=["system", "dialogue", "session", "annotator", "label", "score"])
    fixed = {"study": "s", "corpus": "main", "method": "dialogue_likert", "group": "all", "annotator_kind": "human"}
    fixed |= {"system_b": None, "dialogue_b": None, "turn": np.nan, "context": None}
    return out.assign(**fixed, annotator_known=False)


def pooled_sd(x, y):
    return np.sqrt((np.sum((x - x.mean()) ** 2) + np.sum((y - y.mean()) ** 2)) / (len(x) + len(y) - 2))


def found(rows, margin=0.3):
    data = panel(dialogue_values(rows), rows["method"].iloc[0], ["a", "b"])
    gaps = differences(rows, data.method, ["a", "b"])
    results = collect(equivalence.equivalence_tests(gaps, data, margin))
    fold(results, study="s", notebook="05")
    return results


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(1)
    mood = rng.normal(size=40)
    return 3 + mood + rng.normal(size=40), 3.1 + mood + rng.normal(size=40)


def test_paired_sessions_give_the_paired_tests(values):
    x, y = values
    m = 0.3 * pooled_sd(x, y)
    row = found(annotations(x, y))["equivalence"].iloc[0]
    assert row["p_value"] == pytest.approx(ttost_paired(x, y, -m, m)[0])
    low, high = DescrStatsW(x - y).tconfint_mean(0.1)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(np.array([low, high]) / pooled_sd(x, y))
    assert row["n_clusters"] == 40


def test_separate_sessions_give_welch(values):
    x, y = values[0], values[1][:25]
    m = 0.3 * pooled_sd(x, y)
    row = found(annotations(x, y, paired=False))["equivalence"].iloc[0]
    assert row["p_value"] == pytest.approx(ttost_ind(x, y, -m, m, usevar="unequal")[0])


def test_the_smallest_margin_is_where_the_test_turns(values):
    data = annotations(*values)
    margin = found(data)["smallest_margin"].set_index("scale")["estimate"]
    for factor, shown in ((0.999, False), (1.001, True)):
        p = found(data, factor * margin["d"])["equivalence"]["p_value"].iloc[0]
        assert (p < 0.05) == shown
    assert margin["label"] == pytest.approx(margin["d"] * pooled_sd(*values))


def test_comparisons_have_one_sample():
    score = np.array([1.0, -1, 0, 0, 1, -1, 0, 1, -1, 0])
    rows = annotations(score, score)
    pairs = rows[rows["system"] == "a"].assign(method="comparative", system_b="b", dialogue_b=rows["dialogue"] + "b")
    row = found(pairs)["equivalence"].iloc[0]
    m = 0.3 * score.std(ddof=1)
    assert row["p_value"] == pytest.approx(ttost_paired(score, np.zeros(10), -m, m)[0])


def test_what_cannot_be_tested_says_why():
    for rows in (annotations(np.ones(5), np.ones(5)), annotations(np.arange(5), [1.0])):
        results = found(rows)
        assert results["equivalence"]["note"].notna().all()
        assert results["smallest_margin"].empty


def test_a_margin_of_the_label_is_in_its_units(values):
    """Both one-sided tests are those of paired t tests, and the pair is as equivalent as its worse direction."""
    x, y = values
    rows = annotations(np.column_stack([x, 2 * x]), np.column_stack([y, 2 * y]))
    data, labels = panel(dialogue_values(rows), "dialogue_likert", ["a", "b"]), {"l0": 0.4, "l1": 0.9}
    gaps = differences(rows, data.method, ["a", "b"])
    worse = equivalence.not_worse(gaps, labels, {"l0": 1, "l1": -1})
    results = collect(equivalence.equivalence_tests(gaps, data, 0.2, labels), worse)
    tests, sides = results["equivalence"].set_index("label"), results["not_worse"].set_index(["label", "system"])
    assert tests["scale"].tolist() == ["label", "label"]
    for label, factor, sign in (("l0", 1, 1), ("l1", 2, -1)):
        d = DescrStatsW(factor * (x - y))
        m = labels[label]
        assert tests["p_value"][label] == pytest.approx(ttost_paired(factor * x, factor * y, -m, m)[0])
        for system, side in (("a", sign), ("b", -sign)):
            assert sides["estimate"][label, system] == pytest.approx(side * d.mean)
            p = DescrStatsW(side * factor * (x - y)).ttest_mean(-labels[label], alternative="larger")[1]
            assert sides["p_value"][label, system] == pytest.approx(p)
            assert sides["p_adjusted"][label, system] == pytest.approx(p)  # one pair, of which one direction counts
    adjusted = equivalence.as_directions(results["equivalence"].assign(p_adjusted=1.0), results["not_worse"])
    assert adjusted["p_adjusted"].tolist() == pytest.approx(tests["p_value"].tolist())


def test_without_a_margin_or_a_direction_nothing_is_worse(values):
    gaps = differences(annotations(*values), "dialogue_likert", ["a", "b"])
    assert equivalence.not_worse(gaps, {}, {"l0": 1}).empty
    assert equivalence.not_worse(gaps, {"l0": 0.3}, {"l0": 0}).empty
