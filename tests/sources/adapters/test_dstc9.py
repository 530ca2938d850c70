"""DSTC9 needs no adapter of its own: a table whose repeated rows are positions, with N/A cells and a metric."""

import pandas as pd
import pytest

from judgebook.sources.build import build
from judgebook.study import params


@pytest.fixture(scope="module")
def dstc9(raw_data):
    return build(params.load("dstc9")).frames


@pytest.mark.data
def test_sizes_of_the_public_file(dstc9):
    marks = dstc9["annotations"]
    assert len(marks) == 6_473 * 11 - 182 - 54
    assert marks.loc[marks["label"] == "error_recovery"].shape[0] == 6_473 - 182
    assert marks["label"].nunique() == 11
    assert marks["system"].nunique() == 11
    assert set(marks["annotator"]) == {"pos0", "pos1", "pos2"}
    assert not marks["annotator_known"].any()
    overall = marks[marks["label"] == "human_overall"].groupby("dialogue").size()
    assert overall.value_counts().to_dict() == {3: 2_075, 2: 123, 1: 2}
    dropped = dstc9["counts"].query("action == 'dropped' and what == 'annotations'")
    assert dropped["n"].sum() == 182 + 54
    assert dropped.loc[dropped["reason"].str.contains("no error to recover from"), "n"].sum() == 182


@pytest.mark.data
def test_positions_are_the_slots_of_the_file(dstc9, raw_data):
    rows = pd.read_csv(raw_data / "dstc9" / "ratings.csv").set_index(["system", "dialogue", "slot"])
    marks = dstc9["annotations"]
    for label in ("human_overall", "error_recovery", "consistent"):
        given = rows[label].dropna()
        ours = marks[marks["label"] == label]
        number = ours["dialogue"].str.rpartition("_")[2].astype(int)
        ours = ours.set_index([ours["system"], number, ours["annotator"].str.removeprefix("pos").astype(int)])["score"]
        pd.testing.assert_series_equal(ours.sort_index(), given.sort_index().astype(float), check_names=False)


@pytest.mark.data
def test_flow_score_stands_once_a_dialogue(dstc9):
    scores = dstc9["metric_scores"]
    flow = scores[scores["metric"] == "flow_score"]
    assert len(flow) == 2_200
    assert not flow["dialogue"].duplicated().any()
    assert flow["score"].notna().all()
    assert params.load("dstc9").metric_directions == {"flow_score": -1}


@pytest.mark.data
def test_further_measures_follow_from_the_counts_of_the_file(dstc9, raw_data):
    rows = pd.read_csv(raw_data / "dstc9" / "ratings.csv").drop_duplicates(["system", "dialogue"])
    user, system, turns = rows["n_user_words"], rows["n_system_words"], rows["n_utterances"] / 2
    expected = pd.DataFrame({"n_words": user + system, "user_share": user / (user + system),
                             "user_words_a_turn": user / turns, "system_words_a_turn": system / turns})  # fmt: skip
    expected.index = rows["system"] + "_" + rows["dialogue"].astype(str)
    scores = dstc9["metric_scores"].set_index(["metric", "dialogue"])["score"]
    for metric, values in expected.items():
        pd.testing.assert_series_equal(scores[metric].loc[values.index], values.astype(float), check_names=False)
