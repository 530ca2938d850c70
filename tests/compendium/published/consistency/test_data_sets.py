"""The data sets of Zhang et al. 2022: totals by hand, agreement as printed."""

import pytest

from compendium.published import numbers
from compendium.published.consistency import dstc10


@pytest.fixture(scope="module")
def printed():
    return numbers.load()


def test_what_follows_from_table_1(printed):
    rows = dstc10.development(printed)
    assert len(rows) == 14
    assert rows["share"].sum() == pytest.approx(100)
    assert rows.loc["persona_usr", ["items", "criteria", "annotations", "each"]].tolist() == [300, 6, 5_400, 3]
    assert rows.at["fed_turn", "each"] == pytest.approx(16_863 / 3_375)
    assert rows.at["twitter_dstc6", "share"] == pytest.approx(100 * 400_000 / 581_507)
    assert (rows.at["fed_dial", "best"], rows.at["twitter_dstc6", "best"]) == (77.42, 61.63)  # Team 7


def test_test_sets_of_comparisons(printed):
    rows = dstc10.compared(printed)
    assert rows.loc["ncm", ["sides", "pairs", "comparisons"]].tolist() == [13, 78, 59]
    assert rows.loc["esl", ["sides", "pairs", "comparisons"]].tolist() == [6, 15, 21]
    assert rows["each"].tolist() == pytest.approx([33_000 / 11_800, 13_000 / 4_200])
