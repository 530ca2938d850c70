"""All results of notebook 08, and what its views show of them."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, judged_twice, numbered, study

from judgebook.questions.agreement import analysis as agreement
from judgebook.questions.groups import analysis
from judgebook.questions.groups.analysis import alpha_between, alpha_within, comparable, counted, group_counts
from judgebook.questions.groups.question import GroupEffects
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import collect

QUALITY = Label("quality", "dialogue_likert", "Quality", (1, 5))
COMPARED = Label("quality", "comparative", "Quality", (-1, 1))
SAMPLING = Sampling(200, 0.95, 1)
OPTIONS = GroupEffects(n_permutations=300, people_resamples=200)
RUN = {"sampling": SAMPLING, "pick_seed": 123, "permute_seed": 1}


def test_only_what_two_groups_judged_of_two_systems_is_compared():
    both = [("d1", "a", 1), ("d2", "b", 2)]
    parts = [numbered(both, group=g) for g in ("g1", "g2")]
    parts += [numbered(both, group="g1", label=label) for label in ("alone", "half")]
    parts += [numbered(both[:1], group="g2", label="half"), numbered(both, group="g3", corpus="gold")]
    found = comparable(pd.concat(parts, ignore_index=True).assign(session=None))
    assert set(zip(found["group"], found["label"], strict=True)) == {("g1", "quality"), ("g2", "quality")}
    assert found.groupby("dialogue")["session"].nunique().tolist() == [1, 1]  # without sessions an item is its own
    assert found["session"].nunique() == 2


def annotated(frame, **columns):
    fixed = {"annotator_kind": "human", "dialogue_b": None, "system_b": None, "work_unit": "U1"}
    return frame.assign(**fixed | {"source_row": np.arange(len(frame))} | columns).astype({"turn": "Int32"})


@pytest.fixture(scope="module")
def three():
    """Three groups, of which the third sees one system differently."""
    frame = study(np.random.default_rng(1), groups=("g1", "g2", "g3"), shift=1.2, n_annotators=3)
    return annotated(frame, score=np.clip(np.rint(3 + frame["score"]), 1, 5), method="dialogue_likert")


@pytest.fixture(scope="module")
def results(three):
    return analysis.analyse(three, [QUALITY], OPTIONS, **RUN)


def test_p_values_are_adjusted_over_labels_and_groups(results):
    for exchange in ("judgement", "annotator"):
        tests = results.select("group_difference_test", exchange=exchange)
        assert len(tests) == 3
        assert tests["p_adjusted"].min() == pytest.approx(min(1, 3 * tests["p_value"].min()))
        assert tests["family"].notna().all()


def test_pairs_of_systems_are_counted_once(results):
    for of in ("sign", "size"):
        assert counted(results, of).sum(axis=1).to_dict() == {"dialogue_likert": 18}  # six by three pairs of groups


def test_of_very_many_pairs_of_systems_there_are_means_only(three, results, monkeypatch):
    monkeypatch.setattr(analysis, "MANY_PAIRS", 5)
    found = analysis.analyse(three, [QUALITY], OPTIONS, **RUN)
    assert set(results) - set(found) == {"effect_size", "effect_difference", "conclusion_count"}
    for statistic in ("mean_absolute_effect", "group_difference", "group_difference_debiased", "equivalence_margin"):
        assert found[statistic].equals(results[statistic])
    monkeypatch.setattr(analysis, "MOST_UNITS", 20)
    rows = analysis.analyse(three, [QUALITY], OPTIONS, **RUN)["group_difference"]
    whole = results["group_difference"]
    assert rows["estimate"].to_numpy() == pytest.approx(whole["estimate"].to_numpy())
    assert set(rows["n_clusters"].dropna()) == {20}


def test_a_group_that_sees_one_system_differently_is_found(results):
    found = analysis.differences(results, 0.95).set_index(["group", "group_b"])
    assert found.index.tolist() == [("g1", "g2"), ("g1", "g3"), ("g2", "g3")]
    assert found["verdict"].tolist() == ["inconclusive", "different", "different"]
    assert found["exceeds"].tolist() == [False, True, True]


@pytest.mark.verify
def test_one_comparison_of_each_group_gives_reasons_and_no_crash():
    """Two systems, one pair, and a group that saw a tie: no effect, no test, no conclusion; each row says why."""
    frame = pd.concat([comparisons([("a", "b", 1)]), comparisons([("a", "b", 0)], group="g2", annotator="A2")])
    frame = frame.assign(group=["g1", "g2"], annotator_kind="human", work_unit="U1", source_row=[0, 1])
    found = analysis.analyse(frame, [COMPARED], OPTIONS, **RUN)
    for rows in found.values():
        assert rows.loc[rows["estimate"].isna(), "note"].notna().all()
    assert analysis.differences(found, 0.95)["verdict"].tolist() == ["no test"]


def test_verdicts():
    assert analysis.verdict(0.01, 0.5, 0.05) == "different"
    assert analysis.verdict(0.5, 0.01, 0.05) == "equivalent"
    assert analysis.verdict(0.01, 0.01, 0.05) == "different, within the margin"
    assert analysis.verdict(0.5, 0.5, 0.05) == "inconclusive"
    assert analysis.verdict(np.nan, np.nan, 0.05) == "no test"


def test_counts_by_hand():
    once = numbered([("d3", "a", 1)]), numbered([("d1", "a", 2)], annotator="A9")
    frame = pd.concat([judged_twice(["d1", "d2"]), *once])
    rows = collect(group_counts(frame.assign(session=None, seconds=1.0)))["count"]
    found = rows.set_index([rows["method"].fillna("all"), "what"])["estimate"]
    assert found.to_dict() == {
        ("dialogue_likert", "evaluated"): 2,  # d1 has three judgements
        ("dialogue_likert", "doubly_annotated"): 1,
        ("dialogue_likert", "evaluators_of_method"): 3,
        ("all", "evaluators"): 3,
    }


def test_within_groups_is_alpha_of_the_first_two_annotations(three):
    second = three.assign(annotator="Z", source_row=three["source_row"] + len(three))
    second["score"] = (second["score"] + 1).clip(upper=5)
    both = pd.concat([three, second[second["group"] != "g3"]], ignore_index=True)
    found = alpha_within(both, [QUALITY], SAMPLING)["alpha"]
    assert found["group"].tolist() == ["g1", "g2"]  # of the third group every item was judged once
    alphas = agreement.alpha_table(both, [QUALITY], sampling=SAMPLING, first=2, alone=True)["alpha"]
    direct = alphas.set_index("group")["estimate"]
    assert found["estimate"].tolist() == pytest.approx([direct["g1"], direct["g2"]])


def test_between_groups_uses_the_annotations_it_is_given(three):
    found = alpha_between(three, [QUALITY], SAMPLING)["alpha"]
    assert list(zip(found["group"], found["group_b"], strict=True)) == [("g1", "g2"), ("g1", "g3"), ("g2", "g3")]
    alphas = agreement.alpha_between(three, [QUALITY], "g1", "g3", sampling=SAMPLING)["alpha"]
    direct = alphas["estimate"].item()
    assert found["estimate"].iloc[1] == pytest.approx(direct)
