"""The analyses of notebook 10 on a small crowd, each held against scipy or counting on the ratings themselves."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judgebook.questions.quality_control import analysis, gain, replication
from judgebook.questions.quality_control import crowd as crowds
from judgebook.questions.quality_control.question import QualityControl
from judgebook.statistics.intervals import Sampling, generator
from judgebook.study.results import collect, where

SYSTEMS = ["a", "b", "c", "d"]
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
    return crowds.crowd(ratings, facts, options, control="qc", systems=SYSTEMS)


@pytest.fixture(scope="module")
def resampled(crowd):
    return analysis.resampled(crowd, SAMPLING)


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


def test_means_of_each_set_are_those_of_its_ratings(crowd, ratings):
    found = collect(*analysis.means(crowd))
    failed = found.select("mean_raw", workers="failed", corpus="one", label="overall mean")
    p = rule(ratings)
    out = ratings[[p[k] >= 0.05 for k in zip(ratings["corpus"], ratings["annotator"], strict=True)]]
    expected = means_of(out[out["corpus"] == "one"], "score")
    assert failed.set_index("system")["estimate"].to_dict() == pytest.approx(expected.to_dict())
    assert found.select("qc_count", what="ratings", workers="failed")["estimate"].sum() == len(out)


def test_resampled_rows_are_the_correlation_and_the_means(crowd, resampled):
    found = collect(*analysis.with_intervals(resampled), *analysis.fisher_rows(crowd, 0.95))
    passed, keys = crowd.scores[crowd.scores["passed"]], {"among": "systems", "label": "overall mean", "list": None}
    for interval in ("fisher", "workers"):
        row = found.select("replication_r", interval=interval, scores="z", standardised="all", workers="passed", **keys)
        assert row["estimate"].item() == pytest.approx(r_of(passed, "z").statistic)
    fisher = found.select("replication_r", interval="fisher", scores="raw", workers="failed", **keys)
    ends = r_of(crowd.scores[crowd.scores["failed"]], "score").confidence_interval()
    assert (fisher["ci_low"].item(), fisher["ci_high"].item()) == pytest.approx((ends.low, ends.high))
    mean = found.select("mean_z", label="overall mean", corpus="two")
    expected = means_of(passed[passed["corpus"] == "two"], "z")[SYSTEMS]
    assert mean.set_index("system")["estimate"].to_dict() == pytest.approx(expected.to_dict())
    bias = found.select("replication_bias", workers="all", scores="raw", among="systems")["estimate"].item()
    assert bias == where(resampled, statistic="replication_r", workers="all", scores="raw")["bias"].iloc[0]


def test_random_sets_are_those_drawn(crowd):
    found = collect(*gain.gain(crowd, analysis.RAW_AND_Z, seed=3, confidence=0.9, n_draws=150))
    t = replication.tally(crowd.scores, "score", crowd.corpora, SYSTEMS)
    sizes = crowd.workers[crowd.workers["failed"]].groupby("corpus").size().to_dict()
    drawn = replication.random_subsets(t, sizes, rng=generator(3, "random workers", "failed", "raw"), n_draws=150)
    row = found.select("replication_r", scores="raw", workers="random as failed", interval="random sets").iloc[0]
    assert row[["ci_low", "estimate", "ci_high"]].tolist() == pytest.approx(np.quantile(drawn, [0.05, 0.5, 0.95]))
    own = {name: r_of(crowd.scores[crowd.scores[name]], "score").statistic for name in ("all", "passed", "failed")}
    share = found.select("replication_share", scores="raw", workers="failed").iloc[0]
    assert share["estimate"] == np.mean(drawn >= own["failed"])
    assert share["p_value"] == (np.sum(drawn >= own["failed"]) + 1) / 151
    point = found.select("replication_r", scores="raw", interval="point").set_index("workers")["estimate"]
    assert point.to_dict() == pytest.approx(own)
    gained = found.select("replication_gain", scores="raw").iloc[0]
    assert gained["estimate"] == pytest.approx(own["passed"] - own["all"])


def test_tests_between_systems_are_scipys_and_conclusions_are_counted(crowd, resampled):
    found = analysis.system_tests(crowd)
    rows = where(found, scores="z", standardised="all", workers="passed", list=None)
    assert len(rows) == 2 * 12
    dialogues = crowd.scores[crowd.scores["passed"]].groupby(["corpus", "system", "dialogue"])["z"].mean()
    for row in rows.itertuples():
        x, y = (dialogues[row.corpus, s] for s in (row.system, row.system_b))
        expected = stats.mannwhitneyu(x, y, alternative="greater", method="asymptotic").pvalue
        assert row.p_value == pytest.approx(expected)
        assert row.estimate == pytest.approx(stats.mannwhitneyu(x, y).statistic / (len(x) * len(y)))
    both = collect(analysis.concordances(found, resampled, [0.05]))
    both = both.select(
        "concordance", of="significant", test="rank_sum", workers="passed", standardised="all", list=None
    )
    for run in crowd.corpora:
        significant = (rows["p_value"] < 0.05) & (rows["corpus"] == run)
        assert where(both, corpus=run)["estimate"].item() == significant.sum()


def test_each_threshold_has_the_workers_below_it(crowd, ratings):
    p = rule(ratings)
    found = collect(*analysis.thresholds(crowd, [0.05, 0.7]))
    for value in (0.05, 0.7):
        chosen = crowd.scores[[p[k] < value for k in zip(ratings["corpus"], ratings["annotator"], strict=True)]]
        count = found.select("qc_count", what="workers", threshold=value, corpus="two")["estimate"].item()
        assert count == chosen[chosen["corpus"] == "two"]["annotator"].nunique()
        r = found.select("replication_r", threshold=value, among="systems")["estimate"].item()
        assert r == pytest.approx(r_of(chosen, "z").statistic)
