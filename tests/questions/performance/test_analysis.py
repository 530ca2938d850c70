import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, ratings

from judgebook.questions.performance import analysis as performance
from judgebook.study.labels import Label


def judged(frame, **columns):
    """`frame` with the columns of a study that the made-up evaluations lack."""
    defaults = {"dialogue_b": None, "system_b": None, "session": None, "context": None, "work_unit": None}
    defaults |= {"annotator_kind": "human", "source_row": range(len(frame)), "interactor": None}
    out = frame.assign(**{k: v for k, v in defaults.items() if k not in frame} | columns)
    return out.astype({"dialogue_b": "str", "system_b": "str", "session": "str", "context": "str"})


def twice(n=40, seed=1):
    """Ratings of two systems in shared sessions, each dialogue by two of four people."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(n):
        for system in "ab":
            for a in rng.choice(4, 2, replace=False):
                score = int(np.clip(np.rint(3 + (system == "a") + rng.normal()), 1, 5))
                rows.append((f"d{s}{system}", system, f"s{s}", score, f"A{a}"))
    frame = ratings([r[:4] for r in rows], method="dialogue_likert")
    return judged(frame.assign(annotator=[r[4] for r in rows]))


class TestChosen:
    def test_models_stay_only_where_no_person_judged(self):
        frame = judged(ratings([("d1", "a", 3), ("d1", "a", 4), ("d2", "a", 1)]), group=["x", "x", "y"])
        frame = frame.assign(annotator_kind=["human", "llm", "llm"])
        assert performance.chosen(frame)["score"].tolist() == [3, 1]

    def test_comparisons_with_dummies_or_with_itself_say_nothing(self):
        frame = judged(comparisons([("a", "b", 1), ("a", "a", 0), ("person", "b", 1), ("b", "person", 1)]))
        found = performance.chosen(frame, ["person"])
        assert found[["system", "system_b"]].to_numpy().tolist() == [["a", "b"]]
        assert found["pair"].tolist() == ["x000 and y000"]
        rated = judged(ratings([("d1", "a", 3), ("d2", "person", 4)]))
        assert len(performance.chosen(rated, ["person"])) == 2

    @pytest.mark.parametrize(("level", "rows"), [("ordinal", 2), ("nominal", 0)])
    def test_answers_without_order_have_no_mean(self, level, rows):
        label = Label("quality", "dialogue_likert", "x", (1, 5), level=level)
        assert len(performance.chosen(judged(ratings([("d1", "a", 3), ("d2", "b", 4)])), labels=[label])) == rows


class TestUnits:
    def test_dialogues_of_a_system_in_one_session_go_together(self):
        one = judged(ratings([("d1", "a", "s1", 3), ("d2", "b", "s1", 4)]))
        assert performance.interval_unit(one) == "dialogue"
        cuts = judged(ratings([("d1", "a", "s1", 3), ("d2", "a", "s1", 4)]))
        assert performance.interval_unit(cuts) == "session"
        assert performance.interval_unit(cuts.assign(session=None, context="c1")) == "context"

    def test_systems_are_compared_where_they_meet(self):
        frame = judged(ratings([("d1", "a", 3), ("d2", "b", 4)]))
        assert performance.ranking_unit(frame) == "dialogue"
        assert performance.ranking_unit(frame.assign(context="c")) == "context"
        assert performance.ranking_unit(frame.assign(context="c", session="s")) == "session"
        assert performance.ranking_unit(frame.assign(session=["s", None])) == "dialogue"
        pairs = judged(comparisons([("a", "b", 1)]))
        assert performance.ranking_unit(pairs.assign(session=None)) == "pair"

    def test_turns_are_a_unit_of_judgements_of_turns_only(self):
        """With turns every score of a turn is its own cluster, as if the dialogue did not matter."""
        rng = np.random.default_rng(3)
        rows = [(f"d{d}", "ab"[d % 2], float(rng.integers(1, 6))) for d in range(40) for _ in range(5)]
        turns = judged(ratings(rows, method="turn_likert"))
        turns = turns.assign(turn=turns.groupby("dialogue").cumcount().astype("Int32"))
        both = pd.concat([turns, twice()], ignore_index=True)
        (first, of_turns), (second, others) = performance.by_unit(both, "turn")
        assert (first, of_turns["turn"].nunique(), set(of_turns["method"])) == ("turn", 200, {"turn_likert"})
        assert (second, set(others["method"])) == ("dialogue", {"dialogue_likert"})
