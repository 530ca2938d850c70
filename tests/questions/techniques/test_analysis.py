"""Techniques compared: which judgements belong to which, their results, what the views show."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.conversations import COMPARED, SINGLE, marks
from fixtures.notebook_cells import as_published
from matplotlib import pyplot
from scipy import stats

from helpers.technique_comparison import Page
from judgebook.display.names import DisplayNames
from judgebook.questions.techniques import analysis, sittings, turns
from judgebook.questions.techniques.analysis import contests, seconds
from judgebook.questions.techniques.question import Mixture, Technique, Techniques
from judgebook.statistics import Sampling
from judgebook.study.labels import Label
from judgebook.study.results import collect, where

LABELS = [
    Label("quality", method, "Quality", scale)
    for method, scale in (
        ("pairwise_turn", (-1, 1)),
        ("pairwise_dialogue", (-1, 1)),
        ("single_turn", (0, 1)),
        ("single_dialogue", (1, 5)),
    )
]
SAMPLING = Sampling(n_resamples=200, confidence=0.95, seed=1)
NO_FACTS = pd.DataFrame(columns=["corpus", "dialogue", "key", "value"])


def people(frame):
    return frame.assign(annotator_kind="human", annotator_known=True, session=None, context=None)


def study(n=24, seed=0):
    """Comparisons by turn and of whole pairs, marks and ratings of two systems: `a` is better."""
    rng, rows = np.random.default_rng(seed), []
    by_turn = [(f"t{i}", "a", "b", rng.choice([1, -1], 6, p=[0.7, 0.3]), 600 + i) for i in range(n)]
    whole = [(f"w{i}", "a", "b", [rng.choice([1, 0, -1], p=[0.6, 0.2, 0.2])], 60 + i) for i in range(n)]
    single = [(f"s{i}", "ab"[i % 2], None, rng.choice([1, 0], 6, p=[0.7 - 0.3 * (i % 2), 0.3 + 0.3 * (i % 2)]), 240)
              for i in range(2 * n)]  # fmt: skip
    rows = [marks(by_turn), marks(whole, method="pairwise_dialogue"), marks(single, method="single_turn")]
    final = rows[2].groupby("dialogue").first().reset_index()
    score = 1 + np.minimum(4, rows[2].groupby("dialogue")["score"].sum().reindex(final["dialogue"]).to_numpy())
    rows.append(final.assign(method="single_dialogue", score=score, turn=pd.NA, dialogue_b=None, system_b=None))
    out = people(pd.concat(rows, ignore_index=True)).assign(source_row=lambda f: range(len(f)))
    return out.astype({"turn": "Int32"})


def gathered(frame=None, facts=NO_FACTS, **techniques):
    frame = study() if frame is None else frame
    techniques = techniques or sittings.by_method(frame, LABELS)
    return sittings.gather(frame, facts, techniques, LABELS, ["a", "b"], Techniques())


class TestGather:
    def test_windows_corpora_and_facts_select(self):
        frame = study()
        frame["corpus"] = np.where(frame["dialogue"].str.startswith("t1"), "other", "main")
        facts = pd.DataFrame(
            {"corpus": "main", "dialogue": ["t2/a", "t3/a"], "key": "n_exchanges", "value": ["2", "3"]}
        )
        specs = {
            "late": Technique(method="pairwise_turn", turns=[2, 6]),
            "other": Technique(method="pairwise_turn", corpus="other"),
            "short": Technique(method="pairwise_turn", facts={"n_exchanges": "2"}),
            "absent": Technique(method="single_turn", corpus="nowhere"),
        }
        found = gathered(frame, facts, **specs)
        assert set(found.techniques) == {"late", "other", "short"}
        assert (found.sittings["late"]["n"] == 5).all()
        assert set(found.sittings["other"]["corpus"]) == {"other"}
        assert found.sittings["short"]["dialogue"].tolist() == ["t2/a"]


PLAN = Techniques(
    n_runs=100, crossing_runs=50,
    compare={m: Technique(method=m) for m in ("pairwise_turn", "pairwise_dialogue", "single_turn", "single_dialogue")},
    combine={"both": Mixture(techniques=["pairwise_turn", "pairwise_dialogue"], weights=[1, 3])},
    average={"mixed": Mixture(techniques=["single_turn", "single_dialogue"], weights=[1, 3])},
)  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return gathered(**PLAN.compare)


def found(frame, data, labels=LABELS, systems=("a", "b"), plan=PLAN, changed=None):
    """What notebook 11 stores: of the analysis, and of the cells that compute what was published."""
    page = Page.__new__(Page)
    page.data, page.turned = data, turns.gather(frame, data, labels, systems, plan)
    page.pairings = page.turned.pairings(labels, plan.final_rating)
    page.study = SimpleNamespace(techniques=plan, seeds=SimpleNamespace(permute=1))
    page.results = analysis.analyse(data, page.turned, page.pairings, plan, run_seed=1, sampling=SAMPLING)
    kinds = page.turned.titles(data, labels, plan)
    page.names = DisplayNames({}, kinds | {kind: {} for kind in ("group", "system", "corpus", "method")})
    given = ("data", "techniques", "alone", "marks", "contests", "pairings", "study", "names")
    given += ("single_ratings", "arranged", "win_rates", "scores", "chunks")
    cells = as_published(
        "11_technique_comparison", changed, sampling=SAMPLING, **{name: getattr(page, name) for name in given}
    )
    pyplot.close("all")
    return collect(page.results, cells.saved)


@pytest.fixture(scope="module")
def results(data):
    return found(study(), data)


def only(rows, **keys):
    found = where(rows, **keys)
    assert len(found) == 1, found
    return found.iloc[0]


class TestResults:
    """Results against counts of the judgements themselves."""

    def test_rates_are_shares_of_marks(self, results):
        frame, rates = study(), results["technique_win_rate"]
        won = (frame.loc[frame["method"] == "pairwise_turn", "score"] > 0).mean()
        assert only(rates, technique="pairwise_turn", ties="none")["estimate"] == pytest.approx(won)
        whole = frame.loc[frame["method"] == "pairwise_dialogue", "score"]
        half = (whole > 0).mean() + (whole == 0).mean() / 2
        assert only(rates, technique="pairwise_dialogue", ties="half")["estimate"] == pytest.approx(half)
        marked = frame[frame["method"] == "single_turn"].groupby("system")["score"].mean()
        for system in "ab":
            score = only(results["technique_score"], technique="single_turn", system=system)
            assert score["estimate"] == pytest.approx(marked[system])

    def test_rates_by_turn_are_shares_of_each_turn(self, results):
        frame = study()
        for turn in (0, 5):
            scores = frame.loc[(frame["turn"] == turn) & (frame["method"] == "pairwise_turn"), "score"]
            found = only(results["turn_rate"], method="pairwise_turn", turn=turn + 1)
            assert found["estimate"] == pytest.approx((scores > 0).mean())

    def test_marks_of_one_system_by_turn_are_those_of_scipy(self):
        rng = np.random.default_rng(3)
        seen = {f"c{i}": rng.integers(1, 6, 3 + i % 5).astype(float) for i in range(20)}
        frame = people(marks([(d, "a", None, own, 60) for d, own in seen.items()], method="turn_likert"))
        none, labels = sittings.TechniqueData({}, {}, {}, [], [], {}), [Label("quality", "turn_likert", "Q", (1, 5))]
        results = found(frame.assign(source_row=range(len(frame))), none, labels, ["a"], Techniques())
        assert results["technique_score"]["estimate"].item() == pytest.approx(np.concatenate([*seen.values()]).mean())
        for turn in (1, 4):
            own = [s[turn - 1] for s in seen.values() if len(s) >= turn]
            interval = stats.t.interval(0.95, len(own) - 1, np.mean(own), stats.sem(own))
            row = only(results["turn_mean"], turn=turn)
            assert row[["estimate", "ci_low", "ci_high"]].tolist() == pytest.approx([np.mean(own), *interval])

    def test_a_mixture_is_the_weighted_mean(self, data, results):
        rates = results["technique_win_rate"]
        first = only(rates, technique="pairwise_turn")["estimate"]
        second = only(rates, technique="pairwise_dialogue", ties="half")["estimate"]
        both = only(rates, technique="both")
        assert both["estimate"] == pytest.approx((first + 3 * second) / 4)
        assert both["ties"] == "half"
        other = {"mixed": Mixture(techniques=["pairwise_turn", "single_turn"], weights=[1, 1])}
        rates = found(study(), data, plan=PLAN.model_copy(update={"combine": other}))["technique_win_rate"]
        assert "mixed" not in set(rates["technique"])


def average(sample):
    return sample.share @ sample.values


class TestHours:
    def test_seconds_by_hand(self):
        frame = people(marks([("c1", "a", "b", [1] * 6, 60), ("c2", "a", "b", [1] * 6, 120)]))
        found = collect(seconds(gathered(frame, turns=Technique(method="pairwise_turn", onboarding_minutes=2))))
        # two people, one comparison each: two minutes of training for every comparison
        assert found["technique_seconds"].set_index("of")["estimate"].to_dict() == {"unit": 90, "training": 120}

    def test_contests_hold_the_values_of_conversations(self, data, results):
        found = {x.head["technique"]: x for x in contests(data, results["technique_seconds"], PLAN.average)}
        value = data.sittings["pairwise_turn"]["value"]
        assert (found["pairwise_turn"].a.n, found["pairwise_turn"].b) == (24, None)
        assert average(found["pairwise_turn"].a) == pytest.approx(value.mean())
        mean = data.sittings["pairwise_turn"]["seconds"].mean()
        assert found["pairwise_turn"].cost.hours(10) == pytest.approx(10 * mean / 3600)
        alone = data.sittings["single_turn"].groupby("system")["value"].mean()
        assert (average(found["single_turn"].a), average(found["single_turn"].b)) == pytest.approx(
            (alone["a"], alone["b"])
        )
        rating, mixed = data.sittings["single_dialogue"].groupby("system")["value"].mean(), found["mixed"]
        assert mixed.cost.sides == 2
        for side, system in ((mixed.a, "a"), (mixed.b, "b")):
            assert average(side) == pytest.approx(alone[system] / 4 + 3 / 4 * (rating[system] - 1) / 4)


class TestParts:
    def test_variability_by_hand(self):
        frame = people(marks([(f"c{i}", "a", "b", [1 if i < 6 else -1] * 6, 900) for i in range(12)]))
        row = only(found(frame, gathered(frame), plan=Techniques())["chunk_sd"], of="observed")
        # four parts of three conversations: all won, all won, all lost, all lost; the fourth ends on the boundary
        assert row["n"] == 4
        assert row["estimate"] == pytest.approx(np.std([1, 1, 0, 0], ddof=1))


def test_a_pair_that_nobody_judged_gives_no_rows():
    frame = people(pd.concat([COMPARED, SINGLE]))
    data = sittings.gather(frame, NO_FACTS, sittings.by_method(frame, LABELS), LABELS, ["x", "y"], Techniques())
    assert "technique_win_rate" not in found(frame, data, systems=["x", "y"], plan=Techniques())


def test_another_rate_changes_what_is_stored(data, results):
    """Who won more turns, in place of the share of turns."""
    changed = ('if rate == "linear":  # x / (x + y)', 'if rate == "none":')
    other = only(found(study(), data, changed=changed)["technique_win_rate"], technique="pairwise_turn", ties="half")
    won = data.sittings["pairwise_turn"]["value"]
    assert other["estimate"] == pytest.approx(((won > 0) + (won == 0) / 2).mean())
    assert other["estimate"] != only(results["technique_win_rate"], technique="pairwise_turn")["estimate"]


class TestDirection:
    """Where a low score is good, the system with the lower scores wins."""

    @staticmethod
    @cache
    def results(direction=1, turned=()):
        """Of judgements where scores of the methods in `turned` are upside down, and their labels say `direction`."""
        frame = study()
        compared = frame[frame["method"] == "pairwise_dialogue"]
        rng = np.random.default_rng(5)
        for side, dialogue, low in (("a", "dialogue", 2), ("b", "dialogue_b", 1)):
            ratings = compared.assign(dialogue=compared[dialogue], system=side, method="single_dialogue")
            ratings["score"] = rng.integers(low, low + 4, len(ratings)).astype(float)
            frame = pd.concat([frame, ratings.assign(dialogue_b=None, system_b=None)], ignore_index=True)
        labels = [replace(x, direction=direction) if x.method in turned else x for x in LABELS]
        for label in (x for x in labels if x.method in turned):
            mask = frame["method"] == label.method
            frame["score"] = frame["score"].where(~mask, sum(label.scale) - frame["score"])
        data = sittings.gather(frame, NO_FACTS, PLAN.compare, labels, ["a", "b"], PLAN)
        return found(frame, data, labels)

    @pytest.mark.parametrize("turned", [("single_dialogue",), ("pairwise_turn", "pairwise_dialogue")])
    def test_scores_turned_around_have_the_same_winners(self, turned):
        before, after = (self.results(*how) for how in ((), (-1, turned)))
        for statistic in ("technique_win_rate", "effective_win_rate", "turn_rate"):
            assert len(before[statistic]), statistic
            assert after[statistic]["estimate"].tolist() == pytest.approx(before[statistic]["estimate"].tolist())
        before, after = before["technique_score"], after["technique_score"]["estimate"]  # means stay as scored
        low = before["technique"].isin(turned)
        assert after[low].tolist() == pytest.approx((6 - before["estimate"][low]).tolist())

    def test_without_a_direction_nobody_wins(self):
        without = ("single_dialogue", "pairwise_dialogue")
        results = self.results(0, without)
        for statistic in ("technique_win_rate", "effective_win_rate"):
            assert len(results[statistic])
            assert set(results[statistic]["technique"]).isdisjoint({*without, "both"})
            assert results[statistic]["estimate"].notna().all()
        assert results["technique_score"]["estimate"].notna().all()
