"""The analyses of notebook 10 on a small crowd, each held against scipy or counting on the ratings themselves."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers import crowd_rows, quality, quality_control, replication, schema, worker_pairs
from helpers.resampling import generator

SYSTEMS = ["a", "b", "c", "d"]
BOOT = {"seed": 1, "n_resamples": 200, "confidence": 0.95}


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
    return quality_control.crowd(ratings, facts, control="qc", systems=SYSTEMS, families={"ab": ["a", "b"]})


@pytest.fixture(scope="module")
def resampled(crowd):
    return quality_control.resampled(crowd, **BOOT)


def means_of(rows, value):
    """(system) overall mean: the mean of the labels' means."""
    return rows.groupby(["system", "label"])[value].mean().groupby("system").mean()


def r_of(rows, value, systems=SYSTEMS):
    x, y = (means_of(rows[rows["corpus"] == run], value)[systems] for run in ("one", "two"))
    return stats.pearsonr(x, y)


def test_workers_are_sorted_by_the_rule_and_scores_standardised(crowd, ratings):
    p = rule(ratings)
    assert crowd.verdicts().to_dict() == (p < 0.05).to_dict()
    assert 0 < crowd.verdicts().sum() < 28
    assert crowd.verdicts("failed").to_dict() == (p >= 0.05).to_dict()
    both = {"w12", "w13"}
    assert crowd.verdicts("once").to_dict() == {k: bool(v < 0.05 and k[1] not in both) for k, v in p.items()}
    mine = (ratings["annotator"] == "w12") & (ratings["corpus"] == "two")
    assert crowd.scores.loc[mine.to_numpy(), "z"].to_numpy() == pytest.approx(
        stats.zscore(ratings.loc[mine, "score"], ddof=1)
    )
    assert (crowd.lists, crowd.shared, crowd.corpora) == (["released"], SYSTEMS, ["one", "two"])
    lists = quality_control.verdict_lists(crowd)
    assert list(lists) == [None, "released"]
    assert lists[None].to_dict() == (p < 0.05).to_dict()
    assert (lists[None] != lists["released"]).sum() == 1


def test_lists_agree_but_for_one_worker(crowd):
    found = quality_control.agreement_with_lists(crowd).set_index("corpus")
    assert found["estimate"].to_dict() == {"one": 13 / 14, "two": 1.0}
    assert found["note"].tolist() == ["1 differ", "0 differ"]


def test_means_of_each_set_are_those_of_its_ratings(crowd, ratings):
    found = schema.make_results(quality_control.means(crowd), study="s", notebook="10")
    failed = found[(found["statistic"] == "mean_raw") & (found["condition"] == "workers=failed")]
    ours = failed[(failed["corpus"] == "one") & (failed["label"] == "overall")].set_index("system")["estimate"]
    p = rule(ratings)
    out = ratings[[p[k] >= 0.05 for k in zip(ratings["corpus"], ratings["annotator"], strict=True)]]
    expected = means_of(out[out["corpus"] == "one"], "score")
    assert ours.to_dict() == pytest.approx(expected.to_dict())
    counts = found[(found["statistic"] == "qc_count") & (found["condition"] == "what=ratings;workers=failed")]
    assert counts["estimate"].sum() == len(out)


def test_resampled_rows_are_the_correlation_and_the_means(crowd, resampled):
    rows = schema.make_results(quality_control.replication_rows(crowd, resampled, 0.95), study="s", notebook="10")
    passed = crowd.scores[crowd.scores["passed"]]
    for interval in ("fisher", "workers"):
        keys = f"against=one;among=systems;interval={interval};scores=z;standardised=all;workers=passed"
        row = rows[(rows["condition"] == keys) & (rows["label"] == "overall") & (rows["statistic"] == "replication_r")]
        assert row["estimate"].item() == pytest.approx(r_of(passed, "z").statistic)
    fisher = rows[rows["condition"].str.contains("interval=fisher;scores=raw;workers=failed")]
    fisher = fisher[(fisher["label"] == "overall") & fisher["condition"].str.contains("among=systems")]
    ends = r_of(crowd.scores[crowd.scores["failed"]], "score").confidence_interval()
    assert (fisher["ci_low"].item(), fisher["ci_high"].item()) == pytest.approx((ends.low, ends.high))
    other = schema.make_results(quality_control.other_rows(resampled), study="s", notebook="10")
    mean = other[(other["statistic"] == "mean_z") & (other["label"] == "overall") & (other["corpus"] == "two")]
    expected = means_of(passed[passed["corpus"] == "two"], "z")[SYSTEMS]
    assert mean.set_index("system")["estimate"].to_dict() == pytest.approx(expected.to_dict())
    assert set(other["statistic"]) == {"mean_z", "mean_raw", "variant_contrast", "run_difference"}


def test_spread_is_that_of_the_means(crowd, resampled):
    found = quality_control.spread(resampled).set_index(["statistic", "corpus", "condition"])["estimate"]
    passed = crowd.scores[crowd.scores["passed"] & (crowd.scores["corpus"] == "one")]
    values = means_of(passed, "score")[SYSTEMS]
    assert found["spread", "one", "scores=raw;workers=passed"] == pytest.approx(values.std(ddof=1))
    # workers are alike, so that a mean over m of them has the standard error of their means
    own = passed.groupby(["annotator", "system"])["score"].mean().unstack()[SYSTEMS]  # noqa: PD010
    expected = np.sqrt((own.var(ddof=0) / len(own)).mean())
    assert found["standard_error", "one", "scores=raw;workers=passed"] == pytest.approx(expected, rel=0.15)


def test_random_sets_are_those_drawn(crowd, resampled):
    found = quality_control.random_rows(crowd, resampled, seed=3, confidence=0.9, n_draws=150)
    t = replication.tally(crowd.scores, "score", crowd.corpora, SYSTEMS)
    sizes = crowd.workers[crowd.workers["failed"]].groupby("corpus").size().to_dict()
    drawn = replication.random_subsets(t, sizes, rng=generator(3, "random workers", "failed", "raw"), n_draws=150)
    rows = found.set_index("condition")
    row = rows.loc["against=one;among=systems;interval=random sets;scores=raw;workers=random as failed"]
    assert row[["ci_low", "estimate", "ci_high"]].tolist() == pytest.approx(np.quantile(drawn, [0.05, 0.5, 0.95]))
    own = r_of(crowd.scores[crowd.scores["failed"]], "score").statistic
    assert rows.loc["against=one;scores=raw;workers=failed", "estimate"] == np.mean(drawn >= own)


def test_tests_between_systems_are_scipys_and_conclusions_are_counted(crowd, resampled):
    found = quality_control.tests(crowd)
    passed = {"scores": "z", "standardised": "all", "workers": "passed"}
    rows = found[[k == passed for k in found["keys"]]]
    assert len(rows) == 2 * 12
    dialogues = crowd.scores[crowd.scores["passed"]].groupby(["corpus", "system", "dialogue"])["z"].mean()
    for row in rows.itertuples():
        x, y = (dialogues[row.corpus, s] for s in (row.system, row.system_b))
        expected = stats.mannwhitneyu(x, y, alternative="greater", method="asymptotic").pvalue
        assert row.p_value == pytest.approx(expected)
        assert row.estimate == pytest.approx(stats.mannwhitneyu(x, y).statistic / (len(x) * len(y)))
    both = quality_control.concordance(crowd, found, resampled, [0.05]).set_index(["corpus", "condition"])["estimate"]
    keys = {"alpha": 0.05, "of": "significant", "test": "rank_sum", **passed}
    for run in crowd.corpora:
        significant = (rows["p_value"] < 0.05) & (rows["corpus"] == run)
        assert both[run, schema.condition(**keys)] == significant.sum()


def test_each_threshold_has_the_workers_below_it(crowd, ratings):
    p = rule(ratings)
    found = quality_control.thresholds(crowd, [0.05, 0.7]).set_index(["statistic", "corpus", "condition"])
    for value in (0.05, 0.7):
        chosen = crowd.scores[[p[k] < value for k in zip(ratings["corpus"], ratings["annotator"], strict=True)]]
        key = ("qc_count", "two", schema.condition(what="workers", threshold=value))
        assert found.loc[key, "estimate"].item() == chosen[chosen["corpus"] == "two"]["annotator"].nunique()
        r = found[found.index.get_level_values("statistic") == "replication_r"]
        r = r[r.index.get_level_values("condition").str.contains(f"threshold={value:g}")]
        r = r[r.index.get_level_values("condition").str.contains("among=systems")]
        assert r["estimate"].item() == pytest.approx(r_of(chosen, "z").statistic)
        ranks = found.loc[("threshold_rank", "one", schema.condition(scores="z", threshold=value))]
        expected = stats.rankdata(-means_of(chosen[chosen["corpus"] == "one"], "z")[SYSTEMS])
        assert ranks.set_index("system").loc[SYSTEMS, "estimate"].tolist() == expected.tolist()


def test_criteria_are_correlated_over_systems(crowd):
    found = quality_control.criteria(crowd)
    passed = crowd.scores[crowd.scores["passed"] & (crowd.scores["corpus"] == "one")]
    wide = passed.groupby(["system", "label"])["score"].mean().unstack().loc[SYSTEMS]  # noqa: PD010
    row = found[(found["label"] == "p") & (found["label_b"] == "q") & (found["corpus"] == "one")]
    row = row[row["condition"].str.contains("pearson") & row["condition"].str.contains("scores=raw")]
    assert row["estimate"].item() == pytest.approx(stats.pearsonr(wide["p"], wide["q"]).statistic)


def test_rows_of_worker_pairs_are_those_of_their_correlations(crowd):
    facts = crowd.scores.drop_duplicates(["corpus", "dialogue"])[["corpus", "dialogue", "work_unit"]]
    task = facts["work_unit"].str[-1]  # units that end in the same figure had the same task
    facts = facts.assign(key=crowd_rows.TASK, value=task, text=None)
    rows, every = crowd_rows.pairs(crowd, facts)
    means = quality.dialogue_means(crowd.scores, "score")
    tasks = facts.drop_duplicates("work_unit").set_index("work_unit")["value"]
    for control, here in (("with", means), ("without", means[means["system"] != "qc"])):
        for which, given in (("all", None), ("same task", tasks)):
            found = worker_pairs.pair_correlations(here, crowd.families, crowd.verdicts(), tasks=given)
            mine = every[(every["control"] == control) & (every["pairs"] == which)]
            assert mine["r"].tolist() == found["r"].tolist()
            assert len(found) > 5
            for (corpus, workers), part in found.groupby(["corpus", "workers"]):
                keys = schema.condition(control=control, of="median", pairs=which, workers=workers)
                row = rows[(rows["condition"] == keys) & (rows["corpus"] == corpus)]
                assert row["estimate"].item() == pytest.approx(part["r"].median())
