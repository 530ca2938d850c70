"""Operating characteristics: tests on placebo comparisons, the whole notebook, and what it says."""

import numpy as np
import pandas as pd
import pytest
from fixtures import session_study as sessions
from fixtures.made_annotations import monte_carlo
from fixtures.placebo_systems import PLAN, rng, simulated, value
from fixtures.placebo_systems import comparisons as made_comparisons
from scipy import stats

from judgebook.questions.operating_characteristics import analysis, procedures
from judgebook.questions.operating_characteristics import placebo as operating
from judgebook.questions.operating_characteristics.monte_carlo import SimulationPlan
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import collect
from judgebook.study.schema import ITEM

# --- tests on placebos ------------------------------------------------------------------------------------------------


def test_a_placebo_run_is_the_test_of_its_halves():
    data = simulated(n_sessions=60)
    drawn = np.flatnonzero(data.system == 0)[:20][None]
    found = operating._placebo_p(data, "dialogue_welch", 0, drawn, PLAN)
    v = data.values[:, 0]
    expected = stats.ttest_ind(v[drawn[0, :10]], v[drawn[0, 10:]], equal_var=False).pvalue
    assert found[0, 0] == pytest.approx(expected)


@pytest.mark.evidence
def test_on_turns_a_true_null_is_rejected_too_often_and_on_dialogues_it_is_not():
    data = simulated()
    rows = operating.placebo_size(data, data, SimulationPlan(n_runs=2000))
    z, welch = (value(rows, "null_rejection", test=t, alpha=0.05, label=None) for t in ("z", "dialogue_welch"))
    assert z["ci_low"] > 0.10
    assert abs(welch["estimate"] - 0.05) < monte_carlo(0.05, 2000)


@pytest.mark.evidence
def test_the_sign_test_rejects_too_little():
    data = made_comparisons()
    rows = operating.placebo_size(data, data, SimulationPlan(n_runs=2000))
    sign = value(rows, "null_rejection", test="sign", alpha=0.05, label=None)
    assert sign["ci_high"] < 0.05


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
    few = simulated(n_sessions=12)
    assert operating.placebo_size(few, few, PLAN) == []


# --- the whole --------------------------------------------------------------------------------------------------------


SMALL = Operating.model_construct(n_runs=60, n_resamples=200, labels=2, conversations=8, items=[10], marks=[10],
                                  dialogues=[10])  # fmt: skip
OPTIONS = {"first": 2, "pick": 1}


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


def test_a_verdict_needs_the_monte_carlo_interval_to_exclude_the_level():
    tests = [("z", 0.06, 0.07), ("student", 0.04, 0.06), ("sign", 0.02, 0.04), ("welch", 0.05, 0.06)]
    row = {"statistic": "null_rejection", "method": "behavior", "alpha": 0.05, "estimate": 0.05}
    rows = collect([row | {"test": test, "ci_low": low, "ci_high": high} for test, low, high in tests])
    found = procedures.rejection_rates(rows).set_index("test")
    assert found["role"].to_dict() == {
        "z": "as published", "student": "as published", "sign": "as published", "welch": "alternative"
    }  # fmt: skip
    assert found["verdict"].to_dict() == {
        "z": "inflated", "student": "nominal", "sign": "conservative", "welch": "nominal"
    }  # fmt: skip


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
