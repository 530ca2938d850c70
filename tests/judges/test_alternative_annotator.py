"""The alternative annotator test: by hand, against scipy, and by simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from helpers.judges import alternative_annotator as alternative
from helpers.study.labels import Label
from helpers.study.results import collect, fold

LABELS = [Label("bad", "behavior", "Bad", (0, 1)), Label("fine", "turn_rating", "Fine", (1, 5))]


def winning_rates(annotations, **options):
    return collect(alternative.winning_rates(annotations, LABELS, **options))


def test_alignment_by_hand():
    others = np.array([[1.0, 1, 0], [0, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    value = np.array([1.0, 1, 1])
    assert alternative.alignment(value, others, "nominal") == pytest.approx([2 / 3, 0, np.nan], nan_ok=True)
    expected = [-np.sqrt(1 / 3), -1, np.nan]
    assert alternative.alignment(value, others, "ordinal") == pytest.approx(expected, nan_ok=True)


def test_p_values_are_those_of_scipy():
    rng = np.random.default_rng(1)
    values = rng.integers(1, 6, (60, 4)).astype(float)
    values[:10, 0] = np.nan
    model = np.nanmean(values, axis=1).round()
    found = alternative.left_out(values, model, np.arange(60), "ordinal", cost=0.1, min_items=30)
    assert found["n"].tolist() == [50, 60, 60, 60]
    for row in found.itertuples():
        at, others = np.isfinite(values[:, row.annotator]), np.delete(values, row.annotator, axis=1)
        distance = [
            np.sqrt(np.nanmean((others[at] - v[at, None]) ** 2, axis=1)) for v in (model, values[:, row.annotator])
        ]
        human, ours = (distance[1] <= distance[0] + 1e-12), (distance[0] <= distance[1] + 1e-12)
        assert (row.judge, row.human) == (pytest.approx(ours.mean()), pytest.approx(human.mean()))
        d = human.astype(float) - ours
        test = stats.ttest_1samp(d, 0.1, alternative="less")
        assert row.p_value == pytest.approx(test.pvalue)
        # every item its own dialogue: the same standard error
        assert row.p_clustered == pytest.approx(test.pvalue)


def test_items_that_one_person_or_no_judge_judged_do_not_count():
    rng = np.random.default_rng(3)
    values, model = rng.integers(1, 6, (90, 3)).astype(float), rng.integers(1, 6, 90).astype(float)
    values[:10, 1:] = values[10:20, :2] = model[20:30] = np.nan
    found = alternative.left_out(values, model, np.arange(90) // 2, "ordinal", min_items=30)
    rest = alternative.left_out(values[30:], model[30:], np.arange(30, 90) // 2, "ordinal", min_items=30)
    assert found["n"].tolist() == [60, 60, 60]
    pd.testing.assert_frame_equal(found, rest)


def test_whole_dialogues_say_less_than_their_turns():
    rng = np.random.default_rng(2)
    values = rng.integers(1, 6, (100, 3)).astype(float)
    twice = np.repeat(values, 4, axis=0)
    model = np.nanmean(twice, axis=1)
    found = alternative.left_out(twice, model, np.repeat(np.arange(100), 4), "ordinal", cost=0.15, min_items=30)
    assert (found["p_value"] < found["p_clustered"]).all()


def simulated(rng, noise, n=200, m=4, known=True):
    truth = rng.normal(size=n)
    rows = []
    for i, sd in enumerate([1.0] * m + [noise]):
        kind = "human" if i < m else "llm"
        score = np.clip(np.rint(3 + truth + sd * rng.normal(size=n)), 1, 5)
        rows.append(pd.DataFrame({"annotator": f"A{i}", "annotator_kind": kind, "score": score, "item": range(n)}))
    frame = pd.concat(rows, ignore_index=True)
    fixed = {"corpus": "main", "method": "turn_rating", "label": "fine", "dialogue_b": None, "annotator_known": known}
    return frame.assign(dialogue="d" + (frame["item"] // 5).astype(str), turn=frame["item"] % 5, **fixed)


@pytest.mark.parametrize(("noise", "wins"), [(0.3, True), (1.0, True), (4.0, False)])
def test_a_good_judge_wins_and_a_bad_one_does_not(noise, wins):
    """As good as a person passes, because it may be worse by the cost."""
    found = winning_rates(simulated(np.random.default_rng(3), noise), cost=0.2)
    rate = found.select("winning_rate", test="items", cost=0.2)["estimate"].item()
    assert (rate >= 0.5) == wins
    assert len(fold(found, study="x", notebook="13")) == 3
    advantage = found["advantage_probability"].iloc[0]
    assert (advantage["n_annotators"], advantage["n"]) == (4, 800)
    assert (advantage["estimate"] > 0.5) == wins


def test_rates_are_those_of_the_tests_of_each_annotator():
    frame = simulated(np.random.default_rng(5), 1.6)
    found = winning_rates(frame, cost=0.1)
    wide = frame.pivot_table(index=["dialogue", "turn"], columns="annotator", values="score")
    people, judge = wide.drop(columns="A4").to_numpy(), wide["A4"].to_numpy()
    each = alternative.left_out(people, judge, wide.index.get_level_values("dialogue"), "ordinal", cost=0.1)
    for test, column in (("items", "p_value"), ("dialogues", "p_clustered")):
        passed = multipletests(each[column], alpha=0.05, method="fdr_by")[0]
        assert found.select("winning_rate", test=test)["estimate"].item() == passed.mean()
    assert found["advantage_probability"]["estimate"].item() == pytest.approx(each["judge"].mean())


def test_where_it_does_not_apply_there_is_a_reason():
    rng = np.random.default_rng(4)
    reasons = {
        "Annotators are positions in a list, not people": simulated(rng, 1.0, known=False),
        "2 annotators have 30 items that others also judged; 3 are needed": simulated(rng, 1.0, m=2),
        "0 annotators have 30 items that others also judged; 3 are needed": simulated(rng, 1.0, n=20),
    }
    for reason, frame in reasons.items():
        found = winning_rates(frame)["winning_rate"]
        assert found["estimate"].isna().all()
        assert found["note"].str.startswith(reason).all()
    people = simulated(rng, 1.0)
    assert winning_rates(people[people["annotator_kind"] == "human"]) == {}
