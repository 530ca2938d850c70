"""What the cells of notebook 09 compute: by hand, by scipy, as the kernel computes it, and the printed values."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fixtures.libraries import SCIPY
from fixtures.made_annotations import metric_study
from fixtures.made_annotations import rated_items as rated_with
from fixtures.notebook_cells import as_published
from matplotlib import pyplot
from scipy import stats

from compendium.published import verdicts
from helpers import raters
from judgebook.display.names import DisplayNames
from judgebook.questions.metrics import analysis, correlations, items, text_metrics
from judgebook.sources.build import build
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.results import collect

LABELS = [Label(name, "turn_rating", name.capitalize(), (1, 5)) for name in ("quality", "fluent")]


def computed(annotations, scores, labels=LABELS, range_without=(), changed=None):
    metrics = {m: f"Metric {m}" for m in scores["metric"].unique()}
    titles = {"method": {m: m for m in annotations["method"].unique()}, "metric": metrics}
    names = DisplayNames({(label.method, label.id): label for label in labels}, titles)
    sets = {key: " ".join(key) for key in annotations.groupby(["corpus", "method"]).groups}
    study = SimpleNamespace(metrics=SimpleNamespace(range_without=list(range_without)))
    page = {
        "annotations": annotations,
        "scores": scores,
        "labels": labels,
        "names": names,
        "sets": sets,
        "study": study,
    }
    found = as_published("09_metric_correlation", changed, **page)
    pyplot.close("all")
    return found


def two_sets(missing=0.05):
    """The second has every score reversed."""
    annotations, scores = metric_study(np.random.default_rng(1), n_contexts=30, missing=missing)
    people = pd.concat([annotations.assign(corpus=c) for c in ("main", "other")], ignore_index=True)
    return people, pd.concat([scores, scores.assign(corpus="other", score=-scores["score"])], ignore_index=True)


def agrees_with_the_kernel(found, people, scores, labels):
    joined = items.join(items.human_means(people, labels), scores)
    kernel = collect(correlations.correlations(joined, sampling=Sampling(200, 0.95, 1)))["correlation"]
    keys = ["corpus", "method", "label", "metric"]
    both = found.saved["correlation"].merge(kernel, on=keys, how="outer", suffixes=("", "_kernel"))
    assert len(both) == len(kernel) == len(found.saved["correlation"])
    np.testing.assert_allclose(both["estimate"].astype(float), both["estimate_kernel"], atol=1e-9)
    assert (both["n"] == both["n_kernel"]).all()
    return both


def test_correlations_equal_the_kernel_and_labels_that_are_bad_are_turned_round():
    people, scores = two_sets()
    labels = [Label("quality", "turn_rating", "Q", (1, 5), direction=-1), LABELS[1]]
    both = agrees_with_the_kernel(computed(people, scores, labels), people, scores, labels)
    assert (both["estimate"].abs() > 0.2).any()


def test_averages_over_data_sets_and_labels():
    found = computed(*two_sets())
    each = found.saved["correlation"]
    means = found.saved["mean_correlation"].set_index(["over", "metric"])["estimate"]
    for metric in "mn":
        rows = each[each["metric"] == metric]
        assert means["data set", metric] == pytest.approx(rows.groupby("corpus")["estimate"].mean().mean())
        assert means["all labels", metric] == pytest.approx(rows["estimate"].mean())
    assert found.shown[0].frame.columns.tolist()[-2:] == ["Mean over data sets", "Mean over labels"]


@pytest.mark.parametrize("coefficient", ["spearman", "pearson", "kendall"])
def test_another_coefficient_changes_every_number(coefficient):
    people, scores = two_sets()
    found = computed(people, scores, changed=('"spearman"  # or', f'"{coefficient}"  # or'))
    wide = scores[scores["corpus"] == "main"].pivot_table(index="dialogue", columns="metric", values="score").dropna()
    (row, _) = found.saved["metric_correlation"].to_dict("records")
    assert row["estimate"] == pytest.approx(SCIPY[coefficient](wide["m"], wide["n"]).statistic)
    assert (row["metric"], row["against"], row["coefficient"], row["n"]) == ("m", "n", coefficient, len(wide))
    two = found.saved["annotator_correlation"].query("comparison == 'position_pairs' and summary.isna()")
    fluent = people.query("corpus == 'main' and label == 'fluent'")
    places = fluent.pivot_table(index="dialogue", columns="annotator", values="score")
    a, b, c = places.to_numpy().T
    expected = np.mean([SCIPY[coefficient](x, y).statistic for x, y in ((a, b), (a, c), (b, c))])
    assert two.query("corpus == 'main' and label == 'fluent'")["estimate"].item() == pytest.approx(expected)
    assert coefficient.capitalize() in found.shown[0].caption


VALUES = np.array([[1.0, 2, 5], [2, 2, 3], [4, 3, np.nan], [5, 1, 4], [3, 5, 5]])


def rho(pairs):
    kept = [(x[np.isfinite(x) & np.isfinite(y)], y[np.isfinite(x) & np.isfinite(y)]) for x, y in pairs]
    return np.mean([stats.spearmanr(x, y).statistic for x, y in kept])


def agreement(values, **columns):
    annotations = rated_with(values, dialogue_b=None, **columns)
    scores = annotations.drop_duplicates("dialogue")[["corpus", "dialogue", "turn"]].assign(metric="m", score=1.0)
    scores["score"] += np.arange(len(scores))
    return computed(annotations, scores, [Label("quality", "dialogue_rating", "Quality", (1, 5))])


def test_each_definition_of_agreement_written_out():
    a, b, c = VALUES.T
    mean = np.nanmean(VALUES, axis=1)
    # farthest from the mean: 5 of (1, 2, 5); 3 of (2, 2, 3); of (4, 3) the first; 1 of (5, 1, 4); 3 of (3, 5, 5)
    left = np.array([[1, 2, np.nan], [2, 2, np.nan], [np.nan, 3, np.nan], [5, np.nan, 4], [np.nan, 5, 5]])
    trimmed = np.array([1.5, 2, 3, 4.5, 5])
    others = [(3.5, 2.5, 3, 2.5, 5), (3, 2.5, 4, 4.5, 4), (1.5, 2, np.nan, 3, 4)]
    expected = {
        "position_pairs": rho([(a, b), (a, c), (b, c)]),
        "position_mean": rho([(a, mean), (b, mean)]),  # every item has two places
        "position_rest": rho(zip((a, b, c), map(np.array, others), strict=True)),
        "position_trimmed_mean": rho([(x, trimmed) for x in left.T[:2]]),  # the third has two items left
    }
    found = agreement(VALUES).saved["annotator_correlation"]
    found = found[found["summary"].isna()].set_index("comparison")["estimate"]
    assert found.to_dict() == pytest.approx(expected)


def test_people_are_compared_when_they_share_enough_items():
    values = np.full((45, 3), np.nan)
    values[:20, :2], values[20:39, 1:] = np.arange(40).reshape(20, 2), 1.0
    rows = raters.in_places(rated_with(values, dialogue_b=None))
    both = raters.each_two(rows, "annotator", at_least=20)
    assert both[["annotator_x", "annotator_y"]].drop_duplicates().to_numpy().tolist() == [["A0", "A1"]]
    np.testing.assert_array_equal(both[["rating", "other"]].to_numpy(), values[:20, :2])


def test_a_mean_that_contains_the_rating_correlates_without_any_agreement():
    noise = np.random.default_rng(2).integers(1, 6, size=(400, 3)).astype(float)
    rows = agreement(noise, annotator_known=False).saved["annotator_correlation"]
    found = rows[rows["summary"].isna()].set_index("comparison")["estimate"]
    assert abs(found["position_pairs"]) < 0.1
    assert found["position_mean"] > 0.5
    assert "annotator_pairs" not in found
    people = agreement(noise).saved["annotator_correlation"].set_index("comparison")["estimate"]
    assert people["annotator_pairs"].iloc[0] == pytest.approx(found["position_pairs"])  # every position is one person


def test_lowest_and_highest_over_labels():
    noise = np.random.default_rng(3).integers(1, 6, size=(60, 2)).astype(float)
    good = np.repeat(np.arange(60.0)[:, None], 2, axis=1) + noise
    frames = [rated_with(v, dialogue_b=None, label=label) for label, v in (("a", noise), ("b", good), ("c", -noise))]
    people = pd.concat(frames, ignore_index=True)
    scores = people[["corpus", "dialogue", "turn"]].drop_duplicates().assign(metric="m", score=1.0)
    found = computed(people, scores, [], ["dialogue_rating:c"]).saved["annotator_correlation"]
    pairs = found[found["summary"].notna() & (found["comparison"] == "position_pairs")]
    assert pairs[["summary", "note", "n"]].to_numpy().tolist() == [["lowest", "a", 2], ["highest", "b", 2]]


@pytest.mark.parametrize("odd", ["one rating", "constant ratings", "constant metric", "two items", "one metric"])
def test_what_is_undefined_is_left_out(odd):
    people, scores = metric_study(np.random.default_rng(1), n_contexts=3)
    people["turn"] = scores["turn"] = pd.array([pd.NA], dtype="Int32")[0]
    people, scores = people.astype({"turn": "Int32"}), scores.astype({"turn": "Int32"})
    if odd == "one rating":
        people = people.drop_duplicates(["dialogue", "label"])
    elif odd == "constant ratings":
        people["score"] = 3.0
    elif odd == "constant metric":
        scores["score"] = 0.1 + 0.2
    elif odd == "two items":
        people = people[people["dialogue"].isin(["d0000", "d0001"])]
    else:
        scores = scores[scores["metric"] == "m"]
    found = computed(people, scores)
    assert found.saved["correlation"]["estimate"].isna().all() == (odd not in ("one rating", "one metric"))
    assert found.saved["annotator_correlation"].empty == (odd in ("one rating", "constant ratings", "two items"))
    assert found.shown


@pytest.mark.evidence
@pytest.mark.data
@pytest.mark.parametrize("study", ["usr", "grade", "fed"])
def test_printed_agreement_of_zhang_et_al_2022(raw_data, study):
    """Eleven of twelve of USR by rule; two of three of GRADE by a definition found by searching; FED is approximate."""
    spec = params.load(study)
    frames = build(spec).frames
    people, labels = analysis.rated(frames["annotations"], spec.metrics.corpora), spec.label_list()
    lengths, _ = text_metrics.score_texts(frames["dialogues"], people, ["length", "distinct_1"])
    scores = analysis.oriented(frames["metric_scores"], lengths, directions=spec.metric_directions)
    found = computed(people, scores, labels, spec.metrics.range_without)
    agrees_with_the_kernel(found, people, scores, labels)
    cells = verdicts.beside(found.saved, study, "09_metric_correlation")
    verdict = cells.set_index(["row", "column"])["verdict"]
    pairs = found.saved.select("annotator_correlation", comparison="position_pairs")
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
