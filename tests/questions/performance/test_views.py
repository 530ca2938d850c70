"""What notebook 07 shows follows from its results: arrangement, both intervals, who is first, who leads."""

import numpy as np
import pandas as pd
import pytest

from compendium.papers import bot_performance
from compendium.published.mapping import MappingEntry
from judgebook.display.names import DisplayNames
from judgebook.questions.performance import analysis, findings
from judgebook.study.labels import Label
from judgebook.study.results import collect

NAMES = {
    "method": {"behavior": "Behaviour", "dialogue_likert": "Likert", "comparative": "Comparative"},
    "group": {"x": "Group X"},
    "system": {s: s.upper() for s in "ab"},
}
BAD = Label("bad", "behavior", "Bad", (0, 1), direction=-1)
RATED = [Label("quality", "dialogue_likert", "Quality", (1, 5)), Label("quality", "comparative", "Quality", (-1, 1))]
SHOWN = DisplayNames({(x.method, x.id): x for x in [BAD, *RATED]}, NAMES)


def estimates(labels, systems, **columns):
    """Rows of estimates: every label and system."""
    rows = [(x.method, x.id, s, 0.1 * (i + 1)) for x in labels for i, s in enumerate(systems)]
    out = pd.DataFrame(rows, columns=["method", "label", "system", "estimate"]).assign(corpus="main", group="x")
    fixed = {"ci_low": out["estimate"] - 0.05, "ci_high": out["estimate"] + 0.05, "ci_kind": "bca", "n": 9}
    return out.assign(**fixed | {"statistic": "rate", "outcome": "", "interval": "dialogue"} | columns)


def test_shares_won_carry_the_share_tied():
    rows = estimates([RATED[1]] * 3, "ab", statistic="share", outcome=np.repeat(["win", "tie", "loss"], 2))
    independent = rows.assign(interval="independent", ci_low=0.0, ci_high=1.0)
    won = analysis.won(analysis.two_intervals(collect(pd.concat([rows, independent]))))
    found = won[["estimate", "tie", "light_low", "light_high"]].to_numpy()
    assert found == pytest.approx(np.array([[0.1, 0.1, 0, 1], [0.2, 0.2, 0, 1]]))


def test_widths_are_roots_of_design_effects():
    rows = estimates([BAD], "ab", statistic="design_effect", of="rate", unit="dialogue", n_clusters=30)
    rows = rows.drop(columns="interval").assign(outcome=None, estimate=4.0)
    results = collect(rows, rows.assign(unit="annotator", estimate=9.0, n_clusters=12))
    (line,) = findings._widths(results, SHOWN)
    assert (line["who"], line["median"], line["low"], line["high"]) == ("Behaviour", 2, 2, 2)


def test_annotators_as_a_sample_are_told_by_the_ratio_of_widths():
    alone = estimates([BAD], "ab", n_annotators=7)
    both = alone.assign(interval="dialogue and annotator", ci_low=alone["estimate"] - 0.15)
    found, unknown = findings._people(collect(alone, both.assign(ci_high=both["estimate"] + 0.15)), SHOWN)
    (line,) = found
    assert (line["median"], line["n"], unknown) == (pytest.approx(3), [7], [])
    assert findings._people(collect(alone), SHOWN) == ([], ["Behaviour"])


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
