import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import comparisons, ratings, study

from judgebook.questions.groups import effects
from judgebook.questions.groups.permutation_null import permutation_null
from judgebook.study.results import collect


def difference(frame):
    """The mean over pairs of systems, of the only label and pair of groups."""
    (one,) = effects.label_scores(frame)
    sums = effects.unit_sums(one.scores, np.zeros(len(one.scores)), one.groups, one.systems)[1]
    return effects.over_pairs(sums, one.effect)[0, -1]


def null(frame, **options):
    return collect(effects.for_each_label(partial(permutation_null, **options), frame))


def row_of_test(found):
    """The row of the test of the only label and pair of groups."""
    (row,) = found["group_difference_test"].to_dict("records")
    return row


def points(found):
    """What chance gives: mean and q95."""
    return found["group_difference_null"].set_index("point")["estimate"]


def estimates(found):
    return np.array([*points(found), row_of_test(found)["estimate"]])


def tiny():
    """Two systems, six dialogues each; four of them judged by both groups, one of either by one group alone."""
    rng = np.random.default_rng(4)
    rows = [(f"d{i:02d}", "ab"[i % 2], f"s{i:02d}", float(rng.integers(1, 6))) for i in range(12)]
    again = [(*r[:3], float(rng.integers(1, 6))) for r in rows]
    first = [r for i, r in enumerate(rows) if i not in (0, 1)]
    second = [r for i, r in enumerate(again) if i not in (2, 3)]
    return pd.concat([ratings(first, group="g1"), ratings(second, group="g2", annotator="A2")], ignore_index=True)


def cohen(x, y):
    squares = np.sum((x - x.mean()) ** 2) + np.sum((y - y.mean()) ** 2)
    return (x.mean() - y.mean()) / np.sqrt(squares / (len(x) + len(y) - 2))


def test_judgements_are_exchanged_as_counted_by_hand():
    frame = tiny()
    found = null(frame, seed=1, n_permutations=20_000)
    z = frame.assign(score=frame.groupby("group")["score"].transform(lambda x: (x - x.mean()) / x.std()))
    wide = z.pivot_table(index=["dialogue", "system"], columns="group", values="score")
    shared, alone = wide.dropna(), wide[wide.isna().any(axis=1)].max(axis=1)
    lone, of_b = [alone.xs(s, level="system").to_numpy() for s in "ab"], shared.index.get_level_values(1) == "b"
    values = []
    for swaps in itertools.product([0, 1], repeat=len(shared)):
        own = np.where(np.array(swaps)[:, None] == 1, shared.to_numpy()[:, ::-1], shared.to_numpy())
        for a, b in itertools.product([0, 1], repeat=2):  # whose the lone dialogues of a and of b are
            d = [cohen(np.r_[own[~of_b, g], lone[0][g ^ a]], np.r_[own[of_b, g], lone[1][g ^ b]]) for g in (0, 1)]
            values.append(abs(d[0] - d[1]))
    observed = difference(frame)
    row = row_of_test(found)
    assert row["estimate"] == pytest.approx(observed)
    assert row["p_value"] == pytest.approx(np.mean(np.array(values) >= observed - 1e-9), abs=0.01)
    assert points(found)["mean"] == pytest.approx(np.mean(values), abs=0.01)
    assert points(found)["q95"] == pytest.approx(np.quantile(values, 0.95), abs=0.03)


def test_annotators_are_exchanged_as_counted_by_hand():
    frame = study(np.random.default_rng(2), n_sessions=40, n_annotators=3)
    frame = frame.drop(frame.index[frame["group"] == "g2"][:15])  # groups judged unequal numbers
    found = null(frame, seed=1, exchange="annotator")
    z = frame.assign(score=frame.groupby("group")["score"].transform(lambda x: (x - x.mean()) / x.std()))
    people = sorted(frame["annotator"].unique())
    values = []
    for chosen in itertools.combinations(people, 3):
        other = z.assign(group=np.where(z["annotator"].isin(chosen), "g1", "g2"))
        values.append(difference(other))
    row = row_of_test(found)
    assert row["p_value"] == pytest.approx(np.mean(np.array(values) >= row["estimate"] - 1e-9))
    assert row["note"] == "all 20 arrangements"
    assert points(found)["mean"] == pytest.approx(np.mean(values))
    assert points(found)["q95"] == pytest.approx(np.quantile(values, 0.95))


def test_many_annotators_are_drawn_at_random():
    frame = study(np.random.default_rng(2), n_annotators=10)
    row = row_of_test(null(frame, seed=1, exchange="annotator", n_permutations=500))
    assert row["note"] == "random 500 arrangements"


def test_leniency_and_spread_are_no_difference():
    frame = study(np.random.default_rng(3))
    second = frame["group"] == "g2"
    other = frame.assign(score=frame["score"].where(~second, 7 + 3 * frame["score"]))
    for exchange in ("judgement", "annotator"):
        a, b = (null(f, seed=1, exchange=exchange, n_permutations=500) for f in (frame, other))
        assert estimates(a) == pytest.approx(estimates(b))
        assert row_of_test(a)["p_value"] == row_of_test(b)["p_value"]


def test_comparisons_are_exchanged_whole():
    rng = np.random.default_rng(5)
    rows = [(*rng.choice(["a", "b", "c"], 2, replace=False), rng.integers(-1, 2)) for _ in range(60)]
    frame = pd.concat([comparisons(rows, group="g1"), comparisons(rows, group="g2", annotator="A2")])
    found = null(frame, seed=1, n_permutations=200)
    # groups that say the same of everything: nothing changes, whatever is exchanged
    assert estimates(found) == pytest.approx(0, abs=1e-12)
    assert row_of_test(found)["p_value"] == 1.0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"annotator_known": False}, "annotators are positions, not people"),
        ({"annotator": "A1"}, "g1 has 1 annotator: group and person cannot be separated"),
    ],
)
def test_no_people_no_test_of_annotators(change, reason):
    frame = study(np.random.default_rng(3)).assign(**change)
    found = null(frame, seed=1, exchange="annotator")
    assert np.isnan(estimates(found)).all()
    assert {note for rows in found.values() for note in rows["note"]} == {reason}


def test_a_group_that_lacks_a_system_leaves_the_reason():
    frame = study(np.random.default_rng(3))
    frame = frame[(frame["group"] == "g1") | (frame["system"] != "d")]
    found = null(frame, seed=1, n_permutations=100)
    assert np.isnan(row_of_test(found)["p_value"])
    assert all(rows["note"].notna().all() for rows in found.values())
