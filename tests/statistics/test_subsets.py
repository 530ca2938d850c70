from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from fixtures.elimination import backward_elimination
from fixtures.libraries import plain_fit
from fixtures.reference import REFERENCE

from judgebook.statistics import subsets


def sample(seed, n=80, p=6, family="ols"):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p)))
    signal = x[:, 0] - 0.7 * x[:, 1] + 0.5 * x[:, 2]
    y = signal + 2 * rng.normal(size=n)
    return x, y if family == "ols" else (y > 0).astype(float)


def test_all_subsets_of_sixteen_predictors_equal_statsmodels():
    x, y = sample(0, n=400, p=16)
    found = subsets.all_r2(x, y)
    assert found.shape == (65_536,)
    for code in np.random.default_rng(1).choice(65_536, 60, replace=False):
        inside = np.flatnonzero(subsets.masks_of([code], 16)[0])
        assert found[code] == pytest.approx(plain_fit(x, y, "ols", set(inside))[0], abs=1e-10)


def test_fit_equals_r():
    data = pd.read_csv(REFERENCE / "regression_data.csv")
    expected = pd.read_csv(REFERENCE / "regression.csv", keep_default_na=False)
    expected = expected.set_index(["model", "statistic"])["value"].to_dict()
    fitness = subsets.Fitness(data[["steady", "rare", "count"]].to_numpy(float), data["y"].to_numpy(float), "ols")
    fit = fitness.fit(np.array([[True, False, False], [True, True, True]]))
    assert fit == pytest.approx([expected["one", "r2"], expected["three", "r2"]], abs=1e-10)
    adjusted = fitness.adjusted(fit, np.array([1, 3]))
    assert adjusted == pytest.approx([expected["one", "adjusted_r2"], expected["three", "adjusted_r2"]], abs=1e-10)
    logit = subsets.Fitness(fitness.x[:, [0, 2]], data["chosen"].to_numpy(float), "logit")
    assert logit.all()[3] == pytest.approx(expected["two", "mcfadden_r2"], abs=1e-10)


def test_subsets_are_numbered_by_hand():
    assert subsets.masks_of([0, 1, 6], 3).tolist() == [[False] * 3, [True, False, False], [False, True, True]]
    assert subsets.sizes(3).tolist() == [0, 1, 1, 2, 1, 2, 2, 3]
    assert subsets.Fitness(np.zeros((3, 2)), np.arange(3.0), "ols").p == 2


def test_constant_and_collinear_predictors_add_nothing():
    x, y = sample(4, p=3)
    more = np.column_stack([x, np.ones(len(y)), x[:, 0] + 2 * x[:, 1]])
    found, plain = subsets.all_r2(more, y), subsets.all_r2(x, y)
    assert found[8:16] == pytest.approx(found[:8], abs=1e-12)  # with the constant, without
    assert found[0b10011] == pytest.approx(plain[0b011], abs=1e-10)
    fit = subsets.Fitness(more, y, "ols").fit(subsets.masks_of(np.arange(32), 5))
    assert fit == pytest.approx(found, abs=1e-9)
    assert np.isnan(subsets.all_r2(x, np.ones(len(y)))).all()


def test_adjusted_fit_without_degrees_of_freedom_is_missing():
    x, y = sample(5, n=5, p=4)
    fitness = subsets.Fitness(x, y, "ols")
    assert np.isnan(fitness.adjusted(fitness.all(), subsets.sizes(4))[-1])


@pytest.mark.parametrize("family", subsets.FAMILIES)
def test_best_of_each_size_equals_a_loop(family):
    x, y = sample(6, family=family)
    found = subsets.best_of_each_size(subsets.Fitness(x, y, family).all(), 6, keep=2)
    for k in range(1, 7):
        ranked = sorted(combinations(range(6), k), key=lambda s: -plain_fit(x, y, family, set(s))[0])
        for place in range(2):
            if place < len(ranked):
                mask = subsets.masks_of([found[k - 1, place]], 6)[0]
                assert tuple(np.flatnonzero(mask)) == ranked[place]
    assert found[5, 1] == -1


def plain_beam(x, y, family, width):
    p, n_fits = x.shape[1], 1
    beam, parents = [frozenset(range(p))], {}
    for _ in range(p - 1):
        scored = {}
        for model in beam:
            for removed in sorted(model):
                child = model - {removed}
                if child not in scored:
                    scored[child] = plain_fit(x, y, family, child)[1]
                    parents[child], n_fits = model, n_fits + 1
        beam = sorted(scored, key=lambda s: -scored[s])[:width]
    chain = [beam[0]]
    while chain[-1] in parents:
        chain.append(parents[chain[-1]])
    return chain, n_fits


@pytest.mark.parametrize("family", subsets.FAMILIES)
@pytest.mark.parametrize("width", [1, 3])
def test_backward_elimination_equals_a_plain_search(family, width):
    x, y = sample(7, family=family)
    chain, n_fits = plain_beam(x, y, family, width)
    path = backward_elimination(subsets.Fitness(x, y, family), width)
    assert [frozenset(np.flatnonzero(m)) for m in path.masks] == chain
    assert path.n_fits == n_fits
    for mask, fit, adjusted, gain in zip(chain, path.fit, path.adjusted, path.gain, strict=True):
        r2, adj = plain_fit(x, y, family, mask)
        assert (fit, adjusted) == pytest.approx((r2, adj), abs=1e-9)
        smallest = min(adj - plain_fit(x, y, family, mask - {i})[1] for i in mask)
        assert gain == pytest.approx(smallest, abs=1e-9)


def test_beam_under_separation_and_with_one_predictor():
    x, y = sample(10, family="logit")
    x[:, 3] = 0
    x[np.flatnonzero(y == 1)[:2], 3] = 1
    path = backward_elimination(subsets.Fitness(x, y, "logit"), 5)
    assert np.isfinite(path.fit).all()
    assert (np.diff(path.fit) > -1e-9).all()
    one = backward_elimination(subsets.Fitness(x[:, :1], y, "logit"))
    assert (one.order.tolist(), one.n_fits) == ([0], 1)


def test_the_shortlist_finds_the_best_logits():
    same = []
    for seed in range(8):
        x, y = sample(seed, n=100, p=8, family="logit")
        exact = subsets.best_of_each_size(subsets.Fitness(x, y, "logit").all(), 8)[:, 0]
        same.append(np.mean(subsets.shortlist(x, y) == exact))
    assert np.mean(same) > 0.95


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(ValueError, match="at most 20 predictors, found 21"):
        subsets.all_r2(np.zeros((30, 21)), np.zeros(30))
    with pytest.raises(ValueError, match="expected one of ols, logit, found 'probit'"):
        subsets.Fitness(np.zeros((3, 1)), np.zeros(3), "probit")
