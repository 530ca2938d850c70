"""Linear mixed models against nlme, statsmodels and balanced designs; the models of one label's scores; coverage."""

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from fixtures.made_annotations import SYSTEMS
from fixtures.reference import EFFECTS as R
from scipy.optimize import approx_fprime

from judgebook.annotations import mixed_models as mixed
from judgebook.statistics import elimination, ordinal_mixed, reml, variance_shares


def crossed(
    rng, n_dialogues=60, n_annotators=6, times=3, annotator=0.5, dialogue=0.8, noise=0.7, systems=(0, 0.3, 0.6, 0.9)
):
    a, d = annotator * rng.normal(size=n_annotators), dialogue * rng.normal(size=n_dialogues)
    rows = []
    for i in range(n_dialogues):
        s = i % len(systems)
        for j in rng.choice(n_annotators, times, replace=False):
            score = 3 + systems[s] + a[j] + d[i] + noise * rng.normal()
            rows.append({"dialogue": f"d{i:03d}", "system": SYSTEMS[s], "annotator": f"A{j}", "score": score})
    return pd.DataFrame(rows).assign(annotator_known=True)


def codes(frame, *names):
    return [frame[name].factorize(sort=True)[0] for name in names]


def fit(frame, confidence=None):
    system = codes(frame, "system")[0]
    factors = codes(frame, "annotator", "dialogue")
    return reml.fit_linear_mixed(frame["score"].to_numpy(float), np.eye(system.max() + 1)[system], factors, confidence)


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
        found = reml.fit_linear_mixed(x.ravel(), np.ones((60, 1)), [rows.ravel(), columns.ravel()], None)
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
        assert found.share_low[1] == 0
        assert 0 < found.share_high[1] < 0.3

    def test_one_factor_and_impossible_designs(self):
        frame = crossed(np.random.default_rng(4))
        y, d = frame["score"].to_numpy(), frame["dialogue"].factorize()[0]
        one = reml.fit_linear_mixed(y, np.ones((len(y), 1)), [d])
        assert (one.share_low < one.shares).all()
        assert (one.shares < one.share_high).all()
        assert one.share_low[0] == pytest.approx(1 - one.share_high[1], abs=2e-3)  # two shares are one parameter
        for x, factors in ((np.ones((len(y), 2)), [d]), (np.ones((len(y), 1)), [])):
            with pytest.raises(ValueError, match="expected a factor, a design of full rank"):
                reml.fit_linear_mixed(y, x, factors)

    def test_profile_intervals_are_where_the_likelihood_ratio_test_turns(self):
        """The deviance under the share at an end exceeds the least by the chi-square point, on a grid."""
        frame = crossed(np.random.default_rng(5))
        found, system = fit(frame, 0.95), codes(frame, "system")[0]
        model = reml.RestrictedDeviance(
            frame["score"].to_numpy(), np.eye(4)[system], codes(frame, "annotator", "dialogue")
        )
        least, others = model.solve(found.variances / found.residual).deviance, np.linspace(0, 6, 2_000)
        for share in (found.share_low[0], found.share_high[0]):
            grid = zip(share / (1 - share) * (1 + others), others, strict=True)
            assert min(model.solve(np.array(r)).deviance for r in grid) - least == pytest.approx(3.841, abs=0.05)


class TestShares:
    @pytest.mark.parametrize("part", [0, 1, 2, 3])
    @pytest.mark.parametrize("share", [0.05, 0.6])
    def test_a_pinned_share_is_that_share_whatever_is_free(self, part, share):
        pinned, base = variance_shares.pinned(part, share, 1.7, 3), 1.7
        free = np.random.default_rng(part).normal(size=3 if part == 3 else 2)
        logs, jacobian = pinned(free)
        assert variance_shares.shares(np.exp(logs), base)[part] == pytest.approx(share)
        for j, step in enumerate(np.eye(len(free)) * 1e-6):
            numeric = (pinned(free + step)[0] - pinned(free - step)[0]) / 2e-6
            assert jacobian[:, j] == pytest.approx(numeric, abs=1e-6)

    def test_wald_intervals_by_the_delta_method(self):
        logs, covariance = np.log([0.5, 2.0]), np.array([[0.3, -0.1], [-0.1, 0.2]])
        low, high = variance_shares.wald(logs, covariance, 1.0, 0.95)

        def logits(v):
            parts = variance_shares.shares(np.exp(v), 1.0)
            return np.log(parts / (1 - parts))

        slopes = np.array([(logits(logs + s) - logits(logs - s)) / 2e-5 for s in np.eye(2) * 1e-5]).T
        half = 1.959964 * np.sqrt(np.diag(slopes @ covariance @ slopes.T))
        assert np.log(high / (1 - high)) == pytest.approx(logits(logs) + half, abs=1e-5)
        assert np.log(low / (1 - low)) == pytest.approx(logits(logs) - half, abs=1e-5)

    def test_variances_hardly_known_have_no_wald_interval(self):
        covariance = np.diag([3.0, 0.1, np.nan])
        low, high = variance_shares.wald(np.log([0.5, 2.0, 1e-6]), covariance, 1.0, 0.95)
        assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False, True, False]


def marks(rng, **keys):
    frame = crossed(rng, noise=0.0, **keys)
    return frame.assign(score=(rng.random(len(frame)) < 1 / (1 + np.exp(3.6 - frame["score"]))).astype(float))


class TestModels:
    def test_scores_have_the_models_that_suit_them(self):
        assert mixed.models(pd.Series([0.0, 1.0, 1.0])) == ("logistic",)
        assert mixed.models(pd.Series([1.0, 2.0, 5.0])) == ("linear", "ordinal")
        assert mixed.models(pd.Series(np.linspace(0, 100, 40))) == ("linear",)

    def test_parts_are_those_of_the_estimators(self):
        frame = crossed(np.random.default_rng(6), n_dialogues=200)
        found = mixed.fit(frame, "linear")
        assert found.parts == ("system", "annotator", "dialogue", "system_annotator")
        frame["both"] = frame["system"] + frame["annotator"]
        alone = reml.fit_linear_mixed(
            frame["score"].to_numpy(), np.ones((len(frame), 1)), codes(frame, *found.parts[:3], "both")
        )
        assert np.square(list(found.sd.values())) == pytest.approx(alone.variances)
        assert found.levels["system"].tolist() == list("abcd")

    def test_equal_marks_of_a_cell_count_as_many(self):
        rng = np.random.default_rng(8)
        one = marks(rng, n_dialogues=60)
        frame = pd.concat([one, one, marks(rng, n_dialogues=60)], ignore_index=True)
        found, both = mixed.fit(frame, "logistic"), codes(frame, "system", "annotator", "dialogue")
        both.append((frame["system"] + frame["annotator"]).factorize(sort=True)[0])
        y = frame["score"].to_numpy(int)
        alone = mixed.ordinal_mixed.fit_ordinal_mixed(y, np.zeros((len(y), 0)), both)
        assert list(found.sd.values()) == pytest.approx(alone.sd, abs=2e-3)
        assert found.effects["annotator"] == pytest.approx(alone.effects[1], abs=2e-3)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"annotator_known": False}, "annotators are positions, not people"),
            ({"annotator": "A1"}, "one annotator, fewer than 5"),
            ({"system": "a"}, "one system, fewer than 3"),
            ({"score": 3.0}, "all scores are equal"),
        ],
    )
    def test_what_has_no_model_says_why(self, change, reason):
        frame = crossed(np.random.default_rng(10), n_dialogues=20)
        assert mixed.why_not(frame) == ""
        assert mixed.why_not(frame.assign(**change)) == reason

    def test_rare_marks_have_no_model(self):
        frame = crossed(np.random.default_rng(10), n_dialogues=40)
        rare = frame.assign(score=(np.arange(len(frame)) < 19).astype(float))
        assert mixed.why_not(rare) == "19 marks of one kind, fewer than 20"
        assert mixed.why_not(rare.assign(score=1 - rare["score"])) == "19 marks of one kind, fewer than 20"

    def test_parts_that_the_design_does_not_separate_are_in_the_residual(self):
        frame = crossed(np.random.default_rng(10), n_dialogues=40)
        once = frame.drop_duplicates("dialogue")
        assert "dialogue" not in mixed.factors(once)
        own = frame.assign(dialogue=frame["annotator"])
        assert "dialogue" not in mixed.factors(own)
        assert "annotator" in mixed.factors(own)
        assert "system_annotator" not in mixed.factors(frame, most_levels=20)

    def test_scores_that_are_explained_have_no_residual(self):
        frame = crossed(np.random.default_rng(11), noise=0.0, dialogue=0.0)
        assert "explain every score" in mixed.fit(frame, "linear")

    def test_failure_to_converge_is_said(self, monkeypatch):
        minimise = reml.RestrictedDeviance.minimise
        monkeypatch.setattr(reml.RestrictedDeviance, "minimise", lambda *a: (*minimise(*a)[:2], False))
        frame = crossed(np.random.default_rng(11), n_dialogues=20)
        assert mixed.fit(frame, "linear") == "the restricted likelihood did not converge"


class TestMarksGivenOnce:
    def frame(self, rate=0.3, times=2):
        rng = np.random.default_rng(3)
        frame = crossed(rng, n_dialogues=200, n_annotators=8, times=times)
        return frame.assign(score=(frame["score"] > frame["score"].quantile(1 - rate)).astype(float))

    def test_effects_of_annotators_have_no_dialogues(self):
        assert "dialogue" not in mixed.fit(self.frame(0.1), "logistic").parts
        assert "dialogue" in mixed.fit(self.frame(0.1, times=6), "logistic").parts

    def test_a_standard_deviation_that_runs_away_is_not_found(self):
        """Two marks per dialogue that nearly always agree, in a model with dialogues (glmer: 97)."""
        rng = np.random.default_rng(4)
        y = np.repeat(rng.random(160) < 0.06, 2).astype(int)
        y[::37] = 1 - y[::37]
        people = rng.integers(0, 8, len(y))
        found = ordinal_mixed.fit_ordinal_mixed(y, np.zeros((len(y), 0)), [people, np.repeat(np.arange(160), 2)])
        assert not found.converged
        assert np.isnan(found.sd).all()
