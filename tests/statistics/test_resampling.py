"""Bootstrap: against scipy, against R, by hand; degenerate cases; independence of chunking."""

import numpy as np
import pytest
from fixtures.reference import REFERENCE
from scipy import stats

from judgebook.statistics import correlation, intervals
from judgebook.statistics import resampling as rs
from judgebook.statistics.intervals import acceleration, expansion


def reference(name):
    """Numbers that R printed (tests/reference/agreement.R)."""
    lines = (REFERENCE / "agreement.txt").read_text().splitlines()
    return next([float(v) for v in line.split()[1:]] for line in lines if line.split()[0] == name)


X = np.array([0.2, 0.4, 0.5, 0.9, 1.1, 1.3, 1.4, 1.9, 2.2, 2.4, 2.9, 3.1, 3.8, 4.6, 5.5, 6.1, 7.9, 9.3, 12.4, 17.7])
Y = np.array([1.1, 0.7, 0.6, 1.4, 0.8, 2.1, 1.2, 2.6, 1.7, 2.2, 2.0, 3.3, 2.9, 2.4, 3.9, 3.1, 4.8, 4.1, 4.4, 6.0])
G = np.repeat([1, 2], [8, 12])


def mean(sums):
    return sums[:, 0] / sums[:, 1]


def with_ones(x):
    return np.column_stack([x, np.ones(len(x))])


def bca(estimate, replicates, jackknife, weights=None, groups=None):
    values = [np.asarray(v, dtype=float)[:, None] for v in (replicates, jackknife)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "QUANTILES", "linear")  # scipy's
        found = rs.Replicates(np.array([estimate]), *values, weights, groups, "", 0, True, 1).interval(expanded=False)
    return (found.low, found.high) if found.kind == "bca" else (np.nan, np.nan)


def rng():
    return np.random.default_rng(5)


def test_streams_depend_on_seed_and_names_only():
    first = rs.generator(1, "behavior", "ignore").random(3)
    assert np.array_equal(first, rs.generator(1, "behavior", "ignore").random(3))
    others = [rs.generator(2, "behavior", "ignore"), rs.generator(1, "behaviorignore"), rs.generator(1, "ignore")]
    assert all(not np.array_equal(first, g.random(3)) for g in others)
    # the hash must be the same on every machine and in every process, unlike Python's own
    assert rs.generator(1, "a").integers(0, 1000, 3).tolist() == [431, 466, 321]


def test_mean_equals_r_boot():
    ours = rs.bootstrap_sums(with_ones(X), mean, unit="turn", rng=rng(), n_resamples=200_000, expanded=False)
    # R's ends and ours carry Monte Carlo errors of about 0.01 each (the high end of 20 skewed numbers is far out)
    assert (ours.low, ours.high) == pytest.approx(reference("mean_bca"), abs=0.04)
    assert ours.percentile == pytest.approx(reference("mean_percentile"), abs=0.03)


def test_correlation_equals_r_boot():
    def pearson(w):
        return correlation.weighted_correlations(X, Y[:, None], w, "pearson")[:, 0]

    ours = rs.bootstrap_weights(20, pearson, unit="item", rng=rng(), n_resamples=100_000, expanded=False)
    assert ours.percentile == pytest.approx(reference("correlation_percentile"), abs=0.003)
    # R takes the acceleration from a regression on resamples, we from the jackknife: the ends differ a little more
    assert (ours.low, ours.high) == pytest.approx(reference("correlation_bca"), abs=0.01)


def test_strata_equal_r_boot():
    second = (G == 2).astype(float)
    rows = np.column_stack([X * second, second, X * (1 - second), 1 - second])
    ours = rs.bootstrap_sums(
        rows,
        lambda s: s[:, 0] / s[:, 1] - s[:, 2] / s[:, 3],
        unit="turn",
        rng=rng(),
        strata=G,
        n_resamples=100_000,
        expanded=False,
    )
    assert ours.percentile == pytest.approx(reference("strata_percentile"), abs=0.05)
    assert (ours.low, ours.high) == pytest.approx(reference("strata_bca"), abs=0.08)


def test_expanded_levels_give_students_interval_of_a_normal_mean():
    """Resampled means have the standard deviation s sqrt(n - 1) / n: at the expanded level their normal quantiles are
    those of Student's t interval (Hesterberg 2015, section 4.1)."""
    for n in (4, 10, 50):
        x = np.random.default_rng(n).normal(size=n)
        error = x.std(ddof=1) * np.sqrt(n - 1) / n
        half = stats.norm.ppf((1 + expansion(0.95, n)) / 2) * error
        theirs = stats.t.interval(0.95, n - 1, x.mean(), stats.sem(x))
        assert (x.mean() - half, x.mean() + half) == pytest.approx(theirs)
    assert expansion(0.95, 12, 2) > expansion(0.95, 12) > expansion(0.95, 10_000) == pytest.approx(0.95, abs=1e-4)
    assert expansion(0.95, 3, 3) == 0.95


def test_crossed_samples_are_not_expanded():
    r = np.random.default_rng(3).normal(size=(30, 4))
    found = rs.replicate_two_way(30, 4, lambda w, v: np.einsum("kn,nr,kr->k", w, r, v), rng=rng(), unit="both")
    assert found.interval(method="percentile") == found.interval(method="percentile", expanded=False)


@pytest.mark.parametrize("ties", [False, True])
def test_bca_of_given_resamples_equals_scipy_to_rounding(ties):
    """Also where many resamples have the mean of the sample: half of them count as below it."""
    x = np.random.default_rng(1).exponential(size=32)
    x = np.minimum(np.rint(x), 2) if ties else x
    theirs = stats.bootstrap((x,), np.mean, n_resamples=999, rng=rng())
    left_out = (x.sum() - x) / (len(x) - 1)
    ours = bca(x.mean(), theirs.bootstrap_distribution, left_out)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), rel=1e-12)


def test_two_samples_equal_scipy_to_rounding():
    r = np.random.default_rng(2)
    x, y = r.exponential(size=20), r.exponential(size=35)
    theirs = stats.bootstrap((x, y), lambda a, b, axis=-1: a.mean(axis) - b.mean(axis), n_resamples=999, rng=rng())
    found = rs.replicate_sums([with_ones(x), with_ones(y)], lambda a, b: mean(a) - mean(b), unit="turn", rng=rng())
    ours = bca(x.mean() - y.mean(), theirs.bootstrap_distribution, found.jackknife[:, 0], found.weights, found.groups)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), rel=1e-12)
    assert found.n_units == 55


def test_counted_patterns_have_the_exact_jackknife_of_the_units():
    rows = np.array([[0.0, 1.0], [1.0, 1.0], [5.0, 1.0]])
    counts = np.array([30, 12, 4])
    counted = rs.replicate_sums(rows, mean, unit="turn", rng=rng(), counts=counts, n_resamples=40_000)
    spelled = rs.replicate_sums(np.repeat(rows, counts, axis=0), mean, unit="turn", rng=rng(), n_resamples=40_000)
    expected = acceleration(spelled.jackknife[:, 0])
    assert acceleration(counted.jackknife[:, 0], counted.weights) == pytest.approx(expected, rel=1e-12)
    found, whole = counted.interval(), spelled.interval()
    assert found.n_units == whole.n_units == 46
    # the statistic moves in steps of 1/46
    assert (found.low, found.high) == pytest.approx((whole.low, whole.high), abs=1.01 / 46)


def two_way(n, m, statistic, n_resamples):
    found = rs.replicate_two_way(n, m, statistic, rng=rng(), unit="both", n_resamples=n_resamples)
    return found.intervals(0.95, "percentile")


@pytest.mark.parametrize("chunk", [1, 37])
def test_results_do_not_depend_on_chunking(monkeypatch, chunk):
    rows = with_ones(np.random.default_rng(6).integers(0, 5, 30))
    strata = np.arange(30) % 3
    counts = np.arange(1, 31)

    def everything():
        return [
            rs.bootstrap_sums(rows, mean, unit="turn", rng=rng(), strata=strata, n_resamples=300),
            rs.bootstrap_sums(rows, mean, unit="turn", rng=rng(), counts=counts, n_resamples=300),
            rs.bootstrap_sums([rows, rows[:9]], lambda a, b: mean(a) - mean(b), unit="x", rng=rng(), n_resamples=300),
            rs.bootstrap_weights(30, lambda w: w @ rows[:, 0], unit="turn", rng=rng(), n_resamples=300),
            *two_way(30, 2, lambda w, v: np.einsum("kn,nr,kr->k", w, rows, v), n_resamples=300),
        ]

    whole = everything()
    monkeypatch.setattr(rs, "CHUNK", chunk)
    assert everything() == whole


def test_strata_are_kept_at_their_size():
    # every stratum is constant: resampling within strata cannot move the mean at all
    x = np.repeat([1.0, 2.0, 6.0], [5, 7, 9])
    strata = np.repeat(["a", "b", "c"], [5, 7, 9])
    found = rs.bootstrap_sums(with_ones(x), mean, unit="turn", rng=rng(), strata=strata, n_resamples=100)
    assert found.kind == "not_estimable"
    assert found.note == "every resample gives the same value"
    assert found.estimate == pytest.approx(x.mean())


def test_strata_jackknife_brings_the_stratum_back_to_its_size():
    # stratified mean with sizes 2 and 3: leaving out x1 puts x2 in for both, so (2 * 4 + 1 + 2 + 6) / 5
    x = np.array([0.0, 4.0, 1.0, 2.0, 6.0])
    found = rs.replicate_sums(
        with_ones(x), mean, unit="turn", rng=rng(), strata=np.array([0, 0, 1, 1, 1]), n_resamples=10
    )
    assert found.jackknife[:, 0] == pytest.approx([17 / 5, 9 / 5, 4 / 5 + 12 / 5, 4 / 5 + 10.5 / 5, 4 / 5 + 4.5 / 5])


def test_undefined_resamples_are_counted_and_said():
    # the ratio is undefined where no unit with a denominator is drawn: (1 - 4/30)^30 = 1.4 % of resamples
    rows = np.column_stack([np.arange(30.0), (np.arange(30) < 4) * 1.0])
    found = rs.bootstrap_sums(rows, mean, unit="turn", rng=rng(), n_resamples=5000)
    assert 30 < found.n_undefined < 120
    assert found.kind == "bca"
    assert f"leaves out {found.n_undefined} of 5000" in found.note
    assert found.row()["n_undefined"] == found.n_undefined


def test_too_many_undefined_resamples_give_no_interval():
    rows = np.column_stack([np.arange(30.0), (np.arange(30) < 1) * 1.0])  # undefined in 36 %
    found = rs.bootstrap_sums(rows, mean, unit="turn", rng=rng(), n_resamples=2000)
    assert found.kind == "not_estimable"
    assert np.isnan(found.low)
    assert "undefined in" in found.note
    assert found.estimate == pytest.approx(rows[:, 0].sum())


def test_undefined_estimate_says_so():
    found = rs.bootstrap_sums(np.zeros((5, 2)), mean, unit="turn", rng=rng(), n_resamples=100)
    assert (found.kind, found.n_undefined) == ("not_estimable", 100)
    assert np.isnan(found.estimate)
    assert "undefined on these data" in found.note


def test_percentile_stands_in_where_bca_is_not_defined():
    x = np.random.default_rng(9).normal(size=20)
    fixed_size = rs.bootstrap_weights(
        20, lambda w: np.where(w.sum(axis=1) == 20, w @ x / 20, np.nan), unit="turn", rng=rng()
    )
    assert fixed_size.kind == "percentile"
    assert fixed_size.note == "percentile, because leaving out one unit can make the statistic undefined"
    assert (fixed_size.low, fixed_size.high) == fixed_size.percentile
    distinct = rs.bootstrap_weights(20, lambda w: (w > 0).sum(axis=1) / w.sum(axis=1), unit="turn", rng=rng())
    assert distinct.estimate == 1.0  # and every resample repeats a unit
    assert distinct.note == "percentile, because the estimate lies outside all resamples"
    assert np.isnan(bca(0.5, np.linspace(0, 1, 1001), np.array([0.5, np.nan, 0.4]))).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": np.array([[1.0, np.nan]])}, "finite"),
        ({"rows": np.ones((3, 2)), "counts": np.array([1, -1, 2])}, "counts"),
        ({"rows": np.ones((3, 2)), "method": "basic"}, "'percentile', found 'basic'"),
        ({"rows": np.ones((3, 2)), "confidence": 95}, "between 0 and 1, found 95"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        rs.bootstrap_sums(**{"statistic": mean, "unit": "turn", "rng": rng(), "n_resamples": 10, **arguments})


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (10, 10), (3, 17), (1, 1)])
def test_exact_binomial_equals_scipy(successes, n):
    theirs = stats.binomtest(successes, n).proportion_ci(0.95, method="exact")
    assert rs.exact_binomial(successes, n) == pytest.approx(tuple(theirs), abs=1e-12)


def test_two_way_variance_of_a_crossed_mean():
    # given the data, the variance over resamples of a complete crossed mean is the sum of three terms; those of rows
    # and columns hold an error share of their own, which is why Owen's interval is somewhat wide
    r = np.random.default_rng(8)
    n, m = 60, 40
    x = r.normal(size=(n, 1)) + r.normal(size=(1, m)) + r.normal(size=(n, m))
    (found,) = two_way(n, m, lambda w, v: np.einsum("kn,nr,kr->k", w, x, v) / (n * m), n_resamples=4000)
    rows, columns = x.mean(1), x.mean(0)
    rest = x - rows[:, None] - columns + x.mean()
    expected = rows.var() / n + columns.var() / m + rest.var() / (n * m)
    assert found.kind == "percentile"
    assert found.standard_error**2 == pytest.approx(expected, rel=0.08)  # 4,000 resamples: 2.2 % a standard error
    assert found.estimate == pytest.approx(x.mean())


def test_very_many_units_are_resampled_in_groups_and_give_the_same_interval(monkeypatch):
    x = np.random.default_rng(1).gamma(2, size=6_000)
    options = {"unit": "turn", "n_resamples": 2_000}
    found = rs.bootstrap_sums(with_ones(x), mean, rng=np.random.default_rng(1), **options)
    monkeypatch.setattr(rs, "MANY_UNITS", len(x))
    whole = rs.bootstrap_sums(with_ones(x), mean, rng=np.random.default_rng(1), **options)
    assert (found.n_units, whole.n_units, found.kind) == (6_000, 6_000, "bca")
    assert found.estimate == pytest.approx(whole.estimate)
    assert found.high - found.low == pytest.approx(whole.high - whole.low, rel=0.08)


def test_groups_of_units_differ_by_one_at_most():
    sums = rs.grouped(with_ones(np.arange(103.0)), 10, np.random.default_rng(1))
    assert sums.sum(axis=0).tolist() == [103 * 51, 103]
    assert set(sums[:, 1]) == {10, 11}


def test_expanded_intervals_cover_with_few_units_where_plain_ones_do_not():
    """Means of eight normal numbers: 1,000 samples, standard error 0.7 to 1 point."""
    r, hits = np.random.default_rng(8), np.zeros(2)
    for _ in range(1000):
        found = rs.replicate_sums(with_ones(r.normal(4.0, size=8)), mean, unit="x", rng=r, n_resamples=400)
        for i, expanded in enumerate((True, False)):
            interval = found.interval(expanded=expanded)
            hits[i] += interval.low <= 4 <= interval.high
    assert hits[0] >= 930 > 915 >= hits[1]


def test_exact_binomial_by_hand():
    # no success in n: the upper end solves (1 - p)^n = 0.025
    assert rs.exact_binomial(0, 20)[1] == pytest.approx(1 - 0.025 ** (1 / 20))
    with pytest.raises(ValueError, match="found 5 of 3"):
        rs.exact_binomial(5, 3)
