"""What people judged where no usual column says it."""

import numpy as np
import pandas as pd
import pytest

from judgebook.extras.new import tables


def _cells(rows):
    return pd.DataFrame(rows).astype(str)


def _beside(*names):
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(2, size=80) for name in names}
    return _cells({"item": [f"q{i // 2}" for i in range(80)], "system": ["A", "B"] * 40} | columns)


@pytest.mark.parametrize(
    ("names", "judges"),
    [
        (("gold", "judge_score"), ["judge_score"]),
        (("human_label", "gpt4_label", "claude_label"), ["gpt4_label", "claude_label"]),
        (("label", "prediction"), ["prediction"]),
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
