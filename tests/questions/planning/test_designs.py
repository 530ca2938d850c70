"""Standard errors and power of designs: by hand, by statsmodels, by simulated studies of the planned size."""

from dataclasses import replace

import numpy as np
import pytest
from fixtures.planned_studies import judged
from scipy import stats
from scipy.stats import binom, binomtest
from statsmodels.stats.power import TTestIndPower, TTestPower

from judgebook.questions.operating_characteristics.worlds import design
from judgebook.questions.planning import simulated
from judgebook.questions.planning.analysis import limits
from judgebook.questions.planning.components import PilotVariances, of_design
from judgebook.questions.planning.designs import (
    SAMPLE,
    Plan,
    Prices,
    affordable,
    cheapest,
    detectable,
    power,
    sign_power,
    standard_error,
)

N_RUNS = 1500


@pytest.fixture(scope="module", params=["dialogue_likert", "behavior", "comparative"])
def pilot(request) -> PilotVariances:
    found = design(judged(request.param), ["a", "b"])
    return of_design(found, n_worlds=40, rng=np.random.default_rng(1))


def plain(**variance: float) -> PilotVariances:
    """Nearly normal scores with these variances."""
    values = np.arange(-20, 21) / 4
    shape = np.exp(-(values**2) / (2 * sum(variance.values())))
    total = sum(variance.values())
    variance = {name: v / total * float(shape @ values**2 / shape.sum()) for name, v in variance.items()}
    factors = tuple(name for name in variance if name != "residual")
    return PilotVariances(
        "dialogue_likert", "x", variance, {}, {}, 1.0, 1.0, 10, 100, False, 1.0, values, shape / shape.sum(), factors
    )


def test_the_standard_error_by_hand():
    made = plain(session=0.2, dialogue=0.3, annotator=0.1, annotator_of_system=0.1, residual=0.3)
    v = made.at(0.0)
    people = (1 - 2 / 10) / 2 * (v["annotator"] + v["annotator_of_system"])
    within = v["session"] + v["dialogue"] + people + v["residual"] / 2
    assert standard_error(made, Plan(50, 2, 10))[0] ** 2 == pytest.approx(2 * within / 50)
    paired = standard_error(made, Plan(50, 2, 10, paired=True))[0] ** 2
    assert paired == pytest.approx(2 * (within - v["session"]) / 50)
    sampled = standard_error(made, Plan(50, 2, 10), annotators=SAMPLE)[0] ** 2
    assert sampled == pytest.approx(2 * within / 50 + 2 * v["annotator_of_system"] / 10)


@pytest.mark.parametrize("paired", [False, True])
def test_power_is_that_of_statsmodels_where_scores_are_normal(paired):
    made, plan = plain(residual=1.0), Plan(40, 1, 10, paired)
    sd = np.sqrt(made.at(0.0)["residual"])
    tie = 0.25 / 40  # half of what two sums of such scores differ by at least
    if paired:
        known = TTestPower().power((0.6 - tie) / (sd * np.sqrt(2)), 40, 0.05)
    else:
        known = TTestIndPower().power((0.6 - tie) / sd, 40, 0.05)
    assert power(made, plan, 0.6) == pytest.approx(known, abs=0.01)


def test_power_of_the_sign_test_by_hand():
    n, wins, losses = 12, 0.6, 0.2
    total = 0.0
    for decided in range(n + 1):
        for won in range(decided + 1):
            plain_p = binomtest(won, decided).pvalue if decided else 1.0
            tie = 2 * binom.pmf(max(won, decided - won), decided, 0.5) / 2 if won * 2 != decided else 0.0
            mid_p = plain_p - tie if won * 2 != decided else 1.0
            if mid_p < 0.05:
                total += binom.pmf(decided, n, wins + losses) * binom.pmf(won, decided, wins / (wins + losses))
    assert sign_power(wins, losses, n) == pytest.approx(total)


def test_the_difference_found_is_found_with_the_wanted_power(pilot):
    for plan in (Plan(40, 1, 12), Plan(60, 3, 12, paired=True, tests=6)):
        found, low, high = detectable(pilot, plan, wanted=0.9, confidence=0.95)
        assert power(pilot, plan, found) == pytest.approx(0.9, abs=0.01)
        assert power(pilot, plan, found, SAMPLE) <= power(pilot, plan, found)  # annotators as a sample never help
        assert low < found < high


@pytest.mark.verify
@pytest.mark.parametrize("plan", [Plan(40, 1, 12), Plan(80, 2, 12, paired=True)])
def test_simulated_studies_of_the_planned_size_reach_the_planned_power(pilot, plan):
    wanted = detectable(pilot, plan)[0]
    hits, wrong = simulated.found(pilot, plan, wanted, 3 * N_RUNS, np.random.default_rng(2))
    assert hits / (3 * N_RUNS) == pytest.approx(0.8, abs=0.03)
    assert wrong == 0


@pytest.mark.parametrize("paired", [False, True])
def test_p_values_without_arrangements_are_those_of_many(pilot, paired):
    plan, rng = Plan(40, 1, 12, paired=paired), np.random.default_rng(5)
    (study,) = simulated.studies(pilot, plan, 0.5 * pilot.sd, 20, rng)
    flips = simulated.arrangements(plan.n_dialogues, paired or pilot.pairwise, rng)
    drawn, approximated = (simulated.permutation_p(study.values, study.paired, f) for f in (flips, None))
    error = 4 * np.sqrt(drawn * (1 - drawn) / len(flips))
    assert (np.abs(drawn - approximated) < error + 0.01).all()


@pytest.mark.verify
@pytest.mark.parametrize(
    ("plan", "of_system"), [(Plan(80, 2, 12), 0.0), (Plan(80, 1, 12, paired=True), 0.08), (Plan(80, 3, 5), 0.2)]
)
def test_simulated_studies_with_annotators_as_a_sample_reach_the_planned_power(plan, of_system):
    made = plain(session=0.2, dialogue=0.3, annotator=0.1, annotator_of_system=of_system, residual=0.4 - of_system)
    wanted = detectable(made, plan, SAMPLE)[0]
    hits, _ = simulated.found(made, plan, wanted, N_RUNS, np.random.default_rng(2), SAMPLE)
    assert hits / N_RUNS == pytest.approx(0.8, abs=0.05)


def test_the_interval_of_a_variance_is_that_of_chi_squared_where_nothing_else_varies():
    of_few = stats.chi2.ppf((np.arange(4000) + 0.5) / 4000, 4) / 4
    made = replace(plain(annotator=0.1, residual=0.9), df={"annotator": 4.0}, drawn={})
    value = made.variance["annotator"]
    low, high = replace(made, drawn={"annotator": value * of_few}).interval("annotator", 0.95)
    assert (low, high) == pytest.approx(tuple(value * 4 / stats.chi2.ppf([0.975, 0.025], 4)), rel=0.01)
    assert np.isnan(made.interval("annotator", 0.95)).all()


def test_the_interval_of_a_variance_among_noise_is_symmetrical():
    noise = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
    made = replace(plain(session=0.1, residual=0.9), df={"session": 1e6})
    for value, error in ((0.1, 0.01), (0.02, 0.02), (0.0, 0.01)):
        drawn = np.maximum(value + error * noise, 0)
        one = replace(made, variance=made.variance | {"session": value}, drawn={"session": drawn})
        low, high = one.interval("session", 0.95)
        assert low == pytest.approx(max(value - 1.96 * error, 0), abs=0.05 * error)
        assert high == pytest.approx(value + 1.96 * error, abs=0.1 * error)


def test_simulated_studies_vary_as_the_pilot_does(pilot):
    plan = Plan(500, 2, 12)
    made = simulated.studies(pilot, plan, 0.0, 160, np.random.default_rng(3))
    again = np.concatenate([study.values.var(axis=2, ddof=1) for study in made]).mean()
    se, _ = standard_error(pilot, plan)
    assert again == pytest.approx(se**2 * plan.n_dialogues / (1 if pilot.pairwise else 2), rel=0.05)


def test_plans_do_not_depend_on_how_far_apart_the_systems_of_the_pilot_are():
    """Scores vary as they do within a system; the distance of the systems is no noise of theirs."""
    frame, found = judged("dialogue_likert", n=60), []
    score = (10 * frame["score"] + np.random.default_rng(3).normal(0, 5, len(frame))).round()
    for apart in (0, 30):
        moved = frame.assign(score=score + apart * (frame["system"] == "b"))
        made = of_design(design(moved, ["a", "b"]), n_worlds=40, rng=np.random.default_rng(1))
        found.append(detectable(made, Plan(60, 2, 12))[0])
    assert found[1] == pytest.approx(found[0], rel=0.05)


def test_looking_early_raises_false_alarms_and_boundaries_prevent_it(pilot):
    found = simulated.looked(pilot, Plan(60, 2, 12), {"equal": 0.0}, limits(5), N_RUNS, np.random.default_rng(4))
    alarms = {how: hits / N_RUNS for (_, how), (hits, _) in found.items()}
    three_errors = 3 * np.sqrt(0.05 * 0.95 / N_RUNS)
    assert alarms["unadjusted"] > 0.1
    assert max(alarms[how] for how in ("never", "obrien_fleming", "pocock")) < 0.05 + three_errors


def test_the_cheapest_design_is_just_enough(pilot):
    prices, difference = Prices(5.0, 2.0, 20.0), 0.7 * pilot.sd
    given = {"annotators_per_dialogue": [1, 2, 3], "people": 12, "paired": False, "tests": 1, "n_systems": 3}
    best = cheapest(pilot, prices, difference, **given)
    less = replace(best, n_dialogues=best.n_dialogues - 1)
    assert power(pilot, best, difference) >= 0.8 > power(pilot, less, difference)
    for m in given["annotators_per_dialogue"]:
        for n in range(4, best.n_dialogues + 40):
            other = Plan(n, m, 12)
            if prices.cost(other, 3, pilot.pairwise) < prices.cost(best, 3, pilot.pairwise) * 0.97:
                assert power(pilot, other, difference) < 0.8
    within = affordable(pilot, prices, prices.cost(best, 3, pilot.pairwise), **given)
    assert detectable(pilot, within)[0] <= detectable(pilot, best)[0]


def test_more_comparisons_than_planned_have_the_power_too():
    """The power of the sign test goes up and down: of the numbers that have it, the first after which none lacks it."""
    won, values, half = 0.65, np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    variance = {"residual": 1.0}
    made = PilotVariances("comparative", "x", variance, {}, {}, 1.0, 1.0, 10, 100, True, 1.0, values, half, ())
    given = {"annotators_per_dialogue": [1], "people": 10, "paired": False, "tests": 1, "n_systems": 2}
    found = cheapest(made, Prices(1.0, 1.0, 60.0), 2 * won - 1, **given).n_dialogues
    powers = {n: sign_power(won, 1 - won, n) for n in range(2, 201)}
    assert found == max(n for n, p in powers.items() if p < 0.8) + 1
    assert powers[82] >= 0.8 > powers[86]


def test_costs_by_hand():
    prices = Prices(10.0, 3.0, 20.0)
    assert prices.hours(Plan(30, 2, 5), 4) == pytest.approx(30 * 4 * (10 + 2 * 3) / 60)
    assert prices.hours(Plan(30, 2, 5), 4, pairwise=True) == pytest.approx(30 * 6 * (20 + 2 * 3) / 60)
    assert prices.cost(Plan(30, 2, 5), 4) == pytest.approx(20 * 32)
    assert Prices(None, 3.0, 20.0).hours(Plan(30, 2, 5), 4) == Prices(0.0, 3.0, 20.0).hours(Plan(30, 2, 5), 4) == 12
