"""Who leads, and by how much: verdicts agree with the intervals of ranks."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgebook.questions.performance import leading, margins
from judgebook.questions.performance.ranking import rank_intervals
from judgebook.study.results import collect

PARTS = [("main", "x", "dialogue_likert"), ("main", "y", "dialogue_likert")]


def ranked(gaps, group="x", label=None):
    """Results whose ranks and leads come from the kernels; gaps : how much worse each system is than the first."""
    value, out = -np.asarray(gaps, float), []
    error = np.full(len(gaps) * (len(gaps) - 1) // 2, 0.3)
    ends = {"rank": rank_intervals(value, error, 50.0, 0.95)[:3], "lead": margins.leads(value, error, 50.0, 0.95)}
    ends["mean"] = value, value - 0.4, value + 0.4
    same = {"corpus": "main", "group": group, "method": "dialogue_likert", "label": label, "ci_kind": "simultaneous"}
    same |= {"n": 2, "n_clusters": 30, "resample_unit": "session and annotator"}
    for name, columns in ends.items():
        of_label = {"interval": "session", "outcome": ""} if name == "mean" else {"of": "mean", "resample": "session"}
        own = {"statistic": name} | of_label if label else {"statistic": f"overall_{name}"}
        rows = pd.DataFrame(dict(zip(("estimate", "ci_low", "ci_high"), columns, strict=True)))
        out.append(rows.assign(system=list("abcdef"[: len(gaps)]), **same, **own))
    return collect(*out)


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
        rows = leading.rankings(ranked([0, 0.1, 0.9, 1.2, 3, 4]), PARTS)
        assert rows["system"].tolist() == list("abcdef")
        assert rows["verdict"].tolist() == ["leads", *["may be best"] * 2, *["clearly worse"] * 3]
        some = rows.assign(rank_low=[1, 1, 2, 2, 5, 5], lead_low=[np.nan, -1, -0.1, 0.1, np.nan, 1])
        expected = ["not clearly worse", "clearly worse", "no interval", "clearly worse"]
        assert leading.verdicts(some).tolist()[2:] == expected
