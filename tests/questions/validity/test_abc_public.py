"""The study of the two public halves of ABC-Eval, recomputed from the raw files by a second route."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from judgebook.annotations.dialogue_values import DIALOGUE_QUALITY
from judgebook.annotations.summary import evaluated
from judgebook.questions.validity import targets
from judgebook.questions.validity.importance import importance
from judgebook.sources.build import build
from judgebook.statistics import Sampling
from judgebook.study import params

pytestmark = [pytest.mark.evidence, pytest.mark.data]
FEW = Sampling(n_resamples=200, confidence=0.95, seed=1)
DEVELOPERS = {"worker253", "worker256", "worker259"}


@pytest.fixture(scope="module")
def raw(raw_data):
    """Behaviours (dialogue -> turns), and Likert ratings (dialogue -> label -> annotations)."""

    def part(name):
        project = json.loads((raw_data / "finch2024" / f"data_{name}.json").read_text())[name]
        who = {key: unit["worker_id"] for key, unit in project["work_units"].items()}
        return project["dialogues"], who

    marks = json.loads((raw_data / "gpt_abceval" / "behavior-classification-results.json").read_text())
    return marks, part("student_external_likert")


@pytest.fixture(scope="module")
def study(raw_data):
    one = params.load("abc_public")
    return one, build(one)


@pytest.fixture(scope="module")
def find(study):
    one, built = study
    members = {name: ids for group in built.sections["groups"].values() for name, ids in group["parts"].items()}
    frames = (evaluated(built.frames["annotations"]), built.frames["dialogues"])
    return lambda **changes: targets.find(
        *frames, pick_seed=one.seeds.pick, parts=members, **(one.importance.settings() | changes)
    )


def behaviours(raw):
    """Dialogue x behaviour: mean over turns of the two people's marks."""
    rates = {
        dialogue: {
            label.replace(" ", "_"): np.mean([np.mean(t["behaviors"][label]["human"]) for t in turns])
            for label in turns[0]["behaviors"]
        }
        for dialogue, turns in raw[0].items()
    }
    return pd.DataFrame(rates).T


def likert(raw, people=None):
    """Dialogue x label: mean rating, of developers (True), others (False) or all (None)."""
    dialogues, who = raw[1]
    rows = {}

    def is_developer(answer):
        return who[answer["work_unit_id"]] in DEVELOPERS

    for dialogue in raw[0]:
        given = dialogues[dialogue]["likert_annotations"]
        rows[dialogue] = {
            label: np.mean(scores)
            for label, answers in given.items()
            if (scores := [float(a["score"]) for a in answers if people in (None, is_developer(a))])
        }
    return pd.DataFrame(rows).T


def test_both_halves_hold_the_same_dialogues(raw):
    marks, (rated, _) = raw
    assert len(marks) == 108
    assert set(marks) <= set(rated)


#: without random draws: means of all annotators on both sides
MEANS = {"quality_rating": "mean", "predictor_value": "mean"}


def test_r2_of_each_behaviour(raw, find):
    design = find(**MEANS, group="surge").designs[DIALOGUE_QUALITY]
    ours = importance(design, sampling=FEW)["r2"].set_index("label")["estimate"]
    x, y = behaviours(raw), likert(raw)["quality"]
    assert len(ours) == 9
    for label, r2 in ours.items():
        assert r2 == pytest.approx(sm.OLS(y, sm.add_constant(x[label])).fit().rsquared, abs=1e-10)


def test_nobody_predicts_a_rating_of_their_own(raw, study, find):
    """The study's own configuration: target and Likert predictors are two people's ratings of the dialogue."""
    dialogues, _ = raw[1]
    design = find().designs[DIALOGUE_QUALITY]
    names = sorted(raw[0])
    assert len(names) == len(design.y)
    other = design.x["dialogue_likert", "quality"].to_numpy()
    for name, y, x in zip(names, design.y, other, strict=True):
        scores = [float(a["score"]) for a in dialogues[name]["likert_annotations"]["quality"]]
        assert y in scores
        scores.remove(y)
        assert x in scores if scores else np.isnan(x)
    assert np.isnan(other).sum() == 3
