"""Correlations between raters by each definition: by hand, against the bootstrap, and the printed values."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import rated_items as rated_with
from scipy import stats

from judgebook.published import verdicts
from judgebook.questions.metrics import rater_correlation
from judgebook.sources.build import build
from judgebook.study import params
from judgebook.study.results import collect, fold


def rated(scores, **columns):
    return rated_with(scores, dialogue_b=None, **columns)


def correlated(annotations):
    return collect(rater_correlation.rater_correlations(annotations))["annotator_correlation"]


VALUES = np.array([[1.0, 2, 5], [2, 2, 3], [4, 3, np.nan], [5, 1, 4], [3, 5, 5]])


def rho(pairs):
    kept = [(x[np.isfinite(x) & np.isfinite(y)], y[np.isfinite(x) & np.isfinite(y)]) for x, y in pairs]
    return np.mean([stats.spearmanr(x, y).statistic for x, y in kept])


def mean_correlation(pairs, clusters):
    return rater_correlation.mean_correlation([rater_correlation.on_common_items(x, y) for x, y in pairs], clusters)


def value(comparison, positions=None):
    pairs = rater_correlation.compared(VALUES, comparison, positions)
    found = mean_correlation(pairs, np.arange(len(VALUES)))
    return found["estimate"], rho(pairs)


def test_each_definition_written_out():
    a, b, c = VALUES.T
    mean = np.nanmean(VALUES, axis=1)
    # farthest from the mean: 5 of (1, 2, 5); 3 of (2, 2, 3); of (4, 3) the first; 1 of (5, 1, 4); 3 of (3, 5, 5)
    left = np.array([[1, 2, np.nan], [2, 2, np.nan], [np.nan, 3, np.nan], [5, np.nan, 4], [np.nan, 5, 5]])
    trimmed = np.array([1.5, 2, 3, 4.5, 5])
    expected = {
        "position_pairs": rho([(a, b), (a, c), (b, c)]),
        "position_mean": rho([(x, mean) for x in (a, b, c)]),
        "position_rest": rho(
            [
                (a, np.array([3.5, 2.5, 3, 2.5, 5])),
                (b, np.array([3, 2.5, 4, 4.5, 4])),
                (c, np.array([1.5, 2, np.nan, 3, 4])),
            ]
        ),
        "position_trimmed_mean": rho([(x, trimmed) for x in left.T[:2]]),  # the third has two items left
    }
    for comparison, wanted in expected.items():
        assert value(comparison)[0] == pytest.approx(wanted), comparison
    assert value("position_mean", positions=2)[0] == pytest.approx(rho([(a, mean), (b, mean)]))
    with pytest.raises(ValueError, match="comparison: expected one of position_pairs"):
        rater_correlation.compared(VALUES, "pairs")


def test_people_are_compared_when_they_share_enough_items():
    values = np.full((45, 3), np.nan)
    values[:20, :2], values[20:39, 1:] = np.arange(40).reshape(20, 2), 1.0
    item, who = np.nonzero(np.isfinite(values))
    people = pd.DataFrame({"dialogue": item.astype(str), "turn": pd.NA, "annotator": who, "score": values[item, who]})
    ((both, one, other),) = rater_correlation.of_two_people(people)
    np.testing.assert_array_equal(np.stack([one, other], axis=1), values[both, :2])
    assert len(rater_correlation.compared(values, "position_pairs")) == 2


def test_interval_is_about_that_of_the_bootstrap():
    rng = np.random.default_rng(1)
    shared = np.repeat(rng.normal(size=60), 3)
    values = np.rint(2 * shared[:, None] + 2 * rng.normal(size=(180, 3)))
    clusters = np.arange(180) // 3
    pairs = rater_correlation.compared(values, "position_pairs")
    found = mean_correlation(pairs, clusters)

    def mean(index):
        at = (3 * index[:, None] + np.arange(3)).ravel()
        return rho([(x[at], y[at]) for x, y in pairs])

    reference = stats.bootstrap((np.arange(60),), mean, n_resamples=500, method="BCa", vectorized=False, rng=rng)
    assert found["estimate"] == pytest.approx(rho(pairs))
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(tuple(reference.confidence_interval), abs=0.03)
    assert (found["ci_kind"], found["n"], found["n_clusters"]) == ("cluster_robust", 180, 60)


def test_a_mean_that_contains_the_rating_correlates_without_any_agreement():
    noise = np.random.default_rng(2).integers(1, 6, size=(400, 3)).astype(float)
    rows = correlated(rated(noise, annotator_known=False))
    found = rows.set_index("comparison")["estimate"]
    assert abs(found["position_pairs"]) < 0.1
    assert found["position_mean"] > 0.5
    assert "annotator_pairs" not in found
    pairs = rater_correlation.compared(noise, "position_pairs")
    assert found["position_pairs"] == pytest.approx(rho(pairs))
    of_people = correlated(rated(noise)).set_index("comparison")["estimate"]["annotator_pairs"]
    assert of_people == pytest.approx(rho(pairs))  # every position is one person
    assert len(fold(collect(rows.assign(statistic="annotator_correlation")), study="x", notebook="09")) == 4


def test_what_cannot_be_computed_has_a_reason():
    alone = correlated(rated(np.array([[1.0], [2], [3]])))
    assert alone.empty
    assert list(rater_correlation.extremes(alone)) == []
    constant = correlated(rated(np.full((30, 2), 3.0)))
    assert constant["estimate"].isna().all()
    assert constant["note"].notna().all()
    assert list(rater_correlation.extremes(constant)) == []


def test_lowest_and_highest_over_labels():
    noise = np.random.default_rng(3).integers(1, 6, size=(60, 2)).astype(float)
    good = np.repeat(np.arange(60.0)[:, None], 2, axis=1) + noise
    frames = [rated(v, label=label) for label, v in (("a", noise), ("b", good), ("c", -noise))]
    found = collect(rater_correlation.extremes(correlated(pd.concat(frames)), ["dialogue_rating:c"]))
    pairs = found.select("annotator_correlation", comparison="position_pairs")
    assert pairs["note"].tolist() == ["a", "b"]
    assert pairs["n"].tolist() == [2, 2]
    assert pairs["summary"].tolist() == ["lowest", "highest"]


@pytest.mark.evidence
@pytest.mark.data
@pytest.mark.parametrize("study", ["usr", "grade", "fed"])
def test_printed_agreement_of_zhang_et_al_2022(raw_data, study):
    """Eleven of twelve of USR by rule; two of three of GRADE by a definition found by searching; FED is approximate."""
    spec = params.load(study)
    rows = correlated(build(spec).frames["annotations"])
    extremes = rater_correlation.extremes(rows, spec.metrics.range_without)
    results = collect(rows.assign(statistic="annotator_correlation"), extremes)
    cells = verdicts.beside(results, study, "09_metric_correlation")
    verdict = cells.set_index(["row", "column"])["verdict"]
    pairs = results.select("annotator_correlation", comparison="position_pairs")
    if study == "usr":
        assert verdict[verdict != "match"].to_dict() == {("persona_usr", "interesting"): "differs"}
        assert len(verdict) == 12
    elif study == "grade":
        assert verdict.to_dict() == {
            ("empathetic_grade", "coherence"): "differs",
            ("dailydialog_grade", "coherence"): "match_fitted",
            ("convai2_grade", "coherence"): "match_fitted",
        }
        assert pairs.loc[pairs["summary"].isna(), "estimate"].between(0.03, 0.14).all()  # what raters have in common
        assert cells["note"].str.contains("first eight p", case=False).all()
    else:
        assert cells["here"].to_numpy() == pytest.approx(cells["value"].to_numpy(), abs=0.03)
        assert verdict.tolist() == ["differs"] * 2
