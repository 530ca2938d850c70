"""Where the variance of scores comes from: systems, annotators, dialogues, and what is left; and how reliable the means
of systems are, given these (`generalizability`).

Shares of the variance by a mixed model with crossed effects (`annotations.mixed_models`), for labels that enough known
annotators judged: of scores as numbers (linear), of ordered scores on a latent scale (ordinal), of marks on the logit
scale (logistic). On the latter two the residual variance is fixed, and shares do not depend on how often a mark is
given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.annotations import mixed_models
from judgebook.annotations.cells import cells
from judgebook.questions.agreement.generalizability import (
    Components,
    draws,
    generalizability,
    intervals,
    of_own_means,
    variance_components,
)
from judgebook.questions.agreement.items import first_annotations
from judgebook.questions.agreement.population import OF_STUDY
from judgebook.statistics.intervals import generator
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import Annotations

#: work of all models together, levels cubed: about two minutes
MOST_WORK = 1_000_000_000
LEFT_OUT = "left out, as so many labels and annotators take long: name it in `mixed_models.labels`"


def variance_shares(
    annotations: Annotations,
    labels: Iterable[Label],
    *,
    confidence: float = 0.95,
    kinds: Sequence[str] = ("human",),
    only: Collection[str] | None = None,
) -> Results:
    """`variance_share` of each corpus, group, method and label, by model and part.

    annotations : columns of `schema.ANNOTATIONS`; comparisons are left out: they belong to two systems and dialogues.
    only : labels that are modelled; None: all, in their order, until MOST_WORK.

    Returns rows with `model` and `part` (system, annotator, system_annotator, dialogue, residual). Parts that a design
    does not separate have no row and are in the residual. A label without a model has one row, whose note says why.
    """
    chosen = first_annotations(annotations, first=None, kinds=kinds)
    chosen = chosen if only is None else chosen[chosen["label"].isin(list(only))]
    rows: list[dict[str, Any]] = []
    work = 0
    for cell, label, frame in cells(codes.rows(chosen, chosen["dialogue_b"].isna()), labels):
        head = {"statistic": "variance_share", **cell, "level": METHODS[label.method].unit, "n": len(frame)}
        head |= {"n_clusters": frame["dialogue"].nunique(), "n_annotators": frame["annotator"].nunique()}
        work += _work(frame)
        if only is None and work > MOST_WORK:
            none = {"model": "none", "part": "residual", "ci_kind": "not_estimable", "note": LEFT_OUT}
            rows.append({**head, **none})
            continue
        fits = [mixed_models.first_fit(frame, confidence=confidence)]
        if not isinstance(fits[0], str) and "ordinal" in mixed_models.models(frame["score"]):
            fits.append(mixed_models.fit(frame, "ordinal", confidence=confidence))
        for one in fits:
            if isinstance(one, str):
                if one is fits[0]:
                    rows.append({**head, "model": "none", "part": "residual", "ci_kind": "not_estimable", "note": one})
                continue
            kind = "profile" if one.model == "linear" else "wald"
            for part, share in one.shares.items():
                ends = {"ci_low": one.share_low[part], "ci_high": one.share_high[part], "ci_kind": kind}
                rows.append({**head, "model": one.model, "part": part, "estimate": share, **ends})
    return collect(rows)


def _work(frame: Annotations) -> int:
    """Levels of all factors but dialogues, which cost little, cubed."""
    factors = mixed_models.factors(frame, mixed_models.MOST_LEVELS)
    return sum(len(levels) for name, (_, levels) in factors.items() if name != "dialogue") ** 3


def decision_study(
    annotations: Annotations,
    labels: Iterable[Label],
    *,
    n_dialogues: Sequence[int] = (10, 25, 50, 100, 200),
    n_annotators: Sequence[int] = (1, 2, 3, 5),
    kinds: Sequence[str] = ("human",),
    seed: int = 1,
    confidence: float = 0.95,
    leave_out: Collection[str | None] = (),
) -> Results:
    """Variance components of each corpus, group, method and label, and the reliability of system means by design.

    annotations : columns of `schema.ANNOTATIONS`; comparisons are left out, as they have no value of one system. A
    judgement of turns is averaged over the dialogue for each annotator first, so that the unit is the dialogue.
    leave_out : ids of systems that are not ranked, such as people and fillers, whose place says nothing of how reliable
    the order of the others is; None is none.

    Returns `facet_variance`, `generalizability` and `dependability`; the latter two with intervals that treat systems,
    dialogues and annotators as samples (`draws`), which are wide with few systems; `note` says how many there
    are. `generalizability` of `design` OF_STUDY is that of the study's own means (`of_own_means`).
    """
    chosen = first_annotations(annotations, first=None, kinds=kinds)
    rows = []
    inside = chosen["dialogue_b"].isna() & ~chosen["system"].isin([s for s in leave_out if s])
    for cell, _, frame in cells(codes.rows(chosen, inside), labels):
        scores = frame.groupby(["system", "dialogue", "annotator"], sort=False)["score"].mean().reset_index()
        components = variance_components(scores, annotators_known=bool(frame["annotator_known"].all()))
        common = {
            **cell,
            "level": "system",
            "kind": "+".join(kinds),
            "n": components.n_systems,
            "n_clusters": components.n_dialogues,
            "n_annotators": components.n_annotators,
            "note": components.note or _note(components),
        }
        for facet, value in components.variance.items():
            rows.append({**common, "statistic": "facet_variance", "facet": facet, "estimate": value})
        drawn = draws(components, rng=generator(seed, "decision_study", *cell.values()))
        of_study = {
            "design": OF_STUDY,
            "n_dialogues": _typical(scores),
            "annotators_per_dialogue": max(1, round(components.n / components.n_dialogues)),
            "seed": seed,
        }
        estimate, *ends = of_own_means(components, drawn, confidence)
        rows.append({**common, "statistic": "generalizability", **of_study, **_interval(estimate, *ends)})
        for d, a in product(n_dialogues, n_annotators):
            design = {"n_dialogues": d, "annotators_per_dialogue": a, "seed": seed}
            by_name = intervals(components, drawn, d, a, confidence)
            for name, value in generalizability(components, d, a).items():
                rows.append({**common, "statistic": name, **design, **_interval(value, *by_name[name])})
    return collect(rows)


def _interval(estimate: float, low: float, high: float) -> dict[str, Any]:
    """The columns of a result row that an interval of `draws` fills."""
    kind = "parametric" if np.isfinite(low) else "not_estimable"
    return {"estimate": estimate, "ci_low": low, "ci_high": high, "ci_kind": kind}


def _typical(scores: pd.DataFrame) -> int:
    """Dialogues per system: their harmonic mean, which is what the variances of means average to."""
    n = scores.groupby("system")["dialogue"].nunique()
    return round(len(n) / float((1 / n).sum()))


def _note(components: Components) -> str:
    below = f"; estimated below 0 and set to 0: {', '.join(components.negative)}" if components.negative else ""
    return f"{components.n_systems} systems{below}"
