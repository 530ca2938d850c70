"""Agreement with sampling weights: by hand, against copies of items by the package, and in a queue of a population."""

from fractions import Fraction

import krippendorff
import numpy as np
import pytest
from fixtures.judged_items import counts, judged, left_out, world
from fixtures.made_annotations import annotation_rows

from judgebook.questions.agreement import analysis
from judgebook.questions.agreement.alpha import alpha_intervals, alpha_of, alpha_two_way
from judgebook.questions.agreement.coefficients import gwet_ac
from judgebook.questions.agreement.coincidences import patterns, with_sampling
from judgebook.questions.agreement.items import matrix
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import LABEL_SETS, LEVELS

N = np.nan
LABELS = LABEL_SETS["abc_eval"]
BY_VALUES = [level for level in LEVELS if level != "sets"]


def enriched(seed):
    """Scores from 1 to 5, of every fourth item one fewer; items with low scores are rarer than the sample says."""
    values = 1.0 + world(np.random.default_rng(seed))[0]
    first = np.argmax(~np.isnan(values[::4]), axis=1)
    values[np.arange(0, len(values), 4), first] = N
    return values, np.where(np.nanmean(values, axis=1) < 3, 1.0, 4.0)


def weighted(values, weights):
    return with_sampling(patterns(values), weights)


def test_three_items_by_hand():
    values, weights = np.array([[1.0, 1], [0, 1], [0, 0]]), np.array([1.0, 1, 3])
    # weights of values: 3 of 1 and 7 of 0; of the items' weights, 1 in 5 disagrees; n = 10^2 / 22
    n, d_o, d_e = Fraction(100, 22), Fraction(1, 5), 2 * Fraction(3 * 7, 100)
    alpha = 1 - (n - 1) / n * d_o / d_e
    assert alpha == Fraction(22, 35)
    found = alpha_of(weighted(values, weights), "nominal")
    assert found.estimate == pytest.approx(float(alpha))
    assert (found.observed, found.expected) == pytest.approx((float(d_o), float(d_e * n / (n - 1))))
    assert (found.n_items, found.n_values) == (3, 6)
    kinds = np.arange(2.0)
    ac = gwet_ac(counts(values, kinds), kinds, "nominal", sampling=weights)
    assert ac == pytest.approx(float((1 - d_o - d_e) / (1 - d_e)))  # AC1: p_e = 2 pi (1 - pi) is d_e here


@pytest.mark.parametrize("level", BY_VALUES)
def test_whole_weights_are_copies_of_items_but_for_the_number_of_values(level):
    values, weights = enriched(1)
    copies = np.repeat(values, weights.astype(int), axis=0)
    several = (~np.isnan(copies)).sum(axis=1) > 1
    theirs = krippendorff.alpha(copies[several].T, level_of_measurement=level)
    m = (~np.isnan(values)).sum(axis=1)
    m, w = m[m > 1], weights[m > 1]
    n, n_copies = (w @ m) ** 2 / (w**2 @ m), w @ m
    expected = 1 - (1 - theirs) * (n_copies / (n_copies - 1)) * ((n - 1) / n)
    assert alpha_of(weighted(values, weights), level).estimate == pytest.approx(expected, abs=1e-12)
    assert alpha_of(weighted(values, 0.013 * weights), level).estimate == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", BY_VALUES)
def test_the_coefficient_of_gwet_is_that_of_copies(level):
    values, weights = enriched(2)
    kinds, copies = np.arange(1.0, 6), np.repeat(values, weights.astype(int), axis=0)
    found = gwet_ac(counts(values, kinds), kinds, level, sampling=weights)
    assert found == pytest.approx(gwet_ac(counts(copies, kinds), kinds, level), abs=1e-12)


def test_equal_weights_of_any_scale_change_nothing():
    values, _ = enriched(4)
    plain = patterns(values)
    assert with_sampling(plain, np.full(len(values), 0.37)) is plain
    assert with_sampling(plain, None) is plain


def test_items_are_resampled_with_their_weights():
    values, weights = enriched(5)
    how = {"unit": "item", "n_resamples": 4000, "expanded": False}
    found = alpha_intervals(weighted(values, weights), "ordinal", rng=np.random.default_rng(1), **how)["alpha"]

    def statistic(index):
        return alpha_of(weighted(values[index], weights[index]), "ordinal").estimate

    r = np.random.default_rng(2)
    drawn = [statistic(r.integers(0, len(values), len(values))) for _ in range(300)]
    # the standard error of an SD of 300 draws is 4%
    assert found.standard_error == pytest.approx(np.std(drawn), rel=0.12)
    assert (found.kind, found.n_units) == ("bca", 60)


def test_other_annotators_have_the_weighted_jackknife_written_out():
    values, weights = enriched(6)
    several = (~np.isnan(values)).sum(axis=1) > 1
    values, weights = values[several], weights[several]
    cluster = np.arange(len(values)) % 11
    w = weights * weighted(values, weights).sampling.max() / weights.max()

    def estimate(x):  # the scale of weights is that of all items, as in resamples
        m = (~np.isnan(x)).sum(axis=1)
        n, own = w @ np.where(m > 1, m, 0), (w**2) @ np.where(m > 1, m, 0)
        kish = n**2 / own
        return 1 - (1 - alpha_of(weighted(x, weights), "ordinal").estimate) * (n - 1) / n * kish / (kish - 1)

    found = alpha_two_way(*judged(values, None, cluster, weights), "ordinal", unit="context")
    whole, ends, _ = left_out(estimate, values, cluster, weights)
    assert found.estimate == pytest.approx(whole)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)


def test_rare_marks_have_an_estimate_and_a_reason():
    values = np.zeros((80, 2))
    values[:12] = 1
    values[12:16, 0] = 1  # 28 marks; of the larger weights are few
    weights = np.where(np.arange(80) < 3, 20.0, 1.0)
    plain = alpha_intervals(patterns(values), "nominal", unit="item", rng=np.random.default_rng(1))
    found = alpha_intervals(weighted(values, weights), "nominal", unit="item", rng=np.random.default_rng(1))
    assert plain["alpha"].kind == "bca"
    for name in plain:
        assert (found[name].kind, np.isnan(found[name].low)) == ("not_estimable", True)
        assert "sampling weights" in found[name].note
        assert np.isfinite(found[name].estimate)
    one, kinds = judged(np.repeat(values, 4, axis=1), weights=weights)  # eight annotators of each item
    assert alpha_two_way(one, kinds, "nominal", unit="item").kind == "not_estimable"


def test_all_measures_of_a_table_use_the_same_weights():
    values, given = enriched(7)
    rows = [
        {"dialogue": f"d{i:02d}", "annotator": f"A{j}", "score": values[i, j], "sampling_weight": given[i]}
        for i, j in np.argwhere(~np.isnan(values))
    ]
    part = annotation_rows(rows, method="dialogue_likert", label="quality")
    how = {"first": None, "sampling": Sampling(n_resamples=200, confidence=0.95, seed=1)}
    results = analysis.analyse(part, LABELS, **how)
    alphas = results.select("alpha", scope=None)
    assert np.ptp(alphas["estimate"]) < 1e-12
    assert {"dialogue", "dialogue and annotator"} <= set(alphas["resample"])
    assert analysis.plain_alphas(part, LABELS)["estimate"].item() == pytest.approx(alphas["estimate"].iloc[0])
    wide = matrix(part.assign(item=part["dialogue"]), "annotator")
    weights = part.groupby("dialogue")["sampling_weight"].first().reindex(wide.index).to_numpy()
    level = alphas["measurement"].iloc[0]
    assert alphas["estimate"].iloc[0] == pytest.approx(alpha_of(weighted(wide.to_numpy(), weights), level).estimate)
    copies = np.repeat(wide.to_numpy(), weights.astype(int), axis=0)
    copies = [row[~np.isnan(row)] for row in copies]
    same = [np.mean(np.delete(row, k) == row[k]) for row in copies for k in range(len(row))]
    assert results["raw_agreement"]["estimate"].item() == pytest.approx(np.mean(same))
