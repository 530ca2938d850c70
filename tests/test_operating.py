"""Operating characteristics: the kernels against the library they imitate, and what they find where truth is known."""

import numpy as np
import pandas as pd
import pytest
import sessions
from evaluations import monte_carlo
from scipy import stats

from helpers import (
    operating,
    operating_coverage,
    operating_estimates,
    operating_parts,
    params,
    picks,
    schema,
    simulate,
    validity,
    values,
)
from helpers import operating_report as report
from helpers.bounds import degenerate
from helpers.coincidences import patterns, terms
from helpers.contrasts import Panel, panel
from helpers.groups import mean_square_difference
from helpers.intervals import Replicates
from helpers.labels import LABEL_SETS, Label
from helpers.look import of
from helpers.operating_coverage import (
    Plan,
    Repeated,
    alpha_near_perfect,
    alpha_over_dialogues,
    alpha_over_items,
    by_prevalence,
    repeated,
    rows_of,
)
from helpers.operating_intervals import bca_ends, cluster_ends, draws, pattern_ends, spread
from helpers.params import Simulate
from helpers.rates import design_effect, rare_bound, student_t
from helpers.rates import wilson as wilson_of_one
from helpers.resampling import bootstrap_sums
from helpers.simulation import design
from helpers.sources import build

MARK = Label("ignore", "behavior", "Ignore", (0, 1), "ordinal")
PLAN = Plan(n_runs=200, n_resamples=300)


def rng(*seed):
    return np.random.default_rng(list(seed))


def keys_of(row):
    return schema.read_condition(row["condition"])


def value(rows, statistic, **wanted):
    """The one row with this statistic and these keys of its condition; label=None: the row over all labels."""
    over = "label" in wanted and wanted.pop("label") is None
    found = [
        r
        for r in rows
        if r["statistic"] == statistic
        and (not over or "label" not in r)
        and {k: str(v) for k, v in wanted.items()}.items() <= keys_of(r).items()
    ]
    assert len(found) == 1, [r["condition"] for r in found]
    return found[0]


# --- kernels ---------------------------------------------------------------------------------------------------------


def ratio(sums):
    return sums[:, 1] / sums[:, 0]


@pytest.mark.parametrize("missing", [0, 2, 60])
def test_ends_of_many_samples_are_those_of_one(missing):
    r = rng(1)
    values, jackknife = r.gamma(2.0, size=(6, 400)), 1 + 0.1 * r.standard_normal((6, 30))
    values[1, :missing] = np.nan
    values[2] = 1.0  # every resample gives the same
    values[3] += 10  # the estimate lies below all
    jackknife[4, 3] = np.nan
    estimate = np.array([2.0, 2.0, 1.0, 2.0, 2.0, np.nan])
    n, mean = 30, jackknife.mean(axis=1, keepdims=True)
    both = bca_ends(estimate, values, (n - 1) * (mean - jackknife) / n, None)
    for i in range(6):
        weights = np.ones(n), np.zeros(n, int)
        one = Replicates(estimate[i : i + 1], values[i][:, None], jackknife[i][:, None], *weights, "x", n, True)
        found = one.intervals()
        np.testing.assert_allclose(both[0][i], [found.low, found.high], equal_nan=True)
        expected = [np.nan] * 2 if found.kind == "not_estimable" else found.percentile
        np.testing.assert_allclose(both[1][i], expected, equal_nan=True)


def test_cluster_ends_agree_with_the_bootstrap():
    table = np.column_stack([rng(2).integers(5, 20, 40), rng(3).integers(0, 9, 40)]).astype(float)
    drawn = draws(40, 40, 3, rng(4))
    found = cluster_ends(table, drawn, ratio, n_resamples=20_000, rng=rng(5))
    for i, units in enumerate(drawn):
        one = bootstrap_sums(table[units], ratio, unit="dialogue", rng=rng(6), n_resamples=20_000)
        assert found.estimate[i] == one.estimate
        np.testing.assert_allclose(found.bca[i], [one.low, one.high], atol=0.03 * (one.high - one.low))
        np.testing.assert_allclose(found.percentile[i], one.percentile, atol=0.03 * (one.high - one.low))


def test_several_populations_are_resampled_apart():
    one, other = rng(7).normal(1, 1, (30, 1)), rng(8).normal(0, 1, (50, 1))
    drawn = [np.arange(30)[None], np.arange(50)[None]]
    difference = lambda a, b: a[:, 0] / 30 - b[:, 0] / 50  # noqa: E731
    found = cluster_ends([one, other], drawn, difference, n_resamples=20_000, rng=rng(9))
    two = bootstrap_sums([one, other], difference, unit="x", rng=rng(10), n_resamples=20_000)
    np.testing.assert_allclose(found.bca[0], [two.low, two.high], atol=0.03 * (two.high - two.low))


def test_pattern_ends_agree_with_the_bootstrap_and_treat_alike_samples_alike():
    rows, counts = np.array([[1.0, 0], [1, 0.5], [1, 1]]), np.array([[400, 200, 400], [900, 80, 20], [400, 200, 400]])
    found = pattern_ends(counts, rows, ratio, n_resamples=20_000, rng=rng(11))
    np.testing.assert_array_equal(found.bca[0], found.bca[2])
    for i in (0, 1):
        one = bootstrap_sums(rows, ratio, unit="item", rng=rng(12), counts=counts[i], n_resamples=20_000)
        assert found.estimate[i] == pytest.approx(one.estimate)
        np.testing.assert_allclose(found.bca[i], [one.low, one.high], atol=0.05 * (one.high - one.low))


def test_runs_are_shared_out():
    assert list(spread(10, 4)) == [3, 3, 2, 2]


def test_coverage_width_and_power_are_counted():
    ends = np.array([[0.1, 0.5], [-0.2, 0.2], [0.4, 0.8], [np.nan, np.nan]])
    rows = {r["statistic"]: r for r in rows_of(ends, 0.3, {}, zero=True, of="r", interval="bca")}
    assert rows["interval_coverage"]["estimate"] == pytest.approx(1 / 3)
    assert rows["interval_coverage"]["n"] == 3
    assert rows["interval_coverage"]["n_undefined"] == 1
    assert rows["interval_width"]["estimate"] == pytest.approx(0.4)
    assert rows["interval_power"]["estimate"] == pytest.approx(2 / 3)


def test_closed_forms_are_those_used_for_one_sample():
    plan, n, marks = Plan(), np.array([40.0, 400.0]), np.array([3.0, 250.0])
    for both, x, size in zip(operating_estimates.wilson(marks, n, plan), marks, n, strict=True):
        np.testing.assert_allclose(both, wilson_of_one(int(x), int(size)))
    scores = rng(13).integers(1, 6, (4, 30)).astype(float)
    scores[3] = 2.0
    found = operating_estimates.student(np.full(4, 30.0), scores.sum(axis=1), (scores**2).sum(axis=1), plan)
    for both, x in zip(found, scores, strict=True):
        np.testing.assert_allclose(both, student_t(x)[:2], equal_nan=True)


def test_jackknife_interval_is_that_of_validity():
    jackknife = 0.4 + 0.02 * rng(14).standard_normal((3, 20))
    found = operating_estimates.jackknife_ends(np.full(3, 0.4), jackknife, 0.95)
    for both, one in zip(found, jackknife, strict=True):
        expected = validity.jackknife_t(0.4, one, "interactor")
        np.testing.assert_allclose(both, [expected.low, expected.high])


@pytest.mark.parametrize("truth", [0.0, 0.01, 0.05])
def test_the_debiased_interval_holds_the_truth_where_its_ends_say_so(truth):
    r = rng(15)
    estimate = r.normal(0, 0.2, (40, 3))
    half = r.normal(0, 0.15, (40, 3, 3))
    covariance = half @ half.swapaxes(1, 2) + 0.005 * np.eye(3)
    found = operating_estimates.holds(estimate, covariance, truth, 0.95)
    for hit, d, c in zip(found, estimate, covariance, strict=True):
        _, low, high = mean_square_difference(d, c)
        assert hit == (low <= truth <= high)
    assert 0 < found.sum() <= 40


# --- tests on placebos -----------------------------------------------------------------------------------------------

SPEC = Simulate(system_differences=0.0)


def simulated(label="empathetic", n_sessions=400, method="behavior", *seed, spec=SPEC):
    """A panel of one simulated label, all systems equal unless `spec` says otherwise."""
    measure = simulate.measure(spec, "sur_x", method, label)
    sample = simulate.annotate(measure, n_sessions, spec, rng(16, *seed))
    score, code = sample.scores[:, 0].astype(float), sample.dialogue
    n, total, squares = (np.bincount(code, w)[:, None] for w in (np.ones(len(score)), score, score**2))
    names = np.arange(len(n)).astype(str).astype(object)
    first = np.unique(code, return_index=True)[1]
    unit = "turn" if method in ("behavior", "turn_likert") else "dialogue"
    system = sample.system[first]
    return Panel(
        method, [label], list(design.SYSTEMS), n, total, squares, system, np.full(len(n), -1), names,
        (np.arange(len(n)) // 2).astype(str).astype(object), None, unit, "dialogue",
    )  # fmt: skip


def test_a_placebo_run_is_the_test_of_its_halves():
    data = simulated(n_sessions=60)
    drawn = np.flatnonzero(data.system == 0)[:20][None]
    found = operating._placebo_p(data, "dialogue_welch", 0, drawn, PLAN)
    v = data.values[:, 0]
    expected = stats.ttest_ind(v[drawn[0, :10]], v[drawn[0, 10:]], equal_var=False).pvalue
    assert found[0, 0] == pytest.approx(expected)


def test_permutation_of_placebos_is_that_of_scipy():
    data = simulated(n_sessions=60)
    drawn = np.flatnonzero(data.system == 0)[:24][None]
    v = data.values[drawn[0], 0]
    found = operating._permuted(data, np.repeat(drawn, 20, axis=0), rng(17)).mean()
    expected = stats.permutation_test(
        (v[:12], v[12:]), lambda a, b: a.mean() - b.mean(), n_resamples=20_000, rng=rng(18)
    ).pvalue
    assert found == pytest.approx(expected, abs=0.02)


def test_on_turns_a_true_null_is_rejected_too_often_and_on_dialogues_it_is_not():
    rows = operating.placebo_size(simulated(), Plan(n_runs=2000))
    z, ours = (value(rows, "null_rejection", test=t, alpha=0.05, label=None) for t in ("z", "session"))
    assert z["ci_low"] > 0.10
    assert abs(ours["estimate"] - 0.05) < monte_carlo(0.05, 2000)
    normal = value(rows, "null_rejection", test="session_normal", alpha=0.05, label=None)
    assert abs(normal["estimate"] - 0.05) < monte_carlo(0.05, 2000) + 0.005


def test_ratings_of_turns_likewise():
    rows = operating.placebo_size(simulated("quality", 400, "turn_likert"), Plan(n_runs=1000))
    assert value(rows, "null_rejection", test="student", alpha=0.05, label=None)["ci_low"] > 0.15
    ours = value(rows, "null_rejection", test="session", alpha=0.05, label=None)
    assert abs(ours["estimate"] - 0.05) < monte_carlo(0.05, 1000)


def comparisons(n=150, ties=0.2, seed=19):
    score = rng(seed).choice([-1.0, 0, 1], (n, 1), p=[(1 - ties) / 2, ties, (1 - ties) / 2])
    names = np.arange(n).astype(str).astype(object)
    return Panel(
        "comparative", ["quality"], ["a", "b"], np.ones((n, 1)), score, score**2, np.zeros(n, int), np.ones(n, int),
        names, names, None, "pair", "pair",
    )  # fmt: skip


def test_the_sign_test_and_the_permutation_of_signs_are_one_and_reject_too_little():
    rows = operating.placebo_size(comparisons(), Plan(n_runs=2000))
    sign, ours = (value(rows, "null_rejection", test=t, alpha=0.05, label=None) for t in ("sign", "session"))
    assert sign["ci_high"] < 0.05
    assert abs(sign["estimate"] - ours["estimate"]) < monte_carlo(0.05, 2000)


def test_power_is_compared_at_the_same_size():
    differing = simulated("lack_of_empathy", spec=Simulate())
    rows = operating.power_curves(differing, Plan(n_runs=600), sizes=[16, 64])
    power = {
        (t, n, s): value(rows, "power", test=t, n_dialogues=n, size=s, label=None)["estimate"]
        for t in ("z", "session")
        for n in (16, 64)
        for s in ("nominal", "corrected")
    }
    assert power["z", 16, "nominal"] > power["z", 16, "corrected"] + 0.05
    assert power["session", 64, "nominal"] > power["session", 16, "nominal"]
    assert abs(power["session", 64, "corrected"] - power["session", 64, "nominal"]) < 0.05


def test_testing_after_every_conversation_finds_what_is_not_there():
    for data in (simulated(), comparisons()):
        rows = operating.false_crossings(data, Plan(n_runs=2000), n=60)
        each, last = (value(rows, "false_crossing", looks=k) for k in ("each", "last"))
        assert each["ci_low"] > 0.12
        assert last["estimate"] < 0.05 + monte_carlo(0.05, 2000)


def test_one_look_is_the_t_test_of_scipy():
    data = simulated(n_sessions=40)
    p = operating._looks(data.per_dialogue(), 0, 12, 4, rng(20))
    again = rng(20)
    own = [data.values[data.system == s, 0] for s in range(4)]
    for s in range(4):
        one, other = again.choice(own[s], (2, 1, 12))[:, 0]
        assert p[s, -1] == pytest.approx(stats.ttest_ind(one, other).pvalue)


def test_too_few_dialogues_give_no_rows():
    assert operating.placebo_size(simulated(n_sessions=12), PLAN) == []


# --- coverage --------------------------------------------------------------------------------------------------------


def twice(n_sessions=300, label="empathetic", seed=21):
    measure = simulate.measure(SPEC, "sur_x", "behavior", label)
    sample = simulate.annotate(measure, n_sessions, SPEC, rng(seed))
    return Repeated(Label(label, "behavior", label, (0, 1), "ordinal"), patterns(sample.scores), sample.dialogue)


@pytest.fixture(scope="module")
def drawn_dialogues():
    return alpha_over_dialogues(twice(), Plan(n_runs=1000, n_resamples=500), sizes=[25, 100], turns=[100])


def test_intervals_over_dialogues_hold_alpha_and_those_over_turns_do_not(drawn_dialogues):
    ours = value(drawn_dialogues, "interval_coverage", interval="policy", over="dialogue", n=100)
    turns = value(drawn_dialogues, "interval_coverage", interval="bca", over="turn", n=100)
    assert abs(ours["estimate"] - 0.95) < monte_carlo(0.95, 1000)
    assert turns["ci_high"] < 0.95
    assert turns["estimate"] < ours["estimate"] - 0.02
    few = value(drawn_dialogues, "interval_coverage", interval="policy", over="dialogue", n=25)
    assert few["estimate"] > 0.88


def test_bca_of_few_marks_fails_and_the_policy_does_not():
    rows = alpha_over_items(twice(label="ignore"), Plan(n_runs=1000, n_resamples=500), sizes=[], marks=[8, 40])
    few = value(rows, "interval_coverage", interval="bca", marks=8)
    policy = value(rows, "interval_coverage", interval="policy", marks=8)
    assert few["estimate"] < 0.93 or few["n_undefined"] > 20
    assert policy["estimate"] > 0.95 - monte_carlo(0.95, 1000)
    many = value(rows, "interval_coverage", interval="bca", marks=40)
    assert abs(many["estimate"] - 0.95) < 0.02 + monte_carlo(0.95, 1000)


def test_the_bound_holds_where_nearly_all_agree():
    rows = alpha_near_perfect(twice(), Plan(n_runs=500, n_resamples=300), n=34, disagreement=0.02)
    bound, bca = (value(rows, "interval_coverage", interval=k) for k in ("bound", "bca"))
    assert bound["estimate"] > 0.95 - monte_carlo(0.95, 500)
    assert bca["n_undefined"] > 200  # in half of the samples all items agree


def test_the_bound_of_a_run_is_that_of_its_items():
    one = twice(n_sessions=20, label="uninterpretable", seed=22)
    table = np.zeros((one.clusters.max() + 1, len(one.found.weights)))
    np.add.at(table, (one.clusters, one.found.index), 1.0)
    units = draws(len(table), 25, 1, rng(23))[0]
    counts = table[units].sum(axis=0).astype(int)
    found, taken = operating_coverage._bound(one, counts, PLAN, True, table[units])
    items = [np.flatnonzero(one.clusters == d) for d in units]
    pattern = np.concatenate([one.found.index[i] for i in items])
    scores = np.array([np.repeat(one.found.values, c) for c in one.found.counts[pattern]])
    clusters = np.repeat(np.arange(25), [len(i) for i in items])
    expected = degenerate(
        patterns(scores), "ordinal", ["alpha"], unit="x", clusters=clusters, mirrored=False, confidence=0.95
    )["alpha"]
    assert taken
    np.testing.assert_allclose(found, [expected.low, expected.high], equal_nan=True)


def test_rates_over_dialogues_hold_and_wilson_on_turns_does_not():
    rows = operating_estimates.estimate_coverage(simulated("incorrect_fact"), 0, Plan(n_runs=1000, n_resamples=500))
    assert value(rows, "interval_coverage", interval="wilson")["ci_high"] < 0.92
    ours = value(rows, "interval_coverage", interval="policy")
    assert abs(ours["estimate"] - 0.95) < 0.01 + monte_carlo(0.95, 1000)


def test_a_rare_rate_has_the_bound_of_notebook_07():
    table = np.zeros((20, 3))
    table[:, 0], table[:3, 1], table[:3, 2] = 15, 1, 1
    drawn = np.arange(20)[None]
    ends = cluster_ends(table[:, :2], drawn, ratio, n_resamples=300, rng=rng(24))
    found = operating_estimates._policy(table, drawn, ends, PLAN)
    np.testing.assert_allclose(found[0], rare_bound(3, 300, 20, design_effect(*table.T)), rtol=1e-5)


def test_means_of_ratings():
    data = simulated("quality", 400, "turn_likert")
    rows = operating_estimates.estimate_coverage(data, 0, Plan(n_runs=1000, n_resamples=500))
    assert value(rows, "interval_coverage", interval="t")["ci_high"] < 0.9
    ours = value(rows, "interval_coverage", interval="bca")
    assert abs(ours["estimate"] - 0.95) < 0.01 + monte_carlo(0.95, 1000)


def quality_design(r, n_people=40, each=8, seed=25):
    g = rng(seed)
    who = np.repeat(np.arange(n_people), each)
    y = g.normal(size=len(who)) + 0.4 * g.normal(size=n_people)[who]
    x = r * y + np.sqrt(1 - r**2) * g.normal(size=len(who))
    frame = pd.DataFrame(x, columns=pd.MultiIndex.from_tuples([("behavior", "ignore")]))
    return values.Design(values.DIALOGUE_QUALITY, y, frame, who, "interactor", "dialogue")


def test_an_interval_of_r_squared_fails_near_zero_and_that_of_r_does_not():
    rows = operating_estimates.correlation_coverage(
        quality_design(0.0), ("behavior", "ignore"), Plan(n_runs=1000, n_resamples=500)
    )
    square = value(rows, "interval_coverage", of="r2")
    ours = value(rows, "interval_coverage", of="r", interval="jackknife_t")
    assert square["ci_high"] < 0.94
    assert abs(ours["estimate"] - 0.95) < 0.01 + monte_carlo(0.95, 1000)
    assert value(rows, "interval_power", of="r2")["estimate"] > 0.95  # its lower end is hardly ever 0


def test_groups_that_do_not_differ():
    g = rng(26)
    scores = [np.clip(np.rint(g.normal(3 + 0.2 * s, 1, (30, 2))), 1, 5) for s in range(4)]
    plan = Plan(n_runs=300, n_resamples=200)
    rows = operating_estimates.group_coverage(scores, "quality", "dialogue_likert", ("a", "b"), plan)
    published = value(rows, "interval_coverage", interval="bca", scenario="null")
    ours = value(rows, "interval_coverage", interval="noncentral_chi2", scenario="null")
    assert published["estimate"] == 0.0  # no mean of absolute values is 0
    assert ours["estimate"] > 0.95 - monte_carlo(0.95, 300)
    bias = value(rows, "group_difference_bias", of="debiased_square", scenario="null")
    assert bias["ci_low"] - 0.01 < 0 < bias["ci_high"] + 0.01
    assert value(rows, "group_difference_bias", of="published", scenario="null")["ci_low"] > 0.1


def test_the_share_of_first_place_of_equal_systems_has_a_median_of_056():
    rows = operating_estimates.first_place(simulated(), 0, Plan(n_runs=600, n_resamples=400))
    assert value(rows, "top_share", point="median")["estimate"] == pytest.approx(0.56, abs=0.03)
    assert value(rows, "top_share", point="q95")["estimate"] > 0.8
    joint = value(rows, "interval_coverage", of="rank")
    assert abs(joint["estimate"] - 0.95) < 0.01 + monte_carlo(0.95, 600)


@pytest.mark.slow
def test_intervals_over_dialogues_hold_the_population_alpha_of_the_simulation():
    """Not resampling one study, but new studies: what a reader of an interval is promised."""
    measure = simulate.measure(SPEC, "sur_x", "behavior", "ignore")
    truth, hits, n = simulate.alpha(measure), {"dialogue": 0, "turn": 0}, 2000
    for i in range(n):
        sample = simulate.annotate(measure, 50, SPEC, rng(27, i))
        found = patterns(sample.scores, [0, 1])
        t = terms(found.counts, found.values, "ordinal")
        table = np.zeros((100, t.rows.shape[1]))
        np.add.at(table, sample.dialogue, t.rows[found.index])
        statistic = lambda sums, t=t: t.measures(sums)["alpha"]  # noqa: E731
        of_dialogue = bootstrap_sums(table, statistic, unit="dialogue", rng=rng(28, i), n_resamples=1000)
        of_turn = bootstrap_sums(t.rows, statistic, unit="turn", rng=rng(29, i), counts=found.weights, n_resamples=1000)
        hits["dialogue"] += of_dialogue.low <= truth <= of_dialogue.high
        hits["turn"] += of_turn.low <= truth <= of_turn.high
    assert abs(hits["dialogue"] / n - 0.95) < monte_carlo(0.95, n)
    assert hits["turn"] / n < hits["dialogue"] / n


@pytest.mark.slow
@pytest.mark.parametrize("label", ["ignore", "irrelevant", "redundant", "correct_fact"])
def test_the_permutation_test_keeps_its_level_on_new_studies(label):
    rejected = np.zeros(2)
    for i in range(5):
        rows = operating.placebo_size(simulated(label, 300, "behavior", i), Plan(n_runs=2000, seed=i))
        rejected += [
            value(rows, "null_rejection", test=t, alpha=0.05, label=None)["estimate"] / 5 for t in ("z", "session")
        ]
    assert rejected[0] > 0.08
    assert abs(rejected[1] - 0.05) < 0.01


# --- the whole -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    annotations, who = sessions.annotate(rng(30), n_interactors=10, per_interactor=4)
    ids = annotations[["corpus", "dialogue", "system", "session"]].drop_duplicates("dialogue")
    dialogues = ids.assign(interactor=ids["dialogue"].map(who))
    labels = list(LABEL_SETS["abc_eval"])
    found = operating_parts.material(annotations, dialogues, labels, systems=list("abcd"), first=2, pick=1)
    sizes = operating_parts.Sizes(labels=2, conversations=[8], items=[10], marks=[10], dialogues=[10])
    return found, operating_parts.characteristics(found, Plan(n_runs=60, n_resamples=200), sizes)


def test_all_rows_are_valid_results(small):
    material, (rows, omitted) = small
    assert material.group == "ext"
    found = schema.make_results(rows, study="test", notebook="80_operating_characteristics")
    expected = {"null_rejection", "power", "false_crossing", "interval_coverage", "interval_width", "top_share"}
    assert expected <= set(found["statistic"])
    of = {schema.read_condition(c).get("of") for c in found["condition"]}
    assert {"alpha", "rate", "mean", "r", "r2", "rank", "group_difference"} <= of
    assert omitted == {}


def test_a_seed_gives_the_same_numbers(small):
    material, (rows, _) = small
    again = operating.placebo_size(material.panels[0], Plan(n_runs=60, n_resamples=200))
    before = rows[(rows["statistic"] == "null_rejection") & (rows["method"] == material.panels[0].method)]
    np.testing.assert_array_equal([r["estimate"] for r in again], before["estimate"])


def test_the_notebook_speaks_of_all_parts(small):
    _, (rows, _) = small
    study = params.load("demo")
    look = of(study, rows)
    sizes, coverage = report.parsed(rows, "null_rejection"), report.parsed(rows, "interval_coverage")
    curves = report.valid_power(report.parsed(rows, "power"), sizes, 0.05)
    pairs = report.interval_pairs(coverage, look)
    assert {"Rate of a system", "Groups that do not differ", "Ranks of four equal systems"} <= set(pairs["question"])
    text = "\n".join(
        [*report.say_size(sizes, look, 0.05), *report.say_power(curves, look), *report.say_alpha(coverage)]
    )
    assert "z of shares, on turns" in text
    assert "dialogues the interval over dialogues holds the true alpha" in text
    assert "nan" not in text
    kinds = {"nominal": 0.05, "confidence": 0.95}
    assert "simulated" in report.say_defaults(pairs, sizes, look, simulated=True, **kinds)
    assert "**Tests.**" in report.say_defaults(pairs, sizes, look, simulated=False, **kinds)


def test_nothing_to_say_is_said_as_nothing():
    none = pd.DataFrame()
    assert report.say_crossing(none, 0.05) == ""
    assert report.say_first(none) == ""
    look = of(params.load("demo"))
    assert report.say_defaults(none, none, look, nominal=0.05, confidence=0.95, simulated=False) == ""


def test_what_data_do_not_allow_is_named():
    annotations, _ = sessions.annotate(rng(31), n_interactors=4, per_interactor=2)
    people = annotations[(annotations["group"] == "ext") & (annotations["method"] == "behavior")]
    none = pd.DataFrame(columns=["corpus", "dialogue", "interactor"])
    labels = list(LABEL_SETS["abc_eval"])
    found = operating_parts.material(people, none, labels, systems=[], first=2, pick=1)
    sizes = operating_parts.Sizes(labels=1, conversations=[8], items=[10], marks=[10], dialogues=[10])
    _, omitted = operating_parts.characteristics(found, Plan(n_runs=50, n_resamples=200), sizes)
    assert {"tests", "correlation with quality", "differences between groups"} <= set(omitted)
    once = people.drop_duplicates(schema.ITEM)
    with pytest.raises(ValueError, match="no item was judged twice"):
        operating_parts.material(once, none, labels, systems=[], first=2, pick=1)


def test_shares_of_several_labels_are_added_up():
    rows = pd.DataFrame(
        {"of": "alpha", "estimate": [0.9, 1.0], "n": [100, 300], "n_undefined": [0, 5], "label": list("ab")}
    )
    one = report.pool(rows, ["of"]).iloc[0]
    assert (one["estimate"], one["n"], one["n_undefined"], one["labels"]) == (0.975, 400, 5, 2)
    assert one["ci_low"] < 0.975 < one["ci_high"]


def test_labels_are_taken_from_the_rarest_to_the_commonest():
    many = [
        Repeated(
            Label(str(i), "behavior", "", (0, 1), "ordinal"),
            patterns(np.tile([[0, 0]] * (20 - i) + [[1, 0]] * i, 1)),
            np.zeros(20, int),
        )
        for i in range(1, 8)
    ]
    assert [r.label.id for r in by_prevalence(many, 3)] == ["1", "4", "7"]


def test_labels_without_disagreement_are_left_out():
    annotations, _ = sessions.annotate(rng(32))
    labels = [
        label for label in LABEL_SETS["abc_eval"] if label.id in sessions.BEHAVIORS and label.method == "behavior"
    ]
    ext = annotations[annotations["group"] == "ext"]
    assert {r.label.id for r in repeated(ext, labels)} == set(sessions.BEHAVIORS)
    same = ext.assign(score=np.where(ext["label"] == "ignore", 0.0, ext["score"]))
    assert {r.label.id for r in repeated(same, labels)} == {"redundant"}


# --- public data -----------------------------------------------------------------------------------------------------


@pytest.mark.data
def test_on_public_marks_the_z_test_rejects_placebos_and_ours_does_not(raw_data):
    study = params.load("gpt_abceval")
    annotations = build.build(study).frames["annotations"]
    people = annotations[annotations["annotator_kind"] == "human"]
    one = panel(values.dialogue_values(next(picks.picks(people, 1, study.seeds.pick))), "behavior")
    rows = operating.placebo_size(one, Plan(n_runs=2000))
    z, ours = (value(rows, "null_rejection", test=t, alpha=0.05, label=None) for t in ("z", "session"))
    assert z["estimate"] == pytest.approx(0.16, abs=0.02)  # DESIGN: about 15 %
    assert ours["ci_high"] <= 0.05 + 0.005
