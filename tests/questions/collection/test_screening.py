from dataclasses import replace

import pandas as pd
import pytest

from judgebook.questions.collection import pilot
from judgebook.questions.collection.question import Pilot
from judgebook.questions.performance import rates
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import collect

FEW = Sampling(n_resamples=200, confidence=0.95, seed=1)


def attempts(rows, ids="{task}_{n}"):
    """(group, annotator, task, dialogue number, mistakes, passed) a row; tries are numbered as they come."""
    frame = pd.DataFrame(rows, columns=["group", "annotator", "task", "n", "mistakes", "passed"])
    frame["dialogue"] = [ids.format(task=t, n=n) for t, n in zip(frame["task"], frame["n"], strict=True)]
    frame = frame.assign(corpus="main", work_unit=None, performance=None)
    by = ["corpus", "group", "annotator", "task", "dialogue"]
    frame["attempt"] = frame.groupby(by).cumcount()
    return frame.astype({"mistakes": "Int32", "attempt": "Int32", "passed": "boolean"})


ROWS = [
    ("sur_x", "A1", "antisocial", 1, 5, None),
    ("sur_x", "A1", "antisocial", 3, 1, True),  # fewer than two: passes
    ("sur_x", "A2", "antisocial", 3, 2, False),
    ("sur_x", "A2", "antisocial", 3, 0, True),  # at the second try
    ("sur_x", "A3", "antisocial", 1, 0, None),  # never came to the third dialogue
    ("sur_x", "A1", "knowledge", 3, 2, True),  # fewer than three: passes
    ("mtu_x", "A4", "knowledge", 3, 3, False),
    ("mtu_x", "A5", "knowledge", 3, None, None),  # not known
]
RULE = Pilot(deciding_dialogue=3, mistakes_below={"antisocial": 2}, other_tasks_below=3)


def pass_rates(verdicts, **options):
    return collect(pilot.pass_rates(verdicts, **options))


def test_verdicts_by_hand():
    found = pilot.verdicts(attempts(ROWS), RULE).set_index(["annotator", "task"])
    assert found["passed"].to_dict() == {
        ("A1", "antisocial"): True,
        ("A2", "antisocial"): True,
        ("A3", "antisocial"): False,
        ("A1", "knowledge"): True,
        ("A4", "knowledge"): False,
        ("A5", "knowledge"): False,
    }


class TestPassRates:
    found = pass_rates(pilot.verdicts(attempts(ROWS), RULE), sampling=FEW)

    def row(self, group, **keys):
        rows = self.found.select("screening_pass_rate", group=group, **keys)
        assert len(rows) == 1
        return rows.iloc[0]

    def test_over_all_tasks_people_are_the_clusters(self):
        row = self.row("sur_x", task="all")
        assert (row["estimate"], row["n"], row["n_annotators"], row["n_clusters"]) == (0.75, 4, 3, 3)
        assert row["ci_kind"] == "exact_bound"  # far too few for a bootstrap


def test_many_people_are_resampled():
    rows = [("sur_x", f"A{i}", t, 3, int(i % 3 == 0) * 5, None) for i in range(90) for t in ("antisocial", "knowledge")]
    found = pass_rates(pilot.verdicts(attempts(rows), RULE), sampling=replace(FEW, n_resamples=2000))
    row = found.select("screening_pass_rate", task="all").iloc[0]
    assert (row["ci_kind"], row["estimate"], row["n"]) == ("bca", pytest.approx(2 / 3), 180)
    # both tasks of a person stand and fall together: as wide as 90 people, not 180 trials
    low, high = rates.wilson(60, 90)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=0.02)
