"""Whether one group rates more extremely."""

import pandas as pd
import pytest
from fixtures.made_annotations import numbered

from judgebook.questions.groups.claims import extremes
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import collect

QUALITY = Label("quality", "dialogue_likert", "Quality", (1, 5))


def rated(scores, group, annotator, **columns):
    """One rating a dialogue d0, d1, … of a session each; None is a dialogue not rated."""
    rows = [(f"d{i}", "ab"[i % 2], f"s{i}", s) for i, s in enumerate(scores) if s is not None]
    return numbered(rows, group=group, annotator=annotator, **columns)


def found(*parts, labels=(QUALITY,), n_resamples=300, seed=1):
    frame, sampling = pd.concat(parts, ignore_index=True), Sampling(n_resamples, 0.95, seed)
    return collect(extremes(frame, list(labels), sampling=sampling))


def test_shares_by_hand():
    results = found(
        rated([1, 5, 3, 2, 5, 4], "g1", "A"),
        rated([None, 4, 3, 4, None, None], "g1", "B"),  # d1: 5 and 4, half of an extreme rating
        rated([1, 2, 3, 5, 3, None], "g2", "C"),
    )
    # both rated d0 to d4: equal on d0 and d2; means differ on d1 (4.5, 2), d3 (3, 5) and d4 (5, 3)
    shares = results["extreme_share"].set_index("group")["estimate"]
    assert shares.to_dict() == pytest.approx({"g1": 1.5 / 3, "g2": 1 / 3})
    (row,) = results["extreme_share_difference"].to_dict("records")
    assert (row["estimate"], row["n"], row["n_annotators"]) == (pytest.approx(0.5 - 1 / 3), 3, 3)


def test_scales_without_a_middle_comparisons_and_dialogues_of_one_group_are_left_out():
    binary = Label("quality", "dialogue_likert", "Quality", (0, 1))
    parts = rated([0, 1, 1], "g1", "A"), rated([1, 1, 0], "g2", "B")
    assert found(*parts, labels=[binary]) == {}
    assert found(rated([1, 2, None], "g1", "A"), rated([None, None, 3], "g2", "B")) == {}


def test_groups_that_never_disagree_leave_a_reason():
    results = found(*(rated([1, 5, 3, 4], g, g) for g in ("g1", "g2")))
    rows = results["extreme_share_difference"]
    assert rows["estimate"].isna().all()
    assert rows["note"].notna().all()
