"""Effects of very many pairs of systems: against the resampling that holds all of them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import study

from judgebook.questions.groups import effects, joint_resampling, many_pairs
from judgebook.statistics.intervals import QUANTILES, Sampling
from judgebook.study.results import collect, fold

KEYS = ["label", "group", "group_b", "system", "system_b"]


@pytest.fixture(scope="module")
def frame():
    return study(np.random.default_rng(1), shift=0.6)


@pytest.fixture(scope="module")
def both(frame):
    """Results and the effects of all pairs; the same by `joint_resampling`."""
    kept = []
    size = {"margin": 0.2, "people_resamples": 300, "sampling": Sampling(1_000, 0.95, 1)}
    found = many_pairs.many_pairs(frame, frame, lambda rows, name: kept.append((rows, name)), **size)
    ((every, name),) = kept
    assert name == many_pairs.STORED
    joint = collect(
        *(
            effects.for_each_label(partial(kernel, sampling=Sampling(n, 0.95, 1)), frame, per_item=True)
            for kernel, n in ((joint_resampling.resampled, 1_000), (joint_resampling.resampled_two_way, 300))
        )
    )
    return found, every, joint


def rows(results, statistic, **keys):
    return results.select(statistic, **keys).set_index(KEYS).sort_index()


def test_estimates_and_noise_are_those_of_joint_resampling(both):
    found, every, joint = both
    for statistic in ("effect_size", "effect_difference"):
        mine, theirs = (rows(r, statistic, resample="session") for r in (found, joint))
        assert mine["estimate"].to_numpy() == pytest.approx(theirs["estimate"].to_numpy(), abs=1e-12)
    assert len(every) == len(found["effect_size"]) // 2 + len(found["effect_difference"]) // 2
    for statistic in ("group_difference_debiased", "equivalence_margin"):
        for column in ("estimate", "ci_low", "ci_high", "p_value"):
            mine, theirs = (r[statistic][column].to_numpy() for r in (found, joint))
            assert mine == pytest.approx(theirs, rel=1e-9, nan_ok=True)


def test_intervals_over_sessions_are_as_wide_as_by_resampling(both):
    found, _, joint = both
    sizes = (rows(x, "effect_size", resample="session") for x in (found, joint))
    widths = [(r["ci_high"] - r["ci_low"]).mean() for r in sizes]
    assert widths[0] == pytest.approx(widths[1], rel=0.06)


def test_blocks_change_nothing(frame, monkeypatch):
    size = {"margin": 0.2, "people_resamples": 100, "sampling": Sampling(100, 0.95, 1)}
    kept = [[], []]
    whole = many_pairs.many_pairs(frame, frame, lambda f, _: kept[0].append(f), **size)
    for module in (many_pairs, effects):
        monkeypatch.setattr(module, "CHUNK", 50)
    cut = many_pairs.many_pairs(frame, frame, lambda f, _: kept[1].append(f), **size)
    pd.testing.assert_frame_equal(kept[0][0], kept[1][0], rtol=1e-12)
    stored = [fold(r, study="x", notebook="08").drop(columns="note") for r in (whole, cut)]
    pd.testing.assert_frame_equal(*stored, rtol=1e-9)


def test_many_sessions_are_left_out_in_groups(frame, monkeypatch):
    size = {"margin": 0.2, "people_resamples": 100, "sampling": Sampling(200, 0.95, 1)}
    exact = many_pairs.many_pairs(frame, frame.head(0), lambda *_: None, **size)
    n = frame["session"].nunique()
    monkeypatch.setattr(many_pairs, "MOST_UNITS", n // 2)
    found = many_pairs.many_pairs(frame, frame.head(0), lambda *_: None, **size)
    widths = [(r["effect_size"]["ci_high"] - r["effect_size"]["ci_low"]).mean() for r in (exact, found)]
    assert widths[1] == pytest.approx(widths[0], rel=0.2)
    assert found["group_difference"]["note"].str.contains(f"{n // 2} random groups").all()


def test_percentiles_are_numpys_and_leave_out_what_is_undefined():
    values = np.random.default_rng(1).normal(size=(200, 3))
    values[:3, 1] = np.nan
    values[:9, 2] = np.nan
    low, high = many_pairs.percentiles(values, 0.025)
    for i, n in ((0, 0), (1, 3)):
        expected = np.quantile(values[n:, i], [0.025, 0.975], method=QUANTILES)
        assert [low[i], high[i]] == pytest.approx(expected)
    assert np.isnan([low[2], high[2]]).all()  # more are undefined than lie beyond one end
