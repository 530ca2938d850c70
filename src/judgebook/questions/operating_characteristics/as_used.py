"""Tests of systems and intervals of their means, as the notebooks use them, in placebo worlds (`worlds`).

Everything keeps the study's design: sessions with dialogues of two systems, several ratings of an item, few annotators.
Two kinds of worlds: with `people` fixed, annotators are lenient or strict, but favour no system, and a difference
between systems is one for these annotators; with people sampled, each annotator sees each system differently, to the
extent estimated, and systems are equal on average over annotators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.special import logit, stdtr, stdtrit

from judgebook.questions.operating_characteristics.many_data_sets import Clustered
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan, share, shared_out
from judgebook.questions.operating_characteristics.worlds import AnnotationDesign, PlaceboWorld
from judgebook.questions.sensitivity.contrasts import blocks
from judgebook.questions.sensitivity.panels import Panel
from judgebook.questions.sensitivity.system_tests import one_per_session, session_test
from judgebook.statistics.clusters import LEAST_DF
from judgebook.statistics.intervals import MIN_MINORITY
from judgebook.statistics.permutation import blocked_permutation, sign_flip_test
from judgebook.study.labels import METHODS

FIXED, SAMPLED = "fixed", "sampled"
#: the level of tests, and the difference, in standard deviations of a single score, for which power is compared
ALPHA, EFFECT = 0.05, 0.4
#: arrangements of the permutation test in a simulation
N_ARRANGEMENTS = 999
#: worlds that share arrangements
TOGETHER = 100
#: rows of a kind of system that are compared, at least
LEAST = 5


def people_of(placebo: PlaceboWorld) -> list[str]:
    """Kinds of worlds: with people sampled only where they are known."""
    return [FIXED, SAMPLED] if "annotator_of_system" in placebo.design.factors else [FIXED]


def with_people(placebo: PlaceboWorld, people: str) -> PlaceboWorld:
    """The world in which annotators favour no system, or the same world."""
    if people == SAMPLED or "annotator_of_system" not in placebo.design.factors:
        return placebo
    loadings = placebo.loadings.copy()
    loadings[:, list(placebo.design.factors).index("annotator_of_system")] = 0.0
    return replace(placebo, loadings=loadings)


def base(placebo: PlaceboWorld, people: str) -> Row:
    """What identifies a row: the design that was tried."""
    d = placebo.design
    sizes = np.bincount(d.row_kind)
    return {
        "level": "pair" if d.pairwise else "dialogue",
        "method": d.method,
        "label": d.label,
        "n_dialogues": int(np.median(sizes)),
        "n_annotators": d.n_annotators,
        "ratings": round(d.ratings, 2),
        "people": people if d.n_annotators else "unknown",
    }


def rejections(placebo: PlaceboWorld, plan: SimulationPlan) -> Iterator[Row]:
    """Share of comparisons of equal systems that the tests of notebook 05 call significant, and power of its variants.

    Runs are shared out over pairs of systems. `session` is the permutation test as used. Its variant `session_plain`
    permutes the difference whatever the numbers of dialogues and, of comparisons, counts arrangements that tie fully.
    `two_way` is Student's t with the covariance of
    `clusters.clustered_covariance` by dialogue and annotator, where people are known.

    Yields
    ------
    `null_rejection` at ALPHA with `scenario` world and `people`; `power` of the variants where one of two systems is
    better by EFFECT standard deviations of a single score.
    """
    d = placebo.design
    for people in people_of(placebo):
        one, rng = with_people(placebo, people), plan.rng("rejections", d.method, d.label, people)
        p_values = session_p(one, plan.n_runs, rng)
        if d.n_annotators:
            p_values["two_way"] = two_way_p(one, plan.n_runs, plan.rng("two_way", d.method, d.label, people))
        for test, p in p_values.items():
            yield base(placebo, people) | {"scenario": "world"} | significant("null_rejection", test, p)
    fixed = with_people(placebo, FIXED)
    p_values = session_p(fixed, plan.n_runs, plan.rng("power as used", d.method, d.label), EFFECT)
    for test, p in p_values.items():
        row = {k: v for k, v in base(placebo, FIXED).items() if k not in ("people", "ratings")}
        yield row | {"effect": f"{EFFECT:g} sd"} | significant("power", test, p)


def significant(statistic: str, test: str, p: np.ndarray) -> Row:
    finite = np.isfinite(p)
    row = {"test": test, "alpha": ALPHA, "n_undefined": int(np.sum(~finite))}
    return row | share(statistic, int(np.sum(p[finite] < ALPHA)), int(finite.sum()))


def compared(d: AnnotationDesign) -> list[tuple[int, int]]:
    """Pairs of kinds with enough rows of each; of comparisons each kind with itself."""
    enough = np.flatnonzero(np.bincount(d.row_kind, minlength=len(d.kinds)) >= LEAST).tolist()
    return [(k, k) for k in enough] if d.pairwise else list(combinations(enough, 2))


def session_p(
    placebo: PlaceboWorld, n_runs: int, rng: np.random.Generator, effect: float = 0.0
) -> dict[str, np.ndarray]:
    """P-values of the permutation test as used and of the plain one, runs shared out over pairs of systems.

    Returns (n_runs,) arrays by test.

    effect : how much better the first of two systems is, in standard deviations of the normal variables.
    """
    d, pairs = placebo.design, compared(placebo.design)
    out: dict[str, list[np.ndarray]] = {}
    for (i, j), runs in zip(pairs, shared_out(n_runs, len(pairs)), strict=True) if pairs else ():
        pair_world, only = cut(placebo, (i, j))
        shifted = only.cuts.copy()
        shifted[i] -= effect
        for scores in replace(only, cuts=shifted).draw(runs, rng):
            values = only.design.row_values(scores)
            for start in range(0, len(values), TOGETHER):
                part = as_panel(only.design, values[start : start + TOGETHER], pair_world)
                as_is = session_test(part, d.kinds[i][0], rng=rng, n_permutations=N_ARRANGEMENTS)
                p = {
                    "session": np.asarray(as_is.p_value),
                    "session_plain": _plain_p(part, rng),
                }
                for test, values_of in p.items():
                    out.setdefault(test, []).append(values_of)
    return {test: np.concatenate(p) for test, p in out.items()}


def _plain_p(part: Panel, rng: np.random.Generator) -> np.ndarray:
    part = one_per_session(part)
    if part.unit == "pair":
        return np.asarray(sign_flip_test(part.total, rng=rng, n_permutations=N_ARRANGEMENTS).p_value)
    block = blocks(part, "session")
    test = blocked_permutation(part.total, part.system, block, rng=rng, n_permutations=N_ARRANGEMENTS)
    return np.asarray(test.p_value)


def cut(placebo: PlaceboWorld, pair: tuple[int, int]) -> tuple[np.ndarray, PlaceboWorld]:
    """The world of two kinds of systems alone, and which rows it keeps."""
    return only(placebo, np.isin(placebo.design.system, pair))


def only(placebo: PlaceboWorld, which: np.ndarray) -> tuple[np.ndarray, PlaceboWorld]:
    """The world of some annotations, which : (n,) of bool, and which rows it keeps."""
    d = placebo.design
    rows, row = np.unique(d.row[which], return_inverse=True)
    smaller = replace(
        d,
        score=d.score[which],
        system=d.system[which],
        factors={name: np.unique(code[which], return_inverse=True)[1] for name, code in d.factors.items()},
        row=row,
        annotator=None if d.annotator is None else np.unique(d.annotator[which], return_inverse=True)[1],
        weight=d.weight[which],
        session=d.session[rows],
        row_kind=d.row_kind[rows],
    )
    return rows, replace(placebo, design=smaller)


def as_panel(d: AnnotationDesign, values: np.ndarray, names: np.ndarray) -> Panel:
    """Values (k, rows) as if they were k labels of the same dialogues."""
    a, b = np.array(d.kinds).T[:, d.row_kind]
    total = values.T
    unit = "pair" if d.pairwise else METHODS[d.method].unit
    return Panel(
        method=d.method,
        labels=[str(i) for i in range(len(values))],
        systems=d.systems,
        n=np.ones_like(total),
        total=total,
        squares=total**2,
        system=a,
        system_b=b,
        dialogue=names.astype(object),
        session=d.session.astype(object),
        interactor=None,
        unit=unit,
        row=unit if d.pairwise else "dialogue",
    )


def two_way_p(placebo: PlaceboWorld, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """(n_runs,) p-values of Student's t for the difference of two systems, dialogues and annotators both clusters."""
    d, out = placebo.design, []
    for pair, runs in zip(compared(d), shared_out(n_runs, max(1, len(compared(d)))), strict=False):
        _, only = cut(placebo, pair)
        codes, weights, clusters, to_scores = samples(only.design, "row")
        used = Clustered(codes, weights, clusters)
        df = used.df[used.fewest > 0].min()
        for scores in only.draw(runs, rng):
            means, covariance = used.covariance(to_scores(scores))
            at = np.flatnonzero(used.fewest)[:2]
            gap = means[:, at[0]] - means[:, at[1]]
            se = covariance.only(at).pair_errors()[:, 0]
            with np.errstate(divide="ignore", invalid="ignore"):
                out.append(
                    np.where(se > 0, 2 * stdtr(df, -np.abs(gap) / se), np.nan) if df >= LEAST_DF else gap * np.nan
                )
    return np.concatenate(out) if out else np.empty(0)


def samples(
    d: AnnotationDesign, unit: str
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], Callable[[np.ndarray], np.ndarray]]:
    """What the means of systems are computed from: systems, weights, clusters, and how to arrange scores.

    unit : `row` or `session`, the first kind of clusters; the second is the annotator where known. Comparisons count
    for both sides: a win is 1, a tie a half.
    """
    first = d.row if unit == "row" and not d.shared_sessions else d.session[d.row]
    clusters = [first] if d.annotator is None else [first, d.annotator]
    if not d.pairwise:
        kinds = np.array([k[0] for k in d.kinds])
        return kinds[d.system], d.weight, clusters, lambda scores: scores
    a, b = np.array(d.kinds).T[:, d.system]
    twice = [np.concatenate([c, c]) for c in (d.weight, *clusters)]
    arranged = lambda scores: np.concatenate([(1 + scores) / 2, (1 - scores) / 2], axis=1)  # noqa: E731
    return np.concatenate([a, b]), twice[0], twice[1:], arranged


def means(placebo: PlaceboWorld, plan: SimulationPlan) -> Iterator[Row]:
    """Coverage of the intervals of systems' means (shares won).

    `t` over dialogues (sessions, where a system has several dialogues in one), and `two_way` over annotators as well;
    of rates the t interval of the logit, where neither value is rare.

    Yields
    ------
    `interval_coverage` with `scenario` world and `people`; `n` counts worlds times systems.
    """
    d = placebo.design
    truth = 0.5 if d.pairwise else placebo.mean
    binary = not d.pairwise and set(placebo.values) <= {0.0, 1.0}
    size = np.bincount(samples(d, "row")[0], samples(d, "row")[1])
    for people in people_of(placebo)[-1:]:  # who is lenient differs between worlds in any case
        one, rng = placebo, plan.rng("means", d.method, d.label, people)
        codes, weights, clusters, to_scores = samples(d, "row")
        kinds = {"t": Clustered(codes, weights, clusters[:1])}
        kinds |= {"two_way": Clustered(codes, weights, clusters)} if len(clusters) == 2 else {}
        present = np.unique(codes)
        hits = {kind: np.zeros(2, dtype=int) for kind in kinds}
        per_run: dict[str, list[np.ndarray]] = {kind: [] for kind in kinds}
        for scores in one.draw(plan.n_runs, rng):
            x = to_scores(scores)
            for kind, used in kinds.items():
                means, covariance = used.covariance(x)
                se = np.sqrt(covariance.variances)
                with np.errstate(invalid="ignore"):
                    half = stdtrit(np.maximum(used.df, 1e-9), (1 + plan.confidence) / 2) * se
                estimable = (se > 0) & (used.df >= LEAST_DF)
                if binary:  # as `rates.with_annotators`: of the logit, and nothing with few marks of one kind
                    estimable &= np.minimum(means, 1 - means) * size >= MIN_MINORITY
                    safe = np.clip(means, 1e-6, 1 - 1e-6)
                    inside = estimable & (np.abs(logit(safe) - logit(truth)) <= half / (safe * (1 - safe)))
                else:
                    inside = estimable & (np.abs(means - truth) <= half + 1e-12)
                hits[kind] += np.array([inside.sum(), estimable.sum()])
                per_run[kind].append(inside.sum(axis=1) / np.maximum(estimable.sum(axis=1), 1))
        head = base(placebo, people)
        head["sample_size"] = head.pop("n_dialogues")
        over = {"t": "dialogue", "two_way": "dialogue and annotator"}
        for kind, (inside, estimable) in hits.items():
            if estimable:
                keys = {"of": "share" if d.pairwise else "mean", "interval": kind, "over": over[kind]}
                keys |= {"sample": "world", "scenario": "world"}
                row = share("interval_coverage", int(inside), int(estimable))
                values = np.concatenate(per_run[kind])  # systems of a world share its annotators
                half = 1.96 * np.std(values, ddof=1) / np.sqrt(len(values))
                row |= {"ci_low": row["estimate"] - half, "ci_high": row["estimate"] + half, "ci_kind": "monte_carlo"}
                yield head | keys | row | {"n_undefined": plan.n_runs * len(present) - int(estimable)}
