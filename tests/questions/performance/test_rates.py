import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fixtures.made_annotations import comparisons, monte_carlo, ratings
from fixtures.reference import EFFECTS as R
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgebook.annotations import scores
from judgebook.questions.performance import rate_intervals, rates
from judgebook.statistics.intervals import Sampling, generator
from judgebook.study.results import collect, fold


def turns(marks, **columns):
    """0/1 marks of turns: one list per dialogue."""
    rows = [(f"d{i:03d}", "a", f"s{i // 2}", x) for i, dialogue in enumerate(marks) for x in dialogue]
    frame = ratings(rows, method="behavior", label="redundant", **columns)
    return frame.assign(turn=frame.groupby("dialogue").cumcount().astype("Int32"))


def test_wilson_and_t_are_those_of_r():
    assert rate_intervals.wilson(37, 120) == pytest.approx((R["wilson_low"], R["wilson_high"]))
    assert rate_intervals.wilson(0, 15, 0.9) == pytest.approx((R["wilson_none_low"], R["wilson_none_high"]), abs=1e-12)
    low, high, reason = rate_intervals.student_t(np.array([1, 2, 2, 3, 5, 5, 4]))
    assert (low, high, reason) == (pytest.approx(R["t_low"]), pytest.approx(R["t_high"]), "")


def test_wilson_is_that_of_scipy_and_takes_arrays():
    successes, n = np.array([0, 3, 17, 40, 250]), np.array([5, 40, 17, 41, 400])
    ends = np.column_stack(rate_intervals.wilson_of(successes / n, n, 0.9))
    theirs = [stats.binomtest(int(x), int(m)).proportion_ci(0.9, "wilson") for x, m in zip(successes, n, strict=True)]
    np.testing.assert_allclose(ends, theirs, rtol=1e-12, atol=1e-15)
    assert ends[0, 0] == 0
    assert ends[2, 1] == 1


@pytest.mark.parametrize(("x", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts_are_errors(x, n):
    with pytest.raises(ValueError, match="expected 0 <= successes <= n"):
        rate_intervals.wilson(x, n)


@pytest.mark.parametrize(("x", "reason"), [([3.0], "fewer than two scores"), ([2.0, 2.0], "all scores are equal")])
def test_no_spread_no_t_interval(x, reason):
    assert rate_intervals.student_t(np.array(x))[2] == reason


def test_sides_by_hand():
    found = scores.sides(comparisons([("a", "b", 1), ("b", "c", 0)]))
    assert found[["dialogue", "system", "dialogue_b", "system_b", "score"]].values.tolist() == [
        ["x000", "a", "y000", "b", 1],
        ["x001", "b", "y001", "c", 0],
        ["y000", "b", "x000", "a", -1],
        ["y001", "c", "x001", "b", 0],
    ]
    assert found["item"].nunique() == 2


def test_sides_need_two_sides_and_three_scores():
    with pytest.raises(ValueError, match="lacks its other side"):
        scores.sides(comparisons([("a", None, 1)]))
    with pytest.raises(ValueError, match=r"scores -1, 0 or 1; found \[2.0\]"):
        scores.sides(comparisons([("a", "b", 2)]))


def test_outcomes_by_hand():
    frame = pd.concat([turns([[0, 1]]), ratings([("d1", "a", 3)]), comparisons([("a", "b", 0), ("a", "b", 1)])])
    found = rates.published(frame).assign(outcome=lambda f: f["outcome"].fillna(""))
    assert set(found["interval"]) == {"independent"}
    found = found.set_index(["statistic", "system", "outcome"])["estimate"].sort_index()
    assert found["rate", "a", ""] == 0.5
    assert found["mean", "a", ""] == 3
    assert {o: found["share", "a", o] for o in ("win", "tie", "loss")} == {"win": 0.5, "tie": 0.5, "loss": 0.0}
    assert found["share", "b", "loss"] == 0.5


def test_sums_of_clusters_and_what_identifies_an_estimate_by_hand():
    frame = pd.concat([turns([[0, 1], [1, 1, 1]]), ratings([("d1", "a", 3), ("d2", "a", 5)])], ignore_index=True)
    found, codes = scores.numbered(frame)
    first, second = scores.cluster_sums(found, codes, found["dialogue"])
    assert first[1].tolist() == [[2, 1, 1], [3, 3, 3]]  # scores, their sum, that of their squares
    assert second[1].tolist() == [[1, 3, 9], [1, 5, 25]]
    rate, mean = scores.identities(found, codes, "independent")
    assert (rate["statistic"], rate["level"], rate["n"]) == ("rate", "turn", 5)
    assert (mean["statistic"], mean["level"], mean["n"]) == ("mean", "dialogue", 2)
    assert (rate["interval"], rate["system"]) == ("independent", "a")
    share = scores.identities(*scores.numbered(comparisons([("a", "b", 0)])), "dialogue")[0]
    assert (share["level"], share["outcome"], share["interval"]) == ("pair", "win", "dialogue")
    empty = scores.cluster_sums(found.iloc[:0], codes[:0], found["dialogue"].iloc[:0])
    assert empty == []


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
    assert rate_intervals.design_effect(n, s, q) == pytest.approx(fit.cov_params()[0, 0] / simple, rel=1e-6, abs=1e-9)


def test_scores_that_are_their_own_cluster_have_design_effect_one():
    x = np.array([1.0, 4, 2, 5, 5])
    assert rate_intervals.design_effect(np.ones(5), x, x**2) == pytest.approx(1)
    assert np.isnan(rate_intervals.design_effect(np.ones(5), np.full(5, 0.1), np.full(5, 0.01)))


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
    rng = np.random.default_rng(1)
    marks = [np.zeros(15, dtype=int) for _ in range(27)]
    none = rates.clustered(turns(marks), sampling=Sampling(10_000, 0.95, 1)).set_index("statistic")
    assert none.loc["rate", "ci_kind"] == "exact_bound"
    assert (none.loc["rate", "ci_low"], none.loc["rate", "ci_high"]) == pytest.approx((0, 1 - 0.025 ** (1 / 27)))
    assert none.loc["design_effect", "note"] == "one cluster, or no spread"
    for i in rng.integers(0, 27, 2):
        marks[i][0] = 1
    two = rates.clustered(turns(marks), sampling=Sampling(10_000, 0.95, 1)).iloc[0]
    assert two["ci_kind"] == "exact_bound"
    assert 0 < two["ci_low"] < 2 / 405 < two["ci_high"] < 0.05


@given(st.integers(0, 60))
def test_bound_without_clustering_is_clopper_and_pearson(marks):
    exact = stats.binomtest(marks, 60).proportion_ci(method="exact")
    assert rate_intervals.rare_bound(marks, 60, 60, 1.0) == pytest.approx((exact.low, exact.high))


def test_bound_covers_rare_marks_that_cluster():
    rng, n, rate = np.random.default_rng(5), 400, 0.02
    covered = []
    for _ in range(n):
        p = rng.beta(0.4, 0.4 / rate - 0.4, 40)
        s, size = rng.binomial(15, p), np.full(40, 15)
        row = rate_intervals.rare_interval(size, s, s, "dialogue")
        if row:
            covered.append(row["ci_low"] <= rate <= row["ci_high"])
    assert len(covered) > 0.9 * n
    assert np.mean(covered) > 0.95 - monte_carlo(0.95, len(covered))


@pytest.mark.parametrize(("hits", "n"), [(0, 12), (7, 40), (12, 12)])
def test_share_of_independent_trials_has_wilsons_interval(hits, n):
    ones = np.ones(n, dtype=int)
    row = rate_intervals.clustered_wilson(np.r_[ones, 0], np.r_[np.arange(n) < hits, 0], "dialogue")
    wilson = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert (row["ci_low"], row["ci_high"], row["n_clusters"]) == (*map(pytest.approx, wilson), n)


@pytest.mark.parametrize("icc", [0.0, 0.1, 0.4])
@pytest.mark.parametrize(("c", "rate"), [(15, 0.5), (30, 0.85), (30, 0.97), (80, 0.99)])
def test_share_of_clustered_trials_is_covered(c, rate, icc):
    """Clusters of unequal sizes, and shares near 1, whose trials may all have the same outcome."""
    rng, n, covered = np.random.default_rng(int(100 * rate) + c), 1000, []
    for _ in range(n):
        p = rng.beta(rate * (1 / icc - 1), (1 - rate) * (1 / icc - 1), c) if icc else rate
        size = 1 + rng.poisson(4, c)
        row = rate_intervals.clustered_wilson(size, rng.binomial(size, p), "dialogue")
        covered.append(row["ci_low"] <= rate <= row["ci_high"])
    assert np.mean(covered) > 0.95 - monte_carlo(0.95, n)


@pytest.mark.parametrize(("sizes", "why"), [([], "nothing to take a share of"), ([5], "all in one dialogue")])
def test_a_share_without_an_interval_has_a_reason(sizes, why):
    row = rate_intervals.clustered_wilson(np.array(sizes, dtype=int), np.zeros(len(sizes)), "dialogue")
    assert (row["ci_kind"], row["note"]) == ("not_estimable", why)


def test_an_unknown_unit_is_an_error():
    with pytest.raises(ValueError, match="unit: the column 'session' must be known"):
        rates.clustered(turns([[0, 1]]).assign(session=None), sampling=Sampling(10_000, 0.95, 1), unit="session")


def test_rows_fit_the_schema_and_degenerate_labels_have_reasons():
    frame = pd.concat(
        [
            turns([[1, 1], [1]]),
            ratings([("d1", "a", 4), ("d2", "a", 4)]),
            ratings([("d3", "b", 4)], label="engaging"),
            comparisons([("a", "b", 0), ("b", "a", 0)]),
        ]
    )
    for found in (rates.published(frame), rates.clustered(frame, sampling=Sampling(200, 0.95, 1))):
        assert len(fold(collect(found), study="x", notebook="07")) == len(found)
        bare = found[found["estimate"].isna() | (found["ci_low"].isna() & (found["statistic"] != "design_effect"))]
        assert bare["note"].notna().all()


@pytest.mark.evidence
def test_clustered_covers_where_wilson_does_not():
    rng, n, frames = np.random.default_rng(6), 300, []
    for i in range(n):  # each a system of its own, with resamples of its own, so that all are estimated at once
        one = turns([rng.random(15) < p for p in rng.beta(1.2, 4.8, 100)])
        frames.append(one.assign(system=f"system {i}", dialogue=f"{i}" + one["dialogue"]))
    frame, covered = pd.concat(frames, ignore_index=True), {}
    for name, found in (
        ("clustered", rates.clustered(frame, sampling=Sampling(1_000, 0.95, 1))),
        ("wilson", rates.published(frame)),
    ):
        rows = found[found["statistic"] == "rate"]
        assert len(rows) == n
        covered[name] = np.mean((rows["ci_low"] <= 0.2) & (rows["ci_high"] >= 0.2))
    assert covered["clustered"] > 0.95 - monte_carlo(0.95, n) - 0.01
    assert covered["wilson"] < 0.85


def test_an_interval_does_not_depend_on_other_labels():
    rng = np.random.default_rng(7)
    marks = [rng.random(15) < p for p in rng.beta(4, 6, 40)]
    frame = turns(marks)
    alone = rates.clustered(frame, sampling=Sampling(500, 0.95, 1))
    other = frame.assign(label="ignore", score=1 - frame["score"])
    for more in (other, other[other["dialogue"] > "d003"]):  # on the same dialogues, and on fewer
        both = rates.clustered(pd.concat([more, frame]), sampling=Sampling(500, 0.95, 1))
        own = both[both["label"] == "redundant"].reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone)


def test_many_clusters_are_counted_together():
    rng = np.random.default_rng(8)
    rows = [(f"d{i:05d}", "a", f"s{i}", x) for i, x in enumerate(rng.integers(1, 6, rates.MANY_CLUSTERS + 500))]
    found = rates.clustered(ratings(rows), sampling=Sampling(4000, 0.95, 1)).iloc[0]
    one = rates.published(ratings(rows)).iloc[0]
    assert found["n_clusters"] == len(rows)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((one["ci_low"], one["ci_high"]), abs=0.006)


class TestDesignEffects:
    def frame(self):
        rng = np.random.default_rng(9)
        rows, lean = [], rng.normal(size=6)
        for d in range(30):
            for a in rng.choice(6, 2, replace=False):
                rows += [(f"d{d:02d}", "a", f"s{d}", lean[a] + rng.normal() + (d % 3), f"A{a}") for _ in range(4)]
        frame = ratings([r[:4] for r in rows], method="turn_likert")  # every judgement is of a turn of its own
        return frame.assign(annotator=[r[4] for r in rows], turn=np.arange(len(rows)))

    def test_are_those_of_cluster_robust_least_squares(self):
        frame = self.frame()
        x, simple = frame["score"].to_numpy(), frame["score"].var(ddof=1) / len(frame)
        for unit, n in {"dialogue": 30, "annotator": 6}.items():
            (row,) = rates.design_effects(frame, unit).itertuples()
            groups = frame[unit].factorize()[0]
            fit = sm.OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": groups})
            assert row.estimate == pytest.approx(fit.cov_params()[0, 0] / simple)
            assert (row.n_clusters, row.of, row.unit) == (n, "mean", unit)

    def test_those_of_the_cluster_are_those_beside_intervals(self):
        frame = self.frame()
        beside = rates.clustered(frame, sampling=Sampling(200, 0.95, 1)).set_index("statistic").loc["design_effect"]
        assert rates.design_effects(frame, "dialogue")["estimate"].item() == beside["estimate"]

    def test_an_unknown_unit_is_an_error(self):
        with pytest.raises(ValueError, match="the column 'interactor' must be known"):
            rates.design_effects(self.frame(), "interactor")


class TestFewClusters:
    def test_one_score_a_cluster_is_student_t(self):
        x = np.array([2.0, 5, 3, 4, 1])
        found = rate_intervals.few_interval(np.ones(5), x, x**2, "dialogue")
        assert (found["ci_low"], found["ci_high"]) == pytest.approx(rate_intervals.student_t(x)[:2])

    def test_is_cluster_robust_least_squares_with_t(self):
        rng = np.random.default_rng(10)
        sizes = [3, 5, 2, 6]
        groups = np.repeat(range(4), sizes)
        x = rng.normal(size=4)[groups] + rng.normal(size=16)
        n, s, q = (np.bincount(groups, w) for w in (np.ones(16), x, x**2))
        found = rate_intervals.few_interval(n, s, q, "dialogue", 0.9)
        fit = sm.OLS(x, np.ones(16)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
        assert [found["ci_low"], found["ci_high"]] == pytest.approx(fit.conf_int(0.1)[0].tolist())

    def test_enough_clusters_are_bootstrapped_and_none_without_spread(self):
        one = np.ones(rate_intervals.FEW_CLUSTERS)
        assert rate_intervals.few_interval(one, one, one, "dialogue") is None
        assert (
            rate_intervals.few_interval(one[:3], one[:3], one[:3], "dialogue")["note"] == "one dialogue, or no spread"
        )

    def test_clustered_uses_it(self):
        rows = [(f"d{i}", "a", f"s{i}", x) for i, x in enumerate([3, 4, 2, 5])]
        few = rates.clustered(ratings(rows), sampling=Sampling(200, 0.95, 1)).iloc[0]
        assert (few["ci_kind"], few["n_clusters"]) == ("t", 4)
        assert (few["ci_low"], few["ci_high"]) == pytest.approx(rate_intervals.student_t(np.array([3.0, 4, 2, 5]))[:2])

    def test_a_rate_stays_a_rate(self):
        found = rates.clustered(
            turns([[1] * 15 + [0] * 9, [1] * 20, [1] * 4 + [0] * 16]), sampling=Sampling(200, 0.95, 1)
        )
        rate = found[found["statistic"] == "rate"].iloc[0]
        assert (rate["ci_kind"], rate["ci_low"], rate["ci_high"]) == ("t", 0, 1)
