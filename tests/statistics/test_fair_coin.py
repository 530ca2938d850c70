"""The binomial distribution of fair coins against `scipy.stats`."""

import numpy as np
from scipy import stats

from judgebook.statistics import fair_coin

RNG = np.random.default_rng(1)


def test_throws_of_a_coin():
    n = RNG.integers(0, 3000, 2000)
    heads = RNG.integers(0, n + 1)
    np.testing.assert_allclose(fair_coin.coin_cdf(heads, n), stats.binom.cdf(heads, n, 0.5), rtol=1e-10)
    for p in (0.005, 0.025, 0.05, 0.1):
        np.testing.assert_array_equal(fair_coin.coin_ppf(p, n), stats.binom.ppf(p, n, 0.5))
