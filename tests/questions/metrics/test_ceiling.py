import numpy as np
import pandas as pd
import pingouin
import pytest
from fixtures.made_annotations import monte_carlo
from fixtures.made_annotations import rated_items as rated
from scipy import stats

from judgebook.questions.metrics import correlations
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import collect


def ceilings(annotations, coefficient="spearman", n_resamples=200, seed=1):
    """Reliability and ceiling of the only label."""
    found = collect(
        correlations.ceilings(annotations, sampling=Sampling(n_resamples, 0.95, seed), coefficient=coefficient)
    )
    return pd.concat(found).droplevel(1)


def true_and_rated(rng, n=60, m=3, noise=1.0, leniency=0.0):
    truth = rng.normal(size=n)
    return truth, truth[:, None] + leniency * rng.normal(size=m) + noise * rng.normal(size=(n, m))


def icc(scores, form):
    frame = pd.DataFrame(scores).stack().rename("score").reset_index()  # noqa: PD013
    table = pingouin.intraclass_corr(frame, targets="level_0", raters="level_1", ratings="score").set_index("Type")
    return table.loc[form, "ICC"]


# pingouin 0.7 passes `inplace` to a pandas that has deprecated it
old_pingouin = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.dropna is deprecated")


@old_pingouin
def test_reliability_is_the_intraclass_correlation_of_pingouin():
    _, scores = true_and_rated(np.random.default_rng(1), leniency=0.7)
    crossed = ceilings(rated(scores), "pearson")
    assert crossed.loc["reliability", "estimate"] == pytest.approx(icc(scores, "ICC(C,k)"))
    assert crossed.loc["reliability", "form"] == "crossed"
    positions = rated(scores, annotator_known=False)
    one_way = ceilings(positions, "pearson")
    assert one_way.loc["reliability", "estimate"] == pytest.approx(icc(scores, "ICC(1,k)"))
    assert one_way.loc["reliability_ceiling", "estimate"] == pytest.approx(icc(scores, "ICC(1,k)") ** 0.5)
    assert one_way.loc["reliability", "form"] == "one_way"
    assert one_way.loc["reliability", ["n", "n_annotators", "n_clusters"]].tolist() == [60, 3, 30]
    assert one_way["coefficient"].tolist() == ["pearson"] * 2


def test_ratings_of_spearman_are_ranks():
    _, scores = true_and_rated(np.random.default_rng(3))
    ranks = stats.rankdata(scores).reshape(scores.shape)
    frames = rated(np.exp(scores)), rated(ranks)
    a, b = (ceilings(frame, coefficient) for frame, coefficient in zip(frames, ("spearman", "pearson"), strict=True))
    assert a["estimate"].to_numpy() == pytest.approx(b["estimate"].to_numpy())


@pytest.mark.evidence
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_the_truth_correlates_as_the_ceiling_says(gaps):
    """With unequal numbers of ratings too; the interval covers the reliability."""
    rng, n, found, reached, covered = np.random.default_rng(4), 150, [], [], []
    for i in range(n):
        truth, scores = true_and_rated(rng, n=80)
        scores[rng.random(scores.shape) < gaps] = np.nan
        kept = np.isfinite(scores).any(axis=1)
        frame = rated(scores, annotator_known=False)
        rows = ceilings(frame, "pearson", 500, i)
        found.append(rows.loc["reliability_ceiling", "estimate"])
        reached.append(stats.pearsonr(truth[kept], np.nanmean(scores[kept], axis=1)).statistic)
        m = np.isfinite(scores).sum(axis=1)[kept]
        true = 1 / (1 + np.mean(1 / m))
        covered.append(rows.loc["reliability", "ci_low"] < true < rows.loc["reliability", "ci_high"])
    assert np.mean(found) == pytest.approx(np.mean(reached), abs=0.012)
    assert np.mean(covered) > 0.95 - monte_carlo(0.95, n) - 0.01


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([[1.0, np.nan], [np.nan, 3.0], [2.0, np.nan]], "no item has two ratings"),
        ([[3.0, 3.0]] * 5, "no item has two ratings"),
        ([[1.0, 2.0]], "one item"),
    ],
)
def test_no_reliability_without_repetition(scores, reason):
    found = ceilings(rated(np.array(scores)))
    assert found["estimate"].isna().all()
    assert found["note"].str.startswith(reason).all()


def test_no_ceiling_where_items_do_not_differ():
    scores = np.array([[1.0, 5.0], [5.0, 2.0], [2.0, 4.0], [4.0, 1.0], [3.0, 3.5], [4.5, 3.0]])
    found = ceilings(rated(scores, annotator_known=False))
    assert found.loc["reliability", "estimate"] < 0
    assert np.isnan(found.loc["reliability_ceiling", "estimate"])
    assert found.loc["reliability_ceiling", "note"].startswith("items differ no more than chance")
