"""Linear mixed models against nlme and balanced designs."""

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from fixtures.made_annotations import codes, crossed
from fixtures.reference import EFFECTS as R
from scipy.optimize import approx_fprime

from judgebook.statistics import elimination, reml


def fit(frame):
    system = codes(frame, "system")[0]
    factors = codes(frame, "annotator", "dialogue")
    return reml.fit_linear_mixed(frame["score"].to_numpy(float), np.eye(system.max() + 1)[system], factors)


class TestReml:
    def test_estimates_are_those_of_nlme(self):
        found = fit(pd.read_csv(ROOT / "tests" / "reference" / "mixed_data.csv"))
        assert found.variances == pytest.approx([R["lme_annotator"], R["lme_dialogue"]], rel=1e-4)
        assert found.residual == pytest.approx(R["lme_residual"], rel=1e-5)
        assert found.coefficients == pytest.approx([R[f"lme_mean_{s}"] for s in "abcd"], abs=1e-6)
        assert np.sqrt(np.diag(found.covariance)) == pytest.approx([R[f"lme_se_{s}"] for s in "abcd"], rel=1e-5)

    @pytest.mark.parametrize("which", [("system", "annotator", "dialogue"), ("annotator", "dialogue"), ("dialogue",)])
    @pytest.mark.parametrize("sparse", [False, True])
    def test_deviance_gradient_and_effects_follow_from_the_covariance_of_the_scores(self, which, sparse, monkeypatch):
        """By inverting the (n, n) covariance (Searle, Casella and McCulloch 1992, sections 6.6 and 7.4)."""
        frame = crossed(np.random.default_rng(2), n_dialogues=40, n_annotators=30 if sparse else 6)
        if sparse:  # as with many annotators, each of whom meets few others; unequal numbers of scores
            frame = frame.drop(index=range(0, 60, 5)).reset_index(drop=True)
            monkeypatch.setattr(reml, "_DENSE", 0)
            monkeypatch.setattr(elimination, "_ROUND", 0)
            monkeypatch.setattr(elimination, "_PRODUCT", 1)
        y, factors = frame["score"].to_numpy(), codes(frame, *which)
        x = np.column_stack([np.ones(len(y)), np.linspace(-1, 1, len(y))])
        logs = np.random.default_rng(3).normal(size=len(factors))
        ratios, model = np.exp(logs), reml.RestrictedDeviance(y, x, factors)
        h = np.eye(len(y)) + sum(r * (f[:, None] == f) for r, f in zip(ratios, factors, strict=True))
        inverse = np.linalg.inv(h)
        of_x = np.linalg.inv(x.T @ inverse @ x)
        error = y - x @ of_x @ x.T @ inverse @ y
        free = len(y) - 2
        s2 = error @ inverse @ error / free
        deviance = free * (np.log(2 * np.pi * s2) + 1) + np.linalg.slogdet(h)[1] - np.linalg.slogdet(of_x)[1]
        found = model.solve(ratios)
        assert (len(model.equations.rounds) > 0) == (sparse and len(which) > 1)
        assert found.deviance == pytest.approx(deviance)
        assert found.gradient == pytest.approx(approx_fprime(logs, lambda v: model.solve(np.exp(v)).deviance), abs=1e-2)
        projection = inverse - inverse @ x @ of_x @ x.T @ inverse
        effects, errors = model.effects(ratios, found)
        for i, (r, f) in enumerate(zip(ratios, factors, strict=True)):
            z = np.eye(f.max() + 1)[f]
            assert effects[i] == pytest.approx(r * z.T @ inverse @ error)
            variance = np.diag(r * np.eye(z.shape[1]) - r**2 * z.T @ projection @ z)
            assert errors[i] == pytest.approx(np.sqrt(s2 * variance))

    def test_balanced_data_give_the_analysis_of_variance(self):
        rng = np.random.default_rng(2)
        x = rng.normal(size=12)[:, None] + 0.8 * rng.normal(size=5) + rng.normal(size=(12, 5))
        rows, columns = np.indices(x.shape)
        found = reml.fit_linear_mixed(x.ravel(), np.ones((60, 1)), [rows.ravel(), columns.ravel()])
        grand, by_row, by_column = x.mean(), x.mean(axis=1), x.mean(axis=0)
        ms_row, ms_column = 5 * np.sum((by_row - grand) ** 2) / 11, 12 * np.sum((by_column - grand) ** 2) / 4
        ms_error = np.sum((x - by_row[:, None] - by_column + grand) ** 2) / 44
        assert found.residual == pytest.approx(ms_error, rel=1e-5)
        assert found.variances == pytest.approx([(ms_row - ms_error) / 5, (ms_column - ms_error) / 12], rel=1e-4)
        assert found.coefficients == pytest.approx([grand])
        # a mean drawn towards the average by the reliability of the mean
        assert found.effects[0] == pytest.approx((1 - ms_error / ms_row) * (by_row - grand), rel=1e-4)

    def test_no_variance_is_an_estimate(self):
        rng = np.random.default_rng(3)
        x = rng.normal(size=(12, 5))
        x -= x.mean(axis=0)  # annotators agree on the mean to the last digit: less than chance would give
        rows, columns = np.indices(x.shape)
        found = reml.fit_linear_mixed(x.ravel(), np.ones((60, 1)), [rows.ravel(), columns.ravel()])
        assert found.converged
        assert found.variances[1] == 0
        assert (found.effects[1] == 0).all()

    def test_impossible_designs(self):
        frame = crossed(np.random.default_rng(4))
        y, d = frame["score"].to_numpy(), frame["dialogue"].factorize()[0]
        for x, factors in ((np.ones((len(y), 2)), [d]), (np.ones((len(y), 1)), [])):
            with pytest.raises(ValueError, match="expected a factor, a design of full rank"):
                reml.fit_linear_mixed(y, x, factors)
