"""Which method, and which labels, depend less on who judges."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import monte_carlo, study

from judgebook.questions.groups import analysis, effects
from judgebook.questions.groups.claims import _Noise, _Side, robustness
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import collect

#: standard deviation of a score within a system in `study`
WITHIN = np.sqrt(0.7**2 + 0.7**2)


def two_methods(rng, shifts=(0.0, 0.0), labels=("quality",), **options):
    """Ratings of the same sessions under two methods, each with its own shift of the second group."""
    parts = [
        study(rng, shift=shift, **options).assign(method=method, label=label, annotator_kind="human")
        for method, shift in zip(("dialogue_likert", "continuous"), shifts, strict=True)
        for label in labels
    ]
    return pd.concat(parts, ignore_index=True)


def found(frame, n_resamples=300, objective=()):
    sampling = Sampling(n_resamples, 0.95, 1)
    return collect(robustness(frame, sampling=sampling, objective=objective, people_resamples=100))


def test_measures_by_hand():
    side = _Side({}, np.array([0, 1]), np.array([2, 3]))
    # both noises 0.5 and 0.25, covariance 0.1 in both effects
    covariance = np.kron([[0.5, 0.1], [0.1, 0.25]], np.eye(2))
    noise = _Noise(np.linalg.cholesky(covariance).T, 1.0)
    difference, correlation = side.measures(np.array([[2.0, -1.0, 1.0, 3.0]]), noise, 1)[0]
    off = 0.5 + 0.25 - 2 * 0.1
    assert difference == pytest.approx(np.sqrt((1 - off + 16 - off) / 2))
    assert correlation == pytest.approx((2 - 3 - 0.2) / np.sqrt((5 - 1.0) * (10 - 0.5)))


def test_difference_is_the_root_of_the_mean_of_what_each_label_has():
    frame = two_methods(np.random.default_rng(1), (0.5, 1.5), ("quality", "fun"))
    mine = found(frame)["robustness"].query("of == 'difference' and resample == 'session'").set_index("method")
    each = collect(effects.for_each_label(partial(analysis.resampled, sampling=Sampling(50, 0.95, 1)), frame))
    each = each.select("group_difference_debiased", scale="square").groupby("method")["estimate"].mean()
    for method, square in each.items():
        assert mine.loc[method, "estimate"] == pytest.approx(np.sqrt(square))
        assert mine.loc[method, "n"] == 12


def test_contrast_is_the_difference_of_its_sides():
    results = found(two_methods(np.random.default_rng(2), (0.2, 1.5)))
    sides = results["robustness"].set_index(["of", "resample", "method"])["estimate"]
    for row in results["robustness_contrast"].itertuples():
        wanted = sides[row.of, row.resample, row.method] - sides[row.of, row.resample, row.against]
        assert row.estimate == pytest.approx(wanted)


def test_objective_labels_are_held_against_the_others():
    frame = two_methods(np.random.default_rng(5), (0.0, 0.0), ("quality", "fun", "facts"))
    frame.loc[(frame["label"] == "facts") & (frame["system"] == "a") & (frame["group"] == "g2"), "score"] += 2
    rows = found(frame, objective=["facts"], n_resamples=500)["robustness_contrast"]
    rows = rows.query("labels == 'objective' and of == 'difference' and resample == 'session'")
    assert sorted(rows["method"]) == ["continuous", "dialogue_likert"]
    assert (rows["ci_low"] > 0).all()
    assert found(frame[frame["label"] == "fun"].query("method == 'continuous'"), objective=["facts"]) == {}


@pytest.mark.evidence
def test_intervals_cover_the_truth():
    """A shift of one system moves the effects of three of six pairs by shift / sd."""
    shifts = (0.3, 1.0)
    truth = (shifts[1] - shifts[0]) / WITHIN * np.sqrt(0.5)
    n, covered, estimates = 80, [], []
    for i in range(n):
        frame = two_methods(np.random.default_rng([8, i]), shifts, n_sessions=80)
        rows = robustness(frame.assign(annotator_known=False), sampling=Sampling(400, 0.95, i))
        row = next(r for r in rows if r["statistic"] == "robustness_contrast" and r["of"] == "difference")
        sign = 1 if row["method"] == "continuous" else -1
        ends = sorted([sign * row["ci_low"], sign * row["ci_high"]])
        covered.append(ends[0] <= truth <= ends[1])
        estimates.append(sign * row["estimate"])
    assert np.mean(covered) > 0.95 - monte_carlo(0.95, n)
    assert np.mean(estimates) == pytest.approx(truth, abs=0.06)


def test_of_very_many_pairs_random_ones_are_used(monkeypatch):
    frame, module = two_methods(np.random.default_rng(1), (0.5, 1.5)), "judgebook.questions.groups.claims"
    whole = found(frame)
    monkeypatch.setattr(f"{module}.MANY_PAIRS", 3)
    monkeypatch.setattr(f"{module}.MOST_KEPT", 6)  # all of four systems: the estimates are the same
    mine = found(frame)
    for statistic, rows in whole.items():
        expected = pytest.approx(rows["estimate"].to_numpy(), rel=1e-9, nan_ok=True)
        assert mine[statistic]["estimate"].to_numpy() == expected
    monkeypatch.setattr(f"{module}.MOST_KEPT", 2)
    assert set(found(frame)["robustness"]["n"]) == {2}
