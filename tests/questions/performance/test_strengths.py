"""Strengths of compared systems by Davidson's model: other libraries, hand calculation, and each cluster left out."""

import evalica
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fixtures.made_annotations import SYSTEMS, comparisons
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgebook.questions.performance import davidson, davidson_likelihood, ranking
from judgebook.statistics.clusters import Covariance
from judgebook.statistics.intervals import Sampling
from judgebook.study.results import collect


def strengths(frame, unit="session"):
    return collect(row for fit in davidson.fits(frame, unit=unit) for row in davidson.strengths(fit))


def two(won, tied, lost):
    """Votes on two systems, each in a session of its own."""
    frame = comparisons([("a", "b", 1)] * won + [("b", "a", 0)] * tied + [("b", "a", 1)] * lost)
    return frame.assign(annotator_known=False)


def test_two_systems_by_hand():
    """Odds are those of wins and losses, and chances those observed; n - 1 of n independent votes for variances."""
    found = strengths(two(50, 30, 20))
    se = np.sqrt((1 / 50 + 1 / 20) * 100 / 99)
    half, t = np.log(50 / 20) / 2, stats.t.ppf(0.975, 99)
    rows = found["strength"].set_index("system")
    assert rows["estimate"].to_dict() == pytest.approx({"a": half, "b": -half})
    assert (rows["ci_high"] - rows["estimate"]).tolist() == pytest.approx([t * se / 2] * 2, rel=0.02)
    assert rows["n"].tolist() == [100, 100]
    chances = found["outcome_chance"].set_index("outcome")
    for outcome, p in {"win": 0.5, "tie": 0.3, "loss": 0.2}.items():
        logit, half = np.log(p / (1 - p)), t / np.sqrt(99 * p * (1 - p))
        ends = [1 / (1 + np.exp(-x)) for x in (logit, logit - half, logit + half)]
        assert chances.loc[outcome, ["estimate", "ci_low", "ci_high"]].tolist() == pytest.approx(ends, rel=0.02)


def test_strengths_may_not_exist_or_hang_on_one_session():
    one = strengths(two(3, 2, 1))["strength"]  # without it b could be as weak as one likes, and ties the rule
    assert one["estimate"].tolist() == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
    assert set(one["note"]) == {"strengths do not exist without one session"}
    assert set(one["ci_kind"]) == {"not_estimable"}
    none = strengths(comparisons([("a", "b", 1), ("b", "a", 1), ("a", "c", 1)]))["strength"]
    assert none["estimate"].isna().all()
    assert none["note"].unique() == ["one group of systems never wins against the others: strengths do not exist"]
    with pytest.raises(ValueError, match="the column 'session' must be known"):
        strengths(two(1, 1, 1).drop(columns="session"))


def test_every_vote_on_a_pair_counts():
    frame = two(2, 0, 1)
    more = pd.concat([frame, frame.iloc[[0, 1]]])
    assert strengths(more)["strength"]["estimate"].tolist() == pytest.approx([np.log(4) / 2, -np.log(4) / 2])


def table(rng, strengths, log_nu, n=40):
    m = len(strengths)
    wins, ties = np.zeros((m, m)), np.zeros((m, m))
    won, tied = davidson_likelihood.chances(np.asarray(strengths), log_nu)
    for i, j in zip(*np.triu_indices(m, 1), strict=True):
        wins[i, j], wins[j, i], ties[i, j] = rng.multinomial(n, [won[i, j], won[j, i], tied[i, j]])
    return wins, ties + ties.T


def poisson(wins, ties):
    """Strengths with mean 0 and log nu, by a Poisson model with a level for every pair."""
    m, rows, y = len(wins), [], []
    pairs = list(zip(*np.triu_indices(m, 1), strict=True))
    for at, (i, j) in enumerate(pairs):
        for weights, tie, count in (((1, 0), 0, wins[i, j]), ((0, 1), 0, wins[j, i]), ((0.5, 0.5), 1, ties[i, j])):
            row = np.zeros(len(pairs) + m + 1)
            row[at], row[len(pairs) + i], row[len(pairs) + j], row[-1] = 1, *weights, tie
            rows.append(row)
            y.append(count)
    x = np.delete(np.array(rows), len(pairs), axis=1)
    fit = sm.GLM(y, x, family=sm.families.Poisson()).fit(tol=1e-14)
    strengths = np.r_[0.0, fit.params[len(pairs) : -1]]
    return strengths - strengths.mean(), fit.params[-1]


def test_estimates_are_those_of_the_poisson_model():
    rng = np.random.default_rng(3)
    tables = [table(rng, [0.8, 0.2, 0.0, -0.4, -0.6], 0.9) for _ in range(5)]
    strengths, log_nu = davidson_likelihood.strengths_of(*(np.stack(part) for part in zip(*tables, strict=True)))
    for i, (wins, ties) in enumerate(tables):
        expected, nu = poisson(wins, ties)
        assert strengths[i] == pytest.approx(expected, abs=1e-7)
        assert log_nu[i] == pytest.approx(nu, abs=1e-7)


@pytest.mark.parametrize(("won", "lost"), [(1283787.05, 0.158), (3000000.3, 0.5)])
def test_a_loss_among_millions_is_enough_for_strengths(won, lost):
    """Of two systems their odds are wins over losses; rounding errors of so many votes are not mistaken for steps."""
    strengths, _ = davidson_likelihood.strengths_of(
        np.array([[[0, won], [lost, 0]]]), np.array([[[0, 133.0], [133.0, 0]]])
    )
    assert strengths[0, 0] - strengths[0, 1] == pytest.approx(np.log(won / lost))


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


def votes(rng, n_prompts=60, n_votes=480, level=(0.6, 0.2, -0.2, -0.6), log_nu=0.2):
    """Votes on four unequal systems, which prompts and 20 voters like more or less; some ties."""
    a, b = rng.permuted(np.tile(range(4), (n_votes, 1)), axis=1)[:, :2].T
    prompt, voter = rng.integers(0, n_prompts, n_votes), rng.integers(0, 20, n_votes)
    liked = np.array(level) + rng.normal(0, 0.5, (n_prompts, 4))[prompt] + rng.normal(0, 0.5, (20, 4))[voter]
    one, other = liked[range(n_votes), a], liked[range(n_votes), b]
    odds = np.exp([one, other, log_nu + (one + other) / 2])
    outcome = (rng.random(n_votes) * odds.sum(axis=0) > odds.cumsum(axis=0)).sum(axis=0)
    score = np.array([1, -1, 0])[outcome]
    frame = comparisons([(SYSTEMS[x], SYSTEMS[y], z) for x, y, z in zip(a, b, score, strict=True)])
    who = {"context": [f"p{p}" for p in prompt], "annotator": [f"A{v}" for v in voter], "annotator_kind": "human"}
    return frame.assign(**who)


@pytest.mark.parametrize("ways", [1, 2])
def test_covariances_are_those_of_estimates_without_each_cluster(ways):
    """The model fitted anew without each prompt or voter: a step of Newton's gets near, the scores alone do not."""
    frame = votes(np.random.default_rng(11))
    heavy = np.random.default_rng(12).random(len(frame)) < 0.4
    frame = frame.assign(annotator=np.where(heavy, "A0", frame["annotator"]), annotator_known=ways == 2)
    (fit,) = davidson.fits(frame, unit="context")
    sides = [frame[c].map(SYSTEMS.index).to_numpy() for c in ("system", "system_b")]
    score, parts = frame["score"].to_numpy(), []
    for columns in (["context"], ["annotator"], ["context", "annotator"])[: 3 if ways == 2 else 1]:
        codes = frame.groupby(columns).ngroup().to_numpy()
        c = codes.max() + 1
        wins, ties = np.zeros((2, c, 4, 4))
        outcomes = (wins, sides, score > 0), (wins, sides[::-1], score < 0), (ties, sides, score == 0)
        for table, (one, other), counts in outcomes:
            np.add.at(table, (codes, one, other), counts)
        ties += ties.transpose(0, 2, 1)
        gap = davidson_likelihood.strengths_of(wins.sum(axis=0) - wins, ties.sum(axis=0) - ties)[0] - fit.strengths
        parts.append((c - 1) / c * gap.T @ gap)
    expected = Covariance(parts[0], parts[1] - parts[2] if ways == 2 else None)
    assert fit.errors == pytest.approx(expected.pair_errors(), rel=0.03)
    assert np.sqrt(fit.covariance.variances[:4]) == pytest.approx(np.sqrt(expected.variances), rel=0.03)


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
    one = frame.assign(annotator=np.where(np.arange(240) % 10 < 8, "A0", frame["annotator"]))
    (fit,) = davidson.fits(one, unit="context")
    rows = [*davidson.strengths(fit), *ranking.of_strengths(fit, 1, sampling=Sampling(50, 0.95, 1)).to_dict("records")]
    rows = [r for r in rows if r["statistic"] in ("strength", "outcome_chance", "rank")]
    assert {(r["ci_kind"], r["note"]) for r in rows} == {("not_estimable", "one annotator has 82% of the votes")}
    assert not any(np.isfinite(r.get("ci_low", np.nan)) for r in rows)


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


def test_shares_of_first_place_are_those_of_resampled_prompts():
    """Weighted votes, several to a prompt; the bootstrap adds up what each prompt adds, as often as it was drawn."""
    n = 20_000
    frame = votes(np.random.default_rng(7), n_prompts=100)
    (fit,) = davidson.fits(frame.assign(sampling_weight=np.where(frame["context"] < "p5", 1.0, 3.0)), unit="context")
    rows = ranking.of_strengths(fit, 1, sampling=Sampling(n, 0.95, 1)).query("statistic == 'first_place_share'")
    units = len(fit.influence)
    drawn = np.random.default_rng(9).multinomial(units, np.full(units, 1 / units), n) - 1.0
    expected = ranking.first_place(fit.strengths + drawn @ fit.influence)
    assert ((expected > 0.1) & (expected < 0.9)).sum() == 2  # the question is open
    assert rows["estimate"].to_numpy() == pytest.approx(expected, abs=4 * np.sqrt(2 * 0.25 / n))
    assert (rows["n_clusters"] == units).all()
