import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fixtures.panels import panel_of
from fixtures.reference import TWO_SAMPLES
from fixtures.session_study import annotate
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportions_ztest

from judgebook.annotations import dialogue_values as values
from judgebook.annotations.picks import pick_one
from judgebook.questions.sensitivity import contrasts, panels

A, B = np.array([3, 4, 2, 5, 4, 3, 4, 1.0]), np.array([2, 3, 2, 4, 1, 3, 2.0])


def sums(x):
    return len(x), np.sum(x), np.sum(x**2)


@pytest.fixture(scope="module")
def study():
    annotations, _ = annotate(np.random.default_rng(1), n_interactors=20, per_interactor=4, effect=0.3)
    picked = pick_one(annotations[annotations["group"] == "ext"], np.random.default_rng(0))
    return picked, values.dialogue_values(picked)


def test_published_tests_equal_r():
    assert contrasts.t_test(*sums(A), *sums(B), pooled=True) == pytest.approx(TWO_SAMPLES["student"], abs=1e-12)
    assert contrasts.t_test(*sums(A), *sums(B), pooled=False) == pytest.approx(TWO_SAMPLES["welch"], abs=1e-12)
    assert contrasts.z_test(30, 480, 45, 470) == pytest.approx(TWO_SAMPLES["z"], abs=1e-12)
    assert contrasts.sign_test(7, 13) == pytest.approx(TWO_SAMPLES["sign"], abs=1e-12)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=9), st.lists(st.integers(1, 5), min_size=2, max_size=9))
def test_t_tests_equal_scipy(a, b):
    a, b = np.array(a, float), np.array(b, float)
    for pooled in (True, False):
        found = contrasts.t_test(*sums(a), *sums(b), pooled=pooled)
        if np.ptp(a) == np.ptp(b) == 0:
            assert found == (1.0 if a[0] == b[0] else 0.0)
        else:
            with warnings.catch_warnings():
                # scipy warns of lost precision when one of two small samples is constant
                warnings.simplefilter("ignore", RuntimeWarning)
                expected = stats.ttest_ind(a, b, equal_var=pooled).pvalue
            assert found == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_z_and_sign_tests_equal_statsmodels_and_scipy(n1, n2, data):
    x1, x2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    found = contrasts.z_test(x1, n1, x2, n2)
    if 0 < x1 + x2 < n1 + n2:
        assert found == pytest.approx(proportions_ztest([x1, x2], [n1, n2])[1], abs=1e-12)
    else:
        assert found == 1
    expected = stats.binomtest(x1, x1 + x2).pvalue if x1 + x2 else 1
    assert contrasts.sign_test(x1, x2) == pytest.approx(expected, abs=1e-12)


def test_empty_samples_have_no_p_value():
    assert np.isnan(contrasts.z_test(0, 0, 1, 5))
    assert np.isnan(contrasts.t_test(*sums(A[:1]), *sums(B), pooled=True))


def test_a_panel_by_hand():
    rated = panel_of([0, 1, 2, 1], [[4, 1], [2, np.nan], [3, 5], [1, 2]], labels=("x", "y"))
    assert rated.pairs == [(0, 1), (0, 2), (1, 2)]
    assert rated.rows_of(0, 1).tolist() == [True, True, False, True]
    part = rated.take(np.array([3, 3, 0]))
    assert (part.system.tolist(), part.total[:, 0].tolist()) == ([1, 1, 0], [1, 1, 4])
    compared = replace(rated, unit="pair", row="pair", system=np.array([0, 0, 1, 0]), system_b=np.array([1, 1, 2, 1]))
    assert compared.pairs == [(0, 1), (1, 2)]
    assert compared.rows_of(0, 1).tolist() == [True, True, False, True]
    marks = replace(rated, unit="turn", n=np.full((4, 2), 4.0), total=np.array([[4, 1], [2, 0], [3, 2], [1, 2.0]]))
    one = marks.per_dialogue()
    assert (one.unit, one.n[0].tolist()) == ("dialogue", [1, 1])
    assert (one.total[0].tolist(), one.squares[0].tolist()) == ([1, 0.25], [1, 0.0625])


def test_comparisons_are_turned_to_the_order_of_systems(study):
    picked, found = study
    data = panels.panel(found, "comparative", systems=["d", "c", "b", "a"])
    assert (data.unit, data.published_test) == ("pair", "sign")
    assert (data.system < data.system_b).all()
    rows = picked[picked["method"] == "comparative"]
    wins = sum((r.system == "d" and r.score > 0) or (r.system_b == "d" and r.score < 0) for r in rows.itertuples())
    assert (data.total[data.system == 0] > 0).sum() == wins


def test_p_values_of_all_pairs_equal_a_loop(study):
    picked, found = study
    marks = picked[picked["method"] == "behavior"]
    data = panels.panel(found, "behavior")
    p, difference = contrasts.draw_p_values(data, "z")
    per_dialogue, _ = contrasts.draw_p_values(data, "dialogue_welch")
    for i, (a, b) in enumerate(data.pairs):
        for j, label in enumerate(data.labels):
            both = [marks[(marks["system"] == data.systems[s]) & (marks["label"] == label)] for s in (a, b)]
            x, n = [m["score"].sum() for m in both], [len(m) for m in both]
            assert p[0, i, j] == pytest.approx(proportions_ztest(x, n)[1])
            assert difference[0, i, j] == pytest.approx(x[0] / n[0] - x[1] / n[1])
            means = [m.groupby("dialogue")["score"].mean() for m in both]
            assert per_dialogue[0, i, j] == pytest.approx(stats.ttest_ind(*means, equal_var=False).pvalue)
    compared = panels.panel(found, "comparative")
    p, difference = contrasts.draw_p_values(compared, "sign")
    for i, (a, b) in enumerate(compared.pairs):
        scores = compared.total[compared.rows_of(a, b), 0]
        expected = stats.binomtest(int((scores > 0).sum()), int((scores != 0).sum())).pvalue
        assert (p[0, i, 0], difference[0, i, 0]) == pytest.approx((expected, scores.mean()))


def test_weights_count_rows(study):
    _, found = study
    data = panels.panel(found, "dialogue_likert")
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, (4, len(data.system)))
    for test in ("student", "welch"):
        p, _ = contrasts.draw_p_values(data, test, weights)
        for d in range(4):
            again, _ = contrasts.draw_p_values(data.take(np.repeat(np.arange(len(data.system)), weights[d])), test)
            assert p[d] == pytest.approx(again[0])


def test_what_does_not_go_together_is_refused(study):
    _, found = study
    data = panels.panel(found, "behavior")
    with pytest.raises(ValueError, match="expected one of z, student"):
        contrasts.draw_p_values(data, "anova")
    with pytest.raises(ValueError, match="'sign' does not go with judgements of a turn"):
        contrasts.draw_p_values(data, "sign")
    with pytest.raises(ValueError, match="group: expected one"):
        panels.panel(pd.concat([found, found.assign(group="other")]), "behavior")
