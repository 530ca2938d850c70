import numpy as np
import pytest
from fixtures.session_study import annotate

from judgebook.annotations.picks import picks
from judgebook.study.schema import ITEM

GROUP_ITEM = ["group", *ITEM]


@pytest.fixture(scope="module")
def annotations():
    return annotate(np.random.default_rng(1))[0]


def test_one_annotation_an_item_and_every_item(annotations):
    picked = next(picks(annotations, 1, 2))
    assert not picked.duplicated(GROUP_ITEM).any()
    assert len(picked) == len(annotations.drop_duplicates(GROUP_ITEM)) < len(annotations)
    assert picked.index.is_monotonic_increasing


def test_a_dialogue_keeps_its_pick_within_a_method(annotations):
    picked = next(picks(annotations, 1, 2))
    assert (picked.groupby(["group", "method", "dialogue"])["annotator"].nunique() == 1).all()


def test_row_order_does_not_matter(annotations):
    shuffled = annotations.sample(frac=1, random_state=0)
    first, again = (next(picks(frame, 1, 3)) for frame in (annotations, shuffled))
    assert set(first["source_row"]) == set(again["source_row"])


@pytest.mark.verify
def test_each_annotation_is_as_likely(annotations):
    n = 2000
    taken = sum(annotations.index.isin(p.index).astype(int) for p in picks(annotations, n, 4))
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
    picked = next(picks(turned, 1, 5))
    assert (picked["session"].value_counts() == 1).all()
    assert set(picked.index) == set(next(picks(pairs, 1, 5)).index)


def test_picks_are_independent_of_how_many(annotations):
    few, many = list(picks(annotations, 2, 7)), list(picks(annotations, 4, 7))
    assert few[1].equals(many[1])
    assert not many[0].equals(many[1])


def test_nothing_is_picked_of_nothing(annotations):
    assert len(next(picks(annotations.head(0), 1, 0))) == 0
