"""Systems stand in the order of the first leader board, or of plain means where there is no fit."""

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import SYSTEMS, comparisons, numbered

from judgebook.questions.performance import analysis, arrangement, fitted
from judgebook.questions.performance.fitted import standardised
from judgebook.study.labels import Label

LABELS = [
    Label("quality", "dialogue_likert", "Quality", (1, 5)),
    Label("dull", "dialogue_likert", "Dull", (1, 5), direction=-1),
    Label("quality", "comparative", "Quality", (-1, 1)),
]


#: who judged most dialogues of which system
MOST = {("a", "kind"), ("b", "strict")}


def study(labels=LABELS, unranked=(), overall="all"):
    return SimpleNamespace(
        label_list=lambda: list(labels),
        control_system=None,
        quality_control=None,
        unranked_systems=list(unranked),
        performance=SimpleNamespace(overall=overall),
    )


def rated(label, means, seed=1):
    rng = np.random.default_rng(seed)
    pairs = zip(SYSTEMS, means, strict=True)
    rows = [(f"d{s}{i}", s, f"s{i}", m + rng.normal(0, 0.3)) for s, m in pairs for i in range(6)]
    return numbered(rows, label=label).assign(context=None)


@pytest.fixture
def two_labels():
    """By quality d is best, by dullness (less is better) a, and by both c."""
    return pd.concat([rated("quality", (1, 2, 4, 4.2)), rated("dull", (1, 3, 1.2, 4))], ignore_index=True)


def test_by_the_overall_mean(two_labels):
    """Of labels in standard deviations of items, and without systems that are not ranked."""
    for unranked, first in ((), "c"), (("c",), "a"):
        ranked = two_labels[~two_labels["system"].isin(unranked)]
        parts = [standardised(ranked[ranked["label"] == label.id], label.direction) for label in LABELS[:2]]
        means = pd.concat(parts).groupby("system")["score"].mean()
        order = means.sort_values(ascending=False).index.tolist()
        assert order[0] == first
        assert arrangement.by_score(study(unranked=unranked), two_labels) == order


def test_by_the_fit_where_there_is_one():
    """`b` is better for everybody, but most of its dialogues were judged by those who are strict."""
    gap = {"a": 0.0, "b": 0.5, "kind": 1.0, "strict": -1.0}
    each = [(s, who, i) for i in range(20) for s in "ab" for who in ("kind", "strict") if i < 6 or (s, who) in MOST]
    rng = np.random.default_rng(2)
    rows = [(f"d{s}{i}{who}", s, f"s{i}", 3 + gap[s] + gap[who] + rng.normal(0, 0.3)) for s, who, i in each]
    frame = numbered(rows, label="quality").assign(context=None, annotator=[who for _, who, _ in each])
    results = fitted.fitted(frame, LABELS[:1], defaultdict(lambda: SimpleNamespace(others=True)), "all")
    assert arrangement.by_score(study(LABELS[:1]), frame) == ["a", "b"]
    assert arrangement.by_fit(results, frame) == ["b", "a"]
    assert arrangement.by_fit(arrangement.NO_RESULTS, frame) == []


def test_compared_systems_by_their_strengths():
    votes = [("a", "b", 1)] * 3 + [("b", "a", 1)] + [("b", "c", 1)] * 3 + [("c", "b", 1), ("c", "a", 1)]
    votes += [("d", "a", 1)] * 2 + [("a", "d", 1)]
    frame = comparisons(votes, annotator_kind="human", context=None)
    strengths = analysis.point(frame).sort_values(ascending=False)
    assert arrangement.by_score(study(), frame) == strengths.index.tolist()
    assert strengths.index[0] == "d"
