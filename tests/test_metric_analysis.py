"""All of notebook 09 on made-up data, on a file of one's own in the USR format, and on public data."""

import numpy as np
import pandas as pd
import pytest
from evaluations import metric_study
from miniature import build_from
from scipy import stats

from helpers import look, metric_analysis, metric_correlation, metric_items, params, schema, text_metrics
from helpers.labels import Label
from helpers.profile import FEATURES
from helpers.sections import Metrics
from helpers.sources.build import build
from helpers.views import metric_plots, metric_report

LABELS = [Label(name, "turn_rating", name.capitalize(), (1, 5)) for name in ("quality", "fluent")]
LOOK = look.Look({(label.method, label.id): label for label in LABELS}, {"method": {"turn_rating": "Turn rating"}})


@pytest.fixture(scope="module")
def analysed():
    annotations, scores = metric_study(np.random.default_rng(1), n_contexts=30)
    annotations["dialogue_b"] = None
    two = [(f.assign(corpus=c)) for c in ("main", "other") for f in (annotations,)]
    people = metric_analysis.rated(pd.concat(two))
    both = pd.concat([scores, scores.assign(corpus="other", score=-scores["score"])])
    found = metric_analysis.analyse(people, both, LABELS, seed=1, permute_seed=1, n_resamples=300, rank_resamples=200)
    return people, both, found


def test_everything_is_there_once(analysed):
    *_, found = analysed
    stored = schema.make_results(found, study="x", notebook="09")
    counts = stored["statistic"].value_counts()
    # 2 corpora, 2 labels, 2 metrics: 3 coefficients, within contexts (2 means), systems (2 coefficients)
    assert counts["correlation"] == 8 * (3 + 2 + 2)
    assert counts["reliability_ceiling"] == 4
    assert counts["replaceability"] == 8 * 4
    assert counts["correlation_difference"] == 2 * (2 * 2 + 1)
    assert counts["metric_correlation"] == 2
    people, scores, _ = analysed
    joined = metric_items.join(metric_items.human_means(people, LABELS), scores)
    alone = metric_correlation.correlations(joined, coefficient="spearman", n_resamples=200, seed=1)
    keys = ["corpus", "method", "metric", "label", "statistic", "condition"]
    both = alone.merge(found, on=keys)
    assert len(both) == len(alone)
    assert both["estimate_x"].to_numpy() == pytest.approx(both["estimate_y"].to_numpy())
    main = joined[joined["corpus"] == "main"]
    (table,) = metric_items.tables(main)
    assert table.head == {"corpus": "main", "method": "turn_rating", "level": "turn"}
    assert table.n_clusters == main["context"].nunique()
    # over labels plain and Fisher, over data sets plain and Fisher; three coefficients; of systems two
    assert counts["mean_correlation"] == 3 * (2 * 2 * 2 + 2 * 2) + 2 * 2 * 2


def test_averages_over_data_sets_are_means_of_means(analysed):
    *_, found = analysed
    rows = schema.unfold(found, metric_report.KEYS)
    sets = metric_report.overall(rows)
    assert len(sets) == 4
    mean = rows[(rows["over"] == "data set") & (rows["coefficient"] == "spearman") & (rows["average"] == "plain")]
    for metric, value in mean.set_index("metric")["estimate"].items():
        assert value == pytest.approx(sets.loc[sets["metric"] == metric, "estimate"].mean())
        assert abs(value) < 0.02  # the second corpus has every score reversed; only resamples differ
    each = rows[rows["scope"].eq("pooled") & rows["coefficient"].eq("spearman") & rows["corpus"].eq("main")]
    ours = sets[(sets["corpus"] == "main")].set_index("metric")["estimate"]
    assert ours.to_dict() == pytest.approx(each.groupby("metric")["estimate"].mean().to_dict())


def test_metrics_among_each_other_are_those_of_scipy(analysed):
    _, scores, found = analysed
    wide = scores[scores["corpus"] == "main"].pivot_table(index="dialogue", columns="metric", values="score")
    row = found[(found["statistic"] == "metric_correlation") & (found["corpus"] == "main")].iloc[0]
    assert row["estimate"] == pytest.approx(stats.spearmanr(wide["m"], wide["n"]).statistic)
    assert (row["n"], row["condition"]) == (120, "against=n;coefficient=spearman")
    matrix = metric_report.matrix(
        schema.unfold(found, metric_report.KEYS), ("main", "turn_rating"), {"m": "M", "n": "N"}
    )
    assert np.diag(matrix).tolist() == [1, 1]
    assert matrix.loc["M", "N"] == matrix.loc["N", "M"] == row["estimate"]


def test_what_is_lower_for_better_systems_is_turned_around():
    scores = pd.DataFrame({"metric": ["flow", "bleu"], "score": [0.5, 2.0]})
    assert metric_analysis.oriented(scores, {"flow": -1})["score"].tolist() == [-0.5, 2.0]
    names = metric_report.names(["flow", "bleu", "a_b"], {"bleu": "BLEU"}, {"flow": -1})
    assert names == {"flow": "Flow, reversed", "bleu": "BLEU", "a_b": "A b"}


def test_labels_that_are_bad_are_turned_around():
    from helpers.metric_items import human_means

    annotations, _ = metric_study(np.random.default_rng(1), n_contexts=2)
    bad = [Label("quality", "turn_rating", "Q", (1, 5), direction=-1)]
    plain, turned = human_means(annotations), human_means(annotations, bad)
    quality = plain["label"] == "quality"
    assert (turned["human"][quality] == -plain["human"][quality]).all()
    assert (turned["human"][~quality] == plain["human"][~quality]).all()


def test_only_ratings_by_people_enter():
    annotations, _ = metric_study(np.random.default_rng(1), n_contexts=2)
    odd = [annotations.assign(dialogue_b=None), annotations.assign(dialogue_b="x"), annotations.assign(corpus="b")]
    odd.append(annotations.assign(dialogue_b=None, annotator_kind="llm"))
    kept = metric_analysis.rated(pd.concat(odd), ["main"])
    assert len(kept) == len(annotations)


def test_tables_and_sentences_speak_from_the_rows(analysed):
    *_, found = analysed
    rows = schema.unfold(found, metric_report.KEYS)
    sets = metric_report.data_sets(rows, LOOK)
    titles = {"m": "Good", "n": "Weak"}
    assert sets == {("main", "turn_rating"): "Main", ("other", "turn_rating"): "Other"}
    board = metric_report.leaderboard(rows, sets, titles)
    assert board.columns.tolist() == ["Metric", "Main", "Other", "Average (plain)", "Average (fisher)"]
    assert board.loc[board["Metric"] == "Good", "Main"].iloc[0].endswith("(1)")
    assert board.loc[board["Metric"] == "Good", "Other"].iloc[0].endswith("(2)")
    text = metric_report.verdicts(rows, sets, titles)
    assert "**Main**: Good is closest to people, ρ 0." in text
    assert "**Other**: Weak is closest to people" in text
    assert "of 2 labels, closer on" in text
    rest = metric_report.comparison(rows, ("main", "turn_rating"), titles)
    assert rest[["best", "Less than the best by"]].to_numpy().tolist() == [["m", "Weak"]]
    assert rest["Difference"].iloc[0] > 0
    cautions = metric_report.cautions(rows, ["length"])
    assert any(
        text.startswith("Correlations of system means rest on 4 systems; with fewer than 8") for text in cautions
    )
    assert any(text.startswith("Within contexts") for text in cautions)
    wide = metric_report.coefficients(rows, ("main", "turn_rating"), titles)
    assert wide.columns.tolist() == ["Metric", "Spearman", "Pearson", "Kendall", "Within contexts", "Systems (4)"]


def test_a_panel_holds_the_ceiling_and_the_annotator_left_out(analysed):
    *_, found = analysed
    rows = schema.unfold(found, metric_report.KEYS)
    one = metric_report.panel(rows, ("main", "turn_rating"), "quality", "Quality")
    mean = metric_report.panel(rows, ("main", "turn_rating"), None, "All")
    ceilings = rows[rows["statistic"].eq("reliability_ceiling") & rows["corpus"].eq("main")].set_index("label")[
        "estimate"
    ]
    assert one.ceiling[0] == ceilings["quality"]
    assert one.ceiling[1] < one.ceiling[0] < one.ceiling[2]
    assert mean.ceiling[0] == pytest.approx(ceilings.mean())
    assert 0 < one.annotator < one.ceiling[0]
    assert one.metrics["reduced"].notna().all()
    fig = metric_plots.correlation_figure([one, mean], ["m", "n"], {"m": "Good", "n": "Weak"}, ["n"])
    drawn = [line for line in fig.axes[0].lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]
    assert {one.ceiling[0], one.annotator} <= {line.get_xdata()[0] for line in drawn}


YAML = """
method: turn_rating
sources:
  - {adapter: usr, file: ratings.json, corpus: letters, reference_system: Gold}
labels:
  nice: {scale: [1, 3]}
  clear: {scale: [0, 1]}
"""
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "and",
    "looked",
    "at",
    "me",
    "while",
    "it",
    "was",
    "raining",
    "in",
    "town",
]


def records(rng, n=12):
    out = []
    for i in range(n):
        responses = []
        for model in ("Gold", "Net", "Echo"):
            text = " ".join(rng.choice(WORDS, size=rng.integers(3, 9)))
            ratings = {"Nice": rng.integers(1, 4, 3).tolist(), "Clear": rng.integers(0, 2, 3).tolist()}
            responses.append({"response": text, "model": model, **ratings})
        people = ["A", "B", "C"] if i % 2 else ["C", "D", "A"]
        out.append({"context": "hello\nwhere is the cat ?\n", "annotators": people, "responses": responses})
    return out


def test_another_file_in_the_usr_format_runs_with_a_yaml_alone(tmp_path):
    built = build_from(tmp_path, YAML, {"ratings.json": records(np.random.default_rng(7))})
    study = params.load(tmp_path / "mini.yaml")
    assert built.profile["features"]["metrics"] is None
    annotations = metric_analysis.rated(built.frames["annotations"], study.metrics.corpora)
    responses = text_metrics.items(built.frames["dialogues"], annotations)
    scores, _ = text_metrics.compute(responses, text_metrics.choose(study.metrics.computed))
    scores = text_metrics.of_dialogues(scores, annotations)
    assert set(scores["metric"]) == set(text_metrics.METRICS)
    found = metric_analysis.analyse(
        annotations, scores, study.label_list(), seed=1, permute_seed=1, n_resamples=200, rank_resamples=200
    )
    stored = schema.make_results(found, study=study.key, notebook="09")
    assert (stored[stored["estimate"].isna()]["note"].str.len() > 0).all()
    rows = schema.unfold(found, metric_report.KEYS)
    lk = look.of(study, annotations)
    sets = metric_report.data_sets(rows, lk)
    assert list(sets.values()) == ["Letters"]
    titles = metric_report.names(metric_report.order(rows), {}, {})
    assert metric_report.verdicts(rows, sets, titles).startswith("- **Letters**:")


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


@pytest.mark.data
@pytest.mark.parametrize(
    ("study", "least"),
    [("usr", 8), ("grade", 8), ("fed", 8), ("engage", 8), ("dstc7", 8), ("dstc9", 8), ("holistic", 4)],
)
def test_public_data_have_their_metrics(raw_data, study, least):
    """DSTC9 has no texts: its four scores and what follows from them; Holistic has texts, but no references."""
    spec = params.load(study)
    frames = build(spec).frames
    annotations = metric_analysis.rated(frames["annotations"], spec.metrics.corpora)
    responses = text_metrics.items(frames["dialogues"], annotations)
    given = frames["metric_scores"][frames["metric_scores"]["corpus"].isin(set(annotations["corpus"]))]
    cheap = ["length"]  # which metrics apply depends on what there is to be held against, not on the library
    scores, _ = text_metrics.compute(responses, cheap)
    against = {"reference": responses["reference"].notna().any(), "last_turn": responses["last_turn"].notna().any()}
    applies = [
        m for m, s in text_metrics.METRICS.items() if len(responses) and (s.against is None or against[s.against])
    ]
    assert given["metric"].nunique() + len(applies) >= least
    both = pd.concat([f for f in (given, text_metrics.of_dialogues(scores, annotations)) if len(f)])
    rated = annotations[annotations["dialogue"].isin(annotations["dialogue"].unique()[:200])]
    found = metric_analysis.analyse(
        rated, both, spec.label_list(), seed=1, permute_seed=1, n_resamples=200, rank_resamples=200
    )
    assert len(schema.make_results(found, study=study, notebook="09"))
    assert found.loc[found["estimate"].isna(), "note"].notna().all()
