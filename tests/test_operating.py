"""Operating characteristics: tests on placebos, the whole notebook, and what it says."""

import numpy as np
import pandas as pd
import pytest
import sessions
from evaluations import monte_carlo
from placebos import PLAN, comparisons, keys_of, rng, simulated, value
from scipy import stats

from helpers import (
    operating,
    operating_parts,
    params,
    picks,
    power,
    schema,
    values,
)
from helpers.coincidences import patterns
from helpers.contrasts import panel
from helpers.labels import LABEL_SETS, Label
from helpers.look import of
from helpers.operating_coverage import (
    Plan,
    Repeated,
    by_prevalence,
    repeated,
)
from helpers.sections import Simulate
from helpers.sources import build
from helpers.views import operating_report as report
from helpers.views import operating_text as text

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


def test_on_turns_a_true_null_is_rejected_too_often_and_on_dialogues_it_is_not():
    rows = operating.placebo_size(simulated(), Plan(n_runs=2000))
    z, ours = (value(rows, "null_rejection", test=t, alpha=0.05, label=None) for t in ("z", "session"))
    assert z["ci_low"] > 0.10
    assert abs(ours["estimate"] - 0.05) < monte_carlo(0.05, 2000)
    normal = value(rows, "null_rejection", test="session_normal", alpha=0.05, label=None)
    assert abs(normal["estimate"] - 0.05) < monte_carlo(0.05, 2000) + 0.005


def test_sizes_are_those_of_one_run_at_a_time():
    data = simulated("ignore", 200)
    rows = operating.placebo_size(data, Plan(n_runs=2000))
    slow = power.null_rejection(data, ["z"], n=50, n_runs=500, seed=1, alphas=(0.05,)).iloc[0]
    fast = value(rows, "null_rejection", test="z", alpha=0.05, label=None)
    assert keys_of(fast)["n_dialogues"] == "50"
    assert abs(fast["estimate"] - slow["estimate"]) < monte_carlo(slow["estimate"], 500) + monte_carlo(0.1, 2000)


def test_ratings_of_turns_likewise():
    rows = operating.placebo_size(simulated("quality", 400, "turn_likert"), Plan(n_runs=1000))
    assert value(rows, "null_rejection", test="student", alpha=0.05, label=None)["ci_low"] > 0.15
    ours = value(rows, "null_rejection", test="session", alpha=0.05, label=None)
    assert abs(ours["estimate"] - 0.05) < monte_carlo(0.05, 1000)


def test_the_sign_test_and_the_permutation_of_signs_are_one_and_reject_too_little():
    rows = operating.placebo_size(comparisons(), Plan(n_runs=2000))
    sign, ours = (value(rows, "null_rejection", test=t, alpha=0.05, label=None) for t in ("sign", "session"))
    assert sign["ci_high"] < 0.05
    assert abs(sign["estimate"] - ours["estimate"]) < monte_carlo(0.05, 2000)


def test_power_is_compared_at_the_same_size():
    differing = simulated("lack_of_empathy", spec=Simulate())
    rows = operating.power_curves(differing, Plan(n_runs=600), sizes=[16, 64])
    found = {
        (t, n, s): value(rows, "power", test=t, n_dialogues=n, size=s, label=None)["estimate"]
        for t in ("z", "session")
        for n in (16, 64)
        for s in ("nominal", "corrected")
    }
    assert found["z", 16, "nominal"] > found["z", 16, "corrected"] + 0.05
    assert found["session", 64, "nominal"] > found["session", 16, "nominal"]
    assert abs(found["session", 64, "corrected"] - found["session", 64, "nominal"]) < 0.05


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


# --- the whole --------------------------------------------------------------------------------------------------------


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
    assert (material.corpus, material.group) == ("main", "ext")
    own = material.all_values[material.all_values["group"] == "ext"]
    assert [p.method for p in material.panels] == list(dict.fromkeys(own["method"]))
    ratings = next(p for p in material.panels if p.method == "dialogue_likert")
    direct = panel(own, "dialogue_likert", list("abcd"))
    assert (ratings.systems, ratings.total.tolist()) == (direct.systems, direct.total.tolist())
    assert material.all_values.groupby("group").size().gt(0).all()
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
    said = [*text.say_size(sizes, look, 0.05), *text.say_power(curves, look), *text.say_alpha(coverage)]
    said = "\n".join([*said, *text.say_pairs(pairs, 0.95), text.say_first(report.parsed(rows, "top_share"))])
    assert "z of shares, on turns" in said
    assert "dialogues the interval over dialogues holds the true alpha" in said
    assert "nan" not in said
    kinds = {"nominal": 0.05, "confidence": 0.95}
    assert "simulated" in text.say_defaults(pairs, sizes, look, simulated=True, **kinds)
    assert "**Tests.**" in text.say_defaults(pairs, sizes, look, simulated=False, **kinds)


def test_nothing_to_say_is_said_as_nothing():
    none = pd.DataFrame()
    assert text.say_crossing(none, 0.05) == ""
    assert text.say_first(none) == ""
    look = of(params.load("demo"))
    assert text.say_defaults(none, none, look, nominal=0.05, confidence=0.95, simulated=False) == ""


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
    (ignore,) = (r for r in repeated(ext, labels) if r.label.id == "ignore")
    marks = ext[ext["label"] == "ignore"]
    twice = marks.groupby(["dialogue", "turn"])["score"].agg(["size", "sum"]).query("size == 2")
    assert ignore.found.n_items == len(twice)
    assert ignore.found.n_disagreeing == (twice["sum"] == 1).sum()
    assert len(ignore.clusters) == len(twice)
    sizes = twice.groupby(level="dialogue").size()
    assert sorted(np.bincount(ignore.clusters)) == sorted(sizes)
    same = ext.assign(score=np.where(ext["label"] == "ignore", 0.0, ext["score"]))
    assert {r.label.id for r in repeated(same, labels)} == {"redundant"}


# --- public data ------------------------------------------------------------------------------------------------------


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


def test_an_interval_that_is_often_missing_does_not_keep_its_promise():
    row = {
        "question": "Rate",
        "name": "x",
        "estimate": 0.95,
        "n": 2000,
        "n_undefined": 0,
        "ci_low": 0.94,
        "ci_high": 0.96,
    }
    pairs = pd.DataFrame([row | {"who": "published", "n": 1000, "n_undefined": 1000}, row | {"who": "ours"}])
    kinds = {"nominal": 0.05, "confidence": 0.95, "simulated": False}
    look = of(params.load("demo"))
    none = pd.DataFrame()
    assert "Ours come closer to what they promise for “rate”." in text.say_defaults(pairs, none, look, **kinds)
    assert "A sample without an interval counts as missed." in text.say_defaults(pairs, none, look, **kinds)
    assert "none in 50 % of the samples" in text.say_pairs(pairs, 0.95)[0]
    alike = pd.DataFrame([row | {"who": "published"}, row | {"who": "ours", "estimate": 0.945}])
    assert "No difference between the two is shown for “rate”." in text.say_defaults(alike, none, look, **kinds)
