"""Tests at designs harder than the study's own, where those that are right for balanced data only fail.

From the study come who judged what, and how much sessions, dialogues and annotators vary (`worlds`). What is changed:
annotators have unequal loads or judge one system only, a system has few dialogues, or systems differ in how much their
scores vary. Systems are equal in all of them. The study's own loads and numbers of dialogues are those of `as_used`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import norm

from judgebook.annotations.population import LEAST as LEAST_ANNOTATORS
from judgebook.questions.operating_characteristics import as_used
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan
from judgebook.questions.operating_characteristics.worlds import NESTED, PEOPLE, AnnotationDesign, PlaceboWorld
from judgebook.statistics.clusters import crossed, effective_number

#: how many times as many dialogues the larger of two systems has, and the larger of two standard deviations
TIMES, SPREAD = 6, 2.0
#: scores of a system on which opinions are divided, and of one on which they are not; both have mean 3
LIKERT, POLARISED, PEAKED = np.arange(1.0, 6.0), (0.4, 0.1, 0.0, 0.1, 0.4), (0.0, 0.1, 0.8, 0.1, 0.0)
#: share of the variance that annotators have, and what each makes of each system, at least: a study may show neither
PLANTED = 0.1
#: annotators whose loads are Zipf's, at most: of more, the last ones have next to nothing
MOST_PEOPLE = 50


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
