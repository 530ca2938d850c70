import numpy as np
import pandas as pd
import pytest

from judgebook.questions.validity import analysis as ls
from judgebook.questions.validity.question import LabelSelection
from judgebook.study.results import collect

LABELS = pd.DataFrame({"method": ["behavior"] * 3 + ["comparative"], "label": ["a", "b", "c", "a"]})


def rows(statistic, *given, **keys):
    """Result rows of a statistic from (method, label, estimate, low, high)."""
    names = ["method", "label", "estimate", "ci_low", "ci_high"]
    return [{"statistic": statistic, "level": "dialogue", **dict(zip(names, g, strict=False)), **keys} for g in given]


@pytest.fixture
def evidence():
    d, c = {"target": "dialogue_quality"}, {"target": "comparative_quality"}
    told = [("behavior", "a", 2), ("behavior", "b", 1), ("behavior", "c", 0), ("comparative", "a", 3)]
    pairs = [
        rows("contrast", (method, label, 0.0, *((0.1, 0.2) if i < n else (-0.1, 0.2))), system="s", system_b=str(i))
        for method, label, n in told
        for i in range(4)
    ]
    alphas = [("behavior", "a", 0.5, 0.4, 0.6), ("behavior", "b", 0.3, 0.2, 0.4), ("behavior", "c", 0.6, 0.5, 0.7)]
    return collect(
        rows("alpha", *alphas, resample="dialogue", raters="first2"),
        rows("alpha", ("behavior", "a", 0.5, 0.4, 0.6), resample="turn"),
        rows("alpha", ("behavior", "a", 0.5, 0.3, 0.7), resample="dialogue and annotator", raters="first2"),
        rows("alpha", ("behavior", "b", 0.9, 0, 1), resample="dialogue", scope="paper"),
        rows("alpha", ("comparative", "a", 0.4, 0, 1), resample="pair"),
        rows("r", ("behavior", "a", -0.3, -0.4, -0.2), ("behavior", "b", 0.1, -0.1, 0.3), **d),
        rows("r", ("behavior", "c", 0.2, np.nan, np.nan), **d),
        rows("r", ("behavior", "a", 0.5, -0.1, 0.7), ("comparative", "a", 0.2, 0.1, 0.3), **c),
        *pairs,
        rows("selection_frequency", ("behavior", "a", 0.2), ("behavior", "b", 0.5), ("behavior", "c", 0.1), **d),
        rows("selection_frequency", ("behavior", "a", 0.9), **c),
        rows("cost_per_label", ("behavior", None, 0.5), tasks="all"),
    )


def test_values_of_the_criteria_by_hand(evidence):
    found = ls.criteria(evidence, LABELS).set_index(["method", "label"])
    assert found["agreement"].tolist() == [0.5, 0.3, 0.6, 0.4]
    # a: the interval for dialogue quality excludes 0, that for the choice does not; c has none
    assert found["importance"].tolist()[:2] == [0.3, 0.0]
    assert np.isnan(found.loc[("behavior", "c"), "importance"])
    assert found.loc[("comparative", "a"), "importance"] == 0.2
    assert found["sensitivity"].tolist() == [2, 1, 0, 3]
    assert found["distinctness"].tolist()[:3] == [0.9, 0.5, 0.1]
    assert found["cost"].tolist()[:3] == [0.5] * 3
    assert found.loc[("comparative", "a"), ["distinctness", "cost"]].isna().all()


def test_thresholds_keep_and_drop(evidence):
    values = ls.criteria(evidence, LABELS)
    found = ls.select(values, LabelSelection())
    assert found["agreement_met"].tolist() == [True, False, True, True]
    assert found["importance_met"].tolist() == [True, False, False, True]
    assert found["sensitivity_met"].tolist() == [True, True, False, True]
    assert found["distinctness_met"].tolist() == [True, True, False, False]  # not known: not reached
    assert found["kept"].tolist() == [True, False, False, False]
    free = LabelSelection(min_alpha=None, excludes_zero=False, min_pairs=None, min_selected=None)
    assert ls.select(values, free)["kept"].all()
    assert ls.limits(free) == {}
    assert not ls.select(values, free.model_copy(update={"max_cost": 0.4}))["kept"].any()
