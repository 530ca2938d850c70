"""Agreement: Krippendorff's alpha and the intraclass correlation."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pandas as pd
from scipy import stats

from speed import Case, K, Peer, close, resampled, same_interval

LIKERT = [1, 2, 3, 4, 5]


def binary() -> np.ndarray:
    """Two annotators, 1,634 turns, marks as rare and as agreed on as an ABC-Eval behaviour."""
    return np.repeat([[0.0, 0], [0, 1], [1, 0], [1, 1]], [1385, 90, 76, 83], axis=0)


def likert(n: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    truth = rng.normal(3, 1, size=(n, 1)).astype(np.float32)
    return np.clip(np.round(truth + rng.normal(0, 0.8, size=(n, 5)).astype(np.float32)), 1, 5).astype(np.int8)


def ours(values: np.ndarray, level: str, domain: object = None, **units: object) -> tuple[float, ...]:
    from judgebook.questions.agreement.alpha import alpha_intervals
    from judgebook.questions.agreement.coincidences import patterns

    options = {"unit": "turn", "rng": np.random.default_rng(1), "n_resamples": K, "only": ["alpha"]} | units
    one = alpha_intervals(patterns(values, domain), level, **options)["alpha"]
    return one.estimate, one.low, one.high


def counted(values: np.ndarray, domain: list[float]) -> np.ndarray:
    """(items, values) how often each value was given."""
    return np.stack([(values == value).sum(axis=1) for value in domain], axis=1).astype(float)


def coincidences(counts: np.ndarray) -> np.ndarray:
    """(items, values²) what each item adds to the coincidence matrix."""
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    judged = counts.sum(axis=1)
    return (pairs / np.maximum(judged - 1, 1)[:, None, None]).reshape(len(counts), -1)


def of_sums(sums: np.ndarray, *, ordinal: bool) -> np.ndarray:
    """(k,) alpha of (k, values²) coincidence matrices."""
    v = round(sums.shape[1] ** 0.5)
    observed = sums.reshape(-1, v, v)
    n = observed.sum(axis=2)
    distance = 1 - np.eye(v)[None]
    if ordinal:
        place = n.cumsum(axis=1) - n / 2
        distance = (place[:, :, None] - place[:, None, :]) ** 2
    expected = n[:, :, None] * n[:, None, :] * distance
    return 1 - (observed * distance).sum(axis=(1, 2)) * (n.sum(axis=1) - 1) / expected.sum(axis=(1, 2))


def by_package(counts: np.ndarray, level: str, units: list[np.ndarray], n: int, domain: list[float]) -> object:
    """What users of the package write: its function in scipy's BCa, one call a resample. units : items of each."""
    import krippendorff

    def statistic(drawn: np.ndarray) -> float:
        items = np.concatenate([units[u] for u in drawn]) if len(units) < len(counts) else drawn
        return krippendorff.alpha(value_counts=counts[items], level_of_measurement=level, value_domain=domain)

    rng, everything = np.random.default_rng(1), (np.arange(len(units)),)
    found = stats.bootstrap(everything, statistic, vectorized=False, n_resamples=n, rng=rng)
    return statistic(everything[0]), *found.confidence_interval


def krippendorff_(values: np.ndarray, level: str, domain: list[float], units: list[np.ndarray], n: int) -> Peer:
    """The package, on counts of values, which it takes faster than ratings. n : resamples; ours are K."""
    counts = counted(values, domain)
    return Peer(
        "krippendorff in scipy.stats.bootstrap",
        partial(by_package, counts, level, units, n, domain),
        lambda a, b: close(a[0], b[0]),
        scale=(K + len(units)) / (n + len(units)),
        differs="" if n == K else f"{n:,} resamples, time multiplied",
    )


def numpy_(rows: np.ndarray, *, ordinal: bool = False) -> Peer:
    work, why = partial(resampled, rows, partial(of_sums, ordinal=ordinal)), "few units: there is little to save"
    return Peer("NumPy: drawn counts times coincidences", work, same_interval, wins=why)


def alpha_binary() -> Case:
    values = binary()
    counts = counted(values, [0, 1])
    return Case(
        "alpha, binary, 2 annotators, 1,634 turns, BCa",
        partial(ours, values, "nominal"),
        [
            krippendorff_(values, "nominal", [0, 1], list(np.arange(1634)[:, None]), K),
            numpy_(coincidences(counts)),
            Peer(
                "evalica.alpha_bootstrap",
                partial(evalica_, pd.DataFrame(values.T)),
                lambda a, b: close(a[0], b[0]),
                differs="draws pairs, not items; percentiles",
            ),
            Peer(
                "interrater, KrippendorffAlphaAnalyzer",
                partial(interrater_, values.astype(int)),
                same_interval,
                package="interrater",
            ),
        ],
    )


def evalica_(frame: pd.DataFrame) -> tuple[float, ...]:
    import evalica

    found = evalica.alpha_bootstrap(frame, "nominal", n_resamples=K, random_state=1)
    return found.alpha, found.low, found.high


def interrater_(values: np.ndarray) -> tuple[float, ...]:
    import interrater

    meant = interrater.RatingsSemantics(("first", "second"), interrater.UnorderedCategories(("no", "yes")))
    plan = interrater.KrippendorffAlphaConfig(n_resamples=K, ci_method="bca", random_state=1)
    found = interrater.KrippendorffAlphaAnalyzer(interrater.Ratings(values, meant), plan).estimate()
    return found.point, *found.confidence_interval


def alpha_dialogues() -> Case:
    values, dialogue = binary(), np.random.default_rng(2).permutation(np.arange(1634) % 108)
    each = [np.flatnonzero(dialogue == d) for d in range(108)]
    rows = coincidences(counted(values, [0, 1]))
    return Case(
        "alpha, binary, 108 dialogues of 1,634 turns resampled, BCa",
        partial(ours, values, "nominal", unit="dialogue", clusters=dialogue),
        [
            krippendorff_(values, "nominal", [0, 1], each, K // 5),
            numpy_(np.stack([rows[items].sum(axis=0) for items in each])),
        ],
    )


def alpha_ordinal() -> Case:
    values = likert(10_000)
    items = list(np.arange(len(values))[:, None])
    return Case(
        "alpha, ordinal 1-5, 5 annotators, 10,000 items, BCa",
        partial(ours, values, "ordinal", LIKERT),
        [
            Peer(
                "krippendorff, 20 of its 20,000 calls, time multiplied",
                partial(some_calls, counted(values, LIKERT)),
                lambda a, b: close(a[0], b),
                scale=(K + len(items)) / 20,
            ),
            numpy_(coincidences(counted(values, LIKERT)), ordinal=True),
        ],
    )


def some_calls(counts: np.ndarray) -> float:
    """A resample or a value without one item costs the same: alpha of all items, and 19 resamples."""
    import krippendorff

    rng, n = np.random.default_rng(1), len(counts)
    options = {"level_of_measurement": "ordinal", "value_domain": LIKERT}
    for _ in range(19):
        krippendorff.alpha(value_counts=counts[rng.integers(0, n, n)], **options)
    return krippendorff.alpha(value_counts=counts, **options)


def alpha_missing() -> Case:
    values = likert(10_000).astype(float)
    values[np.random.default_rng(2).random(values.shape) < 0.3] = np.nan
    rows = coincidences(counted(values, LIKERT))
    return Case(
        "the same, 30% missing",
        partial(ours, values, "ordinal", LIKERT),
        [numpy_(rows, ordinal=True)],
    )


@cache
def many() -> np.ndarray:
    return likert(10_000_000)


@cache
def kinds_of_many() -> object:
    from judgebook.questions.agreement.coincidences import patterns

    return patterns(many(), range(1, 6))


def alpha_many() -> Case:
    from judgebook.questions.agreement.alpha import alpha_intervals

    options = {"unit": "item", "n_resamples": K, "only": ["alpha"]}
    return Case(
        "alpha, ordinal, 10,000,000 items, BCa, patterns at hand",
        lambda: alpha_intervals(kinds_of_many(), "ordinal", rng=np.random.default_rng(1), **options),
    )


def finding_patterns() -> Case:
    from judgebook.questions.agreement.coincidences import patterns

    return Case("finding the patterns of 10,000,000 items", lambda: patterns(many(), range(1, 6)))


CASES = (*(alpha_binary, alpha_dialogues, alpha_ordinal, alpha_missing, alpha_many, finding_patterns),)
