import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, ratings
from fixtures.session_study import annotate

from judgebook.annotations import dialogue_values as values
from judgebook.annotations.picks import picks


@pytest.fixture(scope="module")
def study():
    annotations, talked = annotate(np.random.default_rng(11))
    picked = next(picks(annotations, 1, 0))
    return annotations, picked, talked, values.dialogue_values(picked)


def own_values(of_dialogues, talked):
    """Those that an interactor gave to a dialogue of their own."""
    own = of_dialogues["annotator"] == of_dialogues["dialogue"].map(talked)
    return of_dialogues[own.fillna(False).to_numpy(bool)]


def test_annotations_of_an_item_count_together_as_much_as_another_item():
    rows = [("d1", "a", 1.0), ("d1", "a", 4.0), ("d1", "a", 2.0)]
    frame = ratings(rows, method="turn_likert").assign(turn=[0, 0, 1], dialogue_b=None, system_b=None, session="s1")
    frame["annotator"] = ["A1", "A2", "A1"]
    (row,) = values.dialogue_values(frame).to_dict("records")
    assert (row["n_items"], row["total"], row["total_sq"], row["value"]) == (2, 4.5, 2.5**2 + 2**2, 2.25)
    assert pd.isna(row["annotator"])


def test_a_pair_judged_from_both_sides_is_one_pair():
    frame = comparisons([("a", "b", 1), ("b", "a", 1), ("b", "a", 1)]).assign(
        dialogue=["x", "y", "y"], dialogue_b=["y", "x", "x"], session="s1", turn=pd.NA
    )
    (row,) = values.dialogue_values(frame).to_dict("records")
    assert (row["dialogue"], row["system"], row["n_items"]) == ("x", "a", 1)
    assert row["value"] == pytest.approx(-1 / 3)


def test_dialogue_design_predicts_the_interactors_own_rating(study):
    _, picked, talked, found = study
    own = own_values(found, talked)
    assert set(own["group"]) == {"own"}
    target = own[own["method"] == "dialogue_likert"]
    design = values.dialogue_design(found[found["group"] == "ext"], target, talked)
    assert design.x.shape == (72, 3)
    assert (design.unit, design.level, len(set(design.clusters))) == ("interactor", "dialogue", 12)
    ratings = picked[(picked["group"] == "own") & (picked["method"] == "dialogue_likert")].set_index("dialogue")[
        "score"
    ]
    assert design.y == pytest.approx(ratings[design.x.index].to_numpy())


def test_comparative_design_points_the_same_way_everywhere(study):
    _, picked, talked, found = study
    own = own_values(found, talked)
    target = own[own["method"] == "comparative"]
    design = values.comparative_design(found[found["group"] == "ext"], target, talked)
    chosen = target[target["value"] != 0].sort_values(["dialogue", "dialogue_b"], ignore_index=True)
    assert len(design.y) == len(chosen) < len(target)
    assert design.y.tolist() == [1.0 if v < 0 else 0.0 for v in chosen["value"]]
    ext = picked[picked["group"] == "ext"]
    for i, row in enumerate(chosen.itertuples()):
        rating = ext[ext["method"] == "dialogue_likert"].set_index("dialogue")["score"]
        expected = rating[row.dialogue_b] - rating[row.dialogue]
        assert design.x[("dialogue_likert", "quality")].iloc[i] == expected
        other = ext[(ext["method"] == "comparative") & (ext["session"] == row.session)].iloc[0]
        sign = -1 if other["dialogue"] == row.dialogue else 1
        assert design.x[("comparative", "quality")].iloc[i] == sign * other["score"]


def test_the_order_shown_turns_pairs(study):
    _, _, talked, found = study
    own = own_values(found, talked)
    target, ext = own[own["method"] == "comparative"], found[found["group"] == "ext"]
    plain = values.comparative_design(ext, target, talked)
    late = pd.Series(1, index=target["dialogue"]).combine_first(pd.Series(0, index=target["dialogue_b"]))
    turned = values.comparative_design(ext, target, talked, late)
    assert turned.y.tolist() == (1 - plain.y).tolist()
    assert np.array_equal(turned.x.to_numpy(), -plain.x.to_numpy())


def test_unknown_people_leave_sessions_then_dialogues_as_clusters(study):
    _, _, talked, found = study
    target = own_values(found, talked).query("method == 'dialogue_likert'")
    ext = found[found["group"] == "ext"]
    assert values.dialogue_design(ext, target).unit == "session"
    assert values.dialogue_design(ext, target.assign(session=None)).unit == "dialogue"


def test_pairs_that_share_a_dialogue_are_one_cluster(study):
    """On either side, and through others; without people or sessions nothing else is known of them."""
    _, _, talked, found = study
    target = own_values(found, talked).query("method == 'comparative' and value != 0").assign(session=None)
    ext = found[found["group"] == "ext"]
    design = values.comparative_design(ext, target)
    assert design.clusters.tolist() == sorted(target["dialogue"])
    rows = target.sort_values(["dialogue", "dialogue_b"], ignore_index=True)
    shared = rows.assign(dialogue_b=rows["dialogue_b"].mask(rows.index == 3, rows["dialogue_b"][0]))
    shared = shared.assign(dialogue_b=shared["dialogue_b"].mask(rows.index == 4, rows["dialogue"][3]))
    own = values.comparative_design(ext, shared)
    assert own.unit == "dialogue"
    assert len({own.clusters[i] for i in (0, 3, 4)}) == 1
    assert len(set(own.clusters)) == len(rows) - 2


def test_what_is_not_one_target_is_refused(study):
    _, _, talked, found = study
    own = own_values(found, talked)
    with pytest.raises(ValueError, match="expected one, found"):
        values.dialogue_design(found, own[own["method"] == "dialogue_likert"])
    with pytest.raises(ValueError, match="no rows"):
        values.dialogue_design(found[found["group"] == "ext"], own.head(0))


def test_who_judged_and_who_talked_by_hand():
    rows = pd.DataFrame(
        {
            "method": ["behavior", "behavior", "behavior", "comparative", "turn_likert"],
            "label": ["ignore", "ignore", "ignore", "quality", "quality"],
            "annotator": ["A", "B", "A", "C", "0"],
            "annotator_known": [True, True, True, True, False],
        }
    )
    assert values.count_annotators(rows) == {("behavior", "ignore"): 2, ("comparative", "quality"): 1}


def test_a_design_is_cut_by_rows():
    x = pd.DataFrame({"a": [1.0, 2, 3], "b": [4.0, np.nan, 6]})
    design = values.Design("t", np.array([7.0, 8, 9]), x, np.array(["P", "Q", "R"]), "interactor", "dialogue")
    part = design.rows(np.array([2, 0]))
    assert (part.y.tolist(), part.x["a"].tolist(), part.clusters.tolist()) == ([9, 7], [3, 1], ["R", "P"])
    whole = design.common(["a", "b"])  # rows that have every predictor
    assert (whole.y.tolist(), whole.x["b"].tolist(), whole.clusters.tolist()) == ([7, 9], [4, 6], ["P", "R"])
