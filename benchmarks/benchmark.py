"""How long the statistics take, beside what a user would otherwise run. One table, all ratios from one run.

    python benchmarks/benchmark.py                 # everything, as Markdown
    python benchmarks/benchmark.py --only alpha    # cases whose name contains this

To add a row: write a function that prepares the data and returns a Case, and put it in CASES.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

K = 10_000


@dataclass(frozen=True)
class Case:
    """What is timed. `theirs` may do only 1 / `scale` of the work: its time is multiplied, and `against` says so."""

    name: str
    ours: Callable[[], object]
    goal: str  # as in the design, for readers
    seconds: float | None = None  # ours must not take longer
    ratio: float | None = None  # theirs / ours must not be less
    theirs: Callable[[], object] | None = None
    against: str = ""
    scale: float = 1.0


def timed(work: Callable[[], object], at_most: float = 2.0) -> float:
    """Median of up to seven runs, after one that warms up; a single run where that takes longer than `at_most`."""
    start = time.perf_counter()
    work()
    first = time.perf_counter() - start
    times = [first] if first > at_most else []
    while len(times) < 7 and sum(times) < at_most and first <= at_most:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def _binary() -> np.ndarray:
    """Two annotators, 1,634 turns, marks as rare and as agreed on as an ABC-Eval behaviour."""
    return np.repeat([[0.0, 0], [0, 1], [1, 0], [1, 1]], [1385, 90, 76, 83], axis=0)


def _likert(n: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    truth = rng.normal(3, 1, size=(n, 1)).astype(np.float32)
    return np.clip(np.round(truth + rng.normal(0, 0.8, size=(n, 5)).astype(np.float32)), 1, 5).astype(np.int8)


def _alpha_loop(values: np.ndarray, level: str, n_resamples: int) -> object:
    """What a user would write: scipy's BCa around the krippendorff package."""
    import krippendorff
    from scipy import stats

    domain = np.unique(values).astype(float)

    def statistic(index: np.ndarray) -> float:
        return krippendorff.alpha(values[index].T.astype(float), level_of_measurement=level, value_domain=domain)

    return stats.bootstrap(
        (np.arange(len(values)),), statistic, vectorized=False, n_resamples=n_resamples, rng=np.random.default_rng(1)
    )


def _alpha(values: np.ndarray, level: str) -> object:
    from judgebook.questions.agreement.alpha import alpha_intervals
    from judgebook.questions.agreement.coincidences import patterns

    return alpha_intervals(patterns(values), level, unit="turn", rng=np.random.default_rng(1), n_resamples=K)


def alpha_binary() -> Case:
    values = _binary()
    return Case(
        "alpha, binary, 2 annotators, 1,634 turns, BCa",
        partial(_alpha, values, "nominal"),
        "≤ 10 ms, ≥ 300 ×",
        seconds=0.010,
        ratio=300,
        theirs=partial(_alpha_loop, values, "nominal", K),
        against="krippendorff in scipy.stats.bootstrap",
    )


def alpha_evalica() -> Case:
    import evalica

    values = _binary()
    frame = pd.DataFrame(values.T)
    return Case(
        "alpha, binary, 2 annotators, 1,634 turns, against evalica",
        partial(_alpha, values, "nominal"),
        "",
        theirs=partial(evalica.alpha_bootstrap, frame, "nominal", n_resamples=K, random_state=1),
        against="evalica.alpha_bootstrap (pairs, not items; percentiles)",
    )


def alpha_dialogues() -> Case:
    from judgebook.questions.agreement.alpha import alpha_intervals
    from judgebook.questions.agreement.coincidences import patterns

    values, dialogue = _binary(), np.random.default_rng(2).permutation(np.arange(1634) % 108)
    names = [np.flatnonzero(dialogue == d) for d in range(108)]

    def loop() -> object:
        import krippendorff
        from scipy import stats

        def statistic(drawn: np.ndarray) -> float:
            rows = np.concatenate([names[d] for d in drawn])
            return krippendorff.alpha(values[rows].T, level_of_measurement="nominal", value_domain=[0, 1])

        return stats.bootstrap(
            (np.arange(108),), statistic, vectorized=False, n_resamples=K // 5, rng=np.random.default_rng(1)
        )

    def ours() -> object:
        rng = np.random.default_rng(1)
        return alpha_intervals(patterns(values), "nominal", unit="dialogue", clusters=dialogue, rng=rng, n_resamples=K)

    against = "krippendorff in scipy.stats.bootstrap (a fifth of the resamples, times 5)"
    return Case(
        "alpha, binary, 108 dialogues of 1,634 turns resampled, BCa", ours, "", theirs=loop, against=against, scale=5
    )


def alpha_ordinal(n: int, *, theirs: bool = False, missing: float = 0.0) -> Case:
    from judgebook.questions.agreement.alpha import alpha_intervals
    from judgebook.questions.agreement.coincidences import patterns

    values = _likert(n)
    if missing:
        values = np.where(np.random.default_rng(2).random(values.shape) < missing, np.nan, values)
    found = patterns(values, range(1, 6))

    def ours() -> object:
        return alpha_intervals(found, "ordinal", unit="item", rng=np.random.default_rng(1), n_resamples=K)

    def loop() -> object:
        import krippendorff

        rng = np.random.default_rng(1)
        for _ in range(20):  # a resample or a leave-one-out value costs the same
            sample = values[rng.integers(0, n, n)].T.astype(float)
            krippendorff.alpha(sample, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5])

    return Case(
        f"alpha, ordinal 1-5, 5 annotators, {n:,} items ({len(found.weights)} patterns), BCa"
        + (f", {missing:.0%} missing" if missing else ""),
        ours,
        "≤ 0.2 s",
        seconds=0.2,
        theirs=loop if theirs else None,
        against=f"krippendorff, 20 of its {K + n:,} calls, times {(K + n) / 20:,.0f}" if theirs else "",
        scale=(K + n) / 20,
    )


def patterns_of_ten_million() -> Case:
    from judgebook.questions.agreement.coincidences import patterns

    values = _likert(10_000_000)
    return Case("finding the patterns of 10,000,000 items", partial(patterns, values, range(1, 6)), "")


def _predictors(n: int, binary: bool) -> tuple[np.ndarray, np.ndarray]:
    """16 correlated predictors, four of which matter."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 16)) @ (np.eye(16) + 0.3 * rng.normal(size=(16, 16)))
    signal = x[:, :4] @ [1, -0.8, 0.6, 0.4] + rng.normal(size=n)
    return x, (signal > 0).astype(float) if binary else signal + 2 * rng.normal(size=n)


def _statsmodels_beam(x: np.ndarray, y: np.ndarray, width: int = 100) -> int:
    """What a user would write: backward elimination with a beam, one OLS a model."""
    import statsmodels.api as sm

    beam, n_fits = [tuple(range(x.shape[1]))], 1
    sm.OLS(y, sm.add_constant(x)).fit()
    while len(beam[0]) > 1:
        children = {c for model in beam for c in (tuple(j for j in model if j != i) for i in model)}
        fits = {c: sm.OLS(y, sm.add_constant(x[:, c])).fit().rsquared_adj for c in children}
        n_fits += len(fits)
        beam = sorted(fits, key=fits.get, reverse=True)[:width]
    return n_fits


def _statsmodels_logits(x: np.ndarray, y: np.ndarray, n_fits: int) -> None:
    import statsmodels.api as sm

    rng = np.random.default_rng(4)
    for size in rng.integers(1, 17, n_fits):
        columns = rng.choice(16, size, replace=False)
        sm.Logit(y, sm.add_constant(x[:, columns])).fit(disp=0)


def coverage_linear() -> Case:
    from judgebook.statistics.subsets import Fitness, backward_elimination

    x, y = _predictors(400, binary=False)
    fitness = Fitness(x, y, "ols")
    return Case(
        "coverage, linear, 16 labels, 400 dialogues: all 65,536 subsets",
        fitness.all,
        "≤ 0.3 s, faster than a beam",
        seconds=0.3,
        ratio=1,
        theirs=partial(_statsmodels_beam, x, y),
        against=f"statsmodels, beam of 100 ({backward_elimination(fitness).n_fits:,} fits, not exact)",
    )


def coverage_logit(exact: bool) -> Case:
    from judgebook.statistics.subsets import Fitness, backward_elimination

    x, y = _predictors(184, binary=True)
    fitness = Fitness(x, y, "logit")
    n_fits = 2**16 if exact else backward_elimination(fitness).n_fits
    what = "all 65,536 subsets" if exact else f"beam of 100 ({n_fits:,} fits)"
    return Case(
        f"coverage, logit, 16 labels, 184 pairs: {what}",
        fitness.all if exact else partial(backward_elimination, fitness),
        "≤ 15 s" if exact else "≤ 1 s",
        seconds=15 if exact else 1,
        theirs=partial(_statsmodels_logits, x, y, 200),
        against=f"statsmodels, 200 of {n_fits:,} fits, times {n_fits / 200:,.0f}",
        scale=n_fits / 200,
    )


def system_tests() -> Case:
    from scipy import stats

    from judgebook.questions.sensitivity import panels, significance

    rng = np.random.default_rng(5)
    system, labels = np.repeat(np.arange(4), 100), [f"label{i}" for i in range(40)]
    total = rng.binomial(15, 0.1 + 0.02 * system[:, None], (400, 40)).astype(float)
    name = np.array([f"d{i}" for i in range(400)], dtype=object)
    session = np.array([f"s{i % 200}" for i in range(400)], dtype=object)
    data = panels.Panel(
        "behavior", labels, list("abcd"), np.full((400, 40), 15.0), total, total, system, np.full(400, -1), name,
        session, None, "turn", "dialogue",
    )  # fmt: skip

    def loop() -> None:
        for _ in range(4):  # draws
            drawn = [rng.permutation(100)[:32] + 100 * s for s in range(4)]
            for a, b in data.pairs:
                for j in range(40):
                    stats.ttest_ind(total[drawn[a], j], total[drawn[b], j], equal_var=False)

    return Case(
        "sensitivity, 40 labels, 6 pairs of systems, 1,000 draws: two tests, four adjustments",
        partial(significance.count_significant, [data], n=32, n_draws=1000, seed=1),
        "seconds",
        seconds=5,
        theirs=loop,
        against="scipy.stats.ttest_ind alone, 4 of 1,000 draws, times 250",
        scale=250,
    )


def group_effects() -> Case:
    """8 Likert labels, 4 groups, 100 dialogues of each of 4 systems; scipy does one label and pair of groups of 48."""
    from scipy import stats

    from judgebook.questions.groups import effects
    from judgebook.statistics import Sampling

    rng = np.random.default_rng(3)
    system = np.repeat(["a", "b", "c", "d"], 100)
    scores = np.clip(np.rint(3 + rng.normal(size=(8, 4, 4, 100))), 1, 5)  # label, group, system, dialogue
    frame = pd.concat(
        pd.DataFrame({"label": f"l{i}", "group": f"g{g}", "system": system, "score": scores[i, g].ravel()})
        for i in range(8)
        for g in range(4)
    ).assign(corpus="main", method="dialogue_likert", annotator="A1")
    frame["dialogue"] = "d" + (frame.groupby(["label", "group"]).cumcount()).astype(str)

    def difference(*x: np.ndarray, axis: int) -> np.ndarray:
        mean, variance = [v.mean(axis) for v in x], [v.var(axis, ddof=1) for v in x]

        def d(i: int, j: int) -> np.ndarray:
            return (mean[i] - mean[j]) / np.sqrt((variance[i] + variance[j]) / 2)

        pairs = [(i, j) for i in range(4) for j in range(i)]
        return np.mean([np.abs(d(i, j) - d(i + 4, j + 4)) for i, j in pairs], axis=0)

    def theirs() -> object:
        samples = tuple(scores[0, :2].reshape(8, 100))
        return stats.bootstrap(samples, difference, n_resamples=K, vectorized=True, rng=np.random.default_rng(1))

    return Case(
        "group effects as published, 8 labels × 6 pairs of groups, BCa",
        lambda: list(effects.for_each_label(partial(effects.published, sampling=Sampling(K, 0.95, 1)), frame)),
        "≤ 1 s",
        seconds=1.0,
        theirs=theirs,
        against="scipy.stats.bootstrap, vectorised, one of the 48, times 48",
        scale=48,
    )


def spearman_contexts() -> Case:
    """One metric on 360 responses to 60 contexts; scipy's coefficient on a fiftieth of the resamples."""
    from scipy import stats

    from judgebook.statistics.correlation import weighted_correlations
    from judgebook.statistics.resampling import bootstrap_weights

    rng = np.random.default_rng(4)
    x = rng.normal(size=360)
    y, context = np.rint(3 + x + rng.normal(size=360)), np.arange(360) // 6

    def ours() -> object:
        def statistic(drawn: np.ndarray) -> np.ndarray:
            return weighted_correlations(x, y[:, None], drawn[:, context], "spearman")[:, 0]

        options = {"unit": "context", "rng": np.random.default_rng(1), "n_resamples": K, "width": 360}
        return bootstrap_weights(60, statistic, **options)

    def theirs() -> object:
        def statistic(drawn: np.ndarray) -> float:
            rows = (drawn[:, None] * 6 + np.arange(6)).ravel()
            return stats.spearmanr(x[rows], y[rows]).statistic

        contexts = (np.arange(60),)
        return stats.bootstrap(contexts, statistic, n_resamples=K // 50, vectorized=False, rng=np.random.default_rng(1))

    return Case(
        "Spearman, 360 responses, 60 contexts resampled, BCa",
        ours,
        "",
        theirs=theirs,
        against="scipy.stats.spearmanr in scipy.stats.bootstrap (a fiftieth of the resamples, times 50)",
        scale=50,
    )


def mixed_model() -> Case:
    """479 ratings of 356 dialogues by 10 annotators, crossed, as in `finch2024`."""
    import statsmodels.api as sm

    from judgebook.statistics import reml

    rng = np.random.default_rng(5)
    dialogue = np.concatenate([np.arange(356), np.arange(123)])
    annotator = rng.integers(0, 10, 479)
    score = 3 + rng.normal(size=356)[dialogue] + 0.5 * rng.normal(size=10)[annotator] + rng.normal(size=479)
    frame = pd.DataFrame({"score": score, "dialogue": dialogue, "annotator": annotator, "one": 1})
    parts = {name: f"0 + C({name})" for name in ("annotator", "dialogue")}

    def theirs() -> object:
        return sm.MixedLM.from_formula("score ~ 1", frame, groups="one", vc_formula=parts, re_formula="0").fit()

    return Case(
        "mixed model, 479 ratings, 356 dialogues × 10 annotators",
        lambda: reml.fit_linear_mixed(score, np.ones((479, 1)), [annotator, dialogue], None),
        "",
        theirs=theirs,
        against="statsmodels.MixedLM",
    )


CASES: list[Callable[[], Case]] = [
    alpha_binary,
    alpha_evalica,
    alpha_dialogues,
    partial(alpha_ordinal, 10_000, theirs=True),
    partial(alpha_ordinal, 10_000_000),
    partial(alpha_ordinal, 10_000, missing=0.3),
    patterns_of_ten_million,
    coverage_linear,
    partial(coverage_logit, True),
    partial(coverage_logit, False),
    system_tests,
    group_effects,
    spearman_contexts,
    mixed_model,
]


def measure(case: Case) -> dict[str, object]:
    ours = timed(case.ours)
    theirs = timed(case.theirs) * case.scale if case.theirs else None
    ratio = theirs / ours if theirs else None
    met = (case.seconds is None or ours <= case.seconds) and (case.ratio is None or (ratio or 0) >= case.ratio)
    return {
        "case": case.name,
        "ours": _duration(ours),
        "against": case.against or "–",
        "theirs": _duration(theirs) if theirs else "–",
        "ratio": f"{ratio:,.0f} ×" if ratio else "–",
        "goal": case.goal or "–",
        "met": ("yes" if met else "no") if case.goal else "–",
    }


def _duration(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def table(rows: list[dict[str, object]]) -> str:
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + " --- |" * len(rows[0])]
    return "\n".join(lines + ["| " + " | ".join(str(v) for v in row.values()) + " |" for row in rows])


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the statistics beside what a user would otherwise run.")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    wanted = parser.parse_args().only
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # other packages' own, not timed
    cases = [case for make in CASES if wanted in (case := make()).name]
    if not cases:
        parser.error(f"no case has {wanted!r} in its name")
    names = ("numpy", "scipy", "krippendorff", "evalica", "statsmodels")
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, " + ", ".join(f"{n} {version(n)}" for n in names)
    )
    print(f"{K:,} resamples unless stated. Medians of up to seven runs; both sides in the same run.\n")
    print(table([measure(case) for case in cases]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
