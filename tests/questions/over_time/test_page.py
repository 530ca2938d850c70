"""Results, sentences and figures of notebook 18, from annotations in weeks."""

import numpy as np
from questions.over_time.test_changes import world

from judgebook.display.names import DisplayNames
from judgebook.questions.over_time import analysis, views
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
    return [prose.text for prose in views.findings(results, NAMES, 0.05)]


def test_of_unknown_annotators_no_change_is_claimed():
    frame = world(np.random.default_rng(5), weeks=3, items=30, system=-2.0)
    results = analysed(frame, annotator_known=False)
    assert said(results)[0].startswith("**Changes of systems cannot be distinguished from those of annotators:**")
    assert results["system_change"].empty


def test_comparisons_have_shares_won_and_no_changes():
    frame = world(np.random.default_rng(5), weeks=3, items=30)
    frame = frame[frame["system"] == "new"].assign(score=lambda f: np.sign(f["score"] - 3))
    other = {"method": "comparative", "system_b": "old", "dialogue_b": frame["unit"].astype(str) + "old"}
    label = Label("quality", "comparative", "Quality", (-1.0, 1.0), "ordinal", direction=1)
    results = analysed(frame, label, **other)
    assert set(results["period_mean"]["system"]) == {"new", "old"}
    assert results["period_mean"].groupby("period")["estimate"].sum().le(1 + 1e-9).all()
    assert results["system_change"].empty
