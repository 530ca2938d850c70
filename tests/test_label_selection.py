import numpy as np
import pandas as pd
import pytest

from helpers import label_selection as ls
from helpers.labels import Label
from helpers.schema import condition, make_results
from helpers.sections import LabelSelection

LABELS = pd.DataFrame({"method": ["behavior"] * 3 + ["comparative"], "label": ["a", "b", "c", "a"]})


def results(*rows):
    """Result rows (statistic, method, label, condition, estimate, low, high)."""
    names = ["statistic", "method", "label", "condition", "estimate", "ci_low", "ci_high"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(level="dialogue", resample_unit="dialogue")


@pytest.fixture
def evidence():
    alpha = [("alpha", "behavior", x, condition(resample="dialogue", raters="first2"), v, v - 0.1, v + 0.1)
             for x, v in (("a", 0.5), ("b", 0.3), ("c", 0.6))]  # fmt: skip
    alpha += [("alpha", "behavior", "a", condition(resample="turn"), 0.5, 0.4, 0.6)]
    alpha += [("alpha", "behavior", "a", condition(resample="dialogue and annotator", raters="all"), 0.9, 0, 1)]
    alpha += [("alpha", "behavior", "b", condition(resample="dialogue", scope="paper"), 0.9, 0, 1)]
    alpha += [("alpha", "comparative", "a", condition(resample="pair"), 0.4, 0, 1)]
    d, c = "dialogue_quality", "comparative_quality"
    r = [("r", "behavior", "a", condition(target=d), -0.3, -0.4, -0.2),
         ("r", "behavior", "a", condition(target=d, kind="bca"), -0.9, -0.95, -0.8),
         ("r", "behavior", "a", condition(target=c), 0.5, -0.1, 0.7),
         ("r", "behavior", "b", condition(target=d), 0.1, -0.1, 0.3),
         ("r", "behavior", "c", condition(target=d), 0.2, np.nan, np.nan),
         ("r", "comparative", "a", condition(target=c), 0.2, 0.1, 0.3)]  # fmt: skip
    keys = {"test": "session", "alpha": 0.05, "family": "label", "adjust": "holm", "summary": "first"}
    told = (("behavior", "a", 2), ("behavior", "b", 1), ("behavior", "c", 0), ("comparative", "a", 3))
    pairs = [("n_significant", m, x, condition(**keys), n, np.nan, np.nan) for m, x, n in told]
    pairs += [("n_significant", "behavior", "c", condition(**{**keys, "alpha": 0.1}), 6, np.nan, np.nan)]
    pairs += [("n_significant", "behavior", "c", condition(**{**keys, "family": "all"}), 6, np.nan, np.nan)]
    pairs += [("n_significant", "behavior", "c", condition(**keys, n_dialogues=32), 6, np.nan, np.nan)]
    chosen = [("selection_frequency", "behavior", x, condition(target=t, kind="half_samples"), v, np.nan, np.nan)
              for x, t, v in (("a", d, 0.2), ("a", c, 0.9), ("b", d, 0.5), ("c", d, 0.1))]  # fmt: skip
    cost = [("cost_per_label", "behavior", None, condition(tasks="all"), 0.5, np.nan, np.nan),
            ("median_minutes", "behavior", None, condition(task="first"), 2.0, np.nan, np.nan),
            ("median_minutes", "behavior", None, condition(task="second"), 3.0, np.nan, np.nan)]  # fmt: skip
    return ls.Evidence(*(results(*part) for part in (alpha, r, pairs, chosen, cost)))


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
    assert "cost_met" not in found
    assert found["kept"].tolist() == [True, False, False, False]
    free = LabelSelection(min_alpha=None, excludes_zero=False, min_pairs=None, min_selected=None)
    assert ls.select(values, free)["kept"].all()
    assert ls.limits(free) == {}
    cheap = LabelSelection(min_alpha=None, excludes_zero=False, min_pairs=None, min_selected=None, max_cost=0.4)
    assert not ls.select(values, cheap)["kept"].any()


def test_rows_count_what_each_threshold_keeps(evidence):
    thresholds = LabelSelection()
    rows = ls.rows(ls.select(ls.criteria(evidence, LABELS), thresholds), thresholds)
    out = make_results(rows, study="test", notebook="06_stepwise_coverage")
    kept = out[(out["statistic"] == "n_kept") & (out["method"] == "behavior")].set_index("condition")["estimate"]
    assert kept["criterion=all"] == 1
    assert kept["criterion=agreement"] == 2
    assert kept["criterion=distinctness"] == 2
    assert kept["criterion=all but agreement"] == 1
    assert kept["criterion=all but importance"] == 1
    met = out[(out["statistic"] == "criterion_met") & (out["method"] == "comparative")].set_index("condition")
    assert met.loc["criterion=distinctness;threshold=0.5", "estimate"] == 0
    assert "not known" in met.loc["criterion=distinctness;threshold=0.5", "note"]
    assert met.loc["criterion=agreement;threshold=0.4", "estimate"] == 1


def test_minutes_pay_a_task_once_and_in_full(evidence):
    labels = [Label("a", "behavior", "A", (0, 1), task="first"), Label("b", "behavior", "B", (0, 1), task="first")]
    labels += [Label("c", "behavior", "C", (0, 1), task="second")]
    selected = LABELS.assign(kept=[True, True, False, True])
    found = ls.minutes(selected, evidence.cost, labels)
    # comparisons were not timed
    assert found[["method", "estimate", "n"]].to_numpy().tolist() == [["behavior", 2.0, 1]]
    assert ls.minutes(LABELS.assign(kept=True), evidence.cost, labels)["estimate"].tolist() == [5.0]
    assert ls.minutes(LABELS.assign(kept=False), evidence.cost, labels).empty


def test_two_groups_at_once_are_refused(evidence):
    parts = {name: getattr(evidence, name) for name in ls.Evidence.__dataclass_fields__}
    parts["agreement"] = pd.concat([evidence.agreement, evidence.agreement])
    with pytest.raises(ValueError, match="select one group"):
        ls.criteria(ls.Evidence(**parts), LABELS)
