"""Quality control of workers and standardised scores, held against scipy and cases solved by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgebook.questions.quality_control import worker_tests as quality
from judgebook.questions.quality_control.question import QualityControl
from judgebook.study.labels import Label

LABELS = [
    Label("good", "continuous", "Good", (0, 100), "interval"),
    Label("bad", "continuous", "Bad", (0, 100), "interval", direction=-1),
    Label("odd", "continuous", "Odd", (0, 100), "interval", direction=0),
]


def marks(rows):
    """Annotations from (corpus, annotator, work unit, system, dialogue, label, score)."""
    columns = ["corpus", "annotator", "work_unit", "system", "dialogue", "label", "score"]
    out = pd.DataFrame(rows, columns=columns).assign(method="continuous", dialogue_b=None)
    return out.assign(annotator_known=True, annotator_kind="human", source_row=range(len(out)))


def worker(name, systems, unit="u", corpus="run"):
    """Ratings of one worker: system -> scores, one dialogue each."""
    return [
        (corpus, name, f"{name}{unit}", s, f"{name}{unit}{s}", f"label{i}", float(score))
        for s, scores in systems.items()
        for i, score in enumerate(scores)
    ]


def test_scores_are_turned_so_that_high_is_good_and_neutral_labels_stay_out():
    rows = [("r", "w", "u", "s", "d", label, 30.0) for label in ("good", "bad", "odd")]
    found = quality.ratings(marks(rows), LABELS, "s").set_index("label")["score"]
    assert found.to_dict() == {"good": 30, "bad": 70}


def test_ratings_are_those_of_known_people():
    rows = marks([("r", w, "u", "s", "d", "good", 1.0) for w in ("w", "pos0", "gpt")])
    rows["annotator_known"] = [True, False, True]
    rows["annotator_kind"] = ["human", "human", "llm"]
    assert quality.ratings(rows, LABELS, "s")["annotator"].tolist() == ["w"]


def test_pilots_and_gold_units_are_no_runs():
    rows = marks([(corpus, "w", "u", "s", "d", "good", 1.0) for corpus in ("main", "bot_pilot_1", "gold")])
    assert quality.ratings(rows, LABELS, "s")["corpus"].tolist() == ["main"]
    rows["method"] = ["continuous", "turn_likert", "turn_likert"]
    assert quality.ratings(rows, LABELS, "s")["method"].tolist() == ["continuous"]


def test_the_method_is_the_one_the_control_was_rated_with():
    rows = marks([("r", "w", "u", s, s, "good", 1.0) for s in ("qc", "a", "b")])
    rows["method"] = ["continuous", "dialogue_likert", "dialogue_likert"]
    assert quality.ratings(rows, LABELS, "qc")["system"].tolist() == ["qc"]
    with pytest.raises(ValueError, match="expected a system that was rated, found 'none'"):
        quality.ratings(rows, LABELS, "none")
    with pytest.raises(ValueError, match="expected a system that was rated, found 'qc'"):
        quality.ratings(rows.assign(dialogue_b="other"), LABELS, "qc")  # comparisons are no ratings


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(0, 6)), min_size=1, max_size=60))
def test_rank_sum_is_scipys_in_every_block(rows):
    block, first, values = (np.array(v) for v in zip(*rows, strict=True))
    found = quality.rank_sum(block, first, values.astype(float))
    for b, row in found.iterrows():
        x, y = values[(block == b) & first], values[(block == b) & ~first]
        if not len(x) or not len(y):
            assert row[["p_less", "superiority"]].isna().all()
            continue
        u = stats.mannwhitneyu(x, y, alternative="less", method="asymptotic")
        assert row["superiority"] == pytest.approx(u.statistic / (len(x) * len(y)))
        assert row["p_less"] == pytest.approx(min(u.pvalue, 1), abs=1e-12)


def test_values_equal_but_for_rounding_errors_tie():
    rng = np.random.default_rng(8)
    values, block, first = rng.integers(0, 4, 60) / 7, np.repeat([0, 1], 30), rng.random(60) < 0.5
    nudged = np.nextafter(values, np.where(rng.random(60) < 0.5, -9, 9))
    pd.testing.assert_frame_equal(quality.rank_sum(block, first, nudged), quality.rank_sum(block, first, values))


def test_worker_tests_pool_all_tasks_of_a_worker_in_a_run():
    low, high = [1, 2, 3, 4, 5], [60, 61, 70, 71, 80]
    rows = worker("w", {"qc": low, "a": high}) + worker("w", {"qc": low[:2], "b": high[:3]}, unit="v")
    rows += worker("w", {"qc": high, "a": low}, corpus="other")
    found = quality.worker_tests(marks(rows), "qc").set_index("corpus")
    expected = stats.mannwhitneyu(low + low[:2], high + high[:3], alternative="less", method="asymptotic").pvalue
    assert found.at["run", "p"] == pytest.approx(expected)
    assert found.loc["run", ["n_control", "n_ordinary", "n_units"]].tolist() == [7, 8, 2]
    assert found.at["run", "sd"] == pytest.approx(np.std(low + high + low[:2] + high[:3], ddof=1))
    assert found.at["other", "p"] > 0.95


def test_only_named_labels_are_tested_but_all_count_for_the_spread():
    rows = worker("w", {"qc": [1, 90], "a": [50, 2]})
    found = quality.worker_tests(marks(rows), "qc", ["label0"]).iloc[0]
    assert (found["n_control"], found["n_ordinary"]) == (1, 1)
    assert found["superiority"] == 0
    assert found["sd"] == pytest.approx(np.std([1, 90, 50, 2], ddof=1))


def test_who_passes():
    careful = {"qc": [1, 2, 3, 4, 5], "a": [60, 61, 70, 71, 80]}
    rows = worker("careful", careful) + worker("constant", {"qc": [50] * 5, "a": [50] * 5})
    rows += worker("careless", {"qc": [60, 61, 70, 71, 80], "a": [1, 2, 3, 4, 5]})
    rows += worker("no control", {"a": [1, 2]}) + worker("control only", {"qc": [1, 2]})
    tests = quality.worker_tests(marks(rows), "qc")
    assert tests["annotator"][quality.passes(tests)].tolist() == ["careful"]
    # one score throughout never passes, whatever the threshold; no rating of one side gives no p
    assert tests["annotator"][quality.passes(tests, 1.1)].tolist() == ["careful", "careless"]


def test_other_analyses_get_the_annotations_of_those_who_pass():
    careful = [
        ("r", "c", "u", s, s, "good", float(x)) for s, x in (("qc", 1), ("qc", 2), *(("a", x) for x in range(9, 19)))
    ]
    careless = [(*row[:1], "n", *row[2:6], 20 - row[6]) for row in careful]
    rows = marks([*careful, *careless])
    options = QualityControl(labels=["good"])
    found = quality.of_those_who_passed(rows, LABELS, "qc", options)
    assert set(found["annotator"]) == {"c"}
    assert stats.mannwhitneyu([1, 2], range(9, 19), alternative="less", method="asymptotic").pvalue < options.alpha
    pd.testing.assert_frame_equal(quality.of_those_who_passed(rows, LABELS, "none", options), rows)
    nobody = rows[rows["annotator"] == "n"]
    pd.testing.assert_frame_equal(quality.of_those_who_passed(nobody, LABELS, "qc", options), nobody)


def test_standard_scores_are_scipys_within_worker_and_run():
    rows = (
        worker("w", {"qc": [1, 2], "a": [7, 9]})
        + worker("v", {"a": [5, 5, 5]})
        + worker("w", {"a": [3, 90]}, corpus="x")
    )
    scores = marks(rows)
    z = quality.standardise(scores)
    for who in (["run", "w"], ["x", "w"]):
        mine = (scores[quality.WORKER] == who).all(axis=1)
        assert z[mine].to_numpy() == pytest.approx(stats.zscore(scores.loc[mine, "score"], ddof=1))
    assert z[scores["annotator"] == "v"].isna().all()


def test_a_dialogue_judged_at_many_turns_weighs_labels_equally():
    rows = [("r", "w", "u", "a", "1", label, x) for label, x in (("p", 0), ("p", 0), ("p", 6), ("q", 10))]
    assert quality.dialogue_means(marks(rows), "score")["value"].tolist() == [6]
