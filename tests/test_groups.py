import numpy as np
import pandas as pd
import pingouin
import pytest
from evaluations import comparisons, monte_carlo, ratings, study
from scipy import stats

from helpers import effects, groups, schema
from helpers.resampling import replicate_sums


def one(frame, statistic, **keys):
    rows = frame[frame["statistic"] == statistic]
    for key, value in keys.items():
        rows = rows[rows["condition"].str.contains(f"{key}={value}", regex=False)]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.fixture(scope="module")
def frame():
    return study(np.random.default_rng(1), shift=0.6)


@pytest.fixture(scope="module")
def found(frame):
    return groups.resampled(frame, seed=1, n_resamples=2_000)


def test_point_estimates_are_the_published_ones(frame, found):
    published = effects.published(frame, seed=1, n_resamples=200)
    for statistic in ("mean_absolute_effect", "group_difference"):
        ours = found.loc[found["statistic"] == statistic, "estimate"]
        assert ours.to_numpy() == pytest.approx(published.loc[published["statistic"] == statistic, "estimate"])
    sizes = found[found["statistic"] == "effect_size"]
    differences = found[found["statistic"] == "effect_difference"]
    assert len(sizes) == 12
    assert differences["estimate"].to_numpy() == pytest.approx(
        sizes["estimate"].to_numpy()[:6] - sizes["estimate"][6:12]
    )
    assert np.mean(np.abs(differences["estimate"])) == pytest.approx(one(found, "group_difference")["estimate"])


def test_rows_fit_the_schema(found):
    assert len(schema.make_results(found, study="x", notebook="08")) == len(found)


def test_sessions_resampled_jointly_give_narrower_differences(frame, found):
    # both groups judged every dialogue: what they share cancels, and the published resampling does not know it
    joint = found[found["statistic"] == "effect_difference"]
    apart = groups.resampled(frame.assign(session=frame["session"] + frame["group"]), seed=1, n_resamples=2_000)
    apart = apart[apart["statistic"] == "effect_difference"]
    width = [(x["ci_high"] - x["ci_low"]).mean() for x in (joint, apart)]
    assert width[0] < 0.95 * width[1]


def test_annotators_are_resampled_within_their_group(frame):
    found = groups.resampled(frame, seed=1, unit="annotator", n_resamples=500)
    assert set(found["resample_unit"]) == {"annotator"}
    assert set(found["n_clusters"]) == {8}


@pytest.mark.parametrize("change", [{"session": None}, {}])
def test_an_unknown_unit_is_an_error(frame, change):
    bad = frame.assign(**change) if change else frame.drop(columns="session")
    with pytest.raises(ValueError, match="the column 'session' must be known"):
        groups.resampled(bad, seed=1)


def test_a_group_without_spread_leaves_reasons():
    rng = np.random.default_rng(0)
    rows = [(f"d{i}", "ab"[i % 2], f"s{i // 2}", rng.integers(1, 6)) for i in range(40)]
    frame = pd.concat([ratings(rows, group="g1"), ratings([(*r[:3], 3) for r in rows], group="g2", annotator="A2")])
    found = groups.resampled(frame, seed=1, n_resamples=300)
    missing = found[found["estimate"].isna()]
    assert set(missing["statistic"]) == set(found["statistic"])
    assert missing["note"].notna().all()
    assert np.isfinite(found.loc[(found["statistic"] == "effect_size") & (found["group"] == "g1"), "ci_low"]).all()


def test_comparisons_have_h():
    rng = np.random.default_rng(5)
    rows = [(*rng.choice(["a", "b", "c"], 2, replace=False), rng.integers(-1, 2)) for _ in range(80)]
    frame = pd.concat([comparisons(rows, group="g1"), comparisons([(*r[:2], -r[2]) for r in rows], group="g2")])
    found = groups.resampled(frame, seed=1, n_resamples=300)
    assert one(found, "group_difference")["condition"] == "effect=h;resample=session"
    sizes = found[found["statistic"] == "effect_size"]["estimate"].to_numpy()
    assert sizes[:3] == pytest.approx(-sizes[3:])  # 2 arcsin sqrt(1 - p) = pi - 2 arcsin sqrt(p)


def test_jackknife_covariance_of_means():
    x = np.random.default_rng(2).normal(size=(30, 2)) @ np.array([[1, 0.4], [0, 1]])
    rows = np.column_stack([np.ones(30), x])
    found = replicate_sums(rows, lambda s: s[:, 1:] / s[:, :1], unit="x", rng=np.random.default_rng(1), n_resamples=10)
    assert groups.jackknife_covariance(found, slice(0, 2)) == pytest.approx(np.cov(x.T) / 30)
    strata = np.repeat([0, 1], 15)
    found = replicate_sums(
        rows, lambda s: s[:, 1:] / s[:, :1], unit="x", rng=np.random.default_rng(1), n_resamples=10, strata=strata
    )
    halves = [np.cov(x[strata == i].T) / 15 for i in (0, 1)]
    assert groups.jackknife_covariance(found, slice(0, 2)) == pytest.approx(sum(halves) / 4)


def test_mean_square_of_one_difference_by_hand():
    estimate, low, high = groups.mean_square_difference(np.array([0.5]), np.array([[0.04]]))
    assert estimate == pytest.approx(0.25 - 0.04)
    # 0.25 / 0.04 is noncentral chi-square with one degree of freedom
    assert stats.ncx2.cdf(0.25 / 0.04, 1, low / 0.04) == pytest.approx(0.975)
    assert stats.ncx2.cdf(0.25 / 0.04, 1, high / 0.04) == pytest.approx(0.025)
    estimate, low, high = groups.mean_square_difference(np.array([0.01]), np.array([[0.04]]))
    assert (estimate, low) == (pytest.approx(0.0001 - 0.04), 0.0)
    assert stats.ncx2.cdf(1, 1, high / 0.04) == pytest.approx(0.025)  # as if the difference were the noise itself


@pytest.mark.parametrize("size", [0.0, 0.1, 0.3])
def test_mean_square_difference_is_unbiased_and_covered(size):
    rng, n = np.random.default_rng(7), 400
    root = rng.normal(size=(6, 3)) * 0.08  # six differences of four systems have three degrees of freedom
    truth = size * np.array([1, -1, 0.5, 0, 1, -0.5])
    z = rng.normal(size=(n, 3))
    z = (z - z.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(z.T, ddof=0))).T  # moments exactly 0 and 1
    draws, covariance = truth + z @ root.T, root @ root.T
    found = np.array([groups.mean_square_difference(d, covariance) for d in draws])
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


def test_equivalence_of_several_needs_all_and_keeps_its_level():
    both = np.array([0.0, 0.25]), np.diag([0.01, 0.01])
    alone = groups.equivalence(both[0][1:], both[1][1:, 1:], 0.3, 50)
    assert groups.equivalence(*both, 0.3, 50) == alone
    with pytest.raises(ValueError, match="margin: expected a number above 0, found 0"):
        groups.equivalence(*both, 0, 50)
    # a true difference at the margin is called equivalent no more often than alpha
    draws = np.array([0.3, 0.1]) + 0.05 * np.random.default_rng(1).normal(size=(2_000, 2))
    called = np.mean([groups.equivalence(d, np.eye(2) * 0.05**2, 0.3, 1e6)[1] < 0.05 for d in draws])
    assert called < 0.05 + monte_carlo(0.05, 2_000)


def test_conclusions_by_hand():
    ends = {"g1": [(0.1, 1), (0.1, 1), (-1, 0.2)], "g2": [(0.2, 2), (-2, -0.1), (0.1, 1)]}
    rows = [
        {"group": g, "system": s[0], "system_b": s[1], "ci_low": low, "ci_high": high}
        for g, intervals in ends.items()
        for s, (low, high) in zip(("ab", "ac", "bc"), intervals, strict=True)
    ]
    fixed = {"corpus": "main", "method": "dialogue_likert", "label": "quality", "level": "dialogue"}
    frame = pd.DataFrame(rows).assign(statistic="effect_size", condition="effect=d;resample=session", **fixed)
    found = groups.conclusions(frame)
    verdicts = found["condition"].str.extract("verdict=(.*)")[0]
    assert dict(zip(verdicts, found["estimate"], strict=True)) == {"same": 1, "opposite": 1, "undecided": 1}
    assert len(schema.make_results(found, study="x", notebook="08")) == 3


@pytest.mark.slow
def test_coverage_and_bias_when_sessions_are_resampled():
    """Groups that see one system differently: intervals of differences cover, the debiased value finds the truth."""
    n, shift = 300, 0.5
    large = study(np.random.default_rng(0), n_sessions=60_000, shift=shift)
    truth = groups.resampled(large, seed=1, n_resamples=100)
    truth = truth[truth["statistic"] == "effect_difference"]["estimate"].to_numpy()
    covered, squares, inside = [], [], []
    for i in range(n):
        found = groups.resampled(study(np.random.default_rng([1, i]), shift=shift), seed=i, n_resamples=500)
        rows = found[found["statistic"] == "effect_difference"]
        covered.append((rows["ci_low"].to_numpy() < truth) & (truth < rows["ci_high"].to_numpy()))
        square = one(found, "group_difference_debiased", scale="square")
        squares.append(square["estimate"])
        inside.append(square["ci_low"] <= np.mean(truth**2) <= square["ci_high"])
    assert 0.91 < np.mean(covered) < 0.98
    assert np.mean(squares) == pytest.approx(np.mean(truth**2), abs=3 * np.std(squares) / n**0.5 + 0.01)
    assert np.mean(inside) > 0.95 - monte_carlo(0.95, n) - 0.02
