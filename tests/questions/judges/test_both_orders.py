"""Pairs that a judge saw in both orders: by counting, and by simulation with known effects."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_judges import votes
from scipy import stats

from judgebook.questions.judges.choices import both_orders
from judgebook.study.results import collect


def seen(left, right, per_prompt=1):
    """A judge's choices of pairs with the left side shown first (1: the first won), and with the right side first."""
    n = len(left)
    first = votes([(pair, "llm", score) for pair, score in enumerate(left)])
    # the second row names the other side first; it is stored in the orientation of the first one
    second = votes(
        [(pair, "llm", -score) for pair, score in enumerate(right)], first_shown="right", corpus="occasion_2"
    )
    context = [f"p{pair // per_prompt}" for pair in range(n)] if per_prompt > 1 else None
    return pd.concat([part.assign(context=context) for part in (first, second)], ignore_index=True)


def effect_of(frame, **options):
    return collect(both_orders(frame, **options))


def test_changes_by_counting():
    left = np.repeat([1, 1, -1, 0, 0, 1], [30, 20, 10, 5, 5, 30])
    right = np.repeat([-1, 1, -1, 0, 1, -1], [30, 20, 10, 5, 5, 30])
    found = effect_of(seen(left, right))
    change = found["order_change"].set_index("change")
    assert change["estimate"].to_dict() == {"any": 0.35, "first": 0.2, "second": 0.1}
    assert tuple(change.loc["any", ["ci_low", "ci_high"]]) == pytest.approx(
        tuple(stats.binomtest(35, 100).proportion_ci(method="wilson"))
    )
    values = (left + right) / 2
    effect = found["order_effect"].squeeze()
    assert effect["estimate"] == pytest.approx(values.mean())
    expected = stats.t.interval(0.95, 99, values.mean(), stats.sem(values))
    assert (effect["ci_low"], effect["ci_high"]) == pytest.approx(expected)


def test_pairs_of_a_prompt_are_one_cluster():
    rng = np.random.default_rng(1)
    left = np.repeat(rng.choice([-1, 1], 25, p=[0.3, 0.7]), 4)
    right = np.repeat(rng.choice([-1, 1], 25, p=[0.3, 0.7]), 4)
    alone, together = effect_of(seen(left, right)), effect_of(seen(left, right, 4))
    for statistic in ("order_change", "order_effect"):
        narrow, wide = (f[statistic].iloc[0] for f in (alone, together))
        assert narrow["ci_high"] - narrow["ci_low"] < wide["ci_high"] - wide["ci_low"]
        assert (wide["resample_unit"], wide["n_clusters"]) == ("context", 25)


@pytest.mark.parametrize(
    ("changed", "n", "margin", "verdict"),
    [(0, 400, 0.05, 1), (0, 30, 0.05, np.nan), (60, 200, 0.05, 0), (60, 200, None, None), (12, 900, 0.05, 1)],
)
def test_no_effect_is_said_only_within_a_margin(changed, n, margin, verdict):
    left = np.where(np.arange(n) < changed, 1, np.where(np.arange(n) % 2, 1, -1))
    found = effect_of(seen(left, np.where(np.arange(n) < changed, 1, -left)), margin=margin)
    decided = found["order_harmless"]["estimate"]
    assert decided.empty if verdict is None else decided.item() == pytest.approx(verdict, nan_ok=True)


def test_few_changes_are_bounded_by_their_share():
    left = np.where(np.arange(80) % 2, 1, -1)
    right = -left
    right[:2] = left[:2]
    effect = effect_of(seen(left, right))["order_effect"].squeeze()
    most = stats.binomtest(2, 80).proportion_ci(method="exact").high
    assert effect["ci_kind"] == "exact_bound"
    assert (effect["ci_low"], effect["ci_high"]) == pytest.approx((-most, most))


def test_pairs_in_one_order_or_of_unknown_order_say_nothing():
    one = votes([(pair, "llm", 1) for pair in range(30)])
    again = one.assign(corpus="occasion_2")
    assert not effect_of(pd.concat([one, again], ignore_index=True))
    assert not effect_of(seen(np.ones(30), np.ones(30)).assign(first_shown=None))
    assert not effect_of(seen(np.ones(30), np.ones(30)).assign(annotator_kind="human"))
