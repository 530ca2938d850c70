"""Operating characteristics: tests on placebo comparisons, the whole notebook, and what it says."""

import numpy as np
import pandas as pd
import pytest
from fixtures import session_study as sessions
from fixtures.made_annotations import monte_carlo
from fixtures.placebo_systems import PLAN, rng, simulated, value
from fixtures.placebo_systems import comparisons as made_comparisons
from scipy import stats

from judgebook.display.names import display_names
from judgebook.questions.agreement.coincidences import patterns
from judgebook.questions.operating_characteristics import analysis, figures, findings, procedures, tables
from judgebook.questions.operating_characteristics import placebo as operating
from judgebook.questions.operating_characteristics.alpha_coverage import Repeated, by_prevalence, repeated
from judgebook.questions.operating_characteristics.monte_carlo import SimulationPlan
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.questions.sensitivity.panels import panel
from judgebook.study import params
from judgebook.study.labels import LABEL_SETS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import ITEM
from judgebook.study.sections.data import Simulate

# --- tests on placebos ------------------------------------------------------------------------------------------------


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


@pytest.mark.evidence
def test_on_turns_a_true_null_is_rejected_too_often_and_on_dialogues_it_is_not():
    rows = operating.placebo_size(simulated(), SimulationPlan(n_runs=2000))
    z, ours = (value(rows, "null_rejection", test=t, alpha=0.05, label=None) for t in ("z", "session"))
    assert z["ci_low"] > 0.10
    assert abs(ours["estimate"] - 0.05) < monte_carlo(0.05, 2000)
    normal = value(rows, "null_rejection", test="session_normal", alpha=0.05, label=None)
    assert abs(normal["estimate"] - 0.05) < monte_carlo(0.05, 2000) + 0.005


@pytest.mark.evidence
def test_the_sign_test_rejects_too_little_and_the_permutation_of_signs_with_half_ties_does_not():
    rows = operating.placebo_size(made_comparisons(), SimulationPlan(n_runs=2000))
    sign, ours = (value(rows, "null_rejection", test=t, alpha=0.05, label=None) for t in ("sign", "session"))
    assert sign["ci_high"] < 0.05
    assert abs(ours["estimate"] - 0.05) < monte_carlo(0.05, 2000)


@pytest.mark.evidence
def test_power_is_compared_at_the_same_size():
    differing = simulated("lack_of_empathy", spec=Simulate())
    rows = operating.power_curves(differing, SimulationPlan(n_runs=600), sizes=[16, 64])
    found = {
        (t, n, s): value(rows, "power", test=t, n_dialogues=n, size=s, label=None)["estimate"]
        for t in ("z", "session")
        for n in (16, 64)
        for s in ("nominal", "corrected")
    }
    assert found["z", 16, "nominal"] > found["z", 16, "corrected"] + 0.05
    assert found["session", 64, "nominal"] > found["session", 16, "nominal"]
    assert abs(found["session", 64, "corrected"] - found["session", 64, "nominal"]) < 0.05


@pytest.mark.evidence
def test_testing_after_every_conversation_finds_what_is_not_there():
    for data in (simulated(), made_comparisons()):
        rows = operating.false_crossings(data, SimulationPlan(n_runs=2000), n=60)
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


# --- the whole --------------------------------------------------------------------------------------------------------


SMALL = Operating.model_construct(n_runs=60, n_resamples=200, labels=2, conversations=[8], items=[10], marks=[10],
                                  dialogues=[10])  # fmt: skip
OPTIONS = {"first": 2, "pick": 1}


@pytest.fixture(scope="module")
def small():
    annotations, who = sessions.annotate(rng(30), n_interactors=10, per_interactor=4)
    ids = annotations[["corpus", "dialogue", "system", "session"]].drop_duplicates("dialogue")
    dialogues = ids.assign(interactor=ids["dialogue"].map(who))
    data = annotations, dialogues, list(LABEL_SETS["abc_eval"])
    material = analysis.simulation_input(*data, systems=list("abcd"), **OPTIONS)
    return material, analysis.analyse(*data, SMALL, systems=list("abcd"), confidence=0.95, seed=1, **OPTIONS)


@pytest.fixture(scope="module")
def names(small):
    return display_names(params.load("demo"), *small[1].values())


def test_the_material_is_what_the_group_with_most_items_judged_twice_judged(small):
    material, _ = small
    assert (material.corpus, material.group) == ("main", "ext")
    own = material.all_values[material.all_values["group"] == "ext"]
    assert [p.method for p in material.panels] == list(dict.fromkeys(own["method"]))
    ratings = next(p for p in material.panels if p.method == "dialogue_likert")
    direct = panel(own, "dialogue_likert", list("abcd"))
    assert (ratings.systems, ratings.total.tolist()) == (direct.systems, direct.total.tolist())
    assert material.all_values.groupby("group").size().gt(0).all()


def test_all_parts_have_results(small):
    _, results = small
    expected = {"null_rejection", "power", "false_crossing", "interval_coverage", "interval_width", "top_share"}
    assert expected <= set(results)
    assert {"alpha", "rate", "mean", "r", "r2", "rank", "group_difference"} <= set(results["interval_coverage"]["of"])


def test_ticks_are_labels_of_halves_of_a_system_not_of_placebo_worlds_which_may_lie_far_off(small, names):
    _, results = small
    halves = results.select("null_rejection", scenario=None, alpha=0.05).dropna(subset="label")["estimate"]
    worlds = results["null_rejection"].assign(estimate=0.9, scenario="world")
    mixed = Results(results | {"null_rejection": pd.concat([results["null_rejection"], worlds])})
    (drawn,) = figures.rejections(mixed, names)
    assert halves.max() < drawn.fig.axes[0].get_xlim()[1] < 0.9


def test_each_part_is_shown_and_absent_parts_give_nothing(small, names):
    for results, given in ((small[1], True), (Results(), False)):
        plots = [*figures.rejections(results, names), *figures.power(results, names)]
        plots += [*figures.questions(results, 0.95), *figures.coverage(results, names, 0.95)]
        assert [p.name for p in plots] == (["rejections", "power", "intervals", "coverage"] if given else [])
        assert tables.rejections(results, names).frame.empty is not given
        assert len(tables.intervals(results, names).frame) == (len(results["interval_coverage"]) if given else 0)
        said = [*findings.findings(results, names, confidence=0.95, simulated=False), findings.power(results, names)]
        said += [findings.alpha(results, 0.95), findings.ranks(results)]
        assert [bool(p.text) for p in said] == [given] * len(said)
        assert "nan" not in " ".join(p.text for p in said)


def test_what_the_data_do_not_allow_is_left_out():
    annotations, _ = sessions.annotate(rng(31), n_interactors=4, per_interactor=2)
    people = annotations[(annotations["group"] == "ext") & (annotations["method"] == "behavior")]
    data = pd.DataFrame(columns=["corpus", "dialogue", "interactor"]), list(LABEL_SETS["abc_eval"]), SMALL
    options = OPTIONS | {"systems": [], "confidence": 0.95, "seed": 1}
    found = analysis.analyse(people, *data, **options)
    assert found.select("null_rejection", scenario=None).empty
    assert not {"r", "group_difference"} & set(found["interval_coverage"]["of"])
    with pytest.raises(ValueError, match="no item was judged twice"):
        analysis.analyse(people.drop_duplicates(ITEM), *data, **options)


def test_shares_of_several_labels_are_added_up():
    rows = pd.DataFrame({"of": "alpha", "estimate": [0.9, 1.0], "n": [100, 300], "n_undefined": [0, 5]})
    one = procedures.pool(rows, ["of"]).iloc[0]
    assert (one["estimate"], one["n"], one["n_undefined"]) == (0.975, 400, 5)
    assert one["ci_low"] < 0.975 < one["ci_high"]


@pytest.mark.parametrize(
    ("test", "low", "high", "role", "verdict"),
    [
        ("z", 0.06, 0.07, "as published", "inflated"),
        ("session", 0.04, 0.06, "primary", "nominal"),
        ("sign", 0.02, 0.04, "as published", "conservative"),
        ("welch", 0.05, 0.06, "alternative", "nominal"),
    ],
)
def test_a_verdict_needs_the_monte_carlo_interval_to_exclude_the_level(test, low, high, role, verdict):
    row = {"statistic": "null_rejection", "method": "behavior", "test": test, "alpha": 0.05}
    rows = collect([row | {"estimate": (low + high) / 2, "ci_low": low, "ci_high": high}])
    found = procedures.rejection_rates(rows).iloc[0]
    assert (found["role"], found["verdict"]) == (role, verdict)


def test_an_interval_that_is_often_missing_is_not_close_to_its_confidence_level():
    row = pd.Series({"estimate": 0.95, "n": 2000, "n_undefined": 0})
    half = row.copy()
    half[["n", "n_undefined"]] = 1000, 1000
    assert procedures.counted_missing(half)[1] < 0.5
    assert procedures.closer(half, row, 0.95) == "primary"
    assert procedures.closer(row, half, 0.95) == "as published"
    near = row.copy()
    near["estimate"] = 0.945
    assert procedures.closer(row, near, 0.95) is None


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
    (ignore,) = (r for r in repeated(ext, labels) if r.label.id == "ignore")
    marks = ext[ext["label"] == "ignore"]
    twice = marks.groupby(["dialogue", "turn"])["score"].agg(["size", "sum"]).query("size == 2")
    assert ignore.judged.n_items == len(twice)
    assert ignore.judged.n_disagreeing == (twice["sum"] == 1).sum()
    assert len(ignore.clusters) == len(twice)
    sizes = twice.groupby(level="dialogue").size()
    assert sorted(np.bincount(ignore.clusters)) == sorted(sizes)
    same = ext.assign(score=np.where(ext["label"] == "ignore", 0.0, ext["score"]))
    assert {r.label.id for r in repeated(same, labels)} == {"redundant"}
