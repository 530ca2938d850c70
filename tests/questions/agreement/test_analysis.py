"""Agreement of annotation frames: published values, the choice of annotations and of units, odd studies."""

import json

import krippendorff
import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import annotation_rows as frame

from judgebook.questions.agreement import analysis as agreement
from judgebook.questions.agreement import items
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import LABEL_SETS

LABELS = LABEL_SETS["abc_eval"]

QUICK = Sampling(n_resamples=500, confidence=0.95, seed=1)


def likert(matrix, label="quality", known=True):
    """A dialogue-Likert label from an (items, annotators) matrix."""
    rows = [
        {"dialogue": f"d{i:03d}", "method": "dialogue_likert", "label": label, "annotator": f"A{j}", "score": s}
        for i, row in enumerate(matrix)
        for j, s in enumerate(row)
        if np.isfinite(s)
    ]
    return frame(rows, annotator_known=known)


def pick(results, statistic, **keys):
    (row,) = results.select(statistic, **keys).to_dict("records")
    return row


def assert_same(ours, theirs):
    assert set(ours) == set(theirs)
    for statistic, frame_ in ours.items():
        pd.testing.assert_frame_equal(frame_, theirs[statistic])


def test_first_two_annotations_are_taken_in_source_order():
    values = np.array([[1.0, 1, 5], [2, 2, 5], [3, 3, 1], [5, 5, 1], [4, np.nan, np.nan]])
    rows = likert(values)
    two = agreement.alpha_table(rows, LABELS, sampling=QUICK)
    assert pick(two, "alpha", raters="first2")["estimate"] == 1.0
    assert pick(two, "alpha", raters="first2")["n"] == 4
    turned = rows.assign(source_row=-rows["source_row"])
    assert pick(agreement.alpha_table(turned, LABELS, sampling=QUICK), "alpha")["estimate"] < 0.5
    # the order of the rows themselves does not matter
    again = agreement.alpha_table(rows.sample(frac=1, random_state=1), LABELS, sampling=QUICK)
    assert_same(again, two)


def test_two_judgements_of_one_person_are_no_pair():
    rows = likert(np.array([[1.0, 2], [3, 3], [4, 5]]))
    repeat = rows.assign(annotator="A0", work_unit=rows["annotator"])
    table = agreement.alpha_table(repeat, LABELS, sampling=QUICK)
    assert pick(table, "alpha")["note"] == "no item has two annotations"
    positions = agreement.alpha_table(repeat.assign(annotator_known=False), LABELS, sampling=QUICK)
    assert pick(positions, "alpha")["n"] == 3


def test_models_stay_out_unless_asked_for():
    rows = likert(np.array([[1.0, 2], [3, 3], [4, 5], [2, 2]]))
    rows.loc[rows["annotator"] == "A1", "annotator_kind"] = "llm"
    assert pick(agreement.alpha_table(rows, LABELS, sampling=QUICK), "alpha")["ci_kind"] == "not_estimable"
    both = agreement.alpha_table(rows, LABELS, kinds=("human", "llm"), sampling=QUICK)
    assert pick(both, "alpha", kind="human+llm")["n"] == 4


def comparisons(scores, *, turned=lambda item, annotator: False):
    """turned : whether a judgement is stored from the other side."""
    rows = []
    for i, pair in enumerate(scores):
        for j, s in enumerate(pair):
            a, b = f"p{i:02d}_x", f"p{i:02d}_y"
            swap = turned(i, j)
            rows.append(
                {"dialogue": b if swap else a, "dialogue_b": a if swap else b, "system_b": "b", "annotator": f"A{j}"}
                | {"method": "comparative", "label": "engaging", "score": -s if swap else s}
            )
    return frame(rows)


def test_comparisons_count_both_orientations_and_ignore_which_side_is_left():
    r = np.random.default_rng(1)
    first = r.choice([-1.0, 0, 1], size=40, p=[0.4, 0.2, 0.4])
    scores = np.column_stack([first, np.where(r.random(40) < 0.6, first, r.choice([-1.0, 0, 1], size=40))])
    table = agreement.alpha_table(comparisons(scores), LABELS, sampling=QUICK)
    theirs = krippendorff.alpha(reliability_data=np.concatenate([scores, -scores]).T, level_of_measurement="ordinal")
    alpha = pick(table, "alpha", resample="pair")
    assert alpha["estimate"] == pytest.approx(theirs)
    assert (alpha["n"], alpha["n_clusters"], alpha["resample_unit"]) == (40, 40, "pair")
    stored = pick(table, "alpha", orientation="stored")["estimate"]  # what other software gives
    assert stored == pytest.approx(krippendorff.alpha(scores.T, level_of_measurement="ordinal"))
    turned = agreement.alpha_table(comparisons(scores, turned=lambda i, j: j == 1), LABELS, sampling=QUICK)
    assert_same(turned, table)
    other = agreement.alpha_table(comparisons(scores, turned=lambda i, j: i % 2), LABELS, sampling=QUICK)
    assert pick(other, "alpha", resample="pair")["estimate"] == pytest.approx(theirs)
    scores[1::2] *= -1
    stored = pick(other, "alpha", orientation="stored")["estimate"]
    assert stored == pytest.approx(krippendorff.alpha(scores.T, level_of_measurement="ordinal"))


def test_between_groups_pairs_one_annotation_of_each():
    rows = likert(np.array([[1.0, 2, 5], [3, 3, 1], [4, 5, 1], [2, 2, 4], [5, 4, np.nan]]))
    rows["group"] = rows["annotator"].map({"A0": "ours", "A1": "theirs", "A2": "ours"})
    table = agreement.alpha_between(rows, LABELS, "ours", "theirs", sampling=QUICK)
    found = pick(table, "alpha", raters="one_each")
    expected = krippendorff.alpha(
        reliability_data=np.array([[1, 3, 4, 2, 5], [2, 3, 5, 2, 4.0]]), level_of_measurement="ordinal"
    )
    assert found["estimate"] == pytest.approx(expected)
    assert (found["group"], found["group_b"], found["n"]) == ("ours", "theirs", 5)
    with pytest.raises(ValueError, match="two of ours, theirs, found 'ours' and 'others'"):
        agreement.alpha_between(rows, LABELS, "ours", "others")


def test_over_annotators_is_for_known_people_of_whom_there_are_enough():
    r = np.random.default_rng(4)
    values = np.clip(np.round(3 + r.normal(size=(50, 1)) + 0.6 * r.normal(size=(50, 6))), 1, 5)
    both = pick(agreement.alpha_over_annotators(likert(values), LABELS), "alpha", resample="dialogue and annotator")
    assert (both["ci_kind"], both["n_annotators"]) == ("jackknife_t", 6)
    assert both["estimate"] == pytest.approx(krippendorff.alpha(values.T, level_of_measurement="ordinal"))
    assert not agreement.alpha_over_annotators(likert(values, known=False), LABELS)  # positions, not people
    assert not agreement.alpha_over_annotators(likert(values[:, :1]), LABELS)  # no item has two annotations
    two = pick(agreement.alpha_over_annotators(likert(values[:, :2]), LABELS), "alpha")
    assert two["note"] == "2.0 effective annotators, of 5 needed"
    assert two["estimate"] == pytest.approx(krippendorff.alpha(values[:, :2].T, level_of_measurement="ordinal"))


@pytest.mark.verify
@pytest.mark.data
def test_published_alphas_of_the_behaviour_marks(raw_data):
    data = json.loads((raw_data / "gpt_abceval" / "behavior-classification-results.json").read_text())
    rows = [
        {"dialogue": d, "turn": t, "label": label.replace(" ", "_"), "annotator": f"pos{j}", "score": score}
        for d, pairs in data.items()
        for t, pair in enumerate(pairs)
        for label, marks in pair["behaviors"].items()
        for j, score in enumerate(marks["human"])
    ]
    table = agreement.alpha_table(frame(rows, method="behavior", annotator_known=False), LABELS, sampling=QUICK)
    published = {
        "self_contradiction": 0.407, "empathetic": 0.514, "lack_of_empathy": 0.435, "irrelevant": 0.456,
        "ignore": 0.571, "incorrect_fact": 0.652, "commonsense_contradiction": 0.442, "partner_contradiction": 0.436,
        "redundant": 0.551,
    }  # fmt: skip
    for label, value in published.items():
        row = pick(table, "alpha", label=label, resample="dialogue")
        assert round(row["estimate"], 3) == value
        assert (row["n"], row["n_clusters"], row["ci_kind"]) == (1634, 108, "bca")


def turns_in_sessions(seed=4):
    """Marks by two people on turns of dialogues, two dialogues a session, which share what is marked."""
    rng, rows = np.random.default_rng(seed), []
    for d in range(60):
        truth = rng.random(8) < (0.2 if d // 2 % 2 else 0.7)
        for a in range(2):
            for t, mark in enumerate(truth ^ (rng.random(8) < 0.2)):
                rows.append({"dialogue": f"d{d}", "turn": t, "annotator": f"A{a}", "score": float(mark)})
    out = frame(rows, method="behavior", label="ignore", annotator_known=True)
    return out.assign(session="s" + (out["dialogue"].str[1:].astype(int) // 2).astype(str))


@pytest.mark.parametrize(
    ("unit", "resampled", "clusters"),
    [(None, "dialogue", 60), ("dialogue", "dialogue", 60), ("session", "session", 30)],
)
def test_the_primary_interval_resamples_what_the_study_says(unit, resampled, clusters):
    marks = turns_in_sessions()
    found = agreement.alpha_table(marks, LABELS, first=None, unit=unit, sampling=QUICK)
    (row,) = items.primary(found).to_dict("records")
    assert (row["resample"], row["resample_unit"], row["n_clusters"]) == (resampled, resampled, clusters)
    assert pick(found, "positive_agreement")["resample_unit"] == resampled


def test_turns_are_primary_only_where_the_study_says_so_and_then_mislead():
    marks = turns_in_sessions()
    found = agreement.alpha_table(marks, LABELS, first=None, unit="turn", sampling=QUICK)
    (row,) = items.primary(found).to_dict("records")
    assert (row["resample"], row["n_clusters"]) == ("turn", 480)
    assert items.misleading(marks, "turn") == ["behavior"]
    assert items.misleading(marks, "session") == items.misleading(marks, None) == []
    assert items.misleading(marks[marks["turn"] == 3], "turn") == []
