"""Tests and ranks at designs harder than the study's own, where those that are right for balanced data only fail.

From the study come who judged what, and how much sessions, dialogues and annotators vary (`worlds`). What is changed:
annotators have unequal loads or judge one system only, a system has few dialogues, systems differ in how much their
scores vary, or there are few clusters for many systems. Systems are equal in all of them. The study's own loads and
numbers of dialogues are those of `as_used`; comparisons are `strengths`, from the votes of the study's own voters and
with one voter who dominates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit
from scipy.stats import norm

from judgebook.annotations.population import LEAST as LEAST_ANNOTATORS
from judgebook.questions.operating_characteristics import as_used
from judgebook.questions.operating_characteristics.as_used import FIXED, SAMPLED
from judgebook.questions.operating_characteristics.many_data_sets import Clustered
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan, mean, share
from judgebook.questions.operating_characteristics.worlds import NESTED, PEOPLE, AnnotationDesign, PlaceboWorld
from judgebook.questions.performance import davidson, ranking
from judgebook.statistics.clusters import LEAST_DF, crossed, effective_number

#: how many times as many dialogues the larger of two systems has, and the larger of two standard deviations
TIMES, SPREAD = 6, 2.0
#: scores of a system on which opinions are divided, and of one on which they are not; both have mean 3
LIKERT, POLARISED, PEAKED = np.arange(1.0, 6.0), (0.4, 0.1, 0.0, 0.1, 0.4), (0.0, 0.1, 0.8, 0.1, 0.0)
#: share of the variance that annotators have, and what each makes of each system, at least: a study may show neither
PLANTED = 0.1
#: annotators whose loads are Zipf's, at most: of more, the last ones have next to nothing
MOST_PEOPLE = 50
#: systems and clusters of the ranks tried
FEW_CLUSTERS = ((10, 8), (10, 13), (20, 8), (20, 13))


# --- designs ----------------------------------------------------------------------------------------------------------


def of_two(placebo: PlaceboWorld, rng: np.random.Generator) -> Iterator[tuple[str, PlaceboWorld]]:
    """Designs of two systems, the two with most dialogues, by name."""
    size = np.bincount(placebo.design.row_kind, minlength=len(placebo.design.kinds))
    large, small = np.argsort(-size, kind="stable")[:2].tolist()
    pair = as_used.cut(placebo, (small, large))[1]
    few = with_few(pair, small, rng)
    yield "unequal_n", few
    yield "unequal_spread", spread(pair, small, SPREAD)
    yield "few_vary_more", spread(few, small, SPREAD)
    yield "few_vary_less", spread(few, small, 1 / SPREAD)
    cuts = [ndtri(np.clip(np.cumsum(p)[:-1], 1e-12, 1 - 1e-12)) for p in (PEAKED, POLARISED)]
    yield "polarised_v_peaked", shaped(few, LIKERT, np.stack([cuts[k == small] for k in range(len(size))]))
    if placebo.design.n_annotators:
        yield "zipf_loads", with_people(pair, rng)
        yield "disjoint_annotators", with_people(pair, rng, disjoint=True)


def with_few(placebo: PlaceboWorld, kind: int, rng: np.random.Generator) -> PlaceboWorld:
    """One of two systems has TIMES fewer dialogues than the other, drawn at random, but enough to be tested.

    Each dialogue is a session of its own, as where systems were added later: sessions with both systems are balanced.
    """
    d = placebo.design
    of_kind, other = np.flatnonzero(d.row_kind == kind), np.sum(d.row_kind != kind)
    few = rng.permutation(of_kind)[: max(as_used.LEAST, round(other / TIMES))]
    factors = {name: d.row if name in NESTED[:2] else code for name, code in d.factors.items()}
    apart = replace(placebo, design=replace(d, factors=factors, session=np.arange(len(d.session))))
    return as_used.only(apart, (d.system != kind) | np.isin(d.row, few))[1]


def spread(placebo: PlaceboWorld, kind: int, ratio: float) -> PlaceboWorld:
    """Normal scores, those of one system with `ratio` times the standard deviation of the others."""
    values = np.linspace(-6, 6, 121) * max(ratio, 1.0)
    between = (values[1:] + values[:-1]) / 2
    return shaped(placebo, values, np.stack([between / (ratio if k == kind else 1) for k in range(len(placebo.cuts))]))


def shaped(placebo: PlaceboWorld, values: np.ndarray, cuts: np.ndarray) -> PlaceboWorld:
    """The world with other distributions of scores. Being lenient adds the same to all systems: where scores spread
    more, it moves the normal variable less. cuts : (kinds, values - 1)."""
    loadings = placebo.loadings.copy()
    if "annotator" in placebo.design.factors:
        slope = norm.pdf(cuts) @ np.diff(values)
        loadings[:, list(placebo.design.factors).index("annotator")] *= slope.min() / slope
    p = np.diff(norm.cdf(cuts[0]), prepend=0.0, append=1.0)
    return replace(placebo, values=values, cuts=cuts, loadings=loadings, mean=float(p @ values))


def with_people(placebo: PlaceboWorld, rng: np.random.Generator, *, disjoint: bool = False) -> PlaceboWorld:
    """Other annotators for the same judgements: with loads as 1 / rank, or half of them for each of two systems.

    Annotators, and what each makes of each system, have PLANTED of the variance or, if larger, the study's own.
    """
    d = placebo.design
    people = _n_people(d)
    nth = _nth_annotator(d)
    n = max(-(-people // 2) if disjoint else people, int(nth.max()) + 1)
    chance = np.zeros(n) if disjoint else -np.log(np.arange(1.0, n + 1))
    order = np.argsort(-(chance + rng.gumbel(size=(int(d.row.max()) + 1, n))), axis=1)
    who = order[d.row, nth] + (n * np.unique(d.system, return_inverse=True)[1] if disjoint else 0)
    return _known(placebo, pd.factorize(who, sort=True)[0])


def _n_people(d: AnnotationDesign) -> int:
    """Annotators to simulate, as many as the study has up to MOST_PEOPLE; ValueError where they are not known."""
    if d.n_annotators is None:
        raise ValueError("expected annotators who are known people")
    return min(d.n_annotators, MOST_PEOPLE)


def _nth_annotator(d: AnnotationDesign) -> np.ndarray:
    """(n,) which of the annotators of its dialogue an annotation is by, from 0."""
    if d.annotator is None:
        raise ValueError("expected annotators who are known people")
    pairs, place = np.unique(np.stack([d.row, d.annotator]), axis=1, return_inverse=True)
    start = np.searchsorted(pairs[0], np.arange(int(d.row.max()) + 1))
    return place.reshape(-1) - start[d.row]


def _known(placebo: PlaceboWorld, who: np.ndarray) -> PlaceboWorld:
    d, names = placebo.design, list(placebo.design.factors)
    factors = {name: code for name, code in d.factors.items() if name not in PEOPLE}
    parts = [placebo.loadings[:, names.index(name)] ** 2 for name in factors]
    for name, code in zip(PEOPLE, (who, crossed(who, d.system)), strict=True):
        factors[name] = code
        squares = placebo.loadings[:, names.index(name)] ** 2 if name in names else np.zeros(len(d.kinds))
        parts.append(np.maximum(squares, PLANTED))
    square = np.stack(parts, axis=1)
    square *= np.minimum(1, 0.98 / square.sum(axis=1, keepdims=True))
    return replace(placebo, design=replace(d, factors=factors, annotator=who), loadings=np.sqrt(square))


def many_systems(
    placebo: PlaceboWorld, systems: int, clusters: int, rng: np.random.Generator, *, people: bool
) -> PlaceboWorld:
    """Each system responds once to each of few prompts, and each response is judged once: by as many annotators as the
    study has, or (`people` false) by some who do not differ and are not identified."""
    d = placebo.design
    code, prompt = np.tile(np.arange(systems), clusters), np.repeat(np.arange(clusters), systems)
    names = list(d.factors)
    at = names.index("session") if "session" in names else None
    shared = np.full((systems, 1), PLANTED if at is None else np.mean(placebo.loadings[:, at] ** 2)) ** 0.5
    enlarged = replace(
        d, systems=[str(k) for k in range(systems)], score=np.zeros(len(code)), system=code, row=np.arange(len(code)),
        kinds=[(k, -1) for k in range(systems)], weight=np.ones(len(code)), session=prompt, row_kind=code,
        factors={"session": prompt}, annotator=None,
    )  # fmt: skip
    made = spread(replace(placebo, design=enlarged, loadings=shared, cuts=np.zeros((systems, 1))), 0, 1.0)
    if not people:
        return made
    who = rng.permutation(np.resize(np.arange(_n_people(d)), len(code)))
    return _known(made, pd.factorize(who, sort=True)[0])


def effective(d: AnnotationDesign) -> float:
    """Effective number of annotators who judged several systems: of LEAST_ANNOTATORS they are a sample of others."""
    if d.annotator is None:
        return 0.0
    cells = np.unique(np.stack([d.annotator, d.system]), axis=1)[0]
    several = np.bincount(cells)[d.annotator] > (0 if d.pairwise else 1)
    none = np.zeros(int(several.sum()), dtype=int)
    return float(effective_number(none, np.ones(len(none)), [d.annotator[several]])[0]) if len(none) else 0.0


def sampled(d: AnnotationDesign) -> bool:
    """Whether notebooks take annotators as a sample of others here (`annotations.population`)."""
    return round(effective(d), 1) >= LEAST_ANNOTATORS


# --- what is measured -------------------------------------------------------------------------------------------------


def tests(placebo: PlaceboWorld, plan: SimulationPlan) -> Iterator[Row]:
    """`null_rejection` of the permutation test, as used and plain, for the same annotators, and of the t test over
    dialogues and annotators, by design (`scenario`). No runs where annotators are too few for the latter."""
    for scenario, one in of_two(placebo, plan.rng("harder", "designs")):
        rng, d = plan.rng("harder", scenario), one.design
        sizes = {"n_dialogues": int(np.bincount(d.row_kind)[np.unique(d.row_kind)].min()), "scenario": scenario}
        fixed = as_used.session_p(as_used.with_people(one, as_used.FIXED), plan.n_runs, rng)
        for test, p in fixed.items():
            yield as_used.base(one, as_used.FIXED) | sizes | as_used.significant("null_rejection", test, p)
        if d.n_annotators:
            p = as_used.two_way_p(one, plan.n_runs, rng) if sampled(d) else np.empty(0)
            yield as_used.base(one, as_used.SAMPLED) | sizes | as_used.significant("null_rejection", "two_way", p)


def ranks(placebo: PlaceboWorld, plan: SimulationPlan) -> Iterator[Row]:
    """`interval_coverage` of simultaneous ranks of equal systems, over annotators too where these are a sample."""
    rng = plan.rng("harder", "ranked designs")
    cases = [
        (size, people) for people in ((False, True) if sampled(placebo.design) else (False,)) for size in FEW_CLUSTERS
    ]
    designs = [("few_clusters", many_systems(placebo, *size, rng, people=people)) for size, people in cases]
    if placebo.design.n_annotators:
        designs.append(("zipf_loads", with_people(placebo, rng)))
    for scenario, one in designs:
        others = sampled(one.design)
        row = _ranks(scenario, one, plan if others or scenario == "few_clusters" else None)
        yield row if others or not placebo.design.n_annotators else row | {"people": as_used.FIXED}


def _ranks(scenario: str, placebo: PlaceboWorld, plan: SimulationPlan | None) -> Row:
    d = placebo.design
    codes, weights, clusters, _ = as_used.samples(d, "session")
    of_runs = [np.empty(0)]
    if plan:
        model = Clustered(codes, weights, clusters)
        rng = plan.rng("harder", scenario, str(len(d.kinds)), str(len(d.row)))
        of_runs += [as_used.ranks_apart(model, x, plan.confidence) for x in placebo.draw(plan.n_runs, rng)]
    apart = np.concatenate(of_runs)
    decided = np.isfinite(apart)
    head = as_used.base(placebo, as_used.SAMPLED) | {"scenario": scenario, "systems": len(np.unique(codes))}
    head["sample_size"] = len(np.unique(clusters[0])) if head.pop("n_dialogues") else 0
    head |= {"of": "rank", "interval": "simultaneous", "over": "session and annotator", "sample": "world"}
    row = share("interval_coverage", int(np.sum(apart == 0)), int(decided.sum()))
    return head | row | {"n_undefined": int(np.sum(~decided))}


#: share of votes of the dominant voter; what sessions and voters add to each system, on the scale of strengths
DOMINANT, ADDED = 0.4, 0.5
#: votes times systems that are fitted for one rate, about; and runs at least. Fits take long: half of the usual runs
VOTES, LEAST_RUNS = 4_000_000, 50


def strengths(placebo: PlaceboWorld, plan: SimulationPlan) -> Iterator[Row]:
    """`interval_coverage` of strengths and their ranks, from votes of the study's own voters and of one who dominates.

    Votes follow Davidson's model with a third of ties. What sessions, and voters where they are a sample, add to each
    system is drawn anew in every run; strengths are equal on average.
    """
    d = placebo.design
    designs = [("own_voters", d)]
    if d.annotator is not None:
        rng = plan.rng("harder", "voters")
        dominant = int(d.annotator.max()) + 1
        who = np.where(rng.random(len(d.row)) < DOMINANT, dominant, d.annotator)
        designs.append(("dominant_voter", replace(d, annotator=pd.factorize(who, sort=True)[0])))
    for scenario, one in designs:
        others = sampled(one)
        runs = max(LEAST_RUNS, min(plan.n_runs // 2, VOTES // (len(d.row) * len(d.systems))))
        fitted = []
        if others or scenario == "own_voters":
            rng = plan.rng("harder", scenario, d.label)
            fitted = list(_fits(one, others, runs, rng, plan.confidence))
        yield from _held(one, scenario, others, fitted)


def _held(d: AnnotationDesign, scenario: str, others: bool, fitted: Sequence[tuple[float, float]]) -> Iterator[Row]:
    people = SAMPLED if others or scenario != "own_voters" else FIXED
    key: Row = {"level": "pair", "method": d.method, "label": d.label, "sample": "world", "scenario": scenario}
    key |= {"n_annotators": d.n_annotators, "people": people if d.n_annotators else "unknown"}
    key |= {"sample_size": len(np.unique(d.row)), "systems": len({s for kind in d.kinds for s in kind})}
    over = "session and annotator" if others else "session"
    for of, interval, held in (("strength", "cluster_robust", 0), ("strength_rank", "simultaneous", 1)):
        values = np.array([x[held] for x in fitted if np.isfinite(x[held])])
        row = share("interval_coverage", int(values.sum()), len(values))
        if of == "strength":  # strengths of a run share its voters: the error is that between runs
            row = mean("interval_coverage", values)
            row |= {"ci_high": min(row.get("ci_high", np.nan), 1.0)}
        yield key | row | {"of": of, "interval": interval, "over": over, "n_undefined": len(fitted) - len(values)}


def _fits(
    d: AnnotationDesign, others: bool, n_runs: int, rng: np.random.Generator, confidence: float
) -> Iterator[tuple[float, float]]:
    """In each run, the share of strengths whose interval holds 0 and whether all ranks are right; NaN without one."""
    left, right = np.array(d.kinds)[d.system].T
    m, session = len(d.systems), d.session[d.row]
    names = np.array([f"{s:04}" for s in range(m)])
    same = {"corpus": "", "group": "", "method": d.method, "label": d.label, "annotator_kind": "human"}
    rows = pd.DataFrame({"system": names[left], "system_b": names[right], "session": session, **same})
    rows = rows.assign(annotator=d.annotator if others else 0, annotator_known=others)
    clusters = [session, d.annotator] if others else [session]
    for _ in range(n_runs):
        gap = np.zeros(len(rows))
        for code in clusters:
            added = ADDED * rng.standard_normal((int(code.max()) + 1, m))
            gap += added[code, left] - added[code, right]
        win, u = np.exp(gap / 2), rng.random(len(rows))
        total = win + 1 + 1 / win
        score = np.where(u < win / total, 1.0, np.where(u < (win + 1) / total, 0.0, -1.0))
        (fit,) = davidson.fits(rows.assign(score=score), unit="session")
        k = len(fit.systems)
        i, j = np.triu_indices(k, 1)
        half = stdtrit(np.where(fit.df < LEAST_DF, np.nan, fit.df), (1 + confidence) / 2)
        half = half * np.sqrt(fit.covariance.variances[:k])
        inside = (np.abs(fit.strengths) <= half)[np.isfinite(half)]
        df = np.minimum(fit.df[i], fit.df[j])
        _, low, high, none = ranking.rank_intervals(fit.strengths, fit.errors, df, confidence)
        every = np.nan if none else float(np.all(low == 1) and np.all(high == k))
        yield inside.mean() if len(inside) else np.nan, every
