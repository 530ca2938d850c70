"""Covariance and degrees of freedom of coefficients, against explicit matrices of all judgements, and least squares."""

import numpy as np
import pytest
import statsmodels.api as sm

from judgebook.model import ratings
from judgebook.model.fit import Judgements
from judgebook.model.ratings import uncertainty


def dense(x, parts, variances, residual):
    """By their definitions, with (n, n) matrices."""
    n, p = x.shape
    shared = [np.equal.outer(codes, codes).astype(float) for codes in parts] + [np.eye(n)]
    v = sum(s * m for s, m in zip([*variances, residual], shared, strict=True))
    inverse = np.linalg.inv(v)
    covariance = np.linalg.inv(x.T @ inverse @ x)
    project = inverse - inverse @ x @ covariance @ x.T @ inverse
    information = np.array([[np.sum((project @ a) * (project @ b).T) / 2 for b in shared] for a in shared])
    slopes = [covariance @ x.T @ inverse @ m @ inverse @ x @ covariance for m in shared]
    df = np.zeros((p, p))
    for i in range(p):
        for j in range(p):
            c = np.zeros(p)
            c[i] += 1
            c[j] -= i != j
            g = np.array([c @ s @ c for s in slopes])
            df[i, j] = 2 * (c @ covariance @ c) ** 2 / (g @ np.linalg.solve(information, g))
    half = covariance @ x.T @ inverse  # Kenward and Roger 1997, where V is linear in the variances
    bends = np.array([[half @ a @ project @ b @ half.T for b in shared] for a in shared])
    return covariance + 2 * np.tensordot(np.linalg.inv(information), bends, ((0, 1), (0, 1))), df


def design(seed, systems=3, items=8, people=5, each=2):
    """Every system has items, each judged by some of the people."""
    r = np.random.default_rng(seed)
    system = np.repeat(np.arange(systems), items * each)
    item = np.repeat(np.arange(systems * items), each)
    who = np.concatenate([r.choice(people, each, replace=False) for _ in range(systems * items)])
    taste = np.unique(who * systems + system, return_inverse=True)[1]
    return np.eye(systems)[system], item, who, taste


@pytest.mark.parametrize("variances", [(0.5, 0.3, 0.2), (0.0, 0.3, 0.2), (0.5, 0.0, 0.2), (0.5, 0.3, 0.0), (0, 0, 0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_three_parts_are_those_of_the_dense_formula(variances, seed):
    """A variance of 0 counts as estimated."""
    x, *parts = design(seed)
    found, expected = uncertainty(x, parts, np.array(variances, float), 0.7), dense(x, parts, variances, 0.7)
    assert found[0] == pytest.approx(expected[0])
    assert found[1] == pytest.approx(expected[1], rel=1e-6)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_one_part_is_that_of_the_dense_formula(which):
    x, *parts = design(3)
    found, expected = uncertainty(x, [parts[which]], np.array([0.4]), 1.3), dense(x, [parts[which]], [0.4], 1.3)
    assert found[0] == pytest.approx(expected[0])
    assert found[1] == pytest.approx(expected[1], rel=1e-6)


def test_without_parts_they_are_those_of_least_squares():
    r = np.random.default_rng(4)
    x = np.eye(3)[np.repeat([0, 1, 2], [4, 9, 12])]
    y = r.normal(size=25)
    fit = sm.OLS(y, x).fit()
    covariance, df = uncertainty(x, [], np.zeros(0), fit.scale)
    assert covariance == pytest.approx(fit.cov_params())
    assert df == pytest.approx(np.full((3, 3), 25.0 - 3))


def test_annotators_with_tastes_have_as_many_degrees_of_freedom_as_a_table_of_means():
    """Crossed and balanced, tastes alone make the error of a difference: (systems - 1) (people - 1) degrees."""
    systems, people, each = 4, 6, 5
    system, who = np.repeat(np.arange(systems), people * each), np.tile(np.repeat(np.arange(people), each), systems)
    parts = [who, who * systems + system]
    _, df = uncertainty(np.eye(systems)[system], parts, np.array([0.5, 1e6]), 1.0)
    assert df[np.triu_indices(systems, 1)] == pytest.approx(np.full(6, 3 * 5.0), rel=1e-3)


@pytest.mark.parametrize("people", [2, 4])
@pytest.mark.parametrize("noise", [0.0, 1e-7])
def test_annotators_who_always_agree_say_no_more_than_one_of_them(people, noise):
    """Items are the sample: means and differences have the errors and degrees of freedom of a one-way layout."""
    r, sizes = np.random.default_rng(3), (12, 20, 9)
    system, n = np.repeat(np.arange(3), sizes), sum(sizes)
    score = r.normal(size=n) + system
    item, who = np.repeat(np.arange(n), people), np.tile(np.arange(people), n)
    given = np.repeat(score, people) + noise * r.normal(size=n * people)
    fit = ratings.fit(Judgements(("a", "b", "c"), system[item], item, item, who, given))
    within = sum(((score[system == s] - score[system == s].mean()) ** 2).sum() for s in range(3)) / (n - 3)
    assert fit.variances["item"] == pytest.approx(within, rel=1e-5)
    assert fit.variances["residual"] == 0
    assert fit.others
    assert fit.left_out["annotator"] == "all judgements of an item are the same"
    assert np.diag(fit.levels.covariance) == pytest.approx(within / np.array(sizes), rel=1e-5)
    assert fit.levels.df == pytest.approx(np.full((3, 3), n - 3.0))


def test_judgements_that_items_and_annotators_explain_altogether_have_no_intervals():
    system, item, who = np.repeat([0, 1], 12), np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    score = np.random.default_rng(1).normal(size=8)[item] + np.array([0.0, 0.5, 2.0])[who]
    fit = ratings.fit(Judgements(("a", "b"), system, item, item, who, score))
    assert "explain all" in fit.note
    assert np.isnan(fit.levels.covariance).all()
