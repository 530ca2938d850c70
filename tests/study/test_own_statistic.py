"""A statistic of one's own: what is wrong is told at once with what to write; what is right comes back unchanged."""

import pandas as pd
import pytest

from judgebook.study import limits, result_schema, results, store
from judgebook.study.results import StatisticError
from judgebook.study.stored import StoredStudy

GOOD = pd.DataFrame({"system": ["a", "a", "b"], "week": [1, 2, 1], "estimate": [0.5, None, 0.2]})
GOOD = GOOD.assign(ci_low=[0.4, None, 0.1], ci_high=[0.6, None, 0.3], n=[9, None, 4], note=[None, "nobody", None])
FINE = {"title": "A share", "keys": ["week"], "range": (0, 1)}


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    monkeypatch.setattr(result_schema, "_OWN", {})
    return store.start("demo", "20_mine")


def reread(run, monkeypatch):
    monkeypatch.setattr(result_schema, "_OWN", {})
    return StoredStudy(run.study, run.tables.parent)


def test_it_comes_back_as_it_was_saved_beside_results_of_the_project(run, monkeypatch):
    monkeypatch.setattr(limits, "SHEET_ROWS", 2)
    monkeypatch.setattr(results, "AT_ONCE", 2)
    weeks = GOOD.assign(week=[1.5, 2.25, 1e-7], kind=["x=y", None, "ü z"])
    run.save_statistic("good_share", GOOD, **FINE)
    run.save_statistic("by_week", weeks, title="By week", keys=["week", "kind"])
    run.save_results(results.collect([{"statistic": "count", "what": "a", "estimate": 1.0}]))
    study = reread(run, monkeypatch)
    told = study.statistics.set_index("statistic")
    assert told["title"].to_dict() | {"count": ""} == {"count": "", "good_share": "A share", "by_week": "By week"}
    assert told["rows"].to_dict() == {"count": 1, "good_share": 3, "by_week": 3}
    for name, frame in (("good_share", GOOD), ("by_week", weeks)):
        back = study.results(name)[list(frame.columns)]
        pd.testing.assert_frame_equal(back, frame, check_dtype=False)
    assert study.results("good_share", week=2)["note"].tolist() == ["nobody"]
    assert result_schema.statistic("good_share").range == (0, 1)


def test_what_a_notebook_saved_before_is_replaced(run, monkeypatch):
    run.save_statistic("good_share", GOOD, **FINE)
    run.save_statistic("good_share", GOOD[:1], **FINE)
    store.start("demo", "20_mine").save_statistic("other", GOOD, **FINE)
    assert reread(run, monkeypatch).statistics[["statistic", "rows"]].to_numpy().tolist() == [["other", 3]]


@pytest.mark.parametrize(
    ("change", "more", "messages"),
    [
        ({}, {"name": "alpha"}, ["'alpha' is a statistic of the project: choose another, such as 'my_alpha'"]),
        (
            {},
            {"title": " ", "keys": "week", "range": (1, 0)},
            ["title: expected a few words", "keys: expected a list of names", "range: expected the smallest and the"],
        ),
        ({"lable": ["x"] * 3}, {}, ["'lable' is none of results: did you mean 'label'? Else name it in keys=[…]"]),
        ({}, {"keys": ["weak", "n"]}, ["keys: 'n' is a column of all results", "keys: no column 'weak'; did you mean"]),
        ({"system": [1, 2, 3]}, {}, ["'system': expected text, found 1 in row 0: write frame['system'].astype(str)"]),
        ({"estimate": [0.1, "0,2", 0.3]}, {}, ["column 'estimate': expected numbers, found '0,2' in row 1"]),
        (
            {"estimate": [0.5, None, 2.0], "note": [None] * 3, "n": [1, 2, 3]},
            {},
            ["row 2: expected an estimate from 0 to 1, found 2", "row 1: the estimate is missing: say why in a column"],
        ),
        ({"ci_low": [0.7, None, 0.1]}, {}, ["row 0: expected ci_low <= ci_high, found 0.7 and 0.6"]),
        ({"week": [1, 1, 1]}, {}, ["rows 0 and 1 have the same system, week: name what tells them apart in keys=[…]"]),
        ({"week": ["a;b", "c", "d"]}, {}, ["column 'week': expected text without `;`, found 'a;b' in row 0"]),
    ],
)
def test_what_is_wrong_is_told_at_once_with_what_to_write(run, change, more, messages):
    frame = GOOD.assign(**{name: values for name, values in change.items() if values is not None})
    frame = frame.drop(columns=[name for name, values in change.items() if values is None])
    arguments = {"name": "good_share", **FINE, **more}
    with pytest.raises(StatisticError) as error:
        run.save_statistic(arguments.pop("name"), frame, **arguments)
    assert [message for message in messages if message not in str(error.value)] == []
    assert ("problems: " in str(error.value)) == (str(error.value).count("; ") - str(error.value).count("`;`") > 0)
    assert not run.tables.parent.exists()
