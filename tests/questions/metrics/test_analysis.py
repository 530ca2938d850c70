"""All of notebook 09 on made-up data, on a file of one's own in the USR format, and on public data."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import metric_study
from scipy import stats

from judgebook.annotations.features import FEATURES
from judgebook.display.names import DisplayNames
from judgebook.questions.metrics import analysis, figures, items, tables
from judgebook.questions.metrics.question import Metrics
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.results import collect, fold

LABELS = [Label(name, "turn_rating", name.capitalize(), (1, 5)) for name in ("quality", "fluent")]
NAMES = DisplayNames(
    {(label.method, label.id): label for label in LABELS},
    {"method": {"turn_rating": "Turn rating"}, "metric": {"m": "Good", "n": "Weak"}, "group": {}, "system": {}},
)
QUICK = {"permute_seed": 1, "rank_resamples": 200}


@pytest.fixture(scope="module")
def analysed():
    """Two data sets; the second has every score reversed."""
    annotations, scores = metric_study(np.random.default_rng(1), n_contexts=30)
    annotations["dialogue_b"] = None
    people = analysis.rated(pd.concat([annotations.assign(corpus=c) for c in ("main", "other")]))
    both = pd.concat([scores, scores.assign(corpus="other", score=-scores["score"])])
    return people, both, analysis.analyse(people, both, LABELS, sampling=Sampling(300, 0.95, 1), **QUICK)


@pytest.fixture(scope="module")
def main(analysed):
    return analysis.data_sets(analysed[-1], NAMES.titles)["Main"]


def test_every_result_is_there_once(analysed):
    counts = fold(analysed[-1], study="x", notebook="09")["statistic"].value_counts()
    # 2 corpora, 2 labels, 2 metrics: 3 coefficients, within contexts (2 means), systems (2 coefficients)
    assert counts["correlation"] == 8 * (3 + 2 + 2)
    assert counts["reliability_ceiling"] == 4
    assert counts["replaceability"] == 8 * 4
    assert counts["correlation_difference"] == 2 * (2 * 2 + 1)
    assert counts["metric_correlation"] == 2
    # over labels plain and Fisher, over data sets plain and Fisher; three coefficients; of systems two
    assert counts["mean_correlation"] == 3 * (2 * 2 * 2 + 2 * 2) + 2 * 2 * 2
    # 2 corpora, 5 definitions: 2 labels, lowest and highest
    assert counts["annotator_correlation"] == 2 * 5 * (2 + 2)


def test_arrays_hold_the_items_of_a_data_set(analysed):
    people, scores, _ = analysed
    joined = items.join(items.human_means(people, LABELS), scores)
    rows = joined[joined["corpus"] == "main"]
    (one,) = items.scored_items(rows)
    assert one.head == {"corpus": "main", "method": "turn_rating", "level": "turn"}
    assert (one.n_clusters, one.unit) == (rows["context"].nunique(), "context")
    assert one.x.shape == one.y.shape == (120, 2)


def test_averages_over_data_sets_are_means_of_means(analysed):
    found = analysed[-1]
    sets = analysis.overall(found)
    assert len(sets) == 4
    mean = found.select("mean_correlation", over="data set", coefficient="spearman", average="plain")
    for metric, value in mean.set_index("metric")["estimate"].items():
        assert value == pytest.approx(sets.loc[sets["metric"] == metric, "estimate"].mean())
        assert abs(value) < 0.02  # the second corpus has every score reversed; only resamples differ
    each = found.select("correlation", scope="pooled", coefficient="spearman", corpus="main")
    ours = sets[(sets["corpus"] == "main")].set_index("metric")["estimate"]
    assert ours.to_dict() == pytest.approx(each.groupby("metric")["estimate"].mean().to_dict())


def test_correlations_between_metrics_are_those_of_scipy(analysed, main):
    scores = analysed[1]
    wide = scores[scores["corpus"] == "main"].pivot_table(index="dialogue", columns="metric", values="score")
    row = main["metric_correlation"].iloc[0]
    assert row["estimate"] == pytest.approx(stats.spearmanr(wide["m"], wide["n"]).statistic)
    assert row[["metric", "against", "coefficient", "n"]].tolist() == ["m", "n", "spearman", 120]
    matrix = figures.matrix(main["metric_correlation"], NAMES)
    assert np.diag(matrix).tolist() == [1, 1]
    assert matrix.loc["Good", "Weak"] == matrix.loc["Weak", "Good"] == row["estimate"]


def test_metrics_that_are_lower_for_better_systems_are_reversed():
    scores = pd.DataFrame({"metric": ["flow", "bleu"], "score": [0.5, 2.0]})
    assert analysis.oriented(scores, directions={"flow": -1})["score"].tolist() == [-0.5, 2.0]


def test_metrics_are_named_in_the_order_of_their_mean_correlation():
    rows = pd.DataFrame({"metric": ["flow", "bleu", "a_b"], "estimate": [0.1, 0.3, 0.2]})
    rows = rows.assign(statistic="correlation", corpus="main", method="turn_rating", label="quality")
    results = collect(rows.assign(coefficient="spearman", scope="pooled"))
    names = analysis.metric_titles(results, {"flow": "FLOW"}, {"flow": -1})
    assert list(names.items()) == [("bleu", "BLEU"), ("a_b", "A b"), ("flow", "FLOW, reversed")]


def test_labels_that_are_bad_are_reversed():
    annotations, _ = metric_study(np.random.default_rng(1), n_contexts=2)
    bad = [Label("quality", "turn_rating", "Q", (1, 5), direction=-1)]
    plain, turned = items.human_means(annotations), items.human_means(annotations, bad)
    quality = plain["label"] == "quality"
    assert (turned["human"][quality] == -plain["human"][quality]).all()
    assert (turned["human"][~quality] == plain["human"][~quality]).all()


def test_only_ratings_by_people_enter():
    annotations, _ = metric_study(np.random.default_rng(1), n_contexts=2)
    odd = [annotations.assign(dialogue_b=None), annotations.assign(dialogue_b="x"), annotations.assign(corpus="b")]
    odd.append(annotations.assign(dialogue_b=None, annotator_kind="llm"))
    kept = analysis.rated(pd.concat(odd), ["main"])
    assert len(kept) == len(annotations)


def test_tables_hold_the_results(analysed, main):
    found = analysed[-1]
    board = tables.leaderboard(found, NAMES).frame.set_index("Metric")
    assert board.columns.tolist() == ["Main", "Other", "Average (plain)", "Average (Fisher)"]
    mean, low, high = 100 * analysis.overall(main).set_index("metric").loc["m", ["estimate", "ci_low", "ci_high"]]
    assert board.loc["Good", "Main"] == f"{mean:.1f} [{low:.0f}, {high:.0f}] (1)"
    assert board.loc["Good", "Main"].numbers == {"": mean, "ci_low": low, "ci_high": high}
    assert "[" not in str(board.loc["Good", "Average (plain)"])
    assert str(board.loc["Good", "Other"]).endswith("(2)")
    rows = tables.best_against_others(main)
    assert rows[["best", "against"]].to_numpy().tolist() == [["m", "n"]]
    tested = main.select("correlation_difference", over="label")
    assert rows[["estimate", "p_adjusted"]].iloc[0].tolist() == tested[["estimate", "p_adjusted"]].iloc[0].tolist()
    other = tables.best_against_others(analysis.data_sets(found, NAMES.titles)["Other"])
    assert other[["best", "against"]].to_numpy().tolist() == [["n", "m"]]
    assert other["estimate"].iloc[0] == pytest.approx(rows["estimate"].iloc[0])  # scores and order are both reversed


def frames_of(scores=0, texts=True, pair=None):
    annotations = pd.DataFrame({"annotator_kind": ["human"], "dialogue_b": [pair]})
    dialogues = pd.DataFrame({"system_text": ["hi" if texts else None]})
    return {
        "annotations": annotations,
        "dialogues": dialogues,
        "metric_scores": pd.DataFrame({"score": [1.0] * scores}, dtype=float),
    }


@pytest.mark.parametrize(
    ("frames", "change", "reason"),
    [
        (frames_of(scores=1, texts=False), {}, None),
        (frames_of(), {}, None),
        (frames_of(), {"simulated": True}, "simulated texts are not worth computing"),
        (frames_of(), {"metrics": Metrics(computed=[])}, "the YAML asks for none"),
        (frames_of(texts=False), {}, "neither scores of automatic metrics nor texts"),
        (frames_of(scores=1, pair="b"), {}, "only comparisons"),
    ],
)
def test_where_the_notebook_is_skipped_it_says_why(frames, change, reason):
    study = params.load("usr").model_copy(update=change)
    found = FEATURES["metrics"](frames, study)
    assert found is None if reason is None else reason in found
