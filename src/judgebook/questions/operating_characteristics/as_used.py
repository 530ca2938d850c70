"""Intervals of systems' means, as notebook 07 uses them, in placebo worlds (`worlds`).

Everything keeps the study's design: sessions with dialogues of two systems, several ratings of an item, few annotators.
Where annotators are known, each sees each system differently, to the extent estimated, and systems are equal on average
over annotators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from scipy.special import logit, stdtrit

from judgebook.questions.operating_characteristics.many_data_sets import Clustered
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan, share
from judgebook.questions.operating_characteristics.worlds import AnnotationDesign, PlaceboWorld
from judgebook.statistics.clusters import LEAST_DF
from judgebook.statistics.intervals import MIN_MINORITY

#: the level of tests
ALPHA = 0.05
#: rows of a kind of system that are compared, at least
LEAST = 5


def base(placebo: PlaceboWorld, people: str) -> Row:
    """What identifies a row: the design that was tried."""
    d = placebo.design
    return {
        "level": "pair" if d.pairwise else "dialogue",
        "method": d.method,
        "label": d.label,
        "n_dialogues": int(np.median(np.bincount(d.row_kind))),
        "n_annotators": d.n_annotators,
        "ratings": round(d.ratings, 2),
        "people": people if d.n_annotators else "unknown",
    }


def compared(d: AnnotationDesign) -> list[tuple[int, int]]:
    """Pairs of kinds with enough rows of each; of comparisons each kind with itself."""
    enough = np.flatnonzero(np.bincount(d.row_kind, minlength=len(d.kinds)) >= LEAST).tolist()
    return [(k, k) for k in enough] if d.pairwise else list(combinations(enough, 2))


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
    people = "sampled" if "annotator_of_system" in d.factors else "fixed"
    rng = plan.rng("means", d.method, d.label, people)
    codes, weights, clusters, to_scores = samples(d, "row")
    kinds = {"t": Clustered(codes, weights, clusters[:1])}
    kinds |= {"two_way": Clustered(codes, weights, clusters)} if len(clusters) == 2 else {}
    present = np.unique(codes)
    hits = {kind: np.zeros(2, dtype=int) for kind in kinds}
    per_run: dict[str, list[np.ndarray]] = {kind: [] for kind in kinds}
    for scores in placebo.draw(plan.n_runs, rng):
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
