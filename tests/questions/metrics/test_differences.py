import itertools

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import metric_study, monte_carlo
from scipy import stats
from statsmodels.stats.multitest import multipletests

from judgebook.questions.metrics import differences, items
from judgebook.study.results import collect


@pytest.fixture(scope="module")
def joined():
    annotations, scores = metric_study(np.random.default_rng(1), missing=0.05)
    return items.join(items.human_means(annotations), scores)


def compared(joined, **options):
    return collect(differences.differences(joined, seed=1, **options))


def permuted(x, y, human, clusters, rng, **options):
    """Test of two metrics by one label."""
    both = np.stack([x, y], axis=1)
    one = items.ScoredItems("main", "turn_rating", ["x", "y"], ["l"], both, human[:, None], clusters, "context")
    pairs = [(0, 1)]
    return differences.permute(one, 0, pairs, differences.compare(one, 0, pairs), rng=rng, **options)


def test_permutations_are_those_written_out():
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(6), [3, 2, 1, 4, 2, 3])
    human = np.rint(3 + rng.normal(size=15))
    x, y = human + rng.normal(size=15), 5 + 10 * rng.normal(size=15)
    found = permuted(x, y, human, clusters, rng)
    a, b, h = map(stats.rankdata, (x, y, human))
    values = []
    for swaps in itertools.product([False, True], repeat=6):
        w = np.array(swaps)[clusters]
        values.append(np.corrcoef(np.where(w, b, a), h)[0, 1] - np.corrcoef(np.where(w, a, b), h)[0, 1])
    assert found.exact
    assert np.sort(found.null[:, 0]) == pytest.approx(np.sort(values))
    assert found.observed == pytest.approx(stats.spearmanr(x, human).statistic - stats.spearmanr(y, human).statistic)
    assert found.p_value == pytest.approx(np.mean(np.abs(values) >= abs(values[0]) - 1e-9))


def made_items(rng, sizes, coarse=False):
    """Items in contexts of these sizes; two metrics equally close to people, the second with two values if coarse."""
    context = np.repeat(np.arange(len(sizes)), sizes)
    quality, error = (0.5**0.5 * (rng.normal(size=len(sizes))[context] + rng.normal(size=len(context))) for _ in "qe")
    human = np.clip(np.rint(3 + 1.2 * quality + 0.6 * rng.normal(size=len(context))), 1, 5)
    noise = rng.normal(size=len(context))
    x = 0.6 * quality + 0.8 * error
    y = (0.906 * quality + 0.423 * noise > 1) if coarse else 0.6 * quality + 0.8 * noise  # both rho .506 with human
    both = np.stack([x, y.astype(float)], axis=1)
    return items.ScoredItems("main", "turn_rating", ["x", "y"], ["l"], both, human[:, None], context, "context")


def both_p(one, **options):
    """p by swapping, and by t."""
    compared = differences.compare(one, 0, [(0, 1)])
    t = differences.clustered_t(
        np.array([compared[0].r[0] - compared[0].r[1]]), *differences.contributions(one, 0, [(0, 1)], compared)
    )
    return differences.permute(one, 0, [(0, 1)], compared, **options).p_value[0], t[0]


def test_the_clustered_t_is_that_of_leaving_out_contexts():
    one = made_items(np.random.default_rng(4), [3, 5, 2, 9, 4, 6] * 6)
    p = both_p(one, rng=np.random.default_rng(1), n_permutations=99)[1]

    def difference(kept):
        r = [stats.spearmanr(one.x[kept, m], one.y[kept, 0]).statistic for m in (0, 1)]
        return r[0] - r[1]

    clusters = one.clusters
    without = np.array([difference(clusters != c) for c in range(36)])
    error = np.sqrt(35 / 36 * np.sum((without - without.mean()) ** 2))
    share = np.bincount(clusters) / len(clusters)
    whole = difference(clusters >= 0)
    expected = 2 * stats.t.sf(abs(whole) / error, 1 / np.sum(share**2) - 1)
    assert stats.norm.isf(p / 2) == pytest.approx(stats.norm.isf(expected / 2), rel=0.03)


@pytest.mark.evidence
def test_two_metrics_that_are_not_exchangeable_keep_the_level():
    """120 contexts of unequal size; the second metric has two values. Swapping alone rejects too often."""
    n, p = 1000, []
    sizes = np.maximum(1, np.round(480 / np.arange(1, 121) / np.sum(1 / np.arange(1, 121)))).astype(int)
    for i in range(n):
        rng = np.random.default_rng([12, i])
        p.append(both_p(made_items(rng, sizes, coarse=True), rng=rng, n_permutations=199))
    swapped, t = np.array(p).T
    assert np.mean(swapped <= 0.05) > 0.065
    assert np.mean(np.fmax(swapped, t) <= 0.05) < 0.05 + monte_carlo(0.05, n)


def test_metrics_are_compared_on_common_items(joined):
    results = compared(joined[joined["label"] == "quality"], n_permutations=500)
    (found,) = results.select("correlation_difference", label="quality").to_dict("records")
    wide = joined[joined["label"] == "quality"].pivot_table(index="dialogue", columns="metric", values="value").dropna()
    human = joined[joined["label"] == "quality"].drop_duplicates("dialogue").set_index("dialogue")["human"][wide.index]
    expected = stats.spearmanr(wide["m"], human).statistic - stats.spearmanr(wide["n"], human).statistic
    assert found["estimate"] == pytest.approx(expected)
    assert (found["metric"], found["against"], found["n"], found["n_clusters"]) == ("m", "n", len(wide), 40)
    assert found["p_value"] < 0.01


def test_a_constant_metric_has_a_reason(joined):
    constant = joined.assign(value=joined["value"].where(joined["metric"] == "m", 1.0))
    for rows, note in (
        (constant, "undefined for a label"),
        (constant[constant["label"] == "quality"], "one of the two"),
    ):
        (found,) = compared(rows)["correlation_difference"].to_dict("records")
        assert np.isnan(found["p_value"])
        assert found["note"].startswith(note)


def test_the_mean_over_labels_has_a_test_of_its_own(joined):
    found = compared(joined, n_permutations=500)
    (mean,) = found.select("correlation_difference", over="label").to_dict("records")
    each = [compared(rows, n_permutations=500)["correlation_difference"] for _, rows in joined.groupby("label")]
    assert mean["estimate"] == pytest.approx(pd.concat(each)["estimate"].mean())
    assert (mean["n"], mean["resample_unit"]) == (2, "context")
    assert mean["p_value"] < 0.01
    assert compared(joined[joined["metric"] == "m"].assign(metric="a")) == {}


def test_pairs_are_adjusted_together_and_do_not_depend_on_each_other(joined):
    third = joined[joined["metric"] == "m"].assign(metric="o", value=lambda f: f["value"].round(0))
    both = compared(pd.concat([joined, third]), n_permutations=400)
    alone = compared(joined, n_permutations=400)["correlation_difference"]
    pair = both["correlation_difference"].merge(alone, on=["metric", "against", "over"], suffixes=("", "_alone"))
    assert len(pair) == len(alone)
    assert pair["p_value"].to_numpy() == pytest.approx(pair["p_value_alone"].to_numpy())
    rows = both["correlation_difference"]
    assert rows["p_adjusted"].tolist() == pytest.approx(multipletests(rows["p_value"], method="holm")[1])


def made_systems(rng, n_systems=4, n_contexts=4, shared=True):
    """Joined items of systems: one response of each to every context, or each to contexts of its own."""
    place = np.arange(n_systems * n_contexts)
    system, context = place // n_contexts, place % n_contexts if shared else place
    human = system + rng.normal(size=len(place))
    keys = {"corpus": "main", "method": "turn_rating", "label": "l", "system": system.astype(str)}
    rows = pd.DataFrame(
        {**keys, "dialogue": place.astype(str), "turn": 0, "context": context.astype(str), "human": human}
    )
    noise = {metric: human + rng.normal(size=len(place)) * sd for metric, sd in (("x", 1), ("y", 4), ("z", 9))}
    return pd.concat([rows.assign(metric=metric, value=10 * value + 3) for metric, value in noise.items()])


def of_systems(joined, **options):
    return collect(differences.system_differences(joined, seed=1, **options))["correlation_difference"]


@pytest.mark.parametrize("shared", [True, False])
def test_over_systems_two_metrics_are_compared_as_scipy_does(shared):
    """Swaps of standardised scores, in whole contexts where systems share these."""
    joined = made_systems(np.random.default_rng(3), *(4, 6) if shared else (4, 3), shared=shared)
    wide = joined.pivot_table(index=["context", "system"], columns="metric", values="value")
    wide = (wide - wide.mean()) / wide.std()
    human = joined.groupby("system")["human"].mean()
    cells = [wide[m].unstack("system") if shared else wide[m].to_frame() for m in "xy"]  # noqa: PD010

    def difference(a, b):
        means = [m.mean(axis=0) if shared else [m[system == s].mean() for s in human.index] for m in (a, b)]
        return np.subtract(*(np.corrcoef(m, human)[0, 1] for m in means))

    system = np.asarray(wide.index.get_level_values("system"))
    n = len(cells[0])
    whole = stats.permutation_test(
        [np.arange(n), np.arange(n) + n],
        lambda i, j: difference(*(np.concatenate([c.to_numpy() for c in cells])[k.astype(int)] for k in (i, j))),
        permutation_type="samples", n_resamples=np.inf, vectorized=False,
    )  # fmt: skip
    found = of_systems(joined).query("metric == 'x' and against == 'y'").iloc[0]
    assert (found["n"], found["n_clusters"], found["level"]) == (4, n, "system")
    assert found["estimate"] == pytest.approx(whole.statistic)
    assert found["p_value"] == pytest.approx(whole.pvalue)


def test_over_systems_there_is_a_mean_over_labels_and_a_reason():
    joined = made_systems(np.random.default_rng(3), 5, 30)
    two = pd.concat([joined, joined.assign(label="m", human=-joined["human"])])
    found = of_systems(two, n_permutations=200)
    assert set(found["over"]) == {"label"}
    assert found["estimate"].to_numpy() == pytest.approx(0)
    flat = of_systems(joined.assign(value=joined["value"].where(joined["metric"] != "z", 1.0)), n_permutations=200)
    assert flat.set_index(["metric", "against"])["note"].tolist() == ["random 200 arrangements"] + 2 * [
        "one of the two sides is constant"
    ]
    assert collect(differences.system_differences(joined[joined["system"] < "2"], seed=1)) == {}


@pytest.mark.evidence
def test_over_systems_equal_metrics_keep_the_level():
    n, p = 1000, []
    for i in range(n):
        joined = made_systems(np.random.default_rng([7, i]), 6, 40)
        rng = np.random.default_rng([8, i])
        one = joined[joined["metric"] == "y"]
        other = one.assign(metric="x", value=10 * (one["human"] + 4 * rng.normal(size=len(one))) + 3)
        p.append(of_systems(pd.concat([one, other]), n_permutations=199)["p_value"].iloc[0])
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) < monte_carlo(0.05, n)
