"""Who leads, and by how much: verdicts agree with the intervals of ranks."""

import numpy as np

from judgebook.model.contrasts import Levels
from judgebook.model.fit import Fit
from judgebook.questions.performance import leading
from judgebook.questions.performance.fitted import of_fit
from judgebook.study.results import collect

PARTS = [("main", "x", "dialogue_likert"), ("main", "y", "dialogue_likert")]


def ranked(values):
    """Results of an overall order; values : levels of systems, whose means are independent and have an error of 0.2."""
    m = len(values)
    levels = Levels(np.array(values, float), 0.04 * np.eye(m), np.full((m, m), 50.0))
    fit = Fit(tuple("abcdef"[:m]), levels, {}, {}, True, np.zeros(m * (m - 1) // 2), 300, 8, np.full(m, 30))
    head = {"corpus": "main", "group": "x", "method": "dialogue_likert", "n": 2}
    return collect(of_fit(fit, head, 1, 0.95))


class TestRankings:
    def test_verdicts_follow_the_intervals(self):
        rows = leading.rankings(ranked([0, -0.1, -0.7, -1.2, -3, -4]), PARTS)
        assert rows["system"].tolist() == list("abcdef")
        assert rows["verdict"].tolist() == ["leads", *["may be best"] * 2, *["clearly worse"] * 3]
        some = rows.assign(rank_low=[1, 1, 2, 2, 5, 5], lead_low=[np.nan, -1, -0.1, 0.1, np.nan, 1])
        some["rank_low"] = some["rank_low"].where(some["system"] != "e")
        expected = ["not clearly worse", "clearly worse", "no interval", "clearly worse"]
        assert leading.verdicts(some).tolist()[2:] == expected
