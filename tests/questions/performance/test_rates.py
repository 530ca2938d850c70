import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fixtures.made_annotations import comparisons, monte_carlo, ratings
from fixtures.reference import EFFECTS as R
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from judgebook.annotations import scores
from judgebook.questions.performance import rates
from judgebook.statistics.clusters import clustered_variances
from judgebook.statistics.intervals import Sampling, generator

FEW = Sampling(200, 0.95, 1)


def turns(marks, **columns):
    """0/1 marks of turns: one list per dialogue."""
    rows = [(f"d{i:03d}", "a", f"s{i // 2}", x) for i, dialogue in enumerate(marks) for x in dialogue]
    frame = ratings(rows, method="behavior", label="redundant", **columns)
    return frame.assign(turn=frame.groupby("dialogue").cumcount().astype("Int32"))


def test_wilson_is_that_of_r_and_scipy():
    assert rates.wilson(37, 120) == pytest.approx((R["wilson_low"], R["wilson_high"]))
    successes, n = np.array([0, 3, 17, 40, 250]), np.array([5, 40, 17, 41, 400])
    ends = np.column_stack(rates.wilson_of(successes / n, n, 0.9))
    theirs = [stats.binomtest(int(x), int(m)).proportion_ci(0.9, "wilson") for x, m in zip(successes, n, strict=True)]
    np.testing.assert_allclose(ends, theirs, rtol=1e-12, atol=1e-15)
    assert (ends[0, 0], ends[2, 1]) == (0, 1)


def test_what_has_no_interval_has_a_reason():
    for x, n in ((-1, 5), (6, 5), (0, 0)):
        with pytest.raises(ValueError, match="expected 0 <= successes <= n"):
            rates.wilson(x, n)
    for sizes, why in (([], "nothing to take a share of"), ([5], "all in one dialogue")):
        row = rates.clustered_wilson(np.array(sizes, dtype=int), np.zeros(len(sizes)), "dialogue")
        assert (row["ci_kind"], row["note"]) == ("not_estimable", why)
    one = np.ones(rates.FEW_CLUSTERS)
    assert rates.few_interval(one, one, one, "dialogue") is None  # enough for a bootstrap
    assert np.isnan(rates.design_effect(np.ones(5), np.full(5, 0.1), np.full(5, 0.01)))
    with pytest.raises(ValueError, match="the column 'session' must be known"):
        rates.clustered(turns([[0, 1]]).assign(session=None), sampling=FEW, unit="session")


def test_sides_by_hand():
    found = scores.sides(comparisons([("a", "b", 1), ("b", "c", 0)]))
    assert found[["dialogue", "system", "dialogue_b", "system_b", "score"]].values.tolist() == [
        ["x000", "a", "y000", "b", 1],
        ["x001", "b", "y001", "c", 0],
        ["y000", "b", "x000", "a", -1],
        ["y001", "c", "x001", "b", 0],
    ]
    assert found["item"].nunique() == 2
    with pytest.raises(ValueError, match="lacks its other side"):
        scores.sides(comparisons([("a", None, 1)]))
    with pytest.raises(ValueError, match=r"scores -1, 0 or 1; found \[2.0\]"):
        scores.sides(comparisons([("a", "b", 2)]))


clusters = st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=6), min_size=3, max_size=20)


@given(clusters)
def test_design_effect_is_that_of_cluster_robust_least_squares(data):
    x = np.concatenate(data).astype(float)
    if np.ptp(x) == 0:
        return
    n, s, q = (np.array([f(np.array(c, dtype=float)) for c in data]) for f in (len, np.sum, lambda v: np.sum(v**2)))
    codes = np.repeat(np.arange(len(data)), [len(c) for c in data])
    fit = sm.OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": codes})
    simple = x.var(ddof=1) / len(x)
    assert rates.design_effect(n, s, q) == pytest.approx(fit.cov_params()[0, 0] / simple, rel=1e-6, abs=1e-9)


def test_design_effects_by_annotator_count_single_annotations():
    """Of a dialogue with two annotations their mean counts, as beside intervals."""
    rng = np.random.default_rng(9)
    who, dialogue = np.tile(np.arange(5), 24), np.repeat(np.arange(60), 2)
    x = rng.normal(size=5)[who] + rng.normal(size=120)
    frame = ratings([(f"d{d}", "a", f"s{d}", v) for d, v in zip(dialogue, x, strict=True)])
    frame = frame.assign(annotator=[f"A{a}" for a in who])
    beside = rates.clustered(frame, sampling=FEW).set_index("statistic").loc["design_effect"]
    assert rates.design_effects(frame, "dialogue")["estimate"].item() == beside["estimate"] == pytest.approx(1)
    (row,) = rates.design_effects(frame, "annotator").itertuples()
    fit = sm.OLS(x, np.ones(120)).fit(cov_type="cluster", cov_kwds={"groups": who})
    assert row.estimate == pytest.approx(fit.cov_params()[0, 0] / (x.var(ddof=1) / 120))
    assert (row.n_clusters, row.of, row.unit) == (5, "mean", "annotator")


@pytest.mark.parametrize("binary", [False, True])
def test_with_annotators_it_is_t_with_both_clusters(binary):
    """Rates on the logit scale; degrees of freedom of annotators, who are fewer than dialogues."""
    rng = np.random.default_rng(2)
    who, dialogue = rng.integers(0, 7, 160), np.repeat(np.arange(80), 2)
    x = rng.normal(size=7)[who] + rng.normal(size=80)[dialogue] + rng.normal(size=160)
    x = (x > 0).astype(float) if binary else x
    rows = [(f"d{d:02d}", "a", f"s{d}", v) for d, v in zip(dialogue, x, strict=True)]
    frame = ratings(rows, method="turn_likert", turn=None)
    frame = frame.assign(
        annotator=[f"A{a}" for a in who], turn=range(160), method="behavior" if binary else "turn_likert"
    )
    row = rates.with_annotators(frame, confidence=0.9).iloc[0]
    _, variance, _ = clustered_variances(np.zeros(160, int), x, np.ones(160), [dialogue, who])
    df = 1 / np.sum((np.bincount(who) / 160) ** 2) - 1
    half, p = stats.t.ppf(0.95, df) * np.sqrt(variance[0]), x.mean()
    ends = [p - half, p + half]
    if binary:
        ends = special.expit(special.logit(p) + np.array([-1, 1]) * half / (p * (1 - p)))
    assert [row["estimate"], row["ci_low"], row["ci_high"]] == pytest.approx([p, *ends])
    assert (row["n_clusters"], row["resample_unit"]) == (7, "dialogue and annotator")


def test_clustered_interval_is_that_of_scipy():
    rng = np.random.default_rng(1)
    marks = [rng.random(rng.integers(12, 18)) < p for p in rng.beta(2, 6, 80)]
    found = rates.clustered(turns(marks), sampling=Sampling(20_000, 0.95, 1)).iloc[0]
    s, n = np.array([m.sum() for m in marks]), np.array([len(m) for m in marks])
    reference = stats.bootstrap(
        (s, n),
        lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        n_resamples=20_000,
        method="BCa",
        vectorized=True,
        rng=generator(1, "scipy"),
    ).confidence_interval
    assert found["ci_kind"] == "bca"
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((reference.low, reference.high), abs=0.003)
    assert found["n_clusters"] == 80
    assert found["n"] == n.sum()


def test_a_rare_mark_has_a_bound_instead_of_a_bootstrap():
    none = rates.clustered(turns([[0] * 15] * 27), sampling=FEW).set_index("statistic")
    assert none.loc["rate", "ci_kind"] == "exact_bound"
    assert (none.loc["rate", "ci_low"], none.loc["rate", "ci_high"]) == pytest.approx((0, 1 - 0.025 ** (1 / 27)))
    assert none.loc["design_effect", "note"] == "one cluster, or no spread"


@given(st.integers(0, 60))
def test_bound_without_clustering_is_clopper_and_pearson(marks):
    exact = stats.binomtest(marks, 60).proportion_ci(method="exact")
    assert rates.rare_bound(marks, 60, 60, 1.0) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize(("hits", "n"), [(0, 12), (7, 40), (12, 12)])
def test_share_of_independent_trials_has_wilsons_interval(hits, n):
    ones = np.ones(n, dtype=int)
    row = rates.clustered_wilson(np.r_[ones, 0], np.r_[np.arange(n) < hits, 0], "dialogue")
    wilson = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert (row["ci_low"], row["ci_high"], row["n_clusters"]) == (*map(pytest.approx, wilson), n)


def test_effective_number_of_trials_by_hand():
    """Korn and Graubard: n over the design effect, times the square of a ratio of quantiles of t; at most n."""
    ratio = (stats.t.ppf(0.975, 399) / stats.t.ppf(0.975, 39)) ** 2
    assert rates.effective_trials(30, 400, 40, 2.5) == pytest.approx(400 / 2.5 * ratio)
    assert rates.effective_trials(30, 400, 40, 0.5) == pytest.approx(400 * ratio)
    assert rates.effective_trials(30, 400, 400, 1.0) == 400
    assert [rates.effective_trials(x, 400, 40, 2.5) for x in (0, 400)] == [40, 40]


@pytest.mark.parametrize(("c", "rate", "icc"), [(15, 0.5, 0.4), (30, 0.97, 0.1), (80, 0.99, 0.4)])
def test_share_of_clustered_trials_is_covered(c, rate, icc):
    """Clusters of unequal sizes, and shares near 1, whose trials may all have the same outcome."""
    rng, n, covered = np.random.default_rng(int(100 * rate) + c), 1000, []
    for _ in range(n):
        p = rng.beta(rate * (1 / icc - 1), (1 - rate) * (1 / icc - 1), c)
        size = 1 + rng.poisson(4, c)
        row = rates.clustered_wilson(size, rng.binomial(size, p), "dialogue")
        covered.append(row["ci_low"] <= rate <= row["ci_high"])
    assert np.mean(covered) > 0.95 - monte_carlo(0.95, n)


def test_an_interval_does_not_depend_on_other_labels():
    rng = np.random.default_rng(7)
    frame = turns([rng.random(15) < p for p in rng.beta(4, 6, 40)])
    alone = rates.clustered(frame, sampling=FEW)
    other = frame.assign(label="ignore", score=1 - frame["score"])
    for more in (other, other[other["dialogue"] > "d003"]):  # on the same dialogues, and on fewer
        both = rates.clustered(pd.concat([more, frame]), sampling=FEW)
        own = both[both["label"] == "redundant"].reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone)


def test_many_clusters_are_counted_together(monkeypatch):
    rng = np.random.default_rng(8)
    rows = [(f"d{i:05d}", "a", f"s{i}", x) for i, x in enumerate(rng.integers(1, 6, 600))]
    monkeypatch.setattr(rates, "MANY_CLUSTERS", 500)
    found = rates.clustered(ratings(rows), sampling=Sampling(4000, 0.95, 1)).iloc[0]
    x = np.array([x for *_, x in rows], float)
    low, high = stats.t.interval(0.95, len(x) - 1, x.mean(), stats.sem(x))
    assert found["n_clusters"] == len(rows)
    # Student's interval of 600 scores; Monte Carlo error of an end: a twentieth of the standard error
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((low, high), abs=0.012)


class TestFewClusters:
    def test_is_cluster_robust_least_squares_with_t(self):
        rng = np.random.default_rng(10)
        sizes = [3, 5, 2, 6]
        groups = np.repeat(range(4), sizes)
        x = rng.normal(size=4)[groups] + rng.normal(size=16)
        n, s, q = (np.bincount(groups, w) for w in (np.ones(16), x, x**2))
        found = rates.few_interval(n, s, q, "dialogue", 0.9)
        fit = sm.OLS(x, np.ones(16)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
        assert [found["ci_low"], found["ci_high"]] == pytest.approx(fit.conf_int(0.1)[0].tolist())

    def test_clustered_uses_it_and_a_rate_stays_a_rate(self):
        rows = [(f"d{i}", "a", f"s{i}", x) for i, x in enumerate([3, 4, 2, 5])]
        few = rates.clustered(ratings(rows), sampling=FEW).iloc[0]
        assert (few["ci_kind"], few["n_clusters"]) == ("t", 4)
        assert (few["ci_low"], few["ci_high"]) == pytest.approx(stats.t.interval(0.95, 3, 3.5, stats.sem([3, 4, 2, 5])))
        marks = turns([[1] * 15 + [0] * 9, [1] * 20, [1] * 4 + [0] * 16])
        rate = rates.clustered(marks, sampling=FEW).iloc[0]
        assert (rate["ci_kind"], rate["ci_low"], rate["ci_high"]) == ("t", 0, 1)
