"""Results in hand and as they are stored."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.study.result_schema import COLUMNS, statistics
from helpers.study.results import Results, collect, columns, fold, unfold, where

KEYS = [k for k in statistics()["alpha"].keys if k in ("kind", "raters", "resample")]


def alpha(**row):
    return {"statistic": "alpha", "estimate": 0.5, "raters": "first2", **row}


def stored(*rows):
    return fold(collect(rows), study="s", notebook="n")


@given(st.dictionaries(st.sampled_from(KEYS), st.text("abc0", min_size=1), max_size=3))
def test_keys_come_back_as_they_went_in(keys):
    back = unfold(fold(collect([{"statistic": "alpha", "estimate": 0.5, **keys}]), study="s", notebook="n"))["alpha"]
    assert {k: back.at[0, k] for k in KEYS if pd.notna(back.at[0, k])} == keys


def test_numbers_among_the_keys_come_back_as_numbers():
    rows = [{"statistic": "generalizability", "n_dialogues": 25, "annotators_per_dialogue": 2, "estimate": 0.4}]
    frame = fold(collect(rows), study="s", notebook="n")
    assert frame["condition"].tolist() == ["annotators_per_dialogue=2;n_dialogues=25"]
    back = unfold(frame)["generalizability"]
    assert back[["n_dialogues", "annotators_per_dialogue"]].to_numpy().tolist() == [[25, 2]]
    assert type(back.at[0, "n_dialogues"]) is int


def test_the_condition_is_sorted_and_leaves_out_what_is_missing():
    assert stored(alpha(measurement="ordinal", kind=None))["condition"].tolist() == [
        "measurement=ordinal;raters=first2"
    ]
    assert stored({"statistic": "alpha", "estimate": 0.5})["condition"].isna().all()


def test_stored_rows_have_the_columns_of_the_schema():
    rows = stored(alpha())
    assert list(rows) == list(COLUMNS)
    assert rows.loc[0, ["study", "notebook"]].tolist() == ["s", "n"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([alpha(statistic="alfa")], "'alfa' is not in study/statistics.yaml"),
        ([alpha(raterz=2)], r"alpha: columns \['raterz'\] are not declared"),
        ([alpha(estimate=1.2)], r"alpha: estimate outside \[-inf, 1\]"),
        ([alpha(ci_low=0.6, ci_high=0.4)], "ci_low > ci_high"),
        ([alpha(), alpha(estimate=0.4)], "2 result rows share their identity"),
    ],
)
def test_results_that_cannot_be_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        stored(*rows)


def test_an_absent_statistic_is_an_empty_frame_with_its_columns():
    assert list(Results()["alpha"]) == columns("alpha")
    assert Results().select("alpha", raters="all").empty


def test_rows_are_found_by_value_by_list_and_where_missing():
    frame = collect([alpha(), alpha(raters="all"), alpha(raters=None)])["alpha"]
    assert where(frame, raters="all").index.tolist() == [1]
    assert where(frame, raters=["all", "first2"]).index.tolist() == [0, 1]
    assert where(frame, raters=None).index.tolist() == [2]
