"""What is found of the truth of a simulated study, counted by hand."""

import pandas as pd
import pytest

from compendium.simulation import recovery
from judgebook.study.results import collect

BASE = {"group": "sur_x", "method": "behavior", "label": "ignore", "system": "a", "system_b": "b"}


@pytest.fixture
def facts(monkeypatch):
    """What was passed to the templates, by passage."""
    said, say = {}, recovery._PHRASES.say
    monkeypatch.setattr(recovery._PHRASES, "say", lambda passage, **f: said.update({passage: f}) or say(passage, **f))
    return said


def test_comparisons_of_systems(facts):
    effects = [BASE | {"label": label, "effect": d} for label, d in (("one", 0.0), ("two", 0.5), ("three", -0.1))]
    base = BASE | {"statistic": "system_difference", "test": "z", "estimate": 1.0}
    tests = pd.DataFrame([base | {"label": label, "p_value": p} for label, p in (("one", 0.01), ("two", 0.6))])
    fits = pd.DataFrame([BASE | {"statistic": "contrast", "label": label, "estimate": 1.0, "ci_low": low, "ci_high": 2}
                         for label, low in (("one", -0.1), ("two", 0.1), ("three", 0.1), ("four", None))])  # fmt: skip
    # the same from the other side, and on a draw, which is left out
    turned = fits[fits["label"] == "two"].assign(system="b", system_b="a", estimate=-1.0, ci_low=-2.0, ci_high=0.1)
    drawn = tests.assign(n_dialogues=3, sample="draw")
    recovery.of_sensitivity(collect(tests, fits, turned, drawn), {"effects": effects})
    found = facts["sensitivity"]
    assert found["equal"] == {"n": 1, "found": 0}
    assert found["published"] == {"n": 1, "found": 1}
    assert found["large"] == {"n": 2, "found": 1}
    assert found["wrong"] == 0
    recovery.of_sensitivity(collect(tests, fits.assign(estimate=-1.0)), {"effects": effects})
    assert facts["sensitivity"]["wrong"] == 1


def test_intervals_of_scores(facts):
    means = [{**BASE, "mean": 0.4}, {**BASE, "method": "comparative", "win_share": 0.5, "ties": 0.2}]
    rows = [BASE | {"method": method, "statistic": s, "interval": kind, "outcome": o, "ci_low": low, "ci_high": high}
            for method, s, kind, o, low, high in (
                ("behavior", "rate", "dialogue", None, 0.3, 0.5),
                ("behavior", "rate", "independent", None, 0.3, 0.39),
                ("behavior", "rate", "picks", None, 0.0, 1.0),
                ("behavior", "rate", "dialogue and annotator", None, 0.1, 0.3),
                ("comparative", "share", "dialogue", "win", 0.35, 0.45),
                ("comparative", "share", "dialogue", "tie", 0.1, 0.2))]  # fmt: skip
    recovery.of_performance(collect(rows), {"means": means}, {"behavior": "Behaviours"})
    behaviours, comparisons = facts["performance"]["methods"]
    assert behaviours[:4] == ("Behaviours", 1, 0.0, ["dialogues and annotators"])
    assert behaviours[4] == {"dialogue": 1.0, "dialogue and annotator": 0.0, "independent": 0.0}
    assert comparisons[1:] == (1, 1.0, ["dialogues"], {"dialogue": 1.0})  # half of the 80% that have a winner
