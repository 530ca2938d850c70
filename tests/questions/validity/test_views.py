"""What notebooks 04 and 06 show follows from their results, odd cases included."""

import numpy as np
import pytest
from fixtures.session_study import SYSTEMS, annotate, chats
from scipy.stats import norm

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.display.names import DisplayNames
from judgebook.questions.validity import analysis, figures, findings, label_selection, library_check, reach, targets
from judgebook.questions.validity.question import Coverage, LabelSelection
from judgebook.statistics import Sampling
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import Results, collect

SAMPLING = Sampling(n_resamples=200, confidence=0.95, seed=1)
LABELS = {(x.method, x.id): x for x in LABEL_SETS["abc_eval"]}
METHODS = {"behavior": "ABC-Eval behaviour", "turn_likert": "Turn Likert", "dialogue_likert": "Dialogue Likert"}
METHODS["comparative"] = "Comparative"
NAMES = DisplayNames(LABELS, {"method": METHODS, "group": {}, "system": {s: s.upper() for s in SYSTEMS}})
OPTIONS = Coverage(n_halves=10, n_folds=3, n_repeats=1, n_permutations=10)


@pytest.fixture(scope="module")
def found():
    annotations, talked = annotate(np.random.default_rng(11), n_interactors=20, per_interactor=4, effect=0.6)
    return targets.find(annotations, chats(talked), label="quality", pick_seed=1)


@pytest.fixture(scope="module")
def importance(found):
    return analysis.analyse_importance(found, SAMPLING)


@pytest.fixture(scope="module")
def covered(found, importance):
    sampling = Sampling(n_resamples=10_000, confidence=0.95, seed=1)
    return analysis.analyse_coverage(
        found, [importance], LABELS.values(), options=OPTIONS, thresholds=LabelSelection(), sampling=sampling
    )


def replaced(results, statistic, **values):
    return Results(results | {statistic: results[statistic].assign(**values)})


def texts(results):
    return "\n\n".join(p.text for p in findings.importance(results, NAMES, confidence=0.95))


def test_nothing_related_is_reported_as_nothing(importance):
    flat = replaced(importance, "r", estimate=0.01, ci_low=-0.2, ci_high=0.2)
    assert texts(flat).startswith("**None of 3 labels are related to dialogue quality")
    gone = replaced(flat, "r", estimate=np.nan, ci_low=np.nan, ci_high=np.nan, note="the same value throughout")
    assert "No correlation with dialogue quality can be computed" in texts(gone)
    assert figures.correlations(gone, NAMES, DIALOGUE_QUALITY) is None


def test_intervals_are_compared_with_the_truth():
    labels, r = ["ignore", "redundant", "empathetic", "life_info"], [-0.3, 0.0, 0.25, 0.0]
    truth = [{"method": "behavior", "label": label, "r": v} for label, v in zip(labels, r, strict=True)]
    truth.append({"method": "comparative", "label": "quality", "r": None})
    values = zip(labels, [-0.2, 0.02, -0.3, 0.2], [-0.35, -0.1, -0.4, 0.1], [-0.1, 0.1, -0.1, 0.3], strict=True)
    base = {"statistic": "r", "method": "behavior", "target": DIALOGUE_QUALITY, "ci_kind": "jackknife_t"}
    rows = [base | {"label": x, "estimate": e, "ci_low": low, "ci_high": high} for x, e, low, high in values]
    others = [row | change for row in rows for change in ({"kind": "bca"}, {"target": COMPARATIVE_QUALITY})]
    text = findings.against_truth(collect(rows + others), {"quality": truth}, confidence=0.95).text
    assert "2 of 4 CIs of r with dialogue quality contain the true correlation (3.8 expected)" in text
    assert "Of 2 labels unrelated to quality, 1 has a CI that excludes 0" in text
    assert "of 2 labels with a true |r| of at least 0.2, 1 has one" in text  # the other has the wrong sign
    assert findings.against_truth(Results(), {"quality": truth}, confidence=0.95).text == ""


def said(results, selected):
    applied = label_selection.limits(LabelSelection())
    return "\n\n".join(p.text for p in findings.coverage(results, selected, NAMES, applied))


def compared(low, high):
    """Results of two methods on the same rows, and the interval of the difference between their fits."""
    fits = [("behavior", 0.4, 0.3, 0.5), ("dialogue_likert", 0.1, -0.05, 0.2)]
    base = {"target": DIALOGUE_QUALITY, "k": 2, "n": 105, "n_clusters": 54, "level": "dialogue"}
    rows = []
    for method, fit, a, b in fits:
        row = base | {"statistic": "r2", "method": method, "resample_unit": "session"}
        rows += [row | {"kind": k, "estimate": v} for k, v in (("common", fit + 0.1), ("permuted_mean", 0.02))]
        rows += [row | {"kind": "permuted_p95", "estimate": 0.05}]
        rows += [row | {"kind": "cross_validated", "estimate": fit, "ci_low": a, "ci_high": b}]
    difference = {"statistic": "fit_difference", "method": "behavior", "other": "dialogue_likert"}
    difference |= {"kind": "cross_validated", "estimate": (low + high) / 2, "ci_low": low, "ci_high": high}
    return collect([*rows, base | difference])


def test_a_method_is_ahead_only_where_the_difference_is_shown(covered):
    _, selected = covered
    ahead, level = compared(0.1, 0.5), compared(-0.1, 0.7)
    assert "**Dialogue quality: ABC-Eval behaviour explains more than any other method**" in said(ahead, selected)
    assert "**Dialogue quality: no method is shown to explain more than the others**" in said(level, selected)


def test_fits_are_checked_against_statsmodels(found, importance, covered):
    for compared_fits in (
        library_check.single_labels(found, importance),
        library_check.stepwise(found, covered[0], ["quality"]),
    ):
        assert len(compared_fits) >= 4
        assert (compared_fits["ours"] - compared_fits["theirs"]).abs().max() < 1e-7


def test_the_correlation_that_is_found_in_80_percent():
    power = pytest.approx(0.8, abs=0.005)
    z = np.arctanh(reach.detectable(105)) * np.sqrt(102)
    assert norm.sf(1.96 - z) + norm.cdf(-1.96 - z) == power
