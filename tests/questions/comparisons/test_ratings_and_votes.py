"""Votes and ratings of the same systems: by another way to the same numbers, and on simulated studies."""

import numpy as np
import pandas as pd
import pytest
from fixtures.boxes import unreadable
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import chi2
from statsmodels.tools.numdiff import approx_hess

from judgebook.display.names import DisplayNames
from judgebook.model.contrasts import Levels
from judgebook.questions.comparisons.analysis import rated, votes
from judgebook.questions.comparisons.ratings_and_votes import BOTH, FEW, rows, together
from judgebook.questions.comparisons.ratings_views import together as views
from judgebook.study.labels import Label
from judgebook.study.results import where
from judgebook.study.schema import ANNOTATIONS, conform

KINDS = ("comparative", (-1.0, 1.0)), ("dialogue_likert", (1.0, 9.0))
LABELS = [Label(x, method, x.title(), scale, direction=1) for x in ("good", "other") for method, scale in KINDS]
TITLES = {"method": {"comparative": "Votes", "dialogue_likert": "Ratings"}, "group": {"all": "All"}, "system": {}}
NAMES = DisplayNames({(x.method, x.id): x for x in LABELS}, TITLES)
SLOPE = 1.2


def study(seed, systems=5, contexts=40, answer=0.6, same=True, off=0.0, unequal=False):
    """Annotations and the (systems,) levels in points. Ten people rate each dialogue three times and vote six times on
    each context. What an answer (SD, in log odds) and a taste add to votes and to ratings correlates by 0.8. s0 is
    rated `off` points higher than its votes say; `unequal`: later systems are judged up to four times as often; not the
    `same`: ratings are of other dialogues by other people."""
    rng, s, n = np.random.default_rng([63, seed]), systems, contexts * 6
    quality, often = rng.permutation(np.linspace(-0.7, 0.7, s)), np.linspace(1, 4 if unequal else 1, s)
    kind = np.array([[1, 0.8], [0.8, 1]])
    answers, tastes = (
        rng.multivariate_normal([0, 0], sd**2 * kind, (s, k)) for sd, k in ((answer, contexts), (0.3, 10))
    )
    context, who = rng.integers(contexts, size=n), rng.integers(10, size=n)
    pairs = np.array([rng.choice(s, 2, replace=False, p=often / often.sum()) for _ in range(n)]).T
    up, down = (quality[i] + answers[i, context, 0] + tastes[i, who, 0] for i in pairs)
    weights = np.cumsum([np.exp((down - up) / 2), np.full(n, 0.6), np.exp((up - down) / 2)], axis=0)
    voted = pd.DataFrame({"system": pairs[0], "system_b": pairs[1], "context": context, "annotator": who})
    voted = voted.assign(score=(rng.random(n) > weights / weights[-1]).sum(axis=0) - 1.0, method="comparative")
    i, c = np.repeat(np.indices((s, contexts)).reshape(2, -1), 3, axis=1)
    who = np.concatenate([rng.choice(10, 3, replace=False) for _ in range(s * contexts)])
    level = quality / SLOPE + off * (np.arange(s) == 0)
    score = 5 + level[i] + (answers[i, c, 1] + tastes[i, who, 1]) / SLOPE + rng.normal(0, 0.4, 10)[who]
    seen = pd.DataFrame({"system": i, "context": c, "annotator": who, "score": score + rng.normal(0, 0.8, len(i))})
    seen = seen[np.repeat(rng.random(s * contexts), 3) < (often / often.max())[i]].assign(method="dialogue_likert")
    seen[["context", "annotator"]] += 0 if same else 1000
    both = pd.concat([voted, seen], ignore_index=True).astype({"context": str, "annotator": str})
    for side in ("", "_b"):
        both[f"system{side}"] = both[f"system{side}"].map("s{:.0f}".format, na_action="ignore")
        both[f"dialogue{side}"] = both["context"] + both[f"system{side}"]
    fixed = {"study": "s", "corpus": "main", "group": "all", "label": "good", "annotator_kind": "human"}
    both = both.assign(**fixed, annotator_known=True, source_row=np.arange(len(both)))
    return conform(both, ANNOTATIONS), level


def found(annotations):
    return rows(votes(annotations, LABELS), rated(annotations, LABELS), "sample")


def drawn(rng, x, y, shared=0.0, df=np.inf):
    """Levels by votes and by ratings around x and y, with errors of unequal size that correlate."""
    s, sizes = len(x), (np.linspace(0.25, 0.1, len(x)), np.linspace(0.1, 0.2, len(x)))
    errors = rng.multivariate_normal([0, 0], [[1, shared], [shared, 1]], s).T * sizes
    every = zip((x, y), errors, sizes, strict=True)
    return [Levels(level + error, np.diag(size**2), np.full((s, s), df)) for level, error, size in every]


def unit(x, y):
    """The ratio of the errors of both, in which a slope is the tangent of an angle."""
    spread = [np.trace(of.covariance) - of.covariance.mean() * len(of) for of in (x, y)]
    return np.sqrt(spread[0] / spread[1])


def at_slope(slope, true, u):
    """By how much more points a distance on the line is at this slope than at the true one."""
    return np.cos(np.arctan(slope / u)) / np.cos(np.arctan(true / u))


def test_line_and_combination_are_those_of_the_likelihood_found_by_a_search():
    x, y = drawn(np.random.default_rng(3), *(np.linspace(-1, 1, 6) * g for g in (1.3, 1.0)))
    errors, u = np.sqrt(np.r_[np.diag(x.covariance), np.diag(y.covariance)]), unit(x, y)

    def deviance(p):  # quality along the line, where the zero of votes is, and the angle
        expected = np.r_[np.sin(p[7]) * u * p[:6] + p[6], np.cos(p[7]) * p[:6]]
        return float(np.sum(((np.r_[x.estimates, y.estimates] - expected) / errors) ** 2))

    best, one = minimize(deviance, np.r_[y.estimates, 0.0, 0.8], tol=1e-12), together(x, y, 0.0)
    assert one.slope == pytest.approx(np.tan(best.x[7]) * u, rel=1e-3)
    assert one.statistic == pytest.approx(best.fun / 4, rel=1e-6)
    assert one.p_value == pytest.approx(chi2.sf(best.fun, 4), rel=1e-6)
    for end in np.arctan(np.array([one.low, one.high]) / u):  # where the profile has risen by the 95% point
        profile = minimize(lambda p, a=end: deviance(np.r_[p, a]), best.x[:7], tol=1e-12)
        assert profile.fun - best.fun == pytest.approx(chi2.ppf(0.95, 1), rel=1e-3)
    of_pairs = np.cos(best.x[7]) * (np.eye(8)[x.pairs[0]] - np.eye(8)[x.pairs[1]])
    estimates = one.quality.estimates[x.pairs[0]] - one.quality.estimates[x.pairs[1]]
    np.testing.assert_allclose(estimates, of_pairs @ best.x, atol=1e-3)
    variances = np.diag(of_pairs @ np.linalg.inv(approx_hess(best.x, deviance) / 2) @ of_pairs.T)
    np.testing.assert_allclose(one.quality.errors, np.sqrt(variances), rtol=0.1)  # by the expected information


@pytest.mark.parametrize("shared", [0.0, 0.5])
def test_levels_of_one_quality_are_said_to_be_two_as_often_as_they_should(shared):
    """Of 300, 15 are expected: fewer than 6 and more than 26 come with a chance of 1 in 250 each. Intervals of
    differences hold in 93 to 97%; those that ignore the correlation are too narrow."""
    rng, quality, p, held = np.random.default_rng(5), np.linspace(-0.6, 0.6, 5), [], {shared: [], 0.0: []}
    i, j = np.triu_indices(5, 1)
    for _ in range(300):
        x, y = drawn(rng, 1.2 * quality, quality, shared)
        for taken, out in held.items():
            one = together(x, y, taken)
            wrong = one.quality.estimates - at_slope(one.slope, 1.2, unit(x, y)) * quality
            out.append(np.mean(np.abs(wrong[i] - wrong[j]) < 1.96 * one.quality.errors))
            p += [one.p_value] * (taken == shared)
    assert 6 <= np.sum(np.array(p) < 0.05) <= 26
    assert 0.93 < np.mean(held[shared]) < 0.97
    assert not shared or np.mean(held[0.0]) < 0.92


def test_the_system_that_votes_see_otherwise_is_named_and_equal_systems_show_nothing():
    at = np.linspace(-1, 1, 6)
    one = together(*drawn(np.random.default_rng(1), at, at + 1.5 * (at == at[2]), df=20.0), 0.0)
    assert one.p_value < 0.005
    assert np.flatnonzero(one.p_adjusted < 0.05).tolist() == [2]
    assert abs(one.beyond[2] - 1.5) < one.half[2] < 1.2
    assert together(*drawn(np.random.default_rng(1), 0 * at, 0 * at), 0.0).quality is None


def test_errors_in_common_are_those_of_shared_answers_and_none_where_nothing_is_shared():
    shared = [found(study(seed, answer=1.0)[0])["errors_in_common"]["estimate"].item() for seed in range(4)]
    assert 0.15 < np.mean(shared) < 0.6
    assert found(study(0, answer=1.0, same=False)[0])["errors_in_common"]["estimate"].item() == 0


def test_the_page_says_whether_both_go_together_and_what_both_decide():
    annotations, results = study(2)[0], found(study(2)[0])
    prose, plot = views(results, NAMES)
    wins, contrasts = results["wins_by_rating"].iloc[0], results["evidence_contrast"]
    assert wins["ci_low"] < expit(SLOPE) < wins["ci_high"]
    assert "**Votes and ratings of Good are not shown to differ:** a system rated one point higher wins " in prose.text
    width = (contrasts["ci_high"] - contrasts["ci_low"]).groupby(contrasts["evidence"]).median()
    assert width[BOTH] < width["ratings"]
    differ = study(3, off=1.5)[0].assign(group="b")
    (told, *_) = views(found(differ), NAMES)
    assert "of Good tell different stories:** s0 is rated higher than its votes say (" in told.text
    told, figure = views(found(pd.concat([annotations, differ], ignore_index=True)), NAMES)
    assert "tell different stories on 1 of 2 boards**, and are not shown to on 1" in told.text
    assert not unreadable([plot, figure.__class__(figure.fig, "two", figure.alt, figure.caption)])
    two = annotations[~annotations[["system", "system_b"]].isin(["s2", "s3", "s4"]).any(axis=1)]
    (told,) = views(found(two), NAMES)
    assert told.text.strip() == f"Votes and ratings are not compared, because {FEW}."
    few = annotations.assign(annotator=annotations["annotator"].map(lambda who: str(int(who) % 4)))
    (told, *_) = views(found(few.drop_duplicates(["dialogue", "dialogue_b", "annotator"])), NAMES)
    assert "as too few people gave both." in told.text
    down = annotations["score"].where(annotations["method"] == "comparative", 10 - annotations["score"])
    (told, *_) = views(found(annotations.assign(score=down)), NAMES)
    assert "systems that are rated one point higher win only " in told.text
    other = annotations[annotations["method"] == "comparative"].assign(label="other")
    every = found(pd.concat([other, annotations], ignore_index=True))
    assert every["one_quality"]["label"].tolist() == ["good"]


WORLDS = [{"answer": 0.0}, {}, {"answer": 1.0}, {"same": False}, {"systems": 4}, {"systems": 10, "unequal": True}]


@pytest.mark.evidence
@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_whole_studies_of_one_quality(world):
    """Of 200, at most 14 (7%) are said to have two. All ten intervals (or more) of what both say of two systems hold in
    90% or more, where 95% are meant."""
    two, studies = 0, []
    for seed in range(200):
        annotations, level = study(seed, **world)
        results = found(annotations)
        two += results["one_quality"]["p_value"].item() < 0.05
        levels, pairs = results["evidence_level"], where(results["evidence_contrast"], evidence=BOTH)
        if len(pairs):
            width = (levels["ci_high"] - levels["ci_low"]).groupby(levels["evidence"]).median()
            one, other = (level[pairs[side].str[1:].astype(int)] for side in ("system", "system_b"))
            slope = logit(results["wins_by_rating"]["estimate"].item())
            studies.append((slope, width["votes"] / width["ratings"], one - other, pairs))
    true = np.median([slope for slope, *_ in studies])  # strengths are drawn towards each other, which is no matter
    held = [pairs[["ci_low", "ci_high"]].sub(at_slope(g, true, u) * gap, axis=0) for g, u, gap, pairs in studies]
    assert two <= 14
    assert np.mean([((x["ci_low"] < 0) & (x["ci_high"] > 0)).all() for x in held]) >= 0.9
