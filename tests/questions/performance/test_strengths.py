import evalica
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fixtures.made_annotations import SYSTEMS, comparisons, monte_carlo
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgebook.questions.performance import davidson, davidson_likelihood, ranking
from judgebook.statistics.clusters import Covariance
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import collect, fold


def strengths(frame, unit="session"):
    return collect(row for fit in davidson.fits(frame, unit=unit) for row in davidson.strengths(fit))


wins = st.lists(st.integers(0, 9), min_size=16, max_size=16)


@given(wins)
def test_without_ties_strengths_are_those_of_evalica(numbers):
    w = np.array(numbers, dtype=float).reshape(4, 4)
    np.fill_diagonal(w, 0)
    found = davidson_likelihood.strengths_of(w[None], np.zeros((1, 4, 4)))[0][0]
    reach = np.linalg.matrix_power((w > 0) + np.eye(4), 4)
    assert np.isnan(found).any() == (not (reach > 0).all())
    if np.isnan(found).any():
        return
    i, j = np.nonzero(w)
    options = {"weights": w[i, j].tolist(), "tolerance": 1e-12, "limit": 100_000, "index": pd.Index(range(4))}
    expected = evalica.bradley_terry(i.tolist(), j.tolist(), [evalica.Winner.X] * len(i), **options)
    log = np.log(expected.scores.sort_index().to_numpy())
    assert found == pytest.approx(log - log.mean(), abs=1e-5)


def test_strengths_are_those_of_a_logit():
    rng = np.random.default_rng(4)
    frame = comparisons([(*rng.choice(SYSTEMS, 2, replace=False), rng.choice([-1, 1])) for _ in range(150)])
    x = np.zeros((len(frame), 4))
    rows = np.arange(len(frame))
    x[rows, [SYSTEMS.index(s) for s in frame["system"]]] = 1
    x[rows, [SYSTEMS.index(s) for s in frame["system_b"]]] = -1
    logit = sm.Logit(frame["score"] > 0, x[:, 1:]).fit(disp=0, tol=1e-12)
    reference = np.concatenate([[0], logit.params])
    found = strengths(frame)["strength"]
    assert found["estimate"].to_numpy() == pytest.approx(reference - reference.mean(), abs=1e-6)
    assert (found["ci_low"] < found["estimate"]).all()
    assert (found["estimate"] < found["ci_high"]).all()
    # the interval is about as wide as the logit's standard errors say
    cov = np.zeros((4, 4))
    cov[1:, 1:] = logit.cov_params()
    contrast = np.eye(4) - 0.25
    se = np.sqrt(np.diag(contrast @ cov @ contrast.T))
    assert ((found["ci_high"] - found["ci_low"]) / (2 * 1.96 * se)).to_numpy() == pytest.approx(1, abs=0.15)


def test_a_tie_is_an_outcome_of_its_own():
    rows = strengths(comparisons([("a", "b", 1)] * 3 + [("b", "a", 1)] + [("a", "b", 0)] * 2))
    # without the session in which b won there are no strengths: b could be as weak as one likes, and ties the rule
    assert set(rows["strength"]["ci_kind"]) == {"not_estimable"}
    assert set(rows["strength"]["note"]) == {"strengths do not exist without one session"}
    assert rows["strength"]["estimate"].tolist() == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
    chances = rows["outcome_chance"].set_index("outcome")["estimate"]
    assert chances.to_dict() == pytest.approx({"win": 3 / 6, "tie": 2 / 6, "loss": 1 / 6})  # two systems: as observed


def test_every_vote_on_a_pair_counts():
    rows = [("a", "b", 1), ("b", "a", 1), ("a", "b", 1)]
    frame = comparisons(rows).assign(dialogue=["x", "y", "z"], dialogue_b=["v", "u", "w"])
    more = pd.concat([frame, frame.iloc[[0, 2]]]).assign(annotator=["A1"] * 3 + ["A2"] * 2)
    found = strengths(more)["strength"]
    assert found["estimate"].tolist() == pytest.approx([np.log(4) / 2, -np.log(4) / 2])
    assert found["n"].tolist() == [5, 5]


def votes(rng, n_prompts=24, n_voters=20, spread=0.6):
    """Votes on four systems whose strengths differ from prompt to prompt; voters favour the left side more or less."""
    truth, rows = np.array([0.6, 0.2, -0.2, -0.6]), []
    lean = rng.normal(0, 0.5, n_voters)
    for prompt in range(n_prompts):
        here = truth + rng.normal(0, spread, 4)
        for voter in rng.choice(n_voters, 8, replace=False):
            a, b = rng.choice(4, 2, replace=False)
            own = here.copy()
            own[a] += lean[voter]
            won, tied = davidson_likelihood.chances(own, 0.2)
            score = rng.choice([1, 0, -1], p=[won[a, b], tied[a, b], won[b, a]])
            rows.append((SYSTEMS[a], SYSTEMS[b], score, f"p{prompt}", f"A{voter}"))
    frame = comparisons([row[:3] for row in rows])
    return frame.assign(context=[r[3] for r in rows], annotator=[r[4] for r in rows], annotator_kind="human")


def test_covariance_by_many_prompts_is_that_of_a_clustered_logit():
    """Without ties, and voters not known: statsmodels, which takes scores for what strengths change without a prompt.
    Both agree with many prompts; ours is larger."""
    frame = votes(np.random.default_rng(5), n_prompts=400).query("score != 0").assign(annotator_known=False)
    (fit,) = davidson.fits(frame, unit="context")
    x = np.zeros((len(frame), 4))
    rows = np.arange(len(frame))
    x[rows, [SYSTEMS.index(s) for s in frame["system"]]] = 1
    x[rows, [SYSTEMS.index(s) for s in frame["system_b"]]] = -1
    groups = pd.factorize(frame["context"])[0]
    logit = sm.Logit(frame["score"].to_numpy() > 0, x[:, 1:])
    logit = logit.fit(disp=0, tol=1e-12, cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    cov, contrast = np.zeros((4, 4)), np.eye(4) - 0.25
    cov[1:, 1:] = logit.cov_params()
    c = groups.max() + 1
    ratio = fit.covariance.variances[:4] / np.diag(contrast @ cov @ contrast.T) * (c - 1) / c
    assert ((ratio > 1) & (ratio < 1.02)).all()
    assert fit.over == "context"
    sides = [frame[c].to_numpy() for c in ("system", "system_b")]
    held = pd.crosstab(np.tile(frame["context"].to_numpy(), 2), np.concatenate(sides))
    effective = held.sum() ** 2 / (held**2).sum()  # of the prompts of a system's votes (Kish)
    assert fit.df == pytest.approx(effective.to_numpy() - 1)


@pytest.mark.parametrize("ways", [1, 2])
def test_covariances_are_those_of_estimates_without_each_cluster(ways):
    """The model fitted anew without each prompt or voter: a step of Newton's gets near, the scores alone do not."""
    frame = votes(np.random.default_rng(11), n_prompts=60)
    heavy = np.random.default_rng(12).random(len(frame)) < 0.4
    frame = frame.assign(annotator=np.where(heavy, "A0", frame["annotator"]), annotator_known=ways == 2)
    (fit,) = davidson.fits(frame, unit="context")
    both = frame["context"] + "/" + frame["annotator"]
    parts = []
    for groups in (frame["context"], frame["annotator"], both)[: 3 if ways == 2 else 1]:
        refitted = np.array([davidson.point(frame[groups != g]).to_numpy() for g in groups.unique()])
        gap, c = refitted - fit.strengths, len(refitted)
        parts.append((c - 1) / c * gap.T @ gap)
    expected = Covariance(parts[0], parts[1] - parts[2] if ways == 2 else None)
    assert fit.errors == pytest.approx(expected.pair_errors(), rel=0.03)
    assert np.sqrt(fit.covariance.variances[:4]) == pytest.approx(np.sqrt(expected.variances), rel=0.03)


def test_a_step_is_the_same_by_series_and_by_solving(monkeypatch):
    frame = votes(np.random.default_rng(13), n_prompts=60).assign(annotator_known=False)
    errors = []
    for heavy in (0.0, 0.05, 1.0):  # every cluster is solved for; some; none
        monkeypatch.setattr(davidson_likelihood, "_HEAVY", heavy)
        (fit,) = davidson.fits(frame, unit="context")
        errors.append(fit.errors)
    assert errors[1] == pytest.approx(errors[0], rel=2e-3)
    assert errors[2] == pytest.approx(errors[0], rel=2e-2)


def with_shares(frame, shares, rng):
    """The votes as if each had been cast by one of some voters, with these shares of all votes."""
    voter = rng.choice(len(shares), len(frame), p=shares)
    return frame.assign(annotator=[f"A{v}" for v in voter])


def test_one_voter_with_most_votes_leaves_no_interval():
    rng = np.random.default_rng(14)
    frame = with_shares(votes(rng, n_prompts=60), [0.8, *[0.2 / 19] * 19], rng)
    (fit,) = davidson.fits(frame, unit="context")
    rows = [*davidson.strengths(fit), *ranking.of_strengths(fit, 1, sampling=Sampling(50, 0.95, 1)).to_dict("records")]
    intervals = [r for r in rows if r["statistic"] in ("strength", "outcome_chance", "rank")]
    assert {r["ci_kind"] for r in intervals} == {"not_estimable"}
    (note,) = {r["note"] for r in intervals}
    assert note in {f"one annotator has {share}% of the votes" for share in range(76, 85)}
    assert not any(np.isfinite(r.get("ci_low", np.nan)) for r in intervals)
    assert np.isfinite(fit.strengths).all()


def test_degrees_of_freedom_are_those_of_voters_and_of_the_votes_on_each_system():
    """Ten voters with the same number of votes, but nine of ten votes on the last system by one of them."""
    rows = [(a, b, 1, f"p{i}", f"A{i % 10}") for i, (a, b) in enumerate([("a", "b"), ("b", "a")] * 100)]
    rows += [("c", "a", (-1) ** i, f"p{i}", "A0" if i < 36 else f"A{i % 10}") for i in range(40)]
    frame = comparisons([r[:3] for r in rows])
    frame = frame.assign(context=[r[3] for r in rows], annotator=[r[4] for r in rows], annotator_kind="human")
    (fit,) = davidson.fits(frame, unit="context")
    whole = 1 / (np.square([56, *[20] * 5, *[21] * 4]).sum() / 240**2) - 1
    assert fit.df[1] == pytest.approx(min(whole, 9))
    assert fit.df[2] < 0.75
    assert fit.heaviest == ["", "", "one annotator has 90% of the votes on a system"]
    rows = {r["system"]: r for r in davidson.strengths(fit) if r["statistic"] == "strength"}
    assert [rows[s]["ci_kind"] for s in "abc"] == ["cluster_robust", "cluster_robust", "not_estimable"]


@pytest.mark.evidence
@pytest.mark.parametrize("shares", [[0.4, *[0.6 / 29] * 29], [0.35, 0.35, *[0.3 / 18] * 18]])
def test_intervals_cover_where_few_voters_cast_most_votes(shares):
    """Equal systems, voters with tastes of their own. The sandwich and the number of voters covered 86% of strengths
    and 75% of ranks where two of twenty had 70%."""
    inside, ranks = [], []
    for i in range(120):
        rng = np.random.default_rng([15, i])
        frame = equal_systems(rng, shares)
        (fit,) = davidson.fits(frame, unit="context")
        half = stats.t.ppf(0.975, fit.df) * np.sqrt(fit.covariance.variances[:4])
        inside.append(np.mean(np.abs(fit.strengths) <= half))
        rank = ranking.of_strengths(fit, 1, sampling=Sampling(2, 0.95, 1)).query("statistic == 'rank'")
        ranks.append((rank["ci_low"] == 1).all() and (rank["ci_high"] == 4).all())
    assert np.mean(inside) > 0.95 - monte_carlo(0.95, 120)
    assert np.mean(ranks) > 0.95 - monte_carlo(0.95, 120)


def equal_systems(rng, shares, n_prompts=40, n_votes=600):
    a, b = rng.permuted(np.tile(range(4), (n_votes, 1)), axis=1)[:, :2].T
    prompt, voter = rng.integers(0, n_prompts, n_votes), rng.choice(len(shares), n_votes, p=shares)
    liked = rng.normal(0, 0.5, (n_prompts, 4))[prompt] + rng.normal(0, 0.5, (len(shares), 4))[voter]
    rows = np.arange(n_votes)
    won = rng.random(n_votes) < 1 / (1 + np.exp(liked[rows, b] - liked[rows, a]))
    frame = comparisons([(SYSTEMS[x], SYSTEMS[y], 1 if w else -1) for x, y, w in zip(a, b, won, strict=True)])
    who = {"context": [f"p{p}" for p in prompt], "annotator": [f"A{v}" for v in voter], "annotator_kind": "human"}
    return frame.assign(**who)


@pytest.mark.evidence
def test_intervals_over_prompts_and_voters_cover():
    """Of the strengths in a world of prompts, as an endless number of votes would show them."""
    truth = davidson_of_many()
    inside, narrow = [], []
    for i in range(150):
        frame = votes(np.random.default_rng([7, i]))
        found = strengths(frame, "context")["strength"]
        assert set(found["resample_unit"]) == {"context and annotator"}
        inside += ((found["ci_low"] < truth) & (truth < found["ci_high"])).tolist()
        alone = strengths(frame.assign(vote=np.arange(len(frame)), annotator_known=False), "vote")["strength"]
        narrow += ((alone["ci_low"] < truth) & (truth < alone["ci_high"])).tolist()
    assert 0.92 < np.mean(inside) < 0.985
    assert np.mean(narrow) < np.mean(inside)


def davidson_of_many():
    frame = votes(np.random.default_rng(0), n_prompts=4000, n_voters=400)
    (fit,) = davidson.fits(frame.assign(annotator_known=False), unit="context")
    return fit.strengths


def test_a_system_that_never_wins_has_no_strength():
    found = strengths(comparisons([("a", "b", 1), ("b", "a", 1), ("a", "c", 1)]))["strength"]
    assert found["estimate"].isna().all()
    assert found["note"].unique() == ["one group of systems never wins against the others: strengths do not exist"]
    assert len(fold(collect(found.assign(statistic="strength")), study="x", notebook="07")) == 3


def test_an_unknown_unit_is_an_error():
    frame = comparisons([("a", "b", 1)]).drop(columns="session")
    with pytest.raises(ValueError, match="the column 'session' must be known"):
        strengths(frame)


def test_ranks_allow_for_whom_a_system_met():
    """x wins more often than y, but only against the weakest: nearly on a par with the strongest, y is the better."""
    met = [("s", "w", 18, 2), ("x", "w", 14, 6), ("y", "s", 9, 11)]
    rows = [(a, b, score) for a, b, won, lost in met for score in [1] * won + [-1] * lost]
    (fit,) = davidson.fits(comparisons(rows))
    ranks = ranking.of_strengths(fit, 1, sampling=Sampling(500, 0.95, 1))
    order = ranks[ranks["statistic"] == "rank"].set_index("system")["estimate"]
    assert order.to_dict() == {"s": 1, "y": 2, "x": 3, "w": 4}
    odds = {a: np.log(won / lost) for a, _, won, lost in met}
    expected = pd.Series({"s": 0, "y": odds["y"], "w": -odds["s"], "x": odds["x"] - odds["s"]})
    assert fit.strengths == pytest.approx((expected - expected.mean())[fit.systems].to_numpy())
    ends = ranks[ranks["statistic"] == "rank"].set_index("system")[["ci_low", "ci_high"]]
    assert (ends["ci_low"] <= order[ends.index]).all()
    assert (order[ends.index] <= ends["ci_high"]).all()
    assert ends.loc["w", "ci_low"] > 1  # s beat it 18 times of 20
    share = ranks[ranks["statistic"] == "first_place_share"].set_index("system")["estimate"]
    assert share.sum() == pytest.approx(1)
    assert share.idxmax() == "s"


def test_shares_of_first_place_are_those_of_resampled_prompts():
    """Weighted votes, several to a prompt; the bootstrap adds up what each prompt adds, as often as it was drawn."""
    n = 20_000
    frame = votes(np.random.default_rng(7), n_prompts=100)
    (fit,) = davidson.fits(frame.assign(sampling_weight=np.where(frame["context"] < "p5", 1.0, 3.0)), unit="context")
    rows = ranking.of_strengths(fit, 1, sampling=Sampling(n, 0.95, 1)).query("statistic == 'first_place_share'")
    drawn = np.random.default_rng(9).multinomial(100, np.full(100, 1 / 100), n) - 1.0
    expected = ranking.first_place(fit.strengths + drawn @ fit.influence)
    assert ((expected > 0.1) & (expected < 0.9)).sum() == 2  # the question is open
    assert rows["estimate"].to_numpy() == pytest.approx(expected, abs=4 * np.sqrt(2 * 0.25 / n))
    assert (rows["n_clusters"] == 100).all()
