"""Rates, means and shares that notebook 07 computes in its cells, by hand and against the kernels."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, ratings
from fixtures.notebook_cells import published_rates
from fixtures.session_study import annotate
from scipy import stats

from judgebook.annotations.picks import picks
from judgebook.annotations.scores import numbered
from judgebook.annotations.summary import evaluated
from judgebook.display.names import display_names
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.performance import analysis, rates
from judgebook.sources import build
from judgebook.statistics import Sampling
from judgebook.study import params
from judgebook.study.schema import SYSTEM_CELL

SAMPLING = Sampling(300, 0.95, 1)
KEY = [*SYSTEM_CELL, "statistic", "outcome"]


@pytest.fixture(scope="module")
def judged():
    rows = annotate(np.random.default_rng(1), n_interactors=20, per_interactor=3, effect=0.5)[0]
    return analysis.chosen(rows.assign(context=None, interactor=None))


@pytest.fixture(scope="module")
def names(judged):
    return display_names(params.load("demo"), judged)


@pytest.fixture(scope="module")
def left(judged, names):
    return published_rates(judged, names, SAMPLING)


def every(left):
    return pd.concat([left.saved[s].assign(statistic=s) for s in ("rate", "mean", "share")])


def t_interval(x):
    known = len(x) > 1 and np.ptp(x) > 0
    return stats.t.interval(0.95, len(x) - 1, x.mean(), stats.sem(x)) if known else (np.nan, np.nan)


def same_as_the_kernel(judged, left):
    """Of the same pick, by the intervals of the library."""
    scores, codes = numbered(next(picks(judged, 1, 1)))
    found = every(left).fillna({"outcome": ""}).set_index(KEY)
    assert len(found) == codes.max() + 1
    for _, part in scores.groupby(codes):
        x, row = part["score"].to_numpy(float), found.loc[tuple(part[KEY].fillna({"outcome": ""}).iloc[0])]
        mean = row.name[KEY.index("statistic")] == "mean"
        low, high = t_interval(x) if mean else rates.wilson(int(x.sum()), len(x))
        np.testing.assert_allclose([row["estimate"], row["ci_low"], row["ci_high"]], [x.mean(), low, high], atol=1e-9)
        assert row["n"] == len(x)


def test_intervals_are_those_of_the_kernel(judged, left):
    same_as_the_kernel(judged, left)
    assert set(every(left)["interval"]) == {"independent"}
    assert not every(left)["primary"].any()


@pytest.mark.verify
@pytest.mark.parametrize("name", ["abc_public", "llmfao"])
def test_of_a_public_study_they_are_too(name, raw_data, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_RAW", str(raw_data))
    of_study = params.load(name)
    rows = analysis.chosen(evaluated(build.build(of_study).frames["annotations"]), (), of_study.label_list())
    rows = rows.assign(interactor=None)
    same_as_the_kernel(rows, published_rates(rows, display_names(of_study, rows), SAMPLING))


def made(frame):
    """A frame with what judgements have."""
    absent = {"session": None, "context": None, "work_unit": None, "dialogue_b": None, "system_b": None}
    frame = frame.assign(**{name: value for name, value in absent.items() if name not in frame})
    frame = frame.assign(annotator_kind="human", source_row=range(len(frame)), interactor=None)
    return frame.astype({"dialogue_b": "str", "system_b": "str"})


def test_shares_are_those_of_both_sides(names):
    frame = made(comparisons([("a", "b", 0), ("a", "b", 1)]))
    found = published_rates(frame, names, SAMPLING).saved["share"].set_index(["system", "outcome"])["estimate"]
    assert found["a"].to_dict() == {"win": 0.5, "tie": 0.5, "loss": 0.0}
    assert found["b"].to_dict() == {"win": 0.0, "tie": 0.5, "loss": 0.5}


def test_a_mean_without_an_interval_has_a_reason(names):
    frame = made(ratings([("d1", "a", 3), ("d2", "b", 4), ("d3", "b", 4)]))
    found = published_rates(frame, names, SAMPLING).saved
    notes = found["mean"].set_index("system")["note"].to_dict()
    assert notes == {"a": "fewer than two scores", "b": "all scores are equal"}
    assert "rate_summary" not in found


def test_all_systems_together_by_hand(names):
    rows = [(f"d{i}", s, "s1", x) for i, (s, x) in enumerate([("a", 1), ("a", 0), ("b", 0), ("b", 0), ("c", 1)])]
    frame = made(ratings(rows, method="behavior", label="redundant", turn=0))
    left = published_rates(frame, names, SAMPLING, unranked=["c"])
    found = left.saved["rate_summary"].set_index(left.saved["rate_summary"]["summary"])
    value = found.set_index(found["summary"] + found["system"].fillna(""))["estimate"].to_dict()
    assert value == {"all": 0.25, "lowest": 0.0, "highest": 0.5, "withouta": 0.5, "withoutb": 1.0}
    assert found.loc["highest", "note"] == "a"
    assert found.loc[["lowest", "highest"], "ci_low"].isna().all()
    own = left.saved["rate"].set_index("system").loc["a"]
    turned = found[found["system"] == "a"].iloc[0]
    assert (turned["ci_low"], turned["ci_high"]) == (1 - own["ci_high"], 1 - own["ci_low"])


def test_another_interval_changes_figures_table_and_rows(judged, names, left):
    line = '    if statistic != "mean":'
    other = f'    if statistic == "share":\n        return found | {{"note": "none"}}\n{line}'
    changed = published_rates(judged, names, SAMPLING, changed=(line, other))
    assert changed.saved["share"]["ci_low"].isna().all()
    pd.testing.assert_frame_equal(changed.saved["rate"], left.saved["rate"])
    shown = [next(v for v in x.shown if isinstance(v, Table)).frame["Estimate"].astype(str) for x in (changed, left)]
    assert (shown[0] != shown[1]).sum() == len(left.saved["share"])
    assert {type(view) for view in left.shown} == {Plot, Table, Prose}
