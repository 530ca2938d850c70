"""What people judged where no usual column says it."""

import numpy as np
import pandas as pd
import pytest

from judgebook.extras.new import tables
from judgebook.extras.new.columns import is_rating
from judgebook.extras.new.judged import means
from judgebook.sources.nature import nature


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


def _beside(*names, **ends):
    """Items of two systems with a column of whole numbers for each name, from 0 to 1 or to other ends."""
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(*ends.get(name, (0, 1)), 80, endpoint=True) for name in names}
    return _cells({"item": [f"q{i // 2}" for i in range(80)], "system": ["A", "B"] * 40} | columns)


@pytest.mark.parametrize(
    ("names", "judges"),
    [
        (("gold", "judge_score"), ["judge_score"]),
        (("human_label", "gpt4_label", "claude_label"), ["gpt4_label", "claude_label"]),
        (("label", "prediction"), ["prediction"]),
        (("gold", "judge"), ["judge"]),
        (("gold", "model"), ["model"]),
        (("ground truth", "Model Score"), ["Model Score"]),
        (("human_likeness", "gpt4_fluency"), []),
        (("gold", "fluency"), []),
        (("gold", "reference_score", "judge"), []),
    ],
)
def test_gold_beside_judges(names, judges):
    out = tables.guess(_beside(*names))
    assert out.judges == judges
    assert out.one_label == ("score" if judges else None)
    assert (out.scores == "{annotator}") is bool(judges)


def test_gold_and_judges_on_other_scales_are_asked_about():
    out = tables.guess(_beside("gold", "judge_score", gold=(1, 5), judge_score=(1, 10)))
    assert (out.scores, out.judges) == ("{label}", [])
    asked = {q.text: q.evidence for q in out.questions}
    evidence = "gold from 1 to 5, judge_score from 1 to 10"
    assert asked["Are gold, judge_score of one label on one scale?"] == evidence


@pytest.mark.parametrize(("changes", "shown"), [(0, None), (3, "left")])
def test_pairs_that_a_model_saw_in_both_orders(changes, shown):
    rows = []
    for i in range(12):
        won = "model_a" if i % 3 else "model_b"
        other = won if i < changes else "model_b" if i % 3 else "model_a"
        rows += [
            {"prompt": f"q{i}", "model_a": "Ada", "model_b": "Bob", "judge": "gpt-4", "winner": won},
            {"prompt": f"q{i}", "model_a": "Bob", "model_b": "Ada", "judge": "gpt-4", "winner": other},
            {"prompt": f"q{i}", "model_a": "Ada", "model_b": "Bob", "judge": "ann", "winner": "model_a"},
        ]
    out = tables.guess(_cells(rows))
    assert out.constants.get("first_shown") == shown
    assert out.repeats == ("number" if shown else "")
    evidence = [q.evidence for q in out.questions if q.fact == "comparison: both orders"]
    assert evidence == ([f"12 pairs are there from both sides, {changes} with another choice"] if shown else [])


def test_choice_between_two_texts_without_systems():
    rows = [{"output_1": f"one text {i}", "output_2": f"another text {i}", "label": 1 + i % 2} for i in range(8)]
    out = tables.guess(_cells(rows))
    assert out.comparative
    assert out.constants == {"system": "output_1", "system_b": "output_2"}
    assert out.values == {"1": 1, "2": -1}
    assert "How are the two systems named?" in [q.text for q in out.questions]


def _answers(*odd):
    """Rows with an answer of each person, of which the first are odd."""
    words = ("meh", "ugh", "wow")
    answers = [*odd, *(words[(i + i // 3) % 3] for i in range(120 - len(odd)))]
    return [{"dialogue": f"d{i // 3}", "annotator": f"a{i % 3}", "verdict": x} for i, x in enumerate(answers)]


@pytest.mark.parametrize(
    ("odd", "levels", "asked"),
    [
        (("5",), ["meh", "ugh", "wow"], {"no answer in verdict: '5'": "no answer (`na_values`)"}),
        (("hm",), ["hm", "meh", "ugh", "wow"], {"no answer in verdict: 'hm'": "answers as the others"}),
        (("hm",) * 9, ["hm", "meh", "ugh", "wow"], {}),
        ((), ["meh", "ugh", "wow"], {}),
    ],
)
def test_an_answer_that_hardly_anybody_gave_is_asked(odd, levels, asked):
    out = tables.guess(_cells(_answers(*odd)))
    assert out.categories == {"verdict": levels}
    assert {q.fact: q.assumed for q in out.questions if q.fact.startswith("no answer")} == asked
    assert out.na_values == ["", *(x for x in odd if x.isdecimal())]


def test_a_slip_that_is_an_id_elsewhere_is_left_to_a_person():
    rows = [r | {"sample": str(i // 3)} for i, r in enumerate(_answers("5"))]
    out = tables.guess(_cells(rows))
    assert out.na_values == [""]
    (question,) = [q for q in out.questions if q.fact.startswith("no answer")]
    assert question.assumed == "answers as the others"
    votes = [{"id": str(i), "model_a": "x", "model_b": "y", "winner": "AB"[i % 2]} for i in range(40)]
    out = tables.guess(_cells([*votes[:5], votes[5] | {"winner": "5"}, *votes[6:]]))
    (question,) = [q for q in out.questions if q.fact.startswith("no answer")]
    assert (out.na_values, question.assumed) == ([""], "not known, so 'winner' is not read")


_SHARES = [f"{0.7 + i / 200:.3f}" for i in range(36)]


@pytest.mark.parametrize(
    ("more", "own"),
    [
        ({"_trust": _SHARES}, ["_trust"]),
        ({"trust": _SHARES, "channel": "elite", "tainted": "false", "country": "DE"}, ["trust"]),
        ({"trust": _SHARES}, []),
        ({"trust": [str(1 + i % 5) for i in range(36)], "channel": "e", "tainted": "f", "country": "D"}, []),
    ],
)
def test_a_platform_is_no_judge(more, own):
    rows = [{"dialogue": f"d{i // 3}", "annotator": f"a{i % 3}", "fluency": 1 + i * 7 % 5} for i in range(36)]
    cells = _cells(rows).assign(**more)
    out = tables.guess(cells)
    assert [c for c, why in out.unused.items() if why.startswith("of the platform")] == own
    assert set(out.labels) == {"fluency", *({"trust"} & set(more) - set(own))}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("numbers", [["1e308", "1"], ["-1e308", "0", "1", "2", "3", "4", "1e308"], ["inf", "1"]])
def test_numbers_whose_double_or_range_is_too_large_are_no_ratings(numbers):
    assert not nature("x", pd.Series(numbers)).judged
    assert not is_rating("x", pd.Series(numbers, dtype=float))
