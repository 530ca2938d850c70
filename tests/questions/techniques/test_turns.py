"""Marks of turns beside ratings of conversations: whose they are, which turns are used, on what scale."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from helpers.turns import coefficients
from judgebook.questions.techniques import turns as of_turns
from judgebook.study.labels import Label

LABELS = [Label("good", "single_turn", "Good", (0, 1)), Label("whole", "single_dialogue", "Whole", (1, 5))]


def judged(rows, method, group="all", known=True):
    """rows : (dialogue, annotator, label, turn or None, score)"""
    frame = pd.DataFrame(rows, columns=["dialogue", "annotator", "label", "turn", "score"])
    return frame.assign(corpus="main", system="a", method=method, group=group, annotator_known=known)


def marks(turns, **options):
    """turns : dialogue -> marks by turn, None where a turn is not marked."""
    rows = [(d, "w", "good", i, s) for d, own in turns.items() for i, s in enumerate(own) if s is not None]
    return judged(rows, "single_turn", **options)


def ratings(scores, annotator="w", **options):
    return judged([(d, annotator, "whole", None, s) for d, s in scores.items()], "single_dialogue", **options)


class TestWhose:
    """Positions in a list are no people, whatever they are called."""

    @pytest.mark.parametrize(
        ("rater", "group", "known", "people"),
        [
            ("w", "all", True, "same"),
            ("v", "all", True, "other"),
            ("w", "all", False, "unknown"),
            ("w", "readers", False, "other"),
        ],
    )
    def test_it_takes_known_people_or_groups(self, rater, group, known, people):
        one, two = marks({"d": [1, 0]}, known=known), ratings({"d": 3}, rater, known=known, group=group)
        assert of_turns.whose(one, two) == people

    def test_other_people_are_averaged_by_conversation(self):
        marked = pd.concat([marks({"d": [1, 0], "e": [0, 0]}), marks({"d": [0, 0]}).assign(annotator="v")])
        rated = pd.concat([ratings({"d": 2, "e": 5}, "x"), ratings({"d": 4}, "y")])
        (both,) = of_turns.paired(marked, rated, LABELS)
        assert both.people == "other"
        assert both.rows.set_index("dialogue")[[1, 2, "rating"]].to_numpy().tolist() == [[0.5, 0, 3], [0, 0, 5]]


class TestTurns:
    def test_conversations_of_one_length_count_from_the_start(self):
        (both,) = of_turns.paired(marks({"d": [1, 0, 1], "e": [0, 1, 0]}), ratings({"d": 2, "e": 5}), LABELS)
        assert (both.counted, both.turns) == ("start", [1, 2, 3])

    def test_of_others_the_last_marked_turns_are_used(self):
        turns = {"d": [1, 0, 1, 0], "e": [0, None, 1, 1], "f": [1, 1, 0, None, None, 0]}
        (both,) = of_turns.paired(marks(turns), ratings({"d": 2, "e": 5, "f": 3}), LABELS)
        assert (both.counted, both.turns) == ("end", [1, 2, 3])
        found = both.rows.set_index("dialogue")[[1, 2, 3]].to_numpy().tolist()
        assert found == [[0, 1, 0], [0, 1, 1], [1, 0, 0]]

    def test_a_conversation_that_was_broken_off_does_not_shorten_the_others(self):
        turns = {"d": [1, 0, 1, 0], "e": [0, 1, 1, 1], "f": [1]}
        (both,) = of_turns.paired(marks(turns), ratings({"d": 2, "e": 5, "f": 3}), LABELS)
        assert both.turns == [1, 2, 3, 4]
        assert both.rows["dialogue"].tolist() == ["d", "e"]


def test_bad_labels_are_turned_round_and_scales_made_one():
    labels = [*LABELS, Label("bad", "single_turn", "Bad", (0, 2), direction=-1)]
    labels += [Label("x", "single_turn", "X", (0, 9), direction=0)]
    extra = [("d", "w", "bad", 0, 2), ("d", "w", "bad", 1, 1), ("d", "w", "x", 0, 9)]
    rows = pd.concat([marks({"d": [1, 1]}), judged(extra, "single_turn")])
    (both,) = of_turns.paired(rows, ratings({"d": 4}), labels)
    assert both.rows[[1, 2, "rating"]].to_numpy().tolist() == [[0.5, 0.75, 4]]


def test_coefficients_and_intervals_are_those_of_statsmodels():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (60, 4)).astype(float)
    y = x @ [0.1, 0.2, 0.3, 0.9] + rng.normal(0, 0.3 + x[:, 0])
    fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True)
    found = coefficients(pd.DataFrame(x, columns=[1, 2, 3, 4]).assign(rating=y), [1, 2, 3, 4])
    expected = np.column_stack([fit.params, fit.conf_int()])[1:]
    assert found[["estimate", "ci_low", "ci_high"]].to_numpy() == pytest.approx(expected, abs=1e-9)


def test_what_is_not_identified_is_missing():
    x = pd.DataFrame(np.zeros((30, 2)), columns=[1, 2])
    assert coefficients(x.assign(rating=1.0), [1, 2])["estimate"].isna().all()


def made(n, weights):
    """Marks at three turns on two questions and ratings that follow them, of n conversations with two systems."""
    rng, marks, ratings = np.random.default_rng(2), [], []
    for i in range(n):
        head = {"corpus": "main", "group": "all", "system": "ab"[i % 2], "dialogue": f"d{i}", "annotator_known": True}
        seen = rng.integers(0, 2, (3, 2))  # three turns, two questions
        own = head | {"annotator": f"w{i}", "method": "single_turn"}
        marks += [own | {"turn": t, "label": f"q{q}", "score": seen[t, q]} for t in range(3) for q in range(2)]
        rating, other = 1 + seen.mean(axis=1) @ weights, head | {"annotator": f"w{i}"}
        both = enumerate((-0.5, 0.5))
        ratings += [other | {"method": "single_dialogue", "label": f"q{q}", "score": rating + s} for q, s in both]
    scales = {"single_turn": (0, 1), "single_dialogue": (0, 6)}
    labels = [Label(f"q{q}", method, f"Q{q}", scale) for q in (0, 1) for method, scale in scales.items()]
    return pd.DataFrame(marks), pd.DataFrame(ratings), labels


def test_conversations_by_hand_and_weights_come_back():
    marks, ratings, labels = made(80, [0.5, 1.0, 2.0])
    (both,) = of_turns.paired(marks, ratings, labels)
    assert (both.people, both.counted, len(both.rows)) == ("same", "start", 80)
    first = both.rows.set_index("dialogue").loc["d0"]
    seen = marks.query("dialogue == 'd0'").groupby("turn")["score"].mean()
    assert first[[1, 2, 3]].tolist() == seen.tolist()
    assert first["rating"] == pytest.approx(1 + seen @ [0.5, 1.0, 2.0])
    overall = coefficients(both.rows, both.turns).set_index("turn")["estimate"]
    assert overall.to_dict() == pytest.approx({1: 0.5, 2: 1.0, 3: 2.0})
