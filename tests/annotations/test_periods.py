"""Periods and their order."""

import pandas as pd
import pytest

from judgebook.annotations.periods import in_order, periods, why_unordered


@pytest.mark.parametrize(
    "ordered",
    [
        ["2025-W52", "2026-W01", "2026-W9", "2026-W10"],
        ["2026-01-05", "2026-01-12", "2026-10-02"],
        ["week 9", "week 10"],
        ["v1.9", "v1.10", "v2.0"],
        [],
    ],
)
def test_numbers_tell_the_order(ordered):
    assert why_unordered(ordered) == ""
    assert in_order(ordered[::-1]) == ordered


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (["May", "April"], "'April' and 'May'"),
        (["03/10/2026", "04/01/2026"], "'03/10/2026'"),
        (["2026-W1", "2026-W01"], "'2026-W01' and '2026-W1'"),
        (["spring"], "'spring'"),
        (["Q4 2025", "Q1 2026"], "'Q1 2026'"),
        (["10-03-26", "17-03-26"], "'10-03-26'"),
        (["3/10", "4/1"], "'3/10'"),
    ],
)
def test_names_that_do_not_tell_it_are_not_guessed_at(names, named):
    assert why_unordered(names).startswith(f"The order of periods such as {named} is not clear")


@pytest.mark.parametrize(
    ("period", "every", "expected"),
    [
        ([None, None], "week", ["2026-W53", "2027-W01"]),
        ([None, None], "month", ["2027-01", "2027-01"]),
        ([None, None], "day", ["2027-01-03", "2027-01-04"]),
        (["7", None], "week", ["7", None]),
    ],
)
def test_times_make_periods_only_where_no_judgement_has_one(period, every, expected):
    times = pd.to_datetime(["2027-01-03 23:00", "2027-01-04 01:00"])
    made = periods(pd.DataFrame({"period": period, "completed_at": times}), every)
    assert [None if pd.isna(name) else name for name in made] == expected
