"""The rows of notebook 05 that reports answer with."""

import pytest

from judgebook.annotations.population import Population
from judgebook.questions.sensitivity import differences, power
from judgebook.questions.sensitivity.primary import with_primary
from judgebook.study.results import collect

MAIN, OTHER = ("main", "all"), ("main", "few")
PEOPLE = {"test": differences.TEST, "resample_unit": "session and annotator"}


def row(place, label, p=0.01, **columns):
    head = dict(zip(("corpus", "group"), place, strict=True)) | {"method": "dialogue_likert", "label": label}
    pair = {"system": "a", "system_b": "b", "estimate": 0.5, "p_value": p, "resample_unit": "session"}
    return head | {"statistic": "system_difference", "test": "session"} | pair | columns


def found(place, label, people):
    about = {"statistic": "detectable_difference", "people": people, "estimate": 0.4, "system": None, "system_b": None}
    return row(place, label) | about | {"test": differences.TEST}


ROWS = [
    *(row(place, label) for place in (MAIN, OTHER) for label in ("x", "y")),
    *(row(place, "x", **PEOPLE) for place in (MAIN, OTHER)),
    row(MAIN, "y", None, **PEOPLE),  # too few sessions for a test with annotators as a sample
    *(row(MAIN, "x", **more) for more in ({"test": "student"}, {"sample": "pick"})),
    *(found(place, "x", people) for place in (MAIN, OTHER) for people in (power.SAME, power.SAMPLE)),
]


@pytest.mark.parametrize(
    ("others", "test", "people"),
    [
        (True, {"x": differences.TEST, "y": "session"}, power.SAMPLE),
        (False, {"x": "session", "y": "session"}, power.SAME),
    ],
)
def test_one_row_of_each_pair_speaks_of_the_population(others, test, people):
    """Of other annotators where they are a sample and the label has such a test; else of these."""
    whose = {MAIN: Population(others, 8, 8, 8.0, "" if others else "fixed"), OTHER: Population(False, 2, 2, 2.0, "few")}
    results = with_primary(collect(ROWS), whose)
    marked = results.select("system_difference", primary=True)
    here, there = (marked[marked["group"] == group] for _, group in (MAIN, OTHER))
    assert here.set_index("label")["test"].to_dict() == test
    assert there.set_index("label")["test"].to_dict() == {"x": "session", "y": "session"}
    assert len(results["system_difference"]) == 9
    said = results.select("detectable_difference", primary=True).set_index("group")["people"]
    assert said.to_dict() == {"all": people, "few": power.SAME}
