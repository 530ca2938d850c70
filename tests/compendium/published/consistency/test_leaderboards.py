"""Printed leaderboards: the order, intervals by hand, and what Zhang et al. 2022 print."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from compendium.published import numbers
from compendium.published.consistency import checks, dstc10
from judgebook.statistics.correlation import spearman_interval


@pytest.fixture(scope="module")
def papers():
    return checks.load()[1]


@pytest.fixture(scope="module")
def boards(papers):
    printed = numbers.load()
    (paper,) = (p for p in papers if p.leaderboards)
    return [dstc10.entries(printed, paper.paper, board) for board in paper.leaderboards]


def test_the_interval_of_a_correlation_by_hand():
    # z = artanh 0.5 = 0.549306; variance (1 + 0.125) / 97; half = 1.959964 · 0.107694 = 0.211076
    low, high = spearman_interval(0.5, 100)
    assert (low, high) == pytest.approx((np.tanh(0.549306 - 0.211076), np.tanh(0.549306 + 0.211076)), abs=1e-6)
    assert np.isnan(spearman_interval(0.5, 3)).all()
    assert np.isnan(spearman_interval(1.0, 30)).all()
    assert np.isnan(spearman_interval(0.5, np.nan)).all()


def test_order_and_drop_are_those_of_the_paper(boards):
    """§2.4: Teams 5, 8 and 1 rank first, second and third on the test sets; Teams 7, 8 and 6 on the others."""
    both = dstc10.change(*boards, "average")
    assert both["second_rank"].nsmallest(3).index.tolist() == ["team_5", "team_8", "team_1"]
    assert both["first_rank"].nsmallest(3).index.tolist() == ["team_7", "team_8", "team_6"]
    assert both.loc["team_7", ["first", "second", "drop"]].tolist() == pytest.approx([52.15, 2.30, 49.85])
    assert (both["drop"] < 0).to_dict() == {c: c == "baseline" for c in both.index}


def test_the_correlation_of_the_leaderboards_is_that_of_scipy(boards):
    both = dstc10.change(*boards, "average")
    rows = pd.DataFrame(dstc10.kept(both)).set_index("without", drop=False)
    for without, row in rows.iterrows():
        kept = both.drop(index=[without] if isinstance(without, str) else [])
        assert row["estimate"] == pytest.approx(stats.spearmanr(kept["first"], kept["second"]).statistic)
    without = rows["estimate"].drop(index=[None], errors="ignore").dropna()
    assert without.idxmax() == "team_7"
