"""Results, sentences and figures of notebook 18, from annotations in weeks."""

import re

import numpy as np
import pytest
from questions.over_time.test_changes import world

from judgebook.display.names import DisplayNames
from judgebook.questions.over_time import analysis, findings
from judgebook.questions.over_time.question import OverTime
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import Label
from judgebook.study.schema import ANNOTATIONS, conform

LABEL = Label("quality", "dialogue_rating", "Quality", (1.0, 5.0), "ordinal", direction=1)
TITLES = {
    "method": {"dialogue_rating": "Rating"},
    "group": {"all": "All"},
    "system": {"new": "New", "old": "Old", "base": "Base"},
}
NAMES = DisplayNames({("dialogue_rating", "quality"): LABEL}, TITLES)


def annotations(frame, **columns):
    fixed = {"corpus": "main", "group": "all", "method": "dialogue_rating", "label": "quality", "study": "s"}
    fixed |= {"annotator_known": True, "annotator_kind": "human", "source_row": np.arange(len(frame))}
    ids = {"period": "W" + (frame["week"] + 9).astype(str), "context": frame["unit"].astype(str)}
    out = frame.assign(**fixed, **ids).assign(dialogue=lambda f: f["context"] + f["system"]).assign(**columns)
    return conform(out[[c for c in out if c in ANNOTATIONS]], ANNOTATIONS)


def analysed(frame, label=LABEL, **columns):
    sampling = Sampling(n_resamples=200, confidence=0.95, seed=1)
    return analysis.analyse(annotations(frame, **columns), [label], OverTime(), sampling=sampling)


def said(results):
    return [prose.text for prose in findings.findings(results, NAMES, 0.05)]


@pytest.fixture(scope="module")
def both():
    """`new` gets worse and a2 stricter from W11 on."""
    return analysed(world(np.random.default_rng(5), weeks=4, items=60, annotator=-1.5, system=-1.2))


def test_the_headline_names_who_changed_when_and_by_how_much(both):
    text = said(both)[0]
    assert "**2 changes from one period to the next stand out**" in text
    assert re.search(
        r"a2 has given lower scores on Quality since W11, by 1\.\d\d \[\d.*\] compared with the other", text
    )
    assert re.search(
        r"New has been scored lower on Quality since W11, by 1\.\d\d \[.*\], by annotators who judged before", text
    )


def test_of_unknown_annotators_no_change_is_claimed():
    frame = world(np.random.default_rng(5), weeks=3, items=30, system=-2.0)
    results = analysed(frame, annotator_known=False)
    assert said(results)[0].startswith("**Changes of systems cannot be told apart from those of annotators:**")
    assert results["system_change"].empty


def test_who_came_and_went_is_counted():
    frame = world(np.random.default_rng(5), weeks=4, items=30)
    frame = frame[(frame["system"] != "old") | (frame["week"] > 1)]
    results = analysed(frame)
    rows = results["period_count"].set_index(["period", "what"])["estimate"]
    assert rows["W11", "systems new"] == 1
    assert rows["W12", "systems new"] == rows["W11", "systems gone"] == 0
    assert rows["W9", "items"] == 60
    assert rows["W11", "items"] == 90


def test_means_are_those_of_the_scores_in_the_order_of_periods(both):
    frame = world(np.random.default_rng(5), weeks=4, items=60, annotator=-1.5, system=-1.2)
    expected = frame[frame["system"] == "new"].groupby("week")["score"].mean()
    rows = both["period_mean"]
    rows = rows[rows["system"] == "new"].set_index("period")
    assert np.allclose(rows.loc[["W9", "W10", "W11", "W12"], "estimate"], expected)
    assert set(rows["resample_unit"]) == {"dialogue and annotator"}


def test_comparisons_have_shares_won_and_no_changes():
    frame = world(np.random.default_rng(5), weeks=3, items=30)
    frame = frame[frame["system"] == "new"].assign(score=lambda f: np.sign(f["score"] - 3))
    other = {"method": "comparative", "system_b": "old", "dialogue_b": frame["unit"].astype(str) + "old"}
    label = Label("quality", "comparative", "Quality", (-1.0, 1.0), "ordinal", direction=1)
    results = analysed(frame, label, **other)
    assert set(results["period_mean"]["system"]) == {"new", "old"}
    assert results["period_mean"].groupby("period")["estimate"].sum().le(1 + 1e-9).all()
    assert results["system_change"].empty
