import numpy as np
import pytest
import statsmodels.api as sm
from fixtures.libraries import SCIPY
from fixtures.made_annotations import monte_carlo
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgebook.statistics import correlation

samples = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), min_size=3, max_size=25)


@pytest.mark.parametrize("coefficient", correlation.COEFFICIENTS)
@given(samples)
def test_coefficients_are_those_of_scipy(coefficient, pairs):
    x, y = np.array(pairs, dtype=float).T
    found, reason = correlation.correlate(x, y, coefficient)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert (np.isnan(found), reason) == (True, "one of the two sides is constant")
    else:
        assert (found, reason) == (pytest.approx(SCIPY[coefficient](x, y).statistic, abs=1e-9), "")


def test_what_is_missing_is_left_out_and_too_little_has_a_reason():
    x, y = np.array([1, 2, 3, np.nan, 5]), np.array([2, 1, 4, 9, np.nan])
    assert correlation.correlate(x, y, "pearson")[0] == pytest.approx(stats.pearsonr(x[:3], y[:3]).statistic)
    assert correlation.correlate(x[2:], y[2:]) == (
        pytest.approx(np.nan, nan_ok=True),
        "1 items have both scores, 3 are needed",
    )
    with pytest.raises(ValueError, match="coefficient: expected one of pearson, spearman, kendall, found 'r'"):
        correlation.correlate(x, y, "r")


@given(samples, st.integers(0, 2**32))
def test_ranks_within_resamples_are_those_of_the_resample_written_out(pairs, seed):
    x, y = np.array(pairs, dtype=float).T
    counts = np.random.default_rng(seed).multinomial(len(x), np.full(len(x), 1 / len(x)), size=4).astype(float)
    ranks = correlation._ranks(x, counts.T)[0].T + (len(x) + 1) / 2
    both = np.stack([y, np.where(y > 6, np.nan, -y)], axis=1)
    found = {c: correlation.weighted_correlations(x, both, counts, c) for c in ("pearson", "spearman")}
    for k, c in enumerate(counts.astype(int)):
        written = np.repeat(x, c)
        assert np.repeat(ranks[k], c) == pytest.approx(stats.rankdata(written))
        for j in range(2):
            other = np.repeat(both[:, j], c)
            kept = np.isfinite(other)
            a, b = written[kept], other[kept]
            enough = np.isfinite(both[:, j]).sum() >= 3 and len(a) > 1 and np.ptp(a) > 0 and np.ptp(b) > 0
            for name, values in found.items():
                expected = SCIPY[name](a, b).statistic if enough else np.nan
                assert values[k, j] == pytest.approx(expected, abs=1e-7, nan_ok=True)


def test_several_metrics_at_once_are_each_alone():
    rng = np.random.default_rng(4)
    x, y = np.rint(rng.normal(size=(2, 20, 3)) * 2)
    x[3, 1], y[5, 2] = np.nan, np.nan
    counts = rng.multinomial(20, np.full(20, 0.05), size=5).astype(float)
    for c in ("pearson", "spearman"):
        found = correlation.weighted_correlations(x, y, counts, c)
        alone = np.stack([correlation.weighted_correlations(column, y, counts, c) for column in x.T], axis=1)
        assert found.shape == (5, 3, 3)
        assert found == pytest.approx(alone, nan_ok=True)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_influence_is_what_an_item_contributes(coefficient):
    """Its sum of squares is the jackknife's variance, up to the order that the projection leaves out."""
    rng, n = np.random.default_rng(5), 400
    x = rng.normal(size=n)
    y = np.rint(x + rng.normal(size=n))
    r, effect = correlation.influence(x, y, coefficient)
    assert r == pytest.approx(SCIPY[coefficient](x, y).statistic)
    assert effect.mean() == pytest.approx(0, abs=1e-12)
    without = np.array([SCIPY[coefficient](np.delete(x, i), np.delete(y, i)).statistic for i in range(n)])
    assert np.corrcoef(effect, r - without)[0, 1] > 0.999
    assert np.sum(effect**2) / n**2 == pytest.approx((n - 1) * np.var(without), rel=0.03)


def test_standard_error_of_clusters_is_that_of_statsmodels_and_the_interval_that_of_scipy():
    rng = np.random.default_rng(11)
    clusters = np.repeat(np.arange(12), rng.integers(1, 6, 12))
    x = rng.normal(size=12)[clusters] + rng.normal(size=len(clusters))
    fit = sm.OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    assert correlation.clustered_se((x - x.mean()) / len(x), clusters) == pytest.approx(fit.bse[0])
    y = x + rng.normal(size=len(x))
    found = stats.pearsonr(x, y)
    r, n = found.statistic, len(x)
    ends = correlation.fisher_interval(r, (1 - r**2) / np.sqrt(n - 3), 10**9)  # so many degrees of freedom: a normal
    assert ends == pytest.approx(tuple(found.confidence_interval()), abs=1e-7)


def test_no_interval_from_one_cluster_or_a_perfect_correlation():
    assert np.isnan(correlation.clustered_se(np.array([1.0, -1.0]), np.array([0, 0])))
    assert np.isnan(correlation.fisher_interval(1.0, 0.1, 5)).all()
    assert np.isnan(correlation.fisher_interval(0.5, np.nan, 5)).all()


def test_sums_of_moments_give_pearsons_r():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    x[:5, 1] = np.nan
    rows = correlation.moments(x, y)
    found = correlation.pearson_of_sums(np.stack([rows.sum(axis=0), rows[:20].sum(axis=0)]))
    parts = [(x[:n, 0], x[5:n, 1], y[:n]) for n in (40, 20)]
    expected = [[stats.pearsonr(a, v).statistic, stats.pearsonr(b, v[5:]).statistic] for a, b, v in parts]
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    assert np.isnan(correlation.pearson_of_sums(correlation.moments(np.ones((9, 1)), y[:9]).sum(axis=0)[None])).all()


def test_interval_from_influences_covers_with_clusters():
    rng, n, truth = (
        np.random.default_rng(6),
        300,
        6 / np.pi * np.arcsin(0.25),
    )  # Spearman's rho of a normal pair, r = .5
    covered = []
    for _ in range(n):
        shared, own = (rng.normal(size=(60, k, 2)) @ np.linalg.cholesky([[1, 0.5], [0.5, 1]]).T for k in (1, 4))
        x, y = (0.8 * shared + 0.6 * own).reshape(-1, 2).T
        r, effect = correlation.influence(x, y)
        se = correlation.clustered_se(effect / len(x), np.repeat(np.arange(60), 4))
        low, high = correlation.fisher_interval(r, se, 59)
        covered.append(low < truth < high)
    assert np.mean(covered) == pytest.approx(0.95, abs=monte_carlo(0.95, n) + 0.01)
