"""What notebooks 04 and 06 show follows from their results, odd cases included."""

import numpy as np
import pytest
from fixtures.session_study import annotate, chats
from scipy.stats import norm

from judgebook.questions.validity import analysis, library_check, reach, targets
from judgebook.questions.validity.question import Coverage
from judgebook.statistics import Sampling
from judgebook.study.labels import LABEL_SETS

SAMPLING = Sampling(n_resamples=200, confidence=0.95, seed=1)
LABELS = {(x.method, x.id): x for x in LABEL_SETS["abc_eval"]}
METHODS = {"behavior": "ABC-Eval behaviour", "turn_likert": "Turn Likert", "dialogue_likert": "Dialogue Likert"}
METHODS["comparative"] = "Comparative"
OPTIONS = Coverage(n_halves=10, n_folds=3, n_repeats=1, n_permutations=10)


@pytest.fixture(scope="module")
def found():
    annotations, talked = annotate(np.random.default_rng(11), n_interactors=20, per_interactor=4, effect=0.6)
    return targets.find(annotations, chats(talked), label="quality", pick_seed=1)


@pytest.fixture(scope="module")
def importance(found):
    return analysis.analyse_importance(found, SAMPLING)


def test_fits_are_checked_against_statsmodels(found, importance):
    compared_fits = library_check.single_labels(found, importance)
    assert len(compared_fits) >= 4
    assert (compared_fits["ours"] - compared_fits["theirs"]).abs().max() < 1e-7


def test_the_correlation_that_is_found_in_80_percent():
    power = pytest.approx(0.8, abs=0.005)
    z = np.arctanh(reach.detectable(105)) * np.sqrt(102)
    assert norm.sf(1.96 - z) + norm.cdf(-1.96 - z) == power
