"""Marks of turns beside ratings of conversations: whose they are, which turns are used, on what scale."""

import pandas as pd
import pytest

from judgebook.questions.techniques import turn_ratings
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
        assert turn_ratings.whose(one, two) == people

    def test_other_people_are_averaged_by_conversation(self):
        marked = pd.concat([marks({"d": [1, 0], "e": [0, 0]}), marks({"d": [0, 0]}).assign(annotator="v")])
        rated = pd.concat([ratings({"d": 2, "e": 5}, "x"), ratings({"d": 4}, "y")])
        (both,) = turn_ratings.paired(marked, rated, LABELS)
        assert both.people == "other"
        assert both.rows.set_index("dialogue")[[1, 2, "rating"]].to_numpy().tolist() == [[0.5, 0, 3], [0, 0, 5]]


class TestTurns:
    def test_conversations_of_one_length_count_from_the_start(self):
        (both,) = turn_ratings.paired(marks({"d": [1, 0, 1], "e": [0, 1, 0]}), ratings({"d": 2, "e": 5}), LABELS)
        assert (both.counted, both.turns) == ("start", [1, 2, 3])

    def test_of_others_the_last_marked_turns_are_used(self):
        turns = {"d": [1, 0, 1, 0], "e": [0, None, 1, 1], "f": [1, 1, 0, None, None, 0]}
        (both,) = turn_ratings.paired(marks(turns), ratings({"d": 2, "e": 5, "f": 3}), LABELS)
        assert (both.counted, both.turns) == ("end", [1, 2, 3])
        found = both.rows.set_index("dialogue")[[1, 2, 3]].to_numpy().tolist()
        assert found == [[0, 1, 0], [0, 1, 1], [1, 0, 0]]

    def test_a_conversation_that_was_broken_off_does_not_shorten_the_others(self):
        turns = {"d": [1, 0, 1, 0], "e": [0, 1, 1, 1], "f": [1]}
        (both,) = turn_ratings.paired(marks(turns), ratings({"d": 2, "e": 5, "f": 3}), LABELS)
        assert both.turns == [1, 2, 3, 4]
        assert both.rows["dialogue"].tolist() == ["d", "e"]


def test_bad_labels_are_turned_round_and_scales_made_one():
    labels = [*LABELS, Label("bad", "single_turn", "Bad", (0, 2), direction=-1)]
    labels += [Label("x", "single_turn", "X", (0, 9), direction=0)]
    extra = [("d", "w", "bad", 0, 2), ("d", "w", "bad", 1, 1), ("d", "w", "x", 0, 9)]
    rows = pd.concat([marks({"d": [1, 1]}), judged(extra, "single_turn")])
    (both,) = turn_ratings.paired(rows, ratings({"d": 4}), labels)
    assert both.rows[[1, 2, "rating"]].to_numpy().tolist() == [[0.5, 0.75, 4]]
