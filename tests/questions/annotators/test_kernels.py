"""Who stands out, severities, agreement and consensus: printed values, other libraries, cases worked by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from fixtures.made_annotations import codes, crossed
from fixtures.planted_annotators import planted
from scipy.stats import norm

from judgebook.questions.annotators import analysis, indicators
from judgebook.statistics import reml
from judgebook.study.labels import Label

#: Rosner 1983, as reprinted in the NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.5.17.3
ROSNER = [
    *(-0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70),
    *(1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40),
    *(2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01),
]


def test_rosners_data_have_three_outliers():
    p = indicators.esd(np.array(ROSNER))
    assert sorted(np.array(ROSNER)[p < 0.05]) == [5.34, 5.42, 6.01]


def test_limits_are_those_of_the_table():
    # NIST: of 54 values the first limits at 5% are 3.158, 3.151, 3.143
    for n, limit in ((54, 3.158), (53, 3.151), (52, 3.143)):
        assert indicators._p_value(limit, n, two_sided=True) == pytest.approx(0.05, rel=0.01)


@pytest.mark.verify
def test_false_alarms_of_normal_values():
    rng, runs = np.random.default_rng(4), 8000
    for n, side in ((5, "both"), (8, "both"), (12, "high"), (20, "both"), (30, "low"), (60, "both")):
        samples = rng.normal(3, 2, (runs, n))
        least = indicators._steps(samples, side)[0].min(axis=1)
        p = indicators._calibrated(least, n, side) if n < indicators.ROSNER_FROM else least
        assert p[:20] == pytest.approx([np.nanmin(indicators.esd(row, side)) for row in samples[:20]])
        for level in (0.05, 0.01):
            assert abs((p < level).mean() - level) < 4 * np.sqrt(level * (1 - level) / runs)


def test_two_outliers_of_a_small_group_do_not_hide_each_other():
    values = np.r_[np.random.default_rng(2).normal(0, 1, 12), 8.0, 8.5]
    p = indicators.esd(values)
    assert (p < 0.01).nonzero()[0].tolist() == [12, 13]
    assert np.isnan(indicators.esd(np.r_[np.nan, values])[0])


def test_outliers_of_one_side_and_none():
    values = np.r_[np.linspace(-1, 1, 20), -9.0]
    assert indicators.esd(values, "low")[-1] < 0.001
    assert indicators.esd(values, "high")[-1] == 1
    assert np.isnan(indicators.esd(np.ones(9))).all()
    assert np.isnan(indicators.esd(np.arange(4.0))).all()


@pytest.fixture(scope="module")
def demo():
    return planted(seed=3, twice=0.5, annotator_share=0.4)


def balanced(n_people: int = 8, n_dialogues: int = 24) -> pd.DataFrame:
    """Every annotator judges every dialogue of three systems."""
    rng = np.random.default_rng(1)
    lean, good = rng.normal(0, 0.6, n_people), rng.normal(0, 1, n_dialogues)
    rows = [
        {"annotator": f"A{a}", "dialogue": f"d{d:02d}", "system": f"s{d % 3}", "score": score}
        for (a, d), score in np.ndenumerate(lean[:, None] + good + rng.normal(size=(n_people, n_dialogues)))
    ]
    more = {"annotator_known": True, "label": "x", "turn": pd.NA, "dialogue_b": pd.NA, "system_b": pd.NA}
    return pd.DataFrame(rows).assign(**more)


def test_severity_in_a_balanced_design_is_the_shrunken_mean():
    rows = balanced()
    found = pd.DataFrame(indicators.severity(rows, 0.95)[0]).set_index("annotator")
    rows = indicators.standardised(rows)
    # analysis of variance: annotators against annotators within systems, the smallest stratum that holds them
    of = {
        k: rows.groupby(list(k))["score"].transform("mean")
        for k in (("annotator", "system"), ("dialogue",), ("system",))
    }
    fitted = of["annotator", "system"] + of[("dialogue",)] - of[("system",)]
    df = 8 * 24 - (8 * 3 + 24 - 3)
    residual = float(((rows["score"] - fitted) ** 2).sum()) / df
    means = rows.groupby("annotator")["score"].mean() - rows["score"].mean()
    cells = rows.groupby(["annotator", "system"])["score"].mean().unstack()  # noqa: PD010
    both = cells.sub(cells.mean(axis=1), axis=0) - (cells.mean() - cells.to_numpy().mean())
    within = 8 * float((both.to_numpy() ** 2).sum()) / (7 * 2)
    if within < residual:  # no variance of annotators within systems: pooled with the residual
        within = (within * 14 + residual * df) / (14 + df)
    square = 24 * float((means**2).sum()) / 7
    shrink = 1 - within / square
    np.testing.assert_allclose(found["estimate"], shrink * means, rtol=0.02)


def test_speed_where_most_times_are_equal():
    """Times in whole minutes: the median absolute deviation is 0, and the slow one is slow all the same."""
    minutes = np.ones((12, 20))
    minutes[:, :3] = 2.0
    minutes[4] = 4.0
    times = pd.DataFrame({"annotator": np.repeat([f"A{i:02d}" for i in range(12)], 20), "minutes": minutes.ravel()})
    rows, z = indicators.speed(times.assign(method="dialogue_likert", task="likert"), 0.95)
    assert z.idxmax() == "A04"
    assert pd.DataFrame(rows).set_index("annotator").at["A04", "estimate"] > 1.5


def test_mean_of_the_others_item_by_item(demo):
    rows = indicators.oriented(demo.annotations)
    beside = indicators.with_others(rows, indicators.ITEM)
    one = beside.iloc[37]
    same = rows[(rows["dialogue"] == one["dialogue"]) & (rows["label"] == one["label"])]
    rest = same.loc[same["annotator"] != one["annotator"], "score"]
    assert one["others"] == pytest.approx(rest.mean())
    assert one["squared"] == pytest.approx(((one["score"] - rest) ** 2).mean())


def test_z_values_do_not_depend_on_the_last_bits_of_scores():
    """Every mean of a dialogue is one of few values: adding 1,000 to all scores changes their last bits only."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(
        {"annotator": np.repeat([f"w{i}" for i in range(6)], 20), "dialogue": [f"d{i}" for i in range(20)] * 6}
    )
    rows = rows.assign(label="a", system="s", dialogue_b=None, system_b=None, turn=None, completed_at=pd.NaT)
    rows = rows.assign(score=rng.integers(1, 4, len(rows)).astype(float), source_row=range(len(rows)))
    shifted = rows.assign(score=rows["score"] + 1000.0)
    for z in (lambda r: indicators.disagreement(r)[1], lambda r: indicators.drift(r, 0.95)[1]):
        assert z(shifted).to_numpy() == pytest.approx(z(rows).to_numpy(), abs=1e-9)


def test_pairs_in_either_order_are_one_item():
    rows = pd.DataFrame({
        "dialogue": ["a", "b"], "dialogue_b": ["b", "a"], "system": ["x", "y"], "system_b": ["y", "x"], "score": [1, -1]
    })  # fmt: skip
    turned = indicators.oriented(rows)
    assert turned["score"].tolist() == [1, 1]
    assert turned["system"].tolist() == ["x", "x"]


def test_entropy_and_trend_by_hand():
    assert indicators._entropy(np.array([[2, 2], [4, 0], [1, 3]])) == pytest.approx([1, 0, 0.811278], abs=1e-6)
    y = np.array([0.1, 0.4, 0.2, 0.9, 0.8, 1.3])
    ols = smf.ols("y ~ x", pd.DataFrame({"y": y, "x": np.linspace(0, 1, 6)})).fit()
    row, z = indicators._trend(y, 0.95)
    assert [row["estimate"], row["ci_low"], row["ci_high"]] == pytest.approx(
        [ols.params["x"], *ols.conf_int().loc["x"]]
    )
    assert 2 * norm.sf(z) == pytest.approx(ols.pvalues["x"])


@pytest.fixture(scope="module")
def votes():
    """400 items, 3 of 10 annotators each, of whom two guess; and the truth."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, 400)
    item = np.repeat(np.arange(400), 3)
    who = np.concatenate([rng.choice(10, 3, replace=False) for _ in range(400)])
    right = rng.random(1200) < np.where(who < 8, 0.85, 1 / 3)
    answer = np.where(right, truth[item], (truth[item] + rng.integers(1, 3, 1200)) % 3)
    return item, who, answer, truth


def test_consensus_is_that_of_crowd_kit(votes):
    pytest.importorskip("crowdkit")
    item, who, answer, truth = votes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from crowdkit.aggregation import DawidSkene

        frame = pd.DataFrame({"task": item, "worker": who, "label": answer})
        theirs = DawidSkene(n_iter=30, tol=-np.inf).fit(frame)
    steps = {n: analysis.dawid_skene(item, who, answer, precision=0, most=n) for n in (30, 31)}
    np.testing.assert_allclose(steps[30].labels, theirs.probas_.sort_index()[[0, 1, 2]], atol=1e-6)
    errors = np.stack([theirs.errors_.loc[a].reindex([0, 1, 2]).fillna(0)[[0, 1, 2]].to_numpy().T for a in range(10)])
    np.testing.assert_allclose(steps[31].errors, errors, atol=1e-6)
    ours = analysis.dawid_skene(item, who, answer)
    assert ours.converged
    assert np.mean(ours.labels.argmax(axis=1) == truth) > 0.8
    right = ours.errors.diagonal(axis1=1, axis2=2).mean(axis=1)
    assert set(np.argsort(right)[:2]) == {8, 9}  # who guess


def marks(item, who, score):
    rows = pd.DataFrame({"dialogue": item, "annotator": who, "score": score.astype(float)})
    rows["system"] = np.where(item % 2, "odd", "even")
    return rows.assign(label="x", turn=pd.NA, dialogue_b=pd.NA, system_b=pd.NA)


def test_rates_by_consensus(votes):
    item, who, answer, _ = votes
    rows = marks(item, who, answer == 0)
    label = Label("x", "behavior", "X", (0, 1), level="nominal")
    found = pd.DataFrame(analysis.consensus(rows, label))
    rates = found[found["statistic"] == "consensus_rate"].set_index(["source", "system"])["estimate"]
    assert rates["mean", "odd"] == pytest.approx(rows.loc[rows["system"] == "odd", "score"].mean())
    assert set(rates.index.get_level_values(0)) == {"mean", "dawid_skene"}
    few = pd.DataFrame(analysis.consensus(rows.head(60), label))
    assert few["note"].tolist() == ["20 items judged more than once (at least 100 needed)"]
    two = pd.DataFrame(analysis.consensus(rows.groupby("dialogue").head(2), label))
    assert two["note"].tolist() == ["2.0 annotations per item (at least 3 needed)"]


def test_parts_are_those_of_the_estimators():
    frame = crossed(np.random.default_rng(6), n_dialogues=200)
    levels, found = indicators.model(frame)
    assert list(levels) == ["system", "annotator", "dialogue", "system_annotator"]
    frame["both"] = frame["system"] + frame["annotator"]
    alone = reml.fit_linear_mixed(
        frame["score"].to_numpy(), np.ones((len(frame), 1)), codes(frame, *[*levels][:3], "both")
    )
    assert found.variances == pytest.approx(alone.variances)
    assert levels["system"].tolist() == list("abcd")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"annotator_known": False}, "annotators are positions, not people"),
        ({"annotator": "A1"}, "one annotator, fewer than 5"),
        ({"system": "a"}, "one system, fewer than 3"),
        ({"score": 3.0}, "all scores are equal"),
    ],
)
def test_what_has_no_model_says_why(change, reason):
    frame = crossed(np.random.default_rng(10), n_dialogues=20)
    assert indicators.model(frame.assign(**change)) == reason


def test_parts_that_the_design_does_not_separate_are_in_the_residual():
    frame = crossed(np.random.default_rng(10), n_dialogues=40)
    once = frame.drop_duplicates("dialogue")
    assert "dialogue" not in indicators.factors(once)
    own = frame.assign(dialogue=frame["annotator"])
    assert "dialogue" not in indicators.factors(own)
    assert "annotator" in indicators.factors(own)
    assert "system_annotator" not in indicators.factors(frame, most_levels=20)


def test_scores_that_are_explained_have_no_residual():
    frame = crossed(np.random.default_rng(11), noise=0.0, dialogue=0.0)
    assert "explain every score" in indicators.model(frame)


def test_failure_to_converge_is_said(monkeypatch):
    minimise = reml.RestrictedDeviance.minimise
    monkeypatch.setattr(reml.RestrictedDeviance, "minimise", lambda *a: (*minimise(*a)[:2], False))
    frame = crossed(np.random.default_rng(11), n_dialogues=20)
    assert indicators.model(frame) == "the restricted likelihood did not converge"
