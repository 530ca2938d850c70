"""Filters by disagreement: cases solved by hand, a second implementation, random ratings, and public data."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import median_abs_deviation

from judgebook.annotations import exclusions
from judgebook.sources.build import build
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.sections.data import Filter

LABEL = Label("l", "turn_rating", "L", (1, 5))


def frame(values, **columns):
    """(items, annotators) ratings, NaN where there is none."""
    item, who = np.indices(values.shape)
    out = {"corpus": "c", "group": "g", "method": "turn_rating", "label": "l", "dialogue": item.ravel(), "turn": 0}
    out |= {"annotator": [f"A{a}" for a in who.ravel()], "annotator_known": True, "annotator_kind": "human"}
    return pd.DataFrame(out | {"score": values.astype(float).ravel()} | columns).dropna(subset="score")


def hits(values, **options):
    rows = frame(np.asarray(values))
    return exclusions.deviating(rows, Filter(rule="deviation", **options)).to_numpy().reshape(np.shape(values))


def test_cases_solved_by_hand():
    # median 3, distances 0 0 0 2, median distance 0: whoever differs is out
    assert hits([[3, 3, 3, 5]]).tolist() == [[False, False, False, True]]
    # median 2.5, distances 1.5 0.5 0.5 1.5, median distance 1, times 1.4826 above 1.5? no: 1.4826 < 1.5
    assert hits([[1, 2, 3, 4]]).tolist() == [[True, False, False, True]]
    assert not hits([[1, 2, 3, 4]], most=1.02).any()  # 1.5 / 1.4826 = 1.0117
    # of two, both are as far from their median
    assert not hits([[1, 5]]).any()
    assert not hits([[1, 5]], center="mean").any()
    # mean 2, distances 1 1 1 3, mean distance 1.5
    assert hits([[1, 1, 1, 5]], center="mean").tolist() == [[False, False, False, True]]
    # mean 2.5, distances 1.5 0.5 0.5 1.5, mean distance 1
    assert hits([[1, 2, 3, 4]], center="mean").tolist() == [[True, False, False, True]]
    assert not hits([[1, 2, 3, 4]], center="mean", most=1.5).any()


def test_the_same_as_a_library_on_unequal_numbers_of_ratings():
    rng = np.random.default_rng(3)
    values = rng.integers(1, 6, (200, 7)).astype(float)
    values[rng.random(values.shape) < 0.3] = np.nan
    rows = frame(values)
    found = rows.assign(hit=exclusions.deviating(rows, Filter(rule="deviation", most=1.5)))
    for item, own in found.groupby("dialogue"):
        x = values[item][~np.isnan(values[item])]
        far = np.abs(x - np.median(x)) > 1.5 * 1.4826 * median_abs_deviation(x) + 1e-9
        assert own["hit"].tolist() == far.tolist()


def test_items_labels_and_groups_are_apart():
    one = frame(np.array([[3, 3, 3, 5.0]]))
    both = pd.concat([one, one.assign(label="m", score=5.0), one.assign(group="h", score=1.0)], ignore_index=True)
    assert exclusions.deviating(both, Filter(rule="deviation")).sum() == 1


def test_rules_follow_each_other_and_leave_models_and_comparisons_alone():
    rows = frame(np.array([[3, 3, 3, 5.0]] * 12))
    model = rows[rows["annotator"] == "A3"].assign(annotator_kind="llm", annotator="M")
    pair = rows.assign(method="comparative")
    both = pd.concat([rows, model, pair], ignore_index=True)
    out = exclusions.left_out(both, [LABEL], [Filter(rule="deviation"), Filter(rule="deviation")])
    assert out.notna().sum() == 12  # after the first rule nothing varies
    other = exclusions.left_out(both, [LABEL], [Filter(rule="deviation", labels=["m"])])
    assert other.isna().all()
    nominal = Label("l", "turn_rating", "L", (0, 2), level="nominal", direction=0, categories=("a", "b", "c"))
    assert exclusions.left_out(rows, [nominal], [Filter(rule="deviation")]).isna().all()


YAML = """
title: t
method: turn_rating
sources:
  - {adapter: table, file: r.csv, columns: {dialogue: id, system: s}, scores: "{label}_{annotator}",
     constants: {turn: 0}}
labels: {nice: {scale: [1, 5]}}
filters:
  - {rule: deviation}
"""


@pytest.fixture
def written(tmp_path):
    def write(yaml):
        (tmp_path / "r.csv").write_text("id,s,nice_a,nice_b,nice_c\n1,x,3,3,5\n2,x,1,1,1\n", encoding="utf-8")
        (tmp_path / "s.yaml").write_text(yaml, encoding="utf-8")
        return build(params.load(tmp_path / "s.yaml")).frames

    return write


def test_what_is_left_out_is_counted_with_its_reason(written):
    frames = written(YAML)
    assert frames["annotations"]["score"].tolist() == [3, 3, 1, 1, 1]
    counts = frames["counts"].query("what == 'annotations'").groupby(["action", "reason"], dropna=False)["n"].sum()
    assert counts["dropped"].to_dict() == {"far from the median of the item (`filters`)": 1}
    assert counts["kept"].sum() + counts["dropped"].sum() == counts["read"].sum() == 6
