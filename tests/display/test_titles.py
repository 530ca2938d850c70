"""Titles of figures say what their intervals show, and the opposite where these show the opposite."""

import numpy as np
import pandas as pd
import pytest

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.published import figures as scoreboard
from judgebook.published.consistency import figures as consistency
from judgebook.questions.annotators import figures as annotators
from judgebook.questions.collection import figures as collection
from judgebook.questions.groups import analysis as groups_analysis
from judgebook.questions.groups import figures as groups
from judgebook.questions.metrics import figures as metrics
from judgebook.questions.moderation import figures as moderation
from judgebook.questions.performance import leaderboard
from judgebook.questions.performance.leaderboard import Order
from judgebook.questions.quality_control import figures as quality_control
from judgebook.questions.sensitivity import figures as sensitivity
from judgebook.questions.techniques import figures as techniques

NAMES = DisplayNames({}, {"system": {"a": "A", "b": "B", "c": "C"}, "method": {"likert": "Likert"}})


def order(low, high, label="", parts=("First",)):
    """Systems a, b, … with these ends of rank intervals."""
    rows = pd.DataFrame({"rank_low": low, "rank_high": high, "rank": np.arange(1.0, len(low) + 1)})
    rows = rows.assign(system=list("abc")[: len(low)], n_labels=1, unit="SD", over="session")
    return Order(pd.concat([rows.assign(part=part) for part in parts]), "likert", label)


class TestLeaderBoard:
    @pytest.mark.parametrize(
        ("low", "high", "expected"),
        [
            ([1, 2, 3], [1, 2, 3], "A ranks first of 3 systems"),
            ([1, 1, 3], [2, 2, 3], "A leads, but 1 of the other 2 may be best"),
            ([1, 1, 1], [3, 3, 3], "A leads, but any of the 3 systems may be best"),
            ([1, 1], [2, 2], "A leads, but either system may be best"),
            ([np.nan] * 3, [np.nan] * 3, "A leads; how certainly is not known"),
        ],
    )
    def test_who_may_be_best(self, low, high, expected):
        assert leaderboard.title(order(low, high), NAMES) == expected

    def test_names_label_and_run(self):
        found = leaderboard.title(order([1, 1, 3], [2, 2, 3], "Fluent", ("First", "Second")), NAMES)
        assert found == "Fluent: A leads, but 1 of the other 2 may be best (First)"

    def test_one_system_leads_nobody(self):
        assert leaderboard.title(order([1], [1]), NAMES) == ""


class TestGroups:
    def said(self, verdicts, **options):
        return groups.title(pd.DataFrame({"verdict": verdicts}), **{"equivalence": True} | options)

    def test_differences_and_equivalence(self):
        a = groups_analysis
        found = self.said([a.DIFFERS, a.BOTH, a.EQUIVALENT, a.UNDECIDED, a.UNTESTED])
        assert found.startswith("2 of 4 differences between groups are significant for these annotators; 2 are shown")

    def test_undecided_is_neither(self):
        found = self.said([groups_analysis.UNDECIDED] * 3)
        assert found.startswith("None of 3 differences between groups is significant for these annotators; none is")
        assert "margin" not in self.said([groups_analysis.UNDECIDED] * 3, equivalence=False)
        assert self.said([groups_analysis.UNDECIDED], equivalence=False) == "The groups are not shown to differ"

    def test_nothing_tested(self):
        assert self.said([groups_analysis.UNTESTED]) == ""


class TestRepeated:
    class People:
        corpora = ("one", "two")

        def title(self, corpus):
            return {"one": "Run 1", "two": "Run 2"}[corpus]

    def said(self, low, **columns):
        row = {"among": "systems", "scores": "z", "workers": "passed", "estimate": 0.9, "ci_low": low, "ci_high": 0.97}
        return quality_control.repeat_title(pd.DataFrame([row | columns]), self.People(), "two")

    def test_shown_and_not_shown(self):
        assert self.said(0.8) == "Means of systems in Run 1 are replicated in Run 2: r = 0.90 [0.80, 0.97]"
        assert "are not shown to be replicated in Run 2" in self.said(-0.1)
        assert "are not shown to be replicated" in self.said(np.nan, ci_high=np.nan)

    def test_of_those_who_passed_only(self):
        assert self.said(0.8, workers="all") == ""


def ends(*pairs):
    return pd.DataFrame(list(pairs), columns=["ci_low", "ci_high"]).assign(corpus="main", group="all", annotator="")


def numbered(frame):
    return frame.assign(annotator=[f"A{i}" for i in range(len(frame))])


class TestAnnotators:
    def test_leniency(self):
        outside, inside = (0.1, 0.4), (-0.2, 0.3)
        said = annotators.severity_title
        found = "The interval of leniency excludes 0, the average, for 1 of 2 annotators"
        assert said(numbered(ends(outside, inside))) == found
        assert said(numbered(ends(inside, inside))).startswith("No annotator is shown to be more or less lenient")
        assert "in 1 of 2 estimates" in said(ends(outside, inside))

    def test_who_stands_out(self):
        rows = numbered(ends((0, 0), (0, 0), (0, 0))).assign(p_adjusted=[0.01, 0.2, np.nan])
        assert annotators.indicators_title(rows, 0.05) == "1 of 3 annotators stands out from the others"
        assert annotators.indicators_title(rows, 0.001) == "None of 3 annotators stands out from the others"


def test_comparisons_after_adjustment():
    rows = pd.DataFrame({"p_adjusted": [0.01, 0.2, np.nan]})
    found = sensitivity.significance_title(rows, "permutation test")
    assert found.startswith("1 of 2 differences between systems is significant by the permutation test, adjusted for")
    assert sensitivity.significance_title(rows[1:], "t test").startswith(
        "The difference between the two systems is not "
    )
    assert sensitivity.significance_title(rows[2:], "t test") == ""


def test_win_rates():
    assert techniques.rates_title(ends((0.55, 0.7), (0.2, 0.4), (0.4, 0.6))) == (
        "2 of 3 win rates are clearly above or below one half"
    )
    assert techniques.rates_title(ends((0.4, 0.6))) == "The win rate is not clearly above or below one half"


def test_metrics():
    assert metrics.correlations_title(ends((0.1, 0.5), (-0.5, -0.1), (np.nan, np.nan))) == (
        "1 of 2 correlations of a metric with people is clearly above 0"
    )
    assert metrics.correlations_title(ends((-0.1, 0.5))).endswith("is not clearly above 0")


def pilot(*rows):
    return pd.DataFrame(rows, columns=["estimate", "ci_low", "ci_high"]).assign(system=list("abc")[: len(rows)])


class TestPilots:
    def test_systems(self):
        sure, unsure, failed, open_ = (4, 3.5, 4.5), (3.1, 2.9, 3.3), (2, 1, 2.5), (3.1, np.nan, np.nan)
        said = collection.systems_title
        assert (
            said(pilot(sure, unsure, failed), 3)
            == "2 of 3 systems pass the pilot; for 1, the interval includes the minimum"
        )
        assert said(pilot(sure, open_), 3) == "All 2 systems pass the pilot"
        assert said(pilot(failed), 3) == "The only system does not pass the pilot"
        assert said(pilot(unsure), 3).endswith("passes the pilot, but the interval includes the minimum")
        assert (
            said(pilot(sure, failed).assign(system="a"), 3)
            == "1 of 2 combinations of system and group passes the pilot"
        )

    def test_agreement(self):
        assert collection.gains_title(ends((0.1, 0.2), (-0.1, 0.2))) == "1 of 2 differences in alpha is significant"
        assert collection.gains_title(ends((-0.1, 0.2))) == "The difference in alpha is not significant"
        assert collection.gains_title(ends()) == ""


class TestModeration:
    def rows(self, *tests):
        return pd.DataFrame(tests, columns=["system", "system_b", "estimate", "p_adjusted"])

    def said(self, *tests):
        rows = self.rows(*tests)
        return moderation.leads_title(rows, NAMES), moderation.pairs_title(rows)

    def test_who_is_preferred(self):
        open_ = ("b", "c", 0.3, 0.2)
        systems, pairs = self.said(("a", "b", 0.3, 0.01), ("a", "c", 0.3, 0.01), open_)
        assert (systems, pairs[:25]) == ("A is preferred to 2 of the other 2 systems", "2 of 3 pairs of systems d")
        assert self.said(("a", "b", -0.3, 0.01))[0] == "B is preferred to the other system"
        assert self.said(("a", "c", 0.1, 0.01), ("b", "c", 0.1, 0.01))[0].startswith("A and B are each preferred to 1")

    def test_nobody_is(self):
        systems, pairs = self.said(("a", "b", 0.3, 0.2))
        assert systems == "No system is shown to be preferred to another"
        assert pairs.startswith("The two systems do not differ significantly")
        assert self.said() == ("", "")

    def test_annotators_answer_differently(self):
        wide, titles = pd.DataFrame({"0": [0.5, 0.4], "1": [0.2, 0.6]}), {"0": "bad", "1": "good"}
        assert moderation.spread_title(wide, titles) == "The share of *good* is 20% to 60%, depending on the annotator"
        assert moderation.spread_title(wide[:1], titles) == ""
        same = pd.DataFrame({"0": [0.5, 0.5]})
        assert moderation.spread_title(same, titles) == "The share of *bad* is 50% for every annotator"


class TestPrinted:
    def test_numbers_that_match(self):
        verdicts = pd.Series(["match", "differs", "needs_data"])
        assert scoreboard.matches_title(verdicts) == "1 of 2 numbers that raw data can decide matches by rule"
        assert scoreboard.matches_title(verdicts[1:]).startswith("The only number that raw data can decide does not")
        assert scoreboard.matches_title(verdicts[2:]) == "No printed number was compared with raw data"

    def test_tables_that_match(self):
        counted = pd.DataFrame({"match": [2, 1, 0], "noise": 0, "fitted": 0, "differs": [0, 1, 0], "needs_data": 1})
        assert scoreboard.whole_title(counted).startswith("1 of 2 tables and texts that raw data can decide matches by")
        assert "does not match by rule in every" in scoreboard.whole_title(counted[1:])
        assert scoreboard.whole_title(counted[2:]) == ""

    def test_checks_that_fail(self):
        checks = pd.DataFrame({"failed": [1, 2, 0], "assumes": ["", "equal groups", ""]})
        found = "1 of 3 checks fails, whatever the rounding, and 1 more under an assumption"
        assert consistency.failures_title(checks) == found
        assert consistency.failures_title(checks.assign(failed=0)) == "None of 3 checks fails, whatever the rounding"


TEAM = {"judge": "GPT-5", "helps": True, "share": 0.4}
PASSAGES = {
    "fragility.curves_title": [
        ({"n": 4, "always": 0}, "None of 4 differences is significant under every"),
        ({"n": 4, "always": 4}, "All 4 differences are significant under every"),
        ({"n": 4, "always": 1}, "1 of 4 differences is significant under every"),
        ({"n": 1, "always": 0}, "The difference is not significant under every"),
    ],
    "over_time.means_title": [
        ({"n": 3, "named": 0}, "None of 3 changes of a system stands out"),
        ({"n": 0, "named": 0}, "Changes of systems cannot be told apart from those of annotators"),
    ],
    "over_time.severity_title": [({"n": 3, "named": 2}, "2 of 3 changes of an annotator stand out")],
    "planning.map_title": [
        ({"n": 3, "found": 0, "power": 0.8}, "On none of the 3 labels shown does any design find the"),
        ({"n": 3, "found": 1, "power": 0.8}, "On 1 of the 3 labels shown, some design finds the"),
        ({"n": 3, "found": 3, "power": 0.8}, "On all 3 labels shown, some design finds the"),
        ({"n": 1, "found": 1, "power": 0.8}, "The difference worth finding is found with"),
        ({"n": 1, "found": 0, "power": 0.8}, "The difference worth finding is not found with"),
    ],
    "planning.split_title": [
        ({"teams": [TEAM]}, "With GPT-5, intervals are narrower than by people alone, and narrowest with 40% of the"),
        ({"teams": [TEAM | {"helps": False}]}, "With GPT-5, intervals are hardly narrower than by people alone, or"),
        ({"teams": [TEAM | {"helps": None}]}, "Whether intervals are narrower with GPT-5 than by people alone is open"),
        ({"teams": [TEAM, TEAM | {"helps": None}]}, "A model is recommended beside people for 1 of 2 methods"),
        ({"teams": [TEAM | {"helps": False}] * 2}, "A model is recommended beside people for none of 2 methods"),
    ],
    "collection.coverage_title": [
        ({"once": [1, 1], "twice": [0, 0]}, "Everything that could be judged was judged, none"),
        ({"once": [1, 1], "twice": [1, 1]}, "Everything that could be judged was judged, all of it"),
        ({"once": [0.2, 0.4], "twice": [0]}, "Of what could be judged, 20% to 40% was judged, nothing"),
    ],
    "collection.workload_title": [
        ({"n": 2, "low": 1, "median": 2, "high": 3}, "2 annotators judged 1 to 3"),
        ({"n": 1, "low": 3, "median": 3, "high": 3}, "One annotator judged 3"),
    ],
    "collection.screening_title": [
        ({"every": [0.5]}, "People passed 50% of the tasks they attempted"),
        ({"every": [0.3, 0.6]}, "People passed 30% to 60% of the tasks they attempted, depending on their group"),
    ],
    "design.loads_title": [
        ({"n": 5, "apart": 0}, "None of the 5 annotators shown judged only one system"),
        ({"n": 5, "apart": 5}, "All 5 annotators shown judged only one system"),
        ({"n": 1, "apart": 0}, "The only annotator judged several systems"),
    ],
    "validity.correlations_title": [
        ({"n": 5, "apart": 0, "target": "x"}, "None of 5 labels is shown"),
        ({"n": 1, "apart": 1, "target": "x"}, "The label is shown"),
    ],
    "operating_characteristics.rejections_title": [
        ({"n": 3, "above": 0, "nominal": 0.05}, "None of 3 tests finds differences"),
        ({"n": 3, "above": 2, "nominal": 0.05}, "2 of 3 tests find differences"),
    ],
    "quality_control.passing_title": [({"runs": [{"name": "1", "passed": 2, "n": 3}]}, "2 of 3 tested workers pass")],
}


@pytest.mark.parametrize(
    ("passage", "facts", "expected"), [(p, *case) for p, cases in PASSAGES.items() for case in cases]
)
def test_passage(passage, facts, expected):
    folder, name = passage.split(".")
    assert Phrases(f"judgebook.questions.{folder}").say(name, **facts).startswith(expected)
