"""Results in hand and as they are stored."""

import pickle

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgebook.study import limits, results, store
from judgebook.study.result_schema import statistics
from judgebook.study.results import Results, _conditions, collect, fold, unfold, where

KEYS = [k for k in statistics()["alpha"].keys if k in ("kind", "raters", "resample")]


def alpha(**row):
    return {"statistic": "alpha", "estimate": 0.5, "raters": "first2", **row}


def stored(*rows):
    return fold(collect(rows), study="s", notebook="n")


@given(st.dictionaries(st.sampled_from(KEYS), st.text("abc0;=%253B|(\\", min_size=1), max_size=3))
def test_keys_come_back_as_they_went_in(keys):
    back = unfold(fold(collect([{"statistic": "alpha", "estimate": 0.5, **keys}]), study="s", notebook="n"))["alpha"]
    assert {k: back.at[0, k] for k in KEYS if pd.notna(back.at[0, k])} == keys


def test_numbers_among_the_keys_come_back_as_numbers():
    rows = [{"statistic": "order_reliability", "n_dialogues": 25, "annotators_per_dialogue": 2, "estimate": 0.4}]
    frame = fold(collect(rows), study="s", notebook="n")
    assert frame["condition"].tolist() == ["annotators_per_dialogue=2;n_dialogues=25"]
    back = unfold(frame)["order_reliability"]
    assert back[["n_dialogues", "annotators_per_dialogue"]].to_numpy().tolist() == [[25, 2]]
    assert type(back.at[0, "n_dialogues"]) is int


def test_a_file_gives_back_what_was_stored(tmp_path):
    path = tmp_path / "r.parquet"
    rows = [alpha(kind=kind, resample="turn") for kind in ("human", "a|b;(c")]
    store.write_frame(stored(*rows, {"statistic": "r2", "estimate": 0.2}), path)
    assert fold(results.read(path), study="s", notebook="n").equals(pd.read_parquet(path))
    assert results.read(path)["alpha"]["kind"].tolist() == ["human", "a|b;(c"]


def test_more_combinations_of_keys_than_64_bits_count_are_told_apart():
    # 255 values of each of nine keys, and missing: 2 to the power of 72, where numbers of 64 bits begin again
    keys = pd.DataFrame({f"k{i}": [str(value) for value in range(255)] for i in range(9)})
    keys.loc[255] = ["1", *"00000000"]
    texts = _conditions(keys.to_dict("list"), len(keys))
    assert len(set(texts)) == 256
    assert texts[255] == "k0=1;" + ";".join(f"k{i}=0" for i in range(1, 9))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([alpha(statistic="alfa")], "'alfa' is in no statistics.yaml"),
        ([alpha(raterz=2)], r"alpha: columns \['raterz'\] are not declared"),
        ([alpha(estimate=1.2)], r"alpha: estimate outside \[-inf, 1\]"),
        ([alpha(ci_low=0.6, ci_high=0.4)], "ci_low > ci_high"),
        ([alpha(), alpha(estimate=0.4)], "2 result rows share their identity"),
    ],
)
def test_results_that_cannot_be_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        stored(*rows)


def test_rows_are_found_by_value_by_list_and_where_missing():
    frame = collect([alpha(), alpha(raters="all"), alpha(raters=None)])["alpha"]
    assert where(frame, raters="all").index.tolist() == [1]
    assert where(frame, raters=["all", "first2"]).index.tolist() == [0, 1]
    assert where(frame, raters=None).index.tolist() == [2]


def test_what_follows_from_results_is_computed_once_until_they_hold_another_frame():
    calls = []

    @results.once
    def labelled(found, statistic, parts):
        calls.append((statistic, parts))
        return found[statistic][["label"]]

    found = collect([{"statistic": "mean", "label": "a", "estimate": 1.0}])
    assert labelled(Results(), "mean", []).empty
    taken = labelled(found, "mean", [("x", "y")])
    taken["label"] = "changed by who asked"
    assert labelled(found, "mean", [("x", "y")])["label"].tolist() == ["a"]
    assert len(calls) == 2
    assert pickle.dumps(found) == pickle.dumps(Results(found))  # their digest is the same
    found["mean"] = found["mean"].assign(label="b")
    assert labelled(found, "mean", [("x", "y")])["label"].tolist() == ["b"]


def test_results_too_long_for_a_spreadsheet_are_written_in_parts_and_not_as_csv(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    rows = [
        alpha(label=f"l{i}", raters=r, measurement=m) for i in range(4) for r, m in (("first2", None), ("all", "x"))
    ]
    found = collect(rows, [{"statistic": "count", "what": "a", "estimate": 1.0, "note": "n"}])
    run = store.start("demo", "03_iaa")
    run.save_results(found)
    whole = pd.read_parquet(next(tmp_path.rglob("03_iaa.parquet")))
    assert len(list(tmp_path.rglob("03_iaa.csv"))) == 1
    monkeypatch.setattr(limits, "SHEET_ROWS", len(whole))
    monkeypatch.setattr(results, "AT_ONCE", 3)
    run.save_results(found)
    pd.testing.assert_frame_equal(pd.read_parquet(next(tmp_path.rglob("03_iaa.parquet"))), whole)
    assert not list(tmp_path.rglob("*.csv"))


def test_rows_that_reports_answer_with_are_marked_and_read_so(tmp_path):
    rows = collect([alpha(kind="human"), alpha(kind="model"), {"statistic": "count", "what": "a", "estimate": 1.0}])
    marked = results.mark_primary(rows, alpha=where(rows["alpha"], kind="human"), ac=rows["ac"])
    assert [*marked] == ["alpha", "count"]
    store.write_frame(fold(marked, study="s", notebook="n"), tmp_path / "r.parquet")
    back = results.read(tmp_path / "r.parquet")
    assert back["alpha"].set_index("kind")["primary"].to_dict() == {"human": True, "model": False}
    assert back["count"]["primary"].isna().all()
    assert back.select("alpha", primary=True)["kind"].tolist() == ["human"]


def test_a_row_is_found_where_it_is_stored_by_what_identifies_it():
    """Also one of a frame that lost columns on the way, or has an empty text for what is missing."""
    rows = collect([alpha(kind=kind, system=system) for kind in ("human", "model") for system in ("a", None)])["alpha"]
    ids = results.identities("alpha", rows)
    assert not ids.duplicated().any()
    saved = fold(Results(alpha=rows), study="s", notebook="n")[ids.columns].astype(object).fillna("")
    pd.testing.assert_frame_equal(ids, saved, check_dtype=False)
    lost = rows.drop(columns=["metric", "pick"]).assign(system=rows["system"].fillna(""))
    pd.testing.assert_frame_equal(results.identities("alpha", lost), ids)
