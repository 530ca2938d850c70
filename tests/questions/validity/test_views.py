"""What notebooks 04 and 06 show follows from their results, odd cases included."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fixtures.session_study import SYSTEMS, annotate, chats
from scipy.stats import norm

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.display.names import DisplayNames
from judgebook.published import verdicts
from judgebook.questions.validity import (
    analysis,
    figures,
    findings,
    label_selection,
    library_check,
    reach,
    tables,
    targets,
)
from judgebook.questions.validity.question import Coverage, LabelSelection
from judgebook.statistics import Sampling
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import Results, collect, fold, unfold
from judgebook.study.schema import ITEM

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


def only(results, target):
    return Results({s: f[f["target"] == target] if "target" in f else f for s, f in results.items()})


def texts(results):
    return "\n\n".join(p.text for p in findings.importance(results, NAMES, confidence=0.95))


def test_results_are_stored_and_read_back(importance, covered):
    for results in (importance, covered[0]):
        stored = fold(results, study="t", notebook="n")
        again = unfold(stored)
        assert {s: len(f) for s, f in again.items()} == {s: len(f) for s, f in results.items()}
        assert set(stored["corpus"]) == {"main"}
        assert set(stored["group"]) == {"ext"}


def test_the_headline_counts_labels_whose_interval_excludes_0(importance):
    rows = analysis.correlations(importance, DIALOGUE_QUALITY)
    assert len(rows) == 3
    n = int(analysis.excludes_zero(rows).sum())
    headline, first = texts(importance).split("\n\n")[:2]
    assert headline.startswith(f"**{n} of 3 labels are related to dialogue quality and ")
    assert "related to comparative quality**" in headline
    assert "0.2 expected by chance" in first  # 5% of three
    assert "160 dialogues of 20 interactors" in first
    best = rows.loc[rows["estimate"].abs().idxmax()]
    assert f"{abs(best['estimate']):.2f}" in first


def test_whom_statements_hold_for_is_said_and_nobody_unknown_makes_them_more_certain(found, importance):
    """Of the same judgements, without who made them: the same intervals, and one clause more."""
    said = findings.population(found, importance).text
    assert said.startswith("CIs are over the people who talked.")
    assert said.endswith("so statements hold for the annotators of this study only.")
    annotations, talked = annotate(np.random.default_rng(11), n_interactors=20, per_interactor=4, effect=0.6)
    ext = annotations["group"] == "ext"
    hidden = annotations.assign(annotator_known=~ext)
    hidden.loc[ext, "annotator"] = "pos" + hidden[ext].groupby([*ITEM], dropna=False).cumcount().astype(str)
    mean = {"label": "quality", "pick_seed": 1, "predictor_value": "mean"}  # of which no annotation is picked
    unknown, known = (targets.find(one, chats(talked), **mean) for one in (hidden, annotations))
    less, more = (analysis.analyse_importance(t, SAMPLING) for t in (unknown, known))
    assert "so statements hold for the annotators of this study only; the data do not identify" in (
        findings.population(unknown, less).text
    )
    ends = ["estimate", "ci_low", "ci_high"]
    np.testing.assert_allclose(less["r"][ends], more["r"][ends], atol=1e-12)
    alone = targets.find(annotations, chats(talked).assign(interactor=None), label="quality", quality_label="quality",
                         quality_group="own", pick_seed=1)  # fmt: skip
    sessions = analysis.analyse_importance(alone, SAMPLING)
    assert "statements hold for the people of this study only, who talked or judged." in (
        findings.population(alone, sessions).text
    )


def test_a_label_that_predicts_itself_is_not_counted(importance):
    rows = analysis.correlations(importance, DIALOGUE_QUALITY)
    label = rows.loc[rows["estimate"].abs().idxmax(), "label"]
    n = int(analysis.excludes_zero(rows[rows["label"] != label]).sum())
    said = "\n\n".join(p.text for p in findings.importance(importance, NAMES, confidence=0.95, itself=label))
    assert f"{n if n else 'None'} of {int((rows['label'] != label).sum())} labels" in said
    assert "Not counted, because the label that is predicted, judged by others, shows agreement" in said


def test_nothing_related_is_reported_as_nothing(importance):
    flat = replaced(importance, "r", estimate=0.01, ci_low=-0.2, ci_high=0.2)
    assert texts(flat).startswith("**None of 3 labels are related to dialogue quality")
    assert "Strongest" not in texts(flat)
    unknown = replaced(flat, "r", ci_low=np.nan, ci_high=np.nan)
    assert "No CI is available for any of 3 correlations with dialogue quality" in texts(unknown)
    gone = replaced(unknown, "r", estimate=np.nan, note="the label has the same value throughout")
    assert "No correlation with dialogue quality can be computed" in texts(gone)
    assert findings.reasons(gone, NAMES, DIALOGUE_QUALITY).text.count("same value throughout") == 3
    assert findings.by_method(gone, NAMES, DIALOGUE_QUALITY).text == ""
    assert figures.correlations(gone, NAMES, DIALOGUE_QUALITY) is None


def test_methods_are_summarised_where_they_predict(importance):
    text = findings.by_method(importance, NAMES, DIALOGUE_QUALITY).text
    assert text.count("\n- ") == 2
    assert "Comparative" not in text
    assert "Comparative" in findings.by_method(importance, NAMES, COMPARATIVE_QUALITY).text


def test_tables_have_each_label_once(importance):
    table = tables.correlations(importance, NAMES, DIALOGUE_QUALITY, 0.95).frame
    assert table["Label"].tolist() == ["Redundant", "Ignore", "Quality"]
    assert {"r", "BCa CI", "Rank", "Reliability"} <= set(table)
    logits = tables.fits(importance, NAMES, COMPARATIVE_QUALITY).frame
    assert len(logits) == 4
    assert "R²" not in logits  # McFadden's is another statistic
    assert logits["p"].str.match(r"^(< 0\.001|[01]\.\d{3})$").all()


def test_a_correction_needs_a_reliability_above_0(importance):
    unreliable = replaced(importance, "corrected_r", estimate=np.nan, ci_low=np.nan, ci_high=np.nan)
    assert analysis.corrected(unreliable, DIALOGUE_QUALITY).empty
    assert "Corrected r" not in tables.correlations(unreliable, NAMES, DIALOGUE_QUALITY, 0.95).frame
    assert "Measurement error" not in texts(unreliable)
    reliable = replaced(importance, "corrected_r", estimate=0.1)
    assert len(analysis.corrected(reliable, DIALOGUE_QUALITY)) == 3


def test_the_two_targets_have_axes_of_their_own(importance, covered):
    labels = [ax.get_xlabel() for ax in figures.fits(importance, NAMES).fig.axes]
    assert labels == [figures.AXES[DIALOGUE_QUALITY], figures.AXES[COMPARATIVE_QUALITY]]
    assert len(figures.fits(only(importance, DIALOGUE_QUALITY), NAMES).fig.axes) == 1
    low, high = figures.correlations(importance, NAMES, DIALOGUE_QUALITY).fig.axes[0].get_xlim()
    assert low == -high
    results, _ = covered
    assert len(figures.paths(results, NAMES).fig.axes) == 2
    assert len(figures.paths(only(results, DIALOGUE_QUALITY), NAMES).fig.axes) == 1
    said = {ax.get_ylabel().replace("\n", " ") for ax in figures.compared(results, NAMES).fig.axes}
    assert said - {""} == set(figures.AXES.values())


def test_a_halo_is_reported_where_one_annotator_gave_all_labels(importance):
    # one annotator marks both behaviours of a dialogue; the ratings have one label
    assert "ABC-Eval behaviour (100% of cases" in texts(importance)
    rows = [
        {"statistic": s, "method": m, "estimate": v}
        for m, share, r in (("dialogue_likert", 1.0, 0.45), ("behavior", 0.0, 0.07))
        for s, v in (("single_source_share", share), ("label_intercorrelation", r))
    ]
    text = texts(collect(rows))
    assert "Dialogue Likert (100% of cases; mean |r| between labels 0.45)" in text
    assert "0.07 (ABC-Eval behaviour)" in text
    apart = collect([row | {"estimate": 0.1} for row in rows])
    assert "One annotator" not in texts(apart)


@pytest.mark.parametrize(("n", "verdict"), [(184.0, "match"), (183.0, "differs")])
def test_the_printed_number_of_pairs_is_compared(n, verdict):
    results = collect([{"statistic": "count", "what": COMPARATIVE_QUALITY, "estimate": n}])
    cells = verdicts.beside(results, "abc_eval", "04_importance")
    assert cells[["printed", "verdict"]].to_numpy().tolist() == [["184", verdict]]


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


def test_paths_and_best_subsets_are_those_of_the_results(covered):
    results, _ = covered
    path = analysis.path(results, DIALOGUE_QUALITY)
    assert path["method"].unique().tolist() == ["behavior"]  # the only label of the ratings is quality
    assert path["k"].tolist() == [1, 2]
    assert (path["best"] >= path["fit"] - 1e-12).all()
    best = analysis.chosen(results, DIALOGUE_QUALITY)
    assert best["k"].tolist() == [len(labels) for labels in best["labels"]]
    table = next(tables.models(results, NAMES)).frame
    assert table["Same by path"].tolist() == [True]
    assert "no label that varies, other than those excluded" in findings.excluded(results, NAMES).text


def test_methods_are_compared_by_cross_validation(covered):
    results, selected = covered
    text = said(results, selected)
    rows = results.select("r2", target=DIALOGUE_QUALITY, kind="cross_validated").set_index("k")
    assert f"R² {rows['estimate'][2]:.2f}".replace("-", "−") in text
    held_out = results["r2"]["kind"] == "cross_validated"
    worse = replaced(results, "r2", estimate=results["r2"]["estimate"].where(~held_out, -0.1))
    assert "**Dialogue quality: no method predicts it better than the mean does**" in said(worse, selected)
    none = Results({s: f[f["kind"] == "excluded"] for s, f in results.items() if "kind" in f})
    assert "Methods cannot be compared" in said(none, selected)


def said(results, selected):
    applied = label_selection.limits(LabelSelection())
    return "\n\n".join(p.text for p in findings.coverage(results, selected, NAMES, applied))


def test_what_the_paper_says_in_words_is_compared(covered):
    results, _ = covered
    share = results.select("selection_frequency", method="behavior", target=DIALOGUE_QUALITY)
    share = share.set_index("label")["estimate"]
    assert len(share) == 2
    one, other = share.index
    text = findings.paper_in_words(results, NAMES, [one]).text
    least = f"{NAMES.name('label', one, 'behavior')}, {100 * share[one]:.0f}%)"
    assert f"{100 * share[one]:.0f}% (lowest: {least}" in text
    assert f"{100 * share[other]:.0f}% for the other behaviours" in text
    assert "other behaviours" not in findings.paper_in_words(results, NAMES, [one, other]).text
    assert findings.paper_in_words(results, NAMES, ["unheard_of"]).text == ""


def test_what_is_kept_is_reported_with_its_thresholds():
    values = pd.DataFrame({"method": "behavior", "label": ["ignore", "redundant"], "agreement": [0.5, 0.3],
                           "importance": [0.2, 0.0], "sensitivity": [2.0, 0.0], "distinctness": [0.9, np.nan],
                           "cost": np.nan})  # fmt: skip
    thresholds = LabelSelection()
    selected, applied = label_selection.select(values, thresholds), label_selection.limits(thresholds)
    text = said(Results(), selected)
    assert "**1 of 2 labels reaches every threshold for keeping a label**" in text
    assert "alpha of at least 0.40" in text
    assert "Ignore (ABC-Eval behaviour)." in text
    assert "**None of 2 labels reach every threshold for keeping a label**" in said(
        Results(), selected.assign(kept=False)
    )
    free = LabelSelection(min_alpha=None, excludes_zero=False, min_pairs=None, min_selected=None)
    open_to_all = label_selection.select(values, free)
    found = findings.coverage(Results(), open_to_all, NAMES, label_selection.limits(free))
    assert any("none is set" in prose.text for prose in found)
    table = tables.kept(collect(label_selection.rows(selected, applied)), NAMES).frame
    assert table[["Labels", "All", "Agreement"]].to_numpy().tolist() == [[2, 1, 1]]
    assert tables.criteria(selected, NAMES).frame["Kept"].tolist() == [False, True]
    ax = figures.selection(selected, NAMES, applied).fig.axes[0]
    cells = [t.get_text() for t in ax.texts]
    assert cells.count("kept") == 1
    assert "Agreement\n≥ 0.4" in [t.get_text() for t in ax.get_xticklabels()]


def test_a_value_rounded_onto_its_threshold_shows_on_which_side_it_is():
    assert figures._value(0.396, "agreement", 0.4) == "0.396"
    assert figures._value(0.401, "agreement", 0.4) == "0.40"
    assert figures._value(np.nan, "agreement", 0.4) == "–"


def test_monte_carlo_error_follows_from_the_binomial():
    text = findings.precision(100, 100).text
    assert "±10 percentage points" in text  # 1.96 sqrt(.25 / 100)
    assert "91% and 99%" in text  # .95 -+ 1.96 sqrt(.95 .05 / 100)


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
    text = said(level, selected)
    assert "**Dialogue quality: no method is shown to explain more than the others**" in text
    assert "(highest: ABC-Eval behaviour, cross-validated R² 0.40 [0.30, 0.50] with 2 labels)" in text
    assert "for sessions left out" in text
    figure = figures.compared(level, NAMES)
    assert "Points: fit on sessions left out" in figure.caption
    assert len(figure.fig.axes[0].collections) == 2  # the band of shuffled targets, and the intervals


def test_fits_are_checked_against_statsmodels(found, importance, covered):
    for compared_fits in (
        library_check.single_labels(found, importance),
        library_check.stepwise(found, covered[0], ["quality"]),
    ):
        assert len(compared_fits) >= 4
        assert (compared_fits["ours"] - compared_fits["theirs"]).abs().max() < 1e-7
        moved = compared_fits.assign(ours=compared_fits["ours"] + 0.01)
        assert "differ from ours by at most 1e-02" in findings.checked(moved).text
    assert findings.checked(compared_fits.iloc[:0]).text == ""


def test_a_study_with_less_than_the_paper_says_what_it_cannot_say(found, importance, covered):
    text = reach.reach(found, importance, NAMES, "abc_eval", "7.3").text
    assert "2 of the paper's 16 labels are here" in text
    assert "none of the paper's 8 labels are here, so that nothing is said of this method" in text
    assert "The paper predicts ratings and choices by the people who talked" not in text  # so does this study
    outside = replace(found, external="others", rated_by=("ext",), shared=("dialogue_likert",))
    text = reach.reach(outside, compared(-0.1, 0.7), NAMES, "abc_eval", "7.4").text
    assert "It can neither confirm nor refute the paper's claim" in text
    assert "another question" in text
    assert "Dialogue Likert: these predictors come from the same group of people" in text
    assert "neither is shown to lead" in text
    # a difference that is decided is listed as well, with what may explain a lead of labels like the target
    text = reach.reach(outside, compared(0.1, 0.7), NAMES, "abc_eval", "7.4").text
    assert "neither is shown" not in text
    assert "(simultaneous CI): ABC-Eval behaviour leads." in text
    text = reach.reach(outside, compared(-0.7, -0.1), NAMES, "abc_eval", "7.4").text
    assert "Dialogue Likert leads, which the people and form that it shares with what is predicted may explain." in text
    assert reach.reach(outside, importance, NAMES, None, "7.4").text == ""


def test_the_correlation_that_is_found_in_80_percent():
    power = pytest.approx(0.8, abs=0.005)
    z = np.arctanh(reach.detectable(105)) * np.sqrt(102)
    assert norm.sf(1.96 - z) + norm.cdf(-1.96 - z) == power


def test_a_check_loads_two_models_and_not_all_of_statsmodels():
    check = "from judgebook.questions.validity import library_check as c\nimport numpy as np, sys\n"
    check += "x = np.random.default_rng(1).normal(size=(20, 1))\n[c._row(0.5, x, x[:, 0] > 0, f) for f in c.FITS]\n"
    run = [sys.executable, "-c", check + "print('statsmodels.api' in sys.modules)"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run(run, env=env, capture_output=True, text=True, check=True).stdout.strip() == "False"
