"""Distributions without `scipy.stats`: each against its namesake there, and the modules that must do without it."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from helpers import distributions, params

RNG = np.random.default_rng(1)
P, X, DF = RNG.random(2000), 20 * RNG.random(2000), RNG.uniform(0.5, 300, 2000)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (distributions.norm_ppf(P), stats.norm.ppf(P)),
        (distributions.t_ppf(P, DF), stats.t.ppf(P, DF)),
        (distributions.t_sf(X - 10, DF), stats.t.sf(X - 10, DF)),
        (distributions.beta_ppf(P, X, DF), stats.beta.ppf(P, X, DF)),
        (distributions.chi2_cdf(X, DF), stats.chi2.cdf(X, DF)),
        (distributions.chi2_sf(X, DF), stats.chi2.sf(X, DF)),
        (distributions.ncx2_cdf(X, DF, X[::-1]), stats.ncx2.cdf(X, DF, X[::-1])),
        (distributions.f_sf(X, DF, DF[::-1]), stats.f.sf(X, DF, DF[::-1])),
    ],
)
def test_each_is_the_one_of_scipy_stats(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-300)


def test_throws_of_a_coin():
    n = RNG.integers(0, 3000, 2000)
    heads = RNG.integers(0, n + 1)
    np.testing.assert_allclose(distributions.coin_cdf(heads, n), stats.binom.cdf(heads, n, 0.5), rtol=1e-10)
    for p in (0.005, 0.025, 0.05, 0.1):
        np.testing.assert_array_equal(distributions.coin_ppf(p, n), stats.binom.ppf(p, n, 0.5))


def test_intervals_and_tests_do_not_load_scipy_stats():
    names = "contrasts, effects, group_effects, iaa, intervals, logit, rates, resampling, subsets, validity"
    code = f"import sys\nfrom helpers import {names}\nprint('scipy.stats' in sys.modules)"
    environment = {"PYTHONPATH": str(params.ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "False"
