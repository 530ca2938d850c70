"""The model of votes: against closed forms, other estimators, brute force; what is left out; recovery."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from statsmodels.stats.meta_analysis import combine_effects

from judgebook.model import comparisons
from judgebook.model.comparisons import Comparisons, fit
from judgebook.model.contrasts import of_pairs
from judgebook.model.fit import ANSWER, RESIDUAL, TASTE
from judgebook.statistics import large_laplace
from judgebook.statistics.large_laplace import LargeLaplace
from judgebook.statistics.paired_laplace import Cumulants, PairedLaplace, Part


def random_parts(found):
    """Variances of answers and tastes, without what chance adds."""
    return {part: v for part, v in found.variances.items() if part != RESIDUAL}


def drawn(strengths, n, *, contexts=12, annotators=6, answer=0.0, taste=0.0, nu=1.0, seed=0):
    """Random votes of annotators on answers to contexts."""
    rng, s = np.random.default_rng(seed), len(strengths)
    first = rng.integers(s, size=n)
    second = (first + rng.integers(1, s, size=n)) % s
    context, annotator = rng.permutation(np.arange(n) % contexts), rng.permutation(np.arange(n) % annotators)
    a, t = answer * rng.normal(size=(contexts, s)), taste * rng.normal(size=(annotators, s))
    x = np.asarray(strengths) + a[context] + t[annotator]
    d = x[np.arange(n), first] - x[np.arange(n), second]
    weights = np.column_stack([np.exp(-d / 2), np.full(n, nu), np.exp(d / 2)])
    chance = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    score = (rng.random(n)[:, None] > chance).sum(axis=1) - 1
    return Comparisons(tuple("abcdefghij"[:s]), first, second, score, context, annotator)


def unclustered(c):
    return replace(c, context=np.arange(len(c)), annotator=None)


@pytest.fixture(scope="module")
def votes():
    return drawn([0.0, 0.4, 0.9, -0.3], 240, answer=0.7, taste=0.7, seed=3)


@pytest.fixture(scope="module")
def fitted(votes):
    return fit(votes)


def test_two_systems_as_by_hand():
    """12 wins, 6 losses, 9 ties: log(12 / 6), nu = 9 / sqrt(72), and the inverse information of a trinomial."""
    score = np.repeat([1, -1, 0], [12, 6, 9])
    found = fit(Comparisons(("a", "b"), np.zeros(27, int), np.ones(27, int), score, np.arange(27)))
    assert found.levels.estimates[0] - found.levels.estimates[1] == pytest.approx(np.log(2))
    assert found.levels.estimates.sum() == pytest.approx(0, abs=1e-12)
    assert found.log_nu == pytest.approx(np.log(9 / np.sqrt(72)), abs=1e-5)
    # the log of a ratio of two counts
    assert found.levels.errors[0] ** 2 == pytest.approx(1 / 12 + 1 / 6, rel=1e-4)
    assert np.isinf(found.levels.df).all()
    assert random_parts(found) == {}
    assert not found.others
    assert not found.note


def test_without_random_parts_it_is_davidson():
    c = unclustered(drawn([0.0, 0.5, 1.0, -0.5, 0.2], 400))

    def deviance(b):
        x = np.append(b[:-1], -b[:-1].sum())
        d = x[c.first] - x[c.second]
        logs = np.stack([-d / 2, np.full(len(c), b[-1]), d / 2])
        return logsumexp(logs, axis=0).sum() - logs[c.score + 1, np.arange(len(c))].sum()

    best = minimize(deviance, np.zeros(5), tol=1e-14, options={"gtol": 1e-9}).x
    found = fit(c)
    np.testing.assert_allclose(found.levels.estimates, np.append(best[:-1], -best[:-1].sum()), atol=1e-6)
    assert found.log_nu == pytest.approx(best[-1], abs=1e-6)


def model_of(c, counts=None):
    """Of votes with both random parts."""

    def both(codes):
        _, level = np.unique(np.r_[codes * 9 + c.first, codes * 9 + c.second], return_inverse=True)
        return Part(level.reshape(2, -1).T, codes)

    counts = np.ones(len(c)) if counts is None else counts
    parts = [both(c.context), both(c.annotator)]
    return PairedLaplace(c.first, c.second, c.score, counts, len(c.systems), parts), parts


def test_it_is_the_laplace_approximation(votes):
    """Against the joint density written out, and its dense Hessian."""
    counts = 1.0 + np.arange(len(votes)) % 2
    model, parts = model_of(votes, counts)
    variances, n, s = np.array([0.3, 0.6]), len(votes), 4
    found = model.evaluate(variances)
    blocks = []
    for part, sd in zip(parts, np.sqrt(variances), strict=True):
        a, b = part.levels.T
        z = np.zeros((n, int(max(a.max(), b.max())) + 1))
        z[np.arange(n), a], z[np.arange(n), b] = sd, -sd
        blocks.append(z)
    z = np.zeros((n, s + 1))
    z[np.arange(n), votes.first], z[np.arange(n), votes.second] = 1, -1
    z = np.column_stack([*blocks, z])
    m = z.shape[1] - s - 1
    prior = np.zeros((z.shape[1],) * 2)
    prior[:m, :m] = np.eye(m)
    prior[m:-1, m:-1] = 1
    score, e = votes.score, np.eye(z.shape[1])[-1]

    def minus(x):
        d, eta = z @ x, x[-1]
        total = logsumexp([d / 2, -d / 2, np.full(n, eta)], axis=0)
        return -counts @ (score * d / 2 + (score == 0) * eta - total) + x @ prior @ x / 2

    def hessian(x):
        d, eta = z @ x, x[-1]
        p = np.exp(np.array([d / 2, -d / 2, np.full(n, eta)]) - logsumexp([d / 2, -d / 2, np.full(n, eta)], axis=0))
        of_score, tie = np.array([0.5, -0.5, 0.0]), np.array([0.0, 0.0, 1.0])
        gradient, out = prior @ x, prior.copy()
        for v in range(n):
            rows = of_score[:, None] * z[v] + tie[:, None] * e
            seen = rows[{1: 0, -1: 1, 0: 2}[int(score[v])]]
            mean = p[:, v] @ rows
            gradient -= counts[v] * (seen - mean)
            out += counts[v] * ((rows * p[:, v, None]).T @ rows - np.outer(mean, mean))
        return gradient, out

    x = np.zeros(z.shape[1])
    for _ in range(12):
        gradient, h = hessian(x)
        x -= np.linalg.solve(h, gradient)
    assert np.abs(hessian(x)[0]).max() < 1e-8
    assert found.log_likelihood == pytest.approx(-minus(x) - np.linalg.slogdet(hessian(x)[1])[1] / 2, abs=1e-5)
    np.testing.assert_allclose(found.strengths, x[m:-1], atol=1e-6)
    assert found.eta == pytest.approx(x[-1], abs=1e-6)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(hessian(x)[1])[m:, m:], rtol=1e-6, atol=1e-9)


def test_gradient(votes):
    """Also with annotators of whom some see ties more often."""
    _, parts = model_of(votes)
    ties = Part(votes.annotator[:, None], votes.annotator, (0.0,), (1.0,))
    model = PairedLaplace(votes.first, votes.second, votes.score, np.ones(240), 4, [*parts, ties])
    for variances in ([0.3, 0.6, 0.2], [1.5, 0.05, 1.0], [1e-4, 0.4, 0.5]):
        v = np.array(variances)
        found, numeric = model.evaluate(v).gradient, []
        for step in np.diag(1e-4 * v):
            ends = [model.evaluate(v + sign * step).log_likelihood for sign in (1, -1)]
            numeric.append((ends[0] - ends[1]) / (2 * step.sum()))
        np.testing.assert_allclose(found, numeric, rtol=1e-4, atol=1e-3)


def test_near_quadrature():
    """Two systems, 20 votes on each of eight contexts without ties: an integral over the effect of each context, and
    one over the difference of strengths."""
    wins, n = np.array([4, 9, 12, 15, 8, 17, 10, 6]), 20
    context = np.repeat(np.arange(8), n)
    score = np.concatenate([np.repeat([1, -1], [w, n - w]) for w in wins])
    first, second = np.zeros(160, int), np.ones(160, int)
    model = PairedLaplace(
        first, second, score, np.ones(160), 2, [Part(np.column_stack([2 * context, 2 * context + 1]), context)]
    )
    node, weight = np.polynomial.hermite_e.hermegauss(100)
    theta = np.linspace(-4, 4, 801)

    def exact(variance):
        d = theta[:, None] + np.sqrt(2 * variance) * node  # of two answers
        log_p = -wins[:, None, None] * np.logaddexp(0, -d) - (n - wins)[:, None, None] * np.logaddexp(0, d)
        return logsumexp(log_p, b=weight / weight.sum(), axis=2).sum(axis=0)

    for low, high in ((0.02, 0.2), (0.2, 0.6), (0.6, 2.0)):
        for found, near in ((model.evaluate, 0.05), (model.corrected, 0.015)):
            rise = found(np.array([high])).log_likelihood - found(np.array([low])).log_likelihood
            assert rise == pytest.approx(logsumexp(exact(high)) - logsumexp(exact(low)), abs=near)
        # the difference of strengths of largest likelihood, and its error by the curvature there
        log_p, step = exact(high), theta[1] - theta[0]
        at, best = model.corrected(np.array([high])), int(log_p.argmax())
        bend = (2 * log_p[best] - log_p[best - 1] - log_p[best + 1]) / step**2
        assert at.strengths[0] - at.strengths[1] == pytest.approx(theta[best], abs=step)
        assert of_pairs(at.covariance[:2, :2])[0] == pytest.approx(1 / bend, rel=0.02)


def test_cumulants():
    """Higher ones are derivatives of those before them."""
    d, eta, counts, h = np.array([0.3, -1.2]), np.array([0.2, -0.7]), np.array([1.0, 2.5]), 1e-5
    at = Cumulants.of(d, eta, counts)
    for name, of in (("third", "second"), ("fourth", "third")):
        for by, (x, y) in enumerate(((h, 0), (0, h))):
            up, down = (getattr(Cumulants.of(d + i * x, eta + i * y, counts), of) for i in (1, -1))
            expected = [(a - b) / (2 * h) for a, b in zip(up, down, strict=True)]
            found = getattr(at, name)[by : by + len(expected)]
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


def test_order_names_and_sides_do_not_matter(votes, fitted):
    rng = np.random.default_rng(1)
    order, name = rng.permutation(len(votes)), np.array([2, 0, 3, 1])
    swapped = rng.random(len(votes)) < 0.5
    first, second = name[votes.first], name[votes.second]
    other = fit(
        Comparisons(
            tuple(votes.systems[i] for i in np.argsort(name)),
            np.where(swapped, second, first)[order],
            np.where(swapped, first, second)[order],
            np.where(swapped, -votes.score, votes.score)[order],
            votes.context[order],
            votes.annotator[order],
        )
    )
    np.testing.assert_allclose(other.levels.estimates[name], fitted.levels.estimates, atol=1e-4)
    np.testing.assert_allclose(other.levels.df[np.ix_(name, name)], fitted.levels.df, rtol=1e-2)
    np.testing.assert_allclose(list(other.variances.values()), list(fitted.variances.values()), atol=1e-3)


def test_the_likelihood_is_largest(votes, fitted):
    _, parts = model_of(votes)
    ties = Part(votes.annotator[:, None], votes.annotator, by_d=(0.0,), by_eta=(1.0,))
    model = PairedLaplace(votes.first, votes.second, votes.score, np.ones(len(votes)), 4, [*parts, ties])
    best = comparisons._best(model)
    at = model.evaluate(best)
    assert np.abs(at.gradient[:2]).max() < 0.1
    assert best[2] == pytest.approx(1e-6)  # ties do not differ between annotators here: the likelihood falls from 0
    assert at.gradient[2] < 0
    # and the next order is nearer to its maximum after a step, in which 0 stays 0
    assert fitted.ties == 0
    nearer = np.array([*random_parts(fitted).values(), 1e-6])
    assert np.all(nearer[:2] > best[:2])
    assert model.corrected(nearer).log_likelihood > model.corrected(best).log_likelihood


@pytest.mark.parametrize(
    ("change", "answer", "taste"),
    [
        ({"annotator": None}, None, "who judged is not known"),
        ({"context": np.arange(240)}, "each context has a single vote", None),
        ({"context": np.zeros(240, int)}, "there is only one context", None),
        ({"annotator": np.zeros(240, int)}, None, "there is only one annotator"),
        ({"annotator": np.arange(240)}, None, "each annotator has a single vote"),
        (dict.fromkeys(("context", "annotator"), np.arange(240) % 12), None, "the same as answer"),
    ],
)
def test_what_is_left_out(votes, change, answer, taste):
    found = fit(replace(votes, **change))
    assert found.left_out == {k: v for k, v in ((ANSWER, answer), (TASTE, taste)) if v}
    assert set(random_parts(found)) == {ANSWER, TASTE} - set(found.left_out)
    assert found.others == (taste is None)


def test_answers_that_were_judged_once_are_part_of_the_vote():
    """Two votes in a context, on four systems; and the same of annotators."""
    context, first, second = np.repeat(np.arange(20), 2), np.tile([0, 2], 20), np.tile([1, 3], 20)
    first[::4], second[::4] = 1, 0
    first[2::8], second[3::8] = 2, 1
    second[2::8], first[3::8] = 0, 3
    score = np.random.default_rng(0).integers(-1, 2, 40)
    found = fit(Comparisons(tuple("abcd"), first, second, score, context, context))
    assert found.left_out[ANSWER] == "each answer was judged once"
    assert found.left_out[TASTE] == "each annotator saw a system once"


def test_nested_systems():
    """Each system has one context of its own: no answer to another is known."""
    first, second = np.repeat([0, 2], 10), np.repeat([1, 3], 10)
    found = fit(Comparisons(tuple("abcd"), first, second, np.tile([1, -1, 0, 1, -1], 4), np.repeat([0, 1], 10)))
    assert found.left_out[ANSWER] == "each system has only one context"
    # and no vote joins them
    d = found.levels.differences()
    across = (d.first < 2) & (d.second >= 2)
    assert not d.decided[across].any()
    assert np.isnan(d.low[across]).all()
    assert np.isfinite(d.low[~across]).all()
    assert "no votes join some systems" in found.note


def test_a_system_that_never_wins():
    c = unclustered(drawn([0.0, 0.3, -0.3], 90, seed=5))
    lost = (c.first == 2) | (c.second == 2)
    found = fit(replace(c, score=np.where(lost, np.where(c.first == 2, -1, 1), c.score)))
    d = found.levels.differences()
    assert "never win" in found.note
    assert "SD 5" in found.note
    assert found.levels.estimates.argmin() == 2
    assert np.abs(found.levels.estimates).max() < 10
    assert np.isfinite(d.low).all()
    assert d.decided[(d.first < 2) & (d.second == 2)].all()
    assert not fit(c).note


def test_nothing_but_ties():
    found = fit(replace(unclustered(drawn([0.0, 0.0, 0.0], 60)), score=np.zeros(60, int)))
    assert "every vote is a tie" in found.note
    assert np.isfinite(found.log_nu)
    assert np.isfinite(found.levels.covariance).all()
    np.testing.assert_allclose(found.levels.estimates, 0, atol=1e-6)


def test_weights(votes, fitted):
    """Alike they do not count; else there are as many votes as are effective; of 0 is as without the vote."""
    alike = fit(replace(votes, weight=np.full(240, 7.0)))
    np.testing.assert_allclose(alike.levels.covariance, fitted.levels.covariance, atol=1e-8)
    some = np.arange(240) < 160
    kept = {name: getattr(votes, name)[some] for name in ("first", "second", "score", "context", "annotator")}
    without, zero = fit(replace(votes, **kept)), fit(replace(votes, weight=some * 2.0))
    np.testing.assert_allclose(zero.levels.estimates, without.levels.estimates, atol=1e-4)
    np.testing.assert_allclose(zero.levels.errors, without.levels.errors, rtol=1e-3)
    # 80 with weight 3 and 160 with 1: 400^2 / 880 votes
    plain = replace(unclustered(votes), weight=np.where(np.arange(240) < 80, 3.0, 1.0))
    thrice = np.r_[np.repeat(np.arange(80), 3), np.arange(80, 240)]
    kept = {name: getattr(votes, name)[thrice] for name in ("first", "second", "score")}
    repeated = fit(replace(plain, **kept, context=np.arange(400), weight=None))
    found = fit(plain)
    np.testing.assert_allclose(found.levels.estimates, repeated.levels.estimates, atol=1e-6)
    np.testing.assert_allclose(found.levels.errors**2, repeated.levels.errors**2 * 400 / (400**2 / 880), rtol=1e-6)


def test_too_little():
    one = np.zeros(1, int)
    with pytest.raises(ValueError, match="two systems"):
        fit(Comparisons(("a",), one, one, one, one))
    with pytest.raises(ValueError, match="found 0 on 2"):
        fit(Comparisons(("a", "b"), one[:0], one[:0], one[:0], one[:0]))


def test_what_was_planted_is_found():
    """Variances without much bias, and intervals that hold the truth."""
    strengths, found, inside = np.array([0.0, 0.3, 0.6, 0.9]), [], 0
    for seed in range(12):
        f = fit(drawn(strengths, 500, contexts=20, annotators=12, answer=0.7, taste=0.5, seed=seed))
        found.append(list(random_parts(f).values()))
        d, true = f.levels.differences(), strengths - strengths[:, None]
        inside += bool(np.all((d.low <= true[d.second, d.first]) & (true[d.second, d.first] <= d.high)))
    np.testing.assert_allclose(np.mean(found, axis=0), [0.49, 0.25], atol=0.15)
    assert inside >= 10


def test_no_variance():
    """Where there is none, estimates of it are small, and some are 0."""
    found = [random_parts(fit(drawn([0.0, 0.5, 1.0], 300, seed=seed))) for seed in range(6)]
    every = [v for f in found for v in f.values()]
    assert max(every) < 0.3
    assert min(every) == 0


def measured(n=240, seed=5):
    """Side and a length that is as long as the system is good, by chance."""
    return {"side": np.ones(n), "length": np.random.default_rng(seed).normal(size=n)}


def test_covariates_without_ties_and_random_parts_are_those_of_logistic_regression(votes):
    """Against statsmodels: strengths, slopes and their errors."""
    c = replace(unclustered(votes), covariates=measured())
    c = replace(c, score=np.where(c.score == 0, 1, c.score))
    found = fit(c)
    rows = np.arange(len(c))
    x = np.zeros((len(c), 4))
    np.add.at(x, (rows, c.first), 1.0)
    np.add.at(x, (rows, c.second), -1.0)
    design = np.column_stack([x[:, 1:], *c.covariates.values()])
    logit = sm.Logit(c.score == 1, design).fit(disp=False, tol=1e-12)
    strengths = np.append(0.0, logit.params[:3])
    np.testing.assert_allclose(found.levels.estimates, strengths - strengths.mean(), atol=1e-4)
    np.testing.assert_allclose(found.slopes.estimates, logit.params[3:], atol=1e-4)
    np.testing.assert_allclose(found.slopes.errors, logit.bse[3:], rtol=1e-3)
    alone = sm.Logit(c.score == 1, design[:, :3]).fit(disp=False)
    collected = np.append(0.0, alone.params) - np.append(0.0, alone.params).mean()
    # by how much strengths move is that of a quadratic likelihood
    np.testing.assert_allclose(found.levels.estimates - found.slopes.moved, collected, atol=0.1 * np.ptp(collected))


def test_a_covariate_that_systems_determine_is_left_out(votes):
    of_systems = np.array([1.0, 3.0, 2.0, 7.0])
    same = {"size": of_systems[votes.first] - of_systems[votes.second], "nothing": np.zeros(len(votes))}
    found = fit(replace(votes, covariates=same))
    assert found.slopes is None
    assert found.left_out["size"] == "systems and other covariates determine it"
    assert found.left_out["nothing"] == "it is 0 in all votes"


def test_a_side_is_found_and_turning_all_pairs_round_turns_its_slope():
    c = drawn([0.0, 0.4, 0.9], 900, answer=0.4, taste=0.3, seed=9)
    better = np.random.default_rng(1).random(len(c)) < 0.2
    c = replace(c, score=np.where(better, 1, c.score), covariates={"side": np.ones(len(c))})
    found = fit(c)
    turned = fit(replace(c, first=c.second, second=c.first, score=-c.score))
    assert found.slopes.estimates[0] > 3 * found.slopes.errors[0]
    assert turned.slopes.estimates == pytest.approx(-found.slopes.estimates, abs=1e-6)
    assert turned.levels.estimates == pytest.approx(found.levels.estimates, abs=1e-6)
    assert found.variances["side"] >= 0


def test_slopes_of_simulated_boards_are_within_their_intervals():
    """Length goes with quality: as collected, the longer system is taken for the better one; at equal length not."""
    inside, gaps, collected = [], [], []
    for seed in range(12):
        rng = np.random.default_rng([7, seed])
        c = drawn([0.0, 0.0, 0.0], 500, answer=0.4, taste=0.3, seed=seed)
        length = np.array([0.0, 0.0, 1.0])
        longer = length[c.first] - length[c.second] + rng.normal(size=len(c))
        turned = rng.random(len(c)) < np.tanh(np.abs(longer) / 4)
        c = replace(c, score=np.where(turned, np.sign(longer), c.score).astype(int))
        found, alone = fit(replace(c, covariates={"length": longer})), fit(c)
        gaps.append(found.levels.estimates[2] - found.levels.estimates[:2].mean())
        collected.append(alone.levels.estimates[2] - alone.levels.estimates[:2].mean())
        error = np.sqrt(np.diag(found.slopes.moved_covariance))
        inside.append(np.abs(found.levels.estimates - alone.levels.estimates - found.slopes.moved) < error)
    assert np.mean(collected) > 0.3
    assert abs(np.mean(gaps)) < 3 * np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    assert np.mean(inside) > 0.9


def test_slopes_that_vary_between_contexts_are_those_of_a_meta_analysis():
    """Of a logistic regression for each context; where the slope is the same, intervals are hardly wider."""
    strength, errors = np.array([0.0, 0.3, 0.6]), {}
    for spread in (0.0, 0.8):
        rng = np.random.default_rng(5)
        c = drawn(strength, 3000, contexts=10, annotators=40)
        x, slopes = rng.normal(size=len(c)), 0.4 + spread * rng.normal(size=10)
        won = rng.random(len(c)) < expit(strength[c.first] - strength[c.second] + slopes[c.context] * x)
        found = fit(replace(c, score=np.where(won, 1, -1), covariates={"x": x})).slopes
        sides = np.eye(3)[c.first][:, 1:] - np.eye(3)[c.second][:, 1:]
        z = np.column_stack([x, sides])
        alone = [sm.Logit(won[at], z[at]).fit(disp=False) for at in (c.context == i for i in range(10))]
        b, v = np.array([[m.params[0], m.cov_params()[0, 0]] for m in alone]).T
        apart = combine_effects(b, v, method_re="pm")
        assert found.over == "context and annotator"
        assert found.varies["annotator"][0] < 0.2
        assert found.estimates[0] == pytest.approx(apart.mean_effect_re, abs=0.03)
        errors[spread] = found.errors[0]
        if spread:
            assert found.varies["context"][0] == pytest.approx(np.sqrt(apart.tau2), rel=0.1)
            assert found.errors[0] == pytest.approx(apart.sd_eff_w_re, rel=0.1)
            assert 7 < found.df[0] < 10
    assert errors[0.0] < 0.06 < 0.2 < errors[0.8]


@pytest.mark.parametrize("ridge", [0.0, 0.04])
@pytest.mark.parametrize("names", [(), ("side", "length")])
def test_large_is_as_dense(votes, ridge, names, monkeypatch):
    """The gradient, with products of each unknown and exact solutions; strengths, slopes and their covariance, with
    strengths among what is integrated out."""
    monkeypatch.setattr(PairedLaplace, "_of_effects", lambda model, rest: rest)
    monkeypatch.setattr(large_laplace, "_PRECISION", 1e-9)
    monkeypatch.setattr(large_laplace, "_SMALL_GAIN", 1e-14)
    _, parts = model_of(votes)
    who, variances = np.asarray(votes.annotator), np.array([0.3, 0.6, 0.2, 0.4])
    parts += [Part(who[:, None], who, *by) for by in (((1.0,), (0.0,)), ((0.0,), (1.0,)))]
    x = np.column_stack([np.zeros((240, 0)), *(measured()[name] for name in names)])
    args = votes.first, votes.second, votes.score, np.ones(len(votes)), 4, parts, ridge, x
    model, large = PairedLaplace(*args), LargeLaplace(*args)
    dense, (gradient, information) = model.evaluate(variances), large.evaluate(variances)
    for i, step in enumerate(np.eye(4) * 1e-3):
        up, down = (model.evaluate(variances + sign * step).log_likelihood for sign in (1, -1))
        assert dense.gradient[i] == pytest.approx((up - down) / 2e-3, rel=1e-4, abs=1e-5)
    np.testing.assert_allclose(gradient, dense.gradient, rtol=1e-5, atol=1e-6)
    assert np.all(information > 0)
    found, added, slopes = large.covariance()
    likelihood, dense = dense.log_likelihood, model.corrected(variances)
    assert large.gain == pytest.approx(dense.log_likelihood - likelihood, abs=1e-5)
    for name in ("strengths", "slopes", "eta"):
        np.testing.assert_allclose(getattr(found, name), getattr(dense, name), atol=1e-5)
    for name in ("covariance", "slopes_covariance"):
        np.testing.assert_allclose(getattr(found, name), getattr(dense, name), rtol=1e-3, atol=1e-5)
    # by how much its variance changes the covariance, and as long as votes' weights are as they are
    moved = LargeLaplace(*args)
    moved.evaluate(variances + np.array([0.0, 0.01, 0.0, 0.0]))
    for expected in (slopes[1], added[1] / 0.6):
        up = moved.covariance()[0].covariance[:4, :4]
        np.testing.assert_allclose(of_pairs(expected), of_pairs(up - found.covariance[:4, :4]) / 0.01, rtol=0.05)
        moved.at, moved.q, moved.shift = large.at, large.q, large.shift


def test_where_no_dense_matrix_is(votes, fitted, monkeypatch):
    """The same board, with a product for each unknown and with random signs; also without ties and with covariates."""
    side = {"side": np.ones(len(votes))}
    monkeypatch.setattr(PairedLaplace, "_of_effects", lambda model, rest: rest)
    # where no dense matrix is, slopes do not vary between contexts
    monkeypatch.setattr(comparisons, "_several", lambda code: code is votes.annotator)
    monkeypatch.setattr(comparisons, "_GAIN", 1e-6)
    for c in (votes, replace(votes, score=np.where(votes.score == 0, 1, votes.score), covariates=side)):
        monkeypatch.setattr(comparisons, "_DENSE", 2_500)
        dense = fit(c)
        monkeypatch.setattr(comparisons, "_DENSE", 0)
        for exact, near in ((512, 0.01), (0, 0.05)):
            monkeypatch.setattr(large_laplace, "_EXACT", exact)
            found = fit(c)
            np.testing.assert_allclose(list(found.variances.values()), list(dense.variances.values()), atol=near)
            np.testing.assert_allclose(found.levels.estimates, dense.levels.estimates, atol=near / 3)
            np.testing.assert_allclose(found.levels.errors, dense.levels.errors, rtol=near)
            np.testing.assert_allclose(found.people, dense.people, rtol=0.2)
            pairs = np.triu_indices(4, 1)
            ratio = found.levels.df[pairs] / dense.levels.df[pairs]
            assert np.all((ratio > 0.5) & (ratio < 2))


def test_annotators_are_kept_apart_where_only_their_sides_differ():
    """Each saw a system once: no taste. Half of them always choose the first, half the second."""
    annotator, pair = np.repeat(np.arange(40), 3), np.tile([0, 2, 4], 40)
    turned = np.random.default_rng(0).integers(0, 2, 120)
    score, names, side = np.where(annotator % 2, 1, -1), tuple("abcdef"), {"side": np.ones(120)}
    found = fit(Comparisons(names, pair + turned, pair + 1 - turned, score, np.arange(120), annotator, None, side))
    assert found.left_out["taste"] == "each annotator saw a system once"
    assert found.variances["side"] > 5
