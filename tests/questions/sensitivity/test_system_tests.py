import numpy as np
import pandas as pd
import pytest
from fixtures.session_study import annotate
from statsmodels.stats.multitest import multipletests

from judgebook.annotations import dialogue_values as values
from judgebook.annotations.picks import pick_one
from judgebook.questions.sensitivity import contrasts, significance, system_tests
from judgebook.questions.sensitivity.panels import panel
from judgebook.statistics.intervals import generator
from judgebook.study.results import collect

METHODS = ("behavior", "dialogue_likert", "comparative")


@pytest.fixture(scope="module")
def picked():
    annotations, _ = annotate(np.random.default_rng(1), n_interactors=30, per_interactor=4, effect=0.5)
    return pick_one(annotations[annotations["group"] == "ext"], np.random.default_rng(0))


@pytest.fixture(scope="module")
def panels(picked):
    found = values.dialogue_values(picked)
    return [panel(found, m) for m in METHODS]


def test_published_tests_have_a_row_for_each_pair_and_label(panels):
    found = system_tests.published_tests(panels[0])
    assert len(found) == 6 * 2
    row = found.iloc[0]
    p, difference = contrasts.draw_p_values(panels[0], "z")
    assert (row["p_value"], row["estimate"]) == (p[0, 0, 0], difference[0, 0, 0])
    assert row["n"] == 5 * row["n_clusters"]


def test_draws_hold_n_of_each_system_and_the_same_dialogues_for_all_methods(panels):
    keys = next(significance.draw_keys(panels, 5, np.random.default_rng(0)))
    marks, ratings, pairs = (significance.downsample(d, 8, k) for d, k in zip(panels, keys, strict=True))
    for s in range(4):
        assert (marks[:, panels[0].system == s].sum(axis=1) == 8).all()
    assert np.array_equal(marks, ratings)
    for a, b in panels[2].pairs:
        here = panels[2].rows_of(a, b)
        assert (pairs[:, here].sum(axis=1) == min(8, here.sum())).all()
    assert len(np.unique(marks, axis=0)) == 5
    assert significance.downsample(panels[0], 10_000, keys[0]).all()


def test_counts_equal_a_loop(panels):
    n, draws, seed = 12, 7, 4
    results = collect(significance.count_significant(panels, n=n, n_draws=draws, seed=seed))
    found = results["n_significant"]
    keys = next(significance.draw_keys(panels, draws, generator(seed, "downsample")))
    p = {}
    for data, key in zip(panels, keys, strict=True):
        weights = significance.downsample(data, n, key)
        p[data.method] = np.array([
            contrasts.draw_p_values(data.take(np.flatnonzero(w)), data.published_test)[0][0] for w in weights
        ])  # fmt: skip
    flat = np.concatenate([p[m].reshape(draws, -1) for m in METHODS], axis=1)
    adjusted = np.array([multipletests(row, method="holm")[1] for row in flat])
    for method, label, j, test in (("behavior", "ignore", 0, "z"), ("dialogue_likert", "quality", 0, "student")):
        assert panels[METHODS.index(method)].labels[j] == label
        at = found[(found["method"] == method) & (found["label"] == label) & (found["test"] == test)]
        at = at[at["alpha"] == 0.05].set_index(["adjusted_over", "adjust", "summary"])["estimate"]
        plain = (p[method][:, :, j] < 0.05).sum(axis=1)
        holm = [sum(multipletests(row, method="holm")[1] < 0.05) for row in p[method][:, :, j]]
        assert at["none", "none", "first"] == plain[0]
        assert at["none", "none", "mean"] == plain.mean()
        assert (at["none", "none", "smallest"], at["none", "none", "largest"]) == (plain.min(), plain.max())
        assert at["label", "holm", "mean"] == np.mean(holm)
        start = sum(p[m][0].size for m in METHODS[: METHODS.index(method)])
        part = adjusted[:, start : start + p[method][0].size].reshape(p[method].shape)
        assert at["all", "holm", "mean"] == (part[:, :, j] < 0.05).sum(axis=1).mean()


def test_counts_of_tests_equal_a_loop(panels):
    tests = pd.concat(system_tests.published_tests(d) for d in panels)
    tests = tests.sample(frac=1, random_state=0)  # the order of rows does not matter
    found = significance.count_tests(panels, tests)
    assert set(found["summary"]) == {"first"}
    over_all = {name: multipletests(tests["p_value"], method=name)[1] for name in ("holm", "fdr_bh", "fdr_by")}
    tests = tests.assign(**over_all)
    for (method, label), part in tests.groupby(["method", "label"]):
        at = found[(found["method"] == method) & (found["label"] == label) & (found["alpha"] == 0.05)]
        at = at.set_index(["adjusted_over", "adjust"])["estimate"]
        assert at["none", "none"] == (part["p_value"] < 0.05).sum()
        assert at["label", "holm"] == (multipletests(part["p_value"], method="holm")[1] < 0.05).sum()
        for theirs, ours in {"holm": "holm", "fdr_bh": "bh", "fdr_by": "by"}.items():
            assert at["all", ours] == (part[theirs] < 0.05).sum()


def test_draws_made_in_parts_are_those_made_at_once(panels, monkeypatch):
    options = {"n": 12, "n_draws": 7, "seed": 4}
    once = significance.count_significant(panels, **options)
    monkeypatch.setattr(significance, "AT_ONCE", 1)
    pd.testing.assert_frame_equal(once, significance.count_significant(panels, **options))
