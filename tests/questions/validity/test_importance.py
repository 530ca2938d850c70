import numpy as np
import pandas as pd
import pytest
from fixtures.reference import REGRESSION as r_values
from fixtures.reference import REGRESSION_DATA as data
from scipy.stats import norm, pearsonr, rankdata

from judgebook.annotations import dialogue_values as values
from judgebook.questions.validity import analysis as validity
from judgebook.questions.validity import findings
from judgebook.study.results import collect


def design(x, y, clusters=None, target=values.DIALOGUE_QUALITY):
    frame = pd.DataFrame({("behavior", name): v for name, v in x.items()})
    frame.columns = pd.MultiIndex.from_tuples(frame.columns, names=["method", "label"])
    y = np.asarray(y, dtype=float)
    clusters = np.arange(len(y)) if clusters is None else clusters
    level = "dialogue" if target == values.DIALOGUE_QUALITY else "pair"
    return values.Design(target, y, frame, np.asarray(clusters, dtype=object), "interactor", level)


def r_of(*given):
    (row,) = validity.importance(design(*given))
    return row


def test_linear_importance_equals_r_and_scipy():
    x = data["steady"].to_numpy()
    found = r_of({"steady": x}, data["y"])
    assert found["estimate"] == pytest.approx(pearsonr(x, data["y"]).statistic, abs=1e-12)
    assert found["estimate"] ** 2 == pytest.approx(r_values["one", "r2", ""], abs=1e-10)
    assert found["ci_kind"] == "jackknife_t"


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        (np.ones(30), np.arange(30), "same value, 1, throughout"),
        (np.arange(30), np.full(30, 4), "target has the same value, 4"),
        (np.r_[[0.0, 1, 2], np.full(27, np.nan)], np.arange(30), "3 rows have both"),
    ],
)
def test_what_cannot_be_used_gives_a_reason(x, y, reason):
    found = r_of({"label": x.astype(float)}, y)
    assert np.isnan(found["estimate"])
    assert reason in found["note"]


def test_two_positives_in_four_hundred_have_an_estimate_but_no_interval():
    rng = np.random.default_rng(0)
    x = np.zeros(400)
    x[[3, 200]] = 1 / 15
    r = r_of({"rare": x}, rng.normal(size=400), np.arange(400) // 9)
    assert np.isfinite(r["estimate"])
    assert np.isnan(r["ci_low"])
    assert "only 2 of 400 rows differ from 0" in r["note"]


def simulated_people(rng, n, n_people, r):
    """x and y with correlation r; half the variance of both lies between people."""
    clusters = np.arange(n) % n_people
    u, e = rng.normal(size=(n_people, 2)), rng.normal(size=(n, 2))
    x, y = (u[clusters] + e).T / np.sqrt(2)
    return x, r * x + np.sqrt(1 - r**2) * y, clusters


@pytest.mark.evidence
def test_intervals_cover_when_people_differ():
    rng, n, n_people = np.random.default_rng(7), 100, 10
    covered, widths, n_runs = 0, [], 600
    for _ in range(n_runs):
        x, y, clusters = simulated_people(rng, n, n_people, 0.3)
        found = r_of({"x": x}, y, clusters)
        covered += found["ci_low"] <= 0.3 <= found["ci_high"]
        widths.append(found["ci_high"] - found["ci_low"])
    # nominal 95 %, three binomial standard errors of 600 runs are 2.7 points
    assert covered / n_runs == pytest.approx(0.95, abs=0.027)
    # an interval that takes dialogues as independent
    assert np.mean(widths) > 1.2 * 2 * 1.96 * (1 - 0.09) / np.sqrt(n)


def test_one_person_or_a_perfect_relation_has_no_interval():
    x = np.arange(30.0)
    assert "1 clusters (interactor) are too few" in r_of({"x": x}, x + np.tile([0, 3], 15), np.zeros(30))["note"]
    perfect = r_of({"x": x}, 2 * x, np.arange(30) // 3)
    assert "at its bound" in perfect["note"]
    assert perfect["estimate"] == pytest.approx(1)


def ranks(one):
    return collect(validity.importance_ranks(one))["importance_rank"]


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


def test_the_correlation_that_is_found_in_80_percent():
    power = pytest.approx(0.8, abs=0.005)
    z = np.arctanh(findings.detectable(105)) * np.sqrt(102)
    assert norm.sf(1.96 - z) + norm.cdf(-1.96 - z) == power
