from functools import partial

import numpy as np
import pandas as pd
import pingouin
import pytest
from fixtures.made_annotations import comparisons, monte_carlo, ratings, study
from scipy import stats

from judgebook.questions.groups import analysis as groups
from judgebook.questions.groups import effects
from judgebook.questions.groups.analysis import conclusions
from judgebook.statistics.clusters import jackknife_covariance
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import Results, collect


def resampled(frame, n_resamples=10_000):
    return collect(effects.for_each_label(partial(groups.resampled, sampling=Sampling(n_resamples, 0.95, 1)), frame))


def column(rows, name):
    return np.array([row[name] for row in rows])


@pytest.fixture(scope="module")
def frame():
    return study(np.random.default_rng(1), shift=0.6)


@pytest.fixture(scope="module")
def found(frame):
    return resampled(frame, n_resamples=2_000)


def test_point_estimates_are_the_published_ones(frame, found):
    (one,) = effects.label_scores(frame)
    published = effects.over_pairs(one.sums("session")[1].sum(axis=0)[None], one.effect)[0]
    estimates = [found[s]["estimate"].to_numpy() for s in ("mean_absolute_effect", "group_difference")]
    assert np.concatenate(estimates) == pytest.approx(published)
    sizes, differences = (found[s]["estimate"].to_numpy() for s in ("effect_size", "effect_difference"))
    assert differences == pytest.approx(sizes[:6] - sizes[6:])
    assert np.mean(np.abs(differences)) == pytest.approx(found["group_difference"]["estimate"].item())


def test_sessions_resampled_jointly_give_narrower_differences(frame, found):
    # both groups judged every dialogue: what they share cancels, and the published resampling does not know it
    joint = found["effect_difference"]
    apart = resampled(frame.assign(session=frame["session"] + frame["group"]), n_resamples=2_000)
    width = [(x["ci_high"] - x["ci_low"]).mean() for x in (joint, apart["effect_difference"])]
    assert width[0] < 0.95 * width[1]


def test_a_group_without_spread_leaves_reasons():
    rng = np.random.default_rng(0)
    rows = [(f"d{i}", "ab"[i % 2], f"s{i // 2}", rng.integers(1, 6)) for i in range(40)]
    frame = pd.concat([ratings(rows, group="g1"), ratings([(*r[:3], 3) for r in rows], group="g2", annotator="A2")])
    found = resampled(frame, n_resamples=300)
    for rows in found.values():
        missing = rows[rows["estimate"].isna()]
        assert len(missing)
        assert missing["note"].notna().all()


def test_comparisons_have_h():
    rng = np.random.default_rng(5)
    rows = [(*rng.choice(["a", "b", "c"], 2, replace=False), rng.integers(-1, 2)) for _ in range(80)]
    frame = pd.concat([comparisons(rows, group="g1"), comparisons([(*r[:2], -r[2]) for r in rows], group="g2")])
    found = resampled(frame, n_resamples=300)
    assert found["group_difference"]["effect"].item() == "h"
    sizes = found["effect_size"]["estimate"].to_numpy()
    assert sizes[:3] == pytest.approx(-sizes[3:])  # 2 arcsin sqrt(1 - p) = pi - 2 arcsin sqrt(p)


def test_jackknife_covariance_of_means():
    x = np.random.default_rng(2).normal(size=(30, 2)) @ np.array([[1, 0.4], [0, 1]])
    without = (x.sum(axis=0) - x) / 29
    assert jackknife_covariance(without) == pytest.approx(np.cov(x.T) / 30)


def test_mean_square_of_one_difference_by_hand():
    estimate, low, high = groups.mean_square_difference(np.array([0.5]), 0.04, 0.04**2)
    assert estimate == pytest.approx(0.25 - 0.04)
    # 0.25 / 0.04 is noncentral chi-square with one degree of freedom
    assert stats.ncx2.cdf(0.25 / 0.04, 1, low / 0.04) == pytest.approx(0.975)
    assert stats.ncx2.cdf(0.25 / 0.04, 1, high / 0.04) == pytest.approx(0.025)
    estimate, low, high = groups.mean_square_difference(np.array([0.01]), 0.04, 0.04**2)
    assert (estimate, low) == (pytest.approx(0.0001 - 0.04), 0.0)
    assert stats.ncx2.cdf(1, 1, high / 0.04) == pytest.approx(0.025)  # as if the difference were the noise itself


@pytest.mark.parametrize("size", [0.0, 0.3])
def test_mean_square_difference_is_unbiased_and_covered(size):
    rng, n = np.random.default_rng(7), 400
    root = rng.normal(size=(6, 3)) * 0.08  # six differences of four systems have three degrees of freedom
    truth = size * np.array([1, -1, 0.5, 0, 1, -0.5])
    z = rng.normal(size=(n, 3))
    z = (z - z.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(z.T, ddof=0))).T  # moments exactly 0 and 1
    draws, covariance = truth + z @ root.T, root @ root.T
    of_noise = np.trace(covariance), np.sum(covariance**2)
    found = np.array([groups.mean_square_difference(d, *of_noise) for d in draws])
    assert found[:, 0].mean() == pytest.approx(np.mean(truth**2), abs=1e-12)
    covered = np.mean((found[:, 1] <= np.mean(truth**2)) & (np.mean(truth**2) <= found[:, 2]))
    assert covered > 0.95 - monte_carlo(0.95, n)


def test_equivalence_is_that_of_pingouin():
    rng = np.random.default_rng(3)
    x = rng.normal(0.05, 0.5, 30)
    covariance = np.array([[x.var(ddof=1) / 30]])
    width, p = groups.equivalence(np.array([x.mean()]), covariance, 0.3, 29)
    assert p == pytest.approx(pingouin.tost(x, np.zeros(30), bound=0.3, paired=True)["pval"].iloc[0])
    # at the smallest margin the p-value is alpha
    assert groups.equivalence(np.array([x.mean()]), covariance, width, 29)[1] == pytest.approx(0.05)


def test_equivalence_of_several_needs_all():
    both = np.array([0.0, 0.25]), np.diag([0.01, 0.01])
    alone = groups.equivalence(both[0][1:], both[1][1:, 1:], 0.3, 50)
    assert groups.equivalence(*both, 0.3, 50) == alone
    with pytest.raises(ValueError, match="margin: expected a number above 0, found 0"):
        groups.equivalence(*both, 0, 50)


FIXED = {"corpus": "main", "method": "dialogue_likert", "label": "quality", "level": "dialogue", "effect": "d"}


def test_conclusions_by_hand():
    ends = {"g1": [(0.1, 1), (0.1, 1), (-1, 0.2)], "g2": [(0.2, 2), (-2, -0.1), (0.1, 1)]}
    pairs = list(zip("aab", "bcc", strict=True))
    sizes = pd.DataFrame(
        {"group": g, "system": pair[0], "system_b": pair[1], "ci_low": low, "ci_high": high}
        for g in ends
        for pair, (low, high) in zip(pairs, ends[g], strict=True)
    ).assign(resample="session", **FIXED)
    ends = [(-0.1, 0.1), (0.05, 0.19), (0.1, 0.9), (-0.3, 0.1)]
    differences = pd.DataFrame(ends, columns=["ci_low", "ci_high"])
    differences = differences.assign(group="g1", group_b="g2", resample="session", **FIXED)
    found = collect(conclusions(Results(effect_size=sizes, effect_difference=differences), 0.2))
    rows = found["conclusion_count"].set_index(["of", "verdict"])
    expected = {("sign", verdict): 1 for verdict in ("same", "opposite", "undecided")}
    # of sizes, 0.05 to 0.19 is too little to matter
    expected |= {("size", "same"): 2, ("size", "different"): 1, ("size", "undecided"): 1}
    assert rows["estimate"].to_dict() == expected
    assert rows["n"].to_dict() == {key: 4 if key[0] == "size" else 3 for key in rows.index}


@pytest.mark.evidence
def test_coverage_and_bias_when_sessions_are_resampled():
    """Groups that see one system differently: intervals of differences cover, the corrected value is unbiased."""
    n, shift = 300, 0.5
    large = study(np.random.default_rng(0), n_sessions=60_000, shift=shift)
    (one,) = effects.label_scores(large)
    sums = one.sums("session")[1].sum(axis=0)
    truth = effects.between_groups(effects.pair_effects(sums, one.effect)).ravel()
    covered, squares = [], []
    for i in range(n):
        (one,) = effects.label_scores(study(np.random.default_rng([1, i]), shift=shift))
        found = list(groups.resampled(one, sampling=Sampling(500, 0.95, i)))
        rows = [row for row in found if row["statistic"] == "effect_difference"]
        covered.append((column(rows, "ci_low") < truth) & (truth < column(rows, "ci_high")))
        squares.append(next(row["estimate"] for row in found if row.get("scale") == "square"))
    assert 0.91 < np.mean(covered) < 0.98
    assert np.mean(squares) == pytest.approx(np.mean(truth**2), abs=3 * np.std(squares) / n**0.5 + 0.01)
