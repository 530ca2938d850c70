"""How near a simulated study lies to print: by hand."""

import numpy as np
import pandas as pd
import pytest

from compendium.published import comparison


def cells(rows):
    frame = pd.DataFrame(rows, columns=["value", "here", "low", "high"])
    return frame.assign(element="Table 1", title="Rate (%)", decimals=0)


def test_nearness_by_hand():
    # 10 and 20 lie inside their own intervals, 40 does not; 20 also lies inside the interval around 40
    rows = [(10, 11, 9, 12), (20, 24, 15.4, 30), (40, 33, 20.4, 37)]
    found = comparison.nearness_table(cells(rows)).iloc[0]
    assert (found["Table"], found["Column"], found["Cells"]) == ("Table 1", "Rate (%)", 3)
    assert found["Mean distance"] == pytest.approx((1 + 4 + 7) / 3)
    assert found["Inside (%)"] == pytest.approx(100 * 2 / 3)
    assert found["Others inside (%)"] == pytest.approx(100 * 1 / 6)


def test_an_interval_holds_what_rounds_into_it_and_missing_ones_do_not_count():
    found = comparison.nearness_table(cells([(10, 12, 10.5, 13), (10, 12, 10.6, 13), (10, 12, np.nan, np.nan)])).iloc[0]
    assert (found["Cells"], found["Inside (%)"]) == (3, 50)
    alone = comparison.nearness_table(cells([(10, 12, 9, 13), (10, np.nan, np.nan, np.nan)])).iloc[0]
    assert (alone["Cells"], alone["Inside (%)"]) == (1, 100)
    assert alone["Others inside (%)"] is None
