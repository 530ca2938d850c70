"""Verdicts and printed cells of Ji et al. 2022 from raw files."""

import pytest
from questions.quality_control.test_analysis import published, same_as_kernels

from compendium.published import verdicts
from judgebook.questions.quality_control import analysis, worker_summary, worker_tests
from judgebook.sources.build import build
from judgebook.statistics import Sampling
from judgebook.study import params
from judgebook.study.results import collect

FEW = Sampling(n_resamples=100, confidence=0.95, seed=1)


@pytest.fixture(scope="module")
def ji(raw_data):
    """The public study: frames, crowd and result rows (few resamples: intervals are not looked at)."""
    study = params.load("ji2022")
    frames, control = build(study).frames, study.control_system
    ratings, facts = worker_tests.ratings(frames["annotations"], study.label_list(), control), frames["dialogue_facts"]
    people = worker_tests.crowd(ratings, facts, study.quality_control, control=control, systems=list(study.systems))
    units = worker_summary.work_units(frames["work_units"], people.scores)
    sizes, pairs = analysis.text_lengths(people, frames["dialogues"]), worker_summary.pairs(people, facts)
    results = analysis.analyse(people, facts, units, sizes, pairs, permute_seed=1, sampling=FEW)
    judged = worker_tests.of_the_method(frames["annotations"], control)
    return people, published(people, judged, study.label_list(), study), results


@pytest.mark.evidence
@pytest.mark.data
def test_the_rule_gives_the_released_verdicts(ji):
    people, found, _ = ji
    same_as_kernels(found, people)
    by_run = people.workers.groupby("corpus")
    assert by_run["passed"].sum().to_dict() == {"free_run1": 173, "free_run2": 138, "ice_breaker": 169}
    assert (people.workers["passed"] == people.workers["released"]).all()
    other = (people.workers["passed"] != people.workers["fitted"]).groupby(people.workers["corpus"]).sum()
    assert other.to_dict() == {"free_run1": 0, "free_run2": 3, "ice_breaker": 2}


EXPECTED = {
    ("Table 1", "workers"): {"match": 4, "match_fitted": 5},
    ("Table 1", "ave_duration"): {"match": 9},
    ("Table 1", "dialogues"): {"match": 4, "match_fitted": 3, "differs": 2},
    ("Table 2", "free_run_1"): {"match": 5, "differs": 1},
    ("Table 2", "free_run_2"): {"match": 5, "differs": 1},
    ("Table 3", "free_run_1"): {"match": 90},
    ("Table 3", "free_run_1_vs_free_run_2"): {"match_fitted": 8},
    ("Table 4", "ice_breaker"): {"match": 18, "match_fitted": 66, "differs": 6},
    ("Table 4", "ice_breaker_vs_free_run_1"): {"match_fitted": 8},
    ("Table 7", "pearson"): {"match": 28},
    ("Table 7", "spearman"): {"match": 28},
    ("Table 8", "free_run_2"): {"match": 16, "match_fitted": 67, "differs": 7},
    ("Table 8", "free_run_1_vs_free_run_2"): {"match_fitted": 8},
    ("Table 9", "free_run_1"): {"match": 90},
    ("Table 9", "free_run_2"): {"match": 18, "match_fitted": 72},
    ("Table 9", "free_run_1_vs_free_run_2"): {"match_fitted": 8},
    ("Table 10", "ice_breaker"): {"match": 18, "match_fitted": 72},
    ("Table 10", "ice_breaker_vs_free_run_1"): {"match_fitted": 8},
    ("Table 11", "characters"): {"match": 2, "match_fitted": 2},
    ("Table 11", "words"): {"match": 2, "match_fitted": 2},
    ("Text 3.2", "design"): {"match": 3},
    ("Text 4.1", "agreement"): {"match_fitted": 2, "differs": 1},
    ("Text 4.2", "significance"): {"match": 1, "differs": 1},
    ("Text A.2", "cost"): {"match": 1, "differs": 2},
}


@pytest.mark.evidence
@pytest.mark.data
def test_printed_cells_come_out_of_the_raw_files(ji):
    cells = verdicts.beside(collect(*ji[1:]), "ji2022", "10_quality_control")
    here = cells.groupby(["element", "panel"])["verdict"].value_counts()
    assert {place: here[place].to_dict() for place in EXPECTED} == EXPECTED
