"""Systems: tests of all pairs, ranks, strengths in comparisons, errors over clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from speed import Case, Peer, close


def _votes(m: int, n: int) -> np.ndarray:
    """(2, n) numbers of the winner and the loser of n votes on m systems."""
    rng = np.random.default_rng(1)
    strength, pairs = rng.normal(size=m) * 0.7, rng.integers(0, m, (n, 2))
    pairs[:, 1] = (pairs[:, 0] + 1 + pairs[:, 1] % (m - 1)) % m
    won = rng.random(n) < 1 / (1 + np.exp(strength[pairs[:, 1]] - strength[pairs[:, 0]]))
    return np.where(won, pairs.T, pairs.T[::-1])


def strengths(m: int, n: int) -> Case:
    """Of the model of Bradley and Terry, from votes to strengths; with ties all of these fit different models."""
    from judgebook.model.comparisons import Comparisons, fit

    winner, loser = _votes(m, n)
    names = [f"s{i:03}" for i in range(m)]

    def wins() -> np.ndarray:
        """(m, m) of row over column, as a careful user counts for those that take a table."""
        return np.bincount(winner * m + loser, minlength=m * m).reshape(m, m).astype(float)

    def ours() -> np.ndarray:
        return fit(Comparisons(tuple(names), winner, loser, np.ones(n), np.arange(n))).levels.estimates

    def by_evalica() -> np.ndarray:
        import evalica

        votes = [evalica.Winner.X] * n
        found = evalica.bradley_terry(by_name[0], by_name[1], votes, tolerance=1e-10, limit=10_000)
        return centred(np.log(found.scores.reindex(names).to_numpy()))

    def by_choix() -> np.ndarray:
        import choix

        return centred(choix.ilsr_pairwise_dense(wins(), tol=1e-10))

    def by_arenakit() -> np.ndarray:
        from arenakit import bt, schema

        none = np.zeros((m, m))
        return centred(bt.fit_bt(schema.PairCounts(wf=wins(), ws=none, tt=none), prior=0.0).scores)

    def centred(x: np.ndarray) -> np.ndarray:
        return x - x.mean()

    def agrees(a: np.ndarray, b: np.ndarray) -> bool:
        return close(centred(a), b, 1e-4)

    by_name = [[names[i] for i in side] for side in (winner, loser)]
    return Case(
        f"Bradley-Terry strengths, {m} systems, {n:,} votes",
        ours,
        [
            Peer("evalica.bradley_terry", by_evalica, agrees, differs="from names, ours from numbers"),
            Peer(
                "choix.ilsr_pairwise_dense",
                by_choix,
                agrees,
                package="choix",
                wins="spectral steps; ours are Newton's, which allow for ties and give errors",
            ),
            Peer(
                "arenakit, fit_bt",
                by_arenakit,
                agrees,
                package="arenakit",
                wins="few systems: Newton's steps gain little",
            ),
        ],
    )


def clustered_errors() -> Case:
    """Equal clusters, where the jackknife (ours) and CR1 (theirs) are the same."""
    from judgebook.statistics.clusters import clustered_variances

    rng = np.random.default_rng(7)
    system, dialogue = np.repeat(np.arange(100), 500), np.repeat(np.arange(10_000), 5)
    scores = rng.normal(size=10_000)[dialogue] + rng.normal(size=50_000)

    def ours() -> np.ndarray:
        return np.sqrt(clustered_variances(system, scores, np.ones(50_000), [dialogue])[1])

    def each(one: Callable[[np.ndarray, np.ndarray], float]) -> np.ndarray:
        parts = zip(scores.reshape(100, 500), dialogue.reshape(100, 500), strict=True)
        return np.array([one(x, clusters) for x, clusters in parts])

    def by_errorbars() -> np.ndarray:
        import errorbars

        return each(errorbars.cluster_robust_se)

    def by_statsmodels() -> np.ndarray:
        import statsmodels.api as sm

        def one(x: np.ndarray, clusters: np.ndarray) -> float:
            return sm.OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": clusters}).bse[0]

        return each(one)

    def by_numpy() -> np.ndarray:
        apart = scores - (np.bincount(system, scores) / np.bincount(system))[system]
        return np.sqrt(np.sum(np.bincount(dialogue, apart).reshape(100, 100) ** 2, axis=1) * 100 / 99) / 500

    return Case(
        "clustered standard errors of 100 systems, 100 dialogues of 5 scores each",
        ours,
        [
            Peer("errorbars.cluster_robust_se", by_errorbars, close, package="errorbars"),
            Peer("statsmodels, OLS with clusters", by_statsmodels, close),
            Peer(
                "NumPy, two bincounts",
                by_numpy,
                close,
                differs="equal, nested clusters only",
                wins="it need not find out which clusters are whose",
            ),
        ],
    )


CASES = (
    clustered_errors,
    *(partial(strengths, 59, 8_931), partial(strengths, 250, 1_000_000)),
)
