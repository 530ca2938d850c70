import numpy as np
import pytest
from fixtures.session_study import annotate

from judgebook.annotations.picks import pick_one, picks
from judgebook.statistics.intervals import generator
from judgebook.study.schema import ITEM

GROUP_ITEM = ["group", *ITEM]


@pytest.fixture(scope="module")
def annotations():
    return annotate(np.random.default_rng(1))[0]


def test_one_annotation_an_item_and_every_item(annotations):
    picked = pick_one(annotations, np.random.default_rng(2))
    assert not picked.duplicated(GROUP_ITEM).any()
    assert len(picked) == len(annotations.drop_duplicates(GROUP_ITEM)) < len(annotations)
    assert picked.index.is_monotonic_increasing


def test_a_dialogue_keeps_its_pick_within_a_method(annotations):
    picked = pick_one(annotations, np.random.default_rng(2))
    assert (picked.groupby(["group", "method", "dialogue"])["annotator"].nunique() == 1).all()
    loose = pick_one(annotations, np.random.default_rng(2), keep="item")
    marks = loose[loose["method"] == "behavior"]
    assert (marks.groupby("dialogue")["annotator"].nunique() > 1).any()


def test_row_order_does_not_matter(annotations):
    shuffled = annotations.sample(frac=1, random_state=0)
    first, again = (pick_one(frame, np.random.default_rng(3)) for frame in (annotations, shuffled))
    assert set(first["source_row"]) == set(again["source_row"])


@pytest.mark.verify
@pytest.mark.parametrize("keep", ["dialogue", "item"])
def test_each_annotation_is_as_likely(annotations, keep):
    n = 2000
    taken = sum(annotations.index.isin(p.index).astype(int) for p in picks(annotations, n, 4, keep=keep))
    several = annotations.groupby(GROUP_ITEM, dropna=False)["score"].transform("size").to_numpy()
    assert (taken[several == 1] == n).all()
    # 2,000 fair draws: beyond 5 standard deviations once in two million
    assert np.abs(taken[several == 2] - n / 2).max() < 5 * np.sqrt(n / 4)


def test_both_orientations_of_a_comparison_are_one_item(annotations):
    pairs = annotations[(annotations["method"] == "comparative") & (annotations["group"] == "ext")]
    names = {"dialogue": "dialogue_b", "dialogue_b": "dialogue", "system": "system_b", "system_b": "system"}
    mirrored = pairs.rename(columns=names)[pairs.columns].assign(score=-pairs["score"])
    turned = pairs.where(pairs["source_row"] % 2 == 0, mirrored)
    assert (turned["dialogue"] != pairs["dialogue"]).any()
    picked = pick_one(turned, np.random.default_rng(5))
    assert (picked["session"].value_counts() == 1).all()
    assert set(picked.index) == set(pick_one(pairs, np.random.default_rng(5)).index)


def test_picks_are_independent_of_how_many(annotations):
    few, many = list(picks(annotations, 2, 7)), list(picks(annotations, 4, 7))
    assert few[1].equals(many[1])
    assert not many[0].equals(many[1])
    assert many[0].equals(pick_one(annotations, generator(7, "pick", "0")))


def test_an_unknown_way_to_keep_is_refused(annotations):
    with pytest.raises(ValueError, match="expected one of dialogue, item, found 'turn'"):
        pick_one(annotations, np.random.default_rng(0), keep="turn")
    assert len(pick_one(annotations.head(0), np.random.default_rng(0))) == 0
