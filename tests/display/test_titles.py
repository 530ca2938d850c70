"""Titles of figures say what their intervals show, and the opposite where these show the opposite."""

import numpy as np
import pandas as pd
import pytest

from compendium.published import views as scoreboard
from compendium.published.consistency import views as consistency
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.questions.annotators import views as annotators
from judgebook.questions.groups import analysis as of_groups
from judgebook.questions.groups import views as groups
from judgebook.questions.metrics import views as metrics
from judgebook.questions.moderation import views as moderation
from judgebook.questions.performance import leaderboard
from judgebook.questions.performance.leaderboard import Order
from judgebook.questions.quality_control import views as quality_control
from judgebook.questions.sensitivity import views as sensitivity
from judgebook.questions.techniques import views as techniques

NAMES = DisplayNames({}, {"system": {"a": "A", "b": "B", "c": "C"}, "method": {"likert": "Likert"}})
NAN = np.nan


def board(low, high):
    """Of systems a, b, … with these ends of rank intervals."""
    rows = pd.DataFrame({"rank_low": low, "rank_high": high, "rank": np.arange(1.0, len(low) + 1)})
    rows = rows.assign(system=list("abc")[: len(low)], n_labels=1, unit="SD", over="session")
    return leaderboard.title(Order(rows.assign(part="First"), "likert", ""), NAMES)


def of_verdicts(*verdicts):
    return groups.title(pd.DataFrame({"verdict": verdicts}))


class People:
    corpora = ("one", "two")

    def title(self, corpus):
        return {"one": "Run 1", "two": "Run 2"}[corpus]


def repeated(low, **columns):
    row = {"among": "systems", "scores": "z", "workers": "passed", "estimate": 0.9, "ci_low": low, "ci_high": 0.97}
    return quality_control.repeat_title(pd.DataFrame([row | columns]), People(), "two")


def ends(*pairs, **columns):
    frame = pd.DataFrame(list(pairs), columns=["ci_low", "ci_high"])
    return frame.assign(corpus="main", group="all", annotator=[f"A{i}" for i in range(len(pairs))]).assign(**columns)


def with_p(*p_values):
    return pd.DataFrame({"p_adjusted": p_values})


def pairs(*tests):
    rows = pd.DataFrame(tests, columns=["system", "system_b", "estimate", "p_adjusted"])
    return moderation.leads_title(rows, NAMES)


VERDICTS = pd.Series(["match", "differs", "needs_data"])
CHECKS = pd.DataFrame({"failed": [1, 2, 0], "assumes": ["", "equal groups", ""]})
SURE, UNSURE, FAILED = (4, 3.5, 4.5), (3.1, 2.9, 3.3), (2, 1, 2.5)
LEADS = (("a", "b", 0.3, 0.01), ("a", "c", 0.3, 0.01), ("b", "c", 0.3, 0.2))


def titled():
    """Titles, and how each begins."""
    return [
        (board([1, 2, 3], [1, 2, 3]), "A ranks first of 3 systems"),
        (board([1, 1, 3], [2, 2, 3]), "A leads, but 1 of the other 2 may be best"),
        (board([1, 1, 1], [3, 3, 3]), "A leads, but any of the 3 systems may be best"),
        (board([NAN] * 3, [NAN] * 3), "A leads; how certainly is not known"),
        (board([1], [1]), ""),
        (
            of_verdicts(*(getattr(of_groups, v) for v in ("DIFFERS", "BOTH", "EQUIVALENT", "UNDECIDED", "UNTESTED"))),
            "2 of 4 differences between groups are significant for these annotators; 2 are shown",
        ),
        (of_verdicts(*[of_groups.UNDECIDED] * 3), "None of 3 differences between groups is significant for these"),
        (of_verdicts(of_groups.UNDECIDED), "The groups are not shown to differ"),
        (repeated(0.8), "Means of systems in Run 1 are replicated in Run 2: r = 0.90 [0.80, 0.97]"),
        (repeated(-0.1), "Means of systems in Run 1 are not shown to be replicated in Run 2"),
        (
            annotators.severity_title(ends((0.1, 0.4), (-0.2, 0.3))),
            "The interval of leniency excludes 0, the average, for 1",
        ),
        (
            sensitivity.significance_title(pd.DataFrame({"sure": [True, False]})),
            "1 of 2 differences between systems is decided by the fits, all pairs of a label",
        ),
        (
            sensitivity.significance_title(pd.DataFrame({"sure": [False]})),
            "The difference between the two systems is not",
        ),
        (
            techniques.rates_title(ends((0.55, 0.7), (0.2, 0.4), (0.4, 0.6))),
            "2 of 3 win rates are clearly above or below",
        ),
        (
            metrics.correlations_title(ends((0.1, 0.5), (-0.5, -0.1), (NAN, NAN))),
            "1 of 2 correlations of a metric with people is clearly above 0",
        ),
        (pairs(*LEADS), "A is preferred to 2 of the other 2 systems"),
        (pairs(("a", "b", -0.3, 0.01)), "B is preferred to the other system"),
        (pairs(("a", "b", 0.3, 0.2)), "No system is shown to be preferred to another"),
        (scoreboard.matches_title(VERDICTS), "1 of 2 numbers that raw data can decide matches by rule"),
        (consistency.failures_title(CHECKS), "1 of 3 checks fails, whatever the rounding, and 1 more under an"),
    ]


def test_titles_say_what_is_shown():
    found = [(title, begins) for title, begins in titled() if not title.startswith(begins)]
    assert found == []
    assert [title for title, begins in titled() if not begins and title] == []


PASSAGES = [
    ("fragility", "curves", {"n": 4, "always": 0}, "None of 4 differences is significant under every"),
    ("over_time", "means", {"n": 0, "named": 0}, "Changes of systems cannot be distinguished from those of annotators"),
    ("planning", "map", {"n": 3, "found": 0, "power": 0.8}, "On none of the 3 labels shown does any design find the"),
    ("operating_characteristics", "fits", {"n": 3, "kept": 2}, "The fit keeps 2 of 3 nominal rates in studies"),
]


@pytest.mark.parametrize(("folder", "name", "facts", "begins"), PASSAGES)
def test_passage(folder, name, facts, begins):
    assert Phrases(f"judgebook.questions.{folder}").say(f"{name}_title", **facts).startswith(begins)
