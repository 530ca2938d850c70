"""Ordinal and logistic mixed models against R (`ordinal::clmm`, `lme4::glmer`), and with known variances."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgebook.statistics import laplace, ordinal_mixed

HERE = Path(__file__).parents[1] / "reference"


@pytest.fixture(scope="module")
def data():
    frame = pd.read_csv(HERE / "ordinal_data.csv")
    systems = np.eye(4)[frame["system"]][:, 1:]
    return frame["score"].to_numpy(), systems, [frame["annotator"].to_numpy(), frame["dialogue"].to_numpy()]


@pytest.fixture(scope="module")
def reference():
    return pd.read_csv(HERE / "ordinal.csv").set_index(["model", "statistic"])["value"]


def test_the_gradient_of_the_likelihood_is_exact(data):
    y, x, factors = data
    model = laplace.LaplaceLikelihood(y, x, factors)
    at = np.r_[-1.2, np.log([1.1, 1.4]), 0.3, -0.2, 0.5, -0.4, 0.2]
    for i, direction in enumerate(np.eye(len(at))):
        ahead, back = model.evaluate(at + 1e-5 * direction)[0], model.evaluate(at - 1e-5 * direction)[0]
        assert model.evaluate(at)[1][i] == pytest.approx((ahead - back) / 2e-5, abs=1e-5)


@pytest.mark.parametrize("sd", [[0.5, 1.2, 0.3], [0.001, 2.0, 0.7]])
def test_pairs_of_entries_give_what_dense_products_give(monkeypatch, sd):
    rng = np.random.default_rng(5)
    dialogue = np.r_[np.arange(200), rng.integers(0, 200, 120)]
    people = rng.integers(0, 30, 320)
    factors = [dialogue % 5, people, dialogue, np.unique(5 * people + dialogue % 5, return_inverse=True)[1]]
    y, at = np.r_[0:4, rng.integers(0, 4, 316)], np.r_[-1.0, 0.1, 0.2, np.log([0.4, *sd])]
    few = laplace.LaplaceLikelihood(y, np.zeros((320, 0)), factors)
    monkeypatch.setattr(laplace, "_PRODUCT", np.inf)
    dense = laplace.LaplaceLikelihood(y, np.zeros((320, 0)), factors)
    assert few.border.sparse
    assert not dense.border.sparse
    (value, slope), (expected, gradient) = few.evaluate(at), dense.evaluate(at)
    assert value == pytest.approx(expected, rel=1e-13)
    assert slope == pytest.approx(gradient, rel=1e-9, abs=1e-10)


def test_the_ordinal_model_is_that_of_clmm(data, reference):
    fit = ordinal_mixed.fit_ordinal_mixed(*data)
    expected = reference.loc["clmm"]
    assert fit.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-6)
    assert fit.thresholds == pytest.approx(expected["threshold"].to_numpy(), abs=2e-4)
    assert fit.coefficients == pytest.approx(expected["coefficient"].to_numpy(), abs=2e-4)
    assert np.sqrt(np.diag(fit.covariance))[3:] == pytest.approx(expected["se"].to_numpy(), abs=2e-4)
    assert fit.sd == pytest.approx(expected["sd"].to_numpy(), abs=2e-4)
    parts = np.r_[expected["sd"].to_numpy() ** 2, np.pi**2 / 3]  # the variance of a logistic variable
    assert fit.shares == pytest.approx(parts / parts.sum(), abs=2e-4)
    assert fit.effects[0] == pytest.approx(expected["effect"].to_numpy(), abs=2e-4)
    assert fit.effect_se[0] == pytest.approx(expected["effect_se"].to_numpy(), abs=2e-4)


def test_two_categories_give_the_logistic_model_of_glmer(data, reference):
    y, x, factors = data
    fit = ordinal_mixed.fit_ordinal_mixed((y > 1).astype(int), x, factors)
    expected = reference.loc["glmer"]
    assert fit.log_likelihood == pytest.approx(expected["log_likelihood"], abs=2e-3)
    coefficients = expected["coefficient"].to_numpy()
    assert [-fit.thresholds[0], *fit.coefficients] == pytest.approx(coefficients, abs=5e-3)
    assert fit.sd == pytest.approx(expected["sd"].to_numpy(), abs=5e-3)


def simulated(rng, sd, n_annotators=12, n_dialogues=150, per_dialogue=4):
    dialogue = np.repeat(np.arange(n_dialogues), per_dialogue)
    annotator = np.concatenate([rng.permutation(n_annotators)[:per_dialogue] for _ in range(n_dialogues)])
    eta = rng.normal(0, sd[0], n_annotators)[annotator] + rng.normal(0, sd[1], n_dialogues)[dialogue]
    y = np.digitize(eta + rng.logistic(size=len(eta)), [-1.5, 0.0, 1.5])
    return y, np.zeros((len(y), 0)), [annotator, dialogue]


def test_a_variance_of_zero_is_an_estimate():
    rng = np.random.default_rng(2)
    fit = ordinal_mixed.fit_ordinal_mixed(*simulated(rng, np.array([0.0, 1.0])), confidence=0.95)
    assert fit.converged
    assert fit.share_low[0] == 0.0
    assert fit.shares[0] < 0.03


@pytest.mark.parametrize(
    ("y", "x", "factors"),
    [
        ([0, 0, 0, 0], np.zeros((4, 0)), [[0, 0, 1, 1]]),
        ([0, 2, 0, 2], np.zeros((4, 0)), [[0, 0, 1, 1]]),
        ([0, 1, 0, 1], np.zeros((4, 0)), []),
        ([0, 1, 0, 1], np.ones((4, 1)), [[0, 0, 1, 1]]),
    ],
)
def test_what_cannot_be_fitted_is_refused(y, x, factors):
    with pytest.raises(ValueError, match="expected"):
        ordinal_mixed.fit_ordinal_mixed(np.array(y), x, [np.array(f) for f in factors])


@pytest.mark.evidence
def test_shares_of_the_variance_are_recovered_and_covered():
    rng, sd = np.random.default_rng(5), np.array([0.7, 1.0])
    truth = np.r_[sd**2, ordinal_mixed.LATENT_VARIANCE] / (np.sum(sd**2) + ordinal_mixed.LATENT_VARIANCE)
    fits = [ordinal_mixed.fit_ordinal_mixed(*simulated(rng, sd), confidence=0.95) for _ in range(30)]
    assert np.mean([f.shares for f in fits], axis=0) == pytest.approx(
        truth, abs=0.04
    )  # maximum likelihood: variances a little low
    inside = [(f.share_low <= truth) & (truth <= f.share_high) for f in fits]
    assert (np.mean(inside, axis=0) >= 0.85).all()
