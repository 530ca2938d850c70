"""Krippendorff's alpha: against the published example, the krippendorff package, R, fractions by hand, identities."""

from fractions import Fraction

import krippendorff
import numpy as np
import pytest
from fixtures.reference import agreement as reference
from scipy import optimize, stats

from judgebook.questions.agreement import alpha as module
from judgebook.questions.agreement import bounds
from judgebook.questions.agreement.alpha import alpha, alpha_intervals, alpha_of
from judgebook.questions.agreement.bounds import is_degenerate
from judgebook.questions.agreement.coincidences import (
    distances,
    midranks,
    patterns,
    patterns_long,
    positions,
    terms,
    with_sampling,
)
from judgebook.study.labels import LEVELS

N = np.nan
# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability: four observers, twelve units
FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
).T


def rng():
    return np.random.default_rng(3)


def theirs(values, level):
    level = masi if level == "sets" else level
    return krippendorff.alpha(reliability_data=values.T, level_of_measurement=level)


@np.vectorize
def masi_of(a, b):
    """Passonneau 2006, of sets written as numbers, bit by bit."""
    a, b = ({bit for bit in range(8) if int(x) >> bit & 1} for x in (a, b))
    if a == b:
        return 0.0
    share = 2 / 3 if a <= b or b <= a else 1 / 3 if a & b else 0.0
    return 1 - len(a & b) / len(a | b) * share


def masi(v1, v2, i1, i2, n_v, dtype=float):
    return masi_of(v1, v2).astype(dtype)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorffs_own_example(level, published):
    found = alpha(FOUR_OBSERVERS, level)
    assert round(found.estimate, 3) == published
    assert found.estimate == pytest.approx(theirs(FOUR_OBSERVERS, level), abs=1e-12)
    assert (found.n_items, found.n_values) == (11, 40)
    assert found.estimate == pytest.approx(1 - found.observed / found.expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("case", range(3))
def test_random_matrices_equal_the_package(level, case):
    r = np.random.default_rng(case)
    values = r.integers(1, 6, size=(40, 2 + case)).astype(float)
    values[r.random(values.shape) < 0.3] = np.nan
    assert alpha(values, level).estimate == pytest.approx(theirs(values, level), abs=1e-12)
    # impossible values in between change nothing, and long form is the same
    assert alpha(values, level, domain=range(8)).estimate == pytest.approx(theirs(values, level), abs=1e-12)
    item, column = np.nonzero(~np.isnan(values))
    assert alpha_of(patterns_long(item, values[item, column], 40), level) == alpha(values, level)


def test_disagreements_by_hand():
    # two annotators, four items: 0 0, 0 1, 1 1, 1 1. o_01 = 1, n_0 = 3, n_1 = 5, n = 8.
    found = alpha(np.array([[0, 0], [0, 1], [1, 1], [1, 1]]), "nominal")
    assert found.observed == pytest.approx(2 / 8)
    assert found.expected == pytest.approx(2 * 3 * 5 / (8 * 7))
    assert found.estimate == pytest.approx(float(1 - Fraction(2, 8) / Fraction(30, 56)))


def test_raw_agreement_by_hand():
    """Of unequally many annotations: the mean of each one's share of others that are the same, not that of pairs."""
    values = np.array([[1, 1, 1, 2], [1, 2, N, N]], dtype=float)
    found = alpha_intervals(patterns(values), "nominal", unit="item", rng=rng(), n_resamples=100)
    assert found["raw_agreement"].estimate == pytest.approx(np.mean([2 / 3, 2 / 3, 2 / 3, 0, 0, 0]))


def test_values_off_the_domain_and_unknown_levels_are_named():
    with pytest.raises(ValueError, match=r"among \[0.0, 1.0\], found 2"):
        alpha(np.array([[0, 1], [2, 1]]), domain=(0, 1))
    with pytest.raises(ValueError, match="one of nominal, ordinal, interval, ratio, sets, found 'likert'"):
        alpha(np.array([[0, 1], [1, 1]]), "likert")
    with pytest.raises(ValueError, match="ratio level needs values of 0 or more, found -1"):
        alpha(np.array([[0, 1], [-1, 1]]), "ratio")
    with pytest.raises(ValueError, match="symmetric about 0"):
        terms(np.array([[1, 1]]), np.array([0.0, 1.0]), "ordinal", mirrored=True)


def test_mirrored_comparisons_equal_rows_added():
    r = np.random.default_rng(5)
    values = r.choice([-1, 0, 1], size=(30, 2)).astype(float)
    doubled = np.concatenate([values, -values])
    for level in ("nominal", "ordinal", "interval"):
        assert alpha_of(patterns(values, (-1, 0, 1)), level, mirrored=True).estimate == pytest.approx(
            theirs(doubled, level)
        )


def test_patterns_by_key_and_by_rows_agree():
    r = np.random.default_rng(6)
    values = r.integers(0, 40, size=(50, 3)).astype(float)  # too many values for a key
    values[r.random(values.shape) < 0.2] = np.nan
    found = patterns(values)
    rebuilt = found.counts[found.index[found.index >= 0]]
    for counts, row in zip(rebuilt, values[found.index >= 0], strict=True):
        assert np.array_equal(np.repeat(found.values, counts), np.sort(row[~np.isnan(row)]))
    assert found.n_items == np.sum((~np.isnan(values)).sum(axis=1) >= 2)
    assert len(patterns(values[:, :2].round(-1)).weights) < 30


def binary(n_00=200, n_01=22, n_10=18, n_11=60):
    return np.repeat([[0.0, 0], [0, 1], [1, 0], [1, 1]], [n_00, n_01, n_10, n_11], axis=0)


def test_binary_interval_equals_r_boot():
    found = alpha_intervals(patterns(binary()), "nominal", unit="turn", rng=rng(), n_resamples=100_000)["alpha"]
    assert found.estimate == pytest.approx(reference("alpha")[0], abs=1e-11)
    # Monte Carlo error of an end with 100,000 and R's 200,000 resamples: about 0.0005
    assert (found.low, found.high) == pytest.approx(reference("alpha_bca"), abs=0.002)
    assert found.percentile == pytest.approx(reference("alpha_percentile"), abs=0.002)


def test_every_resample_equals_the_package_on_the_resampled_items():
    # the same resamples, written out and handed to the package one by one
    r = np.random.default_rng(8)
    values = r.integers(1, 6, size=(25, 3)).astype(float)
    clusters = r.integers(0, 6, size=25)
    found = patterns(values)
    t = terms(found.counts, found.values, "ordinal")
    sums = module._sum_by(t.rows, found, module._clusters(found, clusters))
    for _ in range(20):
        drawn = r.integers(0, sums.shape[0], sums.shape[0])
        names = np.unique(clusters)[drawn]
        spelled = np.concatenate([values[clusters == c] for c in names])
        ours = t.measures(sums[drawn].sum(axis=0, keepdims=True))["alpha"][0]
        assert ours == pytest.approx(theirs(spelled, "ordinal"))


def test_specific_agreement_by_hand():
    # a = 60 both, b + c = 40 one, d = 200 neither: 2a / (2a + b + c) and 2d / (2d + b + c)
    found = alpha_intervals(patterns(binary(), (0, 1)), "nominal", unit="turn", rng=rng(), n_resamples=2000)
    assert found["positive_agreement"].estimate == pytest.approx(120 / 160)
    assert found["negative_agreement"].estimate == pytest.approx(400 / 440)
    assert found["raw_agreement"].estimate == pytest.approx(260 / 300)
    assert found["prevalence"].estimate == pytest.approx(160 / 600)
    assert all(f.kind == "bca" and f.low < f.estimate < f.high for f in found.values())


@pytest.mark.parametrize("weighted", [False, True])
def test_many_values_take_another_path_with_the_same_result(monkeypatch, weighted):
    r = np.random.default_rng(10)
    values = np.clip(np.round(50 + 20 * r.normal(size=(60, 1)) + 15 * r.normal(size=(60, 3))), 0, 100)
    values[:5, 0] = np.nan
    items, dialogue = patterns(values), np.repeat(np.arange(20), 3)
    items = with_sampling(items, r.choice([1.0, 2.5], 60)) if weighted else items
    for clusters in (None, dialogue):
        options = {"unit": "item", "clusters": clusters, "n_resamples": 500}
        many = alpha_intervals(items, "ordinal", rng=rng(), **options)
        monkeypatch.setattr(module, "MANY_VALUES", 200)
        few = alpha_intervals(items, "ordinal", rng=rng(), **options)
        monkeypatch.undo()
        expected = few["alpha"].estimate if weighted else theirs(values, "ordinal")
        assert many["alpha"].estimate == pytest.approx(expected)
        assert many["raw_agreement"].estimate == pytest.approx(few["raw_agreement"].estimate)
        if clusters is None and not weighted:  # the same distribution, not the same draws
            assert many["alpha"].standard_error == pytest.approx(few["alpha"].standard_error, rel=0.15)
        else:
            assert (many["alpha"].low, many["alpha"].high) == pytest.approx((few["alpha"].low, few["alpha"].high))


def test_patterns_are_counted_by_hand():
    values = np.array([[1, 1], [1, 2], [2, 1], [3, N], [2, 2]])
    found = patterns(values)
    assert (found.n_items, found.n_disagreeing) == (4, 2)
    assert found.marginals.tolist() == [4, 4, 0]  # the value without a partner does not count
    assert found.n_minority == 4
    assert positions(np.array([2.0, N, 1]), found.values).tolist() == [1, 3, 0]
    with pytest.raises(ValueError, match=r"expected values among \[1.0, 2.0, 3.0\], found 2.5"):
        positions(np.array([2.5]), found.values)
    assert distances(np.array([0.0, 1, 3]), "interval").tolist() == [[0, 1, 9], [1, 0, 4], [9, 4, 0]]


@pytest.mark.parametrize("kinds", [[-1, 0, 1], [0.5, 1, 2], [0, 5000]])
def test_places_of_values(kinds):
    """A value outside, between, or beyond all numbers is none of them."""
    codes, kinds = np.array([0, 2, 1, 0, len(kinds)]) % (len(kinds) + 1), np.array(kinds, float)
    column = np.append(kinds, N)[codes]
    assert positions(column, kinds).tolist() == codes.tolist()
    for wrong in (kinds[0] - 1, kinds[0] + 0.25, kinds[-1] + 1, np.inf):
        with pytest.raises(ValueError, match=f"found {wrong:g}"):
            positions(np.append(column, wrong), kinds)
    assert distances(np.array([0.0, 1, 3]), "ratio").tolist() == [[0, 1, 1], [1, 0, 0.25], [1, 0.25, 0]]
    assert midranks(np.array([[2, 4, 2]])).tolist() == [[1 / 8, 4 / 8, 7 / 8]]


def test_a_label_is_degenerate_on_one_side_of_each_limit():
    assert is_degenerate(patterns(np.array([[1.0, N], [N, 2]])))  # no item with two values
    assert is_degenerate(patterns(np.array([[1.0, 1], [2, 2]])))  # no disagreement
    assert is_degenerate(patterns(binary(90, 5, 4, 5), (0, 1)))  # 19 marks
    assert not is_degenerate(patterns(binary(90, 5, 5, 5), (0, 1)))  # 20 marks
    assert not is_degenerate(patterns(np.where(binary(90, 5, 4, 5) > 0, 1.0, -1.0), (-1, 1)), mirrored=True)
    assert not is_degenerate(patterns(np.array([[1.0, 2], [2, 2], [3, 3]])))  # three values have no rare one
    # with three raters what counts is items with two marks
    rows = np.repeat([[0.0, 0, 0], [1, 0, 0], [1, 1, 0]], [400, 60, 29], axis=0)
    assert is_degenerate(patterns(rows, (0, 1)))
    assert not is_degenerate(patterns(np.r_[rows, [[1.0, 1, 1]]], (0, 1)))


def test_two_marks_in_four_hundred():
    # one mark on each of two items, never together: of 2 items with a mark both are disagreed on
    found = alpha_intervals(patterns(binary(398, 1, 1, 0), (0, 1)), "nominal", unit="turn", rng=rng())
    bound = found["alpha"]
    assert bound.kind == "exact_bound"
    assert bound.note == "exact binomial: annotators disagree on 2 of 2 items with a mark of the rarer value"
    low_q = 0.025 ** (1 / 2)  # both of two: the lower end of q solves q^2 = 0.025
    s, n = 2 / 400, 800
    pi = s * (1 - low_q / 2)
    assert bound.high == pytest.approx(1 - (n - 1) / n * s * low_q / (2 * pi * (1 - pi)))
    assert bound.low == pytest.approx(bound.estimate)  # nothing worse is possible
    assert found["positive_agreement"].low == found["positive_agreement"].estimate == 0
    assert found["positive_agreement"].high == pytest.approx(1 - low_q / (2 - low_q))
    assert found["raw_agreement"].low == pytest.approx(398 / 400)


def test_perfect_agreement_gives_a_lower_bound():
    found = alpha_intervals(patterns(binary(300, 0, 0, 100), (0, 1)), "nominal", unit="turn", rng=rng())
    assert (found["alpha"].estimate, found["alpha"].high, found["alpha"].kind) == (1.0, 1.0, "exact_bound")
    q = 1 - 0.025 ** (1 / 100)  # none of 100 marked items
    assert found["positive_agreement"].low == pytest.approx(1 - q / (2 - q))
    likert = np.repeat([[1.0, 1, 1], [3, 3, 3], [4, 4, 4]], [5, 4, 3], axis=0)
    ordinal = alpha_intervals(patterns(likert), "ordinal", unit="item", rng=rng())["alpha"]
    p = 1 - 0.025 ** (1 / 12)
    nominal = alpha(likert).expected  # an item that disagrees counts like a chance pair of different values
    assert (ordinal.low, ordinal.high) == pytest.approx((1 - p / nominal, 1.0))


def test_one_value_only_has_a_reason_and_a_bound_on_raw_agreement():
    found = alpha_intervals(patterns(np.zeros((50, 2)), (0, 1)), "nominal", unit="turn", rng=rng())
    assert found["alpha"].kind == "not_estimable"
    assert found["alpha"].note == "all 100 annotations have the same value: alpha is undefined"
    assert (found["raw_agreement"].low, found["raw_agreement"].high) == pytest.approx((0.025 ** (1 / 50), 1.0))
    assert found["positive_agreement"].note == "no annotation has this value"
    one = patterns(np.array([[1.0, N], [N, 2]]))
    found = alpha_intervals(one, "ordinal", unit="turn", rng=rng())
    assert {(f.kind, f.note) for f in found.values()} == {("not_estimable", "no item has two annotations")}
    assert alpha_of(one, "nominal").n_items == 0
    assert np.isnan([alpha_of(one, "nominal").estimate, alpha(np.ones((5, 2))).estimate]).all()


def test_marks_in_one_dialogue_count_as_one():
    values, dialogue = binary(380, 3, 2, 4), np.arange(389) // 20
    turn = alpha_intervals(patterns(values, (0, 1)), "nominal", unit="turn", rng=rng())["alpha"]
    found = alpha_intervals(patterns(values, (0, 1)), "nominal", unit="dialogue", clusters=dialogue, rng=rng())
    by_dialogue = found["alpha"]
    assert "9 items" in turn.note
    assert "counted as 1 independent ones" in by_dialogue.note
    assert by_dialogue.low <= turn.low < turn.estimate < turn.high <= by_dialogue.high


def test_three_annotators_of_a_rare_mark_have_a_likelihood_interval():
    rows = np.array([[0, 0, 0]] * 16 + [[1, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0]], float)
    found = alpha_intervals(patterns(rows, (0, 1)), "nominal", unit="turn", rng=rng())
    bound = found["alpha"]
    assert (bound.kind, bound.note) == (
        "profile",
        "beta-binomial likelihood or jackknife: 7 marks of the rarer value on 4 items",
    )
    assert bound.estimate == pytest.approx(theirs(rows, "nominal"))

    # the ends by scipy's distribution and optimiser: twice the fall of the likelihood is t² with 3 degrees of freedom
    k = rows.sum(axis=1).astype(int)

    def worst(rho):
        def loss(logit):
            pi = 1 / (1 + np.exp(-logit))
            return -stats.betabinom.logpmf(k, 3, pi * (1 - rho) / rho, (1 - pi) * (1 - rho) / rho).sum()

        return optimize.minimize_scalar(loss, bounds=(-8, 1), method="bounded").fun

    grid = np.linspace(0.01, 0.99, 99)
    loss = np.array([worst(rho) for rho in grid])
    inside = grid[2 * (loss - loss.min()) <= stats.t.ppf(0.975, 3) ** 2]

    # a jackknife, with 1 degree of freedom fewer than items with two marks, but at least 2: it reaches further up
    without = np.array([np.log1p(-theirs(np.delete(rows, i, axis=0), "nominal")) for i in range(20)])
    half = stats.t.ppf(0.975, 2) * np.sqrt(19 / 20 * np.sum((without - without.mean()) ** 2))
    assert bound.high == pytest.approx(1 - (1 - bound.estimate) * np.exp(-half), abs=1e-4)
    assert bound.high > inside[-1] + 0.011
    assert bound.low == pytest.approx(-(7 / 60) / (53 / 60))  # independent raters are not excluded
    assert inside[0] == grid[0]
    for interval in found.values():
        assert not interval.low > interval.estimate
        assert not interval.high < interval.estimate


@pytest.mark.evidence
def test_slips_on_clear_items_are_covered_where_the_likelihood_alone_fails():
    """1% of items are clear to five raters (90%), who slip on 1% of the others."""
    r, k, n, held = np.random.default_rng(3), np.arange(6), 300, {"both": [], "likelihood": []}
    p = 0.01 * stats.binom.pmf(k, 5, 0.9) + 0.99 * stats.binom.pmf(k, 5, 0.01)
    mean = p @ k / 5
    truth = 1 - (p @ (k * (5 - k))) / 20 / (mean * (1 - mean))
    for counts in r.multinomial(1000, p, size=n):
        rows = np.repeat(np.tril(np.ones((6, 5)), -1), counts, axis=0)
        found = alpha_intervals(patterns(rows, (0, 1)), "nominal", unit="turn", rng=r, only=["alpha"])["alpha"]
        region = bounds.likelihood_region(k, np.full(6, 5), counts, counts[1:].sum(), 0.95)
        low, high = bounds.likelihood_ends(region, counts @ k / 5000)["alpha"]
        held["both"].append(found.low <= truth <= found.high)
        held["likelihood"].append(low <= truth <= high)
    assert np.mean(held["likelihood"]) < 0.75
    assert np.mean(held["both"]) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / n)
