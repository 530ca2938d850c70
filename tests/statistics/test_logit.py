from math import log

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fixtures.reference import REFERENCE
from fixtures.reference import REGRESSION as r_values
from fixtures.reference import REGRESSION_DATA as data
from hypothesis import given
from hypothesis import strategies as st

from judgebook.statistics import logit


def table(a, b, c, d):
    """A two-by-two table as x and y: a, b chosen or not at x = 0; c, d at x = 1."""
    x = np.repeat([0.0, 0.0, 1.0, 1.0], [a, b, c, d])[:, None]
    return x, np.repeat([1.0, 0.0, 1.0, 0.0], [a, b, c, d])


def binary_sum(*cells):
    return sum(n * log(n / total) for n, total in cells if n)


@pytest.mark.parametrize(("model", "columns"), [("one", ["steady"]), ("two", ["steady", "count"])])
def test_fit_equals_r(model, columns):
    found = logit.fit_logit(data[columns].to_numpy(), data["chosen"].to_numpy())
    assert found.separation == "none"
    assert found.log_likelihood == pytest.approx(r_values[model, "log_likelihood", ""], abs=1e-10)
    assert found.mcfadden == pytest.approx(r_values[model, "mcfadden_r2", ""], abs=1e-10)
    assert found.llr == pytest.approx(r_values[model, "llr", ""], abs=1e-10)
    assert found.p_value == pytest.approx(r_values[model, "llr_p", ""], abs=1e-10)
    expected = [r_values[model, "coefficient", t] for t in ("(Intercept)", *columns)]
    assert found.coefficients == pytest.approx(expected, abs=1e-8)


def test_fit_of_a_table_solved_by_hand():
    x, y = table(6, 3, 2, 8)
    found = logit.fit_logit(x, y)
    # the fitted share of each column is its own share
    assert found.log_likelihood == pytest.approx(binary_sum((6, 9), (3, 9), (2, 10), (8, 10)), abs=1e-12)
    assert found.log_likelihood_null == pytest.approx(binary_sum((8, 19), (11, 19)), abs=1e-12)
    assert found.coefficients == pytest.approx([log(6 / 3), log(2 / 8) - log(6 / 3)], abs=1e-9)


def test_quasi_separation_of_a_table_solved_by_hand():
    x, y = table(6, 3, 4, 0)  # at x = 1 all were chosen: those rows add nothing in the limit
    found = logit.fit_logit(x, y)
    assert found.separation == "quasi"
    assert found.log_likelihood == pytest.approx(binary_sum((6, 9), (3, 9)), abs=1e-12)
    assert np.isnan(found.coefficients).all()
    assert found.mcfadden < 1


def test_complete_separation_reaches_zero():
    found = logit.fit_logit(np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]))
    assert (found.separation, found.log_likelihood, found.mcfadden) == ("complete", 0.0, 1.0)


def test_separation_that_no_single_predictor_shows():
    """Each predictor alone overlaps; their sum separates."""
    x = np.array([[0, 1], [1, 0], [2, -1.5], [3, -2], [0, 2], [1, 1], [2, 0], [3, -0.5]], dtype=float)
    y = np.repeat([0, 1], 4)
    assert logit.fit_logit(x[:, :1], y).separation == logit.fit_logit(x[:, 1:], y).separation == "none"
    assert logit.fit_logit(x, y).separation == "complete"


def test_collinear_predictors_have_a_fit_but_no_coefficients():
    x = data[["steady", "count"]].to_numpy()
    twice = logit.fit_logit(np.column_stack([x, x.sum(axis=1)]), data["chosen"].to_numpy())
    assert twice.log_likelihood == pytest.approx(logit.fit_logit(x, data["chosen"].to_numpy()).log_likelihood, abs=1e-9)
    assert np.isnan(twice.coefficients).all()


@given(st.integers(0, 10_000))
def test_fit_is_the_supremum(seed):
    """Against the likelihood far out along the direction found, on small integer data that are often separated."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(5, 25), rng.integers(1, 4)
    x = rng.integers(-2, 3, (n, p)).astype(float)
    y = np.r_[0, 1, rng.random(n - 2) < 1 / (1 + np.exp(-2 * x[2:, 0]))]
    found = logit.fit_logit(x, y)
    z = np.column_stack([np.ones(n), x])
    beta = np.zeros(p + 1)
    for _ in range(60):  # plain Newton with a small ridge: near the supremum, never above it
        p_ = 1 / (1 + np.exp(-np.clip(z @ beta, -500, 500)))
        h = z.T @ (z * (p_ * (1 - p_))[:, None]) + 1e-9 * np.eye(p + 1)
        step = np.linalg.solve(h, z.T @ (y - p_))
        beta = beta + step / max(1.0, np.abs(step).max() / 5)
    reached = y @ (z @ beta) - np.logaddexp(0, z @ beta).sum()
    assert reached <= found.log_likelihood + 1e-9
    assert found.log_likelihood == pytest.approx(reached, abs=1e-4)


def subsets(p):
    return (np.arange(2**p)[:, None] >> np.arange(p)) & 1 > 0


def test_all_subsets_equal_statsmodels():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 7))
    y = (rng.random(120) < 1 / (1 + np.exp(-x[:, 0] - 0.7 * x[:, 1]))).astype(float)
    masks = subsets(7)
    value, separated = logit.subset_log_likelihoods(x, y, masks)
    assert not separated.any()
    assert value[0] == pytest.approx(logit.null_log_likelihood(y), abs=1e-10)
    for i in rng.choice(np.arange(1, 128), 25, replace=False):
        model = sm.Logit(y, sm.add_constant(x[:, masks[i]])).fit(disp=0, maxiter=100, tol=1e-12)
        assert value[i] == pytest.approx(model.llf, abs=1e-10)


def test_answers_that_are_all_but_separated_have_a_maximum_far_out():
    """Twelve counts of 28 pairs: Newton's method takes more than sixty steps to log-odds in the hundreds."""
    rng = np.random.default_rng(2473)
    x, y = rng.poisson(1.0, (28, 12)).astype(float), (rng.random(28) < 0.5).astype(float)
    found = logit.fit_logit(x, y)
    model = sm.Logit(y, sm.add_constant(x)).fit(disp=0, maxiter=1000, tol=1e-12)
    assert found.separation == "none"
    assert found.log_likelihood == pytest.approx(model.llf, abs=1e-8)
    assert np.abs(sm.add_constant(x) @ found.coefficients).max() > 100


def test_all_subsets_under_separation_equal_single_fits():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 6))
    y = (rng.random(60) < 1 / (1 + np.exp(-x[:, 0]))).astype(float)
    x[:, 4] = 0
    x[np.flatnonzero(y == 1)[:3], 4] = 1  # a rare mark, always chosen
    x[:, 5] = x[:, 2] + 3 * (y == 1)  # separates with predictor 2 only
    masks = subsets(6)[1:]
    value, separated = logit.subset_log_likelihoods(x, y, masks)
    for mask, v, s in zip(masks, value, separated, strict=True):
        one = logit.fit_logit(x[:, mask], y)
        assert v == pytest.approx(one.log_likelihood, abs=1e-8)
        assert s == (one.separation != "none")
    assert separated[masks[:, 4]].all()
    assert value[masks[:, 2] & masks[:, 5]] == pytest.approx(0)
    assert not separated[~masks[:, 4] & ~(masks[:, 2] & masks[:, 5])].all()


@pytest.mark.parametrize(
    ("model", "columns"), [("separated", ["steady", "rare"]), ("all", ["steady", "rare", "count"])]
)
def test_firth_equals_r_and_firthmodels(model, columns):
    found = logit.fit_firth(data[columns].to_numpy(float), data["chosen"].to_numpy())
    terms = ["(Intercept)", *columns]
    # R's optimiser works with numerical derivatives: 1e-6
    assert found.coefficients == pytest.approx([r_values[model, "firth_coefficient", t] for t in terms], abs=1e-6)
    assert found.p_values == pytest.approx([r_values[model, "firth_p", t] for t in terms], abs=1e-6)
    assert found.penalised_log_likelihood == pytest.approx(r_values[model, "firth_log_likelihood", ""], abs=1e-9)
    other = pd.read_csv(REFERENCE / "firth.csv").set_index(["model", "term"])["value"]
    assert found.coefficients == pytest.approx([other[model, t] for t in terms], abs=1e-8)


@pytest.mark.parametrize("cells", [(6, 3, 2, 8), (6, 3, 4, 0), (5, 0, 0, 7), (13, 14, 0, 1)])
def test_firth_adds_half_to_each_cell_of_a_table(cells):
    a, b, c, d = (n + 0.5 for n in cells)
    found = logit.fit_firth(*table(*cells))
    assert found.coefficients == pytest.approx([log(a / b), log(c / d) - log(a / b)], abs=1e-9)


def test_firth_refuses_collinear_predictors():
    x = data[["steady"]].to_numpy()
    with pytest.raises(ValueError, match="collinear"):
        logit.fit_firth(np.column_stack([x, 2 * x]), data["chosen"].to_numpy())


def test_firth_says_when_it_does_not_converge(monkeypatch):
    monkeypatch.setattr(logit, "STEPS", 1)
    found = logit.fit_firth(data[["steady"]].to_numpy(), data["chosen"].to_numpy())
    assert np.isnan(found.coefficients).all()
    assert np.isnan(found.p_values).all()
    assert np.isnan(found.penalised_log_likelihood)


def test_signed_root_equals_single_fits_on_repeated_rows():
    rng = np.random.default_rng(3)
    n = 30
    x = rng.integers(-2, 3, n) / 2
    y = (rng.random(n) < 1 / (1 + np.exp(3 * x))).astype(float)
    weights = rng.multinomial(n // 3, np.ones(n) / n, size=200)
    found = logit.signed_root(x, y, weights)
    kinds = set()
    for w, value in zip(weights, found, strict=True):
        rows = np.repeat(np.arange(n), w)
        if len(set(y[rows])) < 2 or len(set(x[rows])) < 2:
            assert np.isnan(value)
            continue
        one = logit.fit_logit(x[rows, None], y[rows])
        kinds.add(one.separation)
        assert value**2 == pytest.approx(one.mcfadden, abs=1e-8)
        if one.separation == "none" and one.mcfadden > 1e-9:
            assert np.sign(value) == np.sign(one.coefficients[1])
        elif one.separation != "none":
            assert value < 0  # more of x, less often chosen
    assert kinds == {"none", "quasi", "complete"}


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ValueError, match=r"both 0 and 1, found \[1.0\]"):
        logit.fit_logit(np.ones((3, 1)), np.ones(3))
    with pytest.raises(ValueError, match="finite numbers"):
        logit.fit_logit(np.array([[np.nan], [1.0]]), np.array([0, 1]))
