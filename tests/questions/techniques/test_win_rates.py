"""Win rates: hand-made conversations, libraries, and the printed rates of Smith et al. 2022."""

import numpy as np
import pandas as pd
import pytest
from fixtures.conversations import COMPARED, SINGLE, marks
from fixtures.notebook_code import functions
from fixtures.win_rates import win_rates
from scipy import stats

from compendium.papers import technique_rates
from helpers.turns import by_turn
from helpers.win_rates import effective, share_won
from judgebook.questions.techniques import sittings as sat
from judgebook.questions.techniques.question import Technique
from judgebook.statistics import exact_binomial
from judgebook.study import params


class TestSittings:
    def test_a_comparison_is_told_from_the_side_of_the_first_system(self):
        found = sat.sittings(COMPARED, pairs=[("a", "b")])
        assert found["won"].tolist() == [5, 3, 2]
        assert found["lost"].tolist() == [1, 3, 4]
        assert found["value"].tolist() == pytest.approx([4 / 6, 0, -2 / 6])
        assert found["dialogue"].tolist() == ["c1/a", "c2/a", "c3/a"]

    def test_turns_are_counted_from_one(self):
        found = sat.sittings(COMPARED, turns=(2, 6), pairs=[("a", "b")])
        assert found["won"].tolist() == [5, 3, 1]
        assert found["n"].tolist() == [5, 5, 5]

    def test_squared_and_winner_takes_all(self):
        squared = sat.sittings(COMPARED, rate="squared", pairs=[("a", "b")])
        assert ((1 + squared["value"]) / 2).tolist() == pytest.approx([25 / 26, 1 / 2, 4 / 20])
        winner = sat.sittings(COMPARED, rate="winner", pairs=[("a", "b")])
        assert winner["value"].tolist() == [1, 0, -1]

    def test_single_systems_count_half_or_more(self):
        assert sat.sittings(SINGLE)["value"].tolist() == [0.5, 0.25, 1]
        assert sat.sittings(SINGLE, rate="winner")["value"].tolist() == [1, 0, 1]

    def test_a_unit_that_was_left_open_is_not_timed(self):
        found = sat.sittings(COMPARED)
        assert found["seconds"].notna().tolist() == [True, True, True, False]

    def test_conversations_of_a_work_unit_share_its_time(self):
        together = SINGLE.assign(work_unit="one", annotator="w")
        assert sat.sittings(together)["seconds"].tolist() == [20, 20, 20]

    def test_impossible_rates_are_refused(self):
        with pytest.raises(ValueError, match="compares two systems"):
            sat.sittings(SINGLE, rate="squared")
        with pytest.raises(ValueError, match="marks of 0 and 1"):
            sat.sittings(SINGLE.assign(score=3.0), rate="winner")


def drawn(rng, n=60, ties=0.3):
    scores = rng.choice([-1, 0, 1], (n, 1), p=[0.3 - ties / 2 + 0.05, ties, 0.65 - ties / 2])
    return marks([(f"c{i}", "a", "b", s, 60) for i, s in enumerate(scores)], method="pairwise_dialogue")


def win_rate(rows, rate, n_resamples=500):
    """Of sittings, as cells of notebook 11 count them: ties -> columns of results."""
    ways = functions("11_technique_comparison")["won_of_all"](rows, rate)
    return {ties: share_won(rows, won, of, n_resamples, seed=1) for ties, (won, of) in ways.items()}


class TestWinRate:
    def test_by_hand(self):
        found = win_rate(sat.sittings(COMPARED, pairs=[("a", "b")]), "linear")
        assert {ties: f["estimate"] for ties, f in found.items()} == {"none": pytest.approx(10 / 18)}
        found = win_rate(sat.sittings(COMPARED, pairs=[("a", "b")]), "winner")
        assert {ties: f["estimate"] for ties, f in found.items()} == {"drop": 0.5, "half": 0.5}
        found = win_rate(sat.sittings(COMPARED, pairs=[("a", "b")]), "squared")
        assert found["none"]["estimate"] == pytest.approx((25 / 26 + 1 / 2 + 4 / 20) / 3)

    def test_against_the_win_rates_of_rankings(self):
        comparisons = drawn(np.random.default_rng(3), n=600)
        found = win_rate(sat.sittings(comparisons), "linear", n_resamples=10_000)
        theirs = win_rates(comparisons, seed=1, unit="dialogue")
        theirs = theirs[(theirs["system"] == "a") & (theirs["system_b"] == "b")].set_index("ties")
        for ties in ("drop", "half"):
            assert found[ties]["ci_kind"] == "bca"
            assert found[ties]["estimate"] == pytest.approx(theirs.loc[ties, "estimate"], abs=1e-9)
            assert found[ties]["ci_low"] == pytest.approx(theirs.loc[ties, "ci_low"], abs=0.01)
            assert found[ties]["ci_high"] == pytest.approx(theirs.loc[ties, "ci_high"], abs=0.01)

    def test_rare_ones_have_the_exact_interval(self):
        rows = sat.sittings(drawn(np.random.default_rng(3), n=30))
        found, won = win_rate(rows, "linear")["drop"], int(rows["won"].sum())
        low, high = exact_binomial(won, won + int(rows["lost"].sum()))
        assert (found["ci_kind"], found["ci_low"], found["ci_high"]) == (
            "exact_bound",
            *map(pytest.approx, (low, high)),
        )

    def test_nothing_but_ties_has_a_reason(self):
        found = win_rate(sat.sittings(drawn(np.random.default_rng(1), 10).assign(score=0.0)), "linear")
        assert found["half"]["estimate"] == 0.5
        assert np.isnan(found["drop"]["estimate"])
        assert found["drop"]["note"] == "all comparisons are ties"

    def test_reused_conversations_are_resampled_on_both_sides(self):
        rng, rows = np.random.default_rng(2), []
        quality = {side: rng.normal(size=8) for side in "ab"}
        for i, j in np.ndindex(8, 8):
            won = quality["a"][i] - quality["b"][j] + 0.3 * rng.normal() > 0
            rows.append((f"{i}-{j}", "a", "b", [1 if won else -1], 60))
        frame = marks(rows, method="pairwise_dialogue")
        names = frame["work_unit"].str.split("-")
        reused = sat.sittings(frame.assign(dialogue="a" + names.str[0], dialogue_b="b" + names.str[1]))
        many, once = (win_rate(rows, "linear", 4000)["none"] for rows in (reused, sat.sittings(frame)))
        assert many["estimate"] == once["estimate"]
        assert many["resample_unit"] == "conversations of either system"
        assert many["ci_high"] - many["ci_low"] > 1.5 * (once["ci_high"] - once["ci_low"])

    def test_by_turn(self):
        found = by_turn(sat.oriented(COMPARED, [("a", "b")]))
        assert found["turn"].tolist() == [1, 2, 3, 4, 5, 6]
        assert found["estimate"].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1, 2 / 3, 2 / 3])

    def test_conversations_are_averaged_over_their_annotators(self):
        rows = sat.sittings(COMPARED, pairs=[("a", "b")])
        other = rows.iloc[:1].assign(annotator="w2", value=0.0, seconds=20.0, n=6)
        found = sat.by_conversation(pd.concat([rows, other]))
        assert found["value"].tolist() == pytest.approx([2 / 6, 0, -2 / 6])
        assert found["sittings"].tolist() == [2, 1, 1]


class TestEffective:
    def test_how_often_one_is_higher_is_the_mann_whitney_statistic(self):
        rng = np.random.default_rng(5)
        a, b = rng.integers(1, 6, 40), rng.integers(1, 5, 30)
        u, tied = stats.mannwhitneyu(a, b).statistic / (40 * 30), np.mean(a[:, None] == b)
        found = {ties: effective(a, b, ties, n_resamples=2000, seed=1) for ties in ("drop", "half")}
        assert found["half"]["estimate"] == pytest.approx(u)
        assert found["drop"]["estimate"] == pytest.approx((u - tied / 2) / (1 - tied))
        theirs = stats.bootstrap((a, b), lambda x, y: stats.mannwhitneyu(x, y).statistic / (40 * 30), vectorized=False,
                                 n_resamples=2000, rng=rng).confidence_interval  # fmt: skip
        assert (found["half"]["ci_low"], found["half"]["ci_high"]) == pytest.approx(tuple(theirs), abs=0.02)

    def test_shares_give_the_same_as_the_values_themselves(self):
        a, b = np.repeat([1, 0], [7, 3]), np.repeat([1, 0], [2, 8])
        for ties in ("drop", "half"):
            of_shares = technique_rates.effective_of_shares(0.7, 0.2, ties)
            assert effective(a, b, ties)["estimate"] == pytest.approx(of_shares)

    @pytest.mark.parametrize("ties", ["drop", "half"])
    def test_ends_of_a_range_are_those_of_a_grid(self, ties):
        step = np.linspace(-0.005, 0.005, 21)
        grid = [technique_rates.effective_of_shares(0.73 + x, 0.7 + y, ties) for x in step for y in step]
        assert technique_rates.effective_range(0.73, 0.7, 0.005, ties) == pytest.approx((min(grid), max(grid)))

    def test_whether_comparisons_came_with_ratings(self):
        rated = pd.DataFrame({"annotator": ["A", "B", "C"], "work_unit": ["u1", "u2", None]})
        compared = pd.DataFrame({"annotator": ["A", "A", "C", "B"], "work_unit": ["u1", "u2", None, "u2"]})
        kinds = {"pairs": Technique(method="pairwise_turn"), "points": Technique(method="single_turn")}
        for rows, expected in ((compared, False), (compared.drop(1), True)):  # half of four, two of three
            data = sat.TechniqueData(kinds, {}, {"pairs": rows, "points": rated}, [], [], {})
            assert sat.together(data) == expected


class TestPrinted:
    """What the printed rates of Smith et al. 2022 allow: the definitions of ties that fit, and the combination."""

    @pytest.fixture
    def study(self):
        return params.load("demo").techniques

    def test_ties_left_out_fit_seven_of_nine_and_half_ties_two(self, study):
        found = technique_rates.printed(study)
        assert found.groupby("ties")["fits"].sum().to_dict() == {"drop": 7, "half": 2}
        neither = found.groupby(["system_b", "label"])["fits"].any()
        assert list(neither.index[~neither]) == [("reddit3b", "humanness"), ("reddit3b", "preference")]
        assert len(found) == 18
        assert set(found["ci_kind"]) == {"range"}
        assert set(zip(found["system"], found["system_b"], strict=True)) == {tuple(p) for p in study.pairs.values()}
