import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from conftest import ROOT
from fixtures.made_annotations import SYSTEMS, comparisons, monte_carlo, ratings
from fixtures.reference import EFFECTS as R

from helpers.stats import mixed_models as mixed
from helpers.stats import reml
from helpers.study.results import collect, fold


def crossed(
    rng, n_dialogues=60, n_annotators=6, times=3, annotator=0.5, dialogue=0.8, noise=0.7, systems=(0, 0.3, 0.6, 0.9)
):
    """Each dialogue is rated by `times` of the annotators."""
    a, d = annotator * rng.normal(size=n_annotators), dialogue * rng.normal(size=n_dialogues)
    rows = []
    for i in range(n_dialogues):
        s = i % len(systems)
        for j in rng.choice(n_annotators, times, replace=False):
            score = 3 + systems[s] + a[j] + d[i] + noise * rng.normal()
            rows.append({"dialogue": f"d{i:03d}", "system": SYSTEMS[s], "annotator": f"A{j}", "score": score})
    fixed = {"corpus": "main", "group": "all", "method": "continuous", "label": "quality", "annotator_known": True}
    return pd.DataFrame(rows).assign(**fixed)


def fit(frame, confidence=None):
    codes, systems = frame["system"].factorize(sort=True)
    factors = [frame[f].factorize()[0] for f in ("annotator", "dialogue")]
    return reml.fit(frame["score"].to_numpy(float), np.eye(len(systems))[codes], factors, confidence)


def part(found, statistic, name=None, model="linear"):
    rows = found[(found["statistic"] == statistic) & (found["model"] == model)]
    rows = rows if name is None else rows[rows["part"] == name]
    return rows.iloc[0] if name else rows


def test_estimates_are_those_of_nlme():
    found = fit(pd.read_csv(ROOT / "tests" / "reference" / "mixed_data.csv"))
    assert found.variances == pytest.approx([R["lme_annotator"], R["lme_dialogue"]], rel=1e-4)
    assert found.residual == pytest.approx(R["lme_residual"], rel=1e-5)
    assert found.coefficients == pytest.approx([R[f"lme_mean_{s}"] for s in "abcd"], abs=1e-6)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx([R[f"lme_se_{s}"] for s in "abcd"], rel=1e-5)


def test_estimates_are_those_of_statsmodels():
    frame = crossed(np.random.default_rng(1), n_dialogues=24).assign(one=1)
    model = sm.MixedLM.from_formula(
        "score ~ 0 + system",
        groups="one",
        vc_formula={"annotator": "0 + annotator", "dialogue": "0 + dialogue"},
        re_formula="0",
        data=frame,
    )
    reference, found = model.fit(), fit(frame)
    assert found.variances == pytest.approx(reference.vcomp, rel=2e-3)
    assert found.residual == pytest.approx(reference.scale, rel=1e-3)
    assert found.coefficients == pytest.approx(reference.fe_params.to_numpy(), abs=1e-4)


def test_balanced_data_give_the_analysis_of_variance():
    rng = np.random.default_rng(2)
    x = rng.normal(size=12)[:, None] + 0.8 * rng.normal(size=5) + rng.normal(size=(12, 5))
    rows, columns = np.indices(x.shape)
    found = reml.fit(x.ravel(), np.ones((60, 1)), [rows.ravel(), columns.ravel()], None)
    grand, by_row, by_column = x.mean(), x.mean(axis=1), x.mean(axis=0)
    ms_row, ms_column = 5 * np.sum((by_row - grand) ** 2) / 11, 12 * np.sum((by_column - grand) ** 2) / 4
    ms_error = np.sum((x - by_row[:, None] - by_column + grand) ** 2) / 44
    assert found.residual == pytest.approx(ms_error, rel=1e-5)
    assert found.variances == pytest.approx([(ms_row - ms_error) / 5, (ms_column - ms_error) / 12], rel=1e-4)
    assert found.coefficients == pytest.approx([grand])


def test_no_variance_is_an_estimate():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(12, 5))
    x -= x.mean(axis=0)  # annotators agree on the mean to the last digit: less than chance would give
    rows, columns = np.indices(x.shape)
    found = reml.fit(x.ravel(), np.ones((60, 1)), [rows.ravel(), columns.ravel()])
    assert found.converged
    assert found.variances[1] == 0
    assert found.share_low[1] == 0
    assert 0 < found.share_high[1] < 0.3


def test_one_factor_and_impossible_designs():
    frame = crossed(np.random.default_rng(4))
    y, d = frame["score"].to_numpy(), frame["dialogue"].factorize()[0]
    one = reml.fit(y, np.ones((len(y), 1)), [d])
    assert one.share_low[0] < one.shares[0] < one.share_high[0]
    for x, factors in ((np.ones((len(y), 2)), [d]), (np.ones((len(y), 1)), [])):
        with pytest.raises(ValueError, match="expected a factor, a design of full rank"):
            reml.fit(y, x, factors)


def test_profile_interval_is_where_the_likelihood_ratio_test_turns():
    """The deviance under the share at an end exceeds the least by the chi-square point, found without `_profile`."""
    frame = crossed(np.random.default_rng(5))
    found = fit(frame, 0.95)
    codes = frame["system"].factorize(sort=True)[0]
    model = reml._Model(
        frame["score"].to_numpy(), np.eye(4)[codes], [frame[f].factorize()[0] for f in ("annotator", "dialogue")]
    )
    least = model.solve(found.variances / found.residual)[0]
    others = np.linspace(0, 6, 3_000)
    for share in (found.share_low[0], found.share_high[0]):
        ratio = share / (1 - share) * (1 + others)
        rise = min(model.solve(np.array(r))[0] for r in zip(ratio, others, strict=True)) - least
        assert rise == pytest.approx(3.841, abs=0.01)


def test_table_by_parts():
    frame = crossed(np.random.default_rng(6), n_dialogues=200)
    found = mixed.variance_table(frame)
    assert len(fold(collect(found), study="x", notebook="10")) == 10
    shares = part(found, "variance_share")
    assert shares["estimate"].sum() == pytest.approx(1)
    components = part(found, "variance_component")["estimate"].to_numpy()
    assert components / components.sum() == pytest.approx(shares["estimate"].to_numpy())
    assert part(found, "variance_share", "dialogue")["ci_kind"] == "profile"
    effects = part(found, "system_effect").set_index("system")
    assert effects["estimate"].sum() == pytest.approx(0, abs=1e-9)
    assert ((effects["ci_low"] < [-0.45, -0.15, 0.15, 0.45]) & (effects["ci_high"] > [-0.45, -0.15, 0.15, 0.45])).all()
    # a contrast of cell means, as statsmodels' least squares with effect coding would have it without random effects
    assert (effects["ci_high"] - effects["ci_low"] > 0).all()


def test_known_variances_are_recovered():
    n = 60
    found = [fit(crossed(np.random.default_rng([7, i]), n_annotators=12)) for i in range(n)]
    for value, truth in (
        ([f.variances[0] for f in found], 0.25),
        ([f.variances[1] for f in found], 0.64),
        ([f.residual for f in found], 0.49),
    ):
        assert np.mean(value) == pytest.approx(truth, abs=3 * np.std(value) / n**0.5)


def binary(rng, **keys):
    frame = crossed(rng, noise=0.0, **keys)
    p = 1 / (1 + np.exp(3.6 - frame["score"]))
    return frame.assign(score=(rng.random(len(frame)) < p).astype(float), method="behavior", label="ignore")


def test_binary_labels_have_both_models():
    frame = binary(np.random.default_rng(8), n_dialogues=120, n_annotators=12, annotator=0.3, dialogue=1.5)
    found = mixed.variance_table(frame)
    assert len(fold(collect(found), study="x", notebook="10")) == 20
    for model in ("linear", "logistic"):
        assert (
            part(found, "variance_share", "annotator", model)["estimate"]
            < part(found, "variance_share", "dialogue", model)["estimate"]
        )
    assert part(found, "variance_component", "residual", "logistic")["estimate"] == pytest.approx(np.pi**2 / 3)
    again = mixed.variance_table(frame)
    pd.testing.assert_frame_equal(found, again)  # nothing random in it
    assert set(mixed.variance_table(frame, logistic=False)["model"]) == {"linear"}


@pytest.mark.slow
def test_logistic_variances_by_simulation():
    """On average right in order; drawn towards the prior, as documented."""
    sd = []
    for i in range(12):
        frame = binary(np.random.default_rng([9, i]), n_dialogues=150, n_annotators=15, annotator=0.5, dialogue=1.2)
        found = mixed.variance_table(frame)
        sd.append(
            [part(found, "variance_component", f, "logistic")["estimate"] ** 0.5 for f in ("annotator", "dialogue")]
        )
    annotator, dialogue = np.mean(sd, axis=0)
    assert annotator == pytest.approx(0.5, abs=0.2)
    assert dialogue == pytest.approx(1.2, abs=0.35)


def degenerate():
    frame = crossed(np.random.default_rng(10), n_dialogues=20)
    pairs = comparisons([("a", "b", 1), ("b", "a", 0)])
    return [
        (frame.assign(annotator_known=False), "annotator", "annotators are positions, not people"),
        (frame.assign(annotator="A1"), "annotator", "one annotator only"),
        (
            frame.drop_duplicates("dialogue"),
            "dialogue",
            "every dialogue has one score: its variance cannot be separated from the residual",
        ),
        (frame.assign(score=3.0), "dialogue", "all scores are equal"),
        (frame.assign(dialogue=None), "dialogue", "dialogue is not known for every score"),
        (
            frame.assign(dialogue=frame["annotator"]),
            "dialogue",
            "every dialogue belongs to one annotator and the reverse: they cannot be separated",
        ),
        (pairs, "annotator", "a comparison belongs to two systems and two dialogues"),
    ]


@pytest.mark.parametrize(("frame", "factor", "reason"), degenerate(), ids=lambda x: x if isinstance(x, str) else "")
def test_what_cannot_be_estimated_says_why(frame, factor, reason):
    found = mixed.variance_table(frame)
    rows = found[found["part"] == factor]
    assert rows["estimate"].isna().all()
    assert set(rows["note"]) == {reason}
    assert found.loc[found["estimate"].isna(), "note"].notna().all()


def test_failure_to_converge_is_said(monkeypatch):
    minimise = reml._Model.minimise
    monkeypatch.setattr(reml._Model, "minimise", lambda *a: (*minimise(*a)[:2], False))
    found = mixed.variance_table(crossed(np.random.default_rng(11), n_dialogues=20))
    assert found["estimate"].isna().all()
    assert set(found["note"]) == {"the restricted likelihood did not converge"}


def test_one_system_has_no_effects():
    found = mixed.variance_table(
        ratings([("d1", "a", 1), ("d1", "a", 2), ("d2", "a", 4), ("d2", "a", 5)]).assign(annotator=list("ABAB"))
    )
    assert set(found["statistic"]) == {"variance_component", "variance_share"}
    assert found["estimate"].notna().all()


@pytest.mark.slow
def test_profile_intervals_cover():
    n, total = 300, 0.25 + 0.64 + 0.49
    covered = []
    for i in range(n):
        found = fit(crossed(np.random.default_rng([12, i]), n_annotators=8), 0.95)
        truth = np.array([0.25, 0.64]) / total
        covered.append((found.share_low <= truth) & (truth <= found.share_high))
    rates = np.mean(covered, axis=0)
    assert rates[1] == pytest.approx(0.95, abs=monte_carlo(0.95, n) + 0.01)
    assert rates[0] > 0.9
