"""Simulated techniques: calibrated to the printed tables of Smith et al. 2022, within their Monte Carlo noise."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from compendium.published import numbers as published
from compendium.simulation import gaussian, techniques
from judgebook.questions.techniques import texts
from judgebook.questions.techniques.sittings import sittings
from judgebook.study.sections.data import Simulate

SPEC = Simulate()


def printed(element):
    return published.load("smith2022", element).set_index(["panel", "row", "column"])["value"]


@pytest.fixture(scope="module")
def large():
    """Twelve times the paper's conversations, people with faulty messages left out."""
    rows = techniques.table(Simulate(parts_size=12), np.random.default_rng(7))
    typed = rows.rename(columns={"interactor": "person"}).assign(interactor=rows["interactor"], turn=rows["turn"] - 1)
    checks = texts.check(typed, first_turn=2, greetings=["hi", "hello", "hey"], offensive=[techniques.OFFENCE])
    kept = rows[~rows["annotator"].isin(texts.failing(checks))]
    return kept.assign(group="all", turn=kept["turn"].astype("Float64") - 1, source_row=range(len(kept)))


class TestCalibration:
    def test_counts_of_turns_by_hand(self):
        found = gaussian.count_distribution(np.full(5, 0.7), 0.0)
        assert found == pytest.approx(stats.binom.pmf(range(6), 5, 0.7))
        # two halves of correlation 1/2 are both positive with probability 1/4 + arcsin(1/2) / 2 pi = 1/3
        assert gaussian.count_distribution(np.full(2, 0.5), 0.5) == pytest.approx([1 / 3] * 3, abs=1e-4)
        assert gaussian.winner_share(np.full(5, 0.7), 0.0, 3) == pytest.approx(stats.binom.sf(2, 5, 0.7))

    def test_correlation_gives_the_aim_or_says_what_comes_near(self):
        rates = np.full(5, 0.67)
        c = gaussian.correlation(rates, 3, 0.74, 0.0, 0.9, 39)
        assert gaussian.winner_share(rates, c, 3) == pytest.approx(0.74, abs=1e-4)
        # below what any correlation gives, by less than the noise of 39 conversations: no dependence is read into it
        assert gaussian.correlation(np.full(5, 0.52), 3, 0.49, 0.1, 0.9, 39) == 0.1
        assert gaussian.correlation(np.full(4, 0.71), 2, 0.70, 0.0, 0.9, 68) == 0.9

    def test_ratings_have_the_mean_asked_for(self):
        for mean in (3.3, 4.0, 4.49):
            place = gaussian.location(mean, np.array(techniques.CUTS))
            found, sd = gaussian.rating_mean(place, np.array(techniques.CUTS))
            assert found == pytest.approx(mean)
            low, high = (printed("Table 2")["caption", "sm_dialog_sd", k] for k in ("min", "max"))
            assert low <= round(sd, 1) <= high


class TestTruth:
    """Expected values beside print. Table 4 is rounded to whole percent, and so is what is held against it."""

    def test_linear_rates_of_comparisons(self):
        """Their mean over turns differs from print by rounding, and by conversations that end early: a point."""
        for pair, label in itertools.product(techniques.PAIRS, techniques.QUESTIONS):
            rates = techniques.pairwise_turn(SPEC, pair, label).rates
            assert abs(100 * rates.mean() - printed("Table 1")[pair, label, "pw_turn_all_lin"]) <= 1
            assert abs(100 * rates[1:].mean() - printed("Table 1")[pair, label, "pw_turn_t2_6_lin"]) <= 1


def linear_rates(rows, turns):
    compared = rows[rows["method"] == "pairwise_turn"]
    found = sittings(
        compared.assign(completed_at=pd.NaT), turns=turns, pairs=[("bb3b", s) for s in techniques.SYSTEMS[1:]]
    )
    names = {techniques.SYSTEMS[b]: pair for pair, (_, b) in techniques.PAIRS.items()}
    for (system, label), here in found.groupby(["system_b", "label"]):
        share = here["won"] / here["n"]
        yield names[system], label, share.mean(), share.std(ddof=1) / np.sqrt(len(share)), len(share)


class TestSimulated:
    @pytest.mark.verify
    def test_linear_rates_of_table_1_within_monte_carlo_noise(self, large):
        """468 conversations a cell: four standard errors of their mean, a point for rounding and unequal turns.

        18 cells: at four standard errors one of 900 such tests would fail by chance. The printed value of another cell
        of the column is outside in more than half of the cases, so that passing means something.
        """
        wrong = []
        for column, turns in (("pw_turn_all_lin", None), ("pw_turn_t2_6_lin", (2, 6))):
            cells = list(linear_rates(large, turns))
            assert len(cells) == 9
            for pair, label, rate, error, n in cells:
                assert n >= 460
                bound = 4 * error + 0.01
                assert abs(rate - printed("Table 1")[pair, label, column] / 100) <= bound, (pair, label, rate)
                others = [printed("Table 1")[p, q, column] / 100 for p, q, *_ in cells if (p, q) != (pair, label)]
                wrong += [abs(rate - other) <= bound for other in others]
        assert np.mean(wrong) < 0.5

    def test_that_people_judge_a_pair_of_conversations_once(self):
        rows = techniques.table(SPEC, np.random.default_rng(3))
        pairs = rows[rows["method"] == "pairwise_dialogue"]
        assert not pairs.duplicated(["dialogue", "dialogue_b", "label"]).any()
        talks = rows[(rows["method"] == "pairwise_turn") & (rows["corpus"] == techniques.CORPUS)]
        talks = talks.drop_duplicates("session")
        assert not talks.duplicated(["annotator", "system_b", "label"]).any()
