"""Predictions of designs: against the covariance of such designs, refitted studies, F, Tukey's range, and by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from judgebook.model import comparisons, designs, ratings
from judgebook.model.comparisons import Comparisons
from judgebook.model.contrasts import of_pairs
from judgebook.model.designs import Design
from judgebook.model.fit import ANNOTATOR, CONTEXT, ITEM, RESIDUAL, TASTE, Judgements, crossed
from judgebook.model.ratings import uncertainty

VARIANCES = {CONTEXT: 0.2, ITEM: 0.36, ANNOTATOR: 0.16, TASTE: 0.09, RESIDUAL: 0.49}


def layout(design: Design, rng=None, loads=None) -> Judgements:
    """Each dialogue by the next annotators in turn; or by some drawn at random, in proportion to loads."""
    n, m, p, s = (int(x) for x in (design.dialogues, design.per_dialogue, design.annotators, design.systems))
    system, item, place = (x.ravel() for x in np.meshgrid(range(s), range(n), range(m), indexing="ij"))
    people = (item * m + place) % p
    if loads is not None:
        people = np.concatenate([rng.choice(p, m, replace=False, p=loads) for _ in range(s * n)])
    context = item if design.shared else system * n + item
    return Judgements(tuple("abcdefgh"[:s]), system, system * n + item, context, people, np.zeros(len(system)))


def drawn(j: Judgements, rng, variances=VARIANCES, levels=None) -> Judgements:
    codes = {CONTEXT: j.context, ITEM: j.item, ANNOTATOR: j.annotator, TASTE: crossed(j.annotator, j.system)}
    score = np.sqrt(variances[RESIDUAL]) * rng.standard_normal(len(j))
    for part, code in codes.items():
        score = score + np.sqrt(variances[part]) * rng.standard_normal(int(code.max()) + 1)[code]
    return replace(j, score=score + (0 if levels is None else levels[j.system]))


def known(j: Judgements):
    """A fit of the layout with VARIANCES as if estimated; and, by matrices, errors and degrees of freedom."""
    fit = ratings.fit(drawn(j, np.random.default_rng(1)))
    left_out = {}
    parts = dict(ratings._parts(j, left_out, others=True))
    single = "each has a single judgement"
    rest = VARIANCES[RESIDUAL] + sum(VARIANCES[part] for part, why in left_out.items() if why == single)
    variances = {part: VARIANCES[part] for part in parts} | {RESIDUAL: rest}
    if left_out.get(CONTEXT) == "the same as item":
        variances[ITEM] += VARIANCES[CONTEXT]
    x = (j.system[:, None] == np.arange(len(j.systems))).astype(float)
    covariance, df = uncertainty(x, list(parts.values()), np.array([variances[part] for part in parts]), rest)
    pairs = np.triu_indices(len(j.systems), 1)
    return replace(fit, variances=variances), np.sqrt(np.median(of_pairs(covariance))), np.median(df[pairs])


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("shape", [(20, 3, 3, 4), (20, 1, 5, 4), (20, 2, 5, 4), (40, 2, 20, 3), (24, 2, 8, 2)])
def test_errors_and_critical_values_are_those_of_the_design_by_matrices(shape, shared):
    design = Design(*shape, shared)
    fit, se, df = known(layout(design))
    error, degrees = designs.error(fit, design)
    assert error == pytest.approx(se, rel=2e-3)
    critical = designs.critical(design.systems, df)
    assert designs.critical(design.systems, degrees) == pytest.approx(critical, rel=0.02)
    assert designs.found(fit, design) == pytest.approx((critical + stats.norm.ppf(0.8)) * se, rel=0.02)
    mine = designs.own(fit, shared=shared)
    assert (mine.dialogues, mine.per_dialogue, mine.annotators) == pytest.approx(shape[:3])


def test_unequal_loads_and_sizes_are_predicted_from_what_they_average_to():
    rng, loads = np.random.default_rng(4), np.array([8, 4, 2, 1, 1, 1, 1, 1]) / 19
    j = layout(Design(40, 2, 8, 3, shared=False), rng, loads)
    kept = (j.system != 0) | (j.item < 20)  # half as many dialogues of the first system
    j = replace(j, **{name: getattr(j, name)[kept] for name in ("system", "item", "context", "annotator", "score")})
    j = replace(j, item=np.unique(j.item, return_inverse=True)[1], context=np.unique(j.item, return_inverse=True)[1])
    fit, se, _ = known(j)
    mine = designs.own(fit)
    assert mine.dialogues == pytest.approx(3 / (1 / 20 + 2 / 40))
    balanced = designs.error(fit, mine)[0]
    assert balanced < se < 1.25 * balanced  # what unequal loads cost


@pytest.mark.parametrize("twice", [1, 2])
def test_strictness_in_blocks_smaller_than_the_systems_by_generalised_least_squares(twice):
    """Each annotator judges two of three systems, every pair of systems as often."""
    pairs = [(0, 1), (0, 2), (1, 2)] * 20
    system, people = np.ravel(pairs), np.repeat(np.arange(60), 2)
    x = (system[:, None] == np.arange(3)).astype(float)
    strict, rest = 0.5 * twice, 0.7
    v = strict * (people[:, None] == people) + rest * np.eye(120)
    se = np.sqrt(of_pairs(np.linalg.inv(x.T @ np.linalg.inv(v) @ x))[0])
    j = Judgements(("a", "b", "c"), system, np.arange(120), np.arange(120), people, np.zeros(120))
    fit = ratings.fit(drawn(j, np.random.default_rng(2)))
    fit = replace(fit, variances={ANNOTATOR: strict, RESIDUAL: rest})
    assert designs.error(fit, Design(40, 1, 60, 3))[0] == pytest.approx(se)
    alone = designs.error(fit, Design(40, 1, 120, 3))[0]  # a judgement each: all of it counts
    assert alone == pytest.approx(np.sqrt(2 * (strict + rest) / 40))


@pytest.mark.verify
@pytest.mark.parametrize("design", [Design(20, 2, 8, 3), Design(30, 1, 6, 4, shared=False)])
def test_refitted_studies_of_another_design_vary_as_predicted(design):
    """From a fit of 60 dialogues by three of nine people each: differences of refits vary, and are decided as often."""
    rng = np.random.default_rng(6)
    pilot = ratings.fit(drawn(layout(Design(60, 3, 9, design.systems)), rng))
    gap, n_runs = designs.found(pilot, design), 300
    levels = np.r_[gap, np.zeros(design.systems - 1)]
    estimates, decided = [], []
    for _ in range(n_runs):
        j = drawn(layout(design), rng, pilot.variances | {TASTE: pilot.variances[TASTE]}, levels)
        d = ratings.fit(j).levels.differences()
        estimates.append(d.estimate[0])
        decided.append(d.decided[0])
    se = designs.error(pilot, design)[0]
    assert np.std(estimates) == pytest.approx(se, rel=0.13)  # three Monte Carlo errors
    assert np.mean(decided) == pytest.approx(0.8, abs=0.08)


def votes(rng, n, people, taste=0.4):
    """Three systems, every pair on n contexts, each vote by one of these people; no ties, strengths 0."""
    pair = np.array([(0, 1), (0, 2), (1, 2)])
    first, second = np.tile(pair, (n, 1)).T
    who = rng.permutation(np.arange(3 * n) % people)
    tastes = taste * rng.standard_normal((people, 3))
    gap = tastes[who, first] - tastes[who, second]
    score = np.where(rng.random(3 * n) < 1 / (1 + np.exp(-gap)), 1.0, -1.0)
    return Comparisons(("a", "b", "c"), first, second, score, np.arange(3 * n), who)


def test_more_votes_vary_less_in_proportion_and_annotators_by_their_number():
    fit = comparisons.fit(votes(np.random.default_rng(3), 300, 60))
    here = designs.own(fit)
    assert (here.dialogues, here.annotators) == (300, 60)
    se, df = designs.error(fit, here)
    assert se == pytest.approx(np.median(np.sqrt(of_pairs(fit.levels.covariance))), rel=1e-6)
    more = replace(here, dialogues=1200, annotators=240)
    assert designs.error(fit, more) == pytest.approx((se / 2, 4 * df))
    people = np.median(fit.people)
    same = replace(here, dialogues=1e9)
    assert designs.error(fit, same)[0] ** 2 == pytest.approx(people, rel=1e-3)
    refitted = comparisons.fit(votes(np.random.default_rng(5), 1200, 240))
    again = np.median(np.sqrt(of_pairs(refitted.levels.covariance)))
    assert again == pytest.approx(se / 2, rel=0.15)  # its variance of tastes is estimated anew
    assert 0 < designs.found(fit, more) < designs.found(fit, here) < 1  # of shares won and lost


@pytest.mark.parametrize(("systems", "df"), [(2, 9.0), (4, 20.0), (6, 120.0)])
def test_critical_values_are_tukeys(systems, df):
    tukey = stats.studentized_range.ppf(0.95, systems, df) / np.sqrt(2)
    assert designs.critical(systems, df) == pytest.approx(tukey, rel=0.01)
    assert designs.chance(3.0, 1.0, df, systems) == pytest.approx(stats.norm.cdf(3.0 - tukey), abs=0.01)


def test_the_cheapest_design_is_just_enough():
    fit, *_ = known(layout(Design(40, 2, 20, 3)))

    def made(n, m):
        return Design(n, m, max(n * m * 3 / 12, m), 3)

    def cost(design):
        return design.dialogues * (3.0 + design.per_dialogue)

    wanted = 0.4
    best = designs.cheapest(lambda d: designs.found(fit, d) <= wanted, made, (1, 2, 3), cost)
    assert designs.found(fit, best) <= wanted < designs.found(fit, made(best.dialogues - 1, best.per_dialogue))
    for m in (1, 2, 3):
        for n in range(4, 400, 7):
            assert cost(made(n, m)) >= cost(best) or designs.found(fit, made(n, m)) > wanted
    assert designs.cheapest(lambda d: False, made, (1, 2), cost) is None


def test_reliability_of_one_judgement_each_is_that_of_f():
    """An analysis of variance of one factor, and the interval of Shrout and Fleiss (1979, p. 422) for k judgements."""
    rng = np.random.default_rng(7)
    system, n = np.repeat(np.arange(5), 12), 60
    score = rng.normal(0, 1, 60) + np.array([0, 0.4, 0.8, 1.2, 0.2])[system]
    fit = ratings.fit(Judgements(tuple("abcde"), system, np.arange(n), np.arange(n), None, score))
    f = stats.f_oneway(*(score[system == k] for k in range(5))).statistic
    low, high = (1 - q / f for q in stats.f.ppf([0.975, 0.025], 4, 55))
    assert designs.reliability(fit) == pytest.approx((1 - 1 / f, low, high), rel=1e-6)
    of_system = (1 - 1 / f) / (1 / f)  # variance of systems, in error variances of means
    longer = designs.reliability(fit, Design(24, 1, np.inf, 5))
    assert longer[0] == pytest.approx(of_system / (of_system + 0.5), rel=1e-6)


@pytest.mark.verify
@pytest.mark.parametrize("loads", [None, np.array([10, 5, 3, 2, 1, 1, 1, 1]) / 24])
def test_intervals_of_reliability_hold_the_true_one(loads):
    """Six systems of a population, eight annotators, with equal loads or 10:1."""
    rng, design = np.random.default_rng(8), Design(15, 2, 8, 6, shared=False)
    error = 2 * (0.56 / 15 + 0.09 / 8 + 0.49 / 30)
    truth, held, n_runs = 0.15 / (0.15 + error / 2), 0, 300
    for _ in range(n_runs):
        j = drawn(layout(design, rng, loads), rng, levels=np.sqrt(0.15) * rng.standard_normal(6))
        _, low, high = designs.reliability(ratings.fit(j))
        held += low <= truth <= high
    assert 0.91 <= held / n_runs <= 0.99


@pytest.mark.verify
def test_ends_of_what_a_pilot_knows_hold_the_true_error():
    rng, design, held, n_runs = np.random.default_rng(9), Design(15, 2, 6, 4), 0, 300
    truth = np.sqrt(2 * (0.36 / 15 + 0.09 / 6 + 0.49 / 30))
    for _ in range(n_runs):
        fit = ratings.fit(drawn(layout(design), rng))
        low, high = designs.precision(fit)
        held += low <= truth / designs.error(fit, design)[0] <= high
    assert 0.91 <= held / n_runs <= 0.99
