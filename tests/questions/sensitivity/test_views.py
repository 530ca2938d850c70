"""What notebook 05 shows and says, compared with its results."""

import pandas as pd
import pytest
from fixtures.session_study import SYSTEMS

from compendium.papers import sensitivity
from judgebook.display.names import DisplayNames
from judgebook.questions.sensitivity import views
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import collect

METHODS = {"behavior": "ABC-Eval behaviour", "dialogue_likert": "Dialogue Likert", "comparative": "Comparative"}
NAMES = DisplayNames(
    {(x.method, x.id): x for x in LABEL_SETS["abc_eval"]},
    {"method": METHODS, "group": {}, "system": {s: s.upper() for s in SYSTEMS}},
)


def fits(ends, label="quality"):
    """Differences of a label, with these intervals, and the difference that would be found."""
    head = {"corpus": "main", "group": "ext", "method": "dialogue_likert", "label": label}
    rows = [
        head | {"statistic": "contrast", "system": "a", "system_b": b, "estimate": (low + high) / 2, "ci_low": low,
                "ci_high": high, "resample_unit": "session"}
        for b, (low, high) in zip("bcd", ends, strict=True)
    ]  # fmt: skip
    return collect(rows, [head | {"statistic": "difference_found", "estimate": 0.4}])


DECIDED = [(0.02, 0.08), (-0.1, 0.1), (0.3, 0.9)]


def test_decided_pairs_are_counted_with_what_would_be_found():
    shown = fits(DECIDED)
    (row,) = views.count_table(shown, NAMES).to_dict("records")
    assert (row["Pairs"], row["Decided"], str(row["Found"])) == (3, 2, "0.40")
    facts = views.tally(shown)
    assert (facts["n"], facts["n_sure"], facts["n_labels"], facts["others"]) == (3, 2, 1, False)


def test_margins_are_those_of_the_study():
    """One pair differs by less than the margin, one is equivalent, one differs."""
    of = {("dialogue_likert", "quality"): 0.2}
    row = views.margins(fits(DECIDED), NAMES, of=of).frame.iloc[0]
    assert row["Margin"] == "0.2 points"
    assert row[["Differ", "Differ by less than the margin", "Equivalent", "One not worse", "Undecided"]].tolist() == [
        1, 1, 1, 0, 0
    ]  # fmt: skip
    assert views.margins(fits(DECIDED), NAMES, of={}) is None


def test_counts_of_other_labels_by_hand():
    cells = pd.DataFrame({"method": "m", "alpha": 0.05, "value": [1.0, 5.0, 2.0], "smallest": [0.0, 4.0, 1.0],
                          "largest": [2.0, 6.0, 1.0]})  # fmt: skip
    # the 2 lies in the first range, the 1 in the third, of six wrong pairings
    assert sensitivity.others_inside(cells) == pytest.approx(2 / 6)
