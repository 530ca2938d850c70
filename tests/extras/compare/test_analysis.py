"""Two runs compared: invariants, the intervals of notebook 10 as a second source, and what cannot be compared."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies
from scipy import stats

from judgebook.extras.compare import analysis, sides
from judgebook.extras.compare.analysis import CLEARLY, NOT, OPEN, WEAKLY, compare
from judgebook.extras.compare.sides import ComparisonError, Side
from judgebook.questions.quality_control import replication
from judgebook.sources.build import build
from judgebook.study import params

YAML = """\
title: Two runs
method: dialogue_rating
sources:
  - adapter: table
    file: my.csv
    layout: long
    columns: {corpus: run, dialogue: chat, system: bot, annotator: worker, label: what, score: rating}
labels:
  fluency: {scale: [1, 5], integer: false, direction: 1}
  quality: {scale: [1, 5], integer: false, direction: 1}
systems: {s0: Zero, s1: One, s2: Two, s3: Three, s4: Four, s5: Five}
corpora: {first: First run, second: Second run}
"""


def table(rng, truth, workers=12, noise=0.5, run="first"):
    """Every worker rates a dialogue of their own with every system, on two labels."""
    rows = []
    for w in range(workers):
        lenient = rng.normal(0, 0.3)
        for s, mean in enumerate(truth):
            for what in ("fluency", "quality"):
                score = np.clip(mean + lenient + rng.normal(0, noise), 1, 5)
                rows.append((run, f"{run}-{w}-{s}", f"s{s}", f"{run}{w}", what, round(score, 3)))
    return pd.DataFrame(rows, columns=["run", "chat", "bot", "worker", "what", "rating"])


def side(tmp_path, frame, corpus, yaml=YAML, name="mine"):
    study = params.load(yaml_studies.write(tmp_path, yaml, name, my_csv=frame.to_csv(index=False)))
    scores = build(study).frames["annotations"]
    scores = scores[scores["corpus"] == corpus].reset_index(drop=True)
    return Side(f"{name}:{corpus}", study, Path(tmp_path), (corpus,), scores, study.corpora[corpus])


TRUTH = [1.5, 2.0, 2.6, 3.1, 3.7, 4.3]


def pair(tmp_path, second=TRUTH, seed=1, **options):
    rng = np.random.default_rng(seed)
    frame = pd.concat([table(rng, TRUTH, **options), table(rng, second, run="second", **options)])
    return [side(tmp_path, frame, corpus) for corpus in ("first", "second")]


def test_a_run_compared_with_itself_is_identical(tmp_path):
    one, _ = pair(tmp_path)
    found = compare(one, one)
    assert found.identical
    assert found.settings.empty
    assert found.labels["r"].tolist() == pytest.approx([1, 1])
    assert found.labels["same"].tolist() == found.labels["pairs"].tolist()
    assert found.labels["opposite"].tolist() == [0, 0]
    assert found.variation["cv"].tolist() == [0] * 12
    assert set(found.labels["verdict"]) == {CLEARLY}


def test_a_repetition_of_clear_differences_reproduces_and_its_reverse_contradicts(tmp_path):
    repeated = compare(*pair(tmp_path))
    assert not repeated.identical
    assert set(repeated.labels["verdict"]) == {CLEARLY}
    turned = compare(*pair(tmp_path, second=TRUTH[::-1]))
    assert set(turned.labels["verdict"]) == {NOT}
    assert (turned.labels["r"] < -0.9).all()
    assert (turned.labels["same_sign"] == 0).all()


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        ({"r_low": 0.51}, CLEARLY),
        ({"r_low": 0.5}, WEAKLY),
        ({"r_low": 0.51, "opposite": 1}, WEAKLY),
        ({"r_low": 0.0}, OPEN),
        ({"r_low": 0.51, "opposite": 1, "sure_opposite": 1}, NOT),
        ({"r": -0.8, "r_low": -0.9, "r_high": -0.1}, NOT),
        ({"r": -0.8, "r_low": -0.9, "r_high": 0.1, "changed": 1}, NOT),
        ({"r": 0.1, "r_low": -0.3, "r_high": 0.5, "changed": 1}, OPEN),
        ({"changed": 1}, CLEARLY),
        ({"r_low": np.nan, "r_high": np.nan, "fisher_low": 0.6}, CLEARLY),
        ({"r_low": np.nan, "r_high": np.nan, "fisher_low": 0.2}, WEAKLY),
        ({"r": np.nan, "r_low": np.nan, "r_high": np.nan, "fisher_low": np.nan, "fisher_high": np.nan}, OPEN),
        ({"r": 1.0, "r_low": np.nan, "r_high": np.nan, "fisher_low": np.nan, "fisher_high": np.nan}, CLEARLY),
    ],
)
def test_labels_are_graded_by_the_interval_of_r_and_opposite_pairs(facts, verdict):
    row = {"r": 0.9, "r_low": 0.8, "r_high": 0.95, "fisher_low": -0.1, "fisher_high": 0.99, "opposite": 0}
    assert analysis.verdict(row | {"sure_opposite": 0, "changed": 0} | facts) == verdict


@pytest.mark.parametrize(("n", "verdict"), [(12, OPEN), (5, CLEARLY)])
def test_a_file_with_other_ids_is_no_repetition(tmp_path, n, verdict):
    """Most people of a run are in the other one, too; or a few, who happen to have judged the same in the same way."""
    rng = np.random.default_rng(1)
    first, own = (table(rng, TRUTH, workers=14, noise=0.2) for _ in range(2))
    place = own["worker"].str.removeprefix("first").astype(int)
    rating = first["rating"].where(place < n, own["rating"])
    second = first.assign(run="second", worker=[f"x{i}" for i in place], rating=rating)
    found = compare(*(side(tmp_path, pd.concat([first, second]), c, name=c) for c in ("first", "second")))
    assert not found.identical
    assert (found.copies.people, found.copies.judgements, found.copies.of) == (n, 12 * n, 12 * 14)
    assert set(found.labels["verdict"]) == {verdict}


def test_which_run_comes_first_changes_only_the_names(tmp_path):
    one, two = pair(tmp_path)
    forth, back = compare(one, two), compare(two, one)
    same = ["r", "r_low", "r_high", "same", "same_sign", "opposite", "cv", "cv_low", "cv_high"]
    pd.testing.assert_frame_equal(forth.labels[same], back.labels[same])
    assert forth.labels["only_a"].tolist() == back.labels["only_b"].tolist()


def test_means_and_their_standard_errors_are_those_of_leaving_out_people_one_at_a_time(tmp_path):
    one, two = pair(tmp_path)
    found = compare(one, two)
    scores = two.scores[(two.scores["label"] == "quality") & (two.scores["system"] == "s3")]
    without = [scores.loc[scores["annotator"] != w, "score"].mean() for w in scores["annotator"].unique()]
    c = len(without)
    error = np.sqrt((c - 1) / c * np.sum((np.array(without) - np.mean(without)) ** 2))
    row = found.means.query("label == 'quality' and run == 'B' and system == 's3'").iloc[0]
    assert row["estimate"] + 1 == pytest.approx(scores["score"].mean())  # counted from the low end of the scale
    assert (row["ci_high"] - row["ci_low"]) / 2 == pytest.approx(stats.t.ppf(0.975, c - 1) * error)


def test_intervals_of_r_are_those_of_notebook_10(tmp_path):
    """`replication.resampled` on the same ratings, without a control: each label, workers left out in turn."""
    one, two = pair(tmp_path, noise=0.9)
    found = compare(one, two)
    both = pd.concat([one.scores, two.scores])
    t = replication.tally(both, "score", ("first", "second"), [f"s{i}" for i in range(6)])
    rng = np.random.default_rng(0)
    other = replication.resampled(t, [replication.correlations(t, {})], rng=rng, n_resamples=20).set_index("label")
    for row in found.labels.to_dict("records"):
        expected = other.loc[row["label"], ["estimate", "ci_low", "ci_high"]].tolist()
        assert [row["r"], row["r_low"], row["r_high"]] == pytest.approx(expected)


@pytest.mark.evidence
def test_the_noise_that_sampling_alone_gives_is_what_repetitions_show(tmp_path):
    """Mean CV* of 12 pairs of runs of the same systems, against what each expects of itself (error of the mean 5%)."""
    got, expected = [], []
    for seed in range(12):
        found = compare(*pair(tmp_path, seed=100 + seed))
        got.append(found.labels["cv"].mean())
        expected.append(found.labels["cv_expected"].mean())
    assert np.mean(got) == pytest.approx(np.mean(expected), rel=0.15)


def test_names_can_be_mapped_and_what_only_one_has_is_named(tmp_path):
    one, two = pair(tmp_path)
    other = sides.renamed(two, {"s5": "new"})
    found = compare(one, other)
    assert found.missing[["kind", "id", "in_"]].to_numpy().tolist() == [["system", "s5", 0], ["system", "new", 1]]
    assert found.systems == ["s0", "s1", "s2", "s3", "s4"]
    with pytest.raises(ComparisonError, match="'typo' is no system or label"):
        sides.renamed(two, {"typo": "s5"})


def test_what_cannot_be_compared_is_said(tmp_path):
    one, two = pair(tmp_path)
    with pytest.raises(ComparisonError, match=r"no label in common.*fluency, quality.*`--map old=new`"):
        compare(one, sides.renamed(two, {"fluency": "x", "quality": "y"}))
    alone = replace(two, scores=two.scores[two.scores["system"] == "s1"])
    with pytest.raises(ComparisonError, match="fewer than two systems in common"):
        compare(one, alone)


def test_few_people_give_intervals_over_dialogues_and_one_system_less_none(tmp_path):
    few = compare(*pair(tmp_path, workers=3))
    assert set(few.labels["unit"]) == {"dialogue"}
    one, two = pair(tmp_path)
    three = ["s0", "s1", "s2"]
    cut = [replace(s, scores=s.scores[s.scores["system"].isin(three)]) for s in (one, two)]
    found = compare(*cut)
    assert found.labels["r_low"].isna().all()
    assert found.labels["r_note"].str.contains("3 systems are too few").all()


def test_labels_on_other_scales_are_left_out(tmp_path):
    one, two = pair(tmp_path)
    labels = two.study.labels | {"quality": two.study.labels["quality"].model_copy(update={"scale": (1, 7)})}
    found = compare(one, replace(two, study=two.study.model_copy(update={"labels": labels})))
    assert found.labels["label"].tolist() == ["fluency"]
    assert found.missing["kind"].tolist() == ["label on another scale"]


PAIRS = """\
title: Pairs
method: pairwise_dialogue
labels: {better: {scale: [-1, 1]}}
sources: [{adapter: table, file: my.csv, layout: long, columns: {dialogue: x, annotator: x, label: x, score: x}}]
"""


def test_comparisons_count_for_both_systems(tmp_path):
    """A wins 3 of 4 against B in one run: its mean is 1.5 of 2 above the low end, B's 0.5."""
    (tmp_path / "pairs.yaml").write_text(PAIRS, encoding="utf-8")
    study = params.load(tmp_path / "pairs.yaml")
    columns = {"annotator_kind": "human", "annotator_known": True, "method": "pairwise_dialogue", "label": "better"}
    rows = [
        (run, f"w{i}", "a", "b", f"d{i}", f"e{i}", score)
        for run in ("first", "second")
        for i, score in enumerate([1, 1, 1, -1])
    ]
    names = ["corpus", "annotator", "system", "system_b", "dialogue", "dialogue_b", "score"]
    frame = pd.DataFrame(rows, columns=names).assign(**columns, group="all", turn=pd.NA, completed_at=pd.NaT)
    both = [Side(r, study, tmp_path, (r,), frame[frame["corpus"] == r], r) for r in ("first", "second")]
    found = compare(*both)
    means = found.means.set_index(["run", "system"])["estimate"]
    assert means["A"].to_dict() == {"a": 1.5, "b": 0.5}
    assert found.labels["unit"].tolist() == ["pair"]


@pytest.fixture(scope="module")
def ji():
    """The two runs of Ji et al. 2022, from the judgements that come with the project."""
    study = params.load("ji2022")
    a = build(study).frames["annotations"]
    return [
        Side(f"ji2022:{c}", study, Path("ji"), (c,), a[a["corpus"] == c].reset_index(drop=True), study.corpora[c])
        for c in ("free_run1", "free_run2")
    ]


def test_the_runs_of_ji_et_al_repeat_each_other_and_workers_who_failed_do_not_count(ji):
    found = compare(*ji)
    assert "qc" not in found.systems
    verdicts = found.labels.set_index("label")["verdict"]
    assert (verdicts == CLEARLY).sum() == 6
    assert verdicts["robotic"] == WEAKLY
    assert found.labels["opposite"].sum() == 0


def test_the_runs_of_ji_et_al_share_people_who_are_left_out_of_both_at_once(ji):
    """Their workers have one pseudonym in both runs; in two folders the same id may be two people."""
    together = compare(*ji).labels
    apart = compare(ji[0], replace(ji[1], folder=Path("elsewhere"))).labels
    assert together["r"].tolist() == pytest.approx(apart["r"].tolist())
    assert (together["r_low"] != apart["r_low"]).all()
