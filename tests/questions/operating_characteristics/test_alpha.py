"""Coverage of intervals of alpha in samples of dialogues; and what notebook 80 says."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures import session_study as sessions
from fixtures.judged_twice import annotate
from fixtures.made_annotations import monte_carlo
from fixtures.rated_systems import rng, value

from compendium.simulation.model import measures
from judgebook.questions.agreement.coincidences import patterns
from judgebook.questions.operating_characteristics import analysis, views
from judgebook.questions.operating_characteristics.analysis import SimulationPlan, mean, share
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.statistics.intervals import exact_binomial
from judgebook.study.labels import LABEL_SETS, Label
from judgebook.study.results import collect
from judgebook.study.schema import ITEM
from judgebook.study.sections.data import Simulate

SPEC = Simulate(system_differences=0.0)


def test_rows_of_shares_and_means_by_hand():
    row = share("null_rejection", np.r_[np.ones(3), np.zeros(57), np.nan])
    assert (row["estimate"], row["n"], row["ci_low"], row["ci_high"]) == (0.05, 60, *exact_binomial(3, 60))
    assert row["n_undefined"] == 1
    assert np.isnan(share("x", np.array([np.nan]))["estimate"])
    row = mean("bias", np.array([1.0, 2.0, 6.0]))
    half = 1.96 * np.sqrt(7.0 / 3)
    assert (row["estimate"], row["ci_low"], row["ci_high"]) == pytest.approx((3, 3 - half, 3 + half))
    assert mean("bias", np.array([1.0, np.nan]))["note"] == "no run gave an interval"


def test_a_sample_has_the_patterns_of_its_items():
    scores = np.array([[1, 1], [1, 2], [2, 2], [1, 2], [np.nan, 1]])
    drawn = np.array([0, 3, 3, 2])
    found, expected = analysis.sample(patterns(scores), drawn), patterns(scores[drawn])
    assert sorted(zip(found.counts.tolist(), found.weights.tolist(), strict=True)) == sorted(
        zip(expected.counts.tolist(), expected.weights.tolist(), strict=True)
    )
    assert found.counts[found.index].tolist() == expected.counts[expected.index].tolist()


@pytest.mark.evidence
def test_intervals_over_dialogues_hold_alpha_and_those_over_turns_do_not():
    made = annotate(measures(SPEC, "sur_x")["behavior", "empathetic"], 300, SPEC, rng(21))
    label = Label("empathetic", "behavior", "", (0, 1), "ordinal")
    one = analysis.Repeated(label, patterns(made.scores), made.dialogue)
    rows = list(analysis.alpha_coverage(one, SimulationPlan(n_runs=200, n_resamples=500)))
    ours, turns = (value(rows, "interval_coverage", over=over) for over in ("dialogue", "turn"))
    assert abs(ours["estimate"] - 0.95) < monte_carlo(0.95, 1000)
    assert turns["ci_high"] < 0.95
    assert turns["estimate"] < ours["estimate"] - 0.02


def test_what_the_data_do_not_allow_is_left_out():
    annotations, _ = sessions.annotate(rng(31), n_interactors=4, per_interactor=2)
    people = annotations[(annotations["group"] == "ext") & (annotations["method"] == "behavior")]
    options = {"first": 2, "confidence": 0.95, "seed": 1}
    data = list(LABEL_SETS["abc_eval"]), Operating.model_construct(n_runs=50, n_resamples=200, labels=2)
    found = analysis.analyse(people, *data, **options)
    assert set(found["interval_coverage"]["of"]) <= {"alpha", "contrast"}
    with pytest.raises(ValueError, match="no item was judged twice"):
        analysis.analyse(people.drop_duplicates(ITEM), *data, **options)


def test_a_rate_is_kept_where_its_interval_includes_the_nominal_one_or_lies_on_the_better_side():
    row = {"level": "dialogue", "method": "dialogue_likert", "label": "x", "n": 100, "estimate": 0.5}
    ends = [("null_rejection", 0.06, 0.07), ("null_rejection", 0.01, 0.02), ("interval_coverage", 0.96, 0.99),
            ("interval_coverage", 0.90, 0.94), ("interval_power", 0.7, 0.81)]  # fmt: skip
    rows = [row | {"statistic": s, "ci_low": low, "ci_high": high} for s, low, high in ends]
    rows[2:] = [r | {"of": "contrast"} for r in rows[2:]]
    found = views.of_fits(collect(rows), SimpleNamespace(sort=lambda frame: frame), 0.95)
    assert found["kept"].tolist() == [False, True, True, False, True]
    assert views.of_fits(collect([]), SimpleNamespace(sort=pd.DataFrame), 0.95).empty
