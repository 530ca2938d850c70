"""The fit of notebook 07 in the study's own design: what is drawn, and whether statements hold."""

import numpy as np
import pytest
from fixtures.made_annotations import comparisons, monte_carlo
from fixtures.rated_systems import rated, rng, value

from judgebook.model import ratings
from judgebook.questions.operating_characteristics import analysis as fits
from judgebook.questions.operating_characteristics.analysis import SimulationPlan
from judgebook.questions.performance.fitted import judgements, votes


def voted(r, n=400):
    """Equal systems; each of eight annotators votes on every context."""
    frame = comparisons([(*r.permutation(list("abc"))[:2], r.choice([-1, 0, 1])) for _ in range(n)])
    who, context = [f"A{i % 8}" for i in range(n)], [f"c{i // 8}" for i in range(n)]
    return frame.assign(annotator=who, context=context, pair=[f"p{i}" for i in range(n)])


def test_data_sets_have_the_design_the_levels_and_the_variances():
    data = judgements(rated(rng(1), sd_favour=0.5))
    fit, levels, r = ratings.fit(data), np.array([1.0, 2.0]), rng(2)
    sets = [fits.drawn(data, fit, levels, r) for _ in range(300)]
    assert all(one.item is data.item and one.annotator is data.annotator for one in sets)
    means = np.array([[one.score[data.system == k].mean() for k in (0, 1)] for one in sets])
    error = means.std(axis=0) / np.sqrt(len(sets))
    assert (np.abs(means.mean(axis=0) - levels) < 4 * error).all()
    within = np.mean([one.score[data.system == 0].var() for one in sets])
    assert within == pytest.approx(sum(fit.variances.values()), rel=0.15)


def test_marks_vary_as_their_rates_say():
    frame = rated(rng(3))
    data = judgements(frame.assign(score=(frame["score"] > 3) * 1.0))
    fit, r = ratings.fit(data), rng(4)
    drawn = np.array([fits.drawn(data, fit, np.array([0.5, 0.1]), r).score for _ in range(200)])
    spread = [drawn[:, data.system == k].var(axis=1).mean() for k in (0, 1)]
    assert spread[1] / spread[0] == pytest.approx(0.09 / 0.25, rel=0.2)


def test_votes_are_won_as_often_as_strengths_say():
    data = votes(voted(rng(5)), people=True)
    fit, r = fits.refit(data, others=True), rng(6)
    fit.variances.clear()
    strengths = np.array([0.6, 0.0, -0.6])
    drawn = np.array([fits.drawn(data, fit, strengths, r).score for _ in range(400)])
    turned = np.where(data.first < data.second, 1, -1)
    pair = (np.minimum(data.first, data.second) == 0) & (np.maximum(data.first, data.second) == 2)
    odds = np.exp([0.6, fit.log_nu, -0.6])
    expected = (odds[0] - odds[2]) / odds.sum()
    scores = (drawn * turned)[:, pair]
    assert scores.mean() == pytest.approx(expected, abs=4 * scores.std() / np.sqrt(scores.size))


@pytest.mark.parametrize(
    "runs", [pytest.param(50, marks=pytest.mark.verify), pytest.param(400, marks=pytest.mark.evidence)]
)
@pytest.mark.parametrize("make", [lambda: rated(rng(7), sd_favour=0.3), lambda: voted(rng(8), 200)])
def test_statements_hold_at_their_level(make, runs):
    found = list(fits.contrasts(make(), SimulationPlan(runs), others=True))
    false = value(found, "null_rejection", test="contrast", people="sampled")
    cover, power = (value(found, f"interval_{what}", of="contrast") for what in ("coverage", "power"))
    assert (false["n"] >= 50, cover["n"] >= 50, false["n_undefined"]) == (True, True, 0)
    assert false["estimate"] < 0.05 + monte_carlo(0.05, false["n"])
    assert cover["estimate"] > 0.95 - monte_carlo(0.95, cover["n"])
    assert power["estimate"] == pytest.approx(0.8, abs=monte_carlo(0.8, power["n"]) + 0.05)


def test_judgements_without_variation_have_no_rows():
    assert not list(fits.contrasts(rated(rng(9)).assign(score=3.0), SimulationPlan(50), others=True))
