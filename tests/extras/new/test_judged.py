"""What people judged where no usual column says it."""

import pandas as pd

from judgebook.extras.new import tables
from judgebook.extras.new.judged import means


def _cells(rows):
    return pd.DataFrame(rows).astype(str)


def test_words_without_an_order_that_differ_between_people_are_answers():
    words = ("meh", "wow", "ugh")
    rows = [
        {"dialogue": f"d{i}", "annotator": f"a{a}", "verdict": words[(i + a * (i % 2)) % 3], "topic": words[i % 3]}
        for i in range(12)
        for a in range(3)
    ]
    out = tables.guess(_cells(rows))
    assert out.categories == {"verdict": ["meh", "ugh", "wow"]}
    assert "Have the answers of 'verdict' an order?" in [q.text for q in out.questions]


def test_fractions_of_few_people_are_labels_and_others_metrics():
    few = pd.Series([n / 3 + 1 for n in range(12)]).round(2)
    many = pd.Series([0.1373 * n for n in range(12)])
    assert means.means({"fluency": few, "bleu": many}, ["fluency", "bleu"], []) == ["fluency"]
    assert means.means({"fluency_mean": few}, ["fluency_mean"], ["fluency_1", "fluency_2"]) == []


def test_choice_between_two_texts_without_systems():
    rows = [{"output_1": f"one text {i}", "output_2": f"another text {i}", "label": 1 + i % 2} for i in range(8)]
    out = tables.guess(_cells(rows))
    assert out.comparative
    assert out.constants == {"system": "output_1", "system_b": "output_2"}
    assert out.values == {"1": 1, "2": -1}
    assert "How are the two systems named?" in [q.text for q in out.questions]
