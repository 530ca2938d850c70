"""What notebooks 00 and 02 show follows from the data."""

import pandas as pd

from judgebook.display.names import DisplayNames, display_names
from judgebook.questions.collection import findings, tables
from judgebook.study import params
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import collect

NAMES = DisplayNames({(x.method, x.id): x for x in LABEL_SETS["abc_eval"]}, {"method": {}, "group": {}, "system": {}})


def marks(n, label="ignore"):
    rows = {"annotator": [f"A{i % 3}" for i in range(n)], "dialogue": [f"d{i % 2}" for i in range(n)]}
    fixed = {"annotator_kind": "human", "corpus": "main", "group": "g", "method": "behavior", "system": "s"}
    return pd.DataFrame(rows | fixed | {"annotator_known": True, "label": label, "dialogue_b": None, "system_b": None})


def counts(**n):
    rows = [("annotations", action, number) for action, number in n.items()] + [("dialogues", "read", 99)]
    return pd.DataFrame(rows, columns=["what", "action", "n"]).assign(corpus="main")


def test_reading_is_reported_with_what_belongs_to_the_evaluation():
    def said(counted, rows):
        return "\n".join(view.text for view in findings.data_set(counted, rows, collect(), NAMES))

    reading = said(counts(read=1200, kept=1000, dropped=200, mended=3), marks(400))
    for fact in ("1,200", "1,000", "3 of those kept", "200 were dropped", "400 of them", "2 dialogues", "3 people"):
        assert fact in reading
    pairs = marks(400).assign(dialogue_b="e9", system_b="other")
    assert "3 dialogues of 2 systems" in said(counts(read=1200, kept=1000, dropped=200), pairs)
    again = pd.concat([marks(400), marks(400).assign(corpus="other")])  # ids recur in another corpus
    assert "4 dialogues of" in said(counts(read=800, kept=800), again)


def test_labels_say_which_answers_are_good_in_one_row_where_methods_agree():
    study, rated = params.load("demo"), ("turn_likert", "dialogue_likert")
    of = [("behavior", "ignore"), *((method, "quality") for method in rated), ("comparative", "quality")]
    judged = pd.concat([marks(2, label=label).assign(method=method) for method, label in of])
    rows = tables.labels(judged, study, display_names(study, judged)).frame
    assert rows[["Label", "Answers", "Good when"]].to_numpy().tolist() == [
        ["Ignore", "yes or no", "low"],
        ["Quality", "1 to 5", "high"],
        ["Quality", "one of the two or neither", "chosen"],
    ]
