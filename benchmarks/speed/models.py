"""Models and tests: best subsets, mixed models, consensus labels, correlations, permutations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from speed import Case, K, Peer, close


def predictors(n: int, *, binary: bool) -> tuple[np.ndarray, np.ndarray]:
    """16 correlated predictors, four of which matter."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 16)) @ (np.eye(16) + 0.3 * rng.normal(size=(16, 16)))
    signal = x[:, :4] @ [1, -0.8, 0.6, 0.4] + rng.normal(size=n)
    return x, (signal > 0).astype(float) if binary else signal + 2 * rng.normal(size=n)


def by_size(p: int) -> list[np.ndarray]:
    """All subsets of p predictors, (subsets, k) of each size k from 1."""
    return [np.array(list(combinations(range(p), k))) for k in range(1, p + 1)]


def best(x: np.ndarray, fit: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """(p,) the best fit of each size. fit : (subsets, k) columns to (subsets,)."""
    return np.array([fit(subsets).max() for subsets in by_size(x.shape[1])])


def of_sizes(fits: np.ndarray) -> np.ndarray:
    """(p,) the best of each size, of fits of all 2^p subsets by their codes."""
    size = np.bitwise_count(np.arange(len(fits), dtype=np.uint32))
    return np.array([fits[size == k].max() for k in range(1, size.max() + 1)])


def linear_subsets() -> Case:
    from judgebook.statistics.subsets import Fitness

    x, y = predictors(400, binary=False)
    fitness = Fitness(x, y, "ols")

    def by_numpy() -> np.ndarray:
        """Normal equations of all subsets of a size, solved at once."""
        apart, target = x - x.mean(axis=0), y - y.mean()
        gram, right = apart.T @ apart, apart.T @ target

        def fit(s: np.ndarray) -> np.ndarray:
            slopes = np.linalg.solve(gram[s[:, :, None], s[:, None, :]], right[s][..., None])[..., 0]
            return np.sum(slopes * right[s], axis=1) / (target @ target)

        return best(x, fit)

    def by_statsmodels() -> list[float]:
        import statsmodels.api as sm

        rng = np.random.default_rng(4)
        drawn = [rng.choice(16, size, replace=False) for size in rng.integers(1, 17, 199)]
        return [sm.OLS(y, sm.add_constant(x[:, c])).fit().rsquared for c in (*drawn, np.arange(16))]

    return Case(
        "best linear models of 16 labels, 400 dialogues: all 65,536 subsets",
        lambda: of_sizes(fitness.all()),
        [
            Peer(
                "statsmodels.OLS, 200 of the fits, time multiplied",
                by_statsmodels,
                lambda a, b: close(a[-1], b[-1]),
                scale=2**16 / 200,
            ),
            Peer("NumPy, normal equations of a size at once", by_numpy, close),
        ],
    )


def logit_subsets() -> Case:
    from judgebook.statistics.subsets import Fitness

    x, y = predictors(184, binary=True)
    fitness = Fitness(x, y, "logit")
    null = len(y) * (y.mean() * np.log(y.mean()) + (1 - y.mean()) * np.log(1 - y.mean()))

    def by_numpy() -> np.ndarray:
        """Newton's method for a thousand subsets of a size at once."""
        with_constant = np.column_stack([np.ones(len(y)), x])

        def fit(subsets: np.ndarray) -> np.ndarray:
            pieces = np.array_split(subsets, -(-len(subsets) // 1000))
            return np.concatenate([_pseudo_r2(with_constant, y, part, null) for part in pieces])

        return best(x, fit)

    def by_statsmodels() -> list[float]:
        import statsmodels.api as sm

        rng = np.random.default_rng(4)
        drawn = [rng.choice(16, size, replace=False) for size in rng.integers(1, 17, 199)]
        return [sm.Logit(y, sm.add_constant(x[:, c])).fit(disp=0).prsquared for c in (*drawn, np.arange(16))]

    return Case(
        "best logits of 16 labels, 184 pairs: all 65,536 subsets",
        lambda: of_sizes(fitness.all()),
        [
            Peer(
                "statsmodels.Logit, 200 of the fits, time multiplied",
                by_statsmodels,
                lambda a, b: close(a[-1], b[-1], 1e-4),
                scale=2**16 / 200,
            ),
            Peer(
                "NumPy, Newton's method, 1,000 subsets at once",
                by_numpy,
                partial(close, tolerance=1e-4),
                wins="both are exponentials and products of matrices",
            ),
        ],
    )


def _pseudo_r2(x: np.ndarray, y: np.ndarray, subsets: np.ndarray, null: float) -> np.ndarray:
    columns = np.column_stack([np.zeros(len(subsets), int), subsets + 1])
    part = x.T[columns]  # (subsets, k + 1, n)
    slopes = np.zeros(columns.shape)
    for _ in range(25):
        chance = 1 / (1 + np.exp(-np.einsum("sk,skn->sn", slopes, part)))
        information = (part * (chance * (1 - chance))[:, None]) @ part.transpose(0, 2, 1)
        step = np.linalg.solve(information, (part @ (y - chance)[..., None]))[..., 0]
        slopes += step
        if np.abs(step).max() < 1e-6:
            break
    chance = 1 / (1 + np.exp(-np.einsum("sk,skn->sn", slopes, part)))
    return 1 - np.log(np.where(y > 0, chance, 1 - chance)).sum(axis=1) / null


def mixed_model() -> Case:
    """479 ratings of 356 dialogues by 10 annotators, crossed, as in `finch2024`."""
    from judgebook.statistics import reml

    rng = np.random.default_rng(5)
    dialogue = np.concatenate([np.arange(356), np.arange(123)])
    annotator = rng.integers(0, 10, 479)
    score = 3 + rng.normal(size=356)[dialogue] + 0.5 * rng.normal(size=10)[annotator] + rng.normal(size=479)
    frame = pd.DataFrame({"score": score, "dialogue": dialogue, "annotator": annotator, "one": 1})

    def theirs() -> float:
        """The share of the variance that is residual."""
        import statsmodels.api as sm

        parts = {name: f"0 + C({name})" for name in ("annotator", "dialogue")}
        fit = sm.MixedLM.from_formula("score ~ 1", frame, groups="one", vc_formula=parts, re_formula="0").fit()
        return fit.scale / (fit.scale + fit.vcomp.sum())

    return Case(
        "mixed model, 479 ratings, 356 dialogues × 10 annotators",
        lambda: reml.fit_linear_mixed(score, np.ones((479, 1)), [annotator, dialogue]),
        [Peer("statsmodels.MixedLM", theirs, lambda a, b: close(a.shares[-1], b, 1e-3))],
    )


def consensus(n_items: int, n_annotators: int) -> Case:
    """Three answers, five of each item."""
    from judgebook.questions.annotators.analysis import dawid_skene

    rng, n = np.random.default_rng(1), 5 * n_items
    item, truth = np.repeat(np.arange(n_items), 5), rng.integers(0, 3, n_items)
    annotator = np.unique(rng.integers(0, n_annotators, n), return_inverse=True)[1]
    right = rng.random(n) < rng.uniform(0.4, 0.95, n_annotators)[annotator]
    answer = np.where(right, truth[item], rng.integers(0, 3, n))
    frame = pd.DataFrame({"task": item, "worker": annotator, "label": answer})

    def theirs() -> np.ndarray:
        from crowdkit.aggregation import DawidSkene

        return DawidSkene(n_iter=1000, tol=1e-8).fit_predict(frame).sort_index().to_numpy()

    return Case(
        f"Dawid and Skene's model, {n:,} answers",
        lambda: dawid_skene(item, annotator, answer).labels.argmax(axis=1),
        [Peer("crowd-kit, DawidSkene", theirs, lambda a, b: np.mean(a == b) > 0.99, package="crowdkit")],
    )


def spearman() -> Case:
    """One metric on 360 responses to 60 contexts."""
    from judgebook.statistics.correlation import weighted_correlations
    from judgebook.statistics.resampling import bootstrap_weights

    rng = np.random.default_rng(4)
    x = rng.normal(size=360)
    y, context = np.rint(3 + x + rng.normal(size=360)), np.arange(360) // 6

    def ours() -> tuple[float, ...]:
        def statistic(drawn: np.ndarray) -> np.ndarray:
            return weighted_correlations(x, y[:, None], drawn[:, context], "spearman")[:, 0]

        options = {"unit": "context", "rng": np.random.default_rng(1), "n_resamples": K, "width": 360}
        one = bootstrap_weights(60, statistic, **options)
        return one.estimate, one.low, one.high

    def rows(drawn: np.ndarray) -> np.ndarray:
        return (drawn[..., None] * 6 + np.arange(6)).reshape(*drawn.shape[:-1], -1)

    def correlation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a, b = (v - v.mean(axis=-1, keepdims=True) for v in (a, b))
        return (a * b).sum(axis=-1) / np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))

    def bootstrap(statistic: Callable[..., np.ndarray]) -> tuple[float, ...]:
        options = {"n_resamples": K, "vectorized": True, "rng": np.random.default_rng(1)}
        ends = stats.bootstrap((np.arange(60),), statistic, **options).confidence_interval
        return stats.spearmanr(x, y).statistic, ends.low, ends.high

    def anew(drawn: np.ndarray, axis: int) -> np.ndarray:
        places = rows(drawn)
        return correlation(stats.rankdata(x[places], axis=-1), stats.rankdata(y[places], axis=-1))

    def kept(drawn: np.ndarray, axis: int) -> np.ndarray:
        places = rows(drawn)
        return correlation(stats.rankdata(x)[places], stats.rankdata(y)[places])

    def agrees(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
        return close(a[0], b[0]) and bool(np.abs(np.subtract(a[1:], b[1:])).max() < 0.02)

    return Case(
        "Spearman, 360 responses, 60 contexts resampled, BCa",
        ours,
        [
            Peer("scipy.stats.bootstrap, vectorised, ranked anew", partial(bootstrap, anew), agrees),
            Peer(
                "scipy.stats.bootstrap, vectorised, ranks kept",
                partial(bootstrap, kept),
                agrees,
                differs="an approximation",
                wins="it does not rank resamples anew",
            ),
        ],
    )


def sign_flips() -> Case:
    from judgebook.statistics import sign_flip_test

    x = np.random.default_rng(1).normal(0.05, 1, size=1000)

    def by_numpy() -> float:
        """Random signs times differences: one product of matrices."""
        signs = np.random.default_rng(1).choice(np.array([-1, 1], dtype=np.int8), (K, len(x)))
        return float((1 + np.sum(np.abs(signs @ x) >= abs(x.sum()) - 1e-9)) / (K + 1))

    def by_scipy() -> float:
        def mean(values: np.ndarray, axis: int) -> np.ndarray:
            return values.mean(axis=axis)

        options = {"permutation_type": "samples", "n_resamples": K, "vectorized": True}
        return stats.permutation_test((x,), mean, **options, rng=np.random.default_rng(1)).pvalue

    def agrees(a: object, b: float) -> bool:
        return bool(np.abs(a.p_value - b) < 0.03)

    return Case(
        "sign-flip test, 1,000 pairs, 10,000 arrangements",
        lambda: sign_flip_test(x, rng=np.random.default_rng(1)),
        [
            Peer("scipy.stats.permutation_test, vectorised", by_scipy, agrees),
            Peer("NumPy, random signs times differences", by_numpy, agrees),
        ],
    )


CASES = (
    *(linear_subsets, logit_subsets, mixed_model, spearman, sign_flips),
    *(partial(consensus, 2_000, 50), partial(consensus, 20_000, 200)),
)
