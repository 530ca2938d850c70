"""The analyses of notebook 10 on a small crowd, each held against scipy or counting on the ratings themselves."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.notebook_cells import as_published
from scipy import stats

from judgebook.questions.quality_control import analysis, replication, worker_tests
from judgebook.questions.quality_control.question import QualityControl
from judgebook.questions.quality_control.worker_tests import WORKER, dialogue_means, rank_sum
from judgebook.statistics.intervals import Sampling, generator
from judgebook.study.labels import Label
from judgebook.study.results import collect, where

SYSTEMS = ["a", "b", "c", "d"]
FACTS = pd.DataFrame(columns=["corpus", "dialogue", "key", "value"])
SAMPLING = Sampling(n_resamples=200, confidence=0.95, seed=1)


@pytest.fixture(scope="module")
def ratings():
    """Two runs of 14 workers, two of them in both, four of each run careless; every worker rates all and the control.

    The list `released_pass` differs from the rule for one worker of the first run.
    """
    rng, rows = np.random.default_rng(6), []
    for run, people in (("one", range(14)), ("two", range(12, 26))):
        for i, who in enumerate(people):
            for system in [*SYSTEMS, "qc"]:
                mean = 10 if system == "qc" else 80 - 8 * SYSTEMS.index(system)
                for label in ("p", "q"):
                    score = rng.normal(mean if i >= 4 else 50, 12)
                    rows.append((run, f"w{who}", f"{run}{who}", system, f"{run}{who}{system}", label, score))
    columns = ["corpus", "annotator", "work_unit", "system", "dialogue", "label", "score"]
    return pd.DataFrame(rows, columns=columns).assign(source_row=range(len(rows)))


def rule(ratings):
    """Whether each worker of a run rates the control lower, one-sided Mann-Whitney below .05."""
    out = {}
    for key, part in ratings.groupby(["corpus", "annotator"]):
        control = part["system"] == "qc"
        low, high = part.loc[control, "score"], part.loc[~control, "score"]
        out[key] = stats.mannwhitneyu(low, high, alternative="less", method="asymptotic").pvalue
    return pd.Series(out)


@pytest.fixture(scope="module")
def crowd(ratings):
    first = ratings.drop_duplicates(["corpus", "annotator"])
    verdict = (
        (rule(ratings) < 0.05).reindex(pd.MultiIndex.from_frame(first[["corpus", "annotator"]])).to_numpy(copy=True)
    )
    verdict[0] = ~verdict[0]
    facts = first[["corpus", "dialogue"]].assign(key="released_pass", value=np.where(verdict, "yes", "no"))
    options = QualityControl(families={"ab": ["a", "b"]})
    return worker_tests.crowd(ratings, facts, options, control="qc", systems=SYSTEMS)


def means_of(rows, value):
    """(system) overall mean: the mean of the labels' means."""
    return rows.groupby(["system", "label"])[value].mean().groupby("system").mean()


def r_of(rows, value, systems=SYSTEMS):
    x, y = (means_of(rows[rows["corpus"] == run], value)[systems] for run in ("one", "two"))
    return stats.pearsonr(x, y)


def verdicts(crowd, column):
    return crowd.workers.set_index(["corpus", "annotator"])[column].to_dict()


def test_workers_are_sorted_by_the_rule_and_scores_standardised(crowd, ratings):
    p = rule(ratings)
    assert verdicts(crowd, "passed") == (p < 0.05).to_dict()
    assert 0 < crowd.workers["passed"].sum() < 28
    assert verdicts(crowd, "failed") == (p >= 0.05).to_dict()
    both = {"w12", "w13"}
    assert verdicts(crowd, "once") == {k: bool(v < 0.05 and k[1] not in both) for k, v in p.items()}
    mine = (ratings["annotator"] == "w12") & (ratings["corpus"] == "two")
    assert crowd.scores.loc[mine.to_numpy(), "z"].to_numpy() == pytest.approx(
        stats.zscore(ratings.loc[mine, "score"], ddof=1)
    )
    assert (crowd.lists, crowd.shared, crowd.corpora) == (["released"], SYSTEMS, ["one", "two"])


def published(people, judged, labels, study, changed=None):
    """What the cells of the notebook compute."""
    titles = dict.fromkeys(["overall mean", *(label.id for label in labels)], "Title")
    names = SimpleNamespace(titles={"system": {}})
    figures = dict.fromkeys(("p_values", "matrices", "conclusions"), lambda *told: None)
    given = {"people": people, "judged": judged, "labels": labels, "study": study, "titles": titles, "names": names}
    return as_published("10_quality_control", changed, sampling=SAMPLING, **given, **figures).saved


@pytest.fixture(scope="module")
def told(crowd, ratings):
    """Arguments of `published`. Scores of q are given the other way round."""
    scores = ratings["score"].where(ratings["label"] == "p", 100 - ratings["score"])
    labels = [Label(name, "continuous", name, (0, 100), "interval", direction=d) for name, d in (("p", 1), ("q", -1))]
    study = SimpleNamespace(quality_control=crowd.options, control_system="qc")
    return crowd, ratings.assign(score=scores, method="continuous"), labels, study


@pytest.fixture(scope="module")
def found(told):
    return published(*told)


def same_as_kernels(found, crowd):
    """Means, r and tests of the cells are those of the library, for every set of workers."""
    for scores, value in analysis.RAW_AND_Z.items():
        over = {"standardised": "all"} if scores == "z" else {"standardised": None}
        for name, keys in crowd.selections.items():
            keys = {"list": None, "scores": scores} | over | keys
            t = replication.tally(crowd.scores[crowd.scores[name]], value, crowd.corpora, crowd.shared)
            r = replication.estimates(t, replication.correlations(t, crowd.options.families))
            ours = found.select("replication_r", interval="fisher", **keys).set_index(["corpus", "among", "label"])
            kernel = r.set_index(["corpus", "among", "label"])["estimate"]
            assert len(ours) == len(kernel)
            np.testing.assert_allclose(ours["estimate"].reindex(kernel.index).astype(float), kernel, atol=1e-9)
            del keys["scores"]
            keys = keys if scores == "z" else {k: v for k, v in keys.items() if k != "standardised"}
            means = found.select(f"mean_{scores}", interval=None, label="overall mean", **keys)
            means = means.pivot_table("estimate", "corpus", "system").loc[t.corpora, t.systems]
            np.testing.assert_allclose(means, t.means()[..., -1], atol=1e-9)
    dialogues = dialogue_means(crowd.scores[crowd.scores["passed"]], "z")
    tests = found.select("system_test", standardised="all", workers="passed", list=None).iloc[::7]
    for row in tests.itertuples():
        pair = dialogues[(dialogues["corpus"] == row.corpus) & dialogues["system"].isin([row.system, row.system_b])]
        lower = (pair["system"] == row.system_b).to_numpy()
        kernel = rank_sum(np.zeros(len(pair), dtype=int), lower, pair["value"].to_numpy()).iloc[0]
        assert (row.p_value, row.estimate) == pytest.approx((kernel["p_less"], 1 - kernel["superiority"]), abs=1e-9)


def test_cells_compute_what_the_kernels_do(found, crowd):
    same_as_kernels(found, crowd)


def test_cells_compute_what_scipy_and_pandas_do(found, crowd, ratings):
    p, key = rule(ratings), pd.MultiIndex.from_frame(ratings[["corpus", "annotator"]])
    failed = ratings[(p >= 0.05).reindex(key).to_numpy()]
    rows = found.select("mean_raw", workers="failed", corpus="one", label="overall mean").set_index("system")[
        "estimate"
    ]
    assert rows.to_dict() == pytest.approx(
        failed[failed["corpus"] == "one"]
        .groupby(["system", "label"])["score"]
        .mean()
        .groupby("system")
        .mean()
        .to_dict()
    )
    assert found.select("qc_count", workers="failed")["estimate"].sum() == len(failed)
    keys = {"among": "systems", "label": "overall mean", "list": None}
    r = found.select("replication_r", scores="raw", workers="failed", **keys)
    ends = r_of(failed, "score").confidence_interval()
    assert (r["ci_low"].item(), r["ci_high"].item()) == pytest.approx((ends.low, ends.high))
    # every worker met the family of a and b twice; the released scores are standardised without a
    last = crowd.scores["score"].where(crowd.scores["system"] != "a").groupby([crowd.scores[c] for c in WORKER])
    scores = crowd.scores.assign(z=(crowd.scores["score"] - last.transform("mean")) / last.transform("std"))
    r = found.select("replication_r", standardised="last", workers="all", **keys)["estimate"].item()
    assert r == pytest.approx(r_of(scores, "z").statistic)
    tests = found.select("system_test", standardised="all", workers="all")
    counts = found.select("concordance", of="significant", workers="all", standardised="all", alpha=0.05)
    for run, count in zip(counts["corpus"], counts["estimate"], strict=True):
        assert count == ((tests["p_value"] < 0.05) & (tests["corpus"] == run)).sum()
    wide = means_of_labels(ratings, rule(ratings) < 0.05)
    labels = found.select("criteria_correlation", scores="raw", corpus="one", label="p", label_b="q")
    expected = {"pearson": stats.pearsonr(*wide.T).statistic, "spearman": stats.spearmanr(*wide.T).statistic}
    assert labels.set_index("coefficient")["estimate"].to_dict() == pytest.approx(expected)


def means_of_labels(ratings, passed):
    rows = ratings[passed.reindex(pd.MultiIndex.from_frame(ratings[["corpus", "annotator"]])).to_numpy()]
    rows = rows[(rows["corpus"] == "one") & (rows["system"] != "qc")]
    return rows.pivot_table("score", "system", "label").to_numpy()


def test_another_selection_or_score_changes_what_follows(told, found):
    everybody = published(*told, ("ALPHA = options.alpha", "ALPHA = 2"))
    for statistic in ("mean_z", "replication_r", "system_test"):
        key = {"list": None, "standardised": "all"}
        passed, before = (f.select(statistic, workers="passed", **key)["estimate"] for f in (everybody, found))
        assert passed.tolist() == pytest.approx(
            everybody.select(statistic, workers="all", **key)["estimate"].tolist(), nan_ok=True
        )
        assert passed.tolist() != before.tolist()
    mann_whitney = 'stats.mannwhitneyu(x, y, alternative="greater", method="asymptotic")'
    welch = published(*told, (mann_whitney, 'stats.ttest_ind(x, y, equal_var=False, alternative="greater")'))
    before, after = (f["system_test"] for f in (found, welch))
    assert after["estimate"].tolist() == before["estimate"].tolist()
    assert (after["p_value"] != before["p_value"]).all()
    centred = published(*told, (" / sd.where(sd > 0)", ""))
    assert centred.select("mean_z", workers="all")["estimate"].abs().max() > 5


def test_runs_that_share_too_little_have_no_r(told):
    crowd, judged, labels, study = told
    one = replace(crowd, corpora=["one"], scores=crowd.scores[crowd.scores["corpus"] == "one"])
    only = published(one, judged[judged["corpus"] == "one"], labels, study)
    assert only["replication_r"].empty
    assert len(only["mean_z"])


def test_ratings_that_never_vary_have_no_standard_scores(told):
    crowd, judged, labels, study = told
    same = worker_tests.crowd(
        crowd.scores[judged.columns.drop("method")].assign(score=50.0),
        FACTS,
        crowd.options,
        control="qc",
        systems=SYSTEMS,
    )
    results = collect(*replication.gain(same, analysis.RAW_AND_Z, seed=1, confidence=0.95, n_draws=5))
    assert results.select("replication_r", interval="point", scores="z").empty
    found = published(same, judged.assign(score=50.0), labels, study)
    assert (len(found["mean_z"]), len(found["system_test"])) == (0, 0)
    assert found["replication_r"]["estimate"].isna().all()


def test_resampled_rows_are_the_correlation_and_the_means(crowd):
    rows = analysis.resampled(crowd, SAMPLING)
    passed, same = crowd.scores[crowd.scores["passed"]], {"label": "overall mean", "scores": "z", "workers": "passed"}
    r = where(rows, statistic="replication_r", among="systems", **same)
    assert r["estimate"].item() == pytest.approx(r_of(passed, "z").statistic)
    mean = where(rows, statistic="mean_z", corpus="two", **same).set_index("system")["estimate"]
    assert mean.to_dict() == pytest.approx(means_of(passed[passed["corpus"] == "two"], "z")[SYSTEMS].to_dict())


def test_random_sets_are_those_drawn(crowd):
    found = collect(*replication.gain(crowd, analysis.RAW_AND_Z, seed=3, confidence=0.9, n_draws=150))
    t = replication.tally(crowd.scores, "score", crowd.corpora, SYSTEMS)
    sizes = crowd.workers[crowd.workers["passed"]].groupby("corpus").size().to_dict()
    drawn = replication.random_subsets(t, sizes, rng=generator(3, "random workers", "passed", "raw"), n_draws=150)
    row = found.select("replication_r", scores="raw", workers="random as passed", interval="random sets").iloc[0]
    assert row[["ci_low", "estimate", "ci_high"]].tolist() == pytest.approx(np.quantile(drawn, [0.05, 0.5, 0.95]))
    own = {name: r_of(crowd.scores[crowd.scores[name]], "score").statistic for name in ("all", "passed")}
    share = found.select("replication_share", scores="raw", workers="passed").iloc[0]
    assert share["estimate"] == np.mean(drawn >= own["passed"])
    assert share["p_value"] == (np.sum(drawn >= own["passed"]) + 1) / 151
    point = found.select("replication_r", scores="raw", interval="point").set_index("workers")["estimate"]
    assert point.to_dict() == pytest.approx(own)
    gained = found.select("replication_gain", scores="raw").iloc[0]
    assert gained["estimate"] == pytest.approx(own["passed"] - own["all"])


def test_each_threshold_has_the_workers_below_it(crowd, ratings):
    p = rule(ratings)
    found = collect(*analysis.thresholds(crowd, [0.05, 0.7]))
    for value in (0.05, 0.7):
        chosen = crowd.scores[[p[k] < value for k in zip(ratings["corpus"], ratings["annotator"], strict=True)]]
        count = found.select("qc_count", what="workers", threshold=value, corpus="two")["estimate"].item()
        assert count == chosen[chosen["corpus"] == "two"]["annotator"].nunique()
        r = found.select("replication_r", threshold=value, among="systems")["estimate"].item()
        assert r == pytest.approx(r_of(chosen, "z").statistic)
