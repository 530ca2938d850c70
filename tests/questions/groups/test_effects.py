import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pingouin
import pytest
from fixtures.made_annotations import comparisons, ratings, study
from fixtures.notebook_code import functions
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_effectsize

from judgebook.questions.groups import effects
from judgebook.statistics.intervals import Sampling, generator


def sums(scores):
    """(n, sum, sum of squares) of the scores that are not missing."""
    x = np.asarray(scores, dtype=float)
    x = x[np.isfinite(x)]
    return np.array([len(x), x.sum(), np.square(x).sum()])


def published(frame, n_resamples=10_000, seed=1):
    """What cells of the notebook make of it."""
    page = SimpleNamespace(published_sampling=Sampling(n_resamples, 0.95, seed))
    distances = functions("08_group_effects", page=page)["distances"]
    frame = frame.assign(system_b=None)
    return {"mean_absolute_effect": distances(frame, 1), "group_difference": distances(frame, 2)}


def effect(x, y, kind="d"):
    """Cohen's d, or h, of two samples."""
    return effects.pair_effects(np.stack([sums(x), sums(y)]), kind).item()


scores = st.lists(st.integers(1, 5), min_size=3, max_size=30).filter(lambda x: len(set(x)) > 1)


@given(scores, scores)
def test_d_is_that_of_pingouin(x, y):
    found = effect(x, y)
    assert found == pytest.approx(pingouin.compute_effsize(x, y, eftype="cohen"), abs=1e-12)


@given(st.integers(0, 20), st.integers(0, 20))
def test_h_is_that_of_statsmodels(i, j):
    marks = [np.repeat([1, 0], [k, 20 - k]) for k in (i, j)]
    found = effect(*marks, "h")
    assert found == pytest.approx(proportion_effectsize(i / 20, j / 20), abs=1e-12)


@pytest.mark.parametrize(("x", "y"), [([], [1, 2]), ([3], [4]), ([0.1] * 7, [0.3] * 9)])
def test_d_is_undefined_without_scores_or_spread(x, y):
    assert np.isnan(effect(x, y))


def test_pairs_come_in_order_and_missing_scores_do_not_count():
    cells = np.stack([sums(x) for x in ([1, 3, np.nan], [2, 4], [4, 6])])
    assert effects.pair_effects(cells, "d") == pytest.approx(np.array([-1, -3, -2]) / 2**0.5)


def test_group_differences_are_means_over_pairs_of_systems():
    values = np.array([[0.5, -0.5, 1.0], [0.5, 0.5, 0.0], [0.0, -0.5, 1.0]])
    assert effects.group_differences(values) == pytest.approx([2 / 3, 0.5 / 3, (0.5 + 1 + 1) / 3])


def test_a_comparison_is_a_score_of_either_system():
    rows = comparisons([("a", "b", 1), ("c", "a", 0), ("b", "c", -1)])
    found = effects.scored(rows).groupby("system")["score"]
    assert found.sum().to_dict() == {"a": 1, "b": 0, "c": 1}
    assert found.count().to_dict() == {"a": 1, "b": 2, "c": 1}


def naive(frame, systems, a, b):
    """Mean |effect| of two groups and their difference by plain loops."""
    by = {g: {s: list(x["score"]) for s, x in rows.groupby("system")} for g, rows in frame.groupby("group")}
    d = {g: [pingouin.compute_effsize(by[g][i], by[g][j]) for i, j in itertools.combinations(systems, 2)] for g in by}
    return np.mean(np.abs(d[a])), np.mean(np.abs(d[b])), np.mean(np.abs(np.subtract(d[a], d[b])))


def test_published_estimates_are_those_of_plain_loops():
    frame = study(np.random.default_rng(1))
    found = published(frame, seed=1, n_resamples=200)
    means, (difference,) = found["mean_absolute_effect"], found["group_difference"].to_dict("records")
    assert [*means["estimate"], difference["estimate"]] == pytest.approx(naive(frame, "abcd", "g1", "g2"))
    size, people = frame.groupby("group").size(), frame.groupby("group")["annotator"].nunique()
    assert [*means["n"], difference["n"]] == [size["g1"], size["g2"], size.sum()]
    assert [*means["n_annotators"], difference["n_annotators"]] == [people["g1"], people["g2"], people.sum()]


@pytest.mark.parametrize("kind", ["d", "h"])
def test_published_estimates_are_those_of_the_kernel(kind):
    frame = study(np.random.default_rng(2), groups=("g1", "g2", "g3"))
    frame = frame.assign(score=frame["score"] > 0) if kind == "h" else frame
    (one,) = effects.label_scores(frame)
    found = pd.concat(published(frame, n_resamples=100).values())
    assert set(found["effect"]) == {kind}
    kernel = effects.over_pairs(effects.unit_sums(one.scores, np.zeros(len(frame)), one.groups, one.systems)[1], kind)
    assert found["estimate"].to_numpy() == pytest.approx(kernel[0], abs=1e-9)


def test_published_interval_is_that_of_scipy():
    rng, means = np.random.default_rng(3), {"1a": 2, "1b": 3.4, "2a": 3, "2b": 3}
    values = {c: np.clip(np.rint(rng.normal(m, 1, 40)), 1, 5) for c, m in means.items()}
    parts = (ratings([(f"d{i}{c}", c[1], v) for i, v in enumerate(x)], group=c[0]) for c, x in values.items())
    frame = pd.concat(parts)

    def difference(a, b, c, d, axis):
        def effect(x, y):
            pooled = (x.var(ddof=1, axis=axis) + y.var(ddof=1, axis=axis)) / 2
            return (x.mean(axis=axis) - y.mean(axis=axis)) / np.sqrt(pooled)

        return np.abs(effect(a, b) - effect(c, d))

    reference = stats.bootstrap(
        tuple(values.values()), difference, vectorized=True, n_resamples=20_000, method="BCa", rng=generator(1, "scipy")
    ).confidence_interval
    found = published(frame, seed=1, n_resamples=20_000)["group_difference"].iloc[0]
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((reference.low, reference.high), abs=0.03)


def test_a_system_without_scores_in_a_group_leaves_a_reason():
    frame = study(np.random.default_rng(1))
    frame = frame[(frame["group"] == "g1") | (frame["system"] != "d")]
    found = published(frame, seed=1, n_resamples=200)
    assert np.isfinite(found["mean_absolute_effect"].set_index("group").loc["g1", "ci_low"])
    missing = found["group_difference"].iloc[0]
    assert np.isnan(missing["estimate"])
    assert missing["note"]


def test_a_comparison_seen_from_one_side_is_not_turned():
    rows = comparisons([("a", "b", 1), ("a", "b", 0)]).assign(one_side=True)
    found = effects.scored(rows)
    assert found["system"].tolist() == ["a", "a"]
    assert found["score"].tolist()[0] == 1
    assert np.isnan(found["score"].tolist()[1])


def without_one(frame):
    (one,) = effects.label_scores(frame)
    (row,) = effects.without_one_annotator(one)
    return row


def test_without_one_annotator_is_recomputing_without_the_rows():
    frame = study(np.random.default_rng(6))
    every = {
        who: published(frame[frame["annotator"] != who], seed=0, n_resamples=100)["group_difference"]["estimate"].item()
        for who in frame["annotator"].unique()
    }
    found, whole = without_one(frame), published(frame, seed=0, n_resamples=100)["group_difference"]["estimate"].item()
    assert len(every) == 8
    assert found["estimate"] == pytest.approx(whole)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((min(every.values()), max(every.values())))
    most = max(every, key=lambda who: abs(every[who] - whole))
    assert (found["ci_kind"], found["n_undefined"], found["note"]) == ("range", 0, f"largest change without {most}")


def test_without_the_only_annotator_there_is_no_value():
    found = without_one(study(np.random.default_rng(6), n_annotators=1))
    assert (found["ci_kind"], found["n_undefined"]) == ("not_estimable", 2)
    assert found["note"]
