import numpy as np
import pandas as pd
import pytest
from fixtures.session_study import annotate, chats

from judgebook.annotations import dialogue_values as values
from judgebook.annotations.picks import picks
from judgebook.questions.validity import targets


@pytest.fixture(scope="module")
def data():
    annotations, talked = annotate(np.random.default_rng(3), doubled=0.5, effect=0.5)
    return annotations, chats(talked)


def find(data, **changes):
    return targets.find(*data, **({"label": "quality", "pick_seed": 5} | changes))


def test_designs_equal_those_put_together_step_by_step(data):
    found, (annotations, dialogues) = find(data), data
    who = dialogues.set_index("dialogue")["interactor"]
    ext = annotations[annotations["group"] == "ext"]
    one = values.dialogue_values(next(picks(ext, 1, 5)))
    own = values.dialogue_values(annotations[annotations["group"] == "own"])
    likert = values.dialogue_design(one, own[own["method"] == "dialogue_likert"], who)
    assert (found.corpus, set(found.groups.values()), found.n_interactors) == ("main", {"ext"}, 12)
    assert set(found.designs) == {values.DIALOGUE_QUALITY, values.COMPARATIVE_QUALITY}
    pd.testing.assert_frame_equal(found.designs[values.DIALOGUE_QUALITY].x, likert.x)
    pd.testing.assert_frame_equal(found.values, one)
    assert (found.designs[values.DIALOGUE_QUALITY].y == likert.y).all()
    # comparisons say nothing of one dialogue
    assert "comparative" not in found.designs[values.DIALOGUE_QUALITY].x
    assert "comparative" in found.designs[values.COMPARATIVE_QUALITY].x


def test_the_first_dialogue_is_the_one_shown_first(data):
    annotations, dialogues = data
    turned = dialogues.assign(order_shown=1 - dialogues["order_shown"])
    both = (find((annotations, d)) for d in (dialogues, turned))
    here, there = (found.designs[values.COMPARATIVE_QUALITY] for found in both)
    assert (here.y == 1 - there.y).all()
    assert np.allclose(here.x, -there.x, equal_nan=True)


def test_predictors_are_never_an_interactors_own(data):
    """Where all evaluators are one group, the interactors' own ratings still predict nothing."""
    annotations, dialogues = data
    one = find((annotations.assign(group="all"), dialogues))
    assert set(one.groups.values()) == {"all"}
    apart = find(data)
    for target, design in one.designs.items():
        assert design.x.shape == apart.designs[target].x.shape
        assert (design.y == apart.designs[target].y).all()


def test_the_group_with_most_labels_predicts_unless_another_is_named(data):
    annotations, dialogues = data
    likert = annotations[(annotations["group"] == "ext") & (annotations["method"] == "dialogue_likert")]
    many = pd.concat([likert.assign(annotator=likert["annotator"] + f"{i}") for i in range(9)])
    both = pd.concat([annotations, many.assign(group="many")], ignore_index=True)
    assert set(find((both, dialogues)).groups.values()) == {"ext"}
    named = find((both, dialogues), group="many")
    assert named.groups == {"dialogue_likert": "many"}
    assert named.designs[values.DIALOGUE_QUALITY].x.columns.tolist() == [("dialogue_likert", "quality")]
    with pytest.raises(ValueError, match="group: 'nobody' judged none"):
        find((both, dialogues), group="nobody")


def test_what_is_missing_is_said(data):
    annotations, dialogues = data
    with pytest.raises(ValueError, match="nobody rated 'fun' for a dialogue of their own"):
        find(data, label="fun")
    with pytest.raises(ValueError, match="nobody rated 'quality'"):
        find((annotations, dialogues.assign(interactor=None)))


def test_main_group_has_most_labels_then_annotations_then_comes_first():
    def rows(group, labels, n):
        return [{"group": group, "method": "behavior", "label": x} for x in labels for _ in range(n)]

    assert targets.main_group(pd.DataFrame(rows("a", "xy", 1) + rows("b", "x", 9))) == "a"
    assert targets.main_group(pd.DataFrame(rows("a", "xy", 1) + rows("b", "xz", 2))) == "b"
    assert targets.main_group(pd.DataFrame(rows("b", "xy", 2) + rows("a", "xz", 2))) == "a"


@pytest.fixture(scope="module")
def outsiders(data):
    """The judgements of those who did not talk, a third of them twice by different people."""
    annotations, dialogues = data
    quality = annotations[(annotations["group"] == "ext") & (annotations["method"] == "dialogue_likert")]
    kinder = quality.assign(label="kindness", score=(quality["score"] + 1).clip(upper=5))
    return pd.concat([quality, kinder], ignore_index=True), dialogues


def test_an_external_label_is_predicted_by_other_people(outsiders):
    found = find(outsiders, quality_label="quality")
    assert (found.external, set(found.designs)) == ("others", {values.DIALOGUE_QUALITY})
    assert found.label == "quality"
    design, (annotations, _) = found.designs[values.DIALOGUE_QUALITY], outsiders
    twice = annotations[annotations["label"] == "quality"].groupby("dialogue")["annotator"].nunique()
    known = design.x.notna().any(axis=1)
    assert known.sum() == (twice > 1).sum()  # only these have somebody else's judgements


def test_with_one_annotator_per_dialogue_both_sides_are_theirs(outsiders):
    annotations, dialogues = outsiders
    first = annotations.drop_duplicates("dialogue").set_index("dialogue")["annotator"]
    once = annotations[annotations["annotator"] == annotations["dialogue"].map(first)]
    found = find((once, dialogues), quality_label="quality")
    design = found.designs[values.DIALOGUE_QUALITY]
    assert found.external == "same"
    assert list(design.x.columns.get_level_values("label")) == ["kindness"]
    assert len(design.y) == once["dialogue"].nunique()


@pytest.fixture(scope="module")
def halves(data):
    """Two groups that judged the same dialogues, neither of whom talked: one marks behaviours, the other rates and
    compares, some dialogues twice."""
    annotations, dialogues = data
    ext = annotations[annotations["group"] == "ext"]
    group = ext["method"].map({"behavior": "crowd"}).fillna("students")
    annotator = ext["annotator"].where(group == "students", "pos0")
    both = ext.assign(group=group, annotator=annotator, annotator_known=group == "students")
    return both.drop_duplicates(["group", "annotator", "label", "method", "dialogue", "dialogue_b", "turn"]), dialogues


TWO = {"quality_label": "quality", "quality_group": "students", "group": ["crowd", "students"]}


def test_predictors_and_target_may_come_from_different_groups(halves):
    found = find(halves, **TWO)
    assert found.groups == {"behavior": "crowd", "dialogue_likert": "students", "comparative": "students"}
    assert found.rated_by == ("students",)
    assert set(found.shared) == {"dialogue_likert", "comparative"}
    assert set(found.designs) == {values.DIALOGUE_QUALITY, values.COMPARATIVE_QUALITY}
    annotations, _ = halves
    rated = annotations[(annotations["label"] == "quality") & (annotations["method"] == "dialogue_likert")]
    given = rated.groupby("dialogue")["score"].agg(list)
    design = found.designs[values.DIALOGUE_QUALITY]
    likert = design.x["dialogue_likert", "quality"].to_numpy()
    for y, other, scores in zip(design.y, likert, given.sort_index(), strict=True):
        assert y in scores
        if len(scores) == 1:
            assert np.isnan(other)  # nobody else rated it
        else:
            assert sorted([y, other]) == sorted(scores)
    assert design.x["behavior"].notna().all(axis=None)


def test_an_outsiders_choice_is_a_target_and_ties_are_left_out(halves):
    found, (annotations, _) = find(halves, **TWO), halves
    compared = annotations[annotations["method"] == "comparative"]
    tied = compared.groupby(compared[["dialogue", "dialogue_b"]].min(axis=1))["score"].agg(lambda s: list(s == 0))
    design = found.designs[values.COMPARATIVE_QUALITY]
    assert len(design.y) + found.n_ties == len(tied)
    assert 0 < tied.map(all).sum() <= found.n_ties <= tied.map(any).sum()  # one of two people's choices is drawn
    assert set(design.y) == {0.0, 1.0}
    assert design.unit == "interactor"


def test_a_part_of_a_group_may_be_named(halves):
    annotations, _ = halves
    people = sorted(annotations.loc[annotations["group"] == "students", "annotator"].unique())
    parts = {"early": people[:3], "late": people[3:]}
    found = find(halves, quality_label="quality", quality_group="early", group=["crowd", "late"], parts=parts)
    own = annotations[annotations["annotator"].isin(parts["early"]) & (annotations["label"] == "quality")]
    assert len(found.designs[values.DIALOGUE_QUALITY].y) == own.loc[own["dialogue_b"].isna(), "dialogue"].nunique()
    assert found.n_annotators["dialogue_likert", "quality"] <= len(parts["late"])


def test_positions_of_two_groups_are_not_the_same_person(halves):
    annotations, dialogues = halves
    students = annotations["group"] == "students"
    unknown = annotations.assign(annotator=annotations["annotator"].where(~students, "pos0"), annotator_known=False)
    unknown = unknown.drop_duplicates(["group", "annotator", "label", "method", "dialogue", "dialogue_b", "turn"])
    found = find((unknown, dialogues), quality_label="quality", quality_group="students", group="crowd")
    assert found.designs[values.DIALOGUE_QUALITY].x["behavior"].notna().all(axis=None)
