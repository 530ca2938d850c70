"""Systems stand in one order everywhere: that of the first leader board, whatever orders it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import SYSTEMS, comparisons, numbered

from judgebook.annotations.summary import evaluations
from judgebook.display.names import DisplayNames
from judgebook.questions.performance import analysis, arrangement, leading, rates
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import collect

FEW = Sampling(n_resamples=20, confidence=0.95, seed=1)
LABELS = [
    Label("quality", "dialogue_likert", "Quality", (1, 5)),
    Label("dull", "dialogue_likert", "Dull", (1, 5), direction=-1),
    Label("quality", "comparative", "Quality", (-1, 1)),
]


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


def board(frame, of):
    """The order of the first leader board, from what notebook 07 computes."""
    judged = analysis.chosen(frame, of.unranked_systems, of.label_list())
    given = of.label_list(), of.unranked_systems
    results = collect(
        analysis.ranked(judged, *given, sampling=FEW),
        analysis.overall_orders(judged, *given, of.performance.overall, confidence=0.95),
        rates.clustered(judged, unit="session", sampling=FEW),
    )
    return list(leading.order(results, evaluations(frame))["system"])


@pytest.fixture
def two_labels():
    """By quality d is best, by dullness (less is better) a, and by both c."""
    return pd.concat([rated("quality", (1, 2, 4, 4.2)), rated("dull", (1, 3, 1.2, 4))], ignore_index=True)


@pytest.mark.parametrize(("labels", "order"), [(LABELS[:1], "dcba"), (LABELS[1:2], "acbd"), ([], "")])
def test_by_the_only_label_that_has_a_direction(two_labels, labels, order):
    assert arrangement.by_score(study(labels), two_labels) == list(order)


def test_by_the_overall_mean(two_labels):
    found = arrangement.by_score(study(), two_labels)
    assert found == board(two_labels, study())
    assert found[0] == "c"


def test_compared_systems_by_their_strengths():
    votes = [("a", "b", 1)] * 3 + [("b", "a", 1)] + [("b", "c", 1)] * 3 + [("c", "b", 1), ("c", "a", 1)]
    votes += [("d", "a", 1)] * 2 + [("a", "d", 1)]
    frame = comparisons(votes, annotator_kind="human", context=None)
    found = arrangement.by_score(study(), frame)
    assert found == board(frame, study())
    assert found[0] == "d"


def test_without_those_that_are_not_ranked(two_labels):
    assert arrangement.by_score(study(unranked=["c"]), two_labels) == board(two_labels, study(unranked=["c"]))
    assert "c" not in arrangement.by_score(study(unranked=["c"]), two_labels)


def test_the_order_of_analyses_stays(two_labels):
    names = DisplayNames({}, {"system": {s: s.upper() for s in SYSTEMS}})
    shown = arrangement.in_order(names, study(), two_labels)
    assert next(iter(shown.titles["system"])) == "c"
    assert shown.systems() == list(SYSTEMS)
    assert shown.color("system", "c") == names.color("system", "c")
