"""What notebook 07 shows follows from its results: intervals, clusters of systems, printed numbers."""

import numpy as np
import pandas as pd
import pytest

from compendium.papers import bot_performance
from compendium.published.mapping import MappingEntry
from judgebook.display.names import DisplayNames
from judgebook.model.contrasts import Levels
from judgebook.model.fit import RESIDUAL, Fit
from judgebook.questions.performance import analysis, leaderboard, leading, views
from judgebook.questions.performance.fitted import of_fit
from judgebook.study.labels import Label
from judgebook.study.results import collect

NAMES = {
    "method": {"dialogue_likert": "Likert", "comparative": "Comparative"},
    "group": {"x": "Group X"},
    "system": {s: s.upper() for s in "ab"},
}
FIT = {"variances": {RESIDUAL: 1.0}, "left_out": {}, "others": False, "people": np.zeros(3), "n": 90, "n_annotators": 0}
RATED = [Label("quality", "dialogue_likert", "Quality", (1, 5)), Label("quality", "comparative", "Quality", (-1, 1))]
SHOWN = DisplayNames({(x.method, x.id): x for x in RATED}, NAMES)


def test_shares_won_carry_the_share_tied_and_primary_intervals():
    head = {"corpus": "main", "group": "x", "method": "comparative", "label": "quality", "statistic": "share"}
    rows = [
        head | {"system": s, "outcome": o, "interval": over, "estimate": x, "ci_low": x - wide}
        for s, x in zip("ab", (0.1, 0.2), strict=True)
        for o in ("win", "tie", "loss")
        for over, wide in (("dialogue", 0.05), ("independent", 0.01))
    ]
    won = analysis.won(analysis.primary_scores(collect(rows)))
    assert won[["estimate", "tie", "ci_low"]].to_numpy() == pytest.approx(
        np.array([[0.1, 0.1, 0.05], [0.2, 0.2, 0.15]])
    )


def test_a_cluster_has_the_systems_that_are_not_told_from_its_first():
    head = {"corpus": "main", "group": "x", "method": "dialogue_likert", "label": "quality"}
    levels = Levels(np.array([3.0, 2.9, 1.0]), 0.04 * np.eye(3), np.full((3, 3), 30.0))
    fit = Fit(tuple("abc"), levels, sizes=np.full(3, 30), **FIT)
    results = collect(of_fit(fit, head, 1, 0.95))
    (table,) = views.ranks(results, leaderboard.orders(leading.rankings(results), SHOWN), SHOWN)
    assert table.frame["Cluster"].tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("wording", "here", "low", "high", "reading"),
    [
        ("less than 1% of responses", 0.4, 0.0, 2.0, "open"),
        ("less than 1% of responses", 0.4, 0.0, 0.9, "holds"),
        ("less than 1% of responses", 2.0, 1.5, 3.0, "does not hold"),
        ("about 1%", 0.9, 0.5, 1.5, "inside"),
        ("about 1%", 3.0, 2.5, 4.0, "outside"),
    ],
)
def test_printed_numbers_are_read_as_they_are_worded(wording, here, low, high, reading):
    entry = MappingEntry(cells="*", study="s", notebook="n", row="label", column="system")
    given = {"paper": "p", "panel": "", "entry": entry, "row": "bad", "column": "all", "value": 1.0, "printed": "1"}
    given |= {"wording": wording, "here": here, "ci_low": low, "ci_high": high}
    assert bot_performance.read(pd.DataFrame([given]))["reading"].tolist() == [reading]
