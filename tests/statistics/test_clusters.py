"""Clustered covariances against the jackknife written out and statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.sandwich_covariance import cov_cluster, cov_cluster_2groups

from judgebook.statistics import clusters


def crossed(rng, n=40, people=9, systems=3, each=2):
    system, dialogue, person = [], [], []
    for d in range(n):
        for p in rng.choice(people, each, replace=False):
            system.append(d % systems)
            dialogue.append(d // systems)  # a session has a dialogue of each system
            person.append(p)
    system, dialogue, person = map(np.array, (system, dialogue, person))
    score = rng.normal(0, 1, n)[dialogue] + rng.normal(0, 1, people)[person] + rng.normal(0, 1, len(system))
    return system, score, dialogue, person


def test_pairs_have_codes_in_the_order_in_which_they_appear():
    one, other = np.array(["b", "a", "b", "b", "a"], dtype=object), np.array([7, 2, 7, 2, 2])
    assert clusters.crossed(one, other).tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize("kind", ["dense", "sparse", "text", "small"])
def test_codes_are_those_of_pandas(kind):
    rng = np.random.default_rng(3)
    values = {
        "dense": rng.integers(0, 400, 300),
        "sparse": rng.integers(0, 2**62, 50)[rng.integers(0, 50, 300)],
        "text": rng.choice(["b", "a", "cc"], 40),
        "small": rng.integers(-128, 128, 300).astype(np.int8),
    }[kind]
    np.testing.assert_array_equal(clusters.numbered(values), pd.factorize(values)[0])
    assert clusters.numbered(values[:0]).tolist() == []


def without_correction(codes, scores, groups):
    """Our covariance without the factors c / (c - 1): of samples that have all clusters, which are of one size."""
    names = np.unique(groups)
    c = len(names)
    return clusters.clustered_covariance(codes, scores, np.ones(len(codes)), [groups])[1].first * (c - 1) / c


def test_it_is_the_jackknife_written_out():
    system, score, _, person = crossed(np.random.default_rng(1), n=60)
    weights = np.random.default_rng(2).uniform(0.2, 2, len(score))
    means = np.stack([
        np.bincount(system[kept], (weights * score)[kept]) / np.bincount(system[kept], weights[kept])
        for kept in (person != p for p in range(9))
    ])  # fmt: skip
    whole = np.bincount(system, weights * score) / np.bincount(system, weights)
    expected = 8 / 9 * (means - whole).T @ (means - whole)
    assert clusters.clustered_covariance(system, score, weights, [person])[1].first == pytest.approx(expected)


def test_by_two_kinds_of_equal_clusters_the_variances_are_those_of_statsmodels():
    """Where people add to the covariance, which is then not cut."""
    system, score, dialogue, person = crossed(np.random.default_rng(2), n=300, each=9)
    score = score + 3 * np.random.default_rng(3).normal(size=(9, 3))[person, system]
    fit = sm.OLS(score, np.eye(3)[system]).fit()
    expected = cov_cluster_2groups(fit, person, dialogue, use_correction=False)[0]
    by_dialogue, by_person = (without_correction(system, score, g) for g in (dialogue, person))
    both = cov_cluster(fit, person * 1000 + dialogue, use_correction=False)
    assert by_dialogue + by_person - both == pytest.approx(expected)
    ours = clusters.clustered_covariance(system, score, np.ones(len(score)), [dialogue, person])[1]
    assert ours.variances == pytest.approx(np.diag(expected) * 9 / 8, rel=0.05)


@pytest.mark.parametrize("ways", [1, 2])
def test_variances_are_the_covariances_of_single_samples(ways):
    system, score, dialogue, person = crossed(np.random.default_rng(7))
    weights, groups = np.where(system == 0, 0.5, 1.0), [dialogue, person][:ways]
    mean, variance, n = clusters.clustered_variances(system, score, weights, groups)
    for s in range(3):
        own = system == s
        found = clusters.clustered_covariance(
            np.zeros(own.sum(), int), score[own], weights[own], [g[own] for g in groups]
        )
        assert (mean[s], variance[s], n[s]) == (
            pytest.approx(found[0][0]),
            pytest.approx(found[1].variances[0]),
            found[2][0],
        )


def test_a_sample_with_one_cluster_has_no_variance():
    _, cov, n = clusters.clustered_covariance(
        np.array([0, 0, 1, 1]), np.arange(4.0), np.ones(4), [np.array([0, 1, 2, 2])]
    )
    assert n.tolist() == [2, 1]
    assert np.isnan(cov.first).tolist() == [[False, True], [True, True]]


def test_a_number_without_scores_leaves_the_others_as_they_are():
    codes, scores, groups = np.array([0, 0, 2, 2, 2]), np.array([1.0, 2, 3, 5, 6]), np.array([0, 1, 0, 1, 2])
    with np.errstate(invalid="ignore"):
        gap = clusters.clustered_covariance(codes, scores, np.ones(5), [groups])[1].first
    close = clusters.clustered_covariance(codes // 2, scores, np.ones(5), [groups])[1].first
    assert gap[np.ix_([0, 2], [0, 2])] == pytest.approx(close)


def test_a_difference_that_does_not_vary_has_no_error():
    cov = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    assert clusters.Covariance(cov).pair_errors().tolist() == [0, 1, 1]


def test_what_the_second_kind_adds_counts_where_it_is_positive():
    """By hand: of the first mean it is negative, of the second 2, of their difference -0.5 + 2 - 2 * 0.25 = 1."""
    cov = clusters.Covariance(np.eye(2), np.array([[-0.5, 0.25], [0.25, 2.0]]))
    assert cov.variances.tolist() == [1, 3]
    assert cov.pair_errors() == pytest.approx([np.sqrt(2 + 1)])
    assert cov.only(np.array([1])).variances.tolist() == [3]


def test_pairs_have_the_degrees_of_freedom_of_the_smaller_or_welchs():
    """Five and eight clusters, of which some are shared; a third sample shares none: Welch's."""
    codes = np.repeat([0, 1, 2], [5, 8, 4])
    names = np.r_[np.arange(5), np.arange(8), np.arange(20, 24)]
    found = clusters.pair_df(codes, np.ones(17), [names], np.array([2.0, 1.0, 3.0]))
    welch = [(v + 3) ** 2 / (v**2 / (n - 1) + 9 / 3) for v, n in ((2, 5), (1, 8))]
    assert found == pytest.approx([4, *welch])


def test_clusters_of_unequal_size_count_for_fewer():
    codes, weights = np.zeros(10, int), np.ones(10)
    equal, unequal = np.repeat(range(5), 2), np.array([0] * 6 + [1, 2, 3, 4])
    assert clusters.effective_number(codes, weights, [equal]) == pytest.approx([5])
    assert clusters.effective_number(codes, weights, [unequal]) == pytest.approx([1 / (0.6**2 + 4 * 0.1**2)])
    assert clusters.effective_number(codes, weights, [equal, unequal]) == pytest.approx([2.5])
    two = np.array([0] * 4 + [1] * 6)
    assert clusters.effective_number(two, weights, [equal]) == pytest.approx([2, 3])


def test_of_equal_clusters_it_is_that_of_cluster_robust_least_squares():
    system, score, dialogue, _ = crossed(np.random.default_rng(1), n=198)
    fit = sm.OLS(score, np.eye(3)[system]).fit()
    expected = cov_cluster(fit, dialogue, use_correction=False)
    assert without_correction(system, score, dialogue) == pytest.approx(expected)


def test_a_variance_is_never_below_that_by_dialogues():
    rng = np.random.default_rng(4)
    for _ in range(20):
        system, score, dialogue, person = crossed(rng)
        one, two = (
            clusters.clustered_covariance(system, score, np.ones(len(score)), groups)[1]
            for groups in ([dialogue], [dialogue, person])
        )
        assert (two.pair_errors() >= one.pair_errors()).all()
        assert (two.variances >= one.variances).all()


def test_weights_count_scores():
    system, score, dialogue, _ = crossed(np.random.default_rng(5))
    weights = np.random.default_rng(6).integers(1, 4, len(score))
    repeated = (np.repeat(x, weights) for x in (system, score, dialogue))
    codes, scores, groups = repeated
    mean, cov, n = clusters.clustered_covariance(system, score, weights.astype(float), [dialogue])
    mean_2, cov_2, n_2 = clusters.clustered_covariance(codes, scores, np.ones(len(codes)), [groups])
    assert mean == pytest.approx(mean_2)
    assert cov.first == pytest.approx(cov_2.first)
    assert n.tolist() == n_2.tolist()


@pytest.mark.parametrize("people", [2, 3, 6])
def test_two_systems_are_compared_as_well_whatever_others_there_are(people):
    """The positive part of a whole matrix made A - B up to 1.3 times less certain, the more systems there were."""
    for seed in range(10):
        system, score, dialogue, person = crossed(np.random.default_rng(seed), n=160, people=people, systems=8)
        every = clusters.clustered_covariance(system, score, np.ones(len(score)), [dialogue, person])[1]
        own = system < 2
        groups = [dialogue[own], person[own]]
        alone = clusters.clustered_covariance(system[own], score[own], np.ones(own.sum()), groups)[1]
        assert every.pair_errors()[0] == pytest.approx(alone.pair_errors()[0])


def test_few_busy_people_among_many_leave_few_degrees_of_freedom():
    """Three of twenty people give most scores: with 19 degrees of freedom 95% intervals cover about 87%. With
    the effective number they cover about 94%."""
    rng, n_runs = np.random.default_rng(12), 1500
    person = np.r_[np.repeat(range(3), 40), np.repeat(range(3, 20), 2)]
    codes, weights = np.zeros(len(person), int), np.ones(len(person))
    effective, held = clusters.effective_number(codes, weights, [person])[0], np.zeros(2)
    for _ in range(n_runs):
        x = rng.normal(size=20)[person] + rng.normal(size=len(person))
        mean, cov, n = clusters.clustered_covariance(codes, x, weights, [person])
        half = stats.t.ppf(0.975, np.array([n[0], effective]) - 1) * np.sqrt(cov.variances[0])
        held += np.abs(mean) <= half
    assert n[0] == 20
    assert 3 < effective < 5
    assert held[0] / n_runs < 0.9
    assert held[1] / n_runs > 0.92


def test_the_jackknife_of_means_has_their_usual_covariance():
    """Exactly: that of a sample of n, divided by n - 1, over n."""
    rows = np.random.default_rng(4).normal(size=(9, 3)) @ [[1.0, 0.5, 0], [0, 2, 0], [0.3, 0, 1]]
    without = (rows.sum(axis=0) - rows) / 8
    np.testing.assert_allclose(clusters.jackknife_covariance(without), np.cov(rows.T) / 9, rtol=1e-12)
