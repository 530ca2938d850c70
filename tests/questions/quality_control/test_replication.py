"""Replication of system scores, tests between systems and shared conclusions: scipy, naive loops, cases by hand."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers import replication as replications
from judgebook.questions.quality_control import replication, worker_tests
from judgebook.questions.quality_control.question import QualityControl
from judgebook.questions.quality_control.replication import OVERALL, pearson, points
from judgebook.statistics.intervals import generator

SYSTEMS = ["a", "a_p", "b", "b_p", "c"]
FAMILIES = {"A": ["a", "a_p"], "B": ["b", "b_p"], "C": ["c"]}


@pytest.fixture(scope="module")
def scores():
    """Two runs, 30 workers per run of whom 5 are in both; each rates some systems on two labels."""
    rng = np.random.default_rng(4)
    rows = []
    for run, people in (("one", range(30)), ("two", range(25, 55))):
        for who in people:
            for i, system in enumerate(rng.permutation(SYSTEMS)[:4]):
                for label in ("p", "q"):
                    rows.append((run, f"w{who}", system, f"{run}{who}{i}", label, rng.normal(SYSTEMS.index(system), 3)))
    out = pd.DataFrame(rows, columns=["corpus", "annotator", "system", "dialogue", "label", "z"])
    return out.assign(work_unit=out["corpus"] + out["annotator"])


@pytest.fixture(scope="module")
def t(scores):
    return replication.tally(scores, "z", ["one", "two"], SYSTEMS)


def test_runs_are_those_with_the_control_and_must_share_a_system(scores):
    rows = scores.rename(columns={"z": "score"}).assign(source_row=range(len(scores)))
    given = {"facts": pd.DataFrame(columns=["corpus", "dialogue", "key", "value"]), "systems": SYSTEMS[:-1]}
    first = rows[(rows["corpus"] == "one") | (rows["system"] != "c")]
    assert worker_tests.crowd(first, options=QualityControl(), control="c", **given).corpora == ["one"]
    apart = rows[(rows["corpus"] == "one") != rows["system"].isin(["b", "b_p"])]
    with pytest.raises(ValueError, match=r"runs: expected corpora of the study \(one, two\), found \['third'\]"):
        worker_tests.crowd(rows, options=QualityControl(runs=["third"]), control="c", **given)
    with pytest.raises(ValueError, match="expected corpora with a system in common, found"):
        worker_tests.crowd(apart, options=QualityControl(runs=["one", "two"]), control="c", **given)


def test_points_by_hand():
    found = points(SYSTEMS, FAMILIES)
    x = np.array([1.0, 5.0, 2.0, 3.0, 9.0])
    assert (found["systems"] @ x).tolist() == x.tolist()
    assert (found["families"] @ x).tolist() == [3, 2.5, 9]
    assert (found["variants"] @ x).tolist() == [4, 1]
    assert list(points(["a"], {})) == ["systems"]
    assert "variants" not in points(["a", "c"], FAMILIES)


def test_pearson_is_scipys_for_every_label():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 6, 4))
    found = pearson(x, y)
    assert found.tolist() == pytest.approx([stats.pearsonr(x[:, i], y[:, i]).statistic for i in range(4)])
    assert np.isnan(pearson(x[:2], y[:2])).all()
    x[:, 1], x[0, 2] = 7.1, np.nan
    assert np.isnan(pearson(x, y)).tolist() == [False, True, True, False]


def test_replication_is_the_correlation_of_printed_tables(scores, t):
    """r, architectures and contrasts from a table of means, as a reader would compute them."""
    found = replication.estimates(t, replication.correlations(t, FAMILIES))
    tables = {c: f.pivot_table(index="system", columns="label", values="z") for c, f in scores.groupby("corpus")}
    for table in tables.values():
        table[OVERALL] = table.mean(axis=1)
    ways = {"systems": lambda f: f, "families": lambda f: f.groupby(f.index.str[0]).mean()}
    for row in found.itertuples():
        if row.among in ways:
            x, y = (ways[row.among](tables[c])[row.label] for c in ("one", "two"))
            assert row.estimate == pytest.approx(stats.pearsonr(x, y).statistic)
            assert row.n == len(x)
    # two pairs give no correlation
    assert found.loc[found["among"] == "variants", "estimate"].isna().all()


def test_differences_are_those_of_means(scores, t):
    means = scores.groupby(["corpus", "system", "label"])["z"].mean()
    pairs = [("a_p", "a"), ("b_p", "b")]
    found = replication.estimates(t, replication.differences(t, "system_gap", pairs, overall=False))
    assert len(found) == 12
    for row in found[found["label"] != OVERALL].itertuples():
        expected = means[row.corpus, row.system, row.label] - means[row.corpus, row.system_b, row.label]
        assert row.estimate == pytest.approx(expected)


def test_people_are_resampled_as_a_naive_loop_does(scores, t):
    """Standard errors against a loop that draws people within those who took part in the same runs."""
    quantity = replication.levels(t, "mean_z", overall=True)
    found = replication.resampled(t, [quantity], rng=generator(1, "x"), n_resamples=4000)
    found["error"] = replication.replicates(t, [quantity], generator(1, "x"), 4000).values.std(axis=0, ddof=1)
    rng = np.random.default_rng(9)
    runs = scores.groupby("annotator")["corpus"].agg(lambda v: tuple(sorted(set(v))))
    places = [np.flatnonzero(runs == kind) for kind in runs.unique()]
    wide = scores.pivot_table(index="annotator", columns=["corpus", "system"], values="z", aggfunc=["sum", "count"])
    total, count = (wide[of].fillna(0).loc[runs.index] for of in ("sum", "count"))
    drawn = [np.concatenate([rng.choice(p, len(p)) for p in places]) for _ in range(4000)]
    means = [total.to_numpy()[d].sum(axis=0) / count.to_numpy()[d].sum(axis=0) for d in drawn]
    naive = pd.Series(np.std(means, axis=0, ddof=1), total.columns)
    for row in found.itertuples():
        assert row.error == pytest.approx(naive[row.corpus, row.system], rel=0.06)  # errors of 1.6% each
        assert row.ci_low < row.estimate < row.ci_high
    assert found["n_clusters"].unique().tolist() == [55]
    assert found["n_annotators"].unique().tolist() == [30]


def test_interval_of_r_is_the_stratified_jackknife_by_hand(t):
    """Workers left out one at a time, those of the same runs then counting more; Wolter 2007, section 4.5."""
    quantity = replication.correlations(t, {}, overall=True)
    found = replication.resampled(t, [quantity], rng=generator(1, "r"), n_resamples=50).iloc[0]
    part = t.count.sum(axis=(2, 3)) > 0
    kinds = np.unique(part, axis=0, return_inverse=True)[1].reshape(-1)
    variance = 0.0
    for kind in np.unique(kinds):
        z, members = [], np.flatnonzero(kinds == kind)
        for out in members:
            weight = np.where(kinds == kind, len(members) / (len(members) - 1), 1.0)
            weight[out] = 0
            means = replication.means_of(*(np.tensordot(weight, x, axes=1) for x in (t.total, t.count)))
            z.append(np.arctanh(pearson(means[0], means[1])[-1]))
        variance += (len(members) - 1) / len(members) * np.sum((z - np.mean(z)) ** 2)
    half = stats.t.ppf(0.975, len(kinds) - len(np.unique(kinds))) * np.sqrt(variance)
    expected = np.tanh(np.arctanh(found["estimate"]) + half * np.array([-1, 1]))
    assert [found["ci_low"], found["ci_high"]] == pytest.approx(expected.tolist())
    assert found["ci_kind"] == "jackknife_t"


def test_few_systems_have_no_interval_over_workers(t):
    chosen = slice(0, replication.LEAST_FOR_INTERVAL - 1)
    few = replace(t, systems=t.systems[chosen], total=t.total[:, :, chosen], count=t.count[:, :, chosen])
    quantity = replication.correlations(few, {}, overall=True)
    row = replication.resampled(few, [quantity], rng=generator(1, "r"), n_resamples=50).iloc[0]
    assert row["ci_kind"] == "not_estimable"
    assert "4 points" in row["note"]
    assert np.isnan(row["ci_low"])
    assert np.isfinite(row["estimate"])


def test_random_sets_of_all_workers_are_the_whole_and_small_ones_vary(t):
    full = replication.random_subsets(t, {"one": 30, "two": 30}, rng=generator(1, "all"), n_draws=5)
    m = t.means()
    assert full[:, 0].tolist() == pytest.approx([pearson(m[0], m[1])[-1]] * 5)
    few = replication.random_subsets(t, {"one": 12, "two": 12}, rng=generator(1, "few"), n_draws=200)
    assert np.nanstd(few) > 0.02


def test_gaps_are_tested_by_t_with_the_effective_number_of_workers():
    columns = {"estimate": [1.0, -2.0, 0.0], "jackknife_error": [1.0, 1, 0], "effective": [4.0, 21, 9]}
    found = replication.wald(pd.DataFrame(columns))
    assert found[:2].tolist() == pytest.approx(2 * stats.t.sf([1, 2], [3, 20]))
    assert np.isnan(found[2])


@pytest.mark.evidence
@pytest.mark.parametrize("loads", ["equal", "Zipf"])
def test_gaps_between_equal_systems_keep_the_level(loads):
    """Ten workers rate two systems, one of which varies twice as much; everybody has tastes."""
    n, p = 300, []
    share = np.full(10, 0.1) if loads == "equal" else 1 / np.arange(1, 11) / np.sum(1 / np.arange(1, 11))
    for i in range(n):
        r = np.random.default_rng([7, i])
        count = 1.0 + r.multinomial(40, np.repeat(share / 2, 2)).reshape(10, 2)
        total = count * r.normal(0, 0.5, (10, 2)) + np.sqrt(count) * [2, 1] * r.normal(size=(10, 2))
        t = replication.Tally(
            list("abcdefghij"), ["r"], ["x", "y"], ["l"], total[:, None, :, None], count[:, None, :, None]
        )
        gap = replication.differences(t, "system_gap", [("x", "y")], overall=False)
        p.append(replication.wald(replication.resampled(t, [gap], rng=r, n_resamples=20))[0])
    assert np.mean(np.array(p) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


def test_conclusions_are_counted_by_hand():
    """Of 6 pairs: ab and ac found in both, ad contradicts, bc in the first only, bd and cd open in both."""
    pairs, p, gaps = list(permutations("abcd", 2)), {}, []
    for run, won in (("run0", {"ab", "ac", "ad", "bc"}), ("run1", {"ab", "ac", "da"})):
        p[run] = [0.01 if x + y in won else 0.6 for x, y in pairs]
        sign = {x + y: (x + y in won) - (y + x in won) for x, y in combinations("abcd", 2)}
        gaps += [(run, *pair, s or 1, 0.01 if s else 0.6) for pair, s in sign.items()]
    found = replications.concordance(pd.DataFrame(p, index=pd.MultiIndex.from_tuples(pairs)), 0.05)
    got = {(row.corpus, row.of): row.estimate for row in found.itertuples()}
    assert got["run0", "significant"] == 4
    assert got["run1", "significant"] == 3
    assert got["run1", "identical"] == pytest.approx(4 / 6)
    assert got["run1", "contradiction"] == 1
    assert got["run1", "power_mismatch"] == 1
    # both orientations: of 12, 4 and 3 are +, as many -, the rest open
    chance = 2 * (4 / 12) * (3 / 12) + (4 / 12) * (6 / 12)
    assert got["run1", "chance"] == pytest.approx(chance)
    assert got["run1", "kappa"] == pytest.approx((4 / 6 - chance) / (1 - chance))
    gaps = pd.DataFrame(gaps, columns=["corpus", "system", "system_b", "estimate", "p_value"])
    kernel = list(replication.concordance(gaps, 0.05))
    ours = {key: value for key, value in got.items() if key[1] not in ("chance", "kappa")}
    assert {(row["corpus"], row["of"]): row["estimate"] for row in kernel} == pytest.approx(ours)
    assert {row["n"] for row in kernel} == {6}


def test_conclusions_of_two_sided_tests_follow_the_sign():
    gaps = pd.DataFrame({"corpus": "r", "system": ["a", "a"], "system_b": ["b", "c"], "estimate": [-1.0, 2.0]})
    found = replication.conclusions(gaps.assign(p_value=[0.01, 0.2], statistic="system_gap"), 0.05)["r"]
    assert found.to_dict() == {("a", "b"): -1, ("b", "a"): 1, ("a", "c"): 0, ("c", "a"): 0}
