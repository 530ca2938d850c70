"""Who leads, by how much, and how it is shown: figure, table and words agree with the intervals of ranks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgebook.display.cells import apart
from judgebook.display.names import DisplayNames
from judgebook.questions.performance import leaderboard, leading, margins
from judgebook.questions.performance.ranking import rank_intervals
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect

QUALITY = Label("quality", "dialogue_likert", "Quality", (1, 5))
NAMES = DisplayNames(
    {("dialogue_likert", "quality"): QUALITY},
    {
        "method": {"dialogue_likert": "Likert"},
        "group": {"x": "Group X", "y": "Group Y"},
        "system": {s: s.upper() for s in "abcdefghij"},
    },
)
PARTS = [("main", "x", "dialogue_likert"), ("main", "y", "dialogue_likert")]


def ranked(systems="abcd", groups=("x",), labels=(None,), leads=None, errors=0.3):
    """Results whose ranks and leads come from the kernels: systems half a point apart, the first the best."""
    m = len(systems)
    value = -0.5 * np.arange(m) if leads is None else -np.asarray(leads, float)
    error, out = np.full(m * (m - 1) // 2, errors), []
    rank = rank_intervals(value, error, 50.0, 0.95)[:3]
    lead = margins.leads(value, error, 50.0, 0.95)
    for group in groups:
        for label in labels:
            for i, system in enumerate(systems):
                row = {"corpus": "main", "group": group, "method": "dialogue_likert", "label": label, "system": system}
                row |= {"n": 2, "n_clusters": 30, "resample_unit": "session and annotator"}
                key = {} if label is None else {"of": "mean", "resample": "session"}
                for name, ends in (("rank", rank), ("lead", lead)):
                    kind = dict(zip(("estimate", "ci_low", "ci_high"), (e[i] for e in ends), strict=True))
                    statistic = name if label else f"overall_{name}"
                    out.append(row | key | kind | {"statistic": statistic, "ci_kind": "simultaneous"})
                own = {"estimate": value[i], "ci_low": value[i] - 0.4, "ci_high": value[i] + 0.4, "ci_kind": "t"}
                score = {"statistic": "mean", "interval": "session and annotator", "outcome": ""} if label else {}
                out.append(row | {"statistic": "overall_mean"} | own | score)
    return collect(out)


class TestLeads:
    @given(st.lists(st.floats(-3, 3), min_size=2, max_size=7), st.floats(0.01, 2), st.integers(3, 60))
    def test_an_interval_excludes_0_where_the_rank_says_that_a_system_is_worse(self, values, error, df):
        value = np.array(values)
        errors = np.full(len(value) * (len(value) - 1) // 2, error)
        _, _, high, reason = rank_intervals(value, errors, float(df), 0.95)
        lead, lead_low, lead_high = margins.leads(value, errors, float(df), 0.95)
        first = int(np.argmax(value))
        assert not reason
        assert lead[first] == 0
        assert np.isnan(lead_low[first])
        assert (lead_low > 0).sum() == len(value) - high[first]
        others = np.delete(np.arange(len(value)), first)
        assert ((lead_low + lead_high) / 2)[others] == pytest.approx(lead[others])

    def test_pairs_without_an_error_have_no_interval(self):
        lead, low, _ = margins.leads(np.array([2.0, 1.0, 0.0]), np.array([0.1, np.nan, 0.1]), 20.0, 0.95)
        assert lead.tolist() == [0, 1, 2]
        assert np.isnan(low).tolist() == [True, False, True]
        assert np.isnan(margins.leads(np.array([2.0, np.nan]), np.array([0.1]), 20.0, 0.95)).all()


class TestRankings:
    def test_verdicts_follow_the_intervals(self):
        rows = leading.rankings(ranked("abcdef", leads=[0, 0.1, 0.9, 1.2, 3, 4]), PARTS)
        assert rows["system"].tolist() == list("abcdef")
        assert rows["verdict"].tolist() == [
            "leads",
            "may be best",
            "may be best",
            "clearly worse",
            *["clearly worse"] * 2,
        ]
        some = rows.assign(rank_low=[1, 1, 2, 2, 5, 5], lead_low=[np.nan, -1, -0.1, 0.1, np.nan, 1])
        assert leading.verdicts(some).tolist()[2:] == [
            "not clearly worse",
            "clearly worse",
            "no interval",
            "clearly worse",
        ]

    def test_the_main_evaluation_and_the_overall_mean_come_first(self):
        results = collect(ranked(groups=("y", "x"), labels=("quality",)), ranked(groups=("y", "x")))
        rows = leading.rankings(results, PARTS)
        heads = rows.drop_duplicates(["group", "label"])[["group", "label"]].fillna("").to_numpy().tolist()
        assert heads == [["x", ""], ["x", "quality"], ["y", ""], ["y", "quality"]]
        order = leading.order(results, PARTS[:1])
        assert set(order["label"].isna()) == {True}
        assert set(order["group"]) == {"x"}
        assert leading.rankings(Results()).empty


class TestShown:
    def orders(self, **kwargs):
        return leaderboard.orders(leading.rankings(ranked(**kwargs), PARTS), NAMES)

    def test_groups_are_panels_and_columns_beside_each_other(self):
        (order,) = self.orders(groups=("x", "y"))
        plot, table = leaderboard.plot(order, NAMES, "leaderboard"), leaderboard.table(order, NAMES)
        assert [ax.get_title(loc="left") for ax in plot.fig.axes] == ["Group X", "Group Y"]
        assert plot.alt.startswith(
            "Likert, overall mean of 2 labels: systems from best to worst (Group X): A 0.00; B −0.5"
        )
        assert "over sessions and annotators" in plot.caption
        first = apart(table.frame, 18).iloc[0]
        assert (first["System"], first["Verdict"], first["Behind"], first["Group Y: score"]) == ("A", "leads", None, 0)

    def test_of_very_many_systems_the_ends_are_drawn(self):
        many = [f"s{i:02}" for i in range(40)]
        (order,) = self.orders(systems=many)
        plot = leaderboard.plot(order, NAMES, "leaderboard")
        assert [t.get_text() for t in plot.fig.axes[0].get_yticklabels()] == [*many[:10], *many[-10:]]
        assert "Of 40 systems the 10 highest and 10 lowest are drawn" in plot.caption
        assert len(leaderboard.table(order, NAMES).frame) == 40

    def test_lines_that_leave_the_axis_end_in_arrows_and_without_intervals_nothing_is_drawn(self):
        (order,) = self.orders(errors=9.0)
        (ax,) = leaderboard.plot(order, NAMES, "leaderboard").fig.axes
        assert {line.get_marker() for line in ax.lines if len(line.get_xdata()) == 3} >= {"<", ">"}
        bare = replace(order, rows=order.rows.assign(lead=np.nan))
        assert leaderboard.plot(bare, NAMES, "leaderboard") is None


@pytest.mark.parametrize(
    ("unit", "low", "high", "shown"),
    [("strength", -432.1, 433.7, False), ("strength", -2.7, 4.2, True), ("strength", 3.0, 9.0, True),
     ("share", -1.2, 1.3, False), ("SD", -9.0, 9.0, True)],
)  # fmt: skip
def test_a_difference_whose_interval_is_wider_than_its_scale_is_not_shown(unit, low, high, shown):
    row = {"unit": unit, "verdict": leading.RIVAL, "lead": 0.8, "lead_low": low, "lead_high": high}
    (cell,) = leaderboard.behind(pd.DataFrame([row]), 1)
    assert (cell is not None) == shown
