"""Numbers, times, opinions, lengths, costs and pairs of workers: cases solved by hand."""

import numpy as np
import pandas as pd
import pytest

from judgebook.questions.quality_control import worker_summary
from judgebook.statistics import Sampling

WORKERS = pd.DataFrame({"corpus": "r", "annotator": ["w1", "w2", "w3"], "passed": [True, False, False]})
UNITS = pd.DataFrame(
    {
        "corpus": "r",
        "annotator": ["w1", "w1", "w2", "w3", "w4"],
        "work_unit": ["u1", "u2", "u3", "u4", "u5"],
        "n_dialogues": [6, 6, 6, 6, 0],
        "seconds": [360.0, 720.0, 1080.0, np.nan, 99.0],
    }
)


def estimates(rows, *keys):
    return {tuple(row[k] for k in ("statistic", *keys)): row["estimate"] for row in rows}


def test_numbers_count_workers_without_answers_under_all():
    rows = list(worker_summary.numbers(UNITS, WORKERS, 5))
    found = estimates(rows[:3] + rows[3:6] + rows[8:], "what", "workers") | estimates(rows[6:8], "of")
    assert found["qc_count", "workers", "all"] == 4
    assert found["qc_count", "workers", "passed"] == 1
    assert found["qc_count", "workers", "failed"] == 2
    assert found["qc_count", "dialogues", "all"] == 25
    assert found["qc_count", "dialogues", "passed"] == 10
    assert found["pass_rate", "workers"] == 1 / 4
    assert found["pass_rate", "dialogues"] == 2 / 5


def test_minutes_are_means_over_timed_units_with_answers():
    rows = list(worker_summary.minutes(UNITS, WORKERS, sampling=Sampling(n_resamples=200, confidence=0.95, seed=1)))
    assert estimates(rows, "workers") == {
        ("minutes_per_dialogue", "all"): pytest.approx((1 + 2 + 3) / 3),
        ("minutes_per_dialogue", "passed"): pytest.approx(1.5),
        ("minutes_per_dialogue", "failed"): pytest.approx(3),
    }
    assert [row["n"] for row in rows] == [3, 2, 1]
    assert [row["ci_kind"] for row in rows[1:]] == ["not_estimable", "not_estimable"]


def test_costs_by_hand():
    found = estimates(worker_summary.costs(UNITS, WORKERS, 0.99, 10, 5), "per")
    assert found["crowd_cost", "run"] == pytest.approx(4.95)
    assert found["crowd_cost", "system"] == pytest.approx(0.495)
    assert found["crowd_cost", "dialogue"] == pytest.approx(0.99 / 5)
    assert found["crowd_cost", "passed dialogue"] == pytest.approx(4.95 / 10)


def test_lengths_by_hand():
    texts = pd.DataFrame(
        {
            "corpus": "r",
            "dialogue": ["a", "a", "b"],
            "user_text": ["hi you", "well", None],
            "system_text": ["good  day\nto you", "bye", "x"],
        }
    )
    found = worker_summary.lengths(texts)
    conversation = found[found["of"] == "conversation"]
    assert conversation[["dialogue", "words", "characters"]].to_numpy().tolist() == [["a", 3, 9]]
    inputs = found[found["of"] == "input"]
    assert sorted(zip(inputs["words"], inputs["characters"], strict=True)) == [(1, 4), (2, 5)]
    inputs = found[found["of"] == "message"]
    assert sorted(zip(inputs["words"], inputs["characters"], strict=True)) == [(1, 1), (1, 3), (1, 4), (2, 5), (4, 12)]
    rows = worker_summary.median_lengths(found.assign(annotator="w1"), WORKERS)
    medians = estimates(rows, "of", "unit", "workers")
    assert medians["median_length", "message", "characters", "passed"] == 4
    assert medians["median_length", "input", "characters", "passed"] == 4.5
    assert np.isnan(medians.get(("median_length", "input", "characters", "failed"), np.nan))


def test_planned_dialogues_is_the_most_frequent_number():
    units = [("u1", "a"), ("u1", "b"), ("u1", "qc"), ("u2", "a"), ("u2", "b"), ("u3", "a")]
    scores = pd.DataFrame(units, columns=["work_unit", "system"]).assign(corpus="r", dialogue=range(6))
    assert worker_summary.planned_dialogues(scores, "qc") == 2
    assert worker_summary.planned_dialogues(scores.assign(work_unit=None), "qc") == 0


@pytest.fixture
def means():
    rng = np.random.default_rng(3)
    rows = [(f"w{i}", f"u{i}", s, rng.normal()) for i in range(1, 4) for s in ("a", "b", "c", "qc")]
    rows += [("w3", "u9", s, rng.normal()) for s in ("a_p", "b", "c")]
    return pd.DataFrame(rows, columns=["annotator", "work_unit", "system", "value"]).assign(corpus="r")


def test_pairs_are_correlated_over_shared_families_as_numpy_does(means):
    found = worker_summary.pair_correlations(means, {"A": ["a", "a_p"]}, WORKERS)
    wide = means.assign(kind=means["system"].str[:1]).pivot_table(index="work_unit", columns="kind", values="value")
    both = wide.loc[["u1", "u9"]].dropna(axis=1)
    assert sorted(found["n"]) == [3, 3, 4, 4, 4]
    assert np.isclose(found["r"], np.corrcoef(both)[0, 1]).any()
    # w1 passed, the others failed; two units of one worker are no pair
    assert found["workers"].value_counts().to_dict() == {"mixed": 3, "failed": 2}
    rows = worker_summary.pair_summary(found.assign(control="with", pairs="all"))
    assert (
        estimates(rows, "of", "workers")["worker_pair_r", "median", "mixed"]
        == found.loc[found["workers"] == "mixed", "r"].median()
    )


def test_pair_summary_by_hand():
    r = [-0.35, 0.61, 0.65, 0.9, 0.2]
    pairs = pd.DataFrame({"corpus": ["r", "r", "r", "r", "s"], "workers": "failed", "r": r})
    found = list(worker_summary.pair_summary(pairs.assign(control="with", pairs="all")))
    got = {("both" if pd.isna(x["corpus"]) else x["corpus"], x["of"]): x["estimate"] for x in found}
    assert got["r", "median"] == pytest.approx(0.63)
    assert got["r", "below_zero"] == 0.25
    assert got["r", "peak"] == pytest.approx(0.6)  # 0.61 and 0.65
    assert got["s", "peak"] == pytest.approx(0.2)
    assert (got["both", "median"], got["both", "below_zero"]) == (pytest.approx(0.61), 0.2)
    assert got["r", "peak_end"] == pytest.approx(0.7)
    assert [x["n"] for x in found] == [4] * 4 + [1] * 4 + [5] * 4


def test_constant_workers_have_no_correlation(means):
    means.loc[means["work_unit"] == "u1", "value"] = 50.0
    found = worker_summary.pair_correlations(means, {}, WORKERS)
    assert set(found["workers"]) == {"failed"}
