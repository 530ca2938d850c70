"""Strengths and their ranks, from the votes of a study's own voters and with one voter who dominates (`harder`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.questions.operating_characteristics.as_used import FIXED, SAMPLED
from judgebook.questions.operating_characteristics.harder import sampled
from judgebook.questions.operating_characteristics.monte_carlo import Plan, Row, mean, share
from judgebook.questions.operating_characteristics.worlds import Design, World
from judgebook.questions.performance import davidson, ranking
from judgebook.statistics.clusters import LEAST_DF

#: share of votes of the dominant voter; what sessions and voters add to each system, on the scale of strengths
DOMINANT, ADDED = 0.4, 0.5
#: votes times systems that are fitted for one rate, about; and runs at least. Fits take long: half of the usual runs
VOTES, LEAST_RUNS = 4_000_000, 50


def strengths(world: World, plan: Plan) -> Iterator[Row]:
    """`interval_coverage` of strengths and their ranks, from votes of the study's own voters and of one who dominates.

    Votes follow Davidson's model with a third of ties. What sessions, and voters where they are a sample, add to each
    system is drawn anew in every run; strengths are equal on average.
    """
    d = world.design
    designs = [("own_voters", d)]
    if d.n_annotators:
        rng = plan.rng("harder", "voters")
        who = np.where(rng.random(len(d.row)) < DOMINANT, d.n_annotators, d.annotator)
        designs.append(("dominant_voter", replace(d, annotator=pd.factorize(who, sort=True)[0])))
    for scenario, one in designs:
        others = sampled(one)
        runs = max(LEAST_RUNS, min(plan.n_runs // 2, VOTES // (len(d.row) * len(d.systems))))
        found = []
        if others or scenario == "own_voters":
            rng = plan.rng("harder", scenario, d.label)
            found = list(_fits(one, others, runs, rng, plan.confidence))
        yield from _held(one, scenario, others, found)


def _held(d: Design, scenario: str, others: bool, found: Sequence[tuple[float, float]]) -> Iterator[Row]:
    people = SAMPLED if others or scenario != "own_voters" else FIXED
    own = {"level": "pair", "method": d.method, "label": d.label, "sample": "world", "scenario": scenario}
    own |= {"n_annotators": d.n_annotators, "people": people if d.n_annotators else "unknown"}
    own |= {"sample_size": len(np.unique(d.row)), "systems": len({s for kind in d.kinds for s in kind})}
    over = "session and annotator" if others else "session"
    for of, interval, held in (("strength", "cluster_robust", 0), ("strength_rank", "simultaneous", 1)):
        values = np.array([x[held] for x in found if np.isfinite(x[held])])
        row = share("interval_coverage", int(values.sum()), len(values))
        if of == "strength":  # strengths of a run share its voters: the error is that between runs
            row = mean("interval_coverage", values)
            row |= {"ci_high": min(row.get("ci_high", np.nan), 1.0)}
        yield own | row | {"of": of, "interval": interval, "over": over, "n_undefined": len(found) - len(values)}


def _fits(
    d: Design, others: bool, n_runs: int, rng: np.random.Generator, confidence: float
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
