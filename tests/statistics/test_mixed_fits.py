"""Searches with a pinned share, and the intervals they lead to, against a dense likelihood and other searches."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit, logit

from judgebook.statistics import laplace, reml, variance_shares
from judgebook.statistics.mixed_fits import PinnedSearch

#: quantile of chi-square with one degree of freedom, of intervals of 95%
ALLOWED = 3.841459


def scores(factors, sds, seed=0):
    rng = np.random.default_rng([7, seed])
    effects = (sd * rng.normal(size=f.max() + 1)[f] for f, sd in zip(factors, sds, strict=True))
    return sum(effects, 3 + rng.normal(size=len(factors[0])))


def unequal(n=70):
    """Factors that cross, with levels of one score and of many."""
    rng = np.random.default_rng(3)
    return [np.unique((k * rng.random(n) ** 2).astype(int), return_inverse=True)[1] for k in (4, 9, 30)]


DESIGNS = {
    "crossed, unequal": (unequal(), (0.5, 0.8, 1.0)),
    "a variance of 0": (unequal(), (0.6, 0.0, 0.9)),
    "all variances 0": (unequal(), (0.0, 0.0, 0.0)),
    "one annotator": ([np.zeros(40, int), np.arange(40) // 2], (1.0, 1.0)),
    "nested": ([np.arange(60) // 12, np.arange(60) // 3], (0.7, 0.7)),
    "one factor": ([np.arange(40) // 4], (0.8,)),
}


class Dense:
    """The restricted likelihood from the covariance matrix of all scores."""

    def __init__(self, y, factors):
        self.y, self.x = y, np.ones((len(y), 1))
        self.z = [np.eye(f.max() + 1)[f] for f in factors]

    def deviance(self, ratios):
        n = len(self.y)
        v = np.eye(n) + sum(r * z @ z.T for r, z in zip(ratios, self.z, strict=True))
        by = np.linalg.solve(v, np.column_stack([self.x, self.y]))
        inner = self.x.T @ by[:, :1]
        rest = self.y @ by[:, 1] - (self.x.T @ by[:, 1]) ** 2 / inner[0]
        s2 = rest.item() / (n - 1)
        return (n - 1) * (np.log(2 * np.pi * s2) + 1) + np.linalg.slogdet(v)[1] + np.log(inner.item())

    def least(self, part, share):
        """By Nelder and Mead's method in the angles or ratios that are free, from many starts."""
        m = len(self.z)
        free = m - 1
        if part == m:
            total = (1 - share) / share

            def ratios(t):
                parts = np.r_[1.0, t**2]
                return total * parts / parts.sum()
        else:

            def ratios(t):
                return np.insert(t**2, part, share / (1 - share) * (1 + t @ t))

        if not free:
            return self.deviance(ratios(np.zeros(0)))
        options = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000, "maxfev": 4000}
        starts = np.array(np.meshgrid(*[[0.05, 2.0]] * free)).reshape(free, -1).T
        first = [optimize.minimize(lambda t: self.deviance(ratios(t)), s, method="BFGS") for s in starts]
        best = min(first, key=lambda one: one.fun)
        again = optimize.minimize(lambda t: self.deviance(ratios(t)), best.x, method="Nelder-Mead", options=options)
        return min(best.fun, again.fun)


@pytest.mark.parametrize("design", DESIGNS)
class TestRestricted:
    def made(self, design):
        factors, sds = DESIGNS[design]
        y = scores(factors, sds)
        model = reml.RestrictedDeviance(y, np.ones((len(y), 1)), factors)
        logs, least, _ = model.minimise(np.zeros(len(factors)))
        return Dense(y, factors), PinnedSearch(model.by_sd, np.exp(logs / 2), len(factors), 1.0), least

    @pytest.mark.verify
    def test_the_least_deviance_is_that_of_the_dense_likelihood(self, design):
        """As far as a search decides on an interval, and nowhere below: farther out there are several optima."""
        dense, search, least = self.made(design)
        for part in range(len(dense.z) + 1):
            for share in (0.02, 0.3, 0.7):
                expected, value = dense.least(part, share), search.least(part, share)
                near = expected - least < ALLOWED
                assert value == pytest.approx(expected, abs=2e-7) if near else value > least + ALLOWED, (part, share)

    def test_a_part_without_share(self, design):
        dense, search, _ = self.made(design)
        m = len(dense.z)
        for part in range(m):
            assert search.least(part, 0.0) == pytest.approx(dense.least(part, 0.0), abs=2e-7)
        assert search.least(m, 1.0) == pytest.approx(dense.deviance(np.zeros(m)), abs=2e-7)

    @pytest.mark.evidence
    def test_intervals_end_where_the_dense_likelihood_has_fallen(self, design):
        dense, _, least = self.made(design)
        factors, _ = DESIGNS[design]
        fit = reml.fit_linear_mixed(dense.y, dense.x, factors)
        for part, share in enumerate(fit.shares):
            for end, limit in ((fit.share_low[part], 1e-4), (fit.share_high[part], 1 - 1e-4)):
                inner = np.clip(share, 1e-4, 1 - 1e-4)

                def excess(at, part=part):
                    return dense.least(part, expit(at)) - least - ALLOWED

                if end in {0.0, 1.0} or np.isclose(end, limit, rtol=1e-9):
                    assert excess(logit(limit)) < 1e-6
                else:
                    exact = optimize.brentq(excess, *sorted([logit(inner), logit(limit)]), xtol=2e-3)
                    assert logit(end) == pytest.approx(exact, abs=0.012)


class TestLaplace:
    @pytest.mark.parametrize("design", ["crossed, unequal", "a variance of 0", "one factor"])
    def test_the_least_deviance_is_that_of_another_search(self, design):
        factors, sds = DESIGNS[design]
        y = np.digitize(scores(factors, sds), [2.2, 3.0, 4.0])
        model, m = laplace.LaplaceLikelihood(y, np.zeros((len(y), 0)), factors), len(factors)
        start = np.r_[-1.0, 0.0, 0.0, np.full(m, -1.0)]
        best = model.minimise(start)[0]
        search = PinnedSearch(model.by_sd, np.r_[best[:3], np.exp(best[3:])], m, 3.0)
        least = 2 * model.evaluate(best)[0]
        for part in range(m + 1):
            for share in (0.05, 0.3, 0.6):
                pinned, begin = variance_shares.pinned(part, share, 3.0, m), np.zeros(m - (part < m))
                settled = [model.minimise(np.r_[best[:3], begin + by], pinned, 1e-13)[1] for by in (-2, 0, 1)]
                expected, value, least = (
                    2 * min(settled),
                    search.least(part, share),
                    search.deviance(search.ends[0][2])[0],
                )
                near = expected - least < ALLOWED
                assert value == pytest.approx(expected, abs=5e-5) if near else value > least + ALLOWED, (part, share)

    def test_the_slope_by_standard_deviations(self):
        factors, sds = DESIGNS["crossed, unequal"]
        y = np.digitize(scores(factors, sds), [2.2, 3.0, 4.0])
        model = laplace.LaplaceLikelihood(y, np.zeros((len(y), 0)), factors)
        values = np.array([-1.0, 0.2, 0.1, 0.7, -0.4, 1.1])
        numeric = optimize.approx_fprime(values, lambda z: model.by_sd(z)[0], 1e-6)
        assert model.by_sd(values)[1] == pytest.approx(numeric, abs=1e-3)


@pytest.mark.parametrize("seed", range(2))
def test_no_variance_is_lost_at_zero(seed):
    """Skewed scores have long first steps. Other starts, and the profile of each share, find no lower deviance."""
    rng = np.random.default_rng(seed)
    dialogue = np.unique(rng.integers(0, 1200, 3000), return_inverse=True)[1]
    factors = [dialogue % 11, rng.integers(0, 100, 3000), dialogue]
    y = np.exp(2 * (rng.normal(0, 0.5, 100)[factors[1]] + rng.normal(0, 1, 3000)))
    fitted = reml.fit_linear_mixed(y, np.ones((3000, 1)), factors)
    model = reml.RestrictedDeviance(y / y.std(), np.ones((3000, 1)), factors)
    found = model.solve(fitted.variances / fitted.residual).deviance
    others = [model.minimise(np.full(3, np.log(start)))[1] for start in (0.001, 0.01, 0.1, 5.0)]
    assert found < min(others) + 1e-3
    assert (fitted.share_low <= fitted.shares).all()
    assert (fitted.shares <= fitted.share_high).all()
