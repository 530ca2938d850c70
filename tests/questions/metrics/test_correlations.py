import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import metric_study, monte_carlo
from scipy import stats

from judgebook.questions.metrics import correlations, items
from judgebook.statistics.intervals import Sampling, expansion, generator
from judgebook.study.results import collect, fold, where


@pytest.fixture(scope="module")
def joined():
    annotations, scores = metric_study(np.random.default_rng(1), missing=0.05)
    return items.join(items.human_means(annotations), scores)


def pick(found, statistic="correlation", **keys):
    rows = where(found[statistic], **keys)
    assert len(rows) == 1
    return rows.iloc[0]


def spearman(joined, n_resamples=10_000):
    return collect(correlations.correlations(joined, sampling=Sampling(n_resamples, 0.95, 1)))


def test_human_means_by_hand():
    annotations, _ = metric_study(np.random.default_rng(2), n_contexts=2)
    llm = annotations.assign(annotator_kind="llm", score=99.0)
    found = items.human_means(pd.concat([annotations, llm]))
    assert len(found) == 16
    one = annotations[(annotations["dialogue"] == "d0012") & (annotations["label"] == "fluent")]["score"]
    row = found[(found["dialogue"] == "d0012") & (found["label"] == "fluent")].iloc[0]
    assert (row["human"], row["n_ratings"], row["system"]) == (one.mean(), 3, "s2")


def test_join_matches_dialogues_without_turns_and_keeps_what_has_no_score():
    annotations, scores = metric_study(np.random.default_rng(2), n_contexts=2)
    human = items.human_means(annotations.assign(turn=pd.array([pd.NA] * len(annotations), dtype="Int32")))
    scores = scores.assign(turn=pd.array([pd.NA] * len(scores), dtype="Int32"))
    found = items.join(human, scores.iloc[1:])
    assert len(found) == 32
    assert found["value"].isna().sum() == 2  # one item of metric m, for two labels


def test_join_says_what_is_wrong():
    annotations, scores = metric_study(np.random.default_rng(2), n_contexts=2)
    human = items.human_means(annotations)
    with pytest.raises(ValueError, match="1 items have two scores of one metric"):
        items.join(human, pd.concat([scores, scores.iloc[:1]]))
    with pytest.raises(ValueError, match="no item has both a rating and a metric score"):
        items.join(human, scores.assign(dialogue="x" + scores["dialogue"]))


def test_estimates_are_those_of_scipy(joined):
    found = spearman(joined, n_resamples=200)
    expected = {}
    for (label, metric), rows in joined.groupby(["label", "metric"]):
        rows = rows.dropna(subset="value")
        expected[label, metric] = stats.spearmanr(rows["value"], rows["human"]).statistic
        row = pick(found, label=label, metric=metric)
        assert row["estimate"] == pytest.approx(expected[label, metric])
        assert row["n"] == len(rows)
        assert row["ci_low"] < row["estimate"] < row["ci_high"]
    mean = pick(found, "mean_correlation", metric="m")
    assert mean["estimate"] == pytest.approx((expected["quality", "m"] + expected["fluent", "m"]) / 2)
    assert len(fold(found, study="x", notebook="09")) == 6


def test_interval_is_that_of_scipy_over_contexts():
    annotations, scores = metric_study(np.random.default_rng(3))
    joined = items.join(items.human_means(annotations), scores)
    one = joined[(joined["label"] == "quality") & (joined["metric"] == "m")]
    wide = [part[["value", "human"]].to_numpy() for _, part in one.groupby("context")]

    def statistic(index):
        x = np.concatenate([wide[i] for i in index])
        return stats.spearmanr(x[:, 0], x[:, 1]).statistic

    reference = stats.bootstrap(
        (np.arange(len(wide)),), statistic, vectorized=False, n_resamples=1_500, method="BCa", rng=generator(1, "scipy")
    ).confidence_interval
    row = pick(spearman(one))
    assert (row["ci_kind"], row["resample_unit"], row["n_clusters"]) == ("bca", "context", 40)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((reference.low, reference.high), abs=0.025)


def test_items_without_context_are_resampled_by_dialogue(joined):
    found = spearman(joined.assign(context=None), n_resamples=200)["correlation"]
    assert set(found["resample_unit"]) == {"dialogue"}
    assert set(found["n_clusters"]) == {160}
    two_turns = joined.assign(context=None, turn=joined["dialogue"].str[-1].astype(int) % 2)
    two_turns["dialogue"] = two_turns["dialogue"].str[:-1] + (joined["dialogue"].str[-1] < "2").map(str)
    found = spearman(two_turns, n_resamples=200)["correlation"]
    assert set(found["n_clusters"]) == {80}


def test_a_constant_label_or_metric_has_a_reason(joined):
    constant = joined.assign(human=joined["human"].where(joined["label"] == "quality", 3.0))
    constant["value"] = constant["value"].where(constant["metric"] == "m", 0.5)
    found = spearman(constant, n_resamples=200)
    assert pick(found, label="fluent", metric="m")["note"] == "one of the two sides is constant"
    assert pick(found, "mean_correlation", metric="m")["note"] == "undefined for 1 of 2 labels"
    assert np.isfinite(pick(found, label="quality", metric="m")["ci_low"])
    for rows in found.values():
        assert rows.loc[rows["metric"] == "n", "estimate"].isna().all()
        assert rows.loc[rows["estimate"].isna(), "note"].notna().all()


def test_a_metric_that_is_the_mean_itself_has_a_reason(joined):
    row = pick(spearman(joined.assign(value=joined["human"]), n_resamples=200), label="quality", metric="m")
    assert (row["estimate"], row["ci_kind"], row["note"]) == (
        pytest.approx(1),
        "not_estimable",
        "every resample gives the same value",
    )


@pytest.mark.parametrize(("n", "kind"), [(7, "not_estimable"), (8, "bca")])
def test_few_systems_have_no_interval(n, kind):
    annotations, scores = metric_study(np.random.default_rng(4), n_contexts=25, n_systems=n)
    joined = items.join(items.human_means(annotations), scores)
    joined["human"] += joined["system"].str[1:].astype(int) / 3
    found = collect(correlations.system_level(joined, "pearson", sampling=Sampling(500, 0.95, 1)))
    means = (
        joined[(joined["label"] == "quality") & (joined["metric"] == "m")].groupby("system")[["value", "human"]].mean()
    )
    row = pick(found, label="quality", metric="m")
    assert row["estimate"] == pytest.approx(stats.pearsonr(means["value"], means["human"]).statistic)
    assert (row["level"], row["ci_kind"], row["n"]) == ("system", kind, n)
    for one in (row, pick(found, "mean_correlation", metric="m")):
        assert np.isnan(one["ci_low"]) == (n < 8)
    assert ("fewer than 8: no interval and no p-value" in str(row["note"])) == (n < 8)


def test_the_mean_over_labels_is_that_of_systems_resampled_jointly():
    annotations, scores = metric_study(np.random.default_rng(5), n_contexts=25, n_systems=24)
    joined = items.join(items.human_means(annotations), scores)
    joined["human"] += joined["system"].str[1:].astype(int) / 3
    found = collect(correlations.system_level(joined, "pearson", sampling=Sampling(4000, 0.95, 1)))
    each = found.select("correlation", metric="m")
    mean = pick(found, "mean_correlation", metric="m")
    assert mean["estimate"] == pytest.approx(each["estimate"].mean(), abs=1e-12)
    assert (mean["level"], mean["resample_unit"], mean["n"]) == ("system", "system", each["label"].nunique())
    wide = joined[joined["metric"] == "m"].groupby(["system", "label"])[["value", "human"]].mean()
    wide = wide.unstack("label")  # noqa: PD010 (pivot_table would average once more)

    def statistic(index, axis):
        z = stats.zscore(wide.to_numpy()[index], axis=-2)
        k = z.shape[-1] // 2
        return (z[..., :k] * z[..., k:]).mean(axis=(-2, -1))

    level = expansion(0.95, 24)  # ours are wider, as for any few clusters
    by_scipy = stats.bootstrap((np.arange(24),), statistic, n_resamples=4000, method="BCa", vectorized=True,
                               confidence_level=level, rng=np.random.default_rng(3)).confidence_interval  # fmt: skip
    assert (mean["ci_low"], mean["ci_high"]) == pytest.approx((by_scipy.low, by_scipy.high), abs=0.03)


def test_a_metric_of_turns_is_left_out_of_dialogues():
    annotations, scores = metric_study(np.random.default_rng(2), n_contexts=3)
    dialogues = annotations.assign(turn=pd.array([pd.NA] * len(annotations), dtype="Int32"), method="dialogue_rating")
    human = items.human_means(pd.concat([annotations, dialogues]))
    assert set(items.join(human, scores)["method"]) == {"turn_rating"}


@pytest.mark.evidence
def test_context_intervals_cover_where_item_intervals_do_not():
    n, covered = 250, {"context": [], "item": []}
    for i in range(n):
        rng = np.random.default_rng([7, i])
        base, own = rng.normal(size=(60, 1, 2)), rng.normal(size=(60, 4, 2))
        both = (0.7**0.5 * base + 0.3**0.5 * own) @ np.linalg.cholesky([[1, 0.5], [0.5, 1]]).T
        x, y = both.reshape(-1, 2).T[:, :, None]
        for unit, size in (("context", 4), ("item", 1)):
            arrays = x, y, np.arange(240) // size
            one = items.ScoredItems("main", "dialogue_rating", ["m"], ["quality"], *arrays, "context")
            rng = generator(i, "correlation", "spearman", "context", one.corpus, one.method)
            found = correlations.intervals_of(one, "spearman", rng, n_resamples=600, confidence=0.95)[0][0]
            covered[unit].append(found.low < 6 / np.pi * np.arcsin(0.25) < found.high)  # rho of a normal r = .5
    assert np.mean(covered["context"]) > 0.95 - monte_carlo(0.95, n) - 0.01
    assert np.mean(covered["item"]) < 0.87


def test_over_very_many_clusters_intervals_are_those_of_the_bootstrap(joined, monkeypatch):
    resampled = spearman(joined, n_resamples=1_000)
    monkeypatch.setattr(correlations, "MANY_CLUSTERS", 3)
    robust = spearman(joined)
    for statistic in ("correlation", "mean_correlation"):
        a, b = resampled[statistic], robust[statistic]
        assert b["estimate"].to_numpy() == pytest.approx(a["estimate"].to_numpy())
        assert set(b["ci_kind"]) == {"cluster_robust"}
        widths = [(f["ci_high"] - f["ci_low"]).mean() for f in (a, b)]
        assert widths[1] == pytest.approx(widths[0], rel=0.1)
