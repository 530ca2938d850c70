"""All of notebook 09 on made-up data, on a file of one's own in the USR format, and on public data."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import metric_study
from fixtures.raw_file_studies import build_from
from scipy import stats

from judgebook.annotations.features import FEATURES
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.views import Prose
from judgebook.questions.metrics import analysis, figures, findings, items, tables, text_metrics
from judgebook.questions.metrics.correlations import correlations
from judgebook.questions.metrics.question import Metrics
from judgebook.sources.build import build
from judgebook.statistics.intervals import Sampling
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect, fold

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
    people, scores, found = analysed
    counts = fold(found, study="x", notebook="09")["statistic"].value_counts()
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
    joined = items.join(items.human_means(people, LABELS), scores)
    alone = collect(correlations(joined, "spearman", sampling=Sampling(200, 0.95, 1)))["correlation"]
    keys = ["corpus", "method", "metric", "label", "coefficient", "scope"]
    both = alone.merge(found["correlation"], on=keys)
    assert len(both) == len(alone)
    assert both["estimate_x"].to_numpy() == pytest.approx(both["estimate_y"].to_numpy())


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


def test_data_sets_are_named_by_what_distinguishes_them(analysed):
    rows = analysed[-1]["correlation"]

    def names(*pairs):
        parts = [rows.head(1).assign(corpus=corpus, method=method) for corpus, method in pairs]
        return list(analysis.data_sets(Results(correlation=pd.concat(parts)), {"method": {"a": "A", "b": "B"}}))

    assert names(("main", "a")) == ["A"]
    assert names(("main", "a"), ("main", "b")) == ["A", "B"]
    assert names(("my_set", "a")) == ["My set"]
    assert names(("my_set", "a"), ("my_set", "b")) == ["My set, A", "My set, B"]


def test_tables_hold_the_results(analysed, main):
    found = analysed[-1]
    board = tables.leaderboard(found, NAMES).frame.set_index("Metric")
    assert board.columns.tolist() == ["Main", "Other", "Average (plain)", "Average (Fisher)"]
    mean, low, high = 100 * analysis.overall(main).set_index("metric").loc["m", ["estimate", "ci_low", "ci_high"]]
    assert board.loc["Good", "Main"] == f"{mean:.1f} [{low:.0f}, {high:.0f}] (1)"
    assert board.loc["Good", "Main"].numbers == {"": mean, "ci_low": low, "ci_high": high}
    assert "[" not in str(board.loc["Good", "Average (plain)"])
    assert str(board.loc["Good", "Other"]).endswith("(2)")
    wide = next(iter(tables.coefficients(found, NAMES))).frame
    assert wide.columns.tolist() == ["Metric", "Spearman", "Pearson", "Kendall", "Within contexts", "Systems (4)"]
    rows = tables.best_against_others(main)
    assert rows[["best", "against"]].to_numpy().tolist() == [["m", "n"]]
    tested = main.select("correlation_difference", over="label")
    assert rows[["estimate", "p_adjusted"]].iloc[0].tolist() == tested[["estimate", "p_adjusted"]].iloc[0].tolist()
    other = tables.best_against_others(analysis.data_sets(found, NAMES.titles)["Other"])
    assert other[["best", "against"]].to_numpy().tolist() == [["n", "m"]]
    assert other["estimate"].iloc[0] == pytest.approx(rows["estimate"].iloc[0])  # scores and order are both reversed
    raters = tables.raters(found, NAMES).frame
    assert raters["Label"].tolist() == ["Quality", "Quality", "Fluent", "Fluent"]
    assert raters["Two raters"].map(str).str.contains(r"\[").all()


def test_findings_give_the_largest_of_how_many(analysed, main):
    texts = [p.text for p in findings.findings(main, NAMES, confidence=0.95)]
    best = analysis.overall(main).set_index("metric").loc["m", "estimate"]
    assert "**Good has the largest of 2 correlations" in texts[0]
    assert f"{best:.2f}" in texts[0]
    assert "it differs significantly from the other." in texts[0]
    assert f"{main['reliability_ceiling']['estimate'].mean():.2f}" in texts[1]
    assert not any("Length alone" in text for text in texts)  # nothing is called length
    both = next(findings.findings(analysed[-1], NAMES, confidence=0.95)).text
    assert "No metric leads in both data sets" in both
    assert "- Other: Weak, ρ = " in both


def test_one_metric_is_the_largest_of_none(main):
    one = Results({s: f[(f["metric"] == "m") | f["metric"].isna()] for s, f in main.items()})
    one["correlation_difference"] = main["correlation_difference"].iloc[:0]
    text = next(findings.findings(one, NAMES, confidence=0.95)).text
    assert "**Good correlates with human ratings** (ρ = " in text
    assert "largest" not in text
    assert isinstance(next(tables.pairs(one, NAMES)), Prose)


def test_sources_say_what_could_not_be_computed(monkeypatch):
    scores = pd.DataFrame({"metric": ["a", "length"]})
    own = pd.DataFrame({"metric": ["length"]})
    assert "1 metric came with the data; 1 was computed" in findings.sources(scores, own, ["length"], []).text
    assert "no texts" in findings.sources(scores, own.iloc[:0], ["length"], []).text
    monkeypatch.setattr(findings, "not_installed", lambda asked: ["bleu"])
    text = findings.sources(scores, own, ["length", "bleu"], ["x"]).text
    assert "BLEU" in text
    assert "Corpora analysed: x" in text


def test_a_panel_holds_the_ceiling_and_the_annotator_left_out(main):
    one = figures.panel(main.part(label="quality"), NAMES, {"n"})
    mean = figures.panel(main, NAMES, {"n"})
    ceilings = main["reliability_ceiling"].set_index("label")["estimate"]
    assert (one["ceiling"] == ceilings["quality"]).all()
    assert (one["ceiling_low"] < one["ceiling"]).all()
    assert (one["ceiling"] < one["ceiling_high"]).all()
    assert mean["ceiling"].tolist() == pytest.approx([ceilings.mean()] * 2)
    assert mean["ceiling_low"].isna().all()
    assert one["annotator"].between(0, one["ceiling"]).all()
    assert one["reduced"].notna().all()
    whole, *_ = figures.correlations(main, NAMES, {"n"})
    drawn = [line for line in whole.fig.axes[0].lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]
    assert {mean["ceiling"].iloc[0], mean["annotator"].iloc[0]} <= {line.get_xdata()[0] for line in drawn}


YAML = """
method: turn_rating
sources:
  - {adapter: usr, file: ratings.json, corpus: letters, reference_system: Gold}
labels:
  nice: {scale: [1, 3], direction: 1}
  clear: {scale: [0, 1], direction: 1}
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
    annotations = analysis.rated(built.frames["annotations"], study.metrics.corpora)
    chosen = text_metrics.choose(study.metrics.computed)
    scores, _ = text_metrics.score_texts(built.frames["dialogues"], annotations, chosen)
    assert set(scores["metric"]) == set(text_metrics.METRICS) - {"new_bigrams", "turns"}  # for these, dialogues
    found = analysis.analyse(annotations, scores, study.label_list(), sampling=Sampling(200, 0.95, 1), **QUICK)
    stored = fold(found, study=study.key, notebook="09")
    assert (stored[stored["estimate"].isna()]["note"].str.len() > 0).all()
    names = display_names(study, annotations, metric=analysis.metric_titles(found, {}, {}))
    assert list(analysis.data_sets(found, names.titles)) == ["Letters"]
    assert next(findings.findings(found, names, confidence=0.95)).text.startswith("**")


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
@pytest.mark.evidence
def test_public_data_have_their_metrics(raw_data, study, least):
    """DSTC9 has no texts: its four scores and what follows from them; Holistic has texts, but no references."""
    spec = params.load(study)
    frames = build(spec).frames
    annotations = analysis.rated(frames["annotations"], spec.metrics.corpora)
    responses = text_metrics.items(frames["dialogues"], annotations)
    given = frames["metric_scores"][frames["metric_scores"]["corpus"].isin(set(annotations["corpus"]))]
    cheap = ["length"]  # which metrics apply depends on what there is to compare with, not on the library
    scores, _ = text_metrics.compute(responses, cheap)
    against = {of: responses[of].notna().any() for of in ("reference", "last_turn", "earlier")}
    applies = [
        m for m, s in text_metrics.METRICS.items() if len(responses) and (s.against is None or against[s.against])
    ]
    assert given["metric"].nunique() + len(applies) >= least
    both = pd.concat([f for f in (given, text_metrics.of_dialogues(scores, annotations)) if len(f)])
    rated = annotations[annotations["dialogue"].isin(annotations["dialogue"].unique()[:200])]
    found = analysis.analyse(rated, both, spec.label_list(), sampling=Sampling(200, 0.95, 1), **QUICK)
    stored = fold(found, study=study, notebook="09")
    assert len(stored)
    assert stored.loc[stored["estimate"].isna(), "note"].notna().all()
