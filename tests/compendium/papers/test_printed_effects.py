"""What Table 4 of Finch et al. 2024 implies: by hand, by simulation, and against effects computed from raw data."""

from fractions import Fraction

import pytest

from compendium.papers import printed_effects
from compendium.published import numbers
from compendium.published.consistency.cells import Range

PAPER = "finch2024"


@pytest.fixture(scope="module")
def printed():
    return numbers.load(PAPER)


@pytest.fixture(scope="module")
def rows(printed):
    return printed_effects.differences(printed, PAPER).set_index(["method", "label", "group", "group_b"])


def test_a_difference_by_hand(rows):
    """Likert, Informative: developers 0.73 (0.725 to 0.735), interactors 0.19 (0.185 to 0.195)."""
    row = rows.loc["likert", "informative", "dev_x", "stu_i"]
    assert row["gap"] == Range(Fraction("0.53"), Fraction("0.55"))
    assert (row["low"], row["high"]) == pytest.approx((0.53, 0.93))
    # Relevant: 0.30 and 0.30 can be equal
    assert rows.loc["likert", "relevant", "stu_i", "stu_x"]["gap"] == Range(Fraction(0), Fraction("0.01"))
    assert len(rows) == 8 * 2 * 6


def test_means_by_hand(rows):
    """Students and Surge workers, Likert: .07 .10 .00 .01 .02 .10 .03 .01, sum 0.34; rounding moves each by ≤ 0.01."""
    means = printed_effects.means(rows.reset_index()).set_index(["group", "group_b", "method"])
    gap = means.loc["stu_x", "sur_x", "likert"]["gap"]
    assert float(gap.high) == pytest.approx((0.34 + 8 * 0.01) / 8)
    assert float(gap.low) == pytest.approx((0.34 - 7 * 0.01) / 8)  # that of 0.00 cannot fall
    # developers and external students, pairwise: .38 .43 .57 .30 .42 .14 .48 .36; four exceed 0.41
    assert means.loc["dev_x", "stu_x", "pairwise"]["large"] == 4
