from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fixtures.session_study import SYSTEMS, annotate
from statsmodels.stats.multitest import multipletests

from judgebook.questions.sensitivity import analysis, judged_groups

SETTINGS = {"systems": SYSTEMS, "pick_seed": 1}


@pytest.fixture(scope="module")
def data():
    annotations, talked = annotate(np.random.default_rng(2), n_interactors=20, per_interactor=3, effect=0.5)
    dialogues = pd.DataFrame({"corpus": "main", "dialogue": talked.index, "interactor": talked.to_numpy(object)})
    return annotations, dialogues


@pytest.fixture(scope="module")
def cells(data):
    return judged_groups.groups(*data, **SETTINGS)


@pytest.mark.parametrize(
    ("n", "kept"), [(judged_groups.MIN_DIALOGUES - 1, "bcd"), (judged_groups.MIN_DIALOGUES, "abcd")]
)
def test_systems_with_few_dialogues_are_left_out(data, n, kept):
    annotations, dialogues = data
    rated = annotations[(annotations["method"] == "dialogue_likert") & (annotations["group"] == "ext")]
    few = rated.loc[rated["system"] == "a", "dialogue"].unique()[:n]
    (cell,) = judged_groups.groups(rated[(rated["system"] != "a") | rated["dialogue"].isin(few)], dialogues, **SETTINGS)
    assert cell.panels[0].systems == list(kept)
    assert judged_groups.groups(rated[rated["system"] == "b"], dialogues, **SETTINGS) == []


def test_without_knowing_who_talked_dialogues_are_exchanged_within_sessions(cells):
    marks, _, compared = cells[0].panels
    assert analysis._within(marks, "interactor") == "interactor"
    assert analysis._within(replace(marks, interactor=None), "interactor") == "session"
    assert analysis._within(replace(compared, interactor=None), "interactor") == "interactor"


def test_contexts_stand_in_for_sessions(data):
    annotations, dialogues = data
    marks = annotations[annotations["method"] == "behavior"]
    paired = marks.assign(context=marks["session"], session=pd.NA)
    (cell,) = judged_groups.groups(paired, dialogues, **SETTINGS)
    (with_sessions,) = judged_groups.groups(marks, dialogues, **SETTINGS)
    assert cell.blocks == "context"
    given = {"seed": 1, "within": "session", "n_permutations": 300}
    ours, theirs = (analysis.tests(c, **given)["system_difference"] for c in (cell, with_sessions))
    assert ours["p_value"].tolist() == theirs["p_value"].tolist()
    assert "context" in set(ours["resample_unit"])
    nothing = marks.assign(session=pd.NA, context=pd.NA)
    assert judged_groups.groups(nothing, dialogues, **SETTINGS)[0].blocks == "none"


def test_p_values_are_adjusted_within_label_and_test(cells):
    results = analysis.tests(cells[0], seed=1, within="session", n_permutations=300)
    shown = results["system_difference"]
    assert set(shown["test"]) == {"z", "student", "welch", "sign", "session", "clustered_t"}
    for _, part in shown.groupby(["method", "label", "test", "sample"], dropna=False):
        assert part["p_adjusted"].to_numpy() == pytest.approx(multipletests(part["p_value"], method="holm")[1])
    here = results.select("n_significant", test="session", alpha=0.05, adjusted_over="label")
    found = shown[(shown["test"] == "session") & shown["sample"].isna()].assign(sure=lambda f: f["p_adjusted"] < 0.05)
    found = found.groupby(["method", "label"])["sure"].sum()
    assert here.set_index(["method", "label"])["estimate"].sort_index().tolist() == found.tolist()


def test_large_families_get_as_many_permutations_as_they_need(data):
    """The smallest p-value must survive multiplication by the number of comparisons."""
    annotations, dialogues = data
    ratings = annotations[(annotations["method"] == "dialogue_likert") & (annotations["group"] == "ext")]
    (cell,) = judged_groups.groups(ratings, dialogues, **SETTINGS)
    session = analysis.tests(cell, seed=1, within="session", n_permutations=99).select(
        "system_difference", test="session"
    )
    # 6 comparisons: 240 permutations, so that p-values are multiples of 1/241, where that of the t test is not larger
    times = (session["p_value"] * 241).to_numpy()
    whole = np.abs(times - times.round()) < 1e-6
    assert whole.sum() >= len(times) / 2
    assert times.min() >= 1 - 1e-6
