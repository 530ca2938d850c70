import itertools

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, monte_carlo, ratings

from compendium.papers import group_effects
from compendium.papers.group_effects import alpha_ranges
from judgebook.questions.agreement import alpha
from judgebook.questions.groups.effects import label_scores
from judgebook.study.labels import Label
from judgebook.study.results import collect

QUALITY = Label("quality", "dialogue_likert", "Quality", (1, 5))
COMPARED = Label("quality", "comparative", "Quality", (-1, 1))


def over_picks(frame, **options):
    (one,) = label_scores(frame)
    return group_effects.picked_effects(one, seed=1, **options)


def test_picks_by_hand():
    rows = [("d1", "a", 1), ("d2", "a", 2), ("d3", "b", 4), ("d4", "b", 5)]
    frame = pd.concat([ratings(rows), ratings([("d1", "a", 3)], annotator="A2")], ignore_index=True)
    found = over_picks(frame, n_picks=400)
    # d1 counts 1 or 3: means 1.5 or 2.5 against 4.5, pooled variance 0.5 either way
    ends = (2 / 0.5**0.5, 3 / 0.5**0.5)
    assert found.shape == (400, 1)
    assert np.unique(found.round(9)) == pytest.approx(ends)
    assert np.mean(found < 3.5) == pytest.approx(0.5, abs=monte_carlo(0.5, 400))
    (one,) = label_scores(frame)
    (row,) = group_effects.effect_ranges(one, seed=1, n_picks=400)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(ends)


def test_sides_of_a_comparison_are_picked_apart():
    rows = [("a", "b", 1), ("a", "b", -1), ("b", "a", 1)]
    frame = pd.concat([comparisons(rows), comparisons([("a", "b", -1)], annotator="A2")], ignore_index=True)
    seen = set(over_picks(frame, n_picks=200).round(6).ravel())
    assert len(seen) == 3  # a's side and b's side may contradict each other


def marks(rows, **columns):
    frame = ratings(rows, **columns).assign(dialogue_b=None, system_b=None, work_unit="U1")
    return frame.assign(source_row=np.arange(len(frame)))


@pytest.mark.parametrize("label", [QUALITY, COMPARED], ids=["ratings", "comparisons"])
def test_alpha_over_picks_is_alpha_of_every_pick(label):
    rng, n = np.random.default_rng(3), 5

    def make(g, a):
        if label is COMPARED:
            return comparisons([("a", "b", rng.integers(-1, 2)) for _ in range(n)], group=g, annotator=a)
        return marks([(f"d{i}", "ab"[i % 2], rng.integers(1, 6)) for i in range(n)], group=g, annotator=a)

    frame = pd.concat([make("g1", "A1"), make("g1", "A2"), make("g2", "A3")], ignore_index=True)
    frame = frame.assign(annotator_kind="human", source_row=np.arange(len(frame)))
    score = {a: part["score"].to_numpy() for a, part in frame.groupby("annotator")}
    every = []
    for chosen in itertools.product(("A1", "A2"), repeat=n):
        values = np.array([[score[a][i], score["A3"][i]] for i, a in enumerate(chosen)])
        values = np.concatenate([values, -values]) if label is COMPARED else values
        every.append(alpha.alpha(values, "ordinal").estimate)
    (found,) = alpha_ranges(frame, [label], "g1", "g2", seed=1, n_picks=2_000)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((np.nanmin(every), np.nanmax(every)))
    assert found["estimate"] == pytest.approx(np.nanmean(every), abs=0.02)
    assert found["n"] == n


def test_inside_and_how_often_wrong_values_are():
    cell = {"element": "Table 4", "panel": "likert", "column": "g1", "decimals": 2}
    values = (("x", 0.30), ("y", 0.34), ("z", 0.90), ("unknown", 0.5))
    printed = pd.DataFrame([{**cell, "row": r, "value": v} for r, v in values])
    ranges = [("x", 0.304, 0.34), ("y", 0.35, 0.4), ("z", 0.2, 1.0)]
    keys = {"statistic": "mean_absolute_effect", "method": "dialogue_likert", "group": "g1", "over": "picks"}
    results = collect(keys | {"label": x, "ci_low": a, "ci_high": b, "scope": "paper"} for x, a, b in ranges)
    found = group_effects.inside(printed, results).set_index("label")
    assert found["inside"].to_dict() == {"x": True, "y": False, "z": True}  # 0.30 may have been 0.304
    assert found["wrong_inside"].to_dict() == {"x": 0.5, "y": 0.0, "z": 1.0}
