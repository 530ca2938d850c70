import itertools

import numpy as np
import pandas as pd
import pytest
from evaluations import metric_study, monte_carlo
from scipy import stats
from statsmodels.stats.multitest import multipletests
from test_correlation import SCIPY
from test_rates import R

from helpers import metric_comparison, metric_items, schema


@pytest.fixture(scope="module")
def joined():
    annotations, scores = metric_study(np.random.default_rng(1), missing=0.05)
    return metric_items.join(metric_items.human_means(annotations), scores)


@pytest.mark.parametrize(
    ("i", "values"), [(1, (0.4, 0.5, 0.1, 103)), (2, (0.62, 0.35, 0.7, 40)), (3, (-0.3, 0.2, 0.5, 12))]
)
def test_williams_is_that_of_psych(i, values):
    t, p = metric_comparison.williams(*values)
    assert (t, p) == (pytest.approx(R[f"williams_t_{i}"]), pytest.approx(R[f"williams_p_{i}"]))


def test_williams_needs_items_and_residual_variance():
    assert np.isnan(metric_comparison.williams(0.4, 0.5, 0.1, 3)).all()
    assert np.isnan(metric_comparison.williams(1.0, 1.0, 1.0, 30)).all()


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_permutations_are_those_written_out(coefficient):
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(6), [3, 2, 1, 4, 2, 3])
    human = np.rint(3 + rng.normal(size=15))
    x, y = human + rng.normal(size=15), 5 + 10 * rng.normal(size=15)
    found = metric_comparison.paired_permutation(x, y, human, clusters, rng=rng, coefficient=coefficient)
    prepare = stats.rankdata if coefficient == "spearman" else lambda v: (v - v.mean()) / v.std()
    a, b, h = prepare(x), prepare(y), prepare(human)
    values = []
    for swaps in itertools.product([False, True], repeat=6):
        w = np.array(swaps)[clusters]
        values.append(np.corrcoef(np.where(w, b, a), h)[0, 1] - np.corrcoef(np.where(w, a, b), h)[0, 1])
    assert found.exact
    assert np.sort(found.null) == pytest.approx(np.sort(values))
    assert found.observed == pytest.approx(
        SCIPY[coefficient](x, human).statistic - SCIPY[coefficient](y, human).statistic
    )
    assert found.p_value == pytest.approx(np.mean(np.abs(values) >= abs(values[0]) - 1e-9))


def test_permutation_keeps_its_size_with_contexts_where_williams_does_not():
    n, p = 300, {"permutation": [], "williams": []}
    for i in range(n):
        rng = np.random.default_rng([6, i])
        context = rng.normal(size=(30, 1, 3)) * 0.9**0.5  # responses to a context are much alike
        h, x, y = np.moveaxis(context + rng.normal(size=(30, 6, 3)) * 0.1**0.5, -1, 0)
        h, x, y = (v.ravel() for v in (h, x + 0.5 * h, y + 0.5 * h))
        found = metric_comparison.paired_permutation(
            x, y, h, np.repeat(np.arange(30), 6), rng=rng, coefficient="pearson", n_permutations=199
        )
        p["permutation"].append(found.p_value)
        r = np.corrcoef([h, x, y])
        p["williams"].append(metric_comparison.williams(r[0, 1], r[0, 2], r[1, 2], 180)[1])
    assert np.mean(np.array(p["permutation"]) <= 0.05) == pytest.approx(0.05, abs=monte_carlo(0.05, n) + 0.005)
    assert np.mean(np.array(p["williams"]) <= 0.05) > 0.15


def test_compare_gives_both_tests_on_common_items(joined):
    found = metric_comparison.compare(joined, seed=1, n_permutations=500)
    assert len(schema.make_results(found, study="x", notebook="09")) == 5
    wide = joined[joined["label"] == "quality"].pivot_table(index="dialogue", columns="metric", values="value").dropna()
    human = joined[joined["label"] == "quality"].drop_duplicates("dialogue").set_index("dialogue")["human"][wide.index]
    rows = found[found["label"] == "quality"].set_index("condition")
    expected = stats.spearmanr(wide["m"], human).statistic - stats.spearmanr(wide["n"], human).statistic
    assert rows["estimate"].to_numpy() == pytest.approx(expected)
    assert set(rows["n"]) == {len(wide)}
    assert rows.loc["against=n;coefficient=spearman;test=permutation", "p_value"] < 0.01
    assert rows.loc["against=n;coefficient=spearman;test=permutation", "n_clusters"] == 40
    constant = metric_comparison.compare(
        joined.assign(value=joined["value"].where(joined["metric"] == "m", 1.0)), seed=1
    )
    assert constant["p_value"].isna().all()
    assert set(constant.loc[constant["label"].notna(), "note"]) == {"one of the two sides is constant"}
    assert set(constant.loc[constant["label"].isna(), "note"]) == {"undefined for a label"}


def test_the_mean_over_labels_has_a_test_of_its_own(joined):
    found = metric_comparison.compare(joined, seed=1, n_permutations=500)
    mean = found[found["condition"].str.contains("over=label")].iloc[0]
    each = found[found["condition"].str.contains("test=permutation") & found["label"].notna()]
    assert mean["estimate"] == pytest.approx(each["estimate"].mean())
    assert (mean["n"], mean["resample_unit"]) == (2, "context")
    assert mean["p_value"] < 0.01
    twins = metric_comparison.compare(joined[joined["metric"] == "m"].assign(metric="a"), seed=1)
    assert twins.empty


def test_pairs_are_adjusted_together_and_do_not_depend_on_each_other(joined):
    third = joined[joined["metric"] == "m"].assign(metric="o", value=lambda f: f["value"].round(0))
    both = metric_comparison.compare(pd.concat([joined, third]), seed=1, n_permutations=400)
    alone = metric_comparison.compare(joined, seed=1, n_permutations=400)
    keys = ["label", "metric", "condition"]
    pair = both.merge(alone, on=keys, suffixes=("", "_alone"))
    assert len(pair) == len(alone)
    assert pair["p_value"].to_numpy() == pytest.approx(pair["p_value_alone"].to_numpy())
    rows = both[(both["label"] == "quality") & both["condition"].str.contains("permutation")]
    assert rows["p_adjusted"].tolist() == pytest.approx(multipletests(rows["p_value"], method="holm")[1])
