"""Marks of turns beside ratings of conversations: whose they are, which turns are used, on what scale; and real data,
once more in a few lines from the raw files."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judgebook.questions.techniques import analysis, sittings, turn_marks, turn_ratings
from judgebook.sources import build, places
from judgebook.statistics import Sampling
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.results import where

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


def test_labels_rated_and_marked_alike_go_together():
    labels = [*LABELS, Label("good", "single_dialogue", "Good", (1, 5))]
    rated = pd.concat([ratings({"d": 1}), ratings({"d": 5}).assign(label="good")])
    (both,) = turn_ratings.paired(marks({"d": [1, 0]}), rated, labels)
    assert both.rows["rating"].tolist() == [5]
    (both,) = turn_ratings.paired(marks({"d": [1, 0]}), rated, labels, ["whole"])
    assert both.rows["rating"].tolist() == [1]


# --- real data -------------------------------------------------------------------------------------------------------


def analysed(name, roots):
    """Results of the parts that need no comparison. roots : where raw files are."""
    spec = params.load(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "raw_roots", lambda: roots)
        annotations = build.build(spec).frames["annotations"]
    labels = spec.label_list()
    systems = [s for s in annotations["system"].unique() if s not in spec.unranked_systems]
    none = sittings.TechniqueData({}, {}, {}, [], [], {})
    turned = turn_marks.gather(annotations, none, labels, systems, spec.techniques)
    sampling = Sampling(n_resamples=400, confidence=0.95, seed=1)
    return analysis.analyse(none, turned, labels, spec.techniques, run_seed=1, sampling=sampling)


@pytest.fixture(scope="module")
def conture(raw_data):
    folder = raw_data if (raw_data / "conture").is_dir() else raw_data.parent / "data_more"
    raw = json.loads((folder / "conture" / "data.json").read_text(encoding="utf-8"))
    return analysed("conture", [folder]), raw


@pytest.mark.evidence
@pytest.mark.data
def test_conture_by_turn_and_over_all_turns(conture):
    """Tables 2 and 5 of Smith et al. 2022 from the raw file."""
    results, raw = conture
    seen = [[float(turn["overall impression"]) for turn in d["turns"]] for d in raw]
    (score,) = results["technique_score"]["estimate"]
    assert score == pytest.approx(np.mean(np.concatenate(seen)))
    by_turn = results["turn_mean"].set_index("turn")
    for turn in range(1, 10):
        own = [s[turn - 1] for s in seen if len(s) >= turn]
        interval = stats.t.interval(0.95, len(own) - 1, np.mean(own), stats.sem(own))
        assert by_turn.loc[turn, ["estimate", "ci_low", "ci_high"]].tolist() == pytest.approx([np.mean(own), *interval])
    later = [np.mean(s[-(len(s) // 2) :]) - np.mean(s[: len(s) // 2]) for s in seen]
    change = where(results["turn_half"], half="difference").iloc[0]
    assert change["estimate"] == pytest.approx(np.mean(later))
    assert change["p_value"] == pytest.approx(stats.ttest_1samp(later, 0).pvalue)
